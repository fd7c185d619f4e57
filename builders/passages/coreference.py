"""Documents with coreference: their sentences, words and mentions, for tasks that follow entities through a text."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final

import msgspec
import polars as pl
from msgspec import field

from discoprobe.loaders.corpus import MENTIONS, Mention, Shard, Word

STEM: Final = (4, 2)
"""First characters of a word by which words are compared, in scripts with and without capitals."""

OF_CORPUS: Final = {"PRON": "pronoun", "PROP": "name", "NOM": "noun"}
"""The kinds of mentions as corpora name them."""


def stem(form: str) -> str:
    """The beginning of a word in small letters, which most of its forms have in common."""
    small = form.lower()
    return small[: STEM[0] if small != form.upper() else STEM[1]]


class TextMention(Mention, frozen=True):
    """A mention with what its passage says of it (from ``entities``); until it is in one, this is empty.

    Attributes:
        kind: ``pronoun``, ``name`` or ``noun``; null where the corpus does not say. In a passage also ``other``.
        start: of its first character in the text that is shown; ``end`` is after its last one.
        text: its characters.
        sentence: its sentence in the passage, from 0.
        place: which mention of the passage it is.
        features: of its head, as far as they are those of what it refers to.
        content: the beginnings (``stem``) of its words that say something about the entity; those of all words but
            short ones, where parts of speech are not known.
        stem: the beginning of its head.
        role: relation of its head, without the subtype; ``cop`` for a predicate with a copula.
        opens: whether it begins the sentence.
        opening: its first word in small letters, if that is an article or another determiner.
        definiteness: ``definite`` or ``indefinite`` by this word; ``bare`` for a noun in the plural without one, in a
            document with articles; else empty.
        pronoun: its form in small letters, if it is a pronoun alone.
        possessor: entity of a shorter mention with which it begins (*his* car, *Anna's* car), or empty.
    """

    start: int = 0
    end: int = 0
    text: str = ""
    sentence: int = 0
    place: int = 0
    features: Mapping[str, str | None] = field(default_factory=dict)
    content: frozenset[str] = frozenset()
    stem: str = ""
    role: str = ""
    opens: bool = False
    opening: str = ""
    definiteness: str = ""
    pronoun: str = ""
    possessor: str = ""

    @property
    def n_words(self) -> int:
        """The number of its words."""
        return len(self.words)

    def overlaps(self, other: "TextMention") -> bool:
        """Whether both have a character in common."""
        return self.start < other.end and other.start < self.end

    @property
    def capitals(self) -> frozenset[str]:
        """The beginnings of its words with a capital."""
        return frozenset(stem(word) for word in self.text.split() if word[0].isupper())

    @property
    def traits(self) -> tuple[str, ...]:
        """What it shows without its passage: the beginnings of its words, and what kind of a mention it is."""
        form = f"{self.kind} {self.definiteness} {self.feature('Number')}"
        return *sorted(self.content), f"head {self.stem}", f"opening {self.opening}", f"type {self.type}", form

    def feature(self, name: str) -> str | None:
        """A feature of its head."""
        return self.features.get(name)


class TextSentence(msgspec.Struct, frozen=True, dict=True):
    """A sentence of a document; ``index``, ``run``, ``sent``, ``sent_id``, ``key`` and ``text`` are its columns."""

    index: int
    run: int
    sent: int
    sent_id: str
    key: int
    text: str
    words: list[Word]
    mentions: list[TextMention]

    def word(self, number: int) -> Word:
        """The word with a number, from 1."""
        return self.words[number - 1]

    @property
    def has_tree(self) -> bool:
        """Whether a word has a head."""
        return any(word.head is not None for word in self.words)

    @cached_property
    def widest(self) -> list[TextMention]:
        """The widest mention of each head, in order."""
        widest = {self.head(mention): mention for mention in sorted(self.mentions, key=lambda mention: mention.n_words)}
        return sorted(widest.values(), key=lambda mention: mention.words)

    def head(self, mention: TextMention) -> int:
        """The number of the head of a mention: as the corpus says, else by the tree, else of its last word."""
        if mention.head is not None:
            return mention.head
        inside = {*mention.words}
        tops = (number for number in mention.words if self.word(number).head not in {None, *inside})
        return next(tops, mention.words[-1])


def documents(shard: Shard) -> Iterator[tuple[int, list[TextSentence]]]:
    """The documents of a shard that have mentions, each with all its sentences in order."""
    mentions: defaultdict[int, list[TextMention]] = defaultdict(list)
    kind = pl.col("kind").replace(OF_CORPUS)
    for row in shard.mentions.select(*MENTIONS).with_columns(kind).iter_rows(named=True):
        of_row = row | {"words": tuple(row["words"]), "parts": tuple(row["parts"] or ())}
        mentions[row["sent"]].append(TextMention(**of_row))
    marked = shard.sentences.filter(pl.col("sent").is_in(list(mentions)))["doc"].unique().implode()
    chosen = shard.sentences.filter(pl.col("doc").is_in(marked)).sort("doc", "index")
    columns = shard.tokens.filter(pl.col("sent").is_in(chosen["sent"].implode())).select(
        "sent", "form", *(pl.col(name).cast(pl.String).fill_null("") for name in ("lemma", "upos", "feats", "deprel")),
        "head", *(pl.col(name).cast(pl.Int64).fill_null(-1) for name in ("start", "end")), pl.col("mwt").fill_null(0),
    )  # fmt: skip
    words: defaultdict[int, list[Word]] = defaultdict(list)
    for sent, form, lemma, upos, feats, deprel, head, start, end, mwt in columns.iter_rows():
        words[sent].append(Word(form, lemma, upos, "", feats, head, deprel, start, end, mwt))
    for (doc,), part in chosen.partition_by("doc", maintain_order=True, as_dict=True).items():
        facts = part.select("index", "run", "sent", "sent_id", "key", "text").iter_rows()
        yield (
            int(str(doc)),
            [
                TextSentence(index, run, sent, sent_id, key, text, words[sent], mentions[sent])
                for index, run, sent, sent_id, key, text in facts
            ],
        )
