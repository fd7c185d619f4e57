"""A corpus as columns: documents, sentences and syntactic words in polars tables.

A corpus is a list of shards (a file, a group of small files, or a block of a large one). A shard is loaded when it
is asked for and holds three tables whose integer keys are valid inside that shard only; the ``key`` columns identify a
document or sentence everywhere, by its content: copies in several corpora have the same key. The columns are in
:data:`DOCUMENTS`, :data:`SENTENCES` and :data:`TOKENS`.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

import msgspec
import polars as pl
from msgspec import field

from discoprobe.loaders.catalogue.treebanks import Source
from discoprobe.loaders.hashing import hash_strings
from discoprobe.loaders.languages.language import UPOS as UNIVERSAL_POS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from polars._typing import PolarsDataType

VERSION: Final = 16
"""Version of the tables that the reader makes of a file.

Raise it when a table changes: cached corpora are then read again, and published configs count as stale.
"""

UPOS: Final = pl.Enum(UNIVERSAL_POS)
"""Type of the column ``upos``."""

DOCUMENTS: Final = {
    "doc": pl.UInt32,
    "corpus": pl.String,
    "doc_id": pl.String,
    "genre": pl.String,
    "n_sentences": pl.UInt32,
    "key": pl.UInt64,
}
"""Columns of ``Shard.documents``; sentences outside documents belong to a row for each genre, whose ``doc_id`` is null.
"""

SENTENCES: Final = {
    "sent": pl.UInt32,
    "doc": pl.UInt32,
    "index": pl.UInt32,
    "run": pl.UInt32,
    "sent_id": pl.String,
    "text": pl.String,
    "n_words": pl.UInt32,
    "aligned": pl.Boolean,
    "key": pl.UInt64,
    "text_key": pl.UInt64,
    "section": pl.UInt32,
    "speaker": pl.String,
    "element": pl.String,
}
"""Columns of ``Shard.sentences``.

``index`` is the position in the document, from 0. Sentences with the same ``run`` follow each other in the original
text without a gap. In ``text``, blanks are where people write them (`running_text.with_blanks`). ``section`` numbers
the sections of a document with headings: 0 is the lead, before the first heading after the title; it is null for
headings, and in documents without sections. A turn of a play or dialogue is a sequence of sentences with the same
``speaker``, which is null if the corpus names nobody. ``element`` is null for running text; if the corpus marks a
sentence as something else, it names that (``heading``, ``caption``, ``list-item``, ``note``, ``table``).

Shards of text that was only divided into sentences have no tokens; their ``n_words`` does not count punctuation.
"""

TOKENS: Final[dict[str, PolarsDataType]] = {
    "sent": pl.UInt32,
    "index": pl.UInt16,
    "form": pl.String,
    "lemma": pl.String,
    "upos": UPOS,
    "feats": pl.String,
    "head": pl.UInt16,
    "deprel": pl.String,
    "start": pl.UInt32,
    "end": pl.UInt32,
    "mwt": pl.UInt16,
}
"""Columns of ``Shard.tokens``, one row per syntactic word; ``start`` and ``end`` are character offsets in the text."""

SPANS: Final = pl.List(pl.Struct({"start": pl.Int32, "end": pl.Int32}))
"""Parts of a text, as characters."""

RELATIONS: Final[dict[str, PolarsDataType]] = {
    "doc": pl.UInt32,
    "unit1": pl.String,
    "unit2": pl.String,
    "lead1": pl.UInt32,
    "lead2": pl.UInt32,
    "direction": pl.String,
    "rel_type": pl.String,
    "orig_label": pl.String,
    "label": pl.String,
    "native": pl.String,
    "context": pl.String,
    "span1": SPANS,
    "span2": SPANS,
    "ids": pl.List(pl.String),
    "key": pl.UInt64,
}
"""Columns of ``Shard.relations``, one row per relation between two units of text.

