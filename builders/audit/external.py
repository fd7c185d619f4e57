"""External labelled datasets as configs: the columns of discoprobe's configs, the splits and labels of the source.

``config_of`` makes a config of rows that `inputs` read. ``suite_of`` makes minimal pairs as in CoherenceGym (Beyer et
al. 2021): ``winograd-suite`` puts each candidate in the place of the pronoun of a Winograd schema, and compares what
follows (partial scoring, Trinh & Le 2018); ``speaker-suite`` gives two utterances that contradict each other
(DialogueNLI) to two speakers or to one, in both orders.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import polars as pl
import pyarrow as pa

from discoprobe.builders.audit.frame import COMPARED, AuditInput, UnreadableDataError
from discoprobe.builders.audit.integrity import regrouped, without_leaks
from discoprobe.builders.audit.thresholds import LEAKS
from discoprobe.builders.config import Config, Shape, papers_of, regions, schema
from discoprobe.loaders import hashing
from discoprobe.loaders.catalogue.treebanks import Source
from discoprobe.loaders.errors import CorpusFormatError, DiscoprobeError
from discoprobe.loaders.tables import read_fields, read_records

TaskType = Literal["single", "pair", "entailment", "paraphrase", "similarity", "choice", "minimal-pairs"]
TASK_TYPES: Final[dict[TaskType, tuple[Shape, str]]] = {
    "single": (Shape.SENTENCE, "The label of a text"),
    "pair": (Shape.PAIR, "The label of two texts"),
    "entailment": (Shape.PAIR, "Whether one text follows from the other"),
    "paraphrase": (Shape.PAIR, "Whether two texts say the same"),
    "similarity": (Shape.SCORED, "How similar two sentences are"),
    "choice": (Shape.CHOICE, "The right one of several choices"),
    "minimal-pairs": (Shape.CHOICE, "The acceptable one of two sentences"),
}
"""Type of a row → the columns it gets, and what is asked."""
_COMPARING: Final = frozenset({"entailment", "paraphrase", "similarity"})
"""Types whose labels say how much of one text is in the other, so that overlap is no fault (``COMPARED``)."""
MOST_DROPPED: Final = 0.1
"""Largest share of a split that may be left out because it leaks."""


Leaks = Literal["keep", "drop", "regroup"]


def config_of(  # noqa: PLR0913 (one parameter per fact)
    data: AuditInput, task_type: TaskType, *, name: str, lang: str, source: Source, leaks: Leaks = "keep"
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
        leaks: what is done with rows that splits share: ``keep``; ``drop`` leaves out those of earlier splits, which
            are counted; ``regroup`` divides all rows again, so that rows that share a sentence are in one split.

    Raises:
        DiscoprobeError: the rows are not of this type, or ``drop`` would take more than ``MOST_DROPPED`` of a split.
    """
    shape, question = TASK_TYPES[task_type]
    expected = Shape.PAIR if shape is Shape.SCORED else shape
    if data.shape is not expected or (task_type == "minimal-pairs" and len(data.labels) != 2):  # noqa: PLR2004
        contents = {Shape.SENTENCE: "one text", Shape.PAIR: "two texts", Shape.CHOICE: "choices"}
        content = contents.get(data.shape, "many texts")
        raise DiscoprobeError(f"{data.name}: a row holds {content}, which does not fit --task-type {task_type}")
    if task_type == "similarity" and data.rows["score"].null_count():
        raise DiscoprobeError(
            f"{data.name}: the label column holds no numbers, which --task-type similarity needs; name one with --label"
        )
    used, dropped = without_leaks(data) if leaks == "drop" else (data, {})
    for split, n in data.counts.items():
        if (fewer := n - used.counts.get(split, 0)) > MOST_DROPPED * n:
            raise DiscoprobeError(
                f"--drop-leaks would leave out {fewer:,} of the {n:,} rows of {split}, more than a tenth. Keep them "
                "(the card says what leaks), or use --regroup: it divides all rows again, so that rows that share a "
                "sentence are in one split"
            )
    used, remark = regrouped(data) if leaks == "regroup" else (used, "")
    if remark and len(used.splits) < len(data.splits):
        raise DiscoprobeError(f"--regroup: {remark}; so a split has no rows. Keep the splits as they are published")
    texts, n_context = pl.col("texts"), pl.col("n_context")
    first, second = (texts.list.get(at).alias(f"sentence{at + 1}") for at in (0, 1))
    columns: dict[Shape, list[pl.Expr]] = {
        Shape.SENTENCE: [
            texts.list.first().alias("text"),
            texts.list.first().str.count_matches(r"\w+").cast(pl.Int32).alias("n_words"),
        ],
        Shape.PAIR: [first, second],
        Shape.SCORED: [first, second, pl.col("score")],
        Shape.CHOICE: [
            texts.list.slice(0, n_context).alias("context"),
            texts.list.slice(n_context).alias("choices"),
            texts.list.slice(n_context).list.eval(pl.lit(None, dtype=pl.String)).alias("distractor"),
        ],
    }
    target = schema(shape)
    splits = {}
    for split in used.splits:
        rows = used.split(split).select("id", "label", "pair_id", "group", *columns[shape], corpus=pl.lit(source.name))
        rows = rows.with_columns(pl.lit(None).alias(column) for column in target.names if column not in rows.columns)
        splits[split] = rows.select(target.names).to_arrow().cast(target)
    left_out = dict(data.read.left_out) if data.read else {}
    meanings = dict.fromkeys(left_out, "not usable as published")
    read = f" Read as {data.read.format}." if data.read and data.read.format else ""
    of_source = "Rows and labels" if remark else "Rows, labels and splits"
    about = f"{of_source} are those of the source; they were audited, not chosen.{read}"
    exempt = COMPARED if task_type in _COMPARING else data.exempt
    return Config(
        name=f"{name}_{lang}", task=name, lang=lang, shape=shape, labels=data.labels, splits=splits,
        drops=left_out | dropped, meanings=meanings | {check: LEAKS[check] for check in dropped},
        candidates=data.rows.height + sum(left_out.values()), sources=(source,), read=(source.name,),
        definition=f"{question}, from {source.name}.\n\n{about}", split_by="", published=True, pairs=False,
        notes=(*(data.read.notes if data.read else ()), *filter(None, [remark])), exempt=exempt,
    )  # fmt: skip


