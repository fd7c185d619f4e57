"""Last step of a build: rows that refer to sentences by number become rows of text, and these a config.

``texts_of`` reads the texts of the sampled rows, ``rows_with_text`` adds them to the rows of one task, with edits made.
``config_of`` makes the tables of a config from all rows; ``unavailable`` says why there is none.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor

import polars as pl

from discoprobe.builders import clean_text
from discoprobe.builders.config import Config, Shape, Unavailable, regions, schema
from discoprobe.builders.drops import meanings
from discoprobe.builders.sample import TaskSample
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import AnyTask, ProbingTask, RelationTask, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import Corpus, Loadable
from discoprobe.loaders.languages.language import LanguageData


def texts_of(
    samples: Sequence[TaskSample], every: pl.DataFrame, parts: Sequence[Loadable], executor: Executor | None
) -> pl.DataFrame:
    """The texts of the sentences that rows show: ``shard``, ``sent``, ``text``, and ``number``, the place in ``every``.

    Args:
        samples: of all tasks.
        every: all sentences of the block in order: ``shard`` and ``sent``.
        parts: of the block.
        executor: reads the parts.
    """
    sentences = pl.concat([every.select("shard", "sent").clear(), *(sample.sentences for sample in samples)]).unique()
    numbered = every.select("shard", "sent").with_row_index("number")
    numbered = numbered.join(sentences, on=["shard", "sent"], how="semi", maintain_order="left")
    of_parts = [numbered.filter(pl.col("shard") == n) for n in range(len(parts))]
    texts = (executor.map if executor and len(parts) > 1 else map)(_texts_of_part, parts, of_parts)
    return pl.concat([numbered.clear().with_columns(text=pl.lit("")), *texts])


def _texts_of_part(part: Loadable, numbered: pl.DataFrame) -> pl.DataFrame:
    if numbered.is_empty():
        return numbered.with_columns(text=pl.lit(""))
    return numbered.join(part.load().sentences.select("sent", "text"), on="sent", how="left", maintain_order="left")


def rows_with_text(sample: TaskSample, texts: pl.DataFrame, language: LanguageData) -> pl.DataFrame:
    """All rows of a sample with the columns of the task's shape.

    Beside them are ``key``, ``split``, ``corpora``, ``number`` (of the sentences shown), ``unit`` (equal for rows that
    go together) and ``stratum`` (the counts of labels are equal inside each of its values; null for no stratum).

    Args:
        sample: the rows of a task, at least one.
        texts: what ``texts_of`` returned.
        language: knows its capitals.
    """
    task, rows = sample.task, sample.chosen.rows
    unit = "ring" if "ring" in rows.columns else pl.coalesce("pair", "key")
    stratum = next((name for name in ("stratum", "cell") if name in rows.columns), None)
    rows = rows.with_columns(unit=unit, stratum=pl.col(stratum).cast(pl.String) if stratum else pl.lit(None, pl.String))
    if isinstance(task, ProbingTask):
        rows = _sentence_rows(task, rows, texts)
    elif isinstance(task, RelationTask):
        rows = rows.with_columns(sent_ids="ids", corpora=pl.concat_list("corpus"))
    else:
        rows = _sequence_rows(task, rows, sample.frame, texts, language)
    return rows.with_columns(id=hashing.as_text("key"), pair_id=hashing.as_text("pair"))


def _sentence_rows(task: ProbingTask, rows: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Rows of one sentence (they are candidates themselves), edited where the row says so.

    ``target`` is the probed word. Edited rows have the ``original``; both versions have ``edit``, the place of the edit
    in the text that the row shows, so that both can be scored by region.
    """
    rows = rows.join(texts, on=["shard", "sent"], how="left", maintain_order="left")
    if "ipm_share" not in rows.columns:
        rows = rows.with_columns(ipm_share=pl.lit(None, pl.Float32))
    if task.edit is None:
        rows = rows.with_columns(original=pl.lit(None, pl.String), edit=pl.lit(None, _SPAN))
    else:
        versions: list[tuple[str, str | None, dict[str, int]]] = []
        for text, edited, plan in rows.select("text", "edited", "plan").iter_rows():
            start, end, replacement = task.edit(text, plan)
            if edited:
                new = text[:start] + replacement + text[end:]
                versions.append((new, text, {"start": start, "end": start + len(replacement)}))
            else:
                versions.append((text, None, {"start": start, "end": end}))
        columns: dict[str, pl.DataType | type[pl.DataType]] = {"text": pl.String, "original": pl.String, "edit": _SPAN}
        rows = rows.drop("text").hstack(pl.DataFrame(versions, schema=columns, orient="row"))
    word = pl.struct(
        start="target_start", end="target_end", form="target_form", lemma="target_lemma", upos="target_upos"
    )
    return rows.with_columns(
        sent_ids=pl.concat_list("sent_id"), corpora=pl.concat_list("corpus"), number=pl.concat_list("number"),
        target=pl.when(pl.col("target_form").is_not_null()).then(word),
    )  # fmt: skip


