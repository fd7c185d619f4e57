"""Tables as rows for the audit: a label column and text columns, or the good and the bad sentence of minimal pairs.

``roles_of`` says which columns hold text, choices and label: those that the user names, those of a published dataset
(``published.toml``), or those that are guessed by names and values. Where several columns fit, none is taken: the
message lists them and the option that names one. ``read_columns`` makes rows of them; ``index_labels`` makes label
names of a column of any type. ``read_pairs`` reads minimal pairs.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

import langcodes
import polars as pl
from msgspec.structs import replace

from discoprobe.builders.audit.frame import (
    SCHEMA,
    AuditInput,
    Provenance,
    UnreadableDataError,
    metadata_of,
    most_choices,
    of_others,
    shape_of,
    with_used_labels,
)
from discoprobe.builders.audit.inputs.data_files import Reading, Result, Skipped
from discoprobe.builders.audit.inputs.published import COLUMNS, PAIRS, Roles
from discoprobe.builders.config import Shape
from discoprobe.loaders import hashing
from discoprobe.loaders.words import UNSPACED

_LABELS = (
    "label", "labels", "gold_label", "gold", "answer", "answerkey", "class", "category", "target", "y", "correct",
    "sentiment", "tag", "is_duplicate", "annotation", "verdict", "stance", "intent", "emotion",
)  # fmt: skip
_BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_SURE = ("label", "gold_label")
"""A column with such a name is the label, even if another column could be one, too."""
_TEXTS = (
    "text", "sentence", "content", "context", "premise", "passage", "question", "hypothesis", "sentences", "input",
    "paragraph", "document", "review", "tweet", "utterance", "body", "tokens", "words",
)  # fmt: skip
_CHOICE = re.compile(r"(?i)^(mc_answer|choice|option|opt|ending|answer|sol|candidate|alternative)_?([0-9]|[a-e])$")
_LETTER = re.compile(r"[A-Z]")
_CHOICES = ("choices", "endings", "options", "candidates", "alternatives", "answers")
_NUMBERED = re.compile(r"(?i)^(?:s|sent|text|arg|unit)[a-z]*_?(?:[0-9]{1,2}|[ab])$")
_NOT_TEXT = re.compile(
    r"(?i)(?:^|[_ .])(?:id|ids|idx|index|url|uri|link|lang|language|parse|tokenized|toks|tokens|lemma|lemmas|pos|ner|"
    r"tags|hash|md5|sha|timestamp|date|author|user|promptid|pairid|captionid|split|genre|domain|source|dataset|ds)$"
    r"|(?:ID|Id)$|_parse$"
)
"""Names of columns that hold neither text nor label."""
_SHORT, _SHORT_UNSPACED = 12, 4
"""Smallest mean length of running text in characters, in scripts with and without spaces between words."""
_MOSTLY = 0.5
"""Smallest share of values with several words, or in a script without spaces, in a column of running text."""
_FEW = 0.02
"""Largest share of words that contain a space."""
_SEVERAL = 0.02
"""Smallest share of rows with commas between labels that other rows have alone, in a column of several labels."""
_SAMPLE = 500


def roles_of(name: str, frame: pl.DataFrame, reading: Reading, class_names: Collection[str] = ()) -> Roles:
    """The roles of the columns of a table.

    ``class_names`` are columns that are known to hold classes.

    Raises:
        UnreadableDataError: a column is not there, or the guess is one between several.
    """
    named = [*reading.text, *reading.choices, *([reading.label] if reading.label else [])]
    for column in (*named, *filter(None, (reading.pair, reading.group))):
        if column not in frame.columns:
            raise UnreadableDataError(f"{name}: no column '{column}'; there are {', '.join(frame.columns)}")
    pair = reading.pair or ("pair_id" if "pair_id" in frame.columns else None)
    frame = frame.select(
        column for column in frame.columns if frame[column].null_count() < frame.height or column in named
    )
    has_choices = bool(_choice_columns(frame, reading.label))
    for record in () if reading.text or reading.choices else COLUMNS:
        roles = record.written_as(frame.columns)
        labels = [column for column in roles.labels if column in frame.columns]
        if labels and roles.required <= {*frame.columns} and (roles.choices or not has_choices):  # else no BoolQ
            if reading.label is None:
                _check_label(name, frame, labels[0])
            label, exclude = reading.label or labels[0], (*roles.exclude, *reading.exclude)
            return replace(roles, labels=(label,), exclude=exclude, pair=pair)
    label, notes = (reading.label, ()) if reading.label else _guess_label(name, frame, class_names)
    if frame.schema[label].is_nested():
        raise UnreadableDataError(f"{name}: {suspicion(frame[label])}; name another column with --label")
    choices = reading.choices
    if not choices and not reading.text:
        guesses = _choice_columns(frame, label)
        if len(guesses) > 1:
            among = "; ".join(", ".join(columns) for columns in guesses)
            raise UnreadableDataError(f"{name}: which columns hold the choices? Name them with --choices: {among}")
        choices = guesses[0] if guesses else ()
    texts = reading.text or _guess_texts(name, frame, label, choices)
    return Roles("", texts, (label,), choices, exclude=reading.exclude, pair=pair, notes=notes)


def _guess_label(name: str, frame: pl.DataFrame, class_names: Collection[str]) -> tuple[str, tuple[str, ...]]:
    classes = [column for column in frame.columns if column in class_names]
    if len(classes) == 1:
        return classes[0], ()
    called = [column for usual in _LABELS for column in frame.columns if column.lower() == usual]
    naming = [
        column for column in called if any(_names_choice(frame, column, c) for c in _choice_columns(frame, column))
    ]
    called = naming if len(naming) == 1 else called
    sure = [column for column in called if column.lower() in _SURE]
    classes = [column for column in called if not _is_measure(frame[column])]
    if sure or len(classes or called) == 1:
        label = sure[0] if sure else (classes or called)[0]
        _check_label(name, frame, label)
        return label, ()
    parts = [column for column in frame.columns if _SURE[0] in map(str.lower, _BETWEEN_WORDS.split(column))]
    if not called and len(parts) == 1 and not suspicion(frame[parts[0]]):
        return parts[0], (f"the label column was guessed: '{parts[0]}' is the only one called a label",)
    candidates = classes or _label_like(frame)
    plausible = [column for column in candidates if not suspicion(frame[column]) and not _is_prose(frame, column)]
    if len(plausible) != 1:
        doubts = "; ".join(doubt for column in candidates if (doubt := suspicion(frame[column])))
        among = _list_columns(frame, plausible or list(frame.columns))
        why = f" ({doubts})" if doubts and not plausible else ""
        raise UnreadableDataError(f"{name}: which column holds the label{why}? Name it with --label: {among}")
    return plausible[0], (f"the label column was guessed: '{plausible[0]}' is the only one with few values",)


def _check_label(name: str, frame: pl.DataFrame, label: str) -> None:
    """Raises an error if the values of a column that is called a label are not labels."""
    if doubt := suspicion(frame[label], called_label=True):
        others = _list_columns(frame, [column for column in _label_like(frame) if column != label])
        others = others or "none looks like one"
        raise UnreadableDataError(f"{name}: {doubt}; name another column with --label: {others}")


def suspicion(labels: pl.Series, *, called_label: bool = False) -> str:
    """What the values look like if they are not labels (a header, ids, language codes); empty if they may be labels.

    If the column is called a label (``called_label``), ``no`` and ``si`` are labels, not language codes.
    """
    if labels.dtype.is_nested():
        return f"'{labels.name}' holds lists: a row needs one label"
    if labels.dtype != pl.String or numbers_of(labels) is not None:
        return ""
    values = labels.drop_nulls()
    distinct = sorted(values.unique().to_list())
    header = [value for value in distinct if value.strip().lower() in {labels.name.lower(), "label", "gold_label"}]
    is_language = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}")  # as in spa_Latn; people write jp for Japanese
    in_languages = all(
        is_language.fullmatch(value)
        or (re.fullmatch(r"[A-Za-z]{2}", value) and (value.lower() == "jp" or langcodes.tag_is_valid(value)))
        for value in distinct
    )
    if several := several_labels(values):
        return f"'{labels.name}' {several}"
    looks = {
        "a header": bool(header) and (values == header[0]).sum() == 1,
        "language codes": not called_label and bool(distinct) and in_languages,
        "ids": len(distinct) > max(_MANY, len(values) // 2)
        or (len(distinct) > 1 and all(re.fullmatch(r"[A-Za-z]{1,6}[-_]?\d{2,}", value) for value in distinct)),
    }
    what = next((what for what, applies in looks.items() if applies), "")
    return f"the values of '{labels.name}' look like {what} ({', '.join((header or distinct)[:3])})" if what else ""


def several_labels(values: pl.Series) -> str:
    """What is wrong with labels of which some are several, with commas between them; empty if nothing is."""
    divided = values.str.split(",").list.eval(pl.element().str.strip_chars())
    several, alone = divided.filter(divided.list.len() > 1), divided.filter(divided.list.len() == 1).explode().unique()
    if len(several) <= _SEVERAL * len(values) or not several.explode().is_in(alone.implode()).all():
        return ""
    return f"holds several labels ({', '.join(several[0])}): a row needs one label"


def _label_like(frame: pl.DataFrame) -> list[str]:
    """Columns with the few values of a label (at most one for five rows) that are not named as something else."""
    return [
        column
        for column in frame.columns
        if not _NOT_TEXT.search(column) and not frame.schema[column].is_nested() and not _is_measure(frame[column])
        and 1 < frame[column].n_unique() <= max(2, frame.height // 5)
    ]  # fmt: skip


_NUMBER = r"(?i)^\s*[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|inf(?:inity)?)\s*$"


def numbers_of(column: pl.Series) -> pl.Series | None:
    """The values as numbers, if all are written as numbers (also ``nan`` and ``inf``); nulls stay."""
    if column.dtype.is_numeric():
        return column.cast(pl.Float64)
    if column.dtype != pl.String or not column.head(_SAMPLE).str.contains(_NUMBER).all():
        return None
    return column.str.strip_chars().cast(pl.Float64, strict=False) if column.str.contains(_NUMBER).all() else None


def _is_measure(column: pl.Series) -> bool:
    """Whether a column holds decimal numbers."""
    numbers = None if column.dtype.is_integer() else numbers_of(column.drop_nulls())
    return numbers is not None and not (numbers == numbers.round()).all()


def _choice_columns(frame: pl.DataFrame, label: str | None) -> list[tuple[str, ...]]:
    """Columns that may hold choices: some that are numbered, that the label names by a letter, or one with lists."""
    numbered: dict[str, list[str]] = defaultdict(list)
    for column in frame.columns:
        if (
            (match := _CHOICE.match(column))
            and frame.schema[column] == pl.String
            and column != label
            and numbers_of(frame[column]) is None
        ):
            numbered[match[1].lower()].append(column)
    guesses = [tuple(columns) for columns in numbered.values() if len(columns) > 1]
    lists = [c for c in frame.columns if c.lower() in _CHOICES and frame.schema[c] == pl.List(pl.String) and c != label]
    letters = sorted(column for column in frame.columns if _LETTER.fullmatch(column) and column != label)
    values = {*frame[label].cast(pl.String).str.strip_chars().drop_nulls().unique()} if label and letters else set()
    lettered = [tuple(letters)] if len(values) > 1 and values <= {*letters} else []
    return [*guesses, *lettered, *((column,) for column in lists)]


def _names_choice(frame: pl.DataFrame, label: str, choices: Sequence[str]) -> bool:
    """Whether the values of a column are places of choices, from 0 or from 1."""
    numbers = numbers_of(frame[label].drop_nulls())
    lengths = frame[choices[0]].list.len() if len(choices) == 1 else pl.Series([len(choices)])
    return numbers is not None and bool(numbers.is_between(0, lengths.max()).all())


def _guess_texts(name: str, frame: pl.DataFrame, label: str, choices: Sequence[str]) -> tuple[str, ...]:
    """The columns of running text; several only if they are parts of a numbered row, or what choices are about."""
    others, needed = {label, *choices}, not choices
    prose = [column for column in frame.columns if column not in others and _is_prose(frame, column)]
    prose = [column for at, column in enumerate(prose) if not _repeats_one_of(prose[:at], frame, column)]
    of_choices = bool(choices) and all(column.lower() in _TEXTS for column in prose)  # a passage and a question
    if len(prose) == 1 or (prose and (of_choices or all(_NUMBERED.match(column) for column in prose))):
        _check_other_inputs(name, frame, prose, label, others)
        return tuple(prose)
    texts = [
        column
        for column in frame.columns
        if column not in others and _has_text_name(column) and frame.schema[column] in (pl.String, pl.List(pl.String))
    ]
    if not prose and (len(texts) == 1 or not needed):
        return tuple(texts)
    among = _list_columns(frame, prose or [column for column in frame.columns if column not in others])
    offer = f"; or with --choices those of which '{label}' says the right one" * _says_which(frame, label, prose)
    raise UnreadableDataError(f"{name}: which columns hold the text? Name them in order with --text: {among}{offer}")


def _repeats_one_of(others: Sequence[str], frame: pl.DataFrame, column: str) -> bool:
    """Whether a column has in most rows the text of another one, as ``original`` does in JCoLA."""
    texts = [name for name in others if frame.schema[name] == frame.schema[column] == pl.String]
    return any(frame.select((pl.col(name) == pl.col(column)).mean()).item() > _MOSTLY for name in texts)


def _says_which(frame: pl.DataFrame, label: str, texts: Sequence[str]) -> bool:
    """Whether a label can name one of some texts: by its number or letter, or as the same text."""
    texts = [column for column in texts if frame.schema[column] == pl.String]
    if len(texts) < 2:  # noqa: PLR2004
        return False
    labels = frame[label].cast(pl.String).str.strip_chars()
    same = frame.select(pl.any_horizontal(pl.col(column).cast(pl.String) == labels for column in texts).mean()).item()
    if same >= _MOSTLY:
        return True
    distinct, most = {*labels.drop_nulls().str.to_uppercase().to_list()}, {len(texts), len(texts) - 1}
    places = ([str(at) for at in range(27)], [str(at) for at in range(1, 27)], [chr(ord("A") + at) for at in range(26)])
    return len(distinct) > 1 and any(distinct == {*names[:n]} for names in places for n in most)


def _check_other_inputs(name: str, frame: pl.DataFrame, texts: Sequence[str], label: str, others: set[str]) -> None:
    """Raises an error if another column may be an input, too: lists (keywords), or a word that is asked about."""
    beside = f"the text '{texts[0]}'" if len(texts) == 1 else "the texts"
    found = {
        f"holds lists beside {beside}": _lists_beside(frame, texts, label, others),
        f"says which of two labels {beside} has": _words_asked_about(frame, texts, label, others),
    }
    for what, columns in found.items():
        if columns:
            both, alone = (" ".join(f"--text {column}" for column in named) for named in ((*texts, *columns), texts))
            raise UnreadableDataError(
                f"{name}: {_list_columns(frame, columns)} {what}; say with {both} that they belong to a row, or with "
                f"{alone} that they do not"
            )


def _lists_beside(frame: pl.DataFrame, texts: Sequence[str], label: str, others: set[str]) -> list[str]:
    """Columns with lists of strings that are neither the words of a text nor labels, such as those of annotators."""
    if any(frame.schema[text] != pl.String for text in texts):
        return []
    length = pl.sum_horizontal(pl.col(*texts).str.replace_all(r"\s", "").str.len_chars()).sum()
    lists = [
        column
        for column, dtype in frame.schema.items()
        if dtype == pl.List(pl.String) and column not in {*others, *texts} and not _NOT_TEXT.search(column)
    ]
    shares = frame.select(pl.col(column).list.join("").str.len_chars().sum() / length for column in lists)
    labels = frame[label].cast(pl.String).unique().implode()
    are_labels = frame.select(pl.col(column).explode().drop_nulls().is_in(labels).mean() for column in lists)
    return [
        column
        for column in lists
        if 0 < (shares[column][0] or 0.0) < _COPIED and (are_labels[column][0] or 0.0) < _MOSTLY
    ]


_COPIED = 0.5
"""A list of words with at least this share of the characters of a text is the text again."""


def _words_asked_about(frame: pl.DataFrame, texts: Sequence[str], label: str, others: set[str]) -> list[str]:
    """Columns with a word of the text that says which label is meant, where texts have several (aspects, senses).

    Most of their values are in the text of their row, and of the rows whose text has two labels, most have one label
    for the text and the value.
    """
    text, truth = pl.struct(*texts), pl.col(label)
    unclear = frame.filter(truth.n_unique().over(text) > 1)
    if unclear.is_empty():
        return []
    whole = pl.concat_str(*(pl.col(column).cast(pl.String) for column in texts), separator=" ").str.to_lowercase()
    columns = [
        column for column, dtype in frame.schema.items() if dtype == pl.String and column not in {*others, *texts}
    ]
    return [
        column
        for column in columns
        if frame.select(whole.str.contains(pl.col(column).str.to_lowercase(), literal=True).mean()).item() >= _MOSTLY
        and unclear.select((truth.n_unique().over(text, column) == 1).mean()).item() >= _MOSTLY
    ]


def _has_text_name(column: str) -> bool:
    return column.lower() in _TEXTS or _NUMBERED.match(column) is not None


def _is_prose(frame: pl.DataFrame, column: str) -> bool:
    """Whether a column holds running text: strings of some length that mostly differ, or lists of them."""
    if frame.schema[column] not in (pl.String, pl.List(pl.String)):
        return False
    values = frame[column].drop_nulls().head(_SAMPLE)
    values = values.explode().drop_nulls() if values.dtype == pl.List(pl.String) else values
    if not len(values):
        return False
    if _has_text_name(column):
        return True
    if _NOT_TEXT.search(column) or values.n_unique() <= 2:  # noqa: PLR2004
        return False
    spaced, unspaced = (float(values.str.contains(pattern).to_numpy().mean()) for pattern in (r"\S\s+\S", UNSPACED))
    least = _SHORT if spaced >= unspaced else _SHORT_UNSPACED
    if values.n_unique() <= len(values) // 10:  # names of classes, or the text of several rows, such as a question
        least *= 2
    return max(spaced, unspaced) >= _MOSTLY and float(values.str.len_chars().to_numpy().mean()) >= least


def _list_columns(frame: pl.DataFrame, columns: Sequence[str]) -> str:
    """Columns with an example of what they hold, for a message."""
    examples = []
    for column in columns[:12]:
        value = next(iter(frame[column].drop_nulls().head(1)), "")
        text = " ".join(str(value.to_list() if isinstance(value, pl.Series) else value).split())
        examples.append(f"'{column}' ({text if len(text) <= 24 else f'{text[:23]}…'})")  # noqa: PLR2004
    return ", ".join(examples) + (f" and {len(columns) - 12} more" if len(columns) > 12 else "")  # noqa: PLR2004


_LEAST_PAIRED = 0.5
"""Smallest share of rows that share their pair id with another row. Below it the column has ids of rows, some repeated,
and no pairs."""
_WITHHELD = ("-1", "?", "")
"""Values of the label column of a test set whose labels are withheld."""


def read_columns(
    name: str, splits: Mapping[str, pl.DataFrame], reading: Reading, class_names: Mapping[str, tuple[str, ...]]
) -> Result:
    """The rows of tables that others made, by split.

    Rows without text or label and rows of excluded labels are left out and counted. Splits without labels are skipped.

    Raises:
        UnreadableDataError: the roles of the columns are not clear, or no row is left.
    """
    splits = {split: frame for split, frame in splits.items() if frame.height}
    splits = {split: _unnest(frame) for split, frame in splits.items()}
    if not splits:
        raise UnreadableDataError(f"{name}: no rows")
    roles = roles_of(name, next(iter(splits.values())), reading, class_names)
    roles = _with_group(roles, splits, reading.group)
    first = next(iter(splits.values()))
    words = [
        column for column in roles.texts if first.schema[column] == pl.List(pl.String) and _holds_words(first[column])
    ]
    counts: Counter[str] = Counter()
    withheld = ["", *(["-1"] if roles.label in class_names else [])]
    skipped, parts = [], []
    for split, of_split in splits.items():
        place = f"{name}: {split}"
        split_frame = of_split.with_columns(
            pl.col(column).list.join(" ") for column in words if isinstance(of_split.schema.get(column), pl.List)
        )
        missing = [
            column for column in (roles.label, *roles.texts, *roles.choices) if column not in split_frame.columns
        ]
        if missing:
            unlabelled = missing[0] == roles.label
            reason = f"no column '{missing[0]}', only {', '.join(split_frame.columns)}"
            skipped.append(Skipped(place, f"no labels: {reason}" if unlabelled else reason, unlabelled=unlabelled))
            continue
        types = split_frame.select(roles.label, *roles.texts, *roles.choices).schema
        nested = [
            column for column, dtype in types.items()
            if dtype.is_nested() and not (isinstance(dtype, pl.List) and not (dtype.inner or pl.Null()).is_nested())
        ]  # fmt: skip
        if types[roles.label].is_nested() or nested:
            column = (nested or [roles.label])[0]
            skipped.append(
                Skipped(place, f"'{column}' holds lists; a row needs one label, and texts or lists of texts")
            )
            continue
        written = split_frame[roles.label].cast(pl.String).str.strip_chars()
        if written.is_null().all() or (written.n_unique() == 1 and written[0] in _WITHHELD):
            reason = f"no labels: '{roles.label}' is {written[0] or 'empty'} in all {len(written)} rows"
            skipped.append(Skipped(place, reason, unlabelled=True))
            continue
        parts.append(_usable_rows(split, split_frame, roles, counts, withheld))
    if not sum(map(len, parts)):
        raise UnreadableDataError("; ".join(f"{each.name}: {each.reason}" for each in skipped) or f"{name}: no rows")
    if len({part.schema[roles.label].is_numeric() for part in parts}) > 1:  # numbers in one file and words in another
        parts = [part.with_columns(pl.col(roles.label).cast(pl.String)) for part in parts]
    frame = pl.concat(parts, how="vertical_relaxed")
    shape = Shape.CHOICE if roles.choices else shape_of(frame["texts"])
    labelled, names = _as_written(frame[roles.label]), class_names.get(roles.label, ())
    if shape is Shape.CHOICE:
        most = most_choices(frame)
        used, index, note = tuple(map(str, range(most))), _right_choices(name, frame, roles.label, most), ""
    elif names and labelled.dtype.is_integer() and 0 <= int(labelled.min()) <= int(labelled.max()) < len(names):  # type: ignore[arg-type]
        used, indexed = with_used_labels(names, pl.DataFrame({"label": labelled}), shape)
        index, note = indexed["label"], ""
    else:
        used, index, note = index_labels(labelled)
    rows = frame.with_columns(index.alias("label"), score=numbers_of(labelled))
    ids = rows["pair_id"].drop_nulls()
    paired = bool(len(ids)) and int(ids.is_duplicated().sum()) >= _LEAST_PAIRED * rows.height
    notes = [*roles.notes, *([note] if note else [])]
    notes += [f"'{column}' holds words: they are joined with spaces" for column in words]
    notes += _unused(first, roles)
    if reading.label is None:
        notes += _other_labels(first, roles, class_names)
    if len(ids) and not paired:
        notes.append(f"'{roles.pair}' names no pairs: few of its values occur twice")
        rows = rows.with_columns(pair_id=pl.lit(None, dtype=pl.String))
    pair, group = ((column,) if column else () for column in (roles.pair, roles.group))
    columns = {"text": roles.texts, "choices": roles.choices, "label": roles.labels, "pair": pair, "group": group}
    columns = {role: names_of_role for role, names_of_role in columns.items() if names_of_role}
    about = Provenance(roles.name or "table", columns, left_out=dict(counts), notes=tuple(notes))
    data = of_others(name, shape, used, rows, about, pairs=paired, guessed_groups=reading.group is None)
    return data, tuple(skipped)


_NAMED = 8
"""Most columns that a note names."""
_REPEATS = 0.75
"""A column repeats the label if it tells at least this share of what the most frequent label does not: labels of single
annotators tell .83 of it (SNLI, where they are right in .89 of the rows)."""


def _unused(frame: pl.DataFrame, roles: Roles) -> list[str]:
    """What a reader should know of the columns without a role: which repeat the label, and what they are called."""
    if frame.schema[roles.label].is_nested():
        return []
    used = {*roles.texts, *roles.choices, *roles.labels, roles.choice_names, roles.pair, roles.group}
    columns, notes = [column for column in frame.columns if column not in used], []
    for column in columns:
        if frame.schema[column].is_nested() or not 1 < frame[column].n_unique() <= max(2, frame.height // 5):
            continue
        if share := _told(frame[column], frame[roles.label]):
            notes.append(f"'{column}' repeats the label in {share:.1%} of the rows; it is not used")
    if columns:
        shown = ", ".join(f"'{column}'" for column in columns[:_NAMED])
        more = f" and {len(columns) - _NAMED} more" if len(columns) > _NAMED else ""
        notes.append(f"neither text nor label: {shown}{more}")
    return notes


def _other_labels(frame: pl.DataFrame, roles: Roles, class_names: Collection[str]) -> list[str]:
    """A note on further columns that are called labels, or are classes, if they are not the label again."""
    used = {roles.label, *roles.texts, *roles.choices, roles.choice_names, roles.pair, roles.group}
    others = [
        column
        for column in frame.columns
        if column not in used and (column in class_names or column.lower() in _LABELS)
        and not frame.schema[column].is_nested() and column in _label_like(frame)
        and not suspicion(frame[column]) and not _told(frame[column], frame[roles.label])
    ]  # fmt: skip
    if not others:
        return []
    return [f"the label is '{roles.label}'; --label names another one: {_list_columns(frame, others)}"]


def _told(column: pl.Series, label: pl.Series) -> float:
    """The share of rows in which a column tells the label, if it is so large that it repeats the label; else 0."""
    both = pl.DataFrame({"value": column.cast(pl.String, strict=False), "label": label.cast(pl.String)}).drop_nulls()
    both = both.filter(pl.col("value").str.strip_chars() != "")  # an annotator who did not label this row
    most = float(both["label"].value_counts()["count"].max() or 0)  # type: ignore[arg-type]
    told = int(both.group_by("value", "label").len().group_by("value").agg(pl.col("len").max())["len"].sum())
    return told / both.height if told - most >= _REPEATS * (both.height - most) > 0 else 0.0


GROUPS = re.compile(
    r"(?i)^(?:(?:doc|document|article|page|story|essay|book|dialog|dialogue|conversation|thread|session|speaker|author|"
    r"user|writer|prompt|context|passage|topic|source|group|cluster)(?:[_ .-]?(?:id|ids|idx|key|name|title|no|nr))?|"
    r"title|url)$"
)
"""Names of columns that say which rows depend on each other: documents, speakers, prompts."""
_FEWEST_GROUPS = 20
"""Fewer values are kinds of rows (genres, sources), not groups of which the rows are a sample."""


def _with_group(roles: Roles, splits: Mapping[str, pl.DataFrame], named: str | None) -> Roles:
    """The roles with the column of groups: the one that the user names, or else the first with such a name.

    Without a name from the user, most of its values must occur in several rows, and there must be enough of them. Those
    that stand for the labels, one for one, are no groups.
    """
    if named:
        return replace(roles, group=named)
    taken = {*roles.texts, *roles.choices, *roles.labels, roles.pair}
    first = next(iter(splits.values()))
    for column in first.columns:
        parts = [frame[column] for frame in splits.values() if column in frame.columns]
        if column in taken or not GROUPS.match(column) or any(part.dtype.is_nested() for part in parts):
            continue
        sizes = pl.concat([part.cast(pl.String) for part in parts]).drop_nulls().value_counts()["count"]
        if not first.schema[roles.label].is_nested() and _told(first[roles.label], first[column]):
            continue
        if len(sizes) >= _FEWEST_GROUPS and 2 * int((sizes > 1).sum()) > len(sizes):
            note = f"rows with the same '{column}' are taken as one group; name another column with --group"
            return replace(roles, group=column, notes=(*roles.notes, note))
    return roles


def _unnest(frame: pl.DataFrame) -> pl.DataFrame:
    """The fields of structs as columns.

    ``choices.text`` is the field ``text`` of the struct ``choices``, or of each struct in the list ``choices``.
    """
    while True:
        structs = [column for column, dtype in frame.schema.items() if isinstance(dtype, pl.Struct)]
        lists = {column: dtype.inner.fields for column, dtype in frame.schema.items()
                 if isinstance(dtype, pl.List) and isinstance(dtype.inner, pl.Struct)}  # fmt: skip
        if not structs and not lists:
            return frame
        frame = frame.with_columns(
            pl.col(column).list.eval(pl.element().struct.field(field.name)).alias(f"{column}.{field.name}")
            for column, fields in lists.items()
            for field in fields
        )
        frame = frame.drop(lists).unnest(structs, separator=".")


def _holds_words(column: pl.Series) -> bool:
    """Whether lists have the words of a text, and no texts."""
    words = column.drop_nulls().head(_SAMPLE).explode().drop_nulls()
    if words.is_empty() or words.str.contains(r"\S\s+\S").to_numpy().mean() > _FEW:
        return False
    unspaced = float(words.str.contains(UNSPACED).to_numpy().mean()) >= _MOSTLY
    return float(words.str.len_chars().to_numpy().mean()) <= (_SHORT_UNSPACED if unspaced else _SHORT)


def _usable_rows(
    split: str, frame: pl.DataFrame, roles: Roles, counts: Counter[str], withheld: Sequence[str]
) -> pl.DataFrame:
    """``split``, ``label`` (as written), ``pair_id``, ``texts``, ``n_context`` and ``choice_names`` of the usable rows.

    Adds to ``counts`` why rows are left out; ``withheld`` lists the values that mean "no label".
    """
    empty = [  # whether a text is missing; of lists, whether they are empty
        pl.col(name).is_null() | (pl.col(name).list.len() == 0 if isinstance(frame.schema[name], pl.List)
                                  else pl.col(name).cast(pl.String).str.strip_chars() == "")
        for name in (*roles.texts, *roles.choices)
    ]  # fmt: skip
    empty_texts, empty_choices = empty[: len(roles.texts)], empty[len(roles.texts) :]
    if empty_choices:  # a question need not have a passage
        is_empty = pl.any_horizontal(*empty_choices, *([pl.all_horizontal(empty_texts)] if empty_texts else []))
    elif len(empty) > 2:  # noqa: PLR2004  rows of a sequence may be shorter
        is_empty = pl.all_horizontal(empty)
    else:
        is_empty = pl.any_horizontal(empty)
    context = _join_text_columns(frame, roles.texts, nulls=bool(roles.choices))
    pair_id, group = (
        pl.col(column).cast(pl.String) if column in frame.columns else pl.lit(None, dtype=pl.String)
        for column in (roles.pair, roles.group)
    )
    label = pl.col(roles.label) if frame.schema[roles.label].is_numeric() else pl.col(roles.label).cast(pl.String)
    numbers = numbers_of(frame[roles.label])  # JSON of pandas has NaN for a missing label
    missing = pl.lit(value=False) if numbers is None else ~numbers.is_finite()
    choices = _join_text_columns(frame, roles.choices) if roles.choices else pl.lit([], dtype=pl.List(pl.String))
    names = pl.col(roles.choice_names).cast(pl.List(pl.String)) if roles.choice_names else pl.lit(None)
    rows = frame.select(
        pl.lit(split, dtype=SCHEMA["split"]).alias("split"), label.alias(roles.label), pair_id.alias("pair_id"),
        group.alias("group"),
        texts=context.list.concat(choices),
        n_context=context.list.len() if roles.choices else pl.lit(0, dtype=pl.UInt32),
        choice_names=names.cast(pl.List(pl.String)), empty=is_empty, missing=missing,
        metadata=metadata_of(frame, {roles.label, *roles.labels, *roles.texts, *roles.choices, roles.choice_names}),
    )  # fmt: skip
    written = pl.col("written")
    faults = rows.with_columns(written=pl.col(roles.label).cast(pl.String).str.strip_chars()).select(
        pl.when(written.is_in(roles.exclude)).then(pl.format("label '{}'", written))
        .when(written.is_null() | written.is_in(withheld) | pl.col("missing")).then(pl.lit("no label"))
        .when("empty").then(pl.lit("no text"))
    ).to_series()  # fmt: skip
    counts.update(faults.drop_nulls().to_list())
    return rows.filter(faults.is_null()).drop("empty", "missing")


def _join_text_columns(frame: pl.DataFrame, columns: tuple[str, ...], *, nulls: bool = False) -> pl.Expr:
    """The texts of columns (some may be lists) as one list; nulls are dropped, or empty texts with ``nulls``."""
    if not columns:
        return pl.lit([], dtype=pl.List(pl.String))
    lists = [
        pl.col(name) if isinstance(frame.schema[name], pl.List) else pl.concat_list(pl.col(name).cast(pl.String))
        for name in columns
    ]
    texts = pl.concat_list(lists).cast(pl.List(pl.String))
    return texts.list.eval(pl.element().fill_null("")) if nulls else texts.list.drop_nulls()


def _right_choices(name: str, frame: pl.DataFrame, label: str, n: int) -> pl.Series:
    """The index of the right choice: by a list of names, by its own text, by letters, or by numbers from 0 or 1."""
    labels = frame[label].cast(pl.String).str.strip_chars()
    digits = {
        value: str(int(value)) for value in labels.unique().drop_nulls() if value.isdecimal() and int(value) < n + 1
    }
    labels = labels.replace(digits)  # of any script: ParsiNLU has Persian ones
    numbered = frame.with_columns(_label=labels)
    if not (named := _index_in(numbered, pl.col("choice_names"))).is_null().any():
        return named
    letters = {chr(ord("A") + place): str(place) for place in range(n)}
    places = labels.str.to_uppercase().replace(letters).cast(pl.Float64, strict=False).cast(pl.Int64, strict=False)
    start = 1 if places.min() == 1 and places.max() == n else 0
    outside = places.is_null() | (places < start) | (places >= n + start)
    if not outside.any():
        return places - start
    texts = _index_in(numbered, pl.col("texts").list.slice(pl.col("n_context")))
    if texts.is_null().any():
        wrong = labels.filter(outside)[0]
        raise UnreadableDataError(
            f"{name}: label '{wrong}' names none of the {n} choices; name the column with --label"
        )
    return texts


def _index_in(frame: pl.DataFrame, listed: pl.Expr) -> pl.Series:
    """The index of ``_label`` in a list of each row; null where it is not there."""
    numbered = frame.select("_label", value=listed).with_row_index("row")
    numbered = numbered.with_columns(place=pl.int_ranges(pl.col("value").list.len())).explode("value", "place")
    places = numbered.filter(pl.col("value") == pl.col("_label")).group_by("row").agg(pl.col("place").first())
    every = pl.DataFrame({"row": pl.int_range(frame.height, dtype=pl.UInt32, eager=True)})
    return every.join(places, on="row", how="left", maintain_order="left")["place"].cast(pl.Int64)


BINS = 5
"""Classes that scores are binned into."""
_LARGEST_WHOLE = 2**53
"""Whole numbers below this are exact in decimals."""
_MANY = 20
"""Different values from which on decimal numbers are scores."""


Labels = tuple[tuple[str, ...], pl.Series, str]
"""Label names in order, each row's index among them, and a remark for people."""


