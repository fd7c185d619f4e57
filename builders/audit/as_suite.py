"""External datasets as suites of minimal pairs, as in CoherenceGym (Beyer et al. 2021).

``winograd-suite``: the pronoun of a Winograd schema is replaced by each candidate, and the texts are compared in what
follows (partial scoring, Trinh & Le 2018). ``speaker-suite``: two utterances that contradict each other (DialogueNLI),
by two speakers or by one; each pair of utterances is there in both orders.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl
import pyarrow as pa

from discoprobe.builders import hashing
from discoprobe.builders.audit import winograd
from discoprobe.builders.audit.frame import UnreadableDataError
from discoprobe.builders.audit.winograd import Pair, Records
from discoprobe.builders.config import Config, Shape, schema
from discoprobe.builders.papers import papers_of
from discoprobe.loaders.corpus import Source

XWINO: Final = ("lang", "source", "", "text", "tokens", "pronoun", "candidates")
"""Fields of XWinograd's ``dataset.tsv``; the last three are JSON."""
SUFFIXES: Final = (".jsonl", ".json", ".parquet", ".tsv")
TELLING: Final = ("token", "chars", "words", "edges", "overlap", "similarity", "single", "pairwise")
"""Checks that fail because the number of speakers shows which text is the good one."""
CONTRADICTION: Final = frozenset({"negative", "contradiction"})

MEANINGS: Final = {
    **winograd.MEANINGS,
    "no-contradiction": "two utterances that do not contradict each other",
    "duplicate": "the same texts as an earlier row",
}


class SuiteKind(NamedTuple):
    """A kind of suite.

    Attributes:
        pairs: makes pairs of records, for a language, and counts the reasons why others are left out.
        conditions: what the bad text can be.
        region: the place of the regions that are compared, from 1.
        definition: for the card.
        exempt: checks of the audit that do not apply → reason.
    """

    pairs: Callable[[Records, str, Counter[str]], Iterator[Pair]]
    conditions: tuple[str, ...]
    region: int
    definition: str
    exempt: Mapping[str, str]


def suite_of(task_type: str, files: Sequence[Path], *, name: str, lang: str, source: Source) -> Config:
    """The config ``{name}_{lang}`` with the pairs of a published dataset.

    Args:
        task_type: a key of ``SUITES``.
        files: with one of ``SUFFIXES``: JSON lines, lists in JSON, parquet, or XWinograd's TSV.
        name: what the config is called, before its language.
        lang: code of the language.
        source: where the rows come from, with licence and citation.

    Raises:
        UnreadableDataError: a file is of another kind, a row is malformed, or there is no pair; names file and line.
    """
    kind = SUITES[task_type]
    left_out = Counter[str]()
    records = [record for file in files for record in _records(file)]
    pairs = list(dict.fromkeys(kind.pairs(records, lang, left_out)))
    if not pairs:
        reasons = ", ".join(f"{reason} {n}" for reason, n in sorted(left_out.items()))
        raise UnreadableDataError(f"{', '.join(file.name for file in files)}: no pair of {lang} is left ({reasons})")
    different = {tuple(sorted(pair.good + pair.bad)) for pair in pairs}
    left_out["duplicate"] += len(records) - left_out.total() - len(different)
    drops = {reason: n for reason, n in left_out.items() if n}
    return Config(
        name=f"{name}_{lang}", task=name, lang=lang, shape=Shape.SUITE, labels=kind.conditions,
        splits={"test": _table(pairs, kind, source.name)}, drops=drops,
        meanings={reason: MEANINGS[reason] for reason in drops}, candidates=len(records), sources=(source,),
        read=(source.name,), definition=kind.definition, papers=tuple(papers_of(kind.definition)), split_by="",
        published=True, pairs=True, exempt=kind.exempt,
    )  # fmt: skip


def exemptions_of(conditions: tuple[str, ...]) -> Mapping[str, str]:
    """The checks that do not apply to a suite with these conditions → reason."""
    return next((kind.exempt for kind in SUITES.values() if kind.conditions == conditions), {})


