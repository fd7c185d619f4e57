"""Columns of published datasets by name: which hold text, choices and label."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NamedShape:
    """The columns of a published dataset, by which it is recognised.

    Attributes:
        name: of the dataset, or of those that share the columns.
        text: columns of the text in order; for choices the context.
        label: columns that may hold the label; the first that is there does.
        choices: columns of the choices, or one column with lists.
        choice_names: column with the lists of names that the label is one of (``A``, ``B`` …).
        needs: further columns that the dataset has.
        exclude: labels that are no classes.
    """

    name: str
    text: tuple[str, ...]
    label: tuple[str, ...]
    choices: tuple[str, ...] = ()
    choice_names: str = ""
    needs: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def label_in(self, columns: Collection[str]) -> str | None:
        """The label column; None where the columns are not those of the dataset."""
        names = [self.choice_names] if self.choice_names else []
        if not {*self.text, *self.choices, *self.needs, *names} <= {*columns}:
            return None
        return next((column for column in self.label if column in columns), None)


def _numbered(stem: str, names: str) -> tuple[str, ...]:
    return tuple(f"{stem}{name}" for name in names.split())


NAMED_SHAPES = (
    NamedShape(
        "Belebele", ("flores_passage", "question"), ("correct_answer_num",), _numbered("mc_answer", "1 2 3 4")
    ),
    NamedShape("ARC", ("question",), ("answerKey",), ("choices.text",), "choices.label"),
    NamedShape("OpenBookQA", ("question_stem",), ("answerKey",), ("choices.text",), "choices.label"),
    NamedShape("ARC", ("question.stem",), ("answerKey",), ("question.choices.text",), "question.choices.label"),
    NamedShape("HellaSwag", ("ctx",), ("label",), ("endings",)),
    NamedShape("SWAG", ("startphrase",), ("label",), _numbered("ending", "0 1 2 3")),
    NamedShape("PIQA", ("goal",), ("label",), _numbered("sol", "1 2")),
    NamedShape("COPA", ("premise", "question"), ("label",), _numbered("choice", "1 2")),
    NamedShape("Winograd schemas", ("sentence",), ("answer", "label"), _numbered("option", "1 2")),
    NamedShape("Social IQa", ("context", "question"), ("label", "correct"), _numbered("answer", "A B C")),
    NamedShape("RACE", ("article", "question"), ("answer",), ("options",)),
    NamedShape("AGIEval, ReClor", ("passage", "question"), ("label",), ("options",)),
    NamedShape("ReClor", ("context", "question"), ("label",), ("answers",)),
    NamedShape("MMLU", ("question",), ("answer",), ("choices",)),
    NamedShape(
        "Story Cloze", _numbered("InputSentence", "1 2 3 4"), ("AnswerRightEnding",),
        _numbered("RandomFifthSentenceQuiz", "1 2"),
    ),
    NamedShape(
        "XStoryCloze", _numbered("input_sentence_", "1 2 3 4"), ("answer_right_ending",),
        _numbered("sentence_quiz", "1 2"),
    ),
    NamedShape("SNLI, MNLI, XNLI", ("sentence1", "sentence2"), ("gold_label",), exclude=("-",)),
    NamedShape("inference pairs", ("premise", "hypothesis"), ("label", "gold_label"), exclude=("-",)),
    NamedShape("BoolQ", ("passage", "question"), ("answer", "label")),
    NamedShape("MultiRC", ("paragraph", "question", "answer"), ("label",)),
    NamedShape("QNLI", ("question", "sentence"), ("label",)),
    NamedShape("QQP", ("question1", "question2"), ("is_duplicate", "label")),
    NamedShape("MRPC", ("#1 String", "#2 String"), ("Quality",)),
    NamedShape(
        "SICK", ("sentence_A", "sentence_B"),
        ("entailment_judgment", "entailment_judgement", "entailment_label", "label"),
    ),
    NamedShape("STS", ("sentence1", "sentence2"), ("score", "similarity_score", "similarity")),
    NamedShape("STS", ("sentence_A", "sentence_B"), ("relatedness_score", "score")),
    NamedShape("WiC", ("sentence1", "sentence2"), ("label",), needs=("word",)),
    NamedShape("sentence pairs (GLUE, PAWS, PAWS-X)", ("sentence1", "sentence2"), ("label",), exclude=("-",)),
    NamedShape("DISRPT relations", ("unit1_txt", "unit2_txt"), ("label", "orig_label")),
    NamedShape("CoLA, SST", ("sentence",), ("label",), needs=("idx",)),
    NamedShape("RuCoLA", ("sentence",), ("acceptable",)),
)  # fmt: skip
"""The first whose columns are there; those with more columns come before those with fewer."""


def named_shape(columns: Collection[str], *, with_choices: bool = False) -> tuple[NamedShape, str] | None:
    """The published dataset whose columns these are, and its label column.

    With ``with_choices`` it is one of choices: a table that has choices, too, is no BoolQ.
    """
    shapes = (shape for shape in NAMED_SHAPES if shape.choices or not with_choices)
    return next(((shape, label) for shape in shapes if (label := shape.label_in(columns))), None)


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
