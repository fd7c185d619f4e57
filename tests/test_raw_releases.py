"""Datasets from raw text, from the source to the rows: rows are slices of it, and its container does not matter.

Nothing but `build`'s own entry point is used of the product; sources, CoNLL-U and parquet are read by other means.
"""

import csv
import json
import re
import unicodedata

import datasets
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from raw_cases import articles
from shared import SHARED, STANZA, needs_stanza, sample_file

from discoprobe import pipeline
from discoprobe.builders import Settings, tasks_named
from discoprobe.loaders import cache_folder
from discoprobe.loaders.raw import AnnotationOptions
from discoprobe.plan import plan
from discoprobe.sources import Request, corpora_of

TEXT = SHARED / "corpora" / "text"
SHOWN = ("text", "sentences", "sentence1", "sentence2", "candidate", "context", "choices")


def stories(lang):
    """The documents of the sample: their sentences in paragraphs of four."""
    found = {}
    for line in sample_file(lang).read_text(encoding="utf-8").splitlines():
        if line.startswith("# newdoc id = "):
            found[line.rpartition(" = ")[2]] = []
        if line.startswith("# text = "):
            next(reversed(found.values())).append(line.removeprefix("# text = "))
    return {
        name: "\n\n".join(" ".join(sentences[i : i + 4]) for i in range(0, len(sentences), 4))
        for name, sentences in found.items()
    }


def built(source, out, lang, *, segment, tasks=("all",), jobs=1):
    """The configs of a release made from raw text: their names, and the files with their bytes."""
    raw = AnnotationOptions(segment=segment, stanza_dir=None if segment else STANZA)
    request = Request((lang,), (str(source),), tasks, jobs=jobs, audit=False, raw=raw)
    pipeline.run(plan(request), out)
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*.parquet"))}


# the container does not matter


def as_txt(folder, texts):
    (folder / "notes").mkdir(parents=True)
    for name, text in texts.items():
        (folder / "notes" / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder / "notes"


def as_jsonl(folder, texts):
    folder.mkdir()
    lines = [json.dumps({"id": name, "text": text}) for name, text in reversed(texts.items())]
    (folder / "notes.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder / "notes.jsonl"


def as_table(texts):
    return pa.table({"text": list(texts.values()), "id": list(texts), "other": list(range(len(texts)))})


def as_parquet(folder, texts):
    folder.mkdir()
    pq.write_table(as_table(texts), folder / "notes.parquet", row_group_size=7)
    return folder / "notes.parquet"


def as_csv(folder, texts):
    folder.mkdir()
    with (folder / "notes.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("id", "text"), *texts.items()])
    return folder / "notes.csv"


def as_dataset(folder, texts):
    halves = datasets.Dataset(as_table(texts)).train_test_split(test_size=0.5, seed=1)
    halves.save_to_disk(str(folder / "notes"))
    return folder / "notes"


WRITERS = (as_txt, as_jsonl, as_parquet, as_csv, as_dataset)


@pytest.mark.parametrize(
    ("lang", "segment", "tasks"),
    [
        pytest.param("es", True, ("bso", "dc", "sp"), id="rules"),
        pytest.param("de", False, ("bso", "dc"), id="stanza", marks=[needs_stanza, pytest.mark.slow]),
    ],
)
def test_the_same_text_gives_the_same_datasets_whatever_holds_it(lang, segment, tasks, tmp_path, monkeypatch):
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(tmp_path / "no models"))
    texts = stories(lang)
    assert sum(len(text.split()) for text in texts.values()) > 3000
    releases = []
    for write in WRITERS:
        monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / f"{write.__name__}-cache"))  # each is annotated anew
        source = write(tmp_path / write.__name__, texts)
        releases.append(built(source, tmp_path / f"{write.__name__}-out", lang, segment=segment, tasks=tasks))
    assert {name.partition("/")[0] for name in releases[0]} == {f"{task}_{lang}" for task in tasks}
    assert all(found == releases[0] for found in releases[1:])


# rows are slices of the source


def roughened(texts):
    """Files of text that is hard to read: wrapped, with divided words, soft hyphens, marks, other encodings."""
    files = {}
    for n, (name, text) in enumerate(texts.items()):
        lines = re.sub(r"(.{30,60}?) ", r"\1\n", text)
        if n % 4 == 1:
            lines = re.sub(r"(\w{4})(\w{4})", "\\1\u00ad\\2", lines)
        if n % 4 == 2:
            lines = unicodedata.normalize("NFD", lines).replace("\n", "\r\n")
        if n % 4 == 3:
            lines = f"== {name} ==\n\n{lines.replace(' ', '  ', 5)}"
        encoding = ("utf-8", "utf-8-sig", "utf-16")[n % 3]
        files[f"{name}.txt"] = lines.encode(encoding)
    return files


class Sources:
    """What sentences of a corpus made from raw text stand for: slices of the files that their comments name."""

    def __init__(self, corpora, folder, read):
        self.slices, self.texts, self.folder, self.read = {}, {}, folder, read
        for path in sorted(corpora.rglob("*.conllu")):
            for block in path.read_text(encoding="utf-8").split("\n\n"):
                comments = dict(re.findall(r"^# (\w+) = (.*)$", block, re.MULTILINE))
                if comments:
                    file, start, end = re.fullmatch(r"(.*):(\d+):(\d+)", comments["source"]).groups()
                    self.slices[comments["sent_id"]] = (path.parent, file, int(start), int(end))
                    self.texts[comments["sent_id"]] = comments["text"]

    def slice(self, sent_id):
        corpus, file, start, end = self.slices[sent_id]
        if file.startswith("text/"):
            return (corpus / file).read_text(encoding="utf-8")[start:end]
        return self.read(file)[start:end]


