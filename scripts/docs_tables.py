"""Writes the tables and outputs in README and docs/ that are made from the code: `python scripts/docs_tables.py`.

The page of tasks and those of papers are written whole. In the other pages the text between ``<!-- table: NAME -->``
and ``<!-- end -->`` is replaced. In README the output of its first command is replaced, and the row after it; its
picture is that of a build.
"""

import enum
import html
import inspect
import json
import re
import subprocess
import sys
import tempfile
import tomllib
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import polars as pl

from discoprobe.builders.audit.thresholds import CHECKS, Kind
from discoprobe.builders.config import Shape, papers_of, schema
from discoprobe.builders.task import FAMILIES, all_tasks, generated_tasks
from discoprobe.cards.metadata.readings import ReadRows, recorded
from discoprobe.loaders.languages.language import (
    Condition,
    Features,
    GeneralFacts,
    languages,
    packaged_language,
)
from discoprobe.own_files import sections

MOST_LABELS = 3
"""Largest number of labels of a task that are shown."""

OWN = r"^\| `(\w+)` \|[^|]*\|\D*([\d,]+)[^|]*\| own "
"""A row of the record of scarce tasks that names no source but own corpora: the task, and the least of sentences."""

MOST_ITEMS = 2
"""Items of a list that an example shows."""
MOST = 100
"""Characters; an example that says more than the default may be longer by these."""
UNUSED = {"[conj_type] sconj": 'sconj = ["that", "because"]'}
"""Examples of keys that no file has."""

TITLES = {
    "probing": "Probing tasks",
    "discourse": "Discourse tasks",
    "relations": "Relation tasks",
    "suites": "Suites: minimal pairs for evaluation",
}

BUILT = ("pred_tense", "sent_len", "dc", "so")
"""Tasks that README shows."""

OVERVIEW = ("run", "--corpus", "sample", "--task", "probing,discourse,relations", "--out", "all")
"""The build whose picture README shows."""

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SETS = Path(__file__).with_name("published_sets.toml")
PAPER = """# {title}

<!-- Written by `python scripts/docs_tables.py` from scripts/published_sets.toml and the records; do not edit. -->

**It has:** {has}

**discoprobe has:** {ours}

{differences}
## Side by side

{table}
Their best cheap trick: {tricks}

In brackets: languages that have a config of 200/50/100 rows or more from [open treebanks](../records/catalogue.md)
alone. Our best cheap trick is the strongest solver of [the audit](../audit.md) in [a recorded
build](../records/performance.md#a-record-of-scale); those of pairs may see both versions of a text. Chance is higher
where a task has fewer labels (`tree_depth`).

```console
$ {command}
```

{cited}"""
TASKS = """# Tasks

<!-- Written by `python scripts/docs_tables.py` from the tasks in builders/; do not edit. -->

The first column is the name for `--task`. *Labels* are those that a task can have, in the order of their indices; a
config has those that its corpus supports. If the corpus decides on all, the column is empty. *Row* is what one
row shows ([columns](concepts.md#columns-of-a-row)). *Layers* is the annotation that the corpus must have. The docstring
of the module is the full definition of a task, and its cards print it.
"""


def pages() -> dict[Path, str]:
    """The text of every page that has a table, by path."""
    whole = {DOCS / "tasks.md": tasks_page()} | papers_pages()
    paths = [path for path in sorted(DOCS.glob("**/*.md")) if path not in whole]
    return whole | {path: with_tables(path.read_text(encoding="utf-8")) for path in paths}


