"""External datasets as suites of minimal pairs, as in CoherenceGym (Beyer et al. 2021).

``winograd-suite``: the pronoun of a Winograd schema is replaced by each candidate, and the texts are compared in what
follows (partial scoring, Trinh & Le 2018). ``speaker-suite``: two utterances that contradict each other (DialogueNLI),
by two speakers or by one; each pair of utterances is there in both orders.

Winograd schemas as pairs of texts: the right or the wrong candidate takes the place of the pronoun.

External labelled rows as a config: the columns of discoprobe's configs, the splits and labels of the source.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import polars as pl
import pyarrow as pa

from discoprobe.builders.audit.frame import AuditInput, UnreadableDataError
from discoprobe.builders.audit.integrity import LEAKS, without_leaks
from discoprobe.builders.config import Config, Shape, papers_of, regions, schema
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import Source
from discoprobe.loaders.errors import DiscoprobeError

Records = Sequence[tuple[str, Mapping[str, Any]]]

PRONOUNS: Final = {
    "en": {"he", "she", "it", "they", "him", "them"},
    "fr": {"il", "elle", "ils", "elles"},
    "pt": {"ele", "ela", "eles", "elas"},
}
"""Pronouns in whose place a noun phrase can stand as it is. Elsewhere it would need another case (Russian)."""
PLURAL_PRONOUNS: Final = frozenset({"they", "them", "ils", "elles", "eles", "elas"})
AND: Final = frozenset({"and", "et", "e"})
PLURAL_DETERMINERS: Final = frozenset(
    {"les", "des", "ces", "mes", "tes", "ses", "nos", "vos", "leurs", "os", "as", "estes", "estas", "esses", "essas"}
    | {"aqueles", "aquelas", "meus", "minhas", "seus", "suas", "nossos", "nossas", "uns", "umas"}
)
"""French and Portuguese determiners before a plural noun."""
ENGLISH_HEAD: Final = re.compile(r"^\S+ (?:\S+ )*?(\S+)(?: (?:of|in|on|at|from|with|for|by|to|who|that|which) |$)")
"""The head noun of an English noun phrase of several words."""
ENGLISH_PLURAL: Final = re.compile(r"[^su]s$|(?:men|people|children|police)$")
INDEFINITE: Final = frozenset({"a", "an", "un", "une", "um", "uma"})
"""Indefinite articles: a pronoun refers to something known, so an indefinite noun phrase cannot replace it."""
OTHER_CODES: Final = {"jp": "ja"}
"""Codes of XWinograd that are no language codes → the right ones."""
FREQUENT: Final = 0.03
"""Share of the texts, and more than one, that an article is in."""
INSIDE: Final = re.compile(r'(?<=[^.!?:"“”«] )[^\W\d_]+')
"""A word that does not begin a sentence."""
MARKS: Final = ".,;:!?"

MEANINGS_WINOGRAD: Final = {
    "other-language": "a schema of another language",
    "other-pronoun": "a pronoun for which a noun phrase cannot simply stand (possessives, clitics)",
    "attached": "the pronoun is written together with a word (*qu'il*, *he's*)",
    "bare-noun": "a candidate without definite article that is no name",
    "number": "a plural pronoun, and a candidate that may be singular",
    "nothing-after": "nothing follows the pronoun that could be compared",
}
"""Reason why a schema is left out → what it means."""


class Pair(NamedTuple):
    """The regions of a good and of a bad text, and the condition: which candidate the bad one has."""

    good: tuple[str, ...]
    bad: tuple[str, ...]
    condition: str


class _Schema(NamedTuple):
    """A Winograd schema: its text, the place of the pronoun, two candidates, and which of them is right."""

    text: str
    start: int
    end: int
    candidates: tuple[str, str]
    right: int


def pairs_of(records: Records, lang: str, left_out: Counter[str]) -> Iterator[Pair]:
    """Each schema with the right candidate in the place of the pronoun, and with the wrong one."""
    schemas = []
    for place, record in records:
        language = str(record.get("lang", lang))
        if OTHER_CODES.get(language, language) != lang:
            left_out["other-language"] += 1
            continue
        try:
            schemas.append(_schema(record))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            what = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise UnreadableDataError(f"{place}: not a Winograd schema: {what}") from error
    articles = _articles(schemas)
    forms = Counter(word for one in schemas for word in INSIDE.findall(one.text))
    for one in schemas:
        phrases = [_inside(candidate, articles, forms) for candidate in one.candidates]
        if reason := _unusable(one, lang) or ("" if all(phrases) else "bare-noun"):
            left_out[reason] += 1
            continue
        texts = [_regions(one, phrase) for phrase in phrases]
        wrong_first = one.right == (0 if _mentioned(one, 1) < _mentioned(one, 0) else 1)
        yield Pair(texts[one.right], texts[1 - one.right], "first_candidate" if wrong_first else "second_candidate")


def _schema(record: Mapping[str, Any]) -> _Schema:
    """A record of XWinograd, of WSC273 (``pronoun``, ``pronoun_loc``), or with a gap (``_`` in ``sentence``)."""
    if "candidates" in record:
        names, truth = zip(*((one[0], bool(one[3])) for one in record["candidates"]), strict=True)
        text, right, pronoun = record["text"], truth.index(True), record["pronoun"][2][0].strip(MARKS)
        start = _place_of(pronoun, text, record["tokens"][: record["pronoun"][1][0]])
    elif "pronoun_loc" in record:
        text, pronoun, start = record["text"], record["pronoun"], record["pronoun_loc"]
        names, right = record["options"], int(record["label"])
    else:
        text, pronoun, start = record["sentence"], "_", record["sentence"].index("_")
        names, right = (record["option1"], record["option2"]), int(record["answer"]) - 1
    first, second = names
    if right not in {0, 1}:
        raise ValueError(f"the answer is {right}, not one of two candidates")
    if text[start : start + len(pronoun)] != pronoun:
        raise ValueError(f"'{pronoun}' does not stand at character {start}")
    return _Schema(text, start, start + len(pronoun), (first, second), right)


def _place_of(word: str, text: str, tokens: Sequence[str]) -> int:
    """Where a word begins in a text, of which the tokens before it are known; they need not be those of the text."""
    nth = sum(token.strip(MARKS) == word for token in tokens)
    places = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)]
    if nth >= len(places):
        raise ValueError(f"'{word}' occurs {len(places)} times in the text, but is token {nth + 1} of its kind")
    return places[nth]


def _unusable(one: _Schema, lang: str) -> str:
    """Why a noun phrase cannot be put in; empty if it can."""
    pronoun = one.text[one.start : one.end]
    before, after = one.text[: one.start], one.text[one.end :]
    if pronoun != "_" and pronoun.lower() not in PRONOUNS.get(lang, ()):
        return "other-pronoun"
    if before and not before.endswith(" "):
        return "attached"
    if not re.match(r"[.,;:!?]*(\s|$)", after):
        return "attached"
    if pronoun.lower() in PLURAL_PRONOUNS and not all(_is_plural(candidate, lang) for candidate in one.candidates):
        return "number"
    return "" if re.search(r"\s\S*\w", after) else "nothing-after"


def _is_plural(candidate: str, lang: str) -> bool:
    """Whether a noun phrase is plural: two joined by *and*; else by its determiner, in English by its head noun."""
    words = candidate.lower().split()
    if AND & set(words):
        return True
    if lang != "en":
        return words[0] in PLURAL_DETERMINERS
    head = ENGLISH_HEAD.match(candidate)
    return head is not None and ENGLISH_PLURAL.search(head[1]) is not None


def _articles(schemas: Sequence[_Schema]) -> set[str]:
    """The frequent words, in lower case, that begin candidates of several words."""
    first = {candidate.split()[0].lower() for one in schemas for candidate in one.candidates if " " in candidate}
    words = Counter(word for one in schemas for word in set(re.findall(r"[^\W\d_]+", one.text)) if word.islower())
    return {word for word in first if words[word] > max(1, FREQUENT * len(schemas))}


def _inside(candidate: str, articles: set[str], forms: Mapping[str, int]) -> str:
    """A candidate as it is written inside a sentence; empty for a noun without definite article.

    A name is mostly written with a capital inside the sentences of the data; ``forms`` counts the words there.
    """
    first = re.split(r"\W", candidate, maxsplit=1)[0]
    if first.lower() in INDEFINITE:
        return ""
    if first.lower() in articles:
        return candidate[:1].lower() + candidate[1:]
    return "" if candidate[:1].islower() or forms[first.lower()] > forms[first] else candidate


def _regions(one: _Schema, candidate: str) -> tuple[str, str, str]:
    """The text before the candidate, the candidate with its punctuation, and the text after it."""
    before = one.text[: one.start]
    if not before or re.search(r"[.!?]\s+$", before):
        candidate = candidate[:1].upper() + candidate[1:]
    parts = regions(before + candidate + one.text[one.end :], one.start, one.start + len(candidate))
    return " ".join(parts[0].split()), parts[1], " ".join(parts[2].split())


def _mentioned(one: _Schema, which: int) -> int:
    """Where a candidate is first mentioned; at the end if it is not mentioned as it is written."""
    at = one.text.lower().find(one.candidates[which].lower())
    return at if at >= 0 else len(one.text) + which


TaskType = Literal["single", "pair", "choice", "similarity", "minimal-pairs"]
TASK_TYPES: Final[dict[TaskType, tuple[Shape, str]]] = {
    "single": (Shape.SENTENCE, "The label of a text"),
    "pair": (Shape.PAIR, "The label of two texts"),
    "choice": (Shape.CHOICE, "The right one of several choices"),
    "similarity": (Shape.SCORED, "How similar two sentences are"),
    "minimal-pairs": (Shape.CHOICE, "The acceptable one of two sentences"),
}
"""Type of a row → the columns it gets, and what is asked."""


def config_of(  # noqa: PLR0913 (one parameter per fact)
    data: AuditInput, task_type: TaskType, *, name: str, lang: str, source: Source, drop_leaks: bool = False
) -> Config:
    """The config ``{name}_{lang}`` with the rows of ``data``, in their splits and their order.

    It has the splits of ``data``: `datasets` cannot load an empty one. Scores stay numbers in ``score``; ``label`` has
    the classes of the audit.

    Args:
        data: rows that `inputs.read` gave.
        task_type: what a row is.
        name: what the config is called, before its language.
        lang: code of the language.
        source: where the rows come from, with licence and citation.
        drop_leaks: leave out the rows of earlier splits that leak into later ones; they are counted.

    Raises:
        DiscoprobeError: the rows are not of this type.
    """
    shape, question = TASK_TYPES[task_type]
    _check(data, task_type)
    used, leaks = without_leaks(data) if drop_leaks else (data, {})
    left_out = dict(data.read.left_out) if data.read else {}
    meanings = dict.fromkeys(left_out, "not usable as published")
    return Config(
        name=f"{name}_{lang}", task=name, lang=lang, shape=shape, labels=data.labels,
        splits={split: _table_as_config(used, split, shape, source.name) for split in used.splits},
        drops=left_out | leaks, meanings=meanings | {check: LEAKS[check] for check in leaks},
        candidates=data.rows.height + sum(left_out.values()), sources=(source,), read=(source.name,),
        definition=_definition(data, question, source.name), split_by="", published=True, pairs=False,
        notes=data.read.notes if data.read else (),
    )  # fmt: skip


def _check(data: AuditInput, task_type: TaskType) -> None:
    """Raises an error if the rows are not of a type."""
    named = {Shape.SENTENCE: "one text", Shape.PAIR: "two texts", Shape.CHOICE: "choices"}
    shape = Shape.PAIR if task_type == "similarity" else TASK_TYPES[task_type][0]
    if data.shape is not shape or (task_type == "minimal-pairs" and len(data.labels) != 2):  # noqa: PLR2004
        found = named.get(data.shape, "many texts")
        raise DiscoprobeError(f"{data.name}: a row holds {found}, which does not fit --task-type {task_type}")
    if task_type == "similarity" and data.rows["score"].null_count():
        raise DiscoprobeError(
            f"{data.name}: the label column holds no numbers, which --task-type similarity needs; name one with --label"
        )


def _definition(data: AuditInput, question: str, source: str) -> str:
    read = f" Read as {data.read.format}." if data.read and data.read.format else ""
    rows = f"Rows, labels and splits are those of the source; they were audited, not chosen.{read}"
    return f"{question}, from {source}.\n\n{rows}"


def _table_as_config(data: AuditInput, split: str, shape: Shape, source: str) -> pa.Table:
    """The rows of one split with the columns of a config."""
    texts, n_context = pl.col("texts"), pl.col("n_context")
    source_columns = {
        Shape.SENTENCE: {
            "text": texts.list.first(),
            "n_words": texts.list.first().str.count_matches(r"\w+").cast(pl.Int32),
        },
        Shape.PAIR: {"sentence1": texts.list.get(0), "sentence2": texts.list.get(1)},
        Shape.SCORED: {"sentence1": texts.list.get(0), "sentence2": texts.list.get(1), "score": pl.col("score")},
        Shape.CHOICE: {
            "context": texts.list.slice(0, n_context),
            "choices": texts.list.slice(n_context),
            "distractor": texts.list.slice(n_context).list.eval(pl.lit(None, dtype=pl.String)),
        },
    }[shape]
    rows = data.split(split).select("id", "label", "pair_id", "group", corpus=pl.lit(source), **source_columns)
    wanted = schema(shape)
    rows = rows.with_columns(pl.lit(None).alias(name) for name in wanted.names if name not in rows.columns)
    return rows.select(wanted.names).to_arrow().cast(wanted)


XWINO: Final = ("lang", "source", "", "text", "tokens", "pronoun", "candidates")
"""Fields of XWinograd's ``dataset.tsv``; the last three are JSON."""
SUFFIXES: Final = (".jsonl", ".json", ".parquet", ".tsv")
TELLING: Final = ("token", "chars", "words", "edges", "overlap", "similarity", "single", "pairwise")
"""Checks that fail because the number of speakers shows which text is the good one."""
CONTRADICTION: Final = frozenset({"negative", "contradiction"})

MEANINGS_AS_SUITE: Final = {
    **MEANINGS_WINOGRAD,
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
        splits={"test": _table_as_suite(pairs, kind, source.name)}, drops=drops,
        meanings={reason: MEANINGS_AS_SUITE[reason] for reason in drops}, candidates=len(records), sources=(source,),
        read=(source.name,), definition=kind.definition, papers=tuple(papers_of(kind.definition)), split_by="",
        published=True, pairs=True, exempt=kind.exempt,
    )  # fmt: skip


def exemptions_of(conditions: tuple[str, ...]) -> Mapping[str, str]:
    """The checks that do not apply to a suite with these conditions → reason."""
    return next((kind.exempt for kind in SUITES.values() if kind.conditions == conditions), {})


def _table_as_suite(pairs: Sequence[Pair], kind: SuiteKind, corpus: str) -> pa.Table:
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
        pairs_of, ("first_candidate", "second_candidate"), 3,
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
