"""Words and phrases that connect a sentence with the one before, or two clauses; the language data list them."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import ClassVar, Final, Literal, get_args

import msgspec
import polars as pl

from discoprobe.builders.sampling.balance import by_frequency
from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.languages.language import UPOS, LanguageData, LanguageSection, Upos, check_small_letters

ONE_WORD: Final[frozenset[Upos]] = frozenset({"CCONJ", "SCONJ", "ADV"})
"""The parts of speech of a connective of one word, where its entry names none."""

NOTHING: Final = r"[^\s\S]"
"""A pattern that nothing matches."""

WORD: Final = r"\p{L}[\p{L}\p{M}'’-]*"
"""A word of running text."""

OPENING: Final = 10
"""First words of a sentence looked at; no connective is longer."""

LEFT_OVER: Final = 3
"""Fewest words that must follow the connective of a sentence."""

AGAIN: Final = 5
"""Words after a connective among which it must not recur."""

CLAUSES: Final = ("ccomp", "conj", "parataxis")
"""Relations of the other clauses that a connective may introduce: reported speech, or the first of two (Korean)."""

REASONS: Final = {
    "no-main-clause": "the sentence ends with the clause that the connective opens",
    "correlative": "another connective answers the first one (*weil …, deshalb*)",
}

Sense = Literal[
    "addition", "contrast", "alternative", "reason", "result", "time", "example", "elaboration", "concession",
    "correction",
]  # fmt: skip
"""Senses of connectives, roughly those of the second level of the Penn Discourse Treebank 3."""


class Connective(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One connective.

    Words are in lower case, as Universal Dependencies tokenises them, with spaces between them: the parts of a
    multiword token stand apart (``a el contrario``).

    Attributes:
        lemma: the name of the class.
        forms: what it may look like; where the entry has none, the lemma is the only form.
        upos: the parts of speech that the first word may have; where the entry has none, `ONE_WORD` if a form is one
            word, else any.
        sense: how it ties its sentence or clause to the other one; required where the scope is the sentence. A
            subordinator with several senses (*while*) has none.
        scope: what it ties its clause to: the previous ``sentence``, or the main ``clause`` that follows.
        unless: longer phrases that begin like a form and are something else (``so far``).
        moods: which the verb of its clause may have: the indicative, the subjunctive, or both.
    """

    lemma: str
    forms: tuple[str, ...] = ()
    upos: frozenset[Upos] = frozenset()
    sense: Sense | None = None
    scope: Literal["sentence", "clause"] = "sentence"
    unless: tuple[str, ...] = ()
    moods: tuple[Literal["Ind", "Sub"], ...] = ("Ind",)

    def __post_init__(self) -> None:
        forms = self.forms or (self.lemma,)
        check_small_letters((*forms, *self.unless))
        several = all(" " in form for form in forms)
        if self.scope == "sentence" and self.sense is None:
            raise ValueError(f"the connective '{self.lemma}' needs a sense, one of {', '.join(get_args(Sense))}")
        msgspec.structs.force_setattr(self, "forms", forms)
        msgspec.structs.force_setattr(self, "upos", self.upos or (frozenset(UPOS) if several else ONE_WORD))


class Connectives(LanguageSection, frozen=True):
    """The section ``[connectives]``: a closed list; empty where the language has none.

    Attributes:
        entries: the connectives.
    """

    section: ClassVar[str] = "connectives"
    entries: tuple[Connective, ...] = ()

    def __post_init__(self) -> None:
        for kind, names in (("lemma", [entry.lemma for entry in self.entries]), ("form", self.forms)):
            if twice := [name for name, count in Counter(names).items() if count > 1]:
                raise ValueError(f"the {kind} '{twice[0]}' is listed twice")

    @property
    def forms(self) -> list[str]:
        """Every form of every connective."""
        return [form for entry in self.entries for form in entry.forms]


def forms_of(entries: Iterable[Connective]) -> pl.DataFrame:
    """One row per form: its words, the ``first`` of them, their number, what it is and what it must (not) be."""
    rows = []
    for entry in entries:
        unless = f"^(?:{'|'.join(map(re.escape, entry.unless))}) " if entry.unless else NOTHING
        rows += [
            (form.partition(" ")[0], form.count(" ") + 1, form, entry.lemma, entry.sense, sorted(entry.upos), unless)
            for form in entry.forms
        ]
    names = {"first": pl.String, "size": pl.Int64, "words": pl.String, "lemma": pl.String, "sense": pl.String}
    return pl.DataFrame(rows, {**names, "classes": pl.List(pl.String), "unless": pl.String}, orient="row")


