"""Small files with the columns of published data sets, and what must be read from each of them."""

# ruff: noqa: E501 (a line per data set)
from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import random
import tarfile
import zipfile
from dataclasses import dataclass, field

import polars as pl

N = 30
"""Rows of each file."""
_WORDS = ("river", "stone", "the", "a", "quiet", "old", "window", "opens", "slowly", "and", "she", "walked", "home",
          "after", "rain", "while", "nobody", "noticed", "it")  # fmt: skip


@dataclass(frozen=True)
class Published:
    """Files, and what is read from them.

    Attributes:
        name: of the shape.
        files: name → content.
        format: what the description of the reading begins with; empty where reading must stop.
        classes: label names.
        texts: number of texts of a row.
        context: number of texts that are context.
        rows: rows read.
        left_out: reason → rows.
        message: what the error says, where reading must stop.
        options: of the command line that then read it.
        first: texts of some row, where they are easily read wrongly.
        path: the file that is read, if it is not the folder.
        skipped: number of splits that are not read.
    """

    name: str
    files: dict[str, bytes]
    format: str = ""
    classes: tuple[str, ...] = ()
    texts: int = 1
    context: int = 0
    rows: int = N
    left_out: dict[str, int] = field(default_factory=dict)
    message: str = ""
    options: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    path: str = ""
    skipped: int = 0


class _Source:
    def __init__(self) -> None:
        self.random = random.Random(5)
        self.number = 0

    def text(self) -> str:
        self.number += 1
        words = self.random.choices(_WORDS, k=self.random.randint(6, 12))
        return " ".join([*words, f"number{self.number}"]).capitalize() + "."


