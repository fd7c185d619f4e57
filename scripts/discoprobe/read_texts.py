"""Describes, for a release, the part of a large text that was read: files, row groups, counts, titles of documents."""

import dataclasses
from collections.abc import Collection, Sequence

import polars as pl

from discoprobe.loaders.annotation_manifest import entries, summary, total
from discoprobe.loaders.corpus import Corpus, Source
from discoprobe.loaders.raw.annotate.row_group_parts import ABOUT, TextCorpusPart


def read_parts(corpus: Corpus, identities: Collection[str]) -> list[TextCorpusPart]:
    """The row groups of a corpus that were read, among the parts with these identities (by default all parts)."""
    wanted = {identity.partition("[:")[0] for identity in identities}  # ``[:n]``: only the first n documents were read
    parts = [part for part in corpus.parts if isinstance(part, TextCorpusPart)]
    return [part for part in parts if (not wanted or part.identity in wanted) and part.record() is not None]


def with_what_was_read(corpus: Corpus, parts: Sequence[TextCorpusPart]) -> Corpus:
    """The corpus with sources that list only the files and row groups that were read, with the counts of these."""
    sources = tuple(
        _as_read(source, [part for part in parts if part.corpus == source.name]) for source in corpus.sources
    )
    return dataclasses.replace(corpus, sources=sources)


def _as_read(source: Source, parts: Sequence[TextCorpusPart]) -> Source:
    if not parts:
        return source
    names = sorted({part.file.name for part in parts})
    files = tuple(file for file in source.files if file.path in names)
    annotation = {
        **(source.annotation or {}),
        **total(record for part in parts if (record := part.record())),
        "row_groups": {name: sorted(part.number for part in parts if part.file.name == name) for name in names},
        "text": summary(entries(files)),
    }
    return dataclasses.replace(source, files=files, annotation=annotation)


def about_documents(parts: Sequence[TextCorpusPart], doc_ids: Collection[str]) -> pl.DataFrame:
    """``corpus``, ``doc_id``, ``title`` and ``url`` of documents that were read and have a title or URL, by id."""
    rows = [
        (part.corpus, *about)
        for part in parts
        for about in (part.record() or {}).get("about", ())
        if about[0] in doc_ids and any(about[1:])
    ]
    names = ("corpus", "doc_id", *ABOUT)
    return pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row").unique().sort("corpus", "doc_id")
