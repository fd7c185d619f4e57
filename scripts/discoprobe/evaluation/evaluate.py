"""Evaluates models on configs of a release, or on any dataset that the audit reads: the road of `build probe`.

`evaluations` finds the models and the datasets, reads the rows, has a model score them (`probes` by the vectors that it
gives texts, `surprisal` by their probability), adds what is known of the best cheap trick and of people, and gives
the scores one by one. `comparison` puts all that are saved on one page.
"""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import polars as pl

from discoprobe.auditing import read_all
from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.audit.inputs.data_files import Reading, Skipped
from discoprobe.builders.audit.run import score_of_solver
from discoprobe.builders.audit.thresholds import FLOOR
from discoprobe.builders.settings import SPLITS
from discoprobe.builders.task import tasks_named
from discoprobe.cards.metadata import manifest
from discoprobe.cards.readers import marks_file, read_marks
from discoprobe.cards.release.rows import accuracy_of_people
from discoprobe.evaluation import harness_results, probes, surprisal
from discoprobe.evaluation.models import find_model, load_model
from discoprobe.evaluation.scores import FORMAT, Evaluation, RowScores, path_of, read_saved
from discoprobe.loaders.errors import DiscoprobeError, UnsupportedError, UsageError, first_line
from discoprobe.loaders.files import hash_of_json, hashes_of
from discoprobe.loaders.process_pool import Progress, process_pool

_log = logging.getLogger(__name__)

QUICK: Final = {"train": 2500, "validation": 500, "test": 2000}
"""Most rows of each split, the first ones, if models are only to be compared quickly."""

SCORING: Final = "scoring rows"
"""The step whose progress is reported: rows of all configs that are not scored yet, for all models."""

Misfit = tuple[str, str, str]
"""A config, a model that cannot be scored on it (empty if none can), and why."""


