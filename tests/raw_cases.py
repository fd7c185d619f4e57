"""Raw documents made by hand, for tests of annotation and segmentation."""

import hashlib
from collections.abc import Iterable

import regex as re
from shared import sample_file

from discoprobe.loaders import Source
from discoprobe.loaders.raw import (
    Paragraph,
    RawCorpus,
    RawDocument,
    ReadOptions,
    TextWithOffsets,
    annotate,
)

GERMAN = [
    "Der Dr. Müller kam am 3. Mai nach Berlin. Er ging im Park spazieren.",
    "„Was ist das?“, fragte sie. Das Haus steht am See, z. B. im Winter.",
    "Die Kinder spielen im Garten. Sie haben einen Hund.",
]
SPANISH = [
    "El perro del vecino corre por el parque. Los niños dan de comer al gato.",
    "La casa está cerca del mar. Dámelo ahora mismo, por favor.",
]


def document(doc_id, texts, *, kinds=None, gaps=(), genre="", extracted=False):
    """A document whose source is its paragraphs with blank lines between, after two characters of other text."""
    source, paragraphs = "# ", []
    for text, kind in zip(texts, kinds or ["text"] * len(texts), strict=True):
        gap = len(paragraphs) in gaps
        paragraphs.append(Paragraph(TextWithOffsets(text, len(source)), kind, gap=gap))
        source += f"{text}\n\n"
    return RawDocument(doc_id, tuple(paragraphs), f"{doc_id}.txt", source, extracted, genre)


class Given(RawCorpus):
    """A corpus of documents that were made in a test."""

    documents: Iterable = ()

    def __iter__(self):
        return iter(self.documents)


def annotated(documents, out, engine, *, lang="de", name="notes", **options):
    """The documents, annotated into a folder."""
    return annotate(
        Given("notes", None, ReadOptions(), documents=documents), Source(name, lang), engine, out, **options
    )


def conllu_of(folder):
    """All shards of a folder as one text."""
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.conllu")))


def articles(n, lang="es", sentences=12):
    """Articles in Markdown with made-up sentences of words of the sample, no two alike; always the same ones.

    Neighbours share a word, as in a text.
    """
    words = sorted(set(re.findall(r"\b\p{Ll}{2,}\b", sample_file(lang).read_text(encoding="utf-8"))))
    made = []
    for article in range(n):
        lines = [
            " ".join(_word(words, article, line + at if at in {7, 8} else line, min(at, 7)) for at in range(9))
            for line in range(sentences)
        ]
        prose = " ".join(f"{line[0].upper()}{line[1:]}." for line in lines)
        made.append(f"# Artículo {article}\n\n{prose}")
    return made


def _word(words, *place):
    return words[int.from_bytes(hashlib.blake2b(repr(place).encode(), digest_size=4).digest(), "little") % len(words)]
