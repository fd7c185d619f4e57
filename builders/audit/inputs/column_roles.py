"""Which columns of a table hold text, choices and label: as the user says, as a published set has them, or by guessing.

Where several columns fit, none is taken: the message lists them and the option that names one.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

import polars as pl

from discoprobe.builders.audit.frame import UnreadableDataError
from discoprobe.builders.audit.inputs.label_columns import suspicion
from discoprobe.builders.audit.inputs.published_columns import Roles, published_roles
from discoprobe.builders.audit.inputs.reading import Reading
from discoprobe.loaders.running_words import UNSPACED

_LABELS = (
    "label", "labels", "gold_label", "gold", "answer", "answerkey", "class", "category", "target", "y", "correct",
    "sentiment", "tag", "is_duplicate", "annotation", "verdict", "stance", "intent", "emotion",
)  # fmt: skip
_SURE = ("label", "gold_label")
"""A column with such a name is the label, even if another column could be one, too."""
_TEXTS = (
    "text", "sentence", "content", "context", "premise", "passage", "question", "hypothesis", "sentences", "input",
    "paragraph", "document", "review", "tweet", "utterance", "body",
)  # fmt: skip
_CHOICE = re.compile(r"(?i)^(mc_answer|choice|option|opt|ending|answer|sol|candidate|alternative)_?([0-9]|[a-e])$")
_CHOICES = ("choices", "endings", "options", "candidates", "alternatives", "answers")
_NUMBERED = re.compile(r"(?i)^(?:s|sent|text|arg|unit)[a-z]*_?(?:[0-9]{1,2}|[ab])$")
_ASIDE = re.compile(
    r"(?i)(?:^|[_ .])(?:id|ids|idx|index|url|uri|link|lang|language|parse|tokenized|toks|tokens|lemma|lemmas|pos|ner|"
    r"tags|hash|md5|sha|timestamp|date|author|user|promptid|pairid|captionid|split|genre|domain|source|dataset|ds)$"
    r"|(?:ID|Id)$|_parse$"
)
"""Names of columns that hold neither text nor label."""
_SHORT, _SHORT_UNSPACED = 12, 4
"""Smallest mean length of running text in characters, in scripts with and without spaces between words."""
_MOSTLY = 0.5
"""Smallest share of values with several words, or in a script without spaces, in a column of running text."""
_LOOKED_AT = 500


def roles_of(name: str, frame: pl.DataFrame, reading: Reading, class_names: Collection[str] = ()) -> Roles:
    """The roles of the columns of a table.

    ``class_names`` are columns that are known to hold classes.

    Raises:
        UnreadableDataError: a column is not there, or the guess is one between several.
    """
    given = [*reading.text, *reading.choices, *([reading.label] if reading.label else [])]
    for column in (*given, *([reading.pair] if reading.pair else [])):
        if column not in frame.columns:
            raise UnreadableDataError(f"{name}: no column '{column}'; there are {', '.join(frame.columns)}")
    pair = reading.pair or ("pair_id" if "pair_id" in frame.columns else None)
    frame = frame.select(
        column for column in frame.columns if frame[column].null_count() < frame.height or column in given
    )
    known = published_roles(frame.columns, with_choices=bool(_choice_columns(frame, reading.label)))
    if known and not reading.text and not reading.choices:
        if reading.label is None:
            _trust(name, frame, known.label)
        labels = (reading.label,) if reading.label else known.labels
        return replace(known, labels=labels, exclude=(*known.exclude, *reading.exclude), pair=pair)
    label, notes = (reading.label, ()) if reading.label else _guessed_label(name, frame, class_names)
    if frame.schema[label].is_nested():
        raise UnreadableDataError(f"{name}: {suspicion(frame[label])}; name another column with --label")
    choices = reading.choices or (() if reading.text else _guessed_choices(name, frame, label))
    texts = reading.text or _guessed_texts(name, frame, {label, *choices}, needed=not choices)
    return Roles("", texts, (label,), choices, exclude=reading.exclude, pair=pair, notes=notes)


def _guessed_label(name: str, frame: pl.DataFrame, class_names: Collection[str]) -> tuple[str, tuple[str, ...]]:
    classes = [column for column in frame.columns if column in class_names]
    if len(classes) == 1:
        return classes[0], ()
    called = [column for wanted in _LABELS for column in frame.columns if column.lower() == wanted]
    sure = [column for column in called if column.lower() in _SURE]
    few = [column for column in called if not _is_measure(frame[column])]
    if sure or len(few or called) == 1:
        label = sure[0] if sure else (few or called)[0]
        _trust(name, frame, label)
        return label, ()
    candidates = few or _few(frame)
    plausible = [column for column in candidates if not suspicion(frame[column]) and not _is_prose(frame, column)]
    if len(plausible) != 1:
        doubts = "; ".join(doubt for column in candidates if (doubt := suspicion(frame[column])))
        among = _listed(frame, plausible or list(frame.columns))
        why = f" ({doubts})" if doubts and not plausible else ""
        raise UnreadableDataError(f"{name}: which column holds the label{why}? Name it with --label: {among}")
    return plausible[0], (f"the label column was guessed: '{plausible[0]}' is the only one with few values",)


def _trust(name: str, frame: pl.DataFrame, label: str) -> None:
    """Raises an error if the values of a column that is called a label are not labels."""
    if doubt := suspicion(frame[label], called_label=True):
        others = _listed(frame, [column for column in _few(frame) if column != label]) or "none looks like one"
        raise UnreadableDataError(f"{name}: {doubt}; name another column with --label: {others}")


def _few(frame: pl.DataFrame) -> list[str]:
    """Columns with the few values of a label (at most one for five rows) that are not named as something else."""
    few = [
        column
        for column in frame.columns
        if not _ASIDE.search(column) and not frame.schema[column].is_nested() and not _is_measure(frame[column])
    ]
    return [column for column in few if 1 < frame[column].n_unique() <= max(2, frame.height // 5)]


def _is_measure(column: pl.Series) -> bool:
    return column.dtype.is_float() and not (column.drop_nulls() == column.drop_nulls().round()).all()


def _guessed_choices(name: str, frame: pl.DataFrame, label: str) -> tuple[str, ...]:
    guesses = _choice_columns(frame, label)
    if len(guesses) > 1:
        among = "; ".join(", ".join(columns) for columns in guesses)
        raise UnreadableDataError(f"{name}: which columns hold the choices? Name them with --choices: {among}")
    return guesses[0] if guesses else ()


def _choice_columns(frame: pl.DataFrame, label: str | None) -> list[tuple[str, ...]]:
    """Columns that may hold choices by their names: some that are numbered, or one with lists."""
    numbered: dict[str, list[str]] = defaultdict(list)
    for column in frame.columns:
        if (match := _CHOICE.match(column)) and frame.schema[column] == pl.String and column != label:
            numbered[match[1].lower()].append(column)
    guesses = [tuple(columns) for columns in numbered.values() if len(columns) > 1]
    lists = [c for c in frame.columns if c.lower() in _CHOICES and frame.schema[c] == pl.List(pl.String) and c != label]
    return guesses + [(column,) for column in lists]


def _guessed_texts(name: str, frame: pl.DataFrame, others: set[str], *, needed: bool) -> tuple[str, ...]:
    prose = [column for column in frame.columns if column not in others and _is_prose(frame, column)]
    called = [column for column in prose if _named_text(column)]
    strings = [column for column in frame.columns if column not in others and _holds_texts(frame, column)]
    strings = [column for column in strings if _named_text(column)]
    if len(prose) == 1 or (prose and prose == called and _one_kind(called)):
        return tuple(prose)
    if not prose and (len(strings) == 1 or not needed):
        return tuple(strings)
    among = _listed(frame, prose or [column for column in frame.columns if column not in others])
    raise UnreadableDataError(f"{name}: which columns hold the text? Name them in order with --text: {among}")


def _one_kind(columns: Sequence[str]) -> bool:
    """Whether columns are one text, parts of a numbered row, or a text and its question."""
    return len(columns) == 1 or all(_NUMBERED.match(column) for column in columns)


def _named_text(column: str) -> bool:
    return column.lower() in _TEXTS or _NUMBERED.match(column) is not None


def _holds_texts(frame: pl.DataFrame, column: str) -> bool:
    return frame.schema[column] in (pl.String, pl.List(pl.String))


def _is_prose(frame: pl.DataFrame, column: str) -> bool:
    """Whether a column holds running text: strings of some length that mostly differ, or lists of them."""
    if not _holds_texts(frame, column):
        return False
    values = frame[column].drop_nulls().head(_LOOKED_AT)
    values = values.explode().drop_nulls() if values.dtype == pl.List(pl.String) else values
    if not len(values):
        return False
    if _named_text(column):
        return True
    if _ASIDE.search(column) or values.n_unique() <= 2:  # noqa: PLR2004
        return False
    spaced, unspaced = (float(values.str.contains(pattern).to_numpy().mean()) for pattern in (r"\S\s+\S", UNSPACED))
    least = _SHORT if spaced >= unspaced else _SHORT_UNSPACED
    if values.n_unique() <= len(values) // 10:  # names of classes, or the text of several rows, such as a question
        least *= 2
    return max(spaced, unspaced) >= _MOSTLY and float(values.str.len_chars().to_numpy().mean()) >= least


def _listed(frame: pl.DataFrame, columns: Sequence[str]) -> str:
    """Columns with an example of what they hold, for a message."""
    shown = [f"'{column}' ({_example(frame[column])})" for column in columns[:12]]
    return ", ".join(shown) + (f" and {len(columns) - 12} more" if len(columns) > 12 else "")  # noqa: PLR2004


def _example(values: pl.Series) -> str:
    value = next(iter(values.drop_nulls().head(1).to_list()), "")
    text = " ".join(str(value).split())
    return text if len(text) <= 24 else f"{text[:23]}…"  # noqa: PLR2004
