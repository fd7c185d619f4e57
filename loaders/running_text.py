"""What of a corpus is running text as people write it, decided once for all tasks.

`with_blanks` sets the blanks of documents whose text is tokenised. `not_running` says which sentences are none: what
the corpus marks as something else, unclean text, headings, captions, dates, pieces of sentences, and items of lists.
They are in no passage, and a passage ends at them, whichever task shows it.
"""

import re
from collections.abc import Mapping
from typing import Final

import polars as pl
from msgspec.structs import replace

from discoprobe.loaders import clean_text
from discoprobe.loaders.corpus import Shard, feat
from discoprobe.loaders.hashing import text_keys
from discoprobe.loaders.languages.language import LanguageData
from discoprobe.loaders.languages.spacing import LOOSE_MARK, TIGHT_MARK, Spacing, close_up, is_spaced_out
from discoprobe.loaders.words import running_words

HEADING: Final = 12
"""Largest number of words of a heading or an item of a list: a line without a final punctuation mark, in a document or
treebank where sentences have one. Longer lines are as often sentences that lack it."""

MARKED: Final = 0.8
"""Share of the sentences of a document or treebank that end with a mark where sentences do."""

OPEN_END: Final = r"[\p{L}\p{N}\p{M}]\s*$"
SMALL: Final = r"^[\s\p{P}]*\p{Ll}"
"""A sentence that begins with a small letter. It is a part of a sentence where nearly all begin with a capital."""
CAPITALS: Final = 0.9
"""Share of the sentences of a treebank that begin with a capital where sentences do."""
OPEN_LIST: Final = r"^\P{Greek}*;\s*$"
"""A semicolon at the end: an item of a list. In Greek it is the question mark."""
MANY_SMALL: Final = 0.5
"""If a larger share of a document's sentences begins with a small letter, its author writes so (a diary on the web)."""
HEADLINES: Final = 3
"""Most headlines of an article: a headline, a line above it and one below it."""
MANY_VERBLESS: Final = 0.5
"""A corpus in which more sentences have no verb does not annotate verbs (some tables of relations)."""
TALK: Final = r"^\s*[-–—\"«„“‚‘”»]|[?!…]\W*$"
"""How answers and exclamations begin or end; they are sentences of prose although many have no verb."""

LONGER: Final = 1.5
"""By which factor the sentence after a subhead is longer than it."""
PRESENT, PAST = ("Pres",), ("Past", "Imp")
"""Values of Tense."""

FEWEST_MARKS: Final = 3
"""Commas and full stops of a document from which on they say by themselves whether it is tokenised; with fewer, those
of its file do."""


def with_blanks(shard: Shard, language: LanguageData) -> tuple[Shard, float]:
    """A shard whose text has blanks where the language writes them, and the share of its tokenised sentences.

    A document is tokenised if it has a blank before most of its commas and full stops (`spacing.is_spaced_out`), as
    some treebanks and tables of relations have. In other text, only words that follow a hyphen are put beside it
    (``Spacing.hyphenated``). Places of words are moved with the text; the keys of documents and sentences are those of
    the text in the file.
    """
    tokenised = pl.col("doc").is_in(_tokenised(shard.sentences, language))
    closed: dict[int, str] = {}
    columns = shard.sentences.filter(tokenised).sort("doc", "index", "sent").select("doc", "sent", "text")
    for part in columns.partition_by("doc", maintain_order=True):
        texts = close_up(part["text"].to_list(), language, sentences=True)
        closed |= {sent: text.strip() for sent, text in zip(part["sent"], texts, strict=True)}
    if hyphenated := language.section(Spacing).hyphenated:
        parted = re.compile(rf"(?<=\w-)\s+(?=(?:{'|'.join(map(re.escape, sorted(hyphenated)))})\b)")
        some = shard.sentences.filter(pl.col("text").str.contains(r"\w-\s")).select("sent", "text").iter_rows()
        before = {sent: closed.get(sent, text) for sent, text in some}
        closed |= {sent: parted.sub("", text) for sent, text in before.items() if parted.search(text)}
    return (_with_texts(shard, closed) if closed else shard), columns.height / max(1, shard.sentences.height)


