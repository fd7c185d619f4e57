"""Evaluates a model on configs of a release, or on any dataset that the audit reads."""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from discoprobe.auditing import read_all
from discoprobe.builders.audit.inputs.data_files import Reading
from discoprobe.cards.metadata import manifest
from discoprobe.evaluation import linear_probe, surprisal
from discoprobe.evaluation.models import Evaluation, load_model
from discoprobe.loaders.process_pool import Progress


def evaluations(  # noqa: PLR0913 (one parameter per option)
    names: Sequence[str], out: Path, model: str, progress: Progress, *, by_surprisal: bool = False,
    train_rows: int = 10_000, device: str = "cpu",
) -> Iterator[Evaluation]:  # fmt: skip
    """The scores of a model on each dataset.

    Args:
        names: configs of the release folder ``out``, paths, or Hub ids; all configs of ``out`` if empty.
        out: a release folder.
        model: folder or Hub id of a model of transformers.
        progress: called with the progress of each step.
        by_surprisal: compare the probabilities that a causal model gives; else train linear probes on hidden states.
        train_rows: most training rows of a probe.
        device: where torch computes.

    Raises:
        DiscoprobeError: the model or a dataset cannot be used.
    """
    loaded = load_model(model, "causal" if by_surprisal else "encoder", device)
    configs = manifest.read(out)["configs"] if (out / manifest.NAME).is_file() else {}
    for data in read_all(names, out, Reading()).data:
        if by_surprisal:
            evaluation = surprisal.evaluate(data, loaded, progress)
        else:
            evaluation = linear_probe.evaluate(data, loaded, progress, train_rows=train_rows)
        audit = configs[data.name]["audit"] if data.name in configs else None
        if audit:
            evaluation = dataclasses.replace(
                evaluation, shortcut=audit["strongest"], shortcut_accuracy=audit["accuracy"]
            )
        yield evaluation