def lower(form: pl.Expr, language: LanguageData) -> pl.Expr:
    """A form in lower case, by the capitals of the language."""
    for small, capital in language.capitals.items():
        form = form.str.replace_all(capital, small, literal=True)
    return form.str.to_lowercase()


def capitalised(words: pl.Series, where: pl.Series, language: LanguageData) -> pl.Series:
    """The words, with a capital where they need one."""
    pairs = zip(words, where, strict=True)
    return pl.Series([language.capitalise(word) if need else word for word, need in pairs], dtype=pl.String)


def sentence_connectives(shard: Shard, language: LanguageData) -> pl.DataFrame:
    """The connectives that open a sentence and tie it to the one before: ``sent``, ``connective`` and ``trim``.

    ``trim`` is where the text after the connective, and a comma, begins; a connective that ends inside a multiword
    token is left out. Of several connectives the longest counts. Questions and sentences of little else are left out,
    and so are connectives that recur shortly after (the first half of two, or a beginning that is given up) and those
    that join or govern a phrase (Catalan *paral·lelament a la fira*).
    """
    # The first words of each sentence that is no question: their forms in lower case, places and heads.
    question = pl.col("text").str.contains(r"[?？؟;]\s*[\"»”’)]*$")
    statements = shard.sentences.filter(pl.col("aligned") & ~question).select("sent")
    heading = (pl.col("head") == 0) | pl.col("deprel").str.extract(r"^([^:]+)").is_in(CLAUSES)
    clauses = shard.tokens.filter(heading).group_by("sent").agg(clauses="index")
    openings = (
        shard.tokens.filter(pl.col("index") <= OPENING)
        .join(statements, on="sent", how="semi", maintain_order="left")
        .with_columns(lower(pl.col("form"), language), pl.when(pl.col("upos") != "PUNCT").then("head"))
        .group_by("sent", maintain_order=True)
        .agg("form", "start", "head", pl.col("upos").first(), n=pl.len())
        .join(clauses, on="sent", how="left", maintain_order="left")
        .with_columns(first=pl.col("form").list.first())
    )
    form, size, start, head = pl.col("form"), pl.col("size"), pl.col("start"), pl.col("head")
    opening = pl.concat_str(form.list.join(" "), pl.lit(" "))
    following = pl.concat_str(pl.lit(" "), form.list.slice(size, AGAIN + size - 1).list.join(" "), pl.lit(" "))
    again = following.str.contains(pl.concat_str(pl.lit(" "), "words", pl.lit(" ")), literal=True)
    # A word of the connective depends on the head of a clause, not of a phrase; without a tree all are used.
    joined_heads = head.list.head("size").list.set_intersection("clauses").list.len()
    joins_clause = pl.col("clauses").is_null() | (joined_heads > 0)
    n_words = size.cast(pl.Int64)
    own_words = pl.int_ranges(1, n_words + 1, dtype=pl.UInt16)
    governs = head.list.slice(n_words).list.set_intersection(own_words).list.len() > 0
    after, beyond = (start.list.get(size + n, null_on_oob=True) for n in (0, 1))
    comma = form.list.get(size, null_on_oob=True).is_in([",", "،", "、", "，"])
    trim = pl.when(start.list.get(size - 1) != after).then(pl.when(comma).then(beyond).otherwise(after)).cast(pl.Int32)
    forms = forms_of(connectives_of(language, "sentence")).rename({"lemma": "connective"})
    possible = openings.join(forms, on="first", maintain_order="left")
    if possible.is_empty():  # polars before 1.36 forgets that empty lists are of strings
        return pl.DataFrame(schema={"sent": pl.UInt32, "connective": pl.String, "trim": pl.Int32})
    matches = (
        possible.filter(
            form.list.head("size").list.join(" ") == pl.col("words"),
            pl.col("upos").cast(pl.String).is_in("classes"),
            ~opening.str.contains(pl.col("unless")),
            ~again,
            joins_clause,
            ~governs,
            pl.col("n") >= size + LEFT_OVER,
        )
        .select("sent", "size", "connective", trim=trim)
        .drop_nulls("trim")
        .sort("sent", "size", "connective", descending=[False, True, False])
    )
    return matches.unique("sent", keep="first", maintain_order=True).drop("size")


