"""What `discoprobe.build` returns: a config, or a release, a mapping of configs that can be saved and published.

A release in memory is a `plan.Plan` with what was built from it (`pipeline.build_in_memory`). Its methods are the
commands of the same names, and call the same functions; those that need files take the folder of `save`.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import threading
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import msgspec
import polars as pl

from discoprobe import pipeline
from discoprobe.auditing import judged, with_rows
from discoprobe.builders.audit.own_configs import from_config
from discoprobe.builders.audit.run import audit
from discoprobe.builders.config import Config, Unavailable
from discoprobe.cards.metadata import manifest
from discoprobe.cards.release.release_folder import renew_figures
from discoprobe.cards.release.rows import with_features
from discoprobe.cards.text import examples
from discoprobe.cards.text.templating import render
from discoprobe.cards.text.verdicts import failing, meanings, verdicts, why_left_out
from discoprobe.cards.text.verdicts import lines_of as dataset_lines
from discoprobe.interactive import in_python, progress_bars, python_messages
from discoprobe.loaders.catalogue.treebanks import language_name
from discoprobe.loaders.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset, DatasetDict

    from discoprobe.auditing import ReportWithRows
    from discoprobe.builders.task import AnyTask
    from discoprobe.builders.why import Explanation
    from discoprobe.cards.hub.staging import PushResult
    from discoprobe.cards.hub.verify import Verified
    from discoprobe.evaluation.scores import Evaluation
    from discoprobe.loaders.corpus import Corpus
    from discoprobe.loaders.files import File
    from discoprobe.plan import Plan

ROWS: Final = 3
"""Rows in the view of a config."""
QUICK: Final = 5_000
"""Rows up to which the view of a config audits it; the audit of as many takes a few seconds."""


class BuiltConfig(Config, frozen=True, dict=True):
    """A config that `build` returned: a mapping of splits to rows, which a notebook shows as a table with its audit."""

    def __getitem__(self, split: str) -> Dataset:
        """The rows of a split as `datasets` has them; `splits` has them as an Arrow table."""
        from datasets import Dataset

        if split not in self.splits:
            raise KeyError(f"no split '{split}'; there are {', '.join(self.splits)}")
        return Dataset(with_features(self.splits[split], self.labels))

    def __iter__(self) -> Iterator[str]:
        """The names of its splits."""
        return iter(self.splits)

    def __len__(self) -> int:
        """The number of its splits, as of a ``DatasetDict``; ``len(config["train"])`` is a number of rows."""
        return len(self.splits)

    @functools.cached_property
    def report(self) -> ReportWithRows:
        """Its audit, made when it is first asked for; as in `build run`, beside the texts of its corpus."""
        texts, others = None, None
        if corpus := vars(self).get("corpus"):
            sources = pipeline.SourceTexts(corpus)
            texts = sources.of(self)
            others = sources.others(self, texts)
        return with_rows(judged([audit(self, texts, others)])[0], from_config(self))

    def to_datasets(self) -> DatasetDict:
        """Its splits as `datasets` loads them from a release; ``label`` is a ``ClassLabel``."""
        from datasets import DatasetDict

        return DatasetDict({split: self[split] for split in self})

    def to_polars(self) -> pl.DataFrame:
        """The rows of all splits in one table: ``split``, then the columns of a row; ``label`` is an ``Enum``."""
        names = pl.Enum(self.labels)
        of_index = dict(enumerate(self.labels))
        frames = [
            pl.DataFrame(table).select(pl.lit(split).alias("split"), pl.all()) for split, table in self.splits.items()
        ]
        return pl.concat(frames).with_columns(pl.col("label").replace_strict(of_index, return_dtype=names))

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
        with_some = [table for table in self.splits.values() if table.num_rows]
        rows = examples.examples(self.shape, self.labels, [*with_some[:1], self.last_split][-1])
        if len({example.pair for example in rows[:2]}) > 1 or not rows[0].pair:  # else a pair, which has two labels
            turns = [[example for example in rows if example.label == label] for label in self.used_labels]
            rows = [example for turn in itertools.zip_longest(*turns) for example in turn if example]
        return render(
            "notebook.html", config=self, title=self.definition.partition("\n")[0], language=language_name(self.lang),
            counts=self.counts(), labels=self.used_labels, verdict=self.report.verdict if audited else None,
            rows=rows[:ROWS], marked=examples.MARKED.get(self.shape, ""),
        )  # fmt: skip


def as_built(config: Config, corpus: Corpus | None = None) -> BuiltConfig:
    """A config as `build` returns it; its audit looks at the texts of the corpus."""
    built = BuiltConfig(**{field.name: getattr(config, field.name) for field in msgspec.structs.fields(Config)})
    vars(built)["corpus"] = corpus
    return built


class BuiltRelease(Mapping[str, BuiltConfig]):
    """The configs that `build` made of several tasks or languages, by name; without those that fail the audit.

    Attributes:
        plan: what was read and built.
        corpora: each corpus with its tasks.
        results: every config, or why there is none, with its audit.
        missing: the configs that are not part of it → the reason.
        folder: where it was saved; None until then.
    """

    def __init__(
        self, plan: Plan, corpora: Sequence[tuple[Corpus, Sequence[AnyTask]]], results: pipeline.Results
    ) -> None:
        self.plan, self.corpora, self.results = plan, corpora, results
        self.folder: Path | None = None
        unavailable = [result for result, _ in results.values() if isinstance(result, Unavailable)]
        self.missing = {result.name: in_python(result.reason) for result in unavailable}
        kept = {name: result for name, (result, _) in results.items() if isinstance(result, Config)}
        if not plan.request.keep_failed:
            failed = failing(self._entries(kept))
            self.missing |= {name: in_python(why_left_out(verdict)) for name, verdict in failed.items()}
            kept = {name: result for name, result in kept.items() if name not in failed}
        of_lang = {f"{task.name}_{corpus.lang}": corpus for corpus, tasks in corpora for task in tasks}
        self._configs = {name: as_built(result, of_lang.get(name)) for name, result in sorted(kept.items())}
        audited = [report for name in self._configs if (report := results[name][1])]
        for report in judged(audited):
            config = self._configs[report.name]
            vars(config)["report"] = with_rows(report, from_config(config))

    def _entries(self, configs: Mapping[str, Config]) -> dict[str, manifest.ConfigEntry]:
        """What a manifest says of configs, but for their files and contents."""
        no_files: dict[str, File] = {}
        return {
            name: manifest.config_entry(config, {}, no_files, self.results[name][1]) for name, config in configs.items()
        }

    def __getitem__(self, name: str) -> BuiltConfig:
        """The config of this name, such as ``dc_es``."""
        if name not in self._configs:
            near = difflib.get_close_matches(name, self._configs, n=3, cutoff=0.4) or [*self._configs][:3]
            why = f": {self.missing[name]}" if name in self.missing else f"; did you mean {' or '.join(near)}?"
            raise KeyError(f"no config '{name}'{why}")
        return self._configs[name]

    def __iter__(self) -> Iterator[str]:
        """The names of its configs."""
        return iter(self._configs)

    def __len__(self) -> int:
        """The number of its configs."""
        return len(self._configs)

    def __repr__(self) -> str:
        languages = ", ".join(sorted({config.lang for config in self.values()})) or "no language"
        n = f"{len(self)} config{'s' * (len(self) != 1)}"
        where = f"in {self.folder}" if self.folder else "not saved"
        return f"<{type(self).__name__}: {n} of {languages}; not built: {len(self.missing)}; {where}>"

    def _repr_html_(self) -> str:
        """The view in a notebook: the table that `build run` prints, and what is missing."""
        entries = self._entries(self._configs)
        groups = dataset_lines(entries, verdicts(entries))
        lines = [line for of_language in groups.values() for line in of_language]
        return render(
            "release.html", groups={language_name(lang): of_lang for lang, of_lang in groups.items()},
            meanings=meanings(lines), missing=self.missing, where=self.folder,
        )  # fmt: skip

    def audit(self) -> dict[str, ReportWithRows]:
        """The audit of each config, by its name."""
        return {name: config.report for name, config in self.items()}

    def save(self, out: str | Path = "dist/discoprobe", *, progress: bool = True) -> Path:
        """Writes the configs into a release folder, with their cards, and returns its path: the files of `build run`.

        In an existing release, other configs stay.

        Raises:
            UsageError: the folder holds something else.
        """
        folder = Path(out)
        with progress_bars(shown=progress) as report:
            pipeline.run(self.plan, folder, report, self.corpora, self.results)
        self.folder = folder
        return folder

    def _saved(self) -> Path:
        if self.folder is None:
            raise UsageError("the release is not saved; release.save('dist/discoprobe') writes its folder")
        return self.folder

    def push(  # noqa: PLR0913 (one parameter per option)
        self, repo: str, *, release: str = "", allow_licence: Sequence[str] = (), dry_run: bool = False,
        private: bool = False, create_pr: bool = False, progress: bool = True,
    ) -> PushResult:  # fmt: skip
        """Publishes the saved folder on the Hub in one commit with one tag, without asking.

        Args:
            repo: the dataset repository, owner/name.
            release: the number, X.Y.Z; by default it is derived from the changes.
            allow_licence: licences to publish under although they are not open.
            dry_run: send nothing, and return the plan.
            private: make the repository private, if this creates it.
            create_pr: propose the commit as a pull request.
            progress: whether steps of more than a second have a progress bar.

        Raises:
            UsageError: it is not saved.
            DiscoprobeError: a config failed its audit, or a licence does not allow it.
            RemoteError: the Hub or the network failed.
        """
        from discoprobe.cards.hub.client import Hub  # noqa: PLC0415 (imports the client of the Hub)
        from discoprobe.cards.hub.push import send  # noqa: PLC0415 (the same)
        from discoprobe.cards.hub.staging import check_target, plan_push  # noqa: PLC0415 (the same)

        with progress_bars(shown=progress) as report:
            folder, hub = self._saved(), Hub(repo, pull_request=create_pr)
            check_target(hub, folder, release=release, dry_run=dry_run)
            result, staged = plan_push(folder, hub, release=release, allow_licence=allow_licence, dry_run=dry_run)
            if dry_run:
                return result
            return send(hub, result, staged, folder=folder, private=private, progress=report)

    def verify(self, *, rebuild: bool = True) -> Verified:
        """Compares the saved files with their manifest and, with ``rebuild``, with a new build from the same corpora.

        Returns:
            The numbers of files that were compared, and ``differences``: empty if all is as it was built.

        Raises:
            UsageError: it is not saved.
            DiscoprobeError: a corpus cannot be read any more.
        """
        from discoprobe.cards.hub.verify import verify  # noqa: PLC0415 (imports the client of the Hub)

        def again(_release: manifest.Manifest, out: Path) -> None:
            pipeline.run(self.plan, out, corpora=self.corpora)

        with python_messages():
            return verify(str(self._saved()), again if rebuild else None)

    def why(self, config: str, sentence: str, *, progress: bool = True) -> list[Explanation]:
        """What became of a sentence in a config: its rows, or the step, reason and rule by which it was lost.

        Args:
            config: such as ``dc_es``; also one that could not be built.
            sentence: its ``sent_id``, its text or words of it, or the id of a row.
            progress: whether steps of more than a second have a progress bar.

        Raises:
            UnknownNameError: there is no such config, sentence or row.
        """
        of_config = [
            (corpus, [task]) for corpus, tasks in self.corpora for task in tasks
            if f"{task.name}_{corpus.lang}" == config
        ]  # fmt: skip
        with progress_bars(shown=progress) as report:
            if not of_config:
                raise UnknownNameError("config", config, self.results)
            made = msgspec.structs.replace(self.plan, tasks=of_config[0][1])
            return pipeline.why(made, config, sentence, report, of_config)

    def probe(  # noqa: PLR0913 (one parameter per option)
        self, model: str | Sequence[str], *, surprisal: bool = False, controls: bool = True, train_rows: int = 10_000,
        device: str = "auto", batch_size: int = 64, jobs: int = 1, trust_remote_code: bool = False,
        save: str | Path | None = None, progress: bool = True,
    ) -> list[Evaluation]:  # fmt: skip
        """The scores of models on the saved configs, beside the majority baseline and the best cheap trick.

        Args:
            model: a model of transformers or several: folders, or ids on the Hub.
            surprisal: train no probes, and compare the probabilities that a causal model gives.
            controls: also measure selectivity, description length and other controls.
            train_rows: most training rows.
            device: of torch; ``auto`` is a GPU if there is one.
            batch_size: most texts in a batch.
            jobs: number of processes.
            trust_remote_code: run code from the repository of the model.
            save: the folder of the scores. Default: beside the release, with ``-scores``.
            progress: whether steps of more than a second have a progress bar.

        Raises:
            UsageError: it is not saved.
            DiscoprobeError: a model cannot be used, or torch is not installed.
        """
        from discoprobe.evaluation.evaluate import evaluations  # noqa: PLC0415 (takes a second)
        from discoprobe.evaluation.scores import Evaluation  # noqa: PLC0415 (the same)

        with progress_bars(shown=progress) as report:
            folder = self._saved()
            scored = evaluations(
                [*self], folder, [model] if isinstance(model, str) else [*model], report, by_surprisal=surprisal,
                train_rows=train_rows, controls=controls, device=device, batch_size=batch_size, jobs=jobs,
                trust_remote_code=trust_remote_code,
                save=Path(save) if save else folder.with_name(f"{folder.name}-scores"),
            )  # fmt: skip
            return [each for each in scored if isinstance(each, Evaluation)]

    def review(
        self, reader: str = "", *, reader_kind: str = "person", port: int = 0, open: bool = True  # noqa: A002 (an option)
    ) -> RunningReview:  # fmt: skip
        """Shows rows and cards in the browser; what a reader marks is kept in a file beside the saved folder.

        Returns:
            The application, which runs until ``close()``; this adds the results of the readers to the cards.

        Raises:
            UsageError: it is not saved, or the port is taken.
        """
        with python_messages():
            running = RunningReview(self._saved(), reader, reader_kind, port)
        if open:
            webbrowser.open(running.address)
        return running


class RunningReview:
    """An application of `BuiltRelease.review`, in a thread of its own; a context manager that closes it."""

    def __init__(self, folder: Path, reader: str, reader_kind: str, port: int) -> None:
        from discoprobe.cards.readers import READER_KINDS  # noqa: PLC0415 (with what follows)
        from discoprobe.cards.review.site import Reader  # noqa: PLC0415 (imports Flask)
        from discoprobe.cards.review.web_app import server  # noqa: PLC0415 (the same)

        kind = next((kind for kind in READER_KINDS if kind == reader_kind), None)
        if kind is None:
            raise UsageError(f"reader_kind is '{reader_kind}'; give {' or '.join(READER_KINDS)}")
        self._folder = folder
        self._server, self.address = server(folder, port, reader=Reader(reader, kind))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> list[str]:
        """Ends it and writes what readers found on the cards; returns this, a line per config and kind of reader."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        return renew_figures(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self.address}; close() ends it>"

    def _repr_html_(self) -> str:
        return f'<a href="{self.address}">{self.address}</a>'
