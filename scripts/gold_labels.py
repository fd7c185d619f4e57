"""Measure how labels from raw text agree with those of a treebank: ``cards/metadata/agreement.toml``.

The sentences of the treebank are joined by single spaces to documents (of twenty sentences, if it has no documents) and
written to text files, which are read, annotated, and read again as CoNLL-U. Sentences whose words are masked (``____``)
are left out. Sentences of both are aligned by their character offsets in these files. A candidate of a task is a
sentence that a build may show with a label.
"""

import argparse
import datetime as dt
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

import msgspec
import polars as pl
from msgspec import field

from discoprobe.builders.sampling.balance import bin_of, edges
from discoprobe.builders.sentences import candidates
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.settings import Settings
from discoprobe.builders.task import Context, all_tasks
from discoprobe.cards.text.card import SEGMENTATION_TASKS, TASKS
from discoprobe.loaders.catalogue.treebanks import Source
from discoprobe.loaders.conllu.reader import read_corpora
from discoprobe.loaders.corpus import Corpus, Shard
from discoprobe.loaders.languages.language import language_data
from discoprobe.loaders.raw.document import ANNOTATING, AnnotationOptions, ReadOptions
from discoprobe.loaders.raw.prepare import AnnotatedCorpus, prepare

OUT = Path(__file__).resolve().parents[1] / "cards" / "metadata" / "agreement.toml"
HEAD = "# Made by scripts/gold_labels.py: what of a treebank's labels is found again from its text.\n"
PLACE = re.compile(r"^# source = (.+):(\d+):(\d+)$")
PSEUDO = 20
"""Sentences of a document where the treebank has none."""
EVERYTHING = ReadOptions(
    lines="paragraphs", script_share=0, language_share=0, boilerplate=0, duplicates=False, max_characters=10**9
)
"""Options that switch off the filters, which would leave sentences out."""
EQUAL = Settings(length_bins="equal")
"""Settings for the classes of `sent_len`: the default classes depend on the corpus."""

Span = tuple[str, int, int]
Labels = dict[str, dict[Span, str]]


class Annotation(msgspec.Struct):
    """The spans of the sentences of a corpus in the text files, task → span → label, and the names of the treebanks."""

    spans: set[Span] = field(default_factory=set)
    labels: Labels = field(default_factory=lambda: {task: {} for task in TASKS})
    treebanks: set[str] = field(default_factory=set)


