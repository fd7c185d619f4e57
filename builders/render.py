"""Last step of a build: the chosen rows as tables with text."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace

import polars as pl
import pyarrow as pa

from discoprobe.builders import clean_text
from discoprobe.builders.config import Config, Shape, Unavailable, regions, schema
from discoprobe.builders.drops import meanings
from discoprobe.builders.sample import TaskSample
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import AnyTask, ProbingTask, RelationTask, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import Corpus, Loadable, Source
from discoprobe.loaders.languages.language import LanguageData, language_data


def read_texts(samples: Sequence[TaskSample], corpus: Corpus, executor: Executor | None) -> pl.DataFrame:
    """The texts of every sentence that a row of the samples shows: ``shard``, ``sent``, ``text``."""
    empty = pl.DataFrame(schema={"shard": pl.UInt32, "sent": pl.UInt32})
    wanted = pl.concat([empty, *(sample.sentences for sample in samples)]).unique().sort("shard", "sent")
    per_shard = [wanted.filter(pl.col("shard") == n) for n in range(len(corpus.parts))]
    texts = (executor.map if executor else map)(_read_shard, corpus.parts, per_shard)
    return pl.concat([empty.with_columns(text=pl.lit("")), *texts])


def _read_shard(part: Loadable, wanted: pl.DataFrame) -> pl.DataFrame:
    if wanted.is_empty():
        return wanted.with_columns(text=pl.lit(""))
    texts = part.load().sentences.select("sent", "text")
    return wanted.join(texts, on="sent", how="left", maintain_order="left")


def realise(sample: TaskSample, texts: pl.DataFrame, corpus: Corpus, settings: Settings) -> Config | Unavailable:
    """The config of a sample, or why there is none.

    Args:
        sample: the rows of a task.
        texts: what ``read_texts`` returned.
        corpus: where the rows come from.
        settings: what the user set.
    """
    made = replace(sample.chosen, labels=sample.labels, reason=sample.problem)
    if made.reason:
        return config_of(sample.task, made, corpus, settings)
    rows, drops = rows_with_text(sample, texts, language_data(corpus.lang)), dict(made.drops)
    if sample.task.pairs and isinstance(sample.task, ProbingTask):
        for reason, units in {"equal-text": equal_to_others(rows), "unclean-edit": unclean_edits(rows)}.items():
            left = rows.filter(~pl.col("unit").is_in(units.implode()))
            drops[reason], rows = (rows.height - left.height) // 2, left
    return config_of(sample.task, replace(made, rows=rows, drops=drops), corpus, settings, sample.notes)


def config_of(  # noqa: PLR0913, PLR0917 (what a config consists of)
    task: AnyTask, made: Sample, corpus: Corpus, settings: Settings, notes: tuple[str, ...] = (),
    parts: tuple[str, ...] = (),
) -> Config | Unavailable:  # fmt: skip
    """The config of a task, or why there is none.

    Args:
        task: what is built.
        made: all rows of the config (``rows_with_text``), drops, labels and candidates, or the reason for no config.
        corpus: where the rows come from.
        settings: what the user set.
        notes: for the card.
        parts: identities of the parts of the corpus that were read; empty for all.
    """
    drops = {reason: n for reason, n in made.drops.items() if n}
    if made.reason:
        return unavailable(task, corpus, made.reason, made.candidates, drops)
    whole = _suite_rows(made.rows, task) if task.conditions else made.rows
    shape, labels = (Shape.SUITE, task.conditions) if task.conditions else (task.shape, made.labels)
    rows = _in_hash_order(whole, task)
    return Config(
        name=f"{task.name}_{corpus.lang}", task=task.name, lang=corpus.lang, shape=shape, labels=labels,
        splits={split: _split_table(rows, split, shape) for split in task.splits},
        drops=drops, meanings=meanings(drops, task.reasons), candidates=made.candidates, settings=settings,
        sources=_sources_used(corpus, rows), read=tuple(sorted(source.name for source in corpus.sources)),
        exempt=task.exempt, definition=task.definition, papers=task.papers, pairs=task.paired, split_by=task.split_by,
        version=task.version, notes=notes, parts=parts, natural=task.natural,
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
        sentence_good=_joined("regions_good"), sentence_bad=_joined("regions_bad"), region=pl.lit(task.region),
        target=target,
    )  # fmt: skip


def _joined(regions: str) -> pl.Expr:
    return pl.col(regions).list.eval(pl.element().filter(pl.element() != "")).list.join(" ")


def _sources_used(corpus: Corpus, rows: pl.DataFrame) -> tuple[Source, ...]:
    names = set(rows["corpora"].explode())
    return tuple(source for source in corpus.sources if source.name in names)


def rows_with_text(sample: TaskSample, texts: pl.DataFrame, language: LanguageData) -> pl.DataFrame:
    """All rows of a sample with the columns of the task's shape.

    Beside them are ``key``, ``split``, ``corpora``, ``unit`` (equal for rows that go together) and ``stratum`` (the
    counts of labels are equal inside each of its values; null for no stratum).

    Args:
        sample: the rows of a task.
        texts: ``shard``, ``sent``, ``text`` of every sentence shown, and what else is wanted as a list per row.
        language: knows its capitals.
    """
    task, rows = sample.task, sample.chosen.rows
    unit = "ring" if "ring" in rows.columns else pl.coalesce("pair", "key")
    stratum = next((name for name in ("stratum", "cell") if name in rows.columns), None)
    rows = rows.with_columns(unit=unit, stratum=pl.col(stratum).cast(pl.String) if stratum else pl.lit(None, pl.String))
    if isinstance(task, ProbingTask):
        shown = _sentence_rows(task, rows, texts)
    elif isinstance(task, RelationTask):
        shown = rows.with_columns(sent_ids="ids", corpora=pl.concat_list("corpus"))
    else:
        shown = _sequence_rows(task, rows, sample.frame, texts, language)
    return shown.with_columns(id=hashing.as_text("key"), pair_id=hashing.as_text("pair"))


def _in_hash_order(rows: pl.DataFrame, task: AnyTask) -> pl.DataFrame:
    """The rows in the order of a hash that does not depend on labels."""
    order = pl.Series(hashing.mix(rows["key"].to_numpy(), "row order", task.name))
    return rows.with_columns(_order=order).sort("_order").drop("_order")


def _split_table(whole: pl.DataFrame, split: str, shape: Shape) -> pa.Table:
    """The Arrow table of one split."""
    columns = schema(shape)
    return whole.filter(pl.col("split") == split).select(columns.names).to_arrow().cast(columns)


def _sequence_rows(
    task: AnyTask, rows: pl.DataFrame, frame: pl.DataFrame, texts: pl.DataFrame, language: LanguageData
) -> pl.DataFrame:
    """Rows of several sentences."""
    wanted = {name: pl.col(name) for name in ("number",) if name in texts.columns}
    facts = frame.select(pl.col("row").cast(pl.Int64), "shard", "sent", "sent_id", "corpus").join(
        texts, on=["shard", "sent"], how="left", maintain_order="left"
    )
    long = (
        rows.select("key", row="members")
        .explode("row")
        .join(facts, on="row", how="left", maintain_order="left")
        .group_by("key", maintain_order=True)
        .agg(sent_ids="sent_id", sentences="text", corpora="corpus", **wanted)
    )
    extra = [name for name in ("trim", "n_context") if name in rows.columns]
    with_extra = long.join(rows.select("key", *extra), on="key", maintain_order="left")
    none = pl.lit(None, pl.String)
    with_extra = (
        _trimmed(with_extra, language) if "trim" in extra else with_extra.with_columns(original=none, removed=none)
    )
    shown = with_extra.select("key", "sent_ids", "corpora", *wanted, *_FORMS[task.shape])
    places = frame.select(
        pl.col("row").cast(pl.Int64), "corpus", "doc_id", group=pl.concat_str("corpus", "doc_id", separator="/")
    )
    return rows.join(places, on="row", how="left", maintain_order="left").join(shown, on="key", maintain_order="left")


def _trimmed(whole: pl.DataFrame, language: LanguageData) -> pl.DataFrame:
    """The last sentence of each row without its first ``trim`` characters, beginning with a capital.

    ``original`` is that sentence as it was, ``removed`` what it lost.
    """
    pairs = list(whole.select("sentences", "trim").iter_rows())
    shown = [[*texts[:-1], language.capitalise(texts[-1][trim:])] for texts, trim in pairs]
    return whole.with_columns(
        sentences=pl.Series(shown, dtype=pl.List(pl.String)),
        original=pl.Series([texts[-1] for texts, _ in pairs], dtype=pl.String),
        removed=pl.Series([texts[-1][:trim].rstrip() for texts, trim in pairs], dtype=pl.String),
    )


_SPAN = pl.Struct({"start": pl.Int32, "end": pl.Int32})
_FORMS: dict[Shape, list[pl.Expr]] = {
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


def _sentence_rows(task: ProbingTask, rows: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Rows of one sentence (they are candidates themselves), edited where the row says so."""
    with_texts = rows.join(texts, on=["shard", "sent"], how="left", maintain_order="left")
    if "ipm_share" not in with_texts.columns:
        with_texts = with_texts.with_columns(ipm_share=pl.lit(None, pl.Float32))
    if "number" in texts.columns:
        with_texts = with_texts.with_columns(number=pl.concat_list("number"))
    return _with_edits(task, with_texts).with_columns(
        sent_ids=pl.concat_list("sent_id"), corpora=pl.concat_list("corpus"), target=_target()
    )


