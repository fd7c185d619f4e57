"""Which tasks may be filled with automatic annotation, and which of its candidates: what treebanks show to be right.

``label_errors`` parses held-out sentences of a treebank with the models that will annotate the text. A candidate of the
automatic annotation is right if the treebank has the same candidate (the same sentence, and the same characters of it)
with the same label; it need not be usable there, since the filters of both may differ. What is counted is thus the
label that a row would show, and also a word that is no subject, or a swap of two words that the treebank does not
permit. A word for which the treebank has no label shows nothing, nor does a treebank in which no candidate of the task
has one; learners, talk and verse show what parsers do with such text (`genres`), and are asked only if there is no
other.

Where too many candidates are wrong, those are left out of which the model is not sure: logistic regression learns from
the measures of `builders.sentences.confidence` which are right (selective prediction: El-Yaniv & Wiener 2010,
https://jmlr.org/papers/v11/el-yaniv10a.html), and a task has the least sum from which on at most ``LIMIT`` of the
candidates that it was not learned from are wrong, as the mean of its labels: a config has equally many rows of each.
The share of each label is the mean of Jeffreys' posterior, (wrong + ½)/(n + 1), so that few candidates without a fault
do not pass for none wrong. A label of which the treebank shows fewer than ``LEAST`` candidates gets no automatic row;
nor does a rare label that is wrong most often, where the task passes without it. A config that is filled has no rows of
such labels, gold ones neither.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from discoprobe.builders.genres import unsuited
from discoprobe.builders.selection import candidates_of_part
from discoprobe.builders.sentences.confidence import Floats, measures, shown
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import AnyTask, Context, ProbingTask
from discoprobe.loaders import hashing
from discoprobe.loaders.conllu.reader import find_files, read_corpora
from discoprobe.loaders.corpus import Corpus, Shard, Trust, joined
from discoprobe.loaders.errors import OnError, UnsupportedError
from discoprobe.loaders.files import cache_folder, hash_of_json, write_atomically
from discoprobe.loaders.languages.language import LanguageData, language_data
from discoprobe.loaders.plugins import identity, language_identity
from discoprobe.loaders.raw.row_groups import parsed_by
from discoprobe.loaders.raw.segmentation import Engine

Flags = npt.NDArray[np.bool_]

LIMIT: Final = 0.02
"""Largest share of wrong candidates in automatic annotation, the mean of the labels of a task."""
LEAST: Final = 25
"""Fewest candidates of a label that were compared: with fewer, the mean of the posterior is above ``LIMIT`` if none is
wrong."""
KEPT: Final = 0.2
"""Least share of the candidates of these labels that are used: chance decides whether the few surest ones are right."""
RARE: Final = 0.2
"""A label with at most this share of the candidates leaves a task that does not pass with it."""
CONFIDENCE: Final = 0.95
MOST: Final = 5000
"""Sentences of treebanks that are parsed, chosen by hash: about two minutes, once for a model."""
FOLDS: Final = 5
"""Parts of these sentences; a candidate is judged by what the others show."""
PENALTY: Final = 0.1
"""Inverse strength of the L2 penalty on the weights of standardised measures."""
DIGITS: Final = 6
"""Decimal places of weights, so that a sum is the same on all processors."""
VERSION: Final = 9
"""Raise it when the comparison changes: it is then made again."""


class LabelErrors(msgspec.Struct, frozen=True):
    """How many candidates of automatic annotation were compared with a treebank, and how many are wrong.

    Attributes:
        n: candidates that were compared.
        wrong: of these.
        used: those of which the model is sure enough, as judged by what other sentences show.
        used_wrong: of these.
        trust: how sure it must be; None where too many are wrong.
        elsewhere: of ``wrong``, those whose label another word of the sentence has in the treebank.
        unknown: candidates for which the treebank has no label; they are not among ``n``.
        share: of those used the mean of the labels' shares of wrong ones.
        interval: of 95 %, for this mean.
        labels: the used and the wrong ones of these, by label; empty where labels are not judged one by one.
    """

    n: int
    wrong: int
    used: int = 0
    used_wrong: int = 0
    trust: Trust | None = None
    elsewhere: int = 0
    unknown: int = 0
    share: float = 0.0
    interval: tuple[float, float] = (0.0, 0.0)
    labels: Mapping[str, tuple[int, int]] = {}


def is_annotated(task: AnyTask) -> bool:
    """Whether automatic annotation can give rows of a task: it asks for words, features or trees of sentences."""
    return isinstance(task, ProbingTask) and task.needs <= {"lemma", "upos", "feats", "deps", "text"}


def held_out(paths: Sequence[Path], lang: str, on_error: OnError) -> Corpus:
    """The test and dev files of a language among these treebanks, else all: models are trained on train.

    Raises:
        UnsupportedError: there is no treebank of the language.
    """
    files = [path for path in find_files(paths) if path.suffix == ".conllu"]
    for parts in (("-test", "-dev"), ("",)):
        of_part = [path for path in files if path.stem.endswith(parts)]
        corpora = read_corpora(of_part, lang=lang, only=(lang,), on_error=on_error)
        if lang in corpora:
            return corpora[lang]
    raise UnsupportedError(f"--silver: there is no treebank of {lang} that shows which labels are right")


def label_errors(
    tasks: Sequence[AnyTask], treebank: Corpus, engine: Engine, witness: Engine | None = None, *, scored: bool = True
) -> Mapping[str, LabelErrors]:
    """How often the labels of tasks are wrong if an engine annotates the sentences of a treebank.

    Args:
        tasks: those of `is_annotated`.
        treebank: sentences that the models of the engine were not trained on, as far as that is known.
        engine: annotates words.
        witness: annotates them a second time; what it contradicts is not compared, as it is not used.
        scored: whether the text has the probabilities of its annotation. Files of CoNLL-U have none.

    Returns:
        By the name of the task. The result is kept in the cache.
    """
    gold = joined([part.load() for part in treebank.parts])
    suited = gold.documents.filter(unsuited(treebank.sources, Settings(), "edits").is_null())["doc"]
    of_texts = gold.sentences.filter(pl.col("doc").is_in(suited.implode())) if len(suited) else gold.sentences
    first = of_texts[hashing.ranking(of_texts["key"].to_numpy(), "label errors")[:MOST]].sort("sent")
    versions = {task.name: task.version for task in tasks}
    depends = [VERSION, versions, MOST, [part.identity for part in treebank.parts], dict(engine.identity)]
    depends += [dict(witness.identity)] if witness else []
    depends += [] if scored else ["not scored"]
    depends += [len(of_texts)] if len(of_texts) < len(gold.sentences) else []
    if used := {**identity({Path(task.plugin) for task in tasks if task.plugin}), **language_identity(treebank.lang)}:
        depends.append(used)
    key = hash_of_json(depends)
    file = cache_folder() / "label_errors" / f"{key}.json"
    if file.is_file():
        return msgspec.json.decode(file.read_bytes(), type=dict[str, LabelErrors])
    corpus_of = dict(first.join(gold.documents, on="doc").select("text", pl.col("corpus").cast(pl.String)).iter_rows())
    automatic = parsed_by(engine, first)
    if not scored:
        automatic = msgspec.structs.replace(automatic, confidence=automatic.confidence.clear())
    if witness is not None:
        automatic = msgspec.structs.replace(automatic, witness=parsed_by(witness, automatic.sentences))
    inside = pl.col("sent").is_in(first.join(automatic.sentences, on="text", how="semi")["sent"].implode())
    gold = Shard(gold.documents, gold.sentences.filter(inside), gold.tokens.filter(inside))
    language = language_data(treebank.lang)
    (gold_rows, _), (rows, tables) = (_rows_of(shard, tasks, language) for shard in (gold, automatic))
    errors = {}
    for task in tasks:
        labelled = {tuple(candidate) for *candidate, _ in gold_rows[task.name]}
        without = {tuple(place) for *place, label in labelled if label is None}
        of_sentences = {(text, label) for text, *_, label in labelled}
        with_labels = {corpus_of[text] for text, *_, label in labelled if label is not None}
        usable = [
            n
            for n, (text, place, label, reason) in enumerate(rows[task.name])
            if reason is None and (text, place) not in without and (label is None or corpus_of[text] in with_labels)
        ]
        of_task = [rows[task.name][n][:-1] for n in usable]
        right = np.array([candidate in labelled for candidate in of_task], dtype=bool)
        by_label = bool(task.labels) and not task.paired  # the candidates of pairs are originals only
        labels = [candidate[-1] if by_label else "" for candidate in of_task]
        found = _errors(tables[task.name][usable], right, labels, [text for text, *_ in of_task])
        elsewhere = [by_label and (text, label) in of_sentences for text, *_, label in of_task]
        n_usable = sum(reason is None for *_, reason in rows[task.name])
        errors[task.name] = msgspec.structs.replace(
            found, elsewhere=int((~right & np.array(elsewhere, dtype=bool)).sum()), unknown=n_usable - len(usable)
        )
    write_atomically(file, msgspec.json.encode(errors))
    return errors


def _rows_of(
    shard: Shard, tasks: Sequence[AnyTask], language: LanguageData
) -> tuple[dict[str, list[tuple[Any, ...]]], dict[str, Floats]]:
    """The candidates of each task in a shard (text, place, label, reason), and their `measures`."""
    by_task, tables, trees, context = {}, {}, Trees(shard), Context("", language, Settings())
    texts = shard.sentences.select("sent", "text")
    for name, candidates in candidates_of_part(shard, tuple(tasks), context).of_task.items():
        of_task = shown(candidates, texts)
        by_task[name] = of_task.select("text", "place", "label", "reason").rows()
        tables[name] = measures(trees, of_task)
    return by_task, tables


def _errors(table: Floats, right: Flags, label_of: Sequence[str], text_of: Sequence[str]) -> LabelErrors:
    """What the candidates of a task show: ``table`` has the shape (candidates, measures).

    ``label_of`` has empty strings where labels are not judged one by one.
    """
    from sklearn.model_selection import GroupKFold  # noqa: PLC0415 (a second that other builds do without)

    n, wrong = len(right), int((~right).sum())
    labels, texts = (np.array(values, dtype=str) for values in (label_of, text_of))
    scores = np.zeros(len(right))
    weights = np.zeros(table.shape[1])
    if len(np.unique(texts)) >= FOLDS and not right.all() and right.any():
        for learned, judged in GroupKFold(FOLDS).split(table, right, texts):
            scores[judged] = table[judged] @ _weights(table[learned], right[learned])
        weights = _weights(table, right)
    names, label_number = np.unique(labels, return_inverse=True)
    enough = np.bincount(label_number, minlength=len(names)) >= LEAST
    judged_labels = np.flatnonzero(enough)
    trust, used, share, interval = None, np.zeros(len(right), dtype=bool), 0.0, (0.0, 0.0)
    # rows of a label alone would have no counterpart
    while len(judged_labels) > 1 or (len(judged_labels) and names[judged_labels[0]] == ""):
        ranked = np.flatnonzero(np.isin(label_number, judged_labels))
        ranked = ranked[np.argsort(-scores[ranked], kind="stable")]
        of_label = label_number[ranked, None] == judged_labels
        counts, faults = np.cumsum(of_label, axis=0), np.cumsum(of_label & ~right[ranked, None], axis=0)
        shares = (faults + 0.5) / (counts + 1)
        few = shares.mean(axis=1) <= LIMIT
        few &= np.arange(1, len(ranked) + 1) >= KEPT * len(ranked)
        few &= np.append(scores[ranked][1:] != scores[ranked][:-1], True)  # equal ones are used or not together
        if few.any():
            last = int(np.flatnonzero(few)[-1])
            least = round(float(scores[ranked[last]]), DIGITS) - 10.0**-DIGITS
            trust = Trust(tuple(weights.tolist()), {str(names[label]): least for label in judged_labels})
            used[ranked[: last + 1]] = True
            share, interval = _mean_share(counts[last], faults[last])
            break
        worst = int(np.argmax(shares[-1]))  # a rare label that is wrong most often leaves
        if counts[-1, worst] > RARE * len(ranked):
            break
        judged_labels = np.delete(judged_labels, worst)
    by_label = {
        str(name): (int(used[labels == name].sum()), int((used & ~right)[labels == name].sum()))
        for name in names[judged_labels]
        if name and trust
    }
    return LabelErrors(
        n, wrong, int(used.sum()), int((used & ~right).sum()), trust, share=share, interval=interval, labels=by_label
    )


def _mean_share(counts: npt.NDArray[np.int64], faults: npt.NDArray[np.int64]) -> tuple[float, tuple[float, float]]:
    """The mean of the labels' shares of faults, and its interval: of the beta distribution with its two moments."""
    from scipy.stats import beta  # noqa: PLC0415 (as above)

    shares = (faults + 0.5) / (counts + 1)
    mean = float(shares.mean())
    variance = float((shares * (1 - shares) / (counts + 2)).sum()) / len(shares) ** 2
    size = mean * (1 - mean) / variance - 1
    low, high = beta.interval(CONFIDENCE, mean * size, (1 - mean) * size)
    return round(mean, DIGITS), (round(float(low), DIGITS), round(float(high), DIGITS))


def _weights(table: Floats, right: Flags) -> Floats:
    """Weights of measures, so that the sum tells right candidates from wrong ones; zeros if all are alike."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 (as above)
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    if right.all() or not right.any():
        return np.zeros(table.shape[1])
    scale = StandardScaler().fit(table)
    model = LogisticRegression(C=PENALTY, max_iter=1000).fit(scale.transform(table), right)
    return np.asarray(np.round(model.coef_[0] / scale.scale_, DIGITS), dtype=np.float64)