Records = Sequence[tuple[str, Mapping[str, Any]]]
"""The place of each record, ``file:line`` or ``file:record``, and the record."""

XWINO: Final = ("lang", "source", "", "text", "tokens", "pronoun", "candidates")
"""Fields of XWinograd's ``dataset.tsv``; the last three are JSON."""
SUFFIXES: Final = (".jsonl", ".json", ".parquet", ".tsv")
MEANINGS: Final = {
    "other-language": "a schema of another language",
    "other-pronoun": "a pronoun for which a noun phrase cannot simply stand (possessives, clitics)",
    "attached": "the pronoun is written together with a word (*qu'il*, *he's*)",
    "bare-noun": "a candidate without definite article that is no name",
    "number": "a plural pronoun, and a candidate that may be singular",
    "nothing-after": "nothing follows the pronoun that could be compared",
    "no-contradiction": "two utterances that do not contradict each other",
    "duplicate": "the same texts as an earlier row",
}
"""Reason why a record is left out → what it means."""


class Pair(msgspec.Struct, frozen=True):
    """The regions of a good and of a bad text, and the condition: which candidate the bad one has."""

    good: tuple[str, ...]
    bad: tuple[str, ...]
    condition: str


class SuiteKind(msgspec.Struct, frozen=True):
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
    records = [record for file in files for record in _read_file(file)]
    pairs = list(dict.fromkeys(kind.pairs(records, lang, left_out)))
    if not pairs:
        reasons = ", ".join(f"{reason} {n}" for reason, n in sorted(left_out.items()))
        raise UnreadableDataError(f"{', '.join(file.name for file in files)}: no pair of {lang} is left ({reasons})")
    rows: dict[str, dict[str, Any]] = {}
    for pair in pairs:
        good, bad = (" ".join(filter(None, texts)) for texts in (pair.good, pair.bad))
        row_id = f"{hashing.digest(good, bad):016x}"
        rows[row_id] = {
            "id": row_id, "pair_id": row_id, "group": row_id, "corpus": source.name, "sent_ids": [],
            "label": kind.conditions.index(pair.condition), "sentence_good": good, "sentence_bad": bad,
            "regions_good": list(pair.good), "regions_bad": list(pair.bad), "region": kind.region,
        }  # fmt: skip
    in_hash_order = [rows[row_id] for row_id in sorted(rows)]
    different = {tuple(sorted(pair.good + pair.bad)) for pair in pairs}
    left_out["duplicate"] += len(records) - left_out.total() - len(different)
    drops = {reason: n for reason, n in left_out.items() if n}
    return Config(
        name=f"{name}_{lang}", task=name, lang=lang, shape=Shape.SUITE, labels=kind.conditions,
        splits={"test": pa.Table.from_pylist(in_hash_order, schema=schema(Shape.SUITE))}, drops=drops,
        meanings={reason: MEANINGS[reason] for reason in drops}, candidates=len(records), sources=(source,),
        read=(source.name,), definition=kind.definition, papers=tuple(papers_of(kind.definition)), split_by="",
        published=True, pairs=True, exempt=kind.exempt,
    )  # fmt: skip