def _as_written(labels: pl.Series) -> pl.Series:
    """Labels of a text file as numbers, if all are numbers and some have decimals; else as written (``01``)."""
    if labels.dtype != pl.String or (numbers := numbers_of(labels)) is None:
        return labels
    written = labels.str.strip_chars()
    decimal = written.str.contains(r"[.eE]").any() and not written.str.contains(r"^[-+]?0\d").any()
    return numbers if decimal else written


def index_labels(labels: pl.Series, *, first: str | None = None) -> Labels:
    """Label names in order (numbers by size); names that start with ``first`` lead.

    Decimal numbers of many values are scores: they are divided into ``BINS`` classes of about equal size, named by
    their bounds (``[2.4, 3.2)``).
    """
    has_decimals = labels.dtype.is_float() and not (labels == labels.round()).all()
    if has_decimals and labels.n_unique() > _MANY:
        low, high = float(labels.min() or 0), float(labels.max() or 0)  # type: ignore[arg-type]
        cuts = {float(labels.quantile(place / BINS, "higher") or 0) for place in range(1, BINS)}
        bounds = sorted(cuts - {low})
        bins = pl.Series([sum(score >= bound for bound in bounds) for score in labels.to_list()], dtype=pl.Int64)
        names = tuple(
            f"[{start:.3g}, {end:.3g}{']' if place == len(bounds) else ')'}"
            for place, (start, end) in enumerate(pairwise([low, *bounds, high]))
        )
        return names, bins, f"'{labels.name}' holds scores: {len(names)} classes with like numbers of rows"
    are_whole = labels.dtype.is_float() and not has_decimals and bool((labels.abs() < _LARGEST_WHOLE).all())
    written = (labels.cast(pl.Int64) if are_whole else labels).cast(pl.String)

    def rank(name: str) -> tuple[bool, float, str]:
        number = float(name) if re.fullmatch(r"[-+]?\d+(?:\.\d+)?", name) else 0.0
        return first is None or not name.startswith(first), number, name

    in_order = sorted(written.unique().to_list(), key=rank)
    index = written.replace_strict(in_order, range(len(in_order)), return_dtype=pl.Int64)
    return tuple(in_order), index, ""


