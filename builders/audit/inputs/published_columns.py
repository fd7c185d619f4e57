"""Columns of published datasets by name: which hold text, choices and label."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Roles:
    """Which columns of a table hold what.

    Attributes:
        name: the published dataset, or those that share the columns; empty for a table of another kind.
        texts: columns of text, in order; for choices the context.
        labels: columns that may hold the label; the first that is there does.
        choices: columns of choices, or one with lists.
        choice_names: column with the lists of names that the label is one of (``A``, ``B`` …).
        needs: further columns that the dataset has.
        exclude: labels that are no classes.
        pair: column of pairs.
        notes: how columns were found, for people.
    """

    name: str
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    choices: tuple[str, ...] = ()
    choice_names: str = ""
    needs: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    pair: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The column of the label."""
        return self.labels[0]

    def described(self) -> dict[str, tuple[str, ...]]:
        """Role → columns, for the description of what was read."""
        pair = (self.pair,) if self.pair else ()
        roles = {"text": self.texts, "choices": self.choices, "label": self.labels, "pair": pair}
        return {role: columns for role, columns in roles.items() if columns}


def _numbered(stem: str, names: str) -> tuple[str, ...]:
    return tuple(f"{stem}{name}" for name in names.split())


PUBLISHED = (
    Roles(
        "Belebele", ("flores_passage", "question"), ("correct_answer_num",), _numbered("mc_answer", "1 2 3 4")
    ),
    Roles("ARC", ("question",), ("answerKey",), ("choices.text",), "choices.label"),
    Roles("OpenBookQA", ("question_stem",), ("answerKey",), ("choices.text",), "choices.label"),
    Roles("ARC", ("question.stem",), ("answerKey",), ("question.choices.text",), "question.choices.label"),
    Roles("HellaSwag", ("ctx",), ("label",), ("endings",)),
    Roles("SWAG", ("startphrase",), ("label",), _numbered("ending", "0 1 2 3")),
    Roles("PIQA", ("goal",), ("label",), _numbered("sol", "1 2")),
    Roles("COPA", ("premise", "question"), ("label",), _numbered("choice", "1 2")),
    Roles("Winograd schemas", ("sentence",), ("answer", "label"), _numbered("option", "1 2")),
    Roles("Social IQa", ("context", "question"), ("label", "correct"), _numbered("answer", "A B C")),
    Roles("RACE", ("article", "question"), ("answer",), ("options",)),
    Roles("AGIEval, ReClor", ("passage", "question"), ("label",), ("options",)),
    Roles("ReClor", ("context", "question"), ("label",), ("answers",)),
    Roles("MMLU", ("question",), ("answer",), ("choices",)),
    Roles(
        "Story Cloze", _numbered("InputSentence", "1 2 3 4"), ("AnswerRightEnding",),
        _numbered("RandomFifthSentenceQuiz", "1 2"),
    ),
    Roles(
        "XStoryCloze", _numbered("input_sentence_", "1 2 3 4"), ("answer_right_ending",),
        _numbered("sentence_quiz", "1 2"),
    ),
    Roles("SNLI, MNLI, XNLI", ("sentence1", "sentence2"), ("gold_label",), exclude=("-",)),
    Roles("inference pairs", ("premise", "hypothesis"), ("label", "gold_label"), exclude=("-",)),
    Roles("BoolQ", ("passage", "question"), ("answer", "label")),
    Roles("MultiRC", ("paragraph", "question", "answer"), ("label",)),
    Roles("QNLI", ("question", "sentence"), ("label",)),
    Roles("QQP", ("question1", "question2"), ("is_duplicate", "label")),
    Roles("MRPC", ("#1 String", "#2 String"), ("Quality",)),
    Roles(
        "SICK", ("sentence_A", "sentence_B"),
        ("entailment_judgment", "entailment_judgement", "entailment_label", "label"),
    ),
    Roles("STS", ("sentence1", "sentence2"), ("score", "similarity_score", "similarity")),
    Roles("STS", ("sentence_A", "sentence_B"), ("relatedness_score", "score")),
    Roles("WiC", ("sentence1", "sentence2"), ("label",), needs=("word",)),
    Roles("sentence pairs (GLUE, PAWS, PAWS-X)", ("sentence1", "sentence2"), ("label",), exclude=("-",)),
    Roles("DISRPT relations", ("unit1_txt", "unit2_txt"), ("label", "orig_label")),
    Roles("CoLA, SST", ("sentence",), ("label",), needs=("idx",)),
    Roles("RuCoLA", ("sentence",), ("acceptable",)),
)  # fmt: skip
"""The first whose columns are there; those with more columns come before those with fewer."""


def published_roles(columns: Collection[str], *, with_choices: bool = False) -> Roles | None:
    """The columns of the published dataset that a table is, with the label that is there; None for another table.

    With ``with_choices``, only datasets with choices count: a table that also has choices is not BoolQ.
    """
    for roles in PUBLISHED:
        there = [column for column in roles.labels if column in columns]
        names = (roles.choice_names,) if roles.choice_names else ()
        complete = {*roles.texts, *roles.choices, *roles.needs, *names} <= {*columns}
        if there and complete and (roles.choices or not with_choices):
            return replace(roles, labels=(there[0],))
    return None


PAIR_COLUMNS = (
    ("sentence_good", "sentence_bad"),
    ("source_sentence", "target_sentence"),
    ("sen", "wrong_sen"),
    ("good", "bad"),
    ("grammatical", "ungrammatical"),
)
"""Columns of minimal pairs: BLiMP, RuBLiMP, MultiBLiMP and common names; the acceptable sentence comes first."""


def pair_columns(columns: Iterable[str]) -> tuple[str, str] | None:
    """The two columns of a minimal pair among ``columns``."""
    return next((pair for pair in PAIR_COLUMNS if set(pair) <= set(columns)), None)