def _sequence_rows(
    task: AnyTask, rows: pl.DataFrame, frame: pl.DataFrame, texts: pl.DataFrame, language: LanguageData
) -> pl.DataFrame:
    """Rows of several sentences.

    If the rows have ``trim``, the last sentence loses so many characters at its beginning and then begins with a
    capital; ``original`` is this sentence as it was, ``removed`` what it lost.
    """
    facts = frame.select(pl.col("row").cast(pl.Int64), "shard", "sent", "sent_id", "corpus").join(
        texts, on=["shard", "sent"], how="left", maintain_order="left"
    )
    extra = [name for name in ("trim", "n_context") if name in rows.columns]
    sequences = (
        rows.select("key", row="members")
        .explode("row")
        .join(facts, on="row", how="left", maintain_order="left")
        .group_by("key", maintain_order=True)
        .agg("number", sent_ids="sent_id", sentences="text", corpora="corpus")
        .join(rows.select("key", *extra), on="key", maintain_order="left")
        .with_columns(original=pl.lit(None, pl.String), removed=pl.lit(None, pl.String))
    )
    if "trim" in extra:
        pairs = list(sequences.select("sentences", "trim").iter_rows())
        trimmed = [[*sentences[:-1], language.capitalise(sentences[-1][trim:])] for sentences, trim in pairs]
        sequences = sequences.with_columns(
            sentences=pl.Series(trimmed, dtype=pl.List(pl.String)),
            original=pl.Series([sentences[-1] for sentences, _ in pairs], dtype=pl.String),
            removed=pl.Series([sentences[-1][:trim].rstrip() for sentences, trim in pairs], dtype=pl.String),
        )
    texts_of_shape = sequences.select("key", "sent_ids", "corpora", "number", *_TEXTS_OF_SHAPE[task.shape])
    places = frame.select(
        pl.col("row").cast(pl.Int64), "corpus", "doc_id", group=pl.concat_str("corpus", "doc_id", separator="/")
    )
    return rows.join(places, on="row", how="left", maintain_order="left").join(
        texts_of_shape, on="key", maintain_order="left"
    )


_SPAN = pl.Struct({"start": pl.Int32, "end": pl.Int32})
_TEXTS_OF_SHAPE: dict[Shape, list[pl.Expr]] = {
    Shape.SENTENCE: [
        pl.col("sentences").list.first().alias("text"),
        pl.col("original"),
        pl.lit(None).alias("target"),
        pl.lit(None, _SPAN).alias("edit"),
        pl.lit(None, pl.Float32).alias("ipm_share"),
    ],
    Shape.PAIR: [
        pl.col("sentences").list.get(0).alias("sentence1"),
        pl.col("sentences").list.get(1).alias("sentence2"),
        pl.col("original", "removed"),
    ],
    Shape.SEQUENCE: [pl.col("sentences")],
    Shape.CANDIDATE: [
        pl.col("sentences").list.head(pl.col("sentences").list.len() - 1),
        pl.col("sentences").list.last().alias("candidate"),
    ],
    Shape.CHOICE: [
        pl.col("sentences").list.head("n_context").alias("context"),
        pl.col("sentences").list.slice("n_context").alias("choices"),
    ],
}