def papers_pages() -> dict[Path, str]:
    """A page per paper of ``published_sets.toml``: its sets beside ours, as the records have them."""
    catalogue = (DOCS / "records" / "catalogue.md").read_text(encoding="utf-8")
    languages_of = {task: int(n) for task, n in re.findall(r"`(\w+)`\s(\d+),\s[\d,]+,\s[\d,]+[;.]", catalogue)}
    builds = json.loads((DOCS / "records" / "scale.json").read_text(encoding="utf-8")).values()
    of_builds = [(name, config) for build in builds for name, config in build["configs"].items()]
    built = dict(sorted(of_builds, key=lambda each: sum(each[1]["rows"].values())))  # of each config the largest
    written = {}
    for page in tomllib.loads(SETS.read_text(encoding="utf-8"))["pages"]:
        papers = [paper for name in page["names"] for paper in papers_of(name)]
        rows = []
        for each in page["sets"]:
            task = each.get("task")
            langs = [*re.findall(r"\((\w\w)\)", each["set"]), *page["langs"]]
            others = [name for name in reversed(built) if name.rpartition("_")[0] == task]
            config = next((name for lang in langs if (name := f"{task}_{lang}") in built), next(iter(others), None))
            n, best = languages_of.get(task, "none"), built[config]["strongest"] if config else None
            shown = "/".join(f"{n:,}" for n in built[config]["rows"].values()) if config else ""
            rows.append((
                each["set"], _in_thousands(each["rows"]), f"{each['chance']:g}%",
                f"{each['accuracy']:g}% {each['trick']}",
                f"`{config or task}` ({n})" if task else "–", _in_thousands(shown),
                f"{100 * best['accuracy']:.1f}% {best['check']}" if best else "",
            ))  # fmt: skip
        head = ("theirs", "rows", "chance", "best trick", "ours (languages)", "rows", "best trick")
        cited = "".join(f"- [{paper.reference}]({paper.url})\n" for paper in papers)
        differs = "".join(f"- {each}\n" for each in page["differs"])
        written[DOCS / "papers" / f"{page['page']}.md"] = PAPER.format(
            **page, cited=cited, differences=differs, table=_markdown_table(head, rows)
        )
    return written


def _in_thousands(rows: str) -> str:
    """Numbers of rows, from ten thousand on in thousands: ``100k/10k/10k``."""
    return re.sub(r"(\d{2,}),(\d{3})", lambda n: f"{int(n[1] + n[2]) / 1000:.0f}k", rows)


def with_tables(text: str) -> str:
    """The text of a page with its tables up to date."""
    return re.sub(
        r"(<!-- (?:table|file): (\S+) -->\n).*?(<!-- end -->)",
        lambda match: f"{match[1]}\n{content(match[2])}\n{match[3]}",
        text,
        flags=re.DOTALL,
    )


def content(name: str) -> str:
    """What stands between the markers: a table of ``TABLES``, or the source of a file."""
    if name in TABLES:
        return TABLES[name]()
    return f"```python\n{(ROOT / name).read_text(encoding='utf-8')}```\n"


def tasks_page() -> str:
    """The page of tasks."""
    parts = [TASKS]
    for family in FAMILIES:
        tasks = [task for task in all_tasks().values() if task.family == family]
        head = ("task", "what it asks", "labels", "row", "layers", "papers")
        rows = []
        for task in tasks:
            names = task.conditions or task.labels
            labels = ", ".join(names[:MOST_LABELS]) + (f" … ({len(names)})" if names[MOST_LABELS:] else "")
            shape = Shape.SUITE if task.conditions else task.shape
            papers = ", ".join(f"[{paper.names[0]}]({paper.url})" for paper in task.papers)
            what = re.sub(r" \([^()]*(?:SentEval|LINSPECTOR)[^()]*\)", "", task.definition.partition("\n")[0])
            rows.append((f"`{task.name}`", what, labels, shape, ", ".join(sorted(task.needs)), papers))
        parts.append(f"## {TITLES[family]}\n\n{_markdown_table(head, rows)}")
    generated = generated_tasks()
    for family in sorted({task.family for task in generated.values()}):
        names = [name for name, task in generated.items() if task.family == family]
        parts.append(
            f"## `{family}`\n\n`--task {family}` builds those of {len(names)} tasks, from `{names[0]}` to\n"
            f"`{names[-1]}`, that the corpus supports. `all` and `probing` do not include them.\n"
        )
    record = (DOCS / "records" / "scarce_tasks.md").read_text(encoding="utf-8")
    least = ", ".join(f"`{task}` {n}" for task, n in re.findall(OWN, record, re.MULTILINE))
    parts.append(
        "Only with corpora of your own (`ssp`: or FineWiki), of so many sentences or more ([scarce "
        "tasks](records/scarce_tasks.md)): "
        f"{least}.\n"
    )
    return "\n".join(parts)


