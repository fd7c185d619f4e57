"""Corpora and configs as notebooks and other libraries use them: progress bars, an HTML view, datasets and pandas.

These are the functions of ``import discoprobe`` that read and build; ``sources`` and ``builders.build`` do the work.
"""

from __future__ import annotations

import functools
import itertools
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec

from discoprobe.auditing import audit_any
from discoprobe.builders import build as building
from discoprobe.builders.config import Config
from discoprobe.cards.release.rows import with_features
from discoprobe.cards.text import examples
from discoprobe.cards.text.templating import render
from discoprobe.loaders.catalogue.treebanks import language_name
from discoprobe.loaders.corpus import Corpus
from discoprobe.loaders.process_pool import WORDS, Progress, silent
from discoprobe.sources import load_corpus as read_corpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pandas as pd
    from datasets import DatasetDict

    from discoprobe.auditing import ReportWithRows
    from discoprobe.builders.settings import Settings
    from discoprobe.loaders.errors import OnError

DELAY: Final = 1.0
"""Seconds after which a step has a progress bar."""
ROWS: Final = 3
"""Rows in the view of a config."""
QUICK: Final = 5_000
"""Rows up to which the view of a config audits it; the audit of as many takes a few seconds."""


class BuiltConfig(Config, frozen=True, dict=True):
    """A config that `build` returned; notebooks show it as a table with its audit and some rows."""

    @functools.cached_property
    def report(self) -> ReportWithRows:
        """Its audit, made when it is first asked for."""
        return audit_any(self)

    def to_datasets(self) -> DatasetDict:
        """Its splits as `datasets` loads them from a release; ``label`` is a ``ClassLabel``."""
        from datasets import Dataset, DatasetDict

        return DatasetDict({split: Dataset(with_features(table, self.labels)) for split, table in self.splits.items()})

    def to_pandas(self) -> pd.DataFrame:
        """The rows of all splits in one table: ``split``, then the columns of a row; ``label`` has categories."""
        import pandas as pd  # noqa: PLC0415 (half a second)

        frames = [table.to_pandas().assign(split=split) for split, table in self.splits.items()]
        rows: pd.DataFrame = pd.concat(frames, ignore_index=True)
        names = ["split", *(name for name in rows.columns if name != "split")]
        of_index = dict(enumerate(self.labels))
        rows["label"] = rows["label"].map(of_index).astype(pd.CategoricalDtype([*self.labels]))
        return rows.reindex(columns=names)

    def _repr_html_(self) -> str:
        """The view in a notebook: rows per split and label, the audit, and three rows with their edits marked.

        A config of more than ``QUICK`` rows is audited only if its `report` has been asked for.
        """
        audited = "report" in vars(self) or self.n_rows <= QUICK
        with_rows = [table for table in self.splits.values() if table.num_rows]
        rows = examples.examples(self.shape, self.labels, [*with_rows[:1], self.last_split][-1])
        if len({example.pair for example in rows[:2]}) > 1 or not rows[0].pair:  # else a pair, which has two labels
            turns = [[example for example in rows if example.label == label] for label in self.used_labels]
            rows = [example for turn in itertools.zip_longest(*turns) for example in turn if example]
        return render(
            "notebook.html", config=self, title=self.definition.partition("\n")[0], language=language_name(self.lang),
            counts=self.counts(), labels=self.used_labels, verdict=self.report.verdict if audited else None,
            rows=rows[:ROWS], marked=examples.MARKED.get(self.shape, ""),
        )  # fmt: skip


def load_corpus(
    lang: str | Path, corpora: str | Path | Sequence[str | Path] = (), *, on_error: OnError = "stop",
    segment: bool = False, progress: bool = True,
) -> Corpus:  # fmt: skip
    """The corpora of one language, without the table of forms that `build run` takes from the catalogue.

    Args:
        lang: its code or name, or the path of a .conllu file or folder that holds one language.
        corpora: one or several of: ``sample``, names of the catalogue, files and folders of CoNLL-U or text. Default:
            the catalogue's treebanks of the language, which are downloaded and verified, or its raw text where it has
            no treebank.
        on_error: ``skip`` leaves malformed sentences out and counts them.
        segment: only divide raw text into sentences and words, which needs no models. Discourse tasks need no more.
        progress: whether steps of more than a second have a progress bar.

    Raises:
        UnknownNameError: for a language or corpus that is not there.
        CorpusFormatError: for a malformed file.
        UnsupportedError: if the files hold no such language, or several.
    """
    names = [corpora] if not isinstance(corpora, list | tuple) else corpora
    with _bars(shown=progress) as report:
        return read_corpus(
            str(lang), [str(name) for name in names], on_error=on_error, segment=segment, progress=report
        )


def build(
    task: str, corpus: Corpus | str | Path, settings: Settings | None = None, *, progress: bool = True
) -> BuiltConfig:
    """Builds one task from a corpus.

    Args:
        task: name of a task.
        corpus: what `load_corpus` returns, or its first argument.
        settings: seed, sizes and filters; the defaults are those of the published release.
        progress: whether steps of more than a second have a progress bar.

    Returns:
        The config: its splits as Arrow tables, `to_datasets`, `to_pandas`, its audit as `report`.

    Raises:
        UnknownNameError: there is no task of that name.
        UnsupportedError: the corpus cannot support the task; the message says why.
    """
    if not isinstance(corpus, Corpus):
        corpus = load_corpus(corpus, progress=progress)
    with _bars(shown=progress) as report:
        config = building.build(task, corpus, settings, report)
    return BuiltConfig(**{field.name: getattr(config, field.name) for field in msgspec.structs.fields(config)})


@contextmanager
def _bars(*, shown: bool) -> Iterator[Progress]:
    """What reports progress by bars, in notebooks as widgets, else on stderr; they are removed at the end."""
    if not shown:
        yield silent
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where a notebook has no widgets, bars are text
        from tqdm.auto import tqdm  # noqa: PLC0415 (imports the widgets of a notebook)

    bars: dict[str, Any] = {}

    def report(step: str, done: int, total: int) -> None:
        if step == WORDS:
            return
        if step not in bars:
            bars[step] = tqdm(desc=step, total=total, delay=DELAY, leave=False)
        bars[step].total = total
        bars[step].update(done - bars[step].n)

    try:
        yield report
    finally:
        for bar in bars.values():
            bar.close()