def main(argv: list[str] | None = None) -> int:
    """Measures one language and puts its figures into the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("treebank", type=Path, nargs="+", help="CoNLL-U that the models were not trained on")
    parser.add_argument("--lang", required=True)
    parser.add_argument("--stanza-dir", type=Path)
    parser.add_argument("--segment", action="store_true", help="measure segmentation only")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--note", default="", help="what else is to be known of the models")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args(argv)
    corpus = read_corpora(options.treebank, lang=options.lang)[options.lang]
    with tempfile.TemporaryDirectory() as work:
        texts, out = Path(work) / "texts", Path(work) / "corpus"
        gold = annotation_of_treebank(corpus, texts)
        how = AnnotationOptions(
            segment=options.segment, stanza_dir=options.stanza_dir, processors=ANNOTATING, read=EVERYTHING
        )
        annotated = prepare(str(texts), Source("agreement", options.lang), how, out=out, jobs=options.jobs)
        automatic = annotation_of_texts(out, options.lang)
    figures = agreement(gold, automatic, SEGMENTATION_TASKS if options.segment else TASKS)
    sources = [source for source in corpus.sources if source.name in gold.treebanks]
    names = (f"{source.name} ({source.commit[:7]})" if source.commit else source.name for source in sources)
    entry = toml_entry(options.lang, ", ".join(names), annotated, figures, options.note)
    # The entry replaces the one of the same language, engine and models.
    old = options.out.read_text(encoding="utf-8").removeprefix(HEAD) if options.out.exists() else ""
    tables = [f"[[measured]]{table}".strip() + "\n" for table in old.split("[[measured]]")[1:]]
    others = [table for table in tables if _key(table) != _key(entry)]
    options.out.write_text(HEAD + "\n" + "\n".join(sorted([*others, entry])), encoding="utf-8", newline="\n")
    sys.stdout.write(entry)
    return 0


def annotation_of_treebank(corpus: Corpus, folder: Path) -> Annotation:
    """The annotation of the treebank; writes its texts to the folder, a file per document."""
    folder.mkdir()
    gold = Annotation()
    for number, shard in enumerate(corpus.shards()):
        readable = shard.sentences.filter(pl.col("text").str.contains(r"[\p{L}\p{N}]"))
        documents = shard.documents.filter(shard.documents["doc_id"].is_not_null())["doc"].to_list()
        groups: dict[str, list[tuple[int, str]]] = {}
        for i, (sent, doc, text) in enumerate(readable.select("sent", "doc", "text").iter_rows()):
            part = f"{number}-{doc}" if doc in documents else f"{number}-x{i // PSEUDO:05}"
            groups.setdefault(part, []).append((sent, text))
        places: dict[int, Span] = {}
        for part, members in groups.items():
            at = 0
            for sent, text in members:
                places[sent] = (f"{part}.txt", at, at + len(text))
                at += len(text) + 1
            (folder / f"{part}.txt").write_text(" ".join(text for _, text in members), encoding="utf-8")
        _add_shard(gold, shard, places, corpus.lang)
        gold.treebanks.update(shard.documents.join(readable, on="doc", how="semi")["corpus"])
    return gold


def annotation_of_texts(folder: Path, lang: str) -> Annotation:
    """The annotation of the text files, read from the annotated corpus."""
    spans: dict[str, Span] = {}
    for path in sorted(folder.glob("*.conllu")):
        sent_id = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("# sent_id = "):
                sent_id = line.removeprefix("# sent_id = ")
            elif match := PLACE.match(line):
                spans[sent_id] = (match[1], int(match[2]), int(match[3]))
    automatic = Annotation()
    for shard in read_corpora([folder])[lang].shards():
        places = {sent: spans[sent_id] for sent, sent_id in shard.sentences.select("sent", "sent_id").iter_rows()}
        _add_shard(automatic, shard, places, lang)
    return automatic


def _add_shard(annotation: Annotation, shard: Shard, places: dict[int, Span], lang: str) -> None:
    """Adds a shard's sentences and candidates."""
    annotation.spans.update(places.values())
    settings, language, trees = Settings(), language_data(lang), Trees(shard)
    usable = candidates.sentences(trees, settings)
    for name in TASKS:
        task = all_tasks()[name]
        if task.select is None:
            continue
        selected = task.select(trees, Context(name, language, settings, task.labels))
        rows = candidates.candidates(selected, trees, usable)
        ranges = bin_of(pl.col("n_words"), edges(rows["n_words"], EQUAL))
        labels = rows.select("sent", pl.coalesce("label", ranges), "reason")
        for sent, label, reason in labels.iter_rows():
            if label is not None and reason is None:
                annotation.labels[name][places[sent]] = label


def agreement(gold: Annotation, automatic: Annotation, tasks: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """The numbers of sentences, and of candidates of each task among the sentences with the same boundaries."""
    same = gold.spans & automatic.spans
    counts = {"sentences": {"gold": len(gold.spans), "annotated": len(automatic.spans), "same": len(same)}}
    for task in tasks:
        ours = {span: label for span, label in gold.labels[task].items() if span in same}
        theirs = {span: label for span, label in automatic.labels[task].items() if span in same}
        both = Counter(ours[span] == theirs[span] for span in ours.keys() & theirs.keys())
        counts[task] = {
            "both": both.total(), "agree": both[True], "gold_only": len(ours.keys() - theirs.keys()),
            "annotated_only": len(theirs.keys() - ours.keys()),
        }  # fmt: skip
    return counts


def toml_entry(lang: str, treebank: str, made: AnnotatedCorpus, counts: dict[str, dict[str, int]], note: str) -> str:
    """One table of the file."""
    by = made.manifest.made_by
    lines = [
        "[[measured]]",
        f'lang = "{lang}"',
        f'engine = "{by["engine"]}"',
        f"software = {_inline(by['software'])}",
        f"packages = {_inline(by.get('packages', {}))}",
        f"models = {_inline({name: file['sha256'] for name, file in by.get('models', {}).items()})}",
        f'treebank = "{treebank}"',
        f"date = {dt.datetime.now(tz=dt.UTC).date().isoformat()}",
        *([f'note = "{note}"'] if note else []),
        *(f"{name} = {_inline(values)}" for name, values in counts.items()),
    ]
    return "\n".join([*lines, ""])


def _inline(values: dict[str, str] | dict[str, int]) -> str:
    """An inline table; its values are numbers, or strings without quotation marks."""
    pairs = (
        f'"{name}" = ' + (str(value) if isinstance(value, int) else f'"{value}"') for name, value in values.items()
    )
    return f"{{ {', '.join(pairs)} }}" if values else "{}"


def _key(table: str) -> list[str]:
    return [line for line in table.splitlines() if line.startswith(("lang", "engine", "models"))]


if __name__ == "__main__":
    raise SystemExit(main())
