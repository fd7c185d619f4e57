"""The data set as a benchmark of the Hub: ``eval.yaml``, by which scores of models find their task.

The Hub shows a leaderboard for a data set that has this file, once it is on its list. A task of it is a config with all
splits, which is a task of mteb too (`discoprobe.evaluation.mteb_tasks`). A file has one framework. Scores are files of
the repository of a model, ``.eval_results/*.yaml`` (https://huggingface.co/docs/hub/eval-results).
"""

from typing import Final

import yaml

from discoprobe.builders.settings import SPLITS
from discoprobe.cards.metadata.facts import SHORT
from discoprobe.cards.metadata.manifest import Manifest

NAME: Final = "eval.yaml"
FRAMEWORK: Final = "mteb"


def benchmark(manifest: Manifest, title: str) -> str:
    """The text of ``eval.yaml``; empty if no config has all splits. ``title`` is the name of the data set."""
    tasks = [name for name, entry in sorted(manifest.configs.items()) if entry.counts.keys() >= set(SPLITS)]
    if not tasks:
        return ""
    head = {"name": title, "description": SHORT, "evaluation_framework": FRAMEWORK}
    lines = [f"- {{id: {name}, config: {name}, split: {SPLITS[-1]}}}" for name in tasks]
    return yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=2**20) + "tasks:\n" + "\n".join(lines) + "\n"


def results_file(repository: str) -> str:
    """Where the repository of a model has its scores on a data set."""
    return f".eval_results/{repository.replace('/', '_')}.yaml"
