"""Pronouns that a subject binds, in corpora with coreference and trees.

A reflexive or possessive pronoun is bound by the subject of its clause, and any pronoun in a complement clause by the
subject above (*Anna read her letter*, *Anna said she was tired*). There the name of the subject cannot be repeated.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.columns import RELATION_CANDIDATES
from discoprobe.builders.sentences.candidates import sentences
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.units.relation_rows import candidates
from discoprobe.loaders.corpus import feat
from discoprobe.loaders.languages.language import LanguageSection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from discoprobe.builders.task import Context
    from discoprobe.loaders.corpus import Shard

REASONS: Final = {
    "no-name": "its subject has no simple name in the document",
    "named-again": "the sentence names its subject in another place too",
    "not-a-thing": "what is possessed is an event, a time or abstract, and may be its possessor's alone (*her debut*)",
    "no-possessive": "how a name is marked as possessor is not listed for the language",
}

ABSTRACT: Final = ("abstract", "event", "time")
"""Types of entities (GUM's) that others than the subject often cannot have: *Mary made Anna's debut* is odd."""

LONGEST: Final = 3
"""Most words of a name."""

SUBJECTS: Final = ("nsubj", "nsubj:pass")
APART: Final = ("appos", "csubj", "discourse", "dislocated", "parataxis", "reparandum", "vocative")
"""Relations across which no subject binds."""

TOUCHING: Final = re.compile(r"[\w'’‘-]")


class Possession(LanguageSection, frozen=True):
    """The section ``[possession]``: how a name becomes a possessor that takes the place of a possessive pronoun.

    Attributes:
        suffix: what is added to the name (English *'s*).
    """

    section: ClassVar[str] = "possession"
    suffix: str = ""


class _Word(NamedTuple):
    """A word; ``head`` is counted from 0; ``kind`` is that of a personal pronoun: possessive, reflexive or plain."""

    form: str
    upos: str
    deprel: str
    head: int
    start: int | None
    end: int | None
    gender: str | None
    number: str | None
    kind: str | None

    @property
    def rel(self) -> str:
        """The relation without its subtype."""
        return self.deprel.partition(":")[0]


class _Mention(NamedTuple):
    """A mention: its words and its head, counted from 0, its entity and the entity's type."""

    words: tuple[int, ...]
    head: int
    entity: str
    type: str | None


class _Sentence(NamedTuple):
    """A sentence of a document with its words and mentions."""

    sent: int
    sent_id: str
    text: str
    words: Sequence[_Word]
    mentions: Sequence[_Mention]

    def name(self, at: int) -> tuple[int, int] | None:
        """Start and end of the name that a word heads; None if it is no short name without other words."""
        words, parts = self.words, [at]
        for number, word in enumerate(words):
            if word.head == at and word.rel in {"flat", "compound"}:
                parts.append(number)
            elif word.head == at and word.rel in {"det", "amod", "nummod", "conj", "appos"}:
                return None
        first, last = min(parts), max(parts)
        names = all(words[part].upos == "PROPN" for part in parts)
        return self.span(first, last) if names and last - first + 1 == len(parts) <= LONGEST else None

    def span(self, first: int, last: int) -> tuple[int, int] | None:
        """Start and end of neighbouring words; None if they are written together with others."""
        start, end = self.words[first].start, self.words[last].end
        if start is None or end is None or TOUCHING.match(self.text[max(start - 1, 0) : start] if start else " "):
            return None
        return None if TOUCHING.match(self.text[end : end + 1]) else (start, end)

    def subjects_above(self, at: int) -> Iterator[tuple[int, bool]]:
        """The subjects that can bind a word: of its clause, and (true) of the clause that this one complements."""
        words, crossed = self.words, False
        while (up := words[at].head) >= 0 and words[at].rel not in APART:
            subjects = [number for number, word in enumerate(words) if word.head == up and word.deprel in SUBJECTS]
            if subjects and at not in subjects:
                yield subjects[0], crossed
            if subjects:
                if crossed or words[up].rel != "ccomp":
                    return
                crossed = True
            at = up

    def binder(self, mention: _Mention) -> int | None:
        """The subject that binds a pronoun and was its last mention; None if there is none, or this is no pronoun."""
        pronoun = self.words[mention.head]
        if len(mention.words) > 1 or not pronoun.kind or mention.type not in {None, "person"}:
            return None
        marked = any(word.head == mention.head and word.rel == "case" for word in self.words)
        if pronoun.kind == "reflexive" and not (marked or pronoun.rel in {"obj", "iobj"}):
            return None  # *Anna herself*
        for subject, crossed in self.subjects_above(mention.head):
            before = [one.head for one in self.mentions if one.entity == mention.entity and one.head < mention.head]
            if subject in before and max(before) == subject and (crossed or pronoun.kind != "plain"):
                return subject
        return None

    def is_thing(self, mention: _Mention) -> bool:
        """Whether what a possessive pronoun says is possessed is concrete, where the corpus has types of entities."""
        thing = self.words[mention.head].head
        types = {one.type for one in self.mentions if one.head == thing and mention.head in one.words}
        return mention.type is None or bool(types.difference(ABSTRACT))


def bound_pronouns(shard: Shard, context: Context) -> pl.DataFrame:
    """The bound pronouns of a shard as candidates: ``sentence1`` with the pronoun, ``sentence2`` with the name again.

    Further columns: ``before``, ``name``, ``between``, ``pronoun``, ``phrase`` (the name in the pronoun's place),
    ``after``, and ``cell``: the gender and number of the pronoun and the number of words of the name.
    """
    suffix = context.language.section(Possession).suffix
    rows = [row for doc, whole in _documents(shard) for row in _rows(doc, whole, suffix)]
    own = ("before", "name", "between", "pronoun", "phrase", "after", "cell")
    schema: dict[str, Any] = {
        **RELATION_CANDIDATES, "sent": pl.UInt32, "at": pl.UInt16, **dict.fromkeys(own, pl.String),
    }  # fmt: skip
    frame = pl.DataFrame([dict.fromkeys(schema) | row for row in rows], schema, orient="row").drop("key")
    settings = replace(context.settings, probing_words=context.settings.discourse_words)
    facts = sentences(Trees(shard), settings).select("sent", "key", _sentence="reason")
    joined = frame.join(facts, on="sent", maintain_order="left")
    return candidates(
        joined.with_columns(
            key=pl.Series(hashing.combine(joined["key"], joined["at"])), reason=pl.coalesce("_sentence", "reason")
        ).drop("_sentence")
    )


def _rows(doc: int, whole: Sequence[_Sentence], suffix: str) -> Iterator[dict[str, Any]]:
    """The candidates of a document."""
    names = _names(whole)
    for sentence in whole:
        for mention in sentence.mentions:
            subject = sentence.binder(mention)
            if subject is not None:
                yield {"doc": doc, **_row(sentence, mention, subject, names.get(mention.entity, ""), suffix)}


def _row(sentence: _Sentence, mention: _Mention, subject: int, name: str, suffix: str) -> dict[str, Any]:
    """A candidate: the text in parts, or the reason why it cannot be used."""
    words, text = sentence.words, sentence.text
    pronoun, is_pronoun = words[mention.head], bool(words[subject].kind)
    own = sentence.span(subject, subject) if is_pronoun else sentence.name(subject)
    place = sentence.span(mention.head, mention.head)
    row = {"label": "bound", "ids": [sentence.sent_id], "sent": sentence.sent, "at": mention.head}
    row |= {"sentence1": text, "sentence2": text}
    named = [one for one in sentence.mentions if one.entity == mention.entity and one.head != subject]
    possessive = pronoun.kind == "possessive"
    if not own or not place or not name:
        return row | {"reason": "no-name"}
    if any(words[one.head].upos in {"NOUN", "PROPN"} for one in named):
        return row | {"reason": "named-again"}
    if possessive and not sentence.is_thing(mention):
        return row | {"reason": "not-a-thing"}
    if possessive and not suffix:
        return row | {"reason": "no-possessive"}
    name = name if is_pronoun else text[slice(*own)]
    parts = {
        "before": text[: own[0]], "name": name, "between": text[own[1] : place[0]], "pronoun": pronoun.form,
        "phrase": name + suffix * possessive, "after": text[place[1] :],
    }  # fmt: skip
    before, after = parts["before"] + name + parts["between"], parts["after"]
    shown = {"sentence1": before + pronoun.form + after, "sentence2": before + parts["phrase"] + after}
    return row | parts | shown | {"cell": f"{pronoun.gender} {pronoun.number} {len(name.split())}"}


def _names(whole: Sequence[_Sentence]) -> Mapping[str, str]:
    """The most frequent name of each entity of a document."""
    names: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in whole:
        for mention in sentence.mentions:
            if span := sentence.name(mention.head):
                names[mention.entity][sentence.text[slice(*span)]] += 1
    return {entity: min(found, key=lambda name: (-found[name], name)) for entity, found in names.items()}


def _documents(shard: Shard) -> Iterator[tuple[int, list[_Sentence]]]:
    """The documents of a shard that have mentions, with their sentences."""
    mentions, words = defaultdict(list), defaultdict(list)
    for sent, entity, numbers, head, kind in shard.mentions.iter_rows():
        mentions[sent].append(_Mention(tuple(number - 1 for number in numbers), head - 1, entity, kind))
    personal = (feat("PronType") == "Prs") & (feat("Person") == "3")
    kinds = (
        pl.when(~personal.fill_null(value=False)).then(None)
        .when(feat("Poss") == "Yes").then(pl.lit("possessive"))
        .when(feat("Reflex") == "Yes").then(pl.lit("reflexive"))
        .otherwise(pl.lit("plain"))
    )  # fmt: skip
    marked = shard.sentences.filter(pl.col("sent").is_in(list(mentions)))["doc"].unique().implode()
    chosen = shard.sentences.filter(pl.col("doc").is_in(marked)).sort("doc", "index")
    columns = shard.tokens.filter(pl.col("sent").is_in(chosen["sent"].implode())).select(
        "sent", "form", pl.col("upos").cast(pl.String).fill_null(""), pl.col("deprel").fill_null(""),
        pl.col("head").cast(pl.Int64).fill_null(0) - 1, *(
            pl.when(pl.col("mwt").is_null()).then(place) for place in ("start", "end")
        ), feat("Gender"), feat("Number"), kinds.alias("kind"),
    )  # fmt: skip
    for sent, *values in columns.iter_rows():
        words[sent].append(_Word(*values))
    for (doc,), part in chosen.group_by("doc", maintain_order=True):
        rows = part.select("sent", "sent_id", "text").iter_rows()
        yield int(str(doc)), [_Sentence(sent, name, text, words[sent], mentions[sent]) for sent, name, text in rows]