def config_of(  # noqa: PLR0913, PLR0917 (what a config consists of)
    task: AnyTask, sample: Sample, corpus: Corpus, settings: Settings, notes: tuple[str, ...] = (),
    parts: tuple[str, ...] = (),
) -> Config | Unavailable:  # fmt: skip
    """The config of a task, or why there is none.

    Args:
        task: what is built.
        sample: all rows of the config (``rows_with_text``), drops, labels and candidates, or the reason for no config.
        corpus: where the rows come from.
        settings: what the user set.
        notes: for the card.
        parts: identities of the parts of the corpus that were read; empty for all.
    """
    drops = {reason: n for reason, n in sample.drops.items() if n}
    if sample.reason:
        return unavailable(task, corpus, sample.reason, sample.candidates, drops)
    rows = _suite_rows(sample.rows, task) if task.conditions else sample.rows
    shape, labels = (Shape.SUITE, task.conditions) if task.conditions else (task.shape, sample.labels)
    order = pl.Series(hashing.mix(rows["key"].to_numpy(), "row order", task.name))  # does not depend on labels
    rows, columns = rows.with_columns(_order=order).sort("_order"), schema(shape)
    used = set(rows["corpora"].explode())
    return Config(
        name=f"{task.name}_{corpus.lang}", task=task.name, lang=corpus.lang, shape=shape, labels=labels,
        splits={
            split: rows.filter(pl.col("split") == split).select(columns.names).to_arrow().cast(columns)
            for split in task.splits
        },
        drops=drops, meanings=meanings(drops, task.reasons), candidates=sample.candidates, settings=settings,
        sources=tuple(source for source in corpus.sources if source.name in used),
        read=tuple(sorted(source.name for source in corpus.sources)), exempt=task.exempt, definition=task.definition,
        papers=task.papers, pairs=task.paired, split_by=task.split_by, version=task.version, notes=notes, parts=parts,
        natural=task.natural,
    )  # fmt: skip


def _suite_rows(rows: pl.DataFrame, task: AnyTask) -> pl.DataFrame:
    """The rows of a suite, one per pair: both texts, and each in regions that spaces join.

    A sentence has the regions before, edit and after, a passage has one region per sentence. ``label`` is the
    condition.

    Args:
        rows: originals (label 0) and edited texts (label 1), or choices of two, of which ``label`` is the right one.
        task: names the conditions and the region in which the texts are compared.
    """
    if task.shape is Shape.CHOICE:
        right, wrong = (pl.concat_list(pl.col("choices").list.get(at)) for at in (pl.col("label"), 1 - pl.col("label")))
        pairs = rows.with_columns(
            regions_good=pl.col("context").list.concat(right), regions_bad=pl.col("context").list.concat(wrong),
            pair_id="id",
        )  # fmt: skip
    else:
        divided: pl.Series | str = "sentences"
        if "text" in rows.columns:
            edits = rows.select("text", pl.col("edit").struct.unnest())
            divided = pl.Series([regions(text, start, end) for text, start, end in edits.iter_rows()])
        both = rows.with_columns(regions_good=divided).with_columns(regions_bad="regions_good")
        edited = both.filter(pl.col("label") == 1).select("pair", "regions_bad")
        pairs = both.filter(pl.col("label") == 0).drop("regions_bad").join(edited, on="pair", maintain_order="left")
    names = pl.col("condition") if "condition" in rows.columns else pl.lit(task.conditions[0])
    target = pl.col("target") if "target" in rows.columns else pl.lit(None)
    return pairs.with_columns(
        label=names.replace_strict(task.conditions, range(len(task.conditions)), return_dtype=pl.Int64),
        **{
            f"sentence_{version}": pl.col(f"regions_{version}")
            .list.eval(pl.element().filter(pl.element() != ""))
            .list.join(" ")
            for version in ("good", "bad")
        },
        region=pl.lit(task.region), target=target,
    )  # fmt: skip


def unavailable(
    task: AnyTask, corpus: Corpus, reason: str, candidates: int = 0, drops: Mapping[str, int] | None = None
) -> Unavailable:
    """The config of a task that cannot be made from a corpus, for a reason."""
    return Unavailable(f"{task.name}_{corpus.lang}", task.name, corpus.lang, reason, candidates, drops or {})


def equal_to_others(rows: pl.DataFrame) -> pl.Series:
    """The units with a text that another unit has, too (all but the first): an edit can give the original of another.

    Args:
        rows: ``unit``, ``key`` and ``text``.
    """
    texts = rows.select("unit", text=pl.col("text").str.to_lowercase().hash(0)).unique().sort("text", "unit")
    return texts.filter(pl.col("unit").cum_count().over("text") > 1)["unit"].unique().sort()


def unclean_edits(rows: pl.DataFrame) -> pl.Series:
    """The ``unit`` of rows whose text is not clean; originals are clean, so the edit is the cause.

    Args:
        rows: ``unit`` and ``text``.
    """
    return rows.filter(clean_text.fault(pl.col("text")).is_not_null())["unit"].unique()