def plain(text):
    """A slice of a source without what reading takes out: NFC, no soft hyphens, white space runs are one space."""
    return " ".join(unicodedata.normalize("NFC", text.replace("\u00ad", "")).split())


def rows_of(out):
    for path in sorted(out.rglob("*.parquet")):
        for row in pq.read_table(path).to_pylist():
            yield path.parent.name, row


def shown_in(row):
    return [
        text for name in SHOWN if row.get(name) for text in ([row[name]] if isinstance(row[name], str) else row[name])
    ]


def check_rows(out, sources):
    """AnnotationOptions many sentences of each config were found in their places."""
    found = {}
    for config, row in rows_of(out):
        slices = [plain(sources.slice(name)) for name in row["sent_ids"]]
        if "text" in row:
            own = slices[0]
            assert (row["original"] or row["text"]) == own, config
            if row["target"]:
                at = row["target"]
                assert row["text"][at["start"] : at["end"]] == at["form"]
        elif "sentence_good" in row:
            texts = plain(f"{row['sentence_good']} {row['sentence_bad']}")
            assert all(piece in texts for piece in slices), config
        elif config.startswith("dconn"):  # without its connective, its first letter a capital
            assert row["sentence1"] == slices[0]
            assert slices[1].lower().endswith(row["sentence2"].lower().rstrip())
        else:
            assert shown_in(row) == slices, config
        found[config] = found.get(config, 0) + len(slices)
    return found


def files_of(folder):
    """A function: the characters of a file, decoded by its byte order mark."""

    def read(name):
        data = (folder / name).read_bytes()
        return data.decode("utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig")

    return read


def test_every_row_is_a_slice_of_its_source(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("DISCOPROBE_CACHE", str(cache))
    monkeypatch.setenv("STANZA_RESOURCES_DIR", str(tmp_path / "no models"))
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, data in roughened(stories("de")).items():
        (folder / name).write_bytes(data)
    built(folder, tmp_path / "out", "de", segment=True)
    sources = Sources(cache_folder() / "annotated", folder, files_of(folder))
    found = check_rows(tmp_path / "out", sources)
    assert {config.rpartition("_")[0] for config in found} >= {"bso", "dc", "so"}
    marks = [sources.slice(name) for name in sources.slices]
    assert sum("\u00ad" in one for one in marks) > 10
    assert sum("\r\n" in one for one in marks) > 10
    assert sum(one != unicodedata.normalize("NFC", one) for one in marks) > 10


@needs_stanza
@pytest.mark.slow
@pytest.mark.skipif(not TEXT.is_dir(), reason="no ../shared with raw text beside the repository")
def test_every_row_of_a_play_and_articles_is_a_slice_of_its_source(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "notes"
    (folder / "articles").mkdir(parents=True)
    articles = sorted((TEXT / "de" / "klexikon" / "klexikon").glob("*.txt"))[:6]
    play = TEXT / "de" / "gerdracor" / "gleim-der-bloede-schaefer.xml"
    for path in (*articles, play):
        (folder / ("articles" if path in articles else ".") / path.name).write_bytes(path.read_bytes())
    built(folder, tmp_path / "out", "de", segment=False)
    sources = Sources(cache_folder() / "annotated", folder, files_of(folder))
    found = check_rows(tmp_path / "out", sources)
    assert len(found) >= 4
    assert sum(found.values()) > 200
    words = set(re.findall(r"\w+", unicodedata.normalize("NFC", play.read_text(encoding="utf-8"))))
    texts = [sources.slice(name) for name, (_, file, *_) in sources.slices.items() if file.startswith("text/")]
    assert len(texts) > 200
    assert all(words.issuperset(re.findall(r"\w+", text)) for text in texts), "the extracted text is the play's"


def test_only_the_first_documents_are_read_and_what_the_cache_has_makes_no_difference(tmp_path, monkeypatch):
    """With `--documents`, also for the audit, and with all row groups of the text in the cache."""
    texts = articles(60)
    table = pa.table({"text": texts, "id": [f"c/{number}" for number in range(len(texts))]})
    pq.write_table(table, tmp_path / "cuentos.parquet", row_group_size=10)
    raw = AnnotationOptions(segment=True, rules=True)
    settings = msgspec.structs.replace(Settings(), most_documents=25)
    request = Request(("es",), (str(tmp_path / "cuentos.parquet"),), ("so",), settings, raw=raw, keep_failed=True)
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    ((corpus, _),) = corpora_of(plan(request, tasks_named(["so"])))
    pipeline.run(plan(request), tmp_path / "cold")
    assert sum(part.record() is not None for part in corpus.parts) == 3
    for part in corpus.parts:
        part.load()
    pipeline.run(plan(request), tmp_path / "warm")
    cold, warm = (json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("cold", "warm"))
    assert warm == cold
    (source,) = cold["sources"].values()
    assert sum(map(len, source["annotation"]["row_groups"].values())) == 3