def columns() -> str:
    """The columns that rows of each shape have beyond those of all rows."""
    names = {shape: schema(shape).names for shape in Shape}
    common = [name for name in names[Shape.SENTENCE] if all(name in others for others in names.values())]
    rows = [
        (str(shape), ", ".join(f"`{name}`" for name in of_shape if name not in common))
        for shape, of_shape in names.items()
    ]
    return _markdown_table(("row", "columns"), [("all", ", ".join(f"`{name}`" for name in common)), *rows])


def checks(kind: Kind) -> str:
    """The checks of one kind with their thresholds."""
    rows = [
        (f"`{check.id}`", check.measures, "" if check.threshold is None else f"{check.threshold:g}")
        for check in CHECKS
        if check.kind is kind
    ]
    return _markdown_table(("check", "measures", "threshold"), rows)


def language_keys() -> str:
    """Every key that a language file may have, with its values, its meaning and an example from a file."""
    files = {code: tomllib.loads(packaged_language(code)) for code in languages()}
    rows: list[tuple[str, ...]] = []
    for section, kind in {"": GeneralFacts, **sections()}.items():
        tables = [(code, tables.get(section, {}) if section else tables) for code, tables in files.items()]
        rows += _rows_of(kind, f"[{section}] " if section else "", tables)
    return _markdown_table(("key", "value", "meaning", "example"), rows)


Found = list[tuple[str, dict[str, Any]]]
"""Tables of the same kind in language files, with the code of the language."""


def _rows_of(kind: type[msgspec.Struct], prefix: str, tables: Found) -> Iterator[tuple[str, ...]]:
    """A row per key of a table; keys of tables inside it follow."""
    meanings = meanings_of(kind)
    for field in msgspec.structs.fields(kind):
        name, values = field.encode_name, [(code, table[field.name]) for code, table in tables if field.name in table]
        if name == "source":  # the page explains it
            continue
        values = values or [("no file yet", tomllib.loads(UNUSED[prefix + name])[name])]
        code, shortest = min(values, key=lambda each: len(_toml(each[1])) + MOST * (each[1] in (False, [], "")))
        example = f"`{name} = {_toml(shortest)}` ({code})".replace("|", "\\|")
        words, inner, items = _in_words(field.type, values)
        rest = meanings[name]
        yield f"`{prefix}{name}`", words, rest[0].upper() + rest[1:].rstrip("."), example
        if inner is not None and inner is not Condition:
            yield from _rows_of(inner, f"{prefix}{name}.", items)


def meanings_of(kind: type) -> dict[str, str]:
    """What the docstrings of a class and its bases say of its attributes."""
    meanings: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        text = inspect.cleandoc(base.__doc__ or "").partition("Attributes:\n")[2].partition("\n\n")[0]
        for name, meaning in re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", text, re.MULTILINE):
            meanings[name] = " ".join(meaning.split()).replace("``", "`").replace("|", "\\|")
    return meanings


def _in_words(  # noqa: PLR0911 (one for each kind of value)
    kind: Any, values: Found
) -> tuple[str, type[msgspec.Struct] | None, Found]:
    """What a value is, in words; and if it is or has tables, their class and those that were found."""
    arguments = typing.get_args(kind)
    origin = typing.get_origin(kind)
    if origin is Annotated:
        words, inner, items = _in_words(arguments[0], values)
        pattern = next((meta.pattern for meta in kind.__metadata__ if getattr(meta, "pattern", None)), None)
        return (f"{words} like `{pattern}`".replace("|", "\\|") if pattern else words), inner, items
    if origin in {types.UnionType, typing.Union}:
        return _in_words(next(each for each in arguments if each is not type(None)), values)
    if origin is typing.Literal:
        return ", ".join(f"`{each}`" for each in arguments), None, []
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return ", ".join(f"`{each.value}`" for each in kind), None, []
    if kind == Features:
        return "table of features and lists of their values", None, []
    if origin in {tuple, frozenset}:
        listed = [(code, item) for code, value in values for item in value]
        words, inner, items = _in_words(arguments[0], listed)
        return f"list of {words}", inner, items
    if origin is dict:
        listed = [(code, item) for code, value in values for item in value.values()]
        words, inner, items = _in_words(arguments[1], listed)
        return f"table of {words}", inner, items
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return "conditions" if kind is Condition else "table", kind, values
    return {str: "text", bool: "`true`, `false`", int: "number"}[kind], None, []