def _with_texts(shard: Shard, texts: Mapping[int, str]) -> Shard:
    """A shard with other texts for some sentences, which differ from the old ones in blanks only."""
    old = dict(shard.sentences.select("sent", "text").iter_rows())
    places = {
        sent: [at for at, character in enumerate(text) if not character.isspace()] for sent, text in texts.items()
    }
    text = pl.col("sent").replace_strict(texts, default=pl.col("text"), return_dtype=pl.String).alias("text")
    sentences = shard.sentences.with_columns(text)
    sentences = sentences.with_columns(pl.Series("text_key", text_keys(sentences["text"].to_list())))
    moved = []
    for name, step in (("start", 0), ("end", 1)):
        of_words = shard.tokens[name].to_list()
        for at, (sent, place) in enumerate(zip(shard.tokens["sent"], of_words, strict=True)):
            if place is not None and sent in texts:
                of_words[at] = places[sent][len("".join(old[sent][: place - step].split()))] + step
        moved.append(pl.Series(name, of_words, shard.tokens.schema[name]))
    return replace(shard, sentences=sentences, tokens=shard.tokens.with_columns(*moved))


def _tokenised(sentences: pl.DataFrame, language: LanguageData) -> list[int]:
    """The documents of a table of sentences that have blanks between all words."""
    if not language.spaces:
        documents = sentences.group_by("doc", maintain_order=True).agg(pl.col("text").str.join("\n")).iter_rows()
        return [doc for doc, text in documents if is_spaced_out(text, language)]
    loose, tight = (pl.col("text").str.count_matches(mark).sum() for mark in (LOOSE_MARK, TIGHT_MARK))
    counts = sentences.group_by("doc", maintain_order=True).agg(loose=loose, tight=tight)
    decides = pl.col("loose") + pl.col("tight") >= FEWEST_MARKS
    own, of_file = pl.col("loose") > pl.col("tight"), pl.col("loose").sum() > pl.col("tight").sum()
    return counts.filter(pl.when(decides).then(own).otherwise(of_file))["doc"].to_list()


def not_running(shard: Shard) -> pl.DataFrame:
    """``sent`` and ``fault`` of each sentence of a shard: why it is no running text, null if it is.

    What most sentences of its document, or of its corpus in the shard, are like decides what a heading or a piece is.
    Sentences outside documents are compared with each other.
    """
    text = pl.col("text")
    groups = shard.documents.select("doc", corpus=pl.struct("corpus", pl.col("doc_id").is_null()).rank("dense"))
    described = (
        shard.sentences.select("sent", "doc", "index", "run", "text", "element")
        .join(shard.sentence_facts(), on="sent", maintain_order="left")
        .join(_predicates(shard.tokens), on="sent", how="left", maintain_order="left")
        .join(groups, on="doc", maintain_order="left")
        .with_columns(
            unclean=clean_text.fault(text),
            marked=~text.str.contains(OPEN_END),
            brief=running_words(text).list.len() <= HEADING,
            small=text.str.contains(SMALL),
            open_list=text.str.contains(OPEN_LIST),
            item=pl.col("verbless") & ~text.str.contains(TALK),
        )
        .sort("doc", "index", "sent")
        .with_columns(among_first=pl.col("brief").cast(pl.Int8).cum_min().over("doc") == 1)
    )
    fault = pl.coalesce(
        "element", "unclean", pl.when("listed").then(pl.lit("names-and-numbers")),
        pl.when("truncated").then(pl.lit("fragment")), _heading(), _piece(),
    )  # fmt: skip
    return described.select("sent", fault=fault)


def _heading() -> pl.Expr:
    """Short sentences without a final mark, in a document or treebank whose other sentences have one."""
    marked = pl.max_horizontal(pl.col("marked").mean().over(group) for group in ("doc", "corpus")) >= MARKED
    return pl.when(marked & pl.col("brief") & ~pl.col("marked")).then(pl.lit("heading"))


