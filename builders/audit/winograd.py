"""Winograd schemas as pairs of texts: the right or the wrong candidate takes the place of the pronoun."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from discoprobe.builders.audit.frame import UnreadableDataError
from discoprobe.builders.config import regions

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

MEANINGS: Final = {
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