def _read_file(file: Path) -> Records:
    """The records of a file with their places."""
    records: list[tuple[str, Mapping[str, Any]]] = []
    try:
        if file.suffix == ".tsv":
            for number, fields in read_fields(file).iter_rows():
                try:
                    record = dict(zip(XWINO, fields, strict=True))
                    record |= {name: json.loads(record[name]) for name in XWINO[4:]}
                except ValueError as error:
                    raise CorpusFormatError(f"malformed: {error}", path=file.name, line=number) from error
                records.append((f"{file.name}:{number}", record))
        else:
            for number, row in read_records(file, file.name):
                if isinstance(row, CorpusFormatError):
                    raise row
                records.append((f"{file.name}:{number}", row))
    except CorpusFormatError as error:
        raise UnreadableDataError(str(error)) from error
    return records


def exemptions_of(conditions: tuple[str, ...]) -> Mapping[str, str]:
    """The checks that do not apply to a suite with these conditions → reason."""
    return next((kind.exempt for kind in SUITES.values() if kind.conditions == conditions), {})


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


class _Schema(msgspec.Struct, frozen=True):
    """A Winograd schema: its text, the place of the pronoun, two candidates, and which of them is right."""

    text: str
    start: int
    end: int
    candidates: tuple[str, str]
    right: int


def schema_pairs(records: Records, lang: str, left_out: Counter[str]) -> Iterator[Pair]:
    """Each Winograd schema with the right candidate in the place of the pronoun, and with the wrong one."""
    schemas = []
    for place, record in records:
        language = str(record.get("lang", lang))
        if OTHER_CODES.get(language, language) != lang:
            left_out["other-language"] += 1
            continue
        try:
            schemas.append(_read_schema(record))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            what = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise UnreadableDataError(f"{place}: not a Winograd schema: {what}") from error
    # Articles are the frequent words, in lower case, that begin candidates of several words.
    first = {phrase.split()[0].lower() for each in schemas for phrase in each.candidates if " " in phrase}
    words = Counter(word for each in schemas for word in set(re.findall(r"[^\W\d_]+", each.text)) if word.islower())
    articles = {word for word in first if words[word] > max(1, FREQUENT * len(schemas))}
    forms = Counter(word for each in schemas for word in INSIDE.findall(each.text))
    for each in schemas:
        phrases = [_write_inside(candidate, articles, forms) for candidate in each.candidates]
        if reason := _unusable(each, lang) or ("" if all(phrases) else "bare-noun"):
            left_out[reason] += 1
            continue
        before, after = each.text[: each.start], each.text[each.end :]
        texts = []
        for candidate in phrases:
            begins = not before or re.search(r"[.!?]\s+$", before)
            phrase = candidate[:1].upper() + candidate[1:] if begins else candidate
            parts = regions(before + phrase + after, each.start, each.start + len(phrase))
            texts.append((" ".join(parts[0].split()), parts[1], " ".join(parts[2].split())))
        mentions = [each.text.lower().find(candidate.lower()) for candidate in each.candidates]
        # A candidate that is not mentioned as it is written counts as mentioned at the end.
        first_at, second_at = (at if at >= 0 else len(each.text) + which for which, at in enumerate(mentions))
        wrong_first = each.right == (0 if second_at < first_at else 1)
        yield Pair(texts[each.right], texts[1 - each.right], "first_candidate" if wrong_first else "second_candidate")