def clause_connectives(sentences: pl.DataFrame, language: LanguageData) -> pl.DataFrame:
    """The connectives with a sense that introduce a clause, found in the text: the first one of each sentence.

    A connective opens the sentence or follows a comma, and three words without a mark follow it.

    Args:
        sentences: ``sent`` and ``text``.
        language: with its list of connectives.

    Returns:
        ``sent``, ``form`` (as written), ``connective`` (in lower case), ``lemma``, ``sense``, ``start`` and
        ``until`` (its place in the text), ``frame`` (what is equal where one connective replaces another: place of the
        clause, mood, elision, and the next word; two words in a language in which a connective takes both moods) and
        ``hindrance``.
    """
    entries = with_senses(language)
    listed = forms_of(entries).select("lemma", "sense", "unless", connective=pl.col("words").str.replace_all(" ,", ","))
    mood = {entry.lemma: "".join(entry.moods) for entry in entries}
    n_words = 2 if any(len(entry.moods) > 1 for entry in entries) else 1
    begin = pl.col("before").str.len_chars()
    # A text with a connective: what is `before`, its `form`, three words, and the `rest`; the longest form first.
    longest = sorted(listed["connective"], key=len, reverse=True)
    complete, elided = (
        "|".join(re.escape(form).replace("'", "['’]") for form in longest if form.endswith("'") == ends) or NOTHING
        for ends in (False, True)
    )
    connective = f"(?:(?<form>(?i:{complete})) |(?<elided>(?i:{elided})))"
    pattern = f"^(?<before>(?:.*?, )??){connective}(?<first>{WORD}) (?<second>{WORD}) {WORD}(?<rest>.*)$"
    matches = (
        sentences.select("sent", groups=pl.col("text").str.extract_groups(pattern))
        .unnest("groups")
        .with_columns(form=pl.coalesce("form", "elided"))
        .drop_nulls("form")
        .with_columns(connective=lower(pl.col("form"), language).str.replace("’", "'", literal=True))
        .join(listed, on="connective", maintain_order="left")
    )
    following = pl.concat_str("connective", "first", "second", pl.lit(""), separator=" ").str.to_lowercase()
    opens, main = pl.col("before") == "", pl.col("rest").str.contains(", ", literal=True)
    answers = [form for entry in connectives_of(language, "sentence") for form in entry.forms]
    answer = rf"(?i), (?:{'|'.join(map(re.escape, answers)) or NOTHING})\b"
    return matches.filter(~following.str.contains(pl.col("unless"))).select(
        "sent", "form", "connective", "lemma", "sense", start=begin, until=begin + pl.col("form").str.len_chars(),
        frame=pl.concat_str(
            pl.when(opens).then(pl.lit("before")).otherwise(pl.lit("after")),
            pl.col("lemma").replace_strict(mood, return_dtype=pl.String).replace("IndSub", "Ind"),
            pl.when(pl.col("elided").is_null()).then(pl.lit("whole")).otherwise(pl.lit("elided")),
            *["first", "second"][:n_words], separator=" ",
        ).str.to_lowercase(),
        hindrance=pl.when(opens & ~main).then(pl.lit("no-main-clause"))
        .when(opens & pl.col("rest").str.contains(answer)).then(pl.lit("correlative")),
    )  # fmt: skip


def connectives_of(language: LanguageData, scope: Literal["sentence", "clause"]) -> list[Connective]:
    """The connectives of a language that tie their clause to the previous sentence, or to the main clause."""
    return [entry for entry in language.section(Connectives).entries if entry.scope == scope]


def with_senses(language: LanguageData) -> list[Connective]:
    """The subordinators of a language that have one sense."""
    return [entry for entry in connectives_of(language, "clause") if entry.sense]


def unlisted(language: LanguageData) -> str:
    """Why a language has no connectives that tie a sentence to the one before; empty where some are listed."""
    listed = connectives_of(language, "sentence")
    return "" if listed else f"no connectives are listed for {language.name}; see docs/adding_a_language.md"


def one_per_sense(rows: pl.DataFrame, language: LanguageData) -> pl.DataFrame:
    """The rows of the most frequent ``connective`` of each sense: nothing in a text tells *but* from *however*."""
    senses = {entry.lemma: entry.sense for entry in connectives_of(language, "sentence")}
    sense = pl.col("connective").replace_strict(senses, return_dtype=pl.String, default=None)
    first = by_frequency(rows, "connective").filter(sense.is_first_distinct())
    return rows.filter(pl.col("connective").is_in(first["connective"].implode()))
