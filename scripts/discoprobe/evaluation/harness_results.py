"""The results of lm-evaluation-harness on exported configs, read back as scores.

So models that answer prompts, also behind an API, stand in the same tables as models whose layers are probed. `read`
finds what the harness wrote with ``--output_path`` and ``--log_samples``: ``results_TIME.json``, and a file
``samples_TASK_TIME.jsonl`` per task. What a row is, and what its baselines are, comes from the release.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import polars as pl

from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.config import Shape
from discoprobe.builders.settings import SPLITS
from discoprobe.cards.release.export import CHAT_METRICS, CHAT_PREFIX, HARNESS_METRICS, TASK_PREFIX
from discoprobe.evaluation.probes import GROUP, majority
from discoprobe.evaluation.scores import FORMAT, Evaluation, RowScores, full_name, score_of
from discoprobe.loaders.errors import DiscoprobeError, UnsupportedError
from discoprobe.loaders.files import hash_of_json, hashes_of

HOW: Final = {CHAT_PREFIX: ("prompted", CHAT_METRICS[0]), TASK_PREFIX: ("lm-eval", HARNESS_METRICS[0])}
"""What the name of a task begins with → what is added to the name of the model, whose probes have scores of their own,
and the metric. The longer one is first."""


class HarnessResult(msgspec.Struct, frozen=True):
    """What the harness found of a model on a config.

    Attributes:
        config: name of the config.
        model: the model, with what was done in brackets.
        commit: that of the weights, if the harness names one.
        metric: the name of the metric, as it stands in the samples.
        path: the samples.
    """

    config: str
    model: str
    commit: str
    metric: str
    path: Path


def read(folder: Path) -> list[HarnessResult]:
    """The newest results of each model and config below a folder.

    Raises:
        DiscoprobeError: there are none; the message says how they are written.
    """
    newest: dict[tuple[str, str], HarnessResult] = {}
    for path in sorted(folder.glob("**/results_*.json"), key=lambda path: path.name):
        results = json.loads(path.read_text(encoding="utf-8"))
        settings = results.get("config", {})
        name = full_name(str(results.get("model_name") or settings.get("model_args") or settings.get("model", "")))
        time = path.stem.removeprefix("results_")
        for samples in sorted(path.parent.glob(f"samples_{TASK_PREFIX}*_{time}.jsonl")):
            task = samples.stem.removeprefix("samples_").removesuffix(f"_{time}")
            prefix = next(each for each in HOW if task.startswith(each))
            how, metric = HOW[prefix]
            config, model = task.removeprefix(prefix), f"{name} ({how})"
            newest[config, model] = HarnessResult(config, model, str(settings.get("model_sha") or ""), metric, samples)
    if not newest:
        remedy = "run lm_eval on files of `build export` with --output_path and --log_samples"
        raise DiscoprobeError(f"--results {folder}: no results of lm-evaluation-harness ({remedy})")
    return [newest[key] for key in sorted(newest)]


def evaluation_of(result: HarnessResult, data: AuditInput) -> Evaluation:
    """The score of a result over the rows of the test split that the harness has read (it may have a limit).

    Raises:
        UnsupportedError: a row is not in test: the release is another one.
    """
    samples = list(_samples(result))
    is_suite, is_pair = data.splits == SPLITS[-1:] and data.pairs, "sentence_good" in samples[0]["doc"]
    key = "pair_id" if is_suite or is_pair else "id"
    correct = {each["doc"][key]: float(each[result.metric]) for each in samples}
    test = data.split("test")
    if key == "pair_id":  # a pair is one row, so that it does not depend on itself
        test = test.unique("pair_id", keep="first", maintain_order=True)
        test = test.with_columns(id=pl.col("pair_id"), pair_id=pl.lit(None, pl.String))
    rows = test.filter(pl.col("id").is_in([*correct]))
    if rows.height < len(correct):
        n = len(correct) - rows.height
        raise UnsupportedError(f"{data.name}: {n} of {len(correct)} rows are not in test of this release; export again")
    values = np.array([correct[row] for row in rows["id"]])
    chance = majority(data)
    if data.shape is Shape.CHOICE:
        chance = float(np.mean(1 / (rows["texts"].list.len() - rows["n_context"]).to_numpy()))
    elif key == "pair_id":
        chance = 0.5
    right = RowScores(tuple(rows["id"]), tuple(rows.select(GROUP).to_series()), tuple(values.tolist()))
    score = score_of(f"lm-eval, {result.metric}", values, rows)
    return Evaluation(
        data.name, result.model, result.commit, (score,), score, chance, right,
        prompt=_prompt(samples[0]) if result.metric in CHAT_METRICS else "",
        key=hash_of_json([FORMAT, hashes_of(result.path, with_git=False).sha256]),
    )  # fmt: skip


def _samples(result: HarnessResult) -> Iterator[dict[str, Any]]:
    """The lines of the samples, one for each row.

    Raises:
        UnsupportedError: they have not what is needed.
    """
    with result.path.open(encoding="utf-8") as file:
        for line in file:
            sample = json.loads(line)
            if result.metric not in sample or "doc" not in sample:
                raise UnsupportedError(f"{result.path}: no samples of lm-evaluation-harness with {result.metric}")
            yield sample


def _prompt(sample: dict[str, Any]) -> str:
    """What the model was shown: with a chat template, the text that this made, or the messages that the API got."""
    shown = sample.get("arguments", {})
    while isinstance(shown, (dict, list)) and shown:
        shown = next(iter(shown.values())) if isinstance(shown, dict) else shown[0]
    return str(shown or sample["doc"]["prompt"])