def _read_schema(record: Mapping[str, Any]) -> _Schema:
    """A record of XWinograd, of WSC273 (``pronoun``, ``pronoun_loc``), or with a gap (``_`` in ``sentence``)."""
    if "candidates" in record:
        names, truth = zip(*((each[0], bool(each[3])) for each in record["candidates"]), strict=True)
        text, right, pronoun = record["text"], truth.index(True), record["pronoun"][2][0].strip(MARKS)
        # The tokens before the pronoun are known, and need not be those of the text.
        nth = sum(token.strip(MARKS) == pronoun for token in record["tokens"][: record["pronoun"][1][0]])
        places = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(pronoun)}(?!\w)", text)]
        if nth >= len(places):
            raise ValueError(f"'{pronoun}' occurs {len(places)} times in the text, but is token {nth + 1} of its kind")
        start = places[nth]
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


def _unusable(winograd: _Schema, lang: str) -> str:
    """Why a noun phrase cannot be put in; empty if it can."""
    pronoun = winograd.text[winograd.start : winograd.end]
    before, after = winograd.text[: winograd.start], winograd.text[winograd.end :]
    if pronoun != "_" and pronoun.lower() not in PRONOUNS.get(lang, ()):
        return "other-pronoun"
    if before and not before.endswith(" "):
        return "attached"
    if not re.match(r"[.,;:!?]*(\s|$)", after):
        return "attached"
    if pronoun.lower() in PLURAL_PRONOUNS and not all(_is_plural(candidate, lang) for candidate in winograd.candidates):
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


def _write_inside(candidate: str, articles: set[str], forms: Mapping[str, int]) -> str:
    """A candidate as it is written inside a sentence; empty for a noun without definite article.

    A name is mostly written with a capital inside the sentences of the data; ``forms`` counts the words there.
    """
    first = re.split(r"\W", candidate, maxsplit=1)[0]
    if first.lower() in INDEFINITE:
        return ""
    if first.lower() in articles:
        return candidate[:1].lower() + candidate[1:]
    return "" if candidate[:1].islower() or forms[first.lower()] > forms[first] else candidate


TELLING: Final = ("token", "chars", "words", "edges", "overlap", "similarity", "single", "pairwise")
"""Checks that fail because the number of speakers shows which text is the good one."""
CONTRADICTION: Final = frozenset({"negative", "contradiction"})


def speaker_pairs(records: Records, _lang: str, left_out: Counter[str]) -> Iterator[Pair]:
    """Two utterances that contradict each other, said by two speakers (good) or by one (bad), in both orders."""
    for place, record in records:
        label = record.get("original_label", record.get("label"))
        utterances = [record.get(name) for name in ("sentence1", "sentence2")]
        if not isinstance(label, str) or not all(isinstance(text, str) and text.strip() for text in utterances):
            columns = ", ".join(record)
            raise UnreadableDataError(f"{place}: expected label, sentence1 and sentence2 with texts, found {columns}")
        if label not in CONTRADICTION:
            left_out["no-contradiction"] += 1
            continue
        first, second = (" ".join(str(text).split()) for text in utterances)
        for before, after in ((first, second), (second, first)):
            yield Pair(("A:", before, "B:", after), ("A:", before, "A:", after), "same_speaker")


SUITES: Final = {
    "winograd-suite": SuiteKind(
        schema_pairs, ("first_candidate", "second_candidate"), 3,
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