def evaluations(  # noqa: PLR0913 (one parameter per option)
    names: Sequence[str], out: Path, models: Sequence[str], progress: Progress, *, langs: Sequence[str] = (),
    tasks: Sequence[str] = (), by_surprisal: bool = False, train_rows: int = 10_000, controls: bool = True,
    device: str = "auto", dtype: str = "float32", batch_size: int = 64, jobs: int = 1, trust_remote_code: bool = False,
    layers: Sequence[int] = (), transfer: Sequence[str] = (), quick: bool = False,
    save: Path | None = None, cache: int = 10 * 10**9, analyse_layers: bool = False,
) -> Iterator[Evaluation | Misfit]:  # fmt: skip
    """The scores of each model on each dataset, as soon as they are known, or why there are none.

    Scores that an earlier run saved for the same rows, weights and options are not computed again. All models are
    looked for before anything is computed.

    Args:
        names: configs of the release folder ``out``, paths, or Hub ids; all configs of ``out`` if empty.
        out: a release folder.
        models: folders or Hub ids of models of transformers.
        progress: called with the number of rows that are scored, and with the steps of each config.
        langs: codes of the languages whose configs are scored; empty for all.
        tasks: names or groups of tasks; empty for all.
        by_surprisal: compare the probabilities that a causal model gives, wherever rows are pairs or choices.
        train_rows: most training rows of a probe.
        controls: whether to compute `Controls`.
        device: where torch computes; ``auto`` is a GPU if there is one.
        dtype: the precision of the weights: ``float32``, ``bfloat16`` or ``float16``.
        batch_size: most texts in a batch.
        jobs: number of threads of torch, and of processes that train probes.
        trust_remote_code: whether code of a model's repository may be run.
        layers: the layers that are probed; empty for all.
        transfer: codes of languages on which the probes of the same task in other languages are measured, too.
        quick: train and measure probes on `QUICK` rows, without `Controls`.
        save: folder of the scores; None saves nothing.
        cache: most bytes of the cache of vectors; 0 for none.
        analyse_layers: find top neurons, and save vectors by which layers are compared.

    Raises:
        DiscoprobeError: a model or dataset that was named cannot be used, or a model is named twice.
    """
    found_models = [find_model(name, device, trust_remote_code=trust_remote_code, dtype=dtype) for name in models]
    if len({model.name for model in found_models}) < len(models):
        raise UsageError("--model names the same model twice")
    import torch  # `find_model` says what to do if it is not installed

    torch.set_num_threads(jobs)
    os.environ.setdefault("RAYON_NUM_THREADS", str(jobs))  # those of tokenizers, before their first use
    entries = manifest.read(out).configs if (out / manifest.NAME).is_file() else {}
    datasets, skipped = _datasets(names, out, entries, langs, tasks)
    for each in skipped:
        yield each.name, "", each.reason
    how = [by_surprisal, train_rows, controls, analyse_layers, dtype, sorted(layers), quick]
    work = []
    for model in found_models:
        for name, given, content, counts in datasets:
            targets = _targets(entries, name, transfer)
            of_targets = [hash_of_json(dict(entries[each].content)) for each in targets]
            key = hash_of_json([FORMAT, model.name, model.content, content, how, of_targets])
            before = read_saved(path_of(save, name, model.name)) if save else None
            n_rows = sum(min(n, train_rows) if split == SPLITS[0] else n for split, n in counts.items())
            work.append((model, name, given, n_rows, key, before if before and before.key == key else None))
    total = sum(n_rows for *_, n_rows, _, before in work if not before)
    marks = read_marks(marks_file(out))
    shortcuts: dict[str, tuple[str | None, float | None, Mapping[str, float]]] = {}
    done, loaded = 0, None
    with process_pool(jobs) as executor:
        for model, name, given, n_rows, key, before in work:
            data, entry, scored = given, entries.get(name), before
            if not before:
                try:
                    data = data or read_all([name], out, Reading())[0][0]
                    is_compared = by_surprisal or data.splits == SPLITS[-1:]
                    if is_compared:
                        surprisal.check(data, has_head=model.has_head)
                    if loaded is None or loaded.name != model.name:
                        loaded = None  # frees the memory of the model before
                        loaded = load_model(model, batch_size=batch_size)
                    _tell_language(loaded.tokenizer, entry.lang if entry else "")
                    if is_compared:
                        scored = surprisal.evaluate(data, loaded, progress)
                    else:
                        others = []
                        for target in _targets(entries, name, transfer):
                            other = read_all([target], out, Reading())[0][0]
                            if missing := set(other.labels) - set(data.labels):
                                yield target, model.name, f"{name} has no label {', '.join(sorted(missing))}"
                            else:
                                others.append(other)
                        saved_layers = path_of(save, name, model.name).with_suffix(".npz") if save else None
                        data = _first_rows(data) if quick else data
                        scored = probes.evaluate(
                            data, loaded, progress, train_rows=train_rows, controls=controls and not quick,
                            executor=executor,
                            cache=cache, layers=layers, layers_file=saved_layers if analyse_layers else None,
                            others=others,
                        )  # fmt: skip
                except Exception as error:  # noqa: BLE001 (a model of others that fails must not end the run)
                    _log.info("%s, %s", model.name, name, exc_info=error)
                    reason = str(error) if isinstance(error, DiscoprobeError) else first_line(error)
                    yield name, model.name, reason.removeprefix(f"{name}: ")
                else:
                    if name not in shortcuts:
                        shortcuts[name] = _shortcut(data, entry)
                    scored = _with_baselines(msgspec.structs.replace(scored, key=key), data, entry, shortcuts[name])
                done += n_rows
                progress(SCORING, done, total)
            if scored:
                people = {}  # who may have read more rows since the scores were saved
                if entry and any(mark.config == name for mark in marks):
                    people = accuracy_of_people(out, name, entry, marks)
                data = data or (read_all([name], out, Reading())[0][0] if people else None)
                readers = _same_rows(scored, data, people) if data and people else None
                scored = msgspec.structs.replace(scored, readers=readers)
                if save and scored != before:
                    scored.save(save)
                yield scored


def evaluations_of_harness(results: Path, out: Path, save: Path) -> Iterator[Evaluation | Misfit]:
    """The scores in results of lm-evaluation-harness (`harness_results`), which are saved beside those of other models.

    Args:
        results: the folder of ``--output_path``.
        out: the release folder whose configs were exported.
        save: folder of the scores.

    Raises:
        DiscoprobeError: there are no results, or ``out`` is no release folder.
    """
    entries, marks = manifest.read_release(out).configs, read_marks(marks_file(out))
    shortcuts: dict[str, tuple[str | None, float | None, Mapping[str, float]]] = {}
    for result in harness_results.read(results):
        name = result.config
        if name not in entries:
            yield name, result.model, f"{out} has no such config"
            continue
        data = read_all([name], out, Reading())[0][0]
        try:
            scored = harness_results.evaluation_of(result, data)
        except UnsupportedError as error:
            yield name, result.model, str(error).removeprefix(f"{name}: ")
            continue
        if name not in shortcuts:
            shortcuts[name] = _shortcut(data, entries[name])
        scored = _with_baselines(scored, data, entries[name], shortcuts[name])
        people = accuracy_of_people(out, name, entries[name], marks)
        scored = msgspec.structs.replace(scored, readers=_same_rows(scored, data, people) if people else None)
        scored.save(save)
        yield scored


def _with_baselines(
    scored: Evaluation, data: AuditInput, entry: Any, shortcut: tuple[str | None, float | None, Mapping[str, float]]
) -> Evaluation:  # fmt: skip
    """A score with the strongest shortcut (`_shortcut`) and the trigram floor of the audit of its config."""
    name, accuracy, correct = shortcut
    floor = entry.audit.findings.get(FLOOR) if entry and entry.audit else None
    return msgspec.structs.replace(
        scored, shortcut=name, shortcut_accuracy=accuracy, shortcut_rows=_same_rows(scored, data, correct),
        floor=floor.value if floor else None,
    )  # fmt: skip