``unit1`` and ``unit2`` are the texts in the order of the document. If a unit begins with a connective, ``lead1`` or
``lead2`` is the number of characters of that connective, else null. ``direction`` (``1<2``, ``1>2``), ``rel_type``
(``explicit``, …), ``orig_label`` and ``label`` are as published, ``native`` is the published split. ``context`` is the
text of the sentences that both units stand in, ``span1`` and ``span2`` are the parts of the units in it; null if it is
not known where a word stands in its sentence. ``ids`` has the ``sent_id`` of the sentences in which the units begin.
"""

RST_NODES: Final[dict[str, PolarsDataType]] = {
    "doc": pl.UInt32,
    "node": pl.String,
    "parent": pl.String,
    "relname": pl.String,
    "kind": pl.Enum(["segment", "span", "multinuc"]),
    "multinuclear": pl.Boolean,
    "text": pl.String,
    "space_after": pl.Boolean,
}
"""Columns of ``Shard.rst_nodes``: the nodes of trees of Rhetorical Structure Theory in the order of their file.

Trees are as annotated: a node has any number of daughters. ``multinuclear`` is whether the relation to the parent joins
nuclei. ``text`` is the text of a segment, null for other nodes. ``space_after`` is whether white space follows the
segment in the text of the document; it is null if that text is not known: then ``text`` is as the tree has it, often
with blanks between all words.
"""

MENTIONS: Final[dict[str, PolarsDataType]] = {
    "sent": pl.UInt32,
    "entity": pl.String,
    "words": pl.List(pl.UInt16),
    "head": pl.UInt16,
    "type": pl.String,
    "kind": pl.String,
    "gender": pl.String,
    "number": pl.String,
    "status": pl.String,
    "link": pl.String,
    "salience": pl.Float64,
    "bridge": pl.String,
    "parts": pl.List(pl.String),
}
"""Columns of ``Shard.mentions``, one row per mention of an entity: the fields of `Mention`."""


class Mention(msgspec.Struct, frozen=True):
    """A mention of an entity; what a corpus does not give is None.

    Attributes:
        sent: the number of its sentence: in the shard; in the file, from 1, while this is read.
        entity: what it refers to, named inside its document.
        words: the numbers of its words in the sentence, from 1, with gaps if it has several parts.
        head: the number of its head.
        type: that of the entity as the corpus writes it (``person``).
        kind: that of the mention: ``PRON`` for a pronoun alone, ``PROP`` for a name, ``NOM``.
        gender: that of the entity, as in FEATS (``Fem``).
        number: the same (``Plur``).
        status: whether it is known (``new``, ``giv:act``, …).
        link: how it is linked to its antecedent (``ana``, ``appos``, …).
        salience: the share of the summaries of the document that name the entity.
        bridge: an entity by which this one can be understood.
        parts: the entities that it is made of (split antecedents).
    """

    sent: int
    entity: str
    words: tuple[int, ...]
    head: int | None = None
    type: str | None = None
    kind: str | None = None
    gender: str | None = None
    number: str | None = None
    status: str | None = None
    link: str | None = None
    salience: float | None = None
    bridge: str | None = None
    parts: tuple[str, ...] = ()


class Word(msgspec.Struct, frozen=True):
    """A syntactic word; what is not known is empty. Lists of words are sentences: a word has a number in them, from 1.

    Attributes:
        form: the word as written.
        lemma: as in CoNLL-U; so are ``upos``, ``xpos``, ``feats`` and ``deprel``.
        head: the number of a word, 0 for the root; None if it is not known.
        start: of the token, which may be a multiword token, in the text of the sentence (of the paragraph, while raw
            text is annotated); -1 if it is not known. So is ``end``.
        mwt: the number of the first word of its multiword token; 0 outside any. It is known of words from a corpus.
        confidence: the logarithms of the probability that a model gives UPOS and FEATS, and head and relation.
    """

    form: str
    lemma: str = ""
    upos: str = ""
    xpos: str = ""
    feats: str = ""
    head: int | None = None
    deprel: str = ""
    start: int = -1
    end: int = -1
    mwt: int = 0
    confidence: tuple[float, float] | None = None

    @property
    def features(self) -> Mapping[str, str]:
        """Its features: name → value, or several values (``Fem,Masc``)."""
        return _features(self.feats)


@lru_cache(maxsize=2**16)
def _features(feats: str) -> Mapping[str, str]:
    return MappingProxyType(dict(pair.partition("=")[::2] for pair in feats.split("|") if pair))


CONFIDENCE: Final[dict[str, PolarsDataType]] = {
    "sent": pl.UInt32,
    "index": pl.UInt16,
    "tags": pl.Float32,
    "arc": pl.Float32,
}
"""Columns of ``Shard.confidence``, one row per word that a model annotated: the number of the word in the sentence, the
natural logarithms of the probabilities of its UPOS and FEATS, and of its head and relation.
"""

LAYERS: Final = (
    *("lemma", "upos", "feats", "deps", "documents", "text"),
    *("relations", "rst_trees", "sections", "speakers", "coreference", "bridging"),
)
"""The annotation layers that a task can ask for."""

WHOLE: Final = ("relations", "rst_trees", "sections", "speakers", "coreference", "bridging")
"""Layers that a corpus has if it has at least one row of them; the others have a threshold in ``LEAST_SHARE``."""

NAMES: Final = 0.7
"""A sentence with at least this share of names, numbers and symbols may be a list: see `Shard.sentence_facts`."""

LEAST_SHARE: Final = {"lemma": 0.5, "upos": 0.5, "feats": 0.05, "deps": 0.5, "text": 0.5}
"""Share of words (sentences for ``text``) that must carry a layer before the corpus counts as having it.

