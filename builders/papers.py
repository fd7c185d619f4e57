"""The papers that tasks come from: a definition that mentions one of these names cites it; a task may add others."""

import re
from typing import Final, NamedTuple


class Paper(NamedTuple):
    """A publication.

    Attributes:
        names: what a definition calls it.
        reference: authors, year, title, venue.
        url: where to read it.
    """

    names: tuple[str, ...]
    reference: str
    url: str


PAPERS: Final = (
    Paper(
        ("SentEval",),
        "Conneau, Kruszewski, Lample, Barrault & Baroni 2018. What you can cram into a single $&!#* vector: Probing "
        "sentence embeddings for linguistic properties. ACL.",
        "https://arxiv.org/abs/1805.01070",
    ),
    Paper(
        ("X-Probe",),
        "Ravishankar, Øvrelid & Velldal 2019. Probing Multilingual Sentence Representations With X-Probe. RepL4NLP.",
        "https://arxiv.org/abs/1906.05061",
    ),
    Paper(
        ("RuSentEval",),
        "Mikhailov, Taktasheva, Sigdel & Artemova 2021. RuSentEval: Linguistic Source, Encoder Force! BSNLP.",
        "https://arxiv.org/abs/2103.00573",
    ),
    Paper(
        ("DiscoEval",),
        "Chen, Chu & Gimpel 2019. Evaluation Benchmarks and Learning Criteria for Discourse-Aware Sentence "
        "Representations. EMNLP.",
        "https://arxiv.org/abs/1909.00142",
    ),
    Paper(
        ("Koto",),
        "Koto, Lau & Baldwin 2021. Discourse Probing of Pretrained Language Models. NAACL.",
        "https://arxiv.org/abs/2104.05882",
    ),
    Paper(
        ("discourse suite over UD", "Godunova & Voloshina"),
        "Godunova & Voloshina. Discourse probing over Universal Dependencies (thesis and code).",
        "https://github.com/mashagodunova/discource_probing",
    ),
    Paper(
        ("DisSent",),
        "Nie, Bennett & Goodman 2019. DisSent: Learning Sentence Representations from Explicit Discourse Relations. "
        "ACL.",
        "https://arxiv.org/abs/1710.04334",
    ),
    Paper(
        ("Mostafazadeh",),
        "Mostafazadeh, Chambers, He, Parikh, Batra, Vanderwende, Kohli & Allen 2016. A Corpus and Cloze Evaluation for "
        "Deeper Understanding of Commonsense Stories. NAACL.",
        "https://aclanthology.org/N16-1098",
    ),
    Paper(
        ("LINSPECTOR",),
        "Şahin, Vania, Kuznetsov & Gurevych 2020. LINSPECTOR: Multilingual Probing Tasks for Word Representations. "
        "Computational Linguistics 46(2).",
        "https://arxiv.org/abs/1903.09442",
    ),
)


def papers_of(definition: str) -> list[Paper]:
    """The papers that a definition mentions, in their order; ``RuSentEval`` is not taken for ``SentEval``."""
    text = " ".join(definition.split())
    places = [(place.start(), paper) for paper in PAPERS if (place := _mention(paper).search(text))]
    return [paper for _, paper in sorted(places, key=lambda one: one[0])]


def _mention(paper: Paper) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, paper.names))})")
