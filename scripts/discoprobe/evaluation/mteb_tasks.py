"""Configs as tasks of mteb, which then scores any encoder that it can load.

A task is a linear probe on the vectors of the encoder, as `build probe` trains it: the vectors of the texts of a row
with their differences and products, all training rows, regularisation chosen on validation. mteb's own classification
tasks learn eight rows per label, and have one text per row. Needs the packages ``mteb`` and ``sentence-transformers``.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import langcodes
import numpy as np
from datasets import Dataset  # noqa: TID253 (mteb has imported it already)
from mteb.abstasks import AbsTask
from mteb.abstasks.task_metadata import TaskMetadata
from torch.utils.data import DataLoader  # noqa: TID253 (the same)

from discoprobe.auditing import read_all
from discoprobe.builders.audit.frame import AuditInput
from discoprobe.builders.audit.inputs.data_files import Reading
from discoprobe.builders.settings import SPLITS
from discoprobe.cards.metadata import manifest
from discoprobe.evaluation import probes
from discoprobe.evaluation.models import Floats
from discoprobe.loaders.errors import UnknownNameError
from discoprobe.loaders.files import hash_of_json


class MtebTask(AbsTask):  # type: ignore[misc]
    """A config of a release folder; `mteb_tasks` makes a class of each, because mteb forgets what an object knows.

    Its scores are ``accuracy`` with the ends of its interval, ``f1`` (macro) and the accuracy on ``validation``; for
    configs with scores also ``pearson`` and ``spearman``.
    """

    abstask_prompt = "Classify the text."
    release: ClassVar[Path]
    train_rows: ClassVar[int]

    def load_data(self, **_: Any) -> None:
        """Reads all splits from the release folder."""
        data = read_all([self.metadata.name], self.release, Reading())[0][0]
        self.dataset, self.data_loaded = {"default": dict.fromkeys(data.splits, data)}, True

    def _evaluate_subset(
        self, model: Any, data_split: AuditInput, *, hf_split: str, hf_subset: str, encode_kwargs: Any, **_: Any
    ) -> dict[str, float]:  # fmt: skip
        def encode(texts: list[str]) -> Floats:
            loader = DataLoader(Dataset.from_dict({"text": texts}), batch_size=encode_kwargs.get("batch_size", 32))
            vectors = model.encode(
                loader, task_metadata=self.metadata, hf_split=hf_split, hf_subset=hf_subset, **encode_kwargs
            )
            return np.asarray(vectors, np.float32)

        score = probes.evaluate_encoder(data_split, encode, train_rows=self.train_rows)
        low, high = score.interval
        scores = {
            "accuracy": score.accuracy, "low": low, "high": high, "f1": score.macro_f1,
            "validation": score.validation, "pearson": score.pearson, "spearman": score.spearman,
        }  # fmt: skip
        return {name: value for name, value in scores.items() if value is not None}

    def _calculate_descriptive_statistics_from_split(self, split: str, **_: Any) -> dict[str, int]:
        self.load_data()
        return {"num_samples": self.dataset["default"][split].split(split).height}


def mteb_tasks(
    release: str | Path, configs: Sequence[str] = (), *, repo: str = "discoprobe", train_rows: int = 10_000
) -> list[MtebTask]:  # fmt: skip
    """Configs of a release folder as tasks for ``mteb.evaluate``.

    Args:
        release: the folder that `build run` wrote.
        configs: names of configs; by default all that have train, validation and test.
        repo: the name of the dataset on the Hub, for mteb's metadata.
        train_rows: only the first rows of train are used.

    Raises:
        DiscoprobeError: ``release`` is no release folder.
        UnknownNameError: a config is not in it.
    """
    entries = manifest.read_release(Path(release)).configs
    for name in configs:
        if name not in entries:
            raise UnknownNameError("config", name, entries)
    tasks = []
    for name in configs or [name for name, entry in sorted(entries.items()) if entry.counts.keys() >= set(SPLITS)]:
        entry = entries[name]
        language = langcodes.Language.get(entry.lang).maximize()
        metadata = TaskMetadata(
            name=name, description=entry.summary, type="Classification", category="t2c", modalities=["text"],
            dataset={"path": repo, "revision": hash_of_json(dict(entry.content))}, eval_splits=[SPLITS[-1]],
            eval_langs=[f"{language.to_alpha3()}-{language.script}"], main_score="accuracy",
            annotations_creators="derived", sample_creation="found",
        )  # fmt: skip
        known = {"metadata": metadata, "release": Path(release), "train_rows": train_rows}
        tasks.append(type(name, (MtebTask,), known)())
    return tasks
