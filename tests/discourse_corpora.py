"""Small corpora of discourse written by hand: one of DISRPT, and trees of Rhetorical Structure Theory."""

import random
from pathlib import Path

CONLLU = """# newdoc id = d1
# sent_id = d1-1
# text = It rained.
1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\tConn=O
2\trained\train\tVERB\t_\t_\t0\troot\t_\tConn=O|SpaceAfter=No
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\tConn=O

# sent_id = d1-2
# text = But we can't stay, she said.
1\tBut\tbut\tCCONJ\t_\t_\t5\tcc\t_\tConn=B-conn
2\twe\twe\tPRON\t_\t_\t5\tnsubj\t_\tConn=O
3-4\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
3\tca\tcan\tAUX\t_\t_\t5\taux\t_\tConn=O
4\tn't\tnot\tPART\t_\t_\t5\tadvmod\t_\tConn=O
5\tstay\tstay\tVERB\t_\t_\t0\troot\t_\tConn=O|SpaceAfter=No
6\t,\t,\tPUNCT\t_\t_\t8\tpunct\t_\tConn=O
7\tshe\tshe\tPRON\t_\t_\t8\tnsubj\t_\tConn=O
8\tsaid\tsay\tVERB\t_\t_\t5\tparataxis\t_\tConn=O|SpaceAfter=No
9\t.\t.\tPUNCT\t_\t_\t5\tpunct\t_\tConn=O

"""
"""A document of twelve words."""

COLUMNS = ("doc", "unit1_toks", "unit2_toks", "unit1_txt", "unit2_txt", "dir", "rel_type", "orig_label", "label")
RELS = "\n".join(
    "\t".join(cells)
    for cells in (
        COLUMNS,
        (
            "d1", "1-3", "4-12", "It rained .", "But we ca n't stay , she said .", "1<2", "explicit",
            "comparison.contrast", "contrast",
        ),
        ("d1", "1-3", "4-5,10-11", "It rained .", "But we <*> she said", "1<2", "implicit", "x", "elaboration"),
        ("d1", "1-5", "6-8", "It rained . But we", "ca n't stay", "1>2", "_", "y", "frame"),
        "",
    )
)  # fmt: skip
"""Three relations of the document."""


def rels_of(text: str, without: tuple[str, ...]) -> str:
    """A table without some of its columns."""
    rows = [line.split("\t") for line in text.rstrip("\n").split("\n")]
    kept = [place for place, name in enumerate(rows[0]) if name not in without]
    return "".join("\t".join(row[place] for place in kept) + "\n" for row in rows)


def write_disrpt(folder: Path, rels: str = RELS, conllu: str = CONLLU) -> Path:
    """The folder with a DISRPT corpus in it."""
    (folder / "eng.pdtb.toy_dev.conllu").write_text(conllu, encoding="utf-8")
    (folder / "eng.pdtb.toy_dev.rels").write_text(rels, encoding="utf-8")
    return folder


RS3 = """<rst>
  <header>
    <relations>
      <rel name="elaboration" type="rst" />
      <rel name="condition" type="rst" />
      <rel name="restatement" type="rst" />
      <rel name="restatement" type="multinuc" />
      <rel name="list" type="multinuc" />
    </relations>
  </header>
  <body>
    <segment id="1" parent="2" relname="condition">If it rains</segment>
    <segment id="2" parent="10" relname="span">we stay</segment>
    <segment id="3" parent="11" relname="list">and
      read</segment>
    <segment id="4" parent="11" relname="list">or sleep</segment>
    <segment id="5" parent="11" relname="list">or talk .</segment>
    <group id="10" type="span" parent="12" relname="span" />
    <group id="11" type="multinuc" parent="10" relname="elaboration" />
    <group id="12" type="span" />
  </body>
</rst>
"""
"""A tree of five segments: ``((1 condition 2) elaboration (3 list 4 list 5))``."""


def write_many(folder: Path, corpus: str, documents: int, *, splits=("train", "dev", "test"), seed: int = 0) -> Path:
    """The folder with a DISRPT corpus of made-up documents, each with ten sentences and nine explicit relations.

    Relations of neighbours are in turn ``conjunction``, ``contrast``, ``causal`` and, in every third document, one of
    an unknown class; documents go in turn to the splits.
    """
    chance = random.Random(seed)
    names = [f"{a}{b}" for a in ("ba", "do", "ki", "lu", "me") for b in ("na", "ro", "si", "ta", "vu", "za")]
    texts = {split: [] for split in splits}
    tables = {split: ["\t".join(COLUMNS)] for split in splits}
    for number in range(documents):
        split, doc, words = splits[number % len(splits)], f"{corpus}-{number}", []
        lines = [f"# newdoc id = {doc}"]
        for place in range(10):
            label, connective = KINDS[place % 3]
            topic = "".join(random.Random(f"{number} {place // 4}").choices("abdegiklmnoprstu", k=9))
            said = [connective, topic, *chance.sample(names, 6), "."]
            lines += [f"# sent_id = {doc}-{place}", f"# text = {' '.join(said[:-1])}."]
            for n, form in enumerate(said, 1):
                misc = f"Conn={'B-conn' if n == 1 else 'O'}{'|SpaceAfter=No' if n == len(said) - 1 else ''}"
                lines.append(f"{n}\t{form}\t{form}\tX\t_\t_\t{n - 1}\t{'dep' if n > 1 else 'root'}\t_\t{misc}")
            lines.append("")
            if place:
                own = "odd" if place == 9 and number % 3 == 0 else label
                first, second = 9 * (place - 1), 9 * place
                spans = (f"{first + 1}-{first + 9}", f"{second + 1}-{second + 9}")
                tables[split].append("\t".join([doc, *spans, words, " ".join(said), "1<2", "explicit", own, own]))
            words = " ".join(said)
        texts[split].append("\n".join(lines))
    for split in splits:
        (folder / f"{corpus}_{split}.conllu").write_text("\n".join(texts[split]) + "\n", encoding="utf-8")
        (folder / f"{corpus}_{split}.rels").write_text("\n".join(tables[split]) + "\n", encoding="utf-8")
    return folder


KINDS = (("conjunction", "And"), ("contrast", "But"), ("causal", "So"))


def write_trees(folder: Path, documents: int, seed: int = 0) -> Path:
    """The folder with made-up trees of ten segments in a folder ``en``: five joined in a list, five satellites."""
    chance = random.Random(seed)
    home = folder / "en"
    home.mkdir()
    head = (
        '<rst><header><relations><rel name="list" type="multinuc"/><rel name="cause" type="rst"/>'
        '<rel name="evidence" type="rst"/><rel name="same-unit" type="multinuc"/></relations></header><body>'
    )
    for number in range(documents):
        rows = []
        for place in range(1, 11):
            text = " ".join(chance.sample("abcdefghijklmnopqrstuvwxyz", 8))
            above = (place - 1) // 2 * 2 + 20
            side = 'parent="{}" relname="span"' if place % 2 else 'parent="{}" relname="{}"'
            parent = above if place % 2 else place - 1
            rows.append(
                f'<segment id="{place}" {side.format(parent, "cause" if place % 4 else "evidence")}>{text}</segment>'
            )
        rows += [f'<group id="{n}" type="span" parent="40" relname="list"/>' for n in range(20, 30, 2)]
        rows.append('<group id="40" type="multinuc"/>')
        (home / f"t{number}.rs3").write_text(head + "".join(rows) + "</body></rst>", encoding="utf-8")
    return home
