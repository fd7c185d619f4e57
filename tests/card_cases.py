"""Configs made by hand for the tests of cards: small, of any shape, with whatever text a corpus might hold."""

import pyarrow as pa

from discoprobe.builders import Config, Shape, schema
from discoprobe.loaders import File, Source

HOSTILE = (
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "---\nlicense: mit\nconfigs: []\n---\n# Not the card",
    "<script>document.title = 'taken'</script>",
    "<img src=x onerror=\"document.title='taken'\">",
    "&anchor *alias !!python/object:os.system {a: [b",
    "\u202eright to left override\u2066 and an isolate",
    "שלום <b>עולם</b> (סוף)",
    "x" * 100_000,
    "```\n</details></table>\n# heading",
    "[link](javascript:alert(1)) ![x](http://127.0.0.1:9/x.png)",
    "{{ config.name }} {% raw %} \x00\x08\x1b[31m \ufffe",
    "</style><style>body { display: none }</style>",
)


def source(name: str = "UD_Test-Case", licence: str = "CC BY-SA 4.0") -> Source:
    return Source(
        name=name, lang="es", licence=licence, repo="UniversalDependencies/UD_Test-Case", commit="0123456789abcdef" * 2,
        citation="A. Author 2020 | <b>treebank</b>", files=(File("x.conllu", "0" * 64, 10),),
    )  # fmt: skip


def config(shape: Shape, labels: tuple[str, ...], rows: list[dict], name: str = "dc_es", **more) -> Config:
    """A config with the same rows in every split; what a row does not say is made up or null."""
    table = pa.Table.from_pylist([_filled(shape, number, row) for number, row in enumerate(rows)], schema=schema(shape))
    task, _, lang = name.rpartition("_")
    values = {"definition": "Does it hold? (DiscoEval)\n\nRows say so.", "sources": (source(),), "drops": {}} | more
    return Config(
        name=name, task=task, lang=lang, shape=shape, labels=labels,
        splits=dict.fromkeys(("train", "validation", "test"), table), **values,
    )  # fmt: skip


def _filled(shape: Shape, number: int, row: dict) -> dict:
    made = {"id": f"{number:016x}", "label": number % 2, "corpus": "UD_Test-Case", "sent_ids": ["s"], "group": "g"}
    if shape is Shape.SENTENCE:
        made["n_words"] = 5 + number
    if shape is Shape.SEQUENCE:
        made |= {"order": list(range(len(row["sentences"]))), "position": -1}
    return made | row


def hostile_config() -> Config:
    """Every hostile text in a sequence, as label, document, corpus and drop reason."""
    rows = [
        {
            "sentences": [text, "A sentence.", HOSTILE[number - 1]], "position": 0, "label": number % 2,
            "doc_id": text[:50], "corpus": HOSTILE[0], "pair_id": f"pair {number // 2}",
        }
        for number, text in enumerate(HOSTILE)
    ]  # fmt: skip
    return config(
        Shape.SEQUENCE, ("<b>one</b> | #", "שתיים *two*"), rows, pairs=True, notes=(HOSTILE[2],),
        drops={"| <i>reason</i>": 3}, candidates=40,
        sources=(source("| <script>name", "CC BY 4.0 <img src=x> | *x*"),),
    )  # fmt: skip