def _table(pairs: Sequence[Pair], kind: SuiteKind, corpus: str) -> pa.Table:
    """The rows, in the order of a hash."""
    rows: dict[str, dict[str, Any]] = {}
    for pair in pairs:
        good, bad = (" ".join(filter(None, regions)) for regions in (pair.good, pair.bad))
        row_id = f"{hashing.digest(good, bad):016x}"
        rows[row_id] = {
            "id": row_id, "pair_id": row_id, "group": row_id, "corpus": corpus, "sent_ids": [],
            "label": kind.conditions.index(pair.condition), "sentence_good": good, "sentence_bad": bad,
            "regions_good": list(pair.good), "regions_bad": list(pair.bad), "region": kind.region,
        }  # fmt: skip
    return pa.Table.from_pylist([rows[row_id] for row_id in sorted(rows)], schema=schema(Shape.SUITE))


def _records(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The records of a file with their places, ``file:line`` or ``file:record``."""
    try:
        if file.suffix == ".parquet":
            yield from ((f"{file.name}:{n}", row) for n, row in enumerate(pl.read_parquet(file).to_dicts(), 1))
            return
        text = file.read_text(encoding="utf-8-sig")
        if text.lstrip().startswith("["):
            yield from ((f"{file.name}:{n}", row) for n, row in enumerate(json.loads(text), 1))
            return
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise UnreadableDataError(f"{file.name}: cannot be read: {str(error).splitlines()[0]}") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{file.name}:{number}", _line(line.rstrip("\r"), file, number)


def _line(line: str, file: Path, number: int) -> Mapping[str, Any]:
    try:
        if file.suffix != ".tsv":
            record = json.loads(line)
        else:
            record = dict(zip(XWINO, line.split("\t"), strict=True))
            record.update({name: json.loads(record[name]) for name in XWINO[4:]})
    except ValueError as error:
        raise UnreadableDataError(f"{file.name}:{number}: malformed: {error}") from error
    if not isinstance(record, dict):
        raise UnreadableDataError(f"{file.name}:{number}: not a JSON object")
    return record


def speaker_pairs(records: Records, _lang: str, left_out: Counter[str]) -> Iterator[Pair]:
    """Two utterances that contradict each other, said by two speakers (good) or by one (bad), in both orders."""
    for place, record in records:
        label = record.get("original_label", record.get("label"))
        utterances = [record.get(name) for name in ("sentence1", "sentence2")]
        if not isinstance(label, str) or not all(isinstance(one, str) and one.strip() for one in utterances):
            found = ", ".join(record)
            raise UnreadableDataError(f"{place}: expected label, sentence1 and sentence2 with texts, found {found}")
        if label not in CONTRADICTION:
            left_out["no-contradiction"] += 1
            continue
        first, second = (" ".join(str(one).split()) for one in utterances)
        for said, then in ((first, second), (second, first)):
            yield Pair(("A:", said, "B:", then), ("A:", said, "A:", then), "same_speaker")


SUITES: Final = {
    "winograd-suite": SuiteKind(
        winograd.pairs_of, ("first_candidate", "second_candidate"), 3,
        "Does a text go on better after the candidate that a pronoun stands for?\n\n"
        "Winograd schemas as in CoherenceGym (Beyer et al. 2021): the right and the wrong candidate in the place of "
        "the pronoun; what follows should be less probable after the wrong one (region 3). The condition says which "
        "is wrong, the candidate mentioned first or second. An article is written small inside a sentence.",
        {},
    ),
    "speaker-suite": SuiteKind(
        speaker_pairs, ("same_speaker",), 4,
        "Is a contradiction less probable if one speaker utters both parts of it?\n\n"
        "Speaker commitment as in CoherenceGym (Beyer et al. 2021), from contradictions of DialogueNLI (Welleck et al. "
        "2019): said by two speakers (good) or one (bad); the second utterance (region 4) should be less probable in "
        "the bad text. Both orders of every pair of utterances are there.",
        dict.fromkeys(
            TELLING, "the good text has two speakers and the bad one has one, which is the question: compare region 4"
        ),
    ),
}  # fmt: skip
"""Task type → how its suite is made."""