def _toml(value: Any) -> str:
    """A value in TOML, on one line, long lists cut."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value[:MOST_ITEMS]) + "]"
    return json.dumps(value, ensure_ascii=False)


def rounds() -> str:
    """When and how rows were read, and by whom."""
    lines = [
        (name, each.days, each.reader, each.label, each.what[0].upper() + each.what[1:])
        for name, each in recorded().rounds.items()
    ]
    return _markdown_table(("round", "days", "reader", "label", "rows or question"), lines)


def readings() -> str:
    """The rows that were read, a line for all of the same tasks in a round."""
    groups: dict[tuple[str, str, str], list[ReadRows]] = {}
    for each in recorded().readings:
        tasks = ", ".join(f"`{task}`" for task in each.tasks)
        groups.setdefault((each.round, tasks, "earlier" if each.earlier else ""), []).append(each)
    lines = []
    for names, of_group in groups.items():
        langs = " ".join(sorted({lang for each in of_group for lang in each.langs})) or "–"
        read = sum(each.read for each in of_group)
        agreed, wrong = (
            "–" if None in values else str(sum(values))
            for values in ([each.agreed for each in of_group], [each.wrong for each in of_group])
        )
        lines.append((*names, langs, f"{read}/{agreed}/{wrong}"))
    return _markdown_table(("round", "task", "", "languages", "read/agreed/wrong"), lines)


def first_build() -> str:
    """The output of the first command of README, as a block."""
    (block, *_) = re.findall(r"^```text\n.*?^```\n", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return block


TABLES = {
    "first_build": first_build,
    "rounds": rounds,
    "readings": readings,
    "columns": columns,
    "integrity": lambda: checks(Kind.INTEGRITY),
    "shortcuts": lambda: checks(Kind.SHORTCUT),
    "language_keys": language_keys,
}


def _markdown_table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    # Python-Markdown takes ``<!`` for HTML, in code, too
    return re.sub(r"`([^`\n]*<![^`\n]*)`", lambda code: f"<code>{html.escape(code[1], quote=False)}</code>", table)


def readme(text: str, printed: str, release: Path) -> str:
    """README with what its first command printed, and the first edited row of what it built.

    Args:
        text: README as it is.
        printed: the output of the command.
        release: the folder that it wrote.
    """
    lines = printed.partition("\n\n")[0].splitlines()
    of_tasks = [n for n, line in enumerate(lines) if re.match(r"[a-z_]+ +[-\d/]+ ", line)]
    ends = [*of_tasks[1:], next(n for n, line in enumerate(lines) if line.startswith("("))]
    shown = [
        line for n, end in zip(of_tasks, ends, strict=True) if lines[n].split()[0] in BUILT for line in lines[n:end]
    ]
    last = next(n for n, line in enumerate(lines) if " not built: " in line)
    table = [*lines[: of_tasks[0]], *shown, "…", *lines[last:]]
    text = _with_block(text, r"^```text\n", "\n".join(table))
    rows = pl.read_parquet(release / "bigram_shift_es" / "test-*.parquet").filter(pl.col("label") == 1)
    return _with_block(text, r"^>>> [^\n]*\n", repr(rows["text"][0]))


def _with_block(text: str, opening: str, block: str) -> str:
    """The text, with ``block`` after ``opening`` (a pattern) in the first fenced block that has it."""
    return re.sub(
        rf"({opening}).*?(^```)", lambda match: f"{match[1]}{block}\n{match[2]}", text,
        count=1, flags=re.DOTALL | re.MULTILINE,
    )  # fmt: skip


def main() -> None:
    """Writes all pages."""
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "discoprobe", "run", "--lang", "es", "--corpus", "sample"]
        done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        path = ROOT / "README.md"
        text = readme(path.read_text(encoding="utf-8"), done.stdout, Path(folder) / "dist" / "discoprobe")
        path.write_text(text, encoding="utf-8")
        subprocess.run([sys.executable, "-m", "discoprobe", *OVERVIEW], cwd=folder, check=True, capture_output=True)
        picture = Path(folder) / "all" / "overview.svg"
        (DOCS / "images" / picture.name).write_text(picture.read_text(encoding="utf-8"), encoding="utf-8")


if __name__ == "__main__":
    main()