def pair_columns(columns: Iterable[str]) -> tuple[str, str] | None:
    """The two columns of a minimal pair among ``columns``."""
    return next((pair for pair in PAIRS if set(pair) <= set(columns)), None)


def read_pairs(name: str, splits: Mapping[str, pl.DataFrame], reading: Reading) -> AuditInput:
    """Pairs as choices between two sentences; a hash decides which place the good one has.

    ``reading.text`` names the columns of the good and the bad sentence, where their names are not in ``PAIRS``;
    ``reading.group`` what pairs share.

    Raises:
        UnreadableDataError: no two columns hold the pair, no pair is complete, or a column is not there.
    """
    text, group = reading.text, reading.group
    if reading.pair:
        raise UnreadableDataError(f"{name}: a row has both members of a pair: leave out --pair")
    columns = (text[0], text[1]) if len(text) == 2 else pair_columns(next(iter(splits.values())).columns)  # noqa: PLR2004
    if columns is None:
        expected = " or ".join("/".join(pair) for pair in PAIRS)
        present = ", ".join(next(iter(splits.values())).columns)
        raise UnreadableDataError(
            f"{name}: no columns of minimal pairs ({expected}) among {present}; name the good and the bad one "
            "with --text"
        )
    counts: Counter[str] = Counter()
    parts = []
    for split, frame in splits.items():
        if missing := [column for column in (*columns, *([group] if group else [])) if column not in frame.columns]:
            where = f"the {split} split has " if len(splits) > 1 else ""
            there = ", ".join(frame.columns)
            raise UnreadableDataError(f"{name}: {where}no column '{missing[0]}'; there are {there}")
        if nested := [column for column in columns if frame.schema[column].is_nested()]:
            raise UnreadableDataError(f"{name}: '{nested[0]}' holds lists or objects, and no sentences")
        good, bad = (pl.col(column).cast(pl.String) for column in columns)
        shared = pl.col(group).cast(pl.String) if group else pl.lit(None, dtype=pl.String)
        complete = frame.select(good=good, bad=bad, group=shared).drop_nulls(["good", "bad"])
        if incomplete := frame.height - complete.height:
            counts["no text"] += incomplete
        label = pl.Series(
            hashing.pick(range(complete.height), 2, name, split, "place of the good sentence"), dtype=pl.Int64
        )
        good_first, bad_first = pl.concat_list("good", "bad"), pl.concat_list("bad", "good")
        texts = pl.when(pl.col("label") == 0).then(good_first).otherwise(bad_first)
        parts.append(
            complete.with_columns(label=label).select(
                "label", "group", texts=texts, split=pl.lit(split, dtype=SCHEMA["split"])
            )
        )
    rows = pl.concat(parts)
    if rows.is_empty():
        raise UnreadableDataError(f"{name}: no pair of '{columns[0]}' and '{columns[1]}' is complete")
    roles = {"good": columns[:1], "bad": columns[1:], **({"group": (group,)} if group else {})}
    about = Provenance("minimal pairs", roles, left_out=dict(counts))
    return of_others(name, Shape.CHOICE, ("first", "second"), rows, about, perturbation=True)