def _target() -> pl.Expr:
    """The probed word: its place in the text and what it is."""
    span = pl.struct(
        start="target_start", end="target_end", form="target_form", lemma="target_lemma", upos="target_upos"
    )
    return pl.when(pl.col("target_form").is_not_null()).then(span)


def _with_edits(task: ProbingTask, rows: pl.DataFrame) -> pl.DataFrame:
    """Makes the edits; adds ``original``, and ``edit``, the place of the edit in the text that the row shows.

    The original of a pair has the place too, so that both versions can be scored by region.
    """
    if task.edit is None:
        return rows.with_columns(original=pl.lit(None, pl.String), edit=pl.lit(None, _SPAN))
    shown: list[tuple[str, str | None, dict[str, int]]] = []
    for text, edited, plan in rows.select("text", "edited", "plan").iter_rows():
        start, end, replacement = task.edit(text, plan)
        if edited:
            new = text[:start] + replacement + text[end:]
            shown.append((new, text, {"start": start, "end": start + len(replacement)}))
        else:
            shown.append((text, None, {"start": start, "end": end}))
    columns: dict[str, pl.DataType | type[pl.DataType]] = {"text": pl.String, "original": pl.String, "edit": _SPAN}
    return rows.drop("text").hstack(pl.DataFrame(shown, schema=columns, orient="row"))