def _datasets(
    names: Sequence[str], out: Path, entries: Mapping[str, Any], langs: Sequence[str], tasks: Sequence[str]
) -> tuple[list[tuple[str, AuditInput | None, str, Mapping[str, int]]], Sequence[Skipped]]:
    """The datasets to score: those with the names, or the configs of a release; and what cannot be read.

    Of each its name, its rows (None for a config of a release, which is read when it is needed), the hash of its rows,
    and their number in each split.

    Raises:
        UsageError: languages or tasks are chosen where there is no release, or the release has none of them.
    """
    if names:
        read, skipped = read_all(names, out, Reading())
        return [
            (data.name, data, content.sha256, data.counts)
            for data in read
            for content in [hashes_of(data.rows.drop("metadata").write_ndjson().encode(), with_git=False)]
        ], skipped
    if not entries:
        raise UsageError(f"{out} is no release folder; give --out, or name the data")
    in_release = {entry.task for entry in entries.values()}  # imported datasets are no tasks of discoprobe
    named = in_release & set(tasks)
    named |= {task.name for task in tasks_named([name for name in tasks if name not in in_release])}
    datasets: list[tuple[str, AuditInput | None, str, Mapping[str, int]]] = []
    for name, entry in sorted(entries.items()):
        if (not langs or entry.lang in langs) and (not tasks or entry.task in named):
            counts = {split: sum(of_label.values()) for split, of_label in entry.counts.items()}
            datasets.append((name, None, hash_of_json(dict(entry.content)), counts))
    if not datasets:
        raise UsageError(f"{out} has no config of these languages and tasks")
    return datasets, ()


def _targets(entries: Mapping[str, Any], name: str, langs: Sequence[str]) -> list[str]:
    """The configs with the task of a config in other ones of these languages, if they have a test split."""
    if name not in entries:
        return []
    source = entries[name]
    return sorted(
        each for each, entry in entries.items()
        if entry.task == source.task and entry.lang in langs and each != name and SPLITS[-1] in entry.counts
    )  # fmt: skip


def _first_rows(data: AuditInput) -> AuditInput:
    """The first rows of each split, `QUICK` at most."""
    rows = pl.concat([data.split(split).head(QUICK.get(split, 0)) for split in data.splits])
    return msgspec.structs.replace(data, rows=rows)


def _tell_language(tokenizer: Any, lang: str) -> None:
    """Tells a tokenizer that marks the language of a text (M-BART) the code of a language."""
    codes = [each for each in tokenizer.all_special_tokens if each.partition("_")[0] == lang]
    if codes and hasattr(tokenizer, "src_lang"):
        tokenizer.src_lang = codes[0]


def _shortcut(data: AuditInput, entry: Any) -> tuple[str | None, float | None, Mapping[str, float]]:
    """The best cheap trick of the audit, its accuracy there, and the probability that it is right, by row."""
    audit = entry.audit if entry else None
    if not audit or not audit.strongest:
        return None, None, {}
    score = score_of_solver(data, audit.strongest)
    correct = dict(zip(score.ids.tolist(), score.correct.tolist(), strict=True)) if score else {}
    # a solver of pairs names one row of each, and its answer is that of both
    value = pl.col("id").replace_strict(correct, default=None, return_dtype=pl.Float64)
    of_pair = pl.when(pl.col("pair_id").is_not_null()).then(value.mean().over("pair_id"))
    rows = data.rows.select("id", correct=pl.coalesce(value, of_pair)).drop_nulls()
    return audit.strongest, audit.accuracy, dict(rows.iter_rows())


def _same_rows(scored: Evaluation, data: AuditInput, correct: Mapping[str, float]) -> RowScores | None:
    """What is right of the rows, or pairs, of an evaluation, by row; None if nothing is known of them.

    A pair has the mean over its rows. Items have several pairs, so a share of them says nothing of the item.
    """
    by_row = set(data.split("test")["id"]).issuperset(scored.rows.ids)
    test = data.split("test").select("id", key="id" if by_row else "pair_id")
    joined = test.join(
        pl.DataFrame(
            {"id": list(correct), "correct": list(correct.values())}, {"id": pl.String, "correct": pl.Float64}
        ),
        on="id",
    )
    values = dict(joined.group_by("key").agg(pl.col("correct").mean()).iter_rows())
    rows = [
        (row, group, values[row])
        for row, group in zip(scored.rows.ids, scored.rows.groups, strict=True)
        if row in values
    ]
    return RowScores(*zip(*rows, strict=True)) if rows else None
