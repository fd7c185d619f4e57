"""The names of relations: 17 classes, and the class of each relation of RST and PDTB corpora.

The classes are those of DISRPT 2025, whose tables say for each relation which it is. Trees and older tables have the
names of their corpus; of these the table below has the common English ones.
"""

import re
from typing import Final

MEMBERS: Final = {
    "alternation": (
        "alternative", "disjunction", "expansion.alternative", "expansion.disjunction", "joint-disjunction",
    ),
    "attribution": ("attribution-negative", "attribution-positive"),
    "causal": (
        "cause", "cause-effect", "causal-cause", "causal-result", "consequence", "contingency.cause", "effect",
        "nonvolitional-cause", "nonvolitional-result", "result", "volitional-cause", "volitional-result",
    ),
    "comment": ("evaluation", "evaluation-comment", "interpretation", "interpretation-evaluation"),
    "concession": ("adversative-concession", "comparison.concession"),
    "condition": (
        "conditional", "contingency-condition", "contingency.condition", "contingency.negative-condition",
        "otherwise", "unconditional",
    ),
    "conjunction": ("continuation", "expansion.conjunction", "joint", "joint-list", "joint-other", "list", "parallel"),
    "contrast": (
        "adversative-antithesis", "adversative-contrast", "antithesis", "comparison.contrast", "expansion.exception",
        "expansion.substitution", "unless",
    ),
    "elaboration": (
        "definition", "elaboration-additional", "elaboration-attribute", "example", "expansion.instantiation",
        "expansion.level-of-detail",
    ),
    "explanation": (
        "contingency.cause+belief", "contingency.cause+speechact", "evidence", "explanation-evidence",
        "explanation-justify", "explanation-motivation", "justify", "motivation", "reason",
    ),
    "frame": ("background", "context-background"),
    "mode": (
        "comparison.similarity", "expansion.manner", "manner", "manner-means", "means", "mode-manner", "mode-means",
    ),
    "organization": (
        "organization-heading", "organization-phatic", "organization-preparation", "preparation", "summary",
        "textual-organization",
    ),
    "purpose": ("contingency.purpose", "enablement", "purpose-attribute", "purpose-goal"),
    "query": ("hypophora", "question-answer", "solutionhood", "topic-question", "topic-solutionhood"),
    "reformulation": (
        "expansion.equivalence", "expansion.restatement", "restatement", "restatement-partial",
        "restatement-repetition",
    ),
    "temporal": (
        "circumstance", "context-circumstance", "flashback", "joint-sequence", "narration", "sequence",
        "temporal.asynchronous", "temporal.synchronous",
    ),
}  # fmt: skip
"""Class → names of relations in it, besides its own name. A name includes all names that continue it after a period."""

LABELS: Final = tuple(MEMBERS)

_CLASSES: Final = {name: label for label, names in MEMBERS.items() for name in (label, *names)}
_NUCLEARITY: Final = re.compile(r"-(?:e|m|mn|n|nn|s)$")
"""How names end that also say which unit is the nucleus, or that the unit is embedded."""
_EMBEDDED: Final = re.compile(r"^e-")


def class_of(name: str) -> str | None:
    """The class of a relation, by its name in a corpus; None for a name that is not known.

    A corpus may mark what is embedded or which unit is the nucleus (``e-elaboration``, ``evaluation-s``); names of PDTB
    get longer with each level (``contingency.cause.result``). Of several names (``a;b``) the first counts.
    """
    plain = _EMBEDDED.sub("", name.lower().partition(";")[0].strip())
    names = [plain, _NUCLEARITY.sub("", plain)]
    levels = [name[:end] for name in names for end in _ends_of_levels(name)]
    return next((_CLASSES[name] for name in levels if name in _CLASSES), None)


def _ends_of_levels(name: str) -> list[int]:
    """Where a name ends with all its levels, without the last, and so on."""
    return [len(name), *(place for place in reversed(range(len(name))) if name[place] == ".")]