def _jsonl(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _separated(rows, separator="\t", quoting=csv.QUOTE_MINIMAL):
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, quoting=quoting, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def _tsv(rows):
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def _text(lines):
    return "".join(f"{line}\n" for line in lines).encode()


def archive_of(files):
    """A ZIP archive with these files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _tar(files):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def _parquet(rows, class_names=None):
    stream = io.BytesIO()
    features = {"label": {"names": class_names, "_type": "ClassLabel"}} if class_names else {}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    pl.DataFrame(rows).write_parquet(stream, metadata=metadata)
    return stream.getvalue()


def published() -> list[Published]:
    """Files in the shapes of published data sets, with their real columns."""
    return [*_first_shapes(), *_containers(), *_lines(), *_tables_of_texts(), *_nested(), *_no_rows()]


def _first_shapes() -> list[Published]:
    make = _Source()
    two = [at % 2 for at in range(N)]
    make.random.shuffle(two)
    three = ["entailment", "neutral", "contradiction"]

    def nli(at, **more):
        return {"sentence1": make.text(), "sentence2": make.text(), "gold_label": three[at % 3]} | more

    snli = [
        nli(
            at, pairID=f"{at}r1n", captionID=f"{at}#0", annotator_labels=["neutral"] * 5, sentence1_parse="(ROOT (S x))"
        )
        for at in range(N)
    ]
    for at in (4, 9):
        snli[at]["gold_label"] = "-"
    xnli_header = ["language", "gold_label", "sentence1_binary_parse", "sentence2_binary_parse", "sentence1", "sentence2",
                   "promptID", "pairID", "genre", "match"]  # fmt: skip
    xnli = [xnli_header, *(["ar", three[at % 3], "", "", make.text(), make.text(), at // 3, at, "facetoface", "True"]
                           for at in range(N))]  # fmt: skip
    boolq = [{"question": "is " + make.text()[:-1].lower(), "title": "A title", "answer": bool(label),
              "passage": make.text()} for label in two]  # fmt: skip
    belebele = [
        {"link": f"https://x/{at // 2}", "question_number": at % 2 + 1, "flores_passage": make.text(),
         "question": make.text(), **{f"mc_answer{n}": make.text() for n in range(1, 5)},
         "correct_answer_num": str(at % 4 + 1), "dialect": "spa_Latn", "ds": "2023-05-03"}
        for at in range(N)
    ]  # fmt: skip
    copa = [{"premise": make.text(), "choice1": make.text(), "choice2": make.text(),
             "question": ["cause", "effect"][at % 2], "label": label, "idx": at, "changed": False}
            for at, label in enumerate(two)]  # fmt: skip
    arc = [
        {"id": f"Mercury_{at}", "question": make.text(), "answerKey": "ABCD"[at % 4] if at % 7 else "1234"[at % 4],
         "choices": {"text": [make.text() for _ in range(4)], "label": list("ABCD" if at % 7 else "1234")}}
        for at in range(N)
    ]  # fmt: skip
    hellaswag = [
        {"ind": at, "activity_label": "Roof shingle removal", "ctx_a": make.text(), "ctx_b": "he", "ctx": make.text(),
         "endings": [make.text() for _ in range(4)], "source_id": f"activitynet~v_{at}", "split": "val",
         "split_type": "indomain", "label": str(at % 4)}
        for at in range(N)
    ]  # fmt: skip
    winogrande = [{"sentence": make.text() + " _", "option1": "Ann", "option2": "Eva", "answer": str(label + 1)}
                  for label in two]  # fmt: skip
    cola = [
        (["gj04", "cj99", "bc01"][at % 3], label, "" if label else "*", make.text()) for at, label in enumerate(two)
    ]
    xwino = [
        (["en", "fr"][at % 2], "original", "?", make.text(), '["a"]', '["it", [10, 11], ["it"]]',
         json.dumps([["Ann", [0, 1], ["Ann"], bool(label)], ["Eva", [2, 3], ["Eva"], not label]]))
        for at, label in enumerate(two)
    ]  # fmt: skip
    sick = [["pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment"],
            *([at, make.text(), make.text(), 1 + at % 5 / 5 * 4.1, three[at % 3].upper()] for at in range(N))]  # fmt: skip
    pawsx = [["id", "sentence1", "sentence2", "label"],
             *([at + 1, make.text(), make.text(), label] for at, label in enumerate(two))]  # fmt: skip
    array = [{"text": make.text(), "label": label} for label in two]
    agnews = [[at % 4 + 1, make.text(), make.text()] for at in range(N)]
    utf16 = [["text", "label"], *([f"¿{make.text()}", ["sí", "no"][label]] for label in two)]
    quoted = [["text", "label"], *([f'She said: "{make.text()}"', ["yes", "maybe"][label]] for label in two)]
    words = [f"{stem}{place}" for stem in ("lamp", "boat") for place in range(200)]
    content = [(f"{make.text()[:-1].lower()} {word} .", word) for word in words]
    bso = [(make.text(), make.text()) for _ in range(N)]
    stsb = [["index", "genre", "score", "sentence1", "sentence2"],
            *([at, "news", f"{at / (N - 1) * 5:.3f}", make.text(), make.text()] for at in range(N))]  # fmt: skip
    mrpc = [["Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"],
            *([label, at, at + 100, make.text(), make.text()] for at, label in enumerate(two))]  # fmt: skip
    several = [{"headline": make.text(), "story": make.text(), "label": label} for label in two]
    lists = [{"text": make.text(), "labels": [label, 2]} for label in two]
    languages = [{"text": make.text(), "lang": ["en", "fr"][label], "id": f"x{at}"} for at, label in enumerate(two)]
    labelled = {"text": make.text(), "label": None}
    parallel = {f"{name}.{split}": _text(text() for _ in range(N)) for split in ("train", "dev", "test")
                for name, text in (("labels", lambda: make.random.choice(three)), ("s1", make.text), ("s2", make.text))}  # fmt: skip
    scores = [f"{at / (N - 1) * 5:.2f}" for at in range(N)]
    sts_bins = ("[0, 1.03)", "[1.03, 2.07)", "[2.07, 3.1)", "[3.1, 4.14)", "[4.14, 5]")
    questions = [f"HUM:gr  {make.text()}" if label else f"NUM: {make.text()}" for label in two]
    relations = [["doc", "unit1_toks", "unit2_toks", "unit1_txt", "unit2_txt", "s1_toks", "s2_toks", "unit1_sent",
                  "unit2_sent", "dir", "orig_label", "label"],
                 *([f"d{at}", "1-4", "5-9", make.text(), make.text(), "1-9", "1-9", make.text(), make.text(), "1>2",
                    three[at % 3], three[at % 3]] for at in range(N))]  # fmt: skip
    pandas = [["", "text", "label"], *([at, make.text(), ["no", "sí"][label]] for at, label in enumerate(two))]
    commitment = [["", "uID", "Verb", "Embedding", "Context", "Target", "Prompt", "Embedding", "genre", "Mean", "SD"],
                  *([at, f"BNC-{at}", "admit", "modal", make.text(), make.text(), make.text(), ["modal", "question"][at % 5 == 0], "BNC", f"{6 * at / (N - 1) - 3:.3f}", ""]
                    for at in range(N))]  # fmt: skip
    itacola = [["UniqueIndexID", "Source", "Acceptability", "Sentence", "Split"],
               *([at, f"Graffi_{at % 7}", label, make.text(), ["train", "dev", "test"][at % 3]]
                 for at, label in enumerate(two))]  # fmt: skip
    rucola = [["id", "sentence", "acceptable", "error_type", "detailed_source"],
              *([at, make.text(), label, 0 if label else at % 3 + 1, "Paducheva2013"] for at, label in enumerate(two))]  # fmt: skip
    exam = [{"passage": make.text() if at % 2 else None, "question": make.text(), "label": "ABCD"[at % 4],
             "options": [f"({name}){make.text()}" for name in "ABCD"], "answer": None, "other": {"solution": make.text()}}
            for at in range(N)]  # fmt: skip
    ocnli = [{"level": "easy", "sentence1": make.text(), "sentence2": make.text(), "label": three[at % 3] if at else "-"}
             for at in range(N)]  # fmt: skip
    indonli = [{"pair_id": 100 + max(1, at), "premise": make.text(), "hypothesis": make.text(), "label": three[at % 3][0]}
               for at in range(N)]  # fmt: skip
    paragraphs = [["category", "text"], *([["sport", "politics"][label], f'{make.text()}\n\n"{make.text()}"']
                                          for label in two)]  # fmt: skip
    some_quoted = [(make.text(), ["Sing", "Plur"][label]) for label in two]
    some_quoted[3:5] = [(f'"She "" {make.text()} "" said ."', "Sing"), (f'" {make.text()}', "Plur")]
    answers = [["qtext", "label", "atext"],
               *([f"what is the name of number {at // 10} ?", label, make.text()] for at, label in enumerate(two * 4))]  # fmt: skip
    yes_no = ("false", "true")
    return [
        Published("SNLI", {"snli_1.0_test.jsonl": _jsonl(snli)}, "SNLI, MNLI, XNLI", tuple(sorted(three)), 2, 0, N - 2,
                  {"label '-'": 2}),
        Published("XNLI", {"xnli.test.tsv": _tsv(xnli).encode()}, "SNLI, MNLI, XNLI", tuple(sorted(three)), 2),
        Published("PAWS-X", {"test_2k.tsv": _tsv(pawsx).encode()}, "sentence pairs", ("0", "1"), 2),
        Published("MRPC", {"msr_paraphrase_test.txt": _tsv(mrpc).encode()}, "MRPC", ("0", "1"), 2),
        Published("STS-B", {"test.tsv": _tsv(stsb).encode()}, "STS", ("[0, 1.03)", "[1.03, 2.07)", "[2.07, 3.1)", "[3.1, 4.14)", "[4.14, 5]"), 2),
        Published("BoolQ", {"test.jsonl": _jsonl(boolq)}, "BoolQ", yes_no, 2),
        Published("Belebele", {"spa_Latn.jsonl": _jsonl(belebele)}, "Belebele", ("0", "1", "2", "3"), 6, 2),
        Published("COPA", {"test.it.jsonl": _jsonl(copa)}, "COPA", ("0", "1"), 4, 2),
        Published("ARC", {"test.jsonl": _jsonl(arc)}, "ARC", ("0", "1", "2", "3"), 5, 1),
        Published("HellaSwag", {"hellaswag_val.jsonl": _jsonl(hellaswag)}, "HellaSwag", ("0", "1", "2", "3"), 5, 1),
        Published("Winogrande", {"dev.jsonl": _jsonl(winogrande)}, "Winograd schemas", ("0", "1"), 3, 1),
        Published("CoLA", {"in_domain_dev.tsv": _tsv(cola).encode()}, "CoLA", ("0", "1")),
        Published("CoLA with marks of doubt", {"in_domain_dev.tsv": _tsv(
            [source, label, mark, text] for (source, label, _, text), mark in zip(cola, ["??", "?*", "*?", "*", "", " "] * 5, strict=True)).encode()},
            "CoLA", ("0", "1")),
        Published("CommitmentBank", {"CommitmentBank-items.csv": _separated(commitment, ",").encode()}, "CommitmentBank",
                  ("[-3, -1.76)", "[-1.76, -0.517)", "[-0.517, 0.724)", "[0.724, 1.97)", "[1.97, 3]"), 3),
        Published("JBLiMP", {"validated_minimal_pairs.jsonl": _jsonl(
            {"ID": at, "good_sentence": make.text(), "bad_sentence": make.text(), "type": "acceptability", "paradigm": "island"}
            for at in range(N))}, "minimal pairs", ("first", "second"), 2),
        Published("STS of a year", {
            "STS.gs.news.txt": _text(scores), "STS.input.news.txt": _tsv(bso).encode(),
            "STS.gs.wikipedia.txt": _text(scores), "STS.input.wikipedia.txt": _tsv((make.text(), make.text()) for _ in scores).encode(),
        }, "STS", sts_bins, 2, 0, 2 * N),
        Published("SUBJ in one file", {"subj.all": _text(f"{at} {make.text()}" for at in two)}, "label first", ("0", "1")),
        Published("XWino", {"dataset.tsv": _tsv(xwino).encode()}, "XWino", ("0", "1"), 3, 1),
        Published("SICK", {"SICK_test.txt": _tsv(sick).encode()}, "SICK", tuple(sorted(one.upper() for one in three)), 2),
        Published("SICK, all files", {name: _tsv([sick[0], *sick[at::3]]).encode() for at, name in enumerate(
            ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"), 1)},
            "SICK", tuple(sorted(one.upper() for one in three)), 2),
        Published("MRPC, two files", {f"msr_paraphrase_{split}.txt": _tsv(mrpc).encode() for split in ("train", "test")},
                  "MRPC", ("0", "1"), 2, 0, 2 * N),
        Published("SST of SentEval", {f"sentiment-{split}": _tsv((make.text(), label) for label in two).encode()
                                      for split in ("train", "dev", "test")}, "X-Probe", ("0", "1"), 1, 0, 3 * N),
        Published("JSON array", {"test.json": json.dumps(array).encode()}, "table, JSON", ("0", "1")),
        Published("headerless CSV", {"test.csv": _separated(agnews, ",").encode()}, message="hold the text",
                  options=("--text", "column2", "--text", "column3")),
        Published("UTF-16 CSV", {"test.csv": _separated(utf16, ",").encode("utf-16")}, "table, CSV", ("no", "sí")),
        Published("quoted TSV", {"test.tsv": _separated(quoted, "\t", csv.QUOTE_ALL).encode()}, "table, TSV",
                  ("maybe", "yes")),
        Published("X-Probe word content", {"te.txt": (_tsv(content * 5)).encode()}, "X-Probe", tuple(sorted(words)), 1, 0,
                  5 * len(words)),
        Published("DiscoEval BSO", {"test.txt": _tsv(bso).encode()}, "DiscoEval BSO", ("in_order", "swapped"), 2, 0, 2 * N),
        Published("null text and label", {"test.jsonl": _jsonl([*array, labelled, {"text": None, "label": 1}])},
                  "table, JSON", ("0", "1"), left_out={"no label": 1, "no text": 1}),
        Published("SNLI of SentEval", parallel, "SNLI of SentEval", tuple(sorted(three)), 2, 0, 3 * N),
        Published("STS of SentEval", {"STS.gs.news.txt": _text(scores), "STS.input.news.txt": _tsv(bso).encode()}, "STS",
                  sts_bins, 2),
        Published("STS by year", {"MSRpar.test.tsv": _tsv((score, *texts) for score, texts in zip(scores, bso, strict=True)).encode()},
                  "STS", sts_bins, 2),
        Published("SUBJ of SentEval", {"subj.objective": _text(make.text() for _ in range(N)),
                                       "subj.subjective": _text(make.text() for _ in range(N))},
                  "one file per class", ("objective", "subjective"), 1, 0, 2 * N),
        Published("TREC", {"test.txt": _text(questions)}, "TREC", ("HUM", "NUM")),
        Published("DISRPT", {"eng.rst.gum_test.rels": _tsv(relations).encode()}, "DISRPT relations", tuple(sorted(three)), 2),
        Published("index of pandas", {"test.csv": _separated(pandas, ",").encode()}, "table, CSV", ("no", "sí")),
        Published("ItaCoLA", {"ItaCoLA_dataset.tsv": _tsv(itacola).encode()}, "table, TSV", ("0", "1")),
        Published("RuCoLA", {"in_domain_dev.csv": _separated(rucola, ",").encode()}, "RuCoLA", ("0", "1")),
        Published("AGIEval", {"logiqa-en.jsonl": _jsonl(exam)}, "AGIEval", ("0", "1", "2", "3"), 6, 2),
        Published("OCNLI", {"dev.json": _jsonl(ocnli)}, "sentence pairs", tuple(sorted(three)), 2, 0, N - 1, {"label '-'": 1}),
        Published("IndoNLI", {"diagnostic.jsonl": json.dumps(indonli, indent=2).encode()}, "inference pairs", ("c", "e", "n"), 2),
        Published("X-Probe with some quoting", {"te.txt": _tsv(some_quoted).encode()}, "X-Probe", ("Plur", "Sing")),
        Published("quoted TSV of paragraphs", {"test.tsv": _separated(paragraphs).encode()}, "table, TSV",
                  ("politics", "sport")),
        Published("questions and answers", {"test.csv": _separated(answers, ",").encode()}, message="hold the text",
                  rows=4 * N, options=("--text", "qtext", "--text", "atext", "--label", "label")),
        Published("two text columns", {"test.jsonl": _jsonl(several)}, message="hold the text",
                  options=("--text", "story")),
        Published("lists as labels", {"test.jsonl": _jsonl(lists)}, message="holds lists"),
        Published("language codes", {"test.jsonl": _jsonl(languages)}, message="which column holds the label",
                  options=("--label", "lang")),
    ]  # fmt: skip


THREE = ("contradiction", "entailment", "neutral")
EMOTIONS = ("anger", "joy", "optimism", "sadness")


def _containers() -> list[Published]:
    """Compression, archives, encodings, line ends, separators."""
    make = _Source()
    two = [at % 2 for at in range(N)]
    make.random.shuffle(two)
    rows = [{"text": make.text(), "label": ["no", "yes"][label]} for label in two]
    table = [["text", "label"], *([row["text"], row["label"]] for row in rows)]
    accents = [["text", "label"], *([f"café {make.text()}", ["no", "sí"][label]] for label in two)]
    folders = {f"reviews/{['neg', 'pos'][label]}/{at}.txt": make.text().encode() for at, label in enumerate(two)}
    yes_no = ("no", "yes")
    half = len(rows) // 2
    parts = {f"data/train-0000{part}-of-00002.parquet": _parquet(rows[part * half :][:half]) for part in range(2)}
    return [
        Published("gz", {"test.jsonl.gz": gzip.compress(_jsonl(rows))}, "table, JSON lines", yes_no),
        Published("xz", {"test.tsv.xz": lzma.compress(_tsv(table).encode())}, "table, TSV", yes_no),
        Published("bz2", {"test.csv.bz2": bz2.compress(_separated(table, ",").encode())}, "table, CSV", yes_no),
        Published("gz without header", {"te.txt.gz": gzip.compress(_tsv(table[1:]).encode())}, "X-Probe", yes_no),
        Published("zip of one file", {"archive.zip": archive_of({"test.csv": _separated(table, ",")})}, "table, CSV", yes_no,
                  path="archive.zip"),
        Published("zip of splits", {"archive.zip": archive_of({f"set/{split}.jsonl": _jsonl(rows) for split in ("train", "test")})},
                  "table, JSON lines", yes_no, rows=2 * N, path="archive.zip"),
        Published("tar.gz of class folders", {"aclImdb.tar.gz": _tar(folders)}, "one file per text", ("neg", "pos"),
                  path="aclImdb.tar.gz"),
        Published("bars", {"test.csv": _separated(table, "|").encode()}, "table, values separated by |", yes_no),
        Published("psv", {"test.psv": _separated(table[1:], "|").encode()}, "table, values separated by |", yes_no),
        Published("semicolons", {"test.csv": _separated(table, ";").encode()}, "table, CSV", yes_no),
        Published("commas in .txt", {"test.txt": _separated(table, ",").encode()}, "table, CSV", yes_no),
        Published("CR", {"test.csv": _separated(table, ",").replace("\n", "\r").encode()}, "table, CSV", yes_no),
        Published("CR without header", {"te.txt": _tsv(table[1:]).replace("\n", "\r").encode()}, "X-Probe", yes_no),
        Published("CRLF", {"test.csv": _separated(table, ",").replace("\n", "\r\n").encode()}, "table, CSV", yes_no),
        Published("cp1252", {"test.csv": _separated(accents, ",").encode("cp1252")}, message="--encoding",
                  options=("--encoding", "cp1252")),
        Published("latin-1 without header", {"te.txt": _tsv(accents[1:]).encode("latin-1")}, message="--encoding",
                  options=("--encoding", "latin-1")),
        Published("UTF-8 with a mark", {"test.csv": b"\xef\xbb\xbf" + _separated(table, ",").encode()}, "table, CSV", yes_no),
        Published("UTF-16 JSON lines", {"test.jsonl": _jsonl(rows).decode().encode("utf-16")}, "table, JSON lines", yes_no),
        Published("parquet with class names", {"test-00000-of-00001.parquet": _parquet(
            [{"text": row["text"], "label": label} for row, label in zip(rows, two, strict=True)], ["calm", "wild"])},
            "table, parquet", ("calm", "wild")),
        Published("parquet shards", parts, "table, parquet", yes_no),
        Published("large letters in names", {"TEST.CSV": _separated(table, ",").encode()}, "table, CSV", yes_no),
    ]  # fmt: skip


def _lines() -> list[Published]:
    """Lines without header, parallel files, folders of classes."""
    make = _Source()
    two = [at % 2 for at in range(N)]
    make.random.shuffle(two)
    splits = ("train", "val", "test")
    four = [at % 4 for at in range(N)]
    texts = {split: [make.text() for _ in range(N)] for split in splits}
    tweets = {f"{split}_text.txt": _text(texts[split]) for split in splits}
    tweets |= {f"{split}_labels.txt": _text(map(str, four)) for split in splits}
    mapping = {"mapping.txt": "".join(f"{at}\t{name}\n" for at, name in enumerate(EMOTIONS)).encode()}
    arrays = {f"{axis}_{split}.txt": _text(make.text() if axis == "X" else str(label) for label in two)
              for axis in "Xy" for split in ("train", "test")}  # fmt: skip
    intents = {f"{split}/{name}": _text(of) for split in ("train", "valid", "test") for name, of in (
        ("seq.in", texts["test"]), ("seq.out", ("O B-x O" for _ in two)), ("label", (["PlayMusic", "GetWeather"][at] for at in two)))}  # fmt: skip
    imdb = {f"{split}/{['neg', 'pos'][label]}/{at}_{at % 10}.txt": make.text().encode()
            for split in ("train", "test") for at, label in enumerate(two)}  # fmt: skip
    news = {f"20news-bydate-{split}/{['sci.space', 'rec.autos'][label]}/{49000 + at}":
            f"From: x\nSubject: y\n\n{make.text()}\n".encode() for split in ("train", "test") for at, label in enumerate(two)}  # fmt: skip
    bbc = {f"bbc/{['business', 'sport'][label]}/{at:03}.txt": f"{make.text()}\n\n{make.text()}\n".encode()
           for at, label in enumerate(two)}  # fmt: skip
    fast = [f"__label__{['baking', 'bread'][label]} {make.text()}" for label in two]
    stars = [f"__label__{label + 1} {make.text()}: {make.text()}" for label in two]
    ham = ("ham", "spam")
    sp = {f"{split}.txt": _tsv((at % 5, *(make.text() for _ in range(5))) for at in range(N)).encode()
          for split in ("train", "valid", "test")}  # fmt: skip
    probing = [(split, "IO"[label], make.text()) for split in ("tr", "va", "te") for label in two]
    semeval = [(260000 + at, ["negative", "neutral", "positive"][at % 3], make.text()) for at in range(N)]
    emotions = [(make.text(), label * 27, f"eef{at}x") for at, label in enumerate(two)]
    return [
        Published("TweetEval", tweets | mapping, "parallel files", EMOTIONS, rows=3 * N, first=(texts["train"][0],)),
        Published("TweetEval without names", tweets, "parallel files", tuple("0123"), rows=3 * N),
        Published("X and y", arrays, "parallel files", ("0", "1"), rows=2 * N),
        Published("SNIPS, ATIS", intents, "parallel files", ("GetWeather", "PlayMusic"), rows=3 * N,
                  first=(texts["test"][0],)),
        Published("aclImdb", imdb, "one file per text", ("neg", "pos"), rows=2 * N),
        Published("aclImdb with unsup", imdb | {f"train/unsup/{at}_0.txt": make.text().encode() for at in range(N)}
                  | {"train/urls_pos.txt": b"http://x\n", "imdb.vocab": b"the\n", "README": b"x"},
                  "one file per text", ("neg", "pos"), rows=2 * N),
        Published("20 newsgroups", news, "one file per text", ("rec.autos", "sci.space"), rows=2 * N),
        Published("BBC news", bbc, "one file per text", ("business", "sport")),
        Published("fastText", {"cooking.train": _text(fast), "cooking.valid": _text(fast)}, "fastText",
                  ("baking", "bread"), rows=2 * N),
        Published("fastText, bz2", {"test.ft.txt.bz2": bz2.compress(_text(stars))}, "fastText", ("1", "2")),
        Published("fastText with several labels", {"test.txt": _text(f"__label__a __label__b {make.text()}" for _ in two)},
                  message="a row needs one label"),
        Published("rt-polarity.all", {"rt-polarity.txt": _text(f"{label} {make.text()}" for label in two)}, "label first",
                  ("0", "1")),
        Published("label and tab", {"SMSSpamCollection.txt": _tsv((ham[label], make.text()) for label in two).encode()},
                  "DiscoEval", ham),
        Published("labels in words before a space", {"test.txt": _text(f"{ham[label]} {make.text()}" for label in two)},
                  "label first", ham),
        Published("labels with zeros", {"te.txt": _tsv((make.text(), ["01", "1"][label]) for label in two).encode()}, "X-Probe",
                  ("01", "1")),
        Published("DiscoEval SP", sp, "DiscoEval", tuple("01234"), 5, rows=3 * N),
        Published("SentEval probing", {"bigram_shift.txt": _tsv(probing).encode()}, "SentEval", ("O", "I"), rows=3 * N),
        Published("SemEval 2017, task 4", {"twitter-2016test-A.txt": _tsv(semeval).encode()}, "table, TSV",
                  ("negative", "neutral", "positive")),
        Published("GoEmotions", {"test.tsv": _tsv(emotions).encode()}, "table, TSV", ("0", "27")),
        Published("MLDoc", {"french.test": _tsv((["CCAT", "MCAT"][label], make.text()) for label in two).encode()}, "DiscoEval",
                  ("CCAT", "MCAT")),
    ]  # fmt: skip


def _tables_of_texts() -> list[Published]:
    """Tables with header: GLUE and others."""
    make = _Source()
    two = [at % 2 for at in range(N)]
    make.random.shuffle(two)
    zeros = ("0", "1")
    sides = ("entailment", "not_entailment")
    codes = [["text", "label"], *([f"{at:03}", ["a", "b"][label]] for at, label in enumerate(two))]
    swag = [["", "video-id", "fold-ind", "startphrase", "sent1", "sent2", "gold-source", "ending0", "ending1", "ending2",
             "ending3", "label"],
            *([at, f"anetv_{at}", at + 3000, make.text(), make.text(), "She", "gold", *(make.text() for _ in range(4)), at % 4]
              for at in range(N))]  # fmt: skip
    olid = [["id", "tweet", "subtask_a", "subtask_b", "subtask_c"],
            *([86426 + at, make.text(), ["OFF", "NOT"][label], ["UNT", "TIN"][at % 2], ["IND", "GRP", "OTH"][at % 3]]
              for at, label in enumerate(two))]  # fmt: skip
    toxic = [["id", "comment_text", "toxic", "severe_toxic", "obscene"],
             *([f"{at:016x}", make.text(), label, at % 3 % 2, label] for at, label in enumerate(two))]  # fmt: skip
    massive = [{"id": str(at), "locale": "af-ZA", "partition": ["train", "dev", "test"][at % 3], "scenario": "alarm",
                "intent": ["alarm_set", "alarm_query"][label], "utt": make.text(), "annot_utt": make.text(), "worker_id": "9"}
               for at, label in enumerate(two)]  # fmt: skip
    blimp = [{"sentence_good": make.text(), "sentence_bad": make.text(), "field": "syntax", "linguistics_term": "binding",
              "UID": "principle_A", "pairID": str(at)} for at in range(N)]  # fmt: skip
    liar = [[f"{at}.json", ["half-true", "false"][label], make.text(), ["economy", "taxes"][at % 2], "x", "Job", "Florida", ["republican", "democrat"][at % 3 % 2], 0, 1,
             2, 3, 4, "a news release"] for at, label in enumerate(two)]  # fmt: skip
    glue_sts = [["index", "genre", "filename", "year", "old_index", "source1", "source2", "sentence1", "sentence2", "score"],
                *([at, "main-news", "headlines", 2016, at, "none", "none", make.text(), make.text(), f"{at / (N - 1) * 5:.3f}"]
                  for at in range(N))]  # fmt: skip
    bins = ("[0, 1.03)", "[1.03, 2.07)", "[2.07, 3.1)", "[3.1, 4.14)", "[4.14, 5]")
    return [
        Published("labels 01 and 1", {"test.csv": _separated([["text", "label"], *([make.text(), ["01", "1"][at]] for at in two)], ",").encode()},
                  "table, CSV", ("01", "1")),
        Published("codes as texts", {"test.csv": _separated(codes, ",").encode()}, "table, CSV", ("a", "b"),
                  first=("000",)),
        Published("Banking77", {"test.csv": _separated([["text", "category"], *([make.text(), ["card_arrival", "age_limit"][at]] for at in two)], ",").encode()},
                  "table, CSV", ("age_limit", "card_arrival")),
        Published("IMDB of Kaggle", {"IMDB Dataset.csv": _separated([["review", "sentiment"], *([make.text(), ["negative", "positive"][at]] for at in two)], ",").encode()},
                  "table, CSV", ("negative", "positive")),
        Published("Yelp polarity", {"test.csv": _separated([[str(at + 1), make.text()] for at in two], ",", csv.QUOTE_ALL).encode()},
                  "table, CSV", ("1", "2")),
        Published("AG News with header", {"test.csv": _separated([["Class Index", "Title", "Description"], *([at % 4 + 1, make.text(), make.text()] for at in range(N))], ",").encode()},
                  message="which column holds the label", options=("--text", "Title", "--text", "Description", "--label", "Class Index")),
        Published("SST-2", {"dev.tsv": _tsv([("sentence", "label"), *((make.text(), at) for at in two)]).encode()}, "table, TSV", zeros),
        Published("QNLI", {"dev.tsv": _tsv([("index", "question", "sentence", "label"), *((n, make.text(), make.text(), sides[at]) for n, at in enumerate(two))]).encode()},
                  "QNLI", sides, 2),
        Published("RTE", {"dev.tsv": _tsv([("index", "sentence1", "sentence2", "label"), *((n, make.text(), make.text(), sides[at]) for n, at in enumerate(two))]).encode()},
                  "sentence pairs", sides, 2),
        Published("QQP", {"dev.tsv": _tsv([("id", "qid1", "qid2", "question1", "question2", "is_duplicate"), *((n, n, n + 9, make.text(), make.text(), at) for n, at in enumerate(two))]).encode()},
                  "QQP", zeros, 2),
        Published("STS-B of GLUE", {"dev.tsv": _tsv(glue_sts).encode()}, "STS", bins, 2),
        Published("ANLI", {"test.jsonl": _jsonl({"uid": f"x{n}", "context": make.text(), "hypothesis": make.text(), "label": "enc"[n % 3], "reason": ""} for n in range(N))},
                  "ANLI", ("c", "e", "n"), 2),
        Published("CB", {"val.jsonl": _jsonl({"premise": make.text(), "hypothesis": make.text(), "label": THREE[n % 3], "idx": n} for n in range(N))},
                  "inference pairs", THREE, 2),
        Published("WiC", {"val.jsonl": _jsonl({"word": "place", "sentence1": make.text(), "sentence2": make.text(), "idx": n, "label": bool(at), "start1": 1, "end1": 2} for n, at in enumerate(two))},
                  "WiC", ("false", "true"), 2),
        Published("SWAG", {"val.csv": _separated(swag, ",").encode()}, "SWAG", tuple("0123"), 5, 1),
        Published("OLID", {"olid-test.tsv": _tsv(olid).encode()}, message="hold the text",
                  options=("--label", "subtask_a", "--text", "tweet")),
        Published("toxic comments", {"test.csv": _separated(toxic, ",").encode()}, message="which column holds the label",
                  options=("--label", "toxic", "--text", "comment_text")),
        Published("MASSIVE", {"af-ZA.jsonl": _jsonl(massive)}, message="hold the text", options=("--text", "utt")),
        Published("BLiMP", {"principle_A.jsonl": _jsonl(blimp)}, "minimal pairs", ("first", "second"), 2),
        Published("RuBLiMP", {"test.csv": _separated([["id", "source_sentence", "target_sentence"], *([n, make.text(), make.text()] for n in range(N))], ",").encode()},
                  "minimal pairs", ("first", "second"), 2),
        Published("LIAR", {"test.tsv": _tsv(liar).encode()}, message="which column holds the label"),
        Published("spaces after commas", {"test.csv": _text(["id, text, label", *(f"{n}, {make.text()}, {['no', 'yes'][at]}" for n, at in enumerate(two))])},
                  "table, CSV", (" no", " yes")),
        Published("infinite scores", {"test.jsonl": _jsonl([{"text": make.text(), "label": at} for at in two] + [{"text": make.text(), "label": float("inf")}])},
                  "table, JSON lines", zeros, left_out={"no label": 1}),
    ]  # fmt: skip


def _nested() -> list[Published]:
    """JSON of several levels."""
    make = _Source()
    two = [at % 2 for at in range(N)]
    make.random.shuffle(two)
    rows = [{"text": make.text(), "label": ["no", "yes"][label]} for label in two]
    yes_no = ("no", "yes")
    letters = "ABCDE"
    structs = [{"answerKey": letters[at % 5], "id": f"x{at}", "question": {
        "question_concept": "punishing", "choices": [{"label": name, "text": make.text()} for name in letters], "stem": make.text()}}
        for at in range(N)]  # fmt: skip
    on_hub = [{"id": f"x{at}", "question": make.text(), "question_concept": "x", "answerKey": letters[at % 5],
               "choices": {"label": list(letters), "text": [make.text() for _ in letters]}} for at in range(N)]  # fmt: skip
    openbook = [{"id": f"7-{at}", "question": {"stem": make.text(), "choices": [{"text": make.text(), "label": name} for name in "ABCD"]},
                 "answerKey": "ABCD"[at % 4]} for at in range(N)]  # fmt: skip
    pairs = [[row["text"], row["label"]] for row in rows]
    clinc = {
        "oos_val": pairs[:3],
        "val": pairs,
        "train": pairs,
        "oos_test": pairs[:3],
        "test": pairs,
        "oos_train": pairs[:3],
    }
    words = [{"id": str(at), "tokens": row["text"].split(), "label": row["label"]} for at, row in enumerate(rows)]
    ner = [
        {"id": str(at), "tokens": row["text"].split(), "ner_tags": [0] * len(row["text"].split())}
        for at, row in enumerate(rows)
    ]
    wsc = [{"text": row["text"], "target": {"span1_index": 0, "span2_index": 3, "span1_text": "Mark", "span2_text": "He"},
            "idx": at, "label": bool(label)} for at, (row, label) in enumerate(zip(rows, two, strict=True))]  # fmt: skip
    truthful = [
        {"question": make.text(), "mc1_targets": {"choices": [make.text() for _ in range(4)], "labels": [1, 0, 0, 0]}}
        for _ in two
    ]
    race = {"answers": ["A", "B"], "options": [[make.text() for _ in range(4)] for _ in range(2)],
            "questions": [make.text() for _ in range(2)], "article": make.text(), "id": "high1.txt"}  # fmt: skip
    squad = {"version": "1.1", "data": [{"title": "x", "paragraphs": [{"context": make.text(), "qas": [
        {"question": make.text(), "id": "1", "answers": [{"text": "x", "answer_start": 0}]}]}]}]}  # fmt: skip
    sentences = [{"sentences": [make.text() for _ in range(4)], "label": row["label"]} for row in rows]
    columns = {
        "text": {str(at): row["text"] for at, row in enumerate(rows)},
        "label": {str(at): row["label"] for at, row in enumerate(rows)},
    }
    return [
        Published("CommonsenseQA", {"dev_rand_split.jsonl": _jsonl(structs)}, "ARC", tuple("01234"), 6, 1),
        Published("CommonsenseQA of the Hub", {"validation.jsonl": _jsonl(on_hub)}, "ARC", tuple("01234"), 6, 1),
        Published("OpenBookQA", {"test.jsonl": _jsonl(openbook)}, "ARC", tuple("0123"), 5, 1),
        Published("an array per split", {"data.json": json.dumps({"train": rows, "validation": rows, "test": rows}).encode()},
                  "table, JSON", yes_no, rows=3 * N),
        Published("CLINC150", {"data_full.json": json.dumps(clinc).encode()}, "table, JSON", yes_no, rows=3 * N,
                  first=(pairs[0][0],), skipped=3),
        Published("array of arrays", {"test.json": json.dumps(pairs).encode()}, "table, JSON", yes_no),
        Published("lines of arrays", {"test.jsonl": _text(map(json.dumps, pairs))}, "table, JSON lines", yes_no),
        Published("columns of pandas", {"test.json": json.dumps(columns).encode()}, "table, JSON", yes_no),
        Published("split of pandas", {"test.json": json.dumps({"columns": ["text", "label"], "index": [*range(N)], "data": pairs}).encode()},
                  "table, JSON", yes_no),
        Published("object per row", {"test.json": json.dumps({f"row{at}": row for at, row in enumerate(rows)}).encode()}, "table, JSON", yes_no),
        Published("rows beside other values", {"test.json": json.dumps({"version": "1", "data": rows}).encode()}, "table, JSON", yes_no),
        Published("lists of words", {"test.jsonl": _jsonl(words)}, "table, JSON lines", yes_no, first=(rows[0]["text"],)),
        Published("lists of sentences", {"test.jsonl": _jsonl(sentences)}, "table, JSON lines", yes_no, 4),
        Published("WSC", {"val.jsonl": _jsonl(wsc)}, "WSC", ("false", "true"), 3),
        Published("words with tags", {"test.jsonl": _jsonl(ner)}, message="label"),
        Published("TruthfulQA", {"test.json": json.dumps(truthful).encode()}, message="label"),
        Published("RACE, a file per passage", {f"test/high/{at}.json": json.dumps(race).encode() for at in range(3)}, message="column"),
        Published("SQuAD", {"dev-v1.1.json": json.dumps(squad).encode()}, message="label"),
    ]  # fmt: skip


def _no_rows() -> list[Published]:
    """Files that hold no rows of text and label: reading stops with a remedy."""
    make = _Source()
    two = [at % 2 for at in range(N)]
    make.random.shuffle(two)
    tagged = "\n\n".join(
        "\n".join(f"{word}\t{'B-X' if at else 'O'}" for at, word in enumerate(make.text().split())) for _ in two
    )
    conll = "-DOCSTART- -X- O O\n\n" + "\n\n".join(
        "\n".join(f"{word} NN B-NP O" for word in make.text().split()) for _ in two
    )
    conllu = "\n\n".join(
        "# text = x\n"
        + "\n".join(f"{n}\t{word}\t_\tNOUN\t_\t_\t0\troot\t_\t_" for n, word in enumerate(make.text().split(), 1))
        for _ in two
    )
    wic = {"train.data.txt": _tsv((f"word{n}", "NV"[at], "5-6", make.text(), make.text()) for n, at in enumerate(two)).encode(),
           "train.gold.txt": _text("TF"[at] for at in two)}  # fmt: skip
    return [
        Published("mapping alone", {"mapping.tsv": "".join(f"{at}\t{name}\n" for at, name in enumerate(EMOTIONS)).encode()}, message="names of classes",
                  path="mapping.tsv"),
        Published("mapping of two", {"names.txt": b"0\tnot_hate\n1\thate\n"}, message="names of classes"),
        Published("words and tags", {"train.txt": f"{tagged}\n".encode()}, message="CoNLL"),
        Published("CoNLL-2003", {"test.txt": f"{conll}\n".encode()}, message="CoNLL"),
        Published("CoNLL-U as text", {"test.txt": f"{conllu}\n".encode()}, message="build run --corpus"),
        Published("bare values", {"test.jsonl": _text(str(at) for at in two)}, message="not a JSON object"),
        Published("plain text", {"plot.txt": _text(make.text() for _ in two)}, message="which column holds the label"),
        Published("datasetSentences of SST", {"datasetSentences.txt": _tsv([("sentence_index", "sentence"), *((n + 1, make.text()) for n in range(N))]).encode()},
                  message="which column holds the label"),
        Published("WiC of its site", wic, message="hold"),
        Published("PIQA without labels", {"valid.jsonl": _jsonl({"goal": make.text(), "sol1": make.text(), "sol2": make.text()} for _ in two)},
                  message="which column holds the label"),
        Published("XML of SemEval", {"test.xml": b"<sentences><sentence id='1'><text>x</text></sentence></sentences>"}, message="expected one of"),
        Published("a spreadsheet", {"test.xlsx": b"PK\x03\x04"}, message="expected one of"),
    ]  # fmt: skip