def _piece() -> pl.Expr:
    """Pieces of sentences and lists.

    They begin with a small letter in a document and treebank whose sentences begin with a capital, end with a
    semicolon, or are two or more in a row without a verb (*Protection of water. Growth of exports.*). A short sentence
    without a verb is a headline, an item or a note (*Care of the skin.*), and the first sentence of a document is one
    if it is long, too. So are, where verbs are annotated, the first short sentences of a document before one of twice
    their length: headlines with a verb (*The secretary resigns.*), which the text then tells again. These are
    ``among_first``. Inside a document, a short sentence in the present that begins with its subject, a noun or a
    name, and has no copula, is one between sentences in the past, if the next one is longer (*Bakero leaves Puebla.*).
    """
    of_corpus, of_document = (pl.col("small").mean().over(group) for group in ("corpus", "doc"))
    capitals = (of_corpus <= 1 - CAPITALS) & (of_document <= MANY_SMALL)
    item = pl.col("item") & (pl.col("item").mean().over("corpus") <= MANY_VERBLESS)
    before, after = (item.shift(step, fill_value=False) for step in (1, -1))
    first = pl.col("among_first")
    lead = pl.col("n_words").filter(~first).first().over("doc")
    headline = first & (first.sum().over("doc") <= HEADLINES) & (lead >= 2 * pl.col("n_words"))
    headline &= pl.col("item").mean().over("corpus").is_between(0, MANY_VERBLESS, closed="right")
    around = [pl.col("past").shift(step, fill_value=False) for step in (1, -1)]
    longer = pl.col("n_words").shift(-1) >= LONGER * pl.col("n_words")
    subhead = pl.col("brief") & pl.col("tells") & around[0] & around[1] & longer
    subhead &= _continues() & _continues().shift(-1, fill_value=False) & ~pl.col("text").str.contains(TALK)
    listed = item & ((before & _continues()) | (after & _continues().shift(-1, fill_value=False)))
    return (
        pl.when(capitals & pl.col("small"))
        .then(pl.lit("fragment"))
        .when(pl.col("open_list") | (listed & (pl.col("index") > 0)))
        .then(pl.lit("list-item"))
        .when((item & (pl.col("brief") | (pl.col("index") == 0))) | headline | subhead)
        .then(pl.lit("heading"))
    )


def _predicates(tokens: pl.DataFrame) -> pl.DataFrame:
    """``sent``, ``past`` and ``tells`` of sentences with a tree, by their root and its auxiliaries and copula.

    ``past`` is whether they are in the past; ``tells``, whether they are in the present and begin with the subject of
    the root, a noun or a name.
    """
    words = tokens.select("sent", "index", "head", "upos", "deprel", tense=feat("Tense"), mood=feat("Mood"))
    root, rel = pl.col("head") == 0, pl.col("deprel").str.extract("^([^:]+)")
    of_root = pl.col("head") == pl.col("index").filter(root).first()
    finite = (root | (of_root & rel.is_in(["aux", "cop"]))) & pl.col("mood").is_in(["Ind"])
    past, present = (finite & pl.col("tense").is_in(tenses) for tenses in (PAST, PRESENT))
    before = pl.col("index") < pl.col("index").filter(root).first()
    named = of_root & before & (rel == "nsubj") & pl.col("upos").is_in(["NOUN", "PROPN"])
    begins = pl.col("upos").first().is_in(["DET", "ADJ", "NUM", "NOUN", "PROPN"])
    copular = of_root & (rel == "cop")
    told = present.any() & ~past.any() & begins & named.any() & ~copular.any()
    facts = words.group_by("sent").agg(past=past.any(), tells=told)
    return facts.with_columns(pl.col("past", "tells").fill_null(value=False))


def _continues() -> pl.Expr:
    """Whether a sentence follows the one in the row before, with no gap in the source between them."""
    same = [pl.col(name) == pl.col(name).shift(1) for name in ("doc", "run")]
    return pl.all_horizontal(*same, pl.col("index") == pl.col("index").shift(1) + 1).fill_null(value=False)
