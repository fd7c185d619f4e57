"""Minimal pairs of published datasets as suites, as in CoherenceGym (Beyer et al. 2021).

``winograd-suite`` puts each candidate in the place of the pronoun of a Winograd schema, and compares what follows
(partial scoring, Trinh & Le 2018); ``speaker-suite`` gives two utterances that contradict each other (DialogueNLI) to
two speakers or to one, in both orders.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from discoprobe.builders.audit.frame import UnreadableDataError
from discoprobe.builders.audit.own_configs import ONE_SPEAKER, SPEAKERS_TELL
from discoprobe.builders.config import Config, Shape, papers_of, regions, schema
from discoprobe.loaders import hashing
from discoprobe.loaders.catalogue.treebanks import Source
from discoprobe.loaders.errors import CorpusFormatError
from discoprobe.loaders.tables import read_fields, read_records

Records = Sequence[tuple[str, Mapping[str, Any]]]
"""The place of each record, ``file:line`` or ``file:record``, and the record."""
Pair = tuple[tuple[str, ...], tuple[str, ...], str]
"""The regions of a good and of a bad text, and the condition: which candidate the bad one has."""
WinogradSchema = tuple[str, int, int, tuple[str, str], int]
"""Its text, where the pronoun begins and ends, two candidates, and which of them is right."""

SuiteKind = tuple[Callable[[Records, str, Counter[str]], Iterator[Pair]], tuple[str, ...], int, str, Mapping[str, str]]
"""What makes pairs of records of a language, and counts the reasons why others are left out; what the bad text can be;
the place of the regions that are compared, from 1; the definition; checks of the audit that do not apply → reason."""

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
    pairs_of, conditions, region, definition, exempt = SUITES[task_type]
    left_out = Counter[str]()
    records = [record for file in files for record in _read_file(file)]
    pairs = list(dict.fromkeys(pairs_of(records, lang, left_out)))
    if not pairs:
        reasons = ", ".join(f"{reason} {n}" for reason, n in sorted(left_out.items()))
        raise UnreadableDataError(f"{', '.join(file.name for file in files)}: no pair of {lang} is left ({reasons})")
    rows: dict[str, dict[str, Any]] = {}
    for regions_good, regions_bad, condition in pairs:
        good, bad = (" ".join(filter(None, texts)) for texts in (regions_good, regions_bad))
        row_id = f"{hashing.digest(good, bad):016x}"
        rows[row_id] = {
            "id": row_id, "pair_id": row_id, "group": row_id, "corpus": source.name, "sent_ids": [],
            "label": conditions.index(condition), "sentence_good": good, "sentence_bad": bad,
            "regions_good": list(regions_good), "regions_bad": list(regions_bad), "region": region,
        }  # fmt: skip
    in_hash_order = [rows[row_id] for row_id in sorted(rows)]
    different = {tuple(sorted(good + bad)) for good, bad, _ in pairs}
    left_out["duplicate"] += len(records) - left_out.total() - len(different)
    drops = {reason: n for reason, n in left_out.items() if n}
    return Config(
        name=f"{name}_{lang}", task=name, lang=lang, shape=Shape.SUITE, labels=conditions,
        splits={"test": pa.Table.from_pylist(in_hash_order, schema=schema(Shape.SUITE))}, drops=drops,
        meanings={reason: MEANINGS[reason] for reason in drops}, candidates=len(records), sources=(source,),
        read=(source.name,), definition=definition, papers=papers_of(definition), split_by="",
        published=True, pairs=True, exempt=exempt,
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
    first = {phrase.split()[0].lower() for _, _, _, candidates, _ in schemas for phrase in candidates if " " in phrase}
    words = Counter(word for text, *_ in schemas for word in set(re.findall(r"[^\W\d_]+", text)) if word.islower())
    articles = {word for word in first if words[word] > max(1, FREQUENT * len(schemas))}
    forms = Counter(word for text, *_ in schemas for word in INSIDE.findall(text))
    for text, start, end, candidates, right in schemas:
        phrases = [_write_inside(candidate, articles, forms) for candidate in candidates]
        before, after = text[:start], text[end:]
        if reason := _unusable(before, text[start:end], after, candidates, lang) or (
            "" if all(phrases) else "bare-noun"
        ):
            left_out[reason] += 1
            continue
        texts = []
        for candidate in phrases:
            begins = not before or re.search(r"[.!?]\s+$", before)
            phrase = candidate[:1].upper() + candidate[1:] if begins else candidate
            parts = regions(before + phrase + after, start, start + len(phrase))
            texts.append((" ".join(parts[0].split()), parts[1], " ".join(parts[2].split())))
        mentions = [text.lower().find(candidate.lower()) for candidate in candidates]
        # A candidate that is not mentioned as it is written counts as mentioned at the end.
        first_at, second_at = (at if at >= 0 else len(text) + which for which, at in enumerate(mentions))
        wrong_first = right == (0 if second_at < first_at else 1)
        yield texts[right], texts[1 - right], "first_candidate" if wrong_first else "second_candidate"


def _read_schema(record: Mapping[str, Any]) -> WinogradSchema:
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
    return text, start, start + len(pronoun), (first, second), right


def _unusable(before: str, pronoun: str, after: str, candidates: tuple[str, str], lang: str) -> str:
    """Why a noun phrase cannot be put in; empty if it can."""
    if pronoun != "_" and pronoun.lower() not in PRONOUNS.get(lang, ()):
        return "other-pronoun"
    if before and not before.endswith(" "):
        return "attached"
    if not re.match(r"[.,;:!?]*(\s|$)", after):
        return "attached"
    if pronoun.lower() in PLURAL_PRONOUNS and not all(_is_plural(candidate, lang) for candidate in candidates):
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
            yield ("A:", before, "B:", after), ("A:", before, "A:", after), ONE_SPEAKER[0]


SUITES: Final[Mapping[str, SuiteKind]] = {
    "winograd-suite": (
        schema_pairs, ("first_candidate", "second_candidate"), 3,
        (
            "Does a text go on better after the candidate that a pronoun stands for?\n\n"
            "Winograd schemas as in CoherenceGym (Beyer et al. 2021): the right and the wrong candidate in the place "
            "of the pronoun; what follows should be less probable after the wrong one (region 3). The condition says "
            "which is wrong, the candidate mentioned first or second. An article is written small inside a sentence."
        ),
        {},
    ),
    "speaker-suite": (
        speaker_pairs, ONE_SPEAKER, 4,
        (
            "Is a contradiction less probable if one speaker utters both parts of it?\n\n"
            "Speaker commitment as in CoherenceGym (Beyer et al. 2021), from contradictions of DialogueNLI (Welleck "
            "et al. 2019): said by two speakers (good) or one (bad); the second utterance (region 4) should be less "
            "probable in the bad text. Both orders of every pair of utterances are there."
        ),
        SPEAKERS_TELL,
    ),
}  # fmt: skip
"""Task type → how its suite is made."""
