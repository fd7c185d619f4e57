"""Documents with coreference: their sentences, words and mentions, for tasks that follow entities through a text."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import polars as pl

from discoprobe.loaders.corpus import Shard, feat


class TextWord(msgspec.Struct, frozen=True):
    """A word: what a corpus does not annotate is empty, and ``head`` null; heads are counted from 0, a root has -1.

    ``start`` and ``end`` are those of the multiword token that it is part of, and ``token`` the number of that, or
    null.
    """

    form: str
    upos: str
    deprel: str
    head: int | None
    start: int | None
    end: int | None
    token: int | None
    feats: Mapping[str, str]


class MentionRow(msgspec.Struct, frozen=True):
    """A row of ``loaders.corpus.MENTIONS``, whose words and head are counted from 1."""

    entity: str
    words: list[int]
    head: int | None
    type: str | None
    kind: str | None
    gender: str | None
    number: str | None
    status: str | None
    link: str | None
    salience: float | None
    bridge: str | None
    parts: list[str] | None


class AnnotatedSentence(msgspec.Struct, frozen=True):
    """A sentence of a document; ``index``, ``run``, ``sent``, ``sent_id``, ``key`` and ``text`` are its columns."""

    index: int
    run: int
    sent: int
    sent_id: str
    key: int
    text: str
    words: list[TextWord]
    mentions: list[MentionRow]


def documents(shard: Shard, features: Sequence[str]) -> Iterator[tuple[int, list[AnnotatedSentence]]]:
    """The documents of a shard that have mentions, each with all its sentences in order.

    Args:
        shard: of a corpus with coreference.
        features: those of FEATS that the words have.
    """
    mentions: defaultdict[int, list[MentionRow]] = defaultdict(list)
    for sent, *mention in shard.mentions.select("sent", *MentionRow.__struct_fields__).iter_rows():
        mentions[sent].append(MentionRow(*mention))
    marked = shard.sentences.filter(pl.col("sent").is_in(list(mentions)))["doc"].unique().implode()
    chosen = shard.sentences.filter(pl.col("doc").is_in(marked)).sort("doc", "index")
    columns = shard.tokens.filter(pl.col("sent").is_in(chosen["sent"].implode())).select(
        "sent", "form", pl.col("upos").cast(pl.String).fill_null(""), pl.col("deprel").fill_null(""),
        pl.col("head").cast(pl.Int64) - 1, "start", "end", "mwt", *map(feat, features),
    )  # fmt: skip
    words: defaultdict[int, list[TextWord]] = defaultdict(list)
    for sent, form, upos, deprel, head, start, end, token, *feats in columns.iter_rows():
        of_word = {name: value for name, value in zip(features, feats, strict=True) if value}
        words[sent].append(TextWord(form, upos, deprel, head, start, end, token, of_word))
    for (doc,), part in chosen.partition_by("doc", maintain_order=True, as_dict=True).items():
        facts = part.select("index", "run", "sent", "sent_id", "key", "text").iter_rows()
        yield (
            int(str(doc)),
            [
                AnnotatedSentence(index, run, sent, sent_id, key, text, words[sent], mentions[sent])
                for index, run, sent, sent_id, key, text in facts
            ],
        )