It is lowest for FEATS, since most words of an analytic language have none.
"""


class Trust(msgspec.Struct, frozen=True):
    """How sure a model must be of its annotation, so that a candidate of a task may be used.

    Attributes:
        weights: of the measures of `builders.sentences.confidence`.
        least: the least weighted sum, by label; of labels without an entry that of the empty string, if it is there.
    """

    weights: tuple[float, ...]
    least: dict[str, float]


class Counts(msgspec.Struct, frozen=True):
    """The numbers of documents with an id, sentences, words, and words with each layer, in a shard or corpus.

    ``layers["text"]`` counts the sentences with a ``# text`` comment, not words.
    """

    documents: int = 0
    sentences: int = 0
    words: int = 0
    layers: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Counts) -> Counts:
        layers = Counter(self.layers)
        layers.update(other.layers)
        return Counts(
            self.documents + other.documents,
            self.sentences + other.sentences,
            self.words + other.words,
            dict(sorted(layers.items())),
        )

    def present(self) -> frozenset[str]:
        """The layers that the corpus has, by :data:`LEAST_SHARE` and :data:`WHOLE`; ``documents`` if one has an id."""
        n_units = {"text": self.sentences}
        layers = {
            layer
            for layer, least in LEAST_SHARE.items()
            if (n := self.layers.get(layer, 0)) and n >= least * n_units.get(layer, self.words)
        }
        layers |= {layer for layer in WHOLE if self.layers.get(layer)}
        return frozenset(layers | ({"documents"} if self.documents else set()))


class Shard(msgspec.Struct, frozen=True):
    """A part of a corpus, as tables with the columns of :data:`DOCUMENTS`, :data:`SENTENCES`, :data:`TOKENS`.

    Corpora of discourse also have :data:`RELATIONS`, :data:`RST_NODES` or :data:`MENTIONS`; an RST tree comes without
    sentences. What a model annotated may have :data:`CONFIDENCE`, and as ``witness`` the same sentences as a second
    model annotates them: only what both say is used.
    """

    documents: pl.DataFrame
    sentences: pl.DataFrame
    tokens: pl.DataFrame
    relations: pl.DataFrame = field(default_factory=pl.DataFrame(schema=RELATIONS).clone)
    rst_nodes: pl.DataFrame = field(default_factory=pl.DataFrame(schema=RST_NODES).clone)
    mentions: pl.DataFrame = field(default_factory=pl.DataFrame(schema=MENTIONS).clone)
    confidence: pl.DataFrame = field(default_factory=pl.DataFrame(schema=CONFIDENCE).clone)
    witness: Shard | None = None

    def load(self) -> Shard:
        """The shard itself: it is in memory already."""
        return self

    @property
    def size(self) -> int:
        """Bytes of text."""
        return int(self.sentences["text"].str.len_bytes().sum())

    @property
    def prepared(self) -> bool:
        """It is in memory."""
        return True

    @property
    def n_documents(self) -> int:
        """The number of rows of the table of documents."""
        return self.documents.height

    @property
    def identity(self) -> str:
        """A hexadecimal digest of the keys of its sentences and of their annotation, without any name of a corpus.

        So two corpora that annotate the same texts differ. For RST trees, which have no sentences, it is a digest of
        the keys of the documents and of the segments.
        """
        if self.sentences.is_empty():
            segments = self.rst_nodes.select("text", "space_after").write_ndjson()
            return blake2b(self.documents["key"].to_numpy().tobytes() + segments.encode(), digest_size=16).hexdigest()
        digest = blake2b(self.sentences["key"].to_numpy().tobytes(), digest_size=16)
        for name in ("lemma", "upos", "feats", "deprel") if self.tokens.height else ():
            digest.update(hash_strings(self.tokens[name].cast(pl.String).fill_null("")).tobytes())
        digest.update(self.tokens["head"].fill_null(0).to_numpy().tobytes())
        digest.update(self.relations["key"].to_numpy().tobytes())
        for table in (self.sentences.select("speaker", "section"), self.mentions):
            if any(table[name].count() for name in table.columns):
                digest.update(table.write_ndjson().encode())
        return digest.hexdigest()

    def sentence_facts(self) -> pl.DataFrame:
        """``sent``, ``n_words``, ``listed``, ``truncated`` and ``verbless``, a row per sentence.

        ``n_words`` counts the words with a letter or digit, and symbols (*%*). ``listed`` is true for names with
        numbers and without a verb or subject, such as results or addresses (*Roberto Moreno 52 4.*); ``truncated``
        where an ellipsis follows a conjunction, preposition or determiner (*they go to …*); ``verbless`` where the root
        has neither a verb, copula or auxiliary nor an active subject (*Protection of water.*, *Plan approved.*).
        """
        if self.tokens.is_empty():  # text that was only divided into sentences
            no = pl.lit(value=False)
            return self.sentences.select("sent", pl.col("n_words").cast(pl.Int32), listed=no, truncated=no, verbless=no)
        upos, form = pl.col("upos"), pl.col("form")
        is_word = form.str.contains(r"[\p{L}\p{N}]") | (upos == "SYM").fill_null(value=False)
        root, rel = pl.col("head") == 0, pl.col("deprel").str.extract("^([^:]+)")
        of_root = pl.col("head") == pl.col("index").filter(root).first()
        predicate = root & upos.is_in(["VERB", "AUX"])
        helped = of_root & (rel.is_in(["cop", "aux", "csubj"]) | pl.col("deprel").is_in(["nsubj", "nsubj:outer"]))
        clausal = upos.is_in(["VERB", "AUX"]) | pl.col("deprel").str.starts_with("nsubj")
        named = upos.is_in(["PROPN", "NUM", "SYM"]).sum() >= NAMES * upos.ne_missing(pl.lit("PUNCT")).sum()
        facts = self.tokens.group_by("sent").agg(
            n_words=is_word.sum().cast(pl.Int32), listed=named & (upos == "NUM").any() & ~clausal.any(),
            truncated=(
                form.filter(~is_word).last().is_in(["...", "…", "...."])
                & upos.filter(is_word).last().is_in(["CCONJ", "SCONJ", "ADP", "DET"])
                & ~pl.col("deprel").filter(is_word).last().str.contains("^(case|det)").fill_null(value=False)
                & ~is_word.last()
            ),
            verbless=root.any() & ~(predicate | helped).fill_null(value=False).any(),
        )  # fmt: skip
        joined = self.sentences.select("sent").join(facts, on="sent", how="left", maintain_order="left")
        return joined.with_columns(
            pl.col("n_words").fill_null(0), pl.col("listed", "truncated", "verbless").fill_null(value=False)
        )

    def counts(self) -> Counts:
        """The counts of the shard; every sentence counts for ``text``, since the tables do not have the comments."""
        present = {layer: self.tokens[layer].count() for layer in ("lemma", "upos", "feats")}
        discourse = {
            "relations": self.relations.height, "rst_trees": self.rst_nodes.height,
            "sections": self.sentences["section"].count(), "speakers": self.sentences["speaker"].count(),
            "coreference": self.mentions.height, "bridging": self.mentions["bridge"].count(),
        }  # fmt: skip
        present |= {layer: n for layer, n in discourse.items() if n}
        deps = self.tokens.select((pl.col("head").is_not_null() & pl.col("deprel").is_not_null()).sum()).item()
        return Counts(
            self.documents["doc_id"].count() if self.sentences.height else 0,
            self.sentences.height,
            self.tokens.height,
            {**present, "deps": deps, "text": self.sentences.height},
        )


def joined(shards: Sequence[Shard]) -> Shard:
    """The shards as one; the numbers in ``doc``, ``sent`` and ``run`` are shifted, so that they stay distinct."""
    tables: dict[str, list[pl.DataFrame]] = {}
    documents = sentences = runs = 0
    for shard in shards:
        doc = (pl.col("doc") + documents).cast(pl.UInt32)
        sent = (pl.col("sent") + sentences).cast(pl.UInt32)
        run = (pl.col("run") + runs).cast(pl.UInt32)
        changes = {
            "documents": [doc], "sentences": [sent, doc, run], "tokens": [sent], "relations": [doc], "rst_nodes": [doc],
            "mentions": [sent], "confidence": [sent],
        }  # fmt: skip
        for name, columns in changes.items():
            tables.setdefault(name, []).append(getattr(shard, name).with_columns(columns))
        documents += _after(shard.documents["doc"])
        sentences += _after(shard.sentences["sent"])
        runs += _after(shard.sentences["run"])
    witnesses = [shard.witness for shard in shards if shard.witness is not None]
    together = {name: pl.concat(frames, rechunk=True) for name, frames in tables.items()}
    return Shard(**together, witness=joined(witnesses) if witnesses else None)


def _after(keys: pl.Series) -> int:
    """The number after the largest key; 0 if there is none."""
    last = keys.max()
    return last + 1 if isinstance(last, int) else 0


class Loadable(Protocol):
    """Something small and picklable that loads one shard, such as an entry of the cache.

    Its properties are known without loading the shard. By them a build decides which shards it reads together, and in
    which order.
    """

    @property
    def size(self) -> int:
        """Bytes of text in the shard, approximately."""

    @property
    def n_documents(self) -> int:
        """The number of documents in the shard, approximately."""

    @property
    def identity(self) -> str:
        """A name that depends on the content of the shard only, and differs between shards of different content."""

    @property
    def prepared(self) -> bool:
        """Whether the shard is in memory or in the cache; else it is read, and divided into sentences, when loaded."""

    def load(self) -> Shard:
        """The shard, read or memory-mapped."""


BLANKS: Final = "blanks are set by rule"
"""How a note of a corpus begins, after the name of the treebank, if it was tokenised or has words only."""
TOKENISED: Final = f"{BLANKS}, because its text was tokenised"
"""The note on a treebank of which much of the text had blanks between all words."""


class Corpus(msgspec.Struct, frozen=True):
    """The corpora of one language: a sequence of shards that are loaded one at a time.

    Attributes:
        lang: the language code, as UD has it.
        sources: the treebanks, by name.
        parts: an object per shard that loads it; their order depends on names and contents only.
        counts: totals over all shards.
        drops: number of sentences that the reader left out, by reason; empty unless ``on_error`` was ``"skip"``.
        drop_places: the first of those, as ``treebank/file:line (sent_id …): problem``.
        notes: what else a reader of the corpus should know, such as a column that was not read.
        forms: a table of inflected forms that is used beside the corpora, in files with a ``url``; None for none. That
            of a user has no name.
        counts_of: ``counts`` of each corpus; empty for a single one.
        trust: how sure the models of annotated text must be, by the name of the task.
    """

    lang: str
    sources: tuple[Source, ...]
    parts: tuple[Loadable, ...]
    counts: Counts
    drops: Mapping[str, int] = field(default_factory=dict)
    drop_places: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    forms: Source | None = None
    counts_of: tuple[Counts, ...] = ()
    trust: Mapping[str, Trust] = field(default_factory=dict)

    def __repr__(self) -> str:
        names = ", ".join(source.name for source in self.sources)
        return f"<Corpus {self.lang}: {self.n_sentences:,} sentences, {self.n_documents:,} documents; {names}>"

    def _repr_html_(self) -> str:
        """The view in a notebook: its size, what is annotated, and its sources."""
        facts = {
            "documents": f"{self.n_documents:,}", "sentences": f"{self.n_sentences:,}", "words": f"{self.n_words:,}",
            "annotation": ", ".join(layer for layer in LAYERS if layer in self.layers) or "none",
            "left out": ", ".join(f"{n:,} {reason}" for reason, n in self.drops.items()),
            "sources": "; ".join(f"{source.name} ({source.licence})" for source in self.sources),
            "notes": "; ".join(self.notes),
        }  # fmt: skip
        left = 'style="text-align: left"'
        rows = "".join(
            f"<tr><th {left}>{name}</th><td {left}>{html.escape(fact)}</td></tr>"
            for name, fact in facts.items()
            if fact
        )
        return f"<p><b>Corpus</b> of language <b>{html.escape(self.lang)}</b></p><table>{rows}</table>"

    @classmethod
    def of_shards(cls, lang: str, shards: Iterable[Shard], sources: tuple[Source, ...] = ()) -> Corpus:
        """A corpus of shards that are in memory."""
        parts = tuple(shards)
        return cls(lang, sources, parts, sum((part.counts() for part in parts), Counts()))

    def __add__(self, other: Corpus) -> Corpus:
        """The corpora of both; their language is the same."""
        return Corpus(
            self.lang, (*self.sources, *other.sources), (*self.parts, *other.parts), self.counts + other.counts,
            dict(sorted((Counter(self.drops) + Counter(other.drops)).items())),
            (*self.drop_places, *other.drop_places), (*self.notes, *other.notes), self.forms or other.forms,
            (*(self.counts_of or (self.counts,)), *(other.counts_of or (other.counts,))), {**self.trust, **other.trust},
        )  # fmt: skip

    @property
    def tokenised(self) -> frozenset[str]:
        """The corpora whose text was tokenised."""
        ends = f": {TOKENISED}"
        return frozenset(note.removesuffix(ends) for note in self.notes if note.endswith(ends))

    def shards(self) -> Iterator[Shard]:
        """The shards, loaded one at a time."""
        return (part.load() for part in self.parts)

    @property
    def all_sources(self) -> tuple[Source, ...]:
        """Its sources, and that of the table of forms."""
        return (*self.sources, *([self.forms] if self.forms and self.forms.name else []))

    @property
    def layers(self) -> frozenset[str]:
        """The subset of :data:`LAYERS` that it carries: those of annotation that one of the corpora has.

        The text must be that of most sentences, because it is shown.
        """
        whole = self.counts.present()
        return whole.union(*(counts.present() - {"text"} for counts in self.counts_of))

    @property
    def n_documents(self) -> int:
        """Number of documents that have an id, summed over shards."""
        return self.counts.documents

    @property
    def n_sentences(self) -> int:
        """Number of sentences."""
        return self.counts.sentences

    @property
    def n_words(self) -> int:
        """Number of syntactic words, punctuation included."""
        return self.counts.words


def feat(name: str, column: str = "feats") -> pl.Expr:
    """The value of a feature such as ``Number`` or ``Number[psor]``, or null.

    Several values (``Gender=Fem,Masc``) are kept as one string. Reads a ``feats`` column as CoNLL-U writes it.
    """
    return pl.col(column).str.extract(rf"(?:^|\|){re.escape(name)}=([^|]*)").alias(name)


def exploded(frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """A row for each element of the lists of some columns; none for an empty list, or for null."""
    return frame.filter(pl.col(columns[0]).list.len() > 0).explode(*columns)
