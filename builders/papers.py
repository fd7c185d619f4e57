"""The papers that tasks come from: a definition that mentions one of these names cites it."""

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
    Paper(
        ("CoherenceGym",),
        "Beyer, Loáiciga & Schlangen 2021. Is Incoherence Surprising? Targeted Evaluation of Coherence Prediction from "
        "Language Models. NAACL.",
        "https://arxiv.org/abs/2105.03495",
    ),
    Paper(
        ("repeated-name penalty",),
        "Gordon, Grosz & Gilliom 1993. Pronouns, Names, and the Centering of Attention in Discourse. Cognitive Science "
        "17.",
        "https://doi.org/10.1207/s15516709cog1703_1",
    ),
    Paper(
        ("BLiMP",),
        "Warstadt et al. 2020. BLiMP: The Benchmark of Linguistic Minimal Pairs for English. TACL.",
        "https://aclanthology.org/2020.tacl-1.25",
    ),
    Paper(
        ("UniMorph",),
        "Kirov et al. 2018. UniMorph 2.0: Universal Morphology. LREC.",
        "https://aclanthology.org/L18-1293",
    ),
    Paper(
        ("MultiBLiMP",),
        "Jumelet, Weissweiler, Nivre & Bisazza 2025. MultiBLiMP 1.0: A Massively Multilingual Benchmark of Linguistic "
        "Minimal Pairs.",
        "https://arxiv.org/abs/2504.02768",
    ),
    Paper(
        ("Speaker change detection",),
        "Meng, Mou & Jin 2017. Hierarchical RNN with Static Sentence-Level Attention for Text-Based Speaker Change "
        "Detection. CIKM.",
        "https://arxiv.org/abs/1703.07713",
    ),
    Paper(
        ("DISRPT",),
        "Braud, Zeldes, Rivière, Liu, Muller, Sileo & Aoyama 2024. DISRPT: A Multilingual, Multi-domain, "
        "Cross-framework Benchmark for Discourse Processing. LREC-COLING.",
        "https://aclanthology.org/2024.lrec-main.447",
    ),
)


def papers_of(definition: str) -> list[Paper]:
    """The papers that a definition mentions, in their order; ``RuSentEval`` is not taken for ``SentEval``."""
    text = " ".join(definition.split())
    places = [(place.start(), paper) for paper in PAPERS if (place := _mention(paper).search(text))]
    return [paper for _, paper in sorted(places, key=lambda one: one[0])]


def _mention(paper: Paper) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, paper.names))})")
