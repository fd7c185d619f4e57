"""Blocks: groups of parts of a corpus that are sampled together.

A corpus that is not larger than a block is one block. The parts of a larger one are ordered by a hash of what they
are, and a block is a series of parts in this order with about the set amount of text. Where a block ends depends only
on the parts nearby: a new part changes its own block, and perhaps the next few.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from discoprobe.builders import hashing
from discoprobe.builders.settings import Settings
from discoprobe.loaders.corpus import Loadable, Shard

Block = tuple[Loadable, ...]

LONGEST = 2
"""A block that has this many times the set amount of text ends in any case."""


@dataclass(frozen=True, slots=True)
class FirstDocuments:
    """A part of which only the first documents in hash order are read."""

    part: Loadable
    n_documents: int
    seed: int

    @property
    def size(self) -> int:
        """Bytes of text of these documents, about."""
        return round(self.part.size * self.n_documents / max(self.part.n_documents, 1))

    @property
    def identity(self) -> str:
        """The part, and how many of its documents."""
        return f"{self.part.identity}[:{self.n_documents}]"

    def load(self) -> Shard:
        """The shard without the other documents."""
        shard = self.part.load()
        keys = shard.documents["key"].to_numpy()
        first = shard.documents[hashing.ranking(keys, self.seed, "documents")[: self.n_documents]].select("doc")
        documents, sentences, relations, rst_nodes = (
            table.join(first, on="doc", how="semi", maintain_order="left")
            for table in (shard.documents, shard.sentences, shard.relations, shard.rst_nodes)
        )
        tokens, mentions = (
            table.join(sentences, on="sent", how="semi", maintain_order="left")
            for table in (shard.tokens, shard.mentions)
        )
        return Shard(documents, sentences, tokens, relations, rst_nodes, mentions)


def blocks_of(parts: Sequence[Loadable], settings: Settings) -> list[Block]:
    """The blocks of a corpus in the order in which they are read; one, in the order of the parts, for a small corpus.

    Parts that fill the sizes (``fills``) are in blocks of their own, after all others.

    Args:
        parts: of the corpus.
        settings: ``block``, ``most_documents`` and the seed.
    """
    filling = [part for part in parts if getattr(part, "fills", False)]
    if filling and len(filling) < len(parts):
        first = [part for part in parts if not getattr(part, "fills", False)]
        return [*blocks_of(first, settings), *blocks_of(filling, settings)]
    ordered = sorted(parts, key=lambda part: (hashing.digest(settings.seed, "part", part.identity), part.identity))
    if settings.most_documents is not None:
        ordered = _first(ordered, settings.most_documents, settings.seed)
    if sum(part.size for part in ordered) <= settings.block:
        identities = {part.identity for part in ordered}
        in_source_order = tuple(part for part in parts if part.identity in identities)
        return [in_source_order if len(in_source_order) == len(ordered) else tuple(ordered)]
    return _cut(ordered, settings.block, settings.seed)


def _first(ordered: Sequence[Loadable], most: int, seed: int) -> list[Loadable]:
    """The first parts, with ``most`` documents together; of the last part only the documents that are still needed."""
    first: list[Loadable] = []
    for part in ordered:
        if part.n_documents >= most:
            return [*first, part if part.n_documents == most else FirstDocuments(part, most, seed)]
        first.append(part)
        most -= part.n_documents
    return first


def _cut(ordered: Sequence[Loadable], size: int, seed: int) -> list[Block]:
    """A block ends when it is large enough and the hash of its last part is even."""
    blocks: list[Block] = []
    block: list[Loadable] = []
    total = 0
    for part in ordered:
        block.append(part)
        total += part.size
        ends = hashing.digest(seed, "ends", part.identity) % 2 == 0
        if (total >= size and ends) or total >= LONGEST * size:
            blocks.append(tuple(block))
            block, total = [], 0
    return [*blocks, tuple(block)] if block else blocks


def sentences_of(shards: Sequence[Shard]) -> pl.DataFrame:
    """Every sentence of shards in order: ``shard``, ``sent``, ``number`` (its place) and ``text``."""
    columns = [
        shard.sentences.select(pl.lit(n, pl.UInt32).alias("shard"), "sent", "text") for n, shard in enumerate(shards)
    ]
    return pl.concat(columns).with_row_index("number")
