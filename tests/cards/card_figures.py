"""Says what the pages of a release folder state otherwise than its data; it shares no code with what writes the pages.

Rows, labels, columns, texts and lengths are those of the parquet files. What rows cannot say, such as the accuracy of a
solver or the commit of a corpus, is that of ``audits`` and ``manifest.json``. A line with a number that no rule here
knows is itself reported, so that a new statement on a card needs a rule. Not checked: the definition of a task and the
papers behind it, which are prose, and plots.
"""

from __future__ import annotations

import functools
import html
import json
import math
import re
import tomllib
import unicodedata
import uuid
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import scipy.stats
import yaml

READINGS = Path(__file__).resolve().parents[2] / "cards" / "metadata" / "readings.toml"
SPLITS = ("train", "validation", "test")
TEXTS = ("text", "sentences", "sentence1", "sentence2", "context", "candidate", "choices", "sentence_good")
VERDICTS = ("below", "open", "above", "not measured", "not audited")
WORDS = ("yes", "beat", "careful", "cue", "no", "not measured", "not audited")
SHARE = r"[+-]?\d\.\d{3}"
FEW = {"train": 200, "validation": 50, "test": 100}
NAMES = {"ca": "Catalan", "de": "German", "en": "English", "es": "Spanish", "fi": "Finnish", "he": "Hebrew",
         "hr": "Croatian", "ne": "Nepali", "ru": "Russian", "sq": "Albanian", "uk": "Ukrainian"}  # fmt: skip


def split_path(release, config, split):
    return release / config / f"{split}-00000-of-00001.parquet"


def manifest_of(release):
    """The manifest with the parts of all languages."""
    whole = json.loads((release / "manifest.json").read_text(encoding="utf-8"))
    for path in sorted((release / "manifest").glob("*.parquet")):
        for key, name, entry in pl.read_parquet(path).iter_rows():
            whole[key][name] = json.loads(entry)
    return whole


def audits(release):
    tables = map(pl.read_parquet, release.glob("audits/*.parquet"))
    return {name: json.loads(report) for table in tables for name, report in table.iter_rows()}


def page_path(config):
    return f"cards/{config.rpartition('_')[2]}.md"


def cards_of(page):
    """The cards on the page of a language, by config."""
    parts = re.split(r"^# ([a-z0-9_-]+)$", page, flags=re.MULTILINE)
    return {name: f"# {name}{text}" for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def plain(text):
    """The characters that a piece of Markdown shows."""
    text = re.sub(r"</?(?:mark|b)>|[\u2068\u2069]", "", text)
    return html.unescape(re.sub(r"\\(.)", r"\1", text))


def on_one_line(text):
    """A text of a row as a card can show it: blanks for control characters, no marks of direction."""
    kept = (char for char in text if not "\u202a" <= char <= "\u202e" and not "\u2066" <= char <= "\u2069")
    return "".join(" " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char for char in kept)


def number(text):
    return int(text.replace(",", ""))


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def table(lines, at):
    """The rows of the table whose head is line ``at``."""
    end = at + 2
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    return [cells(line) for line in lines[at + 2 : end]], end


def sections(text):
    """The lines below each heading of the second level; those above the first one below ""."""
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return {"": parts[0].splitlines()} | {
        title: body.splitlines() for title, body in zip(parts[1::2], parts[2::2], strict=True)
    }


class Config:
    """The data of a config."""

    def __init__(self, release, name, report, entry):
        self.name, self.report, self.entry = name, report, entry
        self.rows, self.labels, self.schema = {}, [], None
        for split in SPLITS:
            path = split_path(release, name, split)
            if not path.exists():
                continue
            self.schema = pq.read_schema(path)
            stated = json.loads(self.schema.metadata[b"huggingface"])["info"]["features"]["label"]["names"]
            self.labels = stated
            self.rows[split] = pl.read_parquet(path)
        self.lang = name.rpartition("_")[2]
        self.task = name.rpartition("_")[0]
        self.counts = {
            split: Counter(self.labels[label] for label in rows["label"]) for split, rows in self.rows.items()
        }
        self.used = [label for label in self.labels if any(of[label] for of in self.counts.values())]
        self.n = sum(rows.height for rows in self.rows.values())
        self.is_suite = "sentence_good" in self.schema.names
        self.by_id = {row["id"]: row for rows in self.rows.values() for row in rows.iter_rows(named=True)}

    @functools.cache  # noqa: B019 (a few configs, as long as a test)
    def lengths(self, label):
        place = self.labels.index(label)
        sizes = []
        for rows in self.rows.values():
            for row in rows.filter(label=place).iter_rows(named=True):
                if "n_words" in row:
                    sizes.append(row["n_words"])
                else:
                    values = [row[name] for name in TEXTS if name in row]
                    sizes.append(sum(sum(map(len, v)) if isinstance(v, list) else len(v) for v in values))
        return [int(value) for value in np.quantile(sizes, (0, 0.25, 0.5, 0.75, 1))]


class Release:
    """A release folder that is checked; ``errors`` are one line each, ``texts`` its pages by path."""

    def __init__(self, folder):
        self.folder, self.errors = Path(folder), []
        self.manifest = manifest_of(self.folder)
        paths = [*self.folder.rglob("*.md"), *self.folder.glob(".huggingface.yaml")]
        self.texts = {path.relative_to(self.folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}
        reports = audits(self.folder)
        self.configs = {
            name: Config(self.folder, name, reports.get(name), entry)
            for name, entry in self.manifest["configs"].items()
        }
        self.verdicts, self.asks, self.advices = {}, {}, {}

    def same(self, where, what, said, true):
        if said != true:
            self.errors.append(f"{where}: {what} is {said!r}, not {true!r}")

    def holds(self, where, what, true):
        if not true:
            self.errors.append(f"{where}: {what} is not so")

    def unknown(self, where, line):
        if re.search(r"\d", line):
            self.errors.append(f"{where}: no rule knows: {line}")

    def check(self, **planted):
        """What is wrong, with some texts in place of those of the folder."""
        texts, self.errors = self.texts, []
        self.texts = texts | planted
        try:
            pages = {path for path in self.texts if path.startswith("cards/")}
            self.same("pages", "paths", pages, set(map(page_path, self.configs)))
            for path in sorted(pages):
                cards = cards_of(self.texts[path])
                self.same(path, "configs", [*cards], sorted(name for name in self.configs if page_path(name) == path))
                self.index(path, [*cards])
                for name in cards.keys() & self.configs.keys():
                    Page(self, self.configs[name], cards[name]).check()
            self.card()
            self.attribution()
        finally:
            self.texts = texts
        return self.errors

    def index(self, path, names):
        """The head of the page of a language: its name, and links to the cards."""
        head = self.texts[path].partition("\n# ")[0].splitlines()
        self.language(path, Path(path).stem, head[0].removeprefix("# Configs in "))
        self.same(path, "links", [line for line in head if line.startswith("- ")], [f"- [{n}](#{n})" for n in names])

    # the card of the release

    def card(self):
        _, front, body = self.texts["README.md"].split("---\n", 2)
        self.front(yaml.load(front, Loader=yaml.CSafeLoader))
        if "CONFIGS.md" in self.texts:
            body += "\n" + self.texts["CONFIGS.md"].partition("\n")[2]
        for title, lines in sections(body).items():
            self.card_section(title, lines)

    def front(self, data):
        standalone = self.texts.get(".huggingface.yaml")
        listed = (yaml.load(standalone, Loader=yaml.CSafeLoader) if standalone else data)["configs"]
        self.same("YAML", "config names", sorted(one["config_name"] for one in listed), sorted(self.configs))
        for one in listed:
            config = self.configs.get(one["config_name"])
            splits = [file["split"] for file in one["data_files"]]
            self.same("YAML", f"splits of {one['config_name']}", splits, list(config.rows) if config else [])
            for file in one["data_files"]:
                place = self.folder / one.get("data_dir", "")
                found = [path for path in place.glob(file["path"]) if path.suffix == ".parquet"]
                self.same("YAML", f"files of {one['config_name']} {file['split']}", len(found), 1)
        self.same("YAML", "default", sum(bool(one.get("default")) for one in listed), 1)
        self.same("YAML", "languages", data["language"], sorted({config.lang for config in self.configs.values()}))
        total, least = sum(config.n for config in self.configs.values()), 0
        for name, most in (("n<1K", 1e3), ("1K<n<10K", 1e4), ("10K<n<100K", 1e5), ("100K<n<1M", 1e6)):
            if least <= total < most:
                self.same("YAML", "size category", data["size_categories"], [name])
            least = most
        tiny = sorted(name for name, config in self.configs.items() if is_tiny(config))
        if "dataset_info" in data:
            self.same("YAML", "tiny configs", data.get("tiny_configs", []), tiny)
            small = sorted(name for name, config in self.configs.items() if is_small(config))
            self.same("YAML", "small configs", data.get("small_configs", []), small)
        for info in data.get("dataset_info", []):
            config = self.configs[info["config_name"]]
            for split in info["splits"]:
                size = split_path(self.folder, config.name, split["name"]).stat().st_size
                said = split["num_examples"], split["num_bytes"]
                self.same("YAML", f"rows and bytes of {config.name} {split['name']}", said,
                          (config.rows[split["name"]].height, size))  # fmt: skip

    def card_section(self, title, lines):
        where, at = f"card, {title or 'head'}", 0
        while at < len(lines):
            line = lines[at]
            if line.startswith("|") and at + 1 < len(lines) and lines[at + 1].startswith("|--"):
                rows, end = table(lines, at)
                self.card_table(where, cells(line), rows)
                at = end
                continue
            if line.startswith("```"):
                end = lines.index("```", at + 1)
                self.card_code(where, lines[at:end])
                at = end + 1
                continue
            self.card_line(where, line)
            at += 1

    def card_line(self, where, line):
        configs = self.configs.values()
        langs = {config.lang for config in configs}
        if found := re.match(r"\*\*([\d,]+) configs? · ([\d,]+) languages? · ([\d,]+) rows\*\*(.*)", line):
            said = tuple(map(number, found.groups()[:3]))
            self.same(where, "size", said, (len(self.configs), len(langs), sum(c.n for c in configs)))
            version = re.search(r"built with discoprobe (\S+)$", line)
            self.same(where, "version", version and version[1], self.manifest["discoprobe"])
        elif found := re.match(r"- (\w+|choice \d+): (.*)", line) if where == "card, head" else None:
            row = self.configs[self.best()].rows["test"].row(0, named=True)
            shown = [cut(text) for value in row.values() for text in (value if isinstance(value, list) else [value])]
            self.holds(where, f"text {found[1]} of the row", plain(found[2]) in shown)
        elif found := re.match(r"A row of `(\w+)`: label \*\*(.*?)\*\*", line):
            config = self.configs[self.best()]
            label = config.labels[config.rows["test"]["label"][0]]
            self.same(where, "row", (found[1], plain(found[2])), (config.name, label))
        elif line.startswith("Use it? "):
            self.same(where, "advice", line, f"Use it? {self.tally()}.")
        elif line.startswith("- *"):
            self.holds(
                where, f"the meaning {line}", any(word in line for word in (*map(self.word, self.configs), "task", "±"))
            )
        elif found := re.match(r"<details><summary>The first row of <code>(\w+)</code>, test", line):
            self.same(where, "config of the example", found[1], self.best())
        elif found := re.match(r"- ([\d,]+) combinations of task and language", line):
            self.same(where, "unavailable", number(found[1]), len(self.manifest["unavailable"]))
        elif found := re.match(r"- A test split has ([\d,]+) to ([\d,]+) rows \(median ([\d,]+)\)", line):
            sizes = sorted(c.rows["test"].height for c in configs)
            self.same(where, "test splits", [*map(number, found.groups())],
                      [sizes[0], sizes[-1], sizes[(len(sizes) - 1) // 2]])  # fmt: skip
        elif found := re.match(r"- ([\d,]+) of ([\d,]+) configs are tiny", line):
            self.same(where, "tiny", [*map(number, found.groups())], [sum(map(is_tiny, configs)), len(self.configs)])
        elif found := re.match(r"- In the median config, a gain of less than (\S+) over", line):
            gains = [c.report["resolution"] for c in configs if c.report and c.report["resolution"] is not None]
            self.same(where, "median gain", found[1], f"{np.median(gains):.2f}")
        elif found := re.match(r"- In ([\d,]+) of ([\d,]+) configs, an edited sentence is labelled", line):
            edited = sum(c.entry["audit"]["edited"] for c in configs if c.entry["audit"])
            self.same(where, "edited", [*map(number, found.groups())], [edited, len(self.configs)])
        elif found := re.match(r"- (\w+) has ([\d,]+) rows, (\w+) ([\d,]+)\. Genres and sizes", line):
            rows = Counter()
            for c in configs:
                rows[NAMES[c.lang]] += c.n
            ranked = sorted(rows.items(), key=lambda item: -item[1])
            (most, n_most), (least, n_least) = ranked[0], ranked[-1]
            self.same(where, "sizes", found.groups(), (most, f"{n_most:,}", least, f"{n_least:,}"))
        elif found := re.match(
            r"- Rows are selected by rule from the (?:\d+ )?corp\w+ \(.*\), (\d+) of (\d+) pinned .* under (.*)\.", line
        ):
            sources = self.manifest["sources"].values()
            pinned = sum(bool(source["commit"]) for source in sources)
            self.same(where, "corpora", [int(found[1]), int(found[2])], [pinned, len(sources)])
            self.same(where, "licences", {simple(found[3])}, {simple(s["licence"]) for s in sources})
        elif found := re.match(
            r"- ([\d,]+) rows were chosen of ([\d,]+) candidates(?:; most were left out as (.*))?\.$", line
        ):
            true = sum(c.n for c in configs), sum(c.entry["candidates"] for c in configs)
            self.same(where, "candidates", tuple(map(number, found.groups()[:2])), true)
            drops = Counter()
            for c in configs:
                drops.update(c.entry["drops"])
            said = {plain(one).rpartition(" ")[0]: number(one.rpartition(" ")[2]) for one in found[3].split(", ")}
            self.same(where, "drops", said, {reason: drops[reason] for reason in said})
            self.same(where, "largest drops", sorted(said.values()), sorted(drops.values())[-len(said) :])
        elif found := re.match(
            r"- The annotation of (?:(\d+) of )?the (?:(\d+) )?corp\w+ is that of the authors\.", line
        ):
            sources = self.manifest["sources"].values()
            true = sum("annotation" not in source for source in sources), len(sources)
            self.same(where, "annotated by people", (int(found[1] or true[1]), int(found[2] or 1)), true)
        elif found := re.match(r"The texts of (?:(\d+) of )?the (?:(\d+) )?corp\w+ are (public|in no public)", line):
            sources = self.manifest["sources"].values()
            public = sum(bool(source["repo"]) for source in sources)
            said = int(found[1] or (len(sources) if found[3] == "public" else 0))
            self.same(where, "public", (said, int(found[2] or 1)), (public, len(sources)))
        elif found := re.match(r"Benchmark data must not be in training corpora: canary GUID ([0-9a-f-]{36})$", line):
            url = "https://huggingface.co/datasets/" + (self.manifest.get("repository") or "org/discoprobe")
            self.same(where, "canary", found[1], str(uuid.uuid5(uuid.NAMESPACE_URL, url)))
        elif found := re.match(r"<details><summary>(\d+) tasks?</summary>", line):
            self.same(where, "tasks", int(found[1]), len({c.task for c in configs}))
        elif found := re.match(r"- `(\w+)`: (.*)", line):
            self.same(where, found[1], plain(found[2]), self.manifest["unavailable"].get(found[1]))
        elif found := re.match(r"- ([\d,]+) malformed", line):
            total = sum(sum(of.values()) for of in self.manifest["skipped"].values())
            self.same(where, "malformed", number(found[1]), total)
        elif "configs here are above a threshold" in line or "configs here were not audited" in line:
            found = re.search(r"(\d+) of the configs here (?:are (above)|were (not audited))", line)
            self.same(where, "verdicts", int(found[1]), Counter(self.verdicts.values())[found[2] or found[3]])
        elif line.startswith(("- Genres of the ", "- The genres of the ")):
            self.genres(where, line)
        elif found := re.match(r"The code is .* version (\S+); ", line):
            self.same(where, "version", found[1], self.manifest["discoprobe"])
        elif found := re.match(r"(\d+) (corpora|tasks)[:,]", line):
            of = self.manifest["sources"] if found[2] == "corpora" else {c.task for c in configs}
            self.same(where, found[2], int(found[1]), len(of))
        elif found := re.match(r"Of ([\d,]+) of the ([\d,]+) configs, rows of the same task", line):
            data = tomllib.loads(READINGS.read_text(encoding="utf-8"))["readings"]
            read = {(task, lang) for one in data for task in one["tasks"] for lang in one["langs"]}
            true = sum((config.entry["task"], config.lang) in read for config in configs), len(self.configs)
            self.same(where, "readings", tuple(map(number, found.groups())), true)
        elif not re.search(
            r"whether to use them|over the majority|95 % interval|\(2\.0\.0 after 1\.4\.0\)|SHA-256|macro-F1 in add",
            line,
        ):
            self.unknown(where, line)

    def genres(self, where, line):
        sources = self.manifest["sources"].values()
        true = Counter(genre for source in sources for genre in source.get("genre", ()))
        said = dict(re.findall(r"([a-z-]+) (\d+)", line.partition(": ")[2].partition(";")[0]))
        self.same(where, "genres", {name: int(n) for name, n in said.items()}, dict(true))
        corpora = re.match(r"- (?:The g|G)enres of the (?:(\d+) )?corp", line)
        self.same(where, "corpora", int(corpora[1] or 1), len(sources))
        without = re.search(r"(\d+) without a statement", line)
        n_without = len(sources) if "are not stated" in line else int(without[1]) if without else 0
        self.same(where, "without genre", n_without, sum("genre" not in s for s in sources))

    def tally(self):
        words = Counter(map(self.word, self.configs))
        return ", ".join(f"{words[word]} {word}" for word in WORDS if words[word])

    def word(self, name):
        """The word of the advice on the page of a config."""
        advice = self.advices.get(name) or "not audited"
        return max((word for word in WORDS if advice.startswith(word)), key=len)

    def best(self):
        """The config that the card loads: by the advice on the pages, then in English, then with most rows."""
        kinds = ("yes", "yes (task)", "beat", "careful ±", "careful: ", "cue", "no: ", "not measured")

        def rank(name):
            advice = self.advices.get(name, "")
            kind = max((n for n, kind in enumerate(kinds) if advice.startswith(kind)), default=len(kinds))
            return kind, not name.endswith("_en"), -self.configs[name].n, name

        return min(self.configs, key=rank)

    def card_code(self, where, lines):
        text = "\n".join(lines[1:])
        if lines[0] == "```python":
            self.same(where, "loaded config", re.findall(r'load_dataset\([^,]+, "(\w+)"', text), [self.best()])
        elif lines[0] == "```json":
            said, config = json.loads(text), self.configs[self.best()]
            row = config.rows["test"].row(0, named=True)
            for name, value in said.items():
                self.same(where, name, cut(value), cut(row[name]))
        elif lines[0] == "```bibtex":
            year = re.search(r"year += \{(.*?)\}", text)
            self.holds(where, "a year", bool(year))
            version = re.search(r"discoprobe (\d\S*?)\}$", text, re.MULTILINE)
            self.same(where, "version", version and version[1], self.manifest["discoprobe"])

    def card_table(self, where, head, rows):
        if head[:3] == ["language", "configs", "rows"]:
            for row in rows:
                lang = re.fullmatch(r"(.+) `(\w+)`", row[0])
                of_lang = [c for c in self.configs.values() if c.lang == lang[2]]
                counted = Counter(self.word(c.name) for c in of_lang)
                true = [len(of_lang), sum(c.n for c in of_lang), *(counted[word] for word in head[3:])]
                self.same(where, row[0], [number(cell) for cell in row[1:]], true)
                self.language(where, lang[2], lang[1])
        elif head == ["task", "version", "asks", "configs", "rows"]:
            for task, version, asks, n_configs, n_rows in rows:
                of_task = [c for c in self.configs.values() if c.task == task.strip("`")]
                self.same(where, f"asks of {task}", {plain(asks)}, {self.asks[c.name] for c in of_task})
                self.same(where, f"configs of {task}", number(n_configs), len(of_task))
                self.same(where, f"rows of {task}", number(n_rows), sum(c.n for c in of_task))
                versions = sorted({c.entry["versions"]["task"] for c in of_task})
                self.same(where, f"version of {task}", version, ", ".join(map(str, versions)))
        elif head == ["task", "configs", "measured", "below", "open", "above"]:
            for row in rows:
                self.design(where, row)
        elif head[:4] == ["corpus", "language", "licence", "commit"]:
            self.same(where, "corpora", sorted(plain(row[0]) for row in rows), sorted(self.manifest["sources"]))
            for name, lang, licence, commit, n_configs in rows:
                source = self.manifest["sources"][plain(name)]
                self.language(where, source["lang"], lang)
                self.same(where, f"licence of {name}", plain(licence), source["licence"])
                using = sum(plain(name) in c.entry["sources"] for c in self.configs.values())
                self.same(where, f"configs of {name}", number(n_configs), using)
                self.commit(where, name, commit, source)
        elif head == ["config", "asks", "rows", "chance", "best cheap trick", "use it?"]:
            ((name, asks, sizes, chance, trick, advice),) = rows
            config = self.configs[self.best()]
            self.holds(where, "link of the default", self.leads_to(re.search(r"\((.*)\)", name)[1], config.name))
            self.same(where, "rows", sizes, "/".join(str(of.height) for of in config.rows.values()))
            said = re.search(r"^Use it\? \*\*(.*)\*\* \(chance: (\S+?)(?:; best cheap trick: (.*))?\)$",
                             cards_of(self.texts[page_path(config.name)])[config.name], re.MULTILINE)  # fmt: skip
            self.same(where, "line", (advice, chance, trick), (said[1], said[2], said[3] or "–"))
            self.holds(where, "asks", plain(asks) == config.entry.get("asks", plain(asks)))
        elif head == ["field", "type", "meaning"]:
            Page(self, self.configs[self.best()], "").fields(where, rows)
        elif head[0] in {"language", "task"} and rows and "](" in "".join(rows[0]):
            self.matrix(where, head, rows)
        else:
            self.errors.append(f"{where}: no rule knows the table {head}")

    def language(self, where, code, said):
        if code in NAMES:
            self.same(where, f"name of {code}", plain(said), NAMES[code])
        elif said == code or said.islower():
            self.errors.append(f"{where}: the language {code} has no name")

    def commit(self, where, name, said, source):
        if source["repo"] and source["commit"]:
            link = f"[{source['commit'][:7]}](https://github.com/{source['repo']}/tree/{source['commit']})"
            self.same(where, f"commit of {name}", said, link)
        else:
            self.same(where, f"commit of {name}", said, "")

    def matrix(self, where, head, rows):
        for row in rows:
            names = [re.search(r"`(\w+)`", cell) for cell in (row[0], *head[1:])]
            for place, cell in enumerate(row[1:], 1):
                side = names[0][1], names[place][1] if names[place] else self.code(head[place])
                config = next((f"{a}_{b}" for a, b in (side, side[::-1]) if f"{a}_{b}" in self.configs), None)
                if not config:
                    self.same(where, f"cell {row[0]} × {head[place]}", cell, "–")
                    continue
                link = re.fullmatch(r"\[(.*)\]\((.*)\)", cell)
                of_config = self.configs[config].rows
                sizes = "/".join(short(of_config[split].height) if split in of_config else "-" for split in SPLITS)
                said = f"{sizes} {self.advices.get(config) or 'not audited'}".replace(" ", "\u00a0")
                self.same(where, f"cell {config}", link and link[1], said)
                self.holds(where, f"link of {config}", bool(link) and self.leads_to(link[2], config))

    def leads_to(self, link, config):
        path, _, anchor = link.partition("#")
        return f"\n# {config}\n" in f"\n{self.texts.get(path, '')}" and anchor in {"", config}

    def code(self, name):
        return next((code for code, english in NAMES.items() if english == plain(name)), name)

    def design(self, where, row):
        task, n_configs, measured, *outcomes = row
        parts = [c for c in self.configs.values() if c.task == task.strip("`") and c.report]
        self.same(where, f"configs of {task}", number(n_configs), len(parts))
        evidence = [c.entry["audit"]["evidence"] for c in parts]
        most = max(sum(part[check]["n"] for part in evidence if check in part) for part in evidence for check in part)
        unit = "texts" if parts[0].is_suite else "rows"
        self.same(where, f"measured of {task}", measured, f"{most:,} {unit}")
        rows = sum(c.n for c in parts)
        if most > rows * (2 if parts[0].is_suite else 1):
            self.errors.append(f"{where}: {task} is measured on {most} {unit} of {rows} rows")
        for check, gain in re.findall(r"([a-z-]+) ([+-]\.\d{3})", " ".join(outcomes)):
            of = [part[check] for part in evidence if check in part]
            n = sum(part["n"] for part in of)
            solvers = set.intersection(*(set(part["correct"]) for part in of))
            best = max(sum(part["correct"][solver] for part in of) for solver in solvers)
            true = round(best / n, 6) - round(sum(part["baseline"] for part in of) / n, 6)
            self.same(where, f"gain of {check} in {task}", float(gain), round(true, 3) + 0.0)

    def attribution(self):
        said = sections(self.texts["ATTRIBUTION.md"])
        self.same("ATTRIBUTION", "corpora", sorted(map(plain, [*said][1:])), sorted(self.manifest["sources"]))
        for name, lines in said.items():
            source = self.manifest["sources"].get(plain(name))
            for line in lines if source else ():
                if found := re.fullmatch(r"- language: (.*)", line):
                    self.language(f"ATTRIBUTION, {name}", source["lang"], found[1])
                elif found := re.fullmatch(r"- licence: (.*)", line):
                    self.same(f"ATTRIBUTION, {name}", "licence", plain(found[1]), source["licence"])
                elif found := re.fullmatch(r"- cite as: (.*)", line):
                    self.same(f"ATTRIBUTION, {name}", "citation", plain(found[1]), source["citation"][:600])
                elif found := re.fullmatch(r"- source: .*commit `(\w+)`", line):
                    self.same(f"ATTRIBUTION, {name}", "commit", found[1], source["commit"])
                else:
                    self.unknown(f"ATTRIBUTION, {name}", line)


def is_tiny(config):
    few = FEW | {"test": 50} if set(config.rows) == {"test"} else FEW
    return any(rows.height < few[split] for split, rows in config.rows.items())


def is_small(config):
    return set(config.rows) == {"test"} and 50 <= config.rows["test"].height < 100


def margin_of(config):
    n = config.rows["test"].height
    return math.ceil(100 * scipy.stats.beta.ppf(0.975, n / 2 + 1, n / 2) - 50)


def short(n):
    return f"{n / 1000:.0f}k" if n >= 10_000 else str(n)


def cut(value):
    """A value of a row with texts of the length that an example has at most."""
    if isinstance(value, str):
        return value[:160].rstrip("…")
    if isinstance(value, list):
        return [cut(item) for item in value]
    return {name: cut(item) for name, item in sorted(value.items())} if isinstance(value, dict) else value


class Page:
    """The page of a config."""

    def __init__(self, release, config, text):
        self.release, self.config, self.name = release, config, config.name
        self.said = sections(text)
        self.findings = {f["check"]: f for f in config.report["findings"]} if config.report else {}

    def same(self, what, said, true, where=None):
        self.release.same(where or self.name, what, said, true)

    def holds(self, what, true):
        self.release.holds(self.name, what, true)

    def check(self):
        titles = {"": self.head, "Rows": self.rows, "Examples": self.examples, "Audit": self.audit,
                  "How the rows were chosen": self.chosen, "Sources": self.sources}  # fmt: skip
        for title, lines in self.said.items():
            if title == "Fields":
                self.fields(self.name, table(lines, lines.index("| field | type | |"))[0])
            elif title in titles:
                titles[title](lines)
            elif title not in {"Readers", "Annotation"}:
                self.same("section", title, None)

    def head(self, lines):
        config = self.config
        code = lines.index("```python")
        self.same("title", lines[0], f"# {self.name}")
        self.release.asks[self.name] = plain(lines[2].strip("*"))
        facts = re.fullmatch(
            r"(.+) · ([\d,]+) rows · ([\d,]+) labels?(?: \(the task has ([\d,]+)\))? · licence (.+)", lines[4]
        )
        self.release.language(self.name, config.lang, facts[1])
        self.same("rows", number(facts[2]), config.n)
        self.same("labels", number(facts[3]), len(config.used))
        unused = len(config.labels) != len(config.used)
        self.same("labels of the task", facts[4], f"{len(config.labels):,}" if unused else None)
        self.holds("licence", simple(facts[5]) in map(simple, self.licences()))
        self.same("Tiny", any(line.startswith("**Tiny:**") for line in lines), is_tiny(config))
        margins = [found[1] for line in lines if (found := re.match(r"\*\*Small:\*\* .* ±(\d+) points", line))]
        self.same("Small", margins, [str(margin_of(config))] if is_small(config) else [])
        self.same("loaded config", re.findall(r'load_dataset\(.*"(\w+)"\)', "\n".join(lines[code:])), [self.name])
        self.verdict(next(line for line in lines if line.startswith("Audit: ")))
        said = [line for line in lines if line.startswith("Use it? ")]
        self.same("an advice", len(said), int(config.report is not None))
        self.release.advices[self.name] = re.match(r"Use it\? \*\*(.*?)\*\*", said[0])[1] if said else ""

    def licences(self):
        return [self.release.manifest["sources"][name]["licence"] for name in self.config.entry["sources"]]

    def majority(self):
        """The accuracy of the most frequent label where solvers are measured, from the rows."""
        if self.config.is_suite:
            return 0.5  # of two texts one is good
        measured = re.split(r", | and ", self.config.report["measured_on"])
        parts = [self.config.counts[split] for split in measured]
        return sum(max(of.values()) for of in parts) / sum(sum(of.values()) for of in parts)

    def verdict(self, line):
        text = plain(line.replace("**", ""))
        word = next((word for word in VERDICTS if text.lower().startswith(f"audit: {word}")), None)
        self.holds("a verdict", word is not None)
        word = word or "below"
        self.release.verdicts[self.name] = word
        if not self.config.report:
            return
        compared = [f for f in self.findings.values() if f["kind"] == "shortcut" and f["threshold"] is not None]
        open_ = [f for f in compared if f["status"] == "open"]
        above = [f for f in self.findings.values() if f["status"] == "above"]
        by_findings = "above" if above else "open" if open_ else "below"
        if word in {"above", "open", "below"} and "all languages of the task" not in text:
            self.same("verdict", word, by_findings)
        rest = text
        decided = [f for f in compared if f["status"] in {"below", "open", "above"}]
        for pattern, true in (
            (r"too few rows to decide (\d+) of the (\d+) solvers", [len(open_), len(decided)]),
            (r"Below: (\d+) solvers? (?:is|are) below", [len(decided)]),
            (
                r"Not measured: (?:\S+, ){2}\S+ and (\d+) more",
                [sum(f["status"] == "not measured" for f in self.findings.values()) - 3],
            ),
        ):
            if found := re.search(pattern, rest):
                self.same("number of solvers", [int(n) for n in found.groups()], true)
                rest = rest.replace(found[0], "")
        if found := re.search(
            r"rows of ([\d,]+) [a-z ]+ only, ([\d,]+) of ([\d,]+) of one of them: they count as ([\d.]+) of", rest
        ):
            last = self.config.rows[[*self.config.counts][-1]]
            sizes = last["group"].value_counts()["count"].to_numpy() * (2 if self.config.is_suite else 1)
            true = [len(sizes), int(sizes.max()), int(sizes.sum())]
            self.same("groups of the last split", [number(n) for n in found.groups()[:3]], true)
            self.same("their number of equal size", found[4], f"{sizes.sum() ** 2 / (sizes**2).sum():.1f}")
            rest = rest.replace(found[0], "")
        for found in re.findall(
            rf"([a-z][a-z-]+) (accuracy|macro-F1) ({SHARE})(?: \[({SHARE}), ({SHARE})\])? \(threshold ({SHARE})\)", rest
        ):
            finding = self.findings[found[0]]
            value = finding["measured"] if found[1] == "accuracy" else finding["macro_f1"]
            self.same(f"{found[0]} in the verdict", float(found[2]), rounded(value, found[1], finding))
            self.same(f"threshold of {found[0]}", found[5], f"{figure(finding)[3]:.3f}")
            if found[3]:
                self.same(f"interval of {found[0]}", list(found[3:5]), [f"{end:.3f}" for end in figure(finding)[2]])
        rest = re.sub(
            rf"[a-z][a-z-]+ (accuracy|macro-F1) {SHARE}( \[{SHARE}, {SHARE}\])? \(threshold {SHARE}\)", "", rest
        )
        for found in re.findall(
            rf"([a-z-]+)(?: alone reach(?:es)?| \(column .*?\))? ({SHARE}) \(majority baseline ({SHARE})\)", rest
        ):
            self.same(f"{found[0]} in the verdict", found[1], f"{self.findings[found[0]]['measured']:.3f}")
            self.same("majority in the verdict", found[2], f"{self.findings[found[0]]['baseline']:.3f}")
        rest = re.sub(rf"({SHARE}) \(majority baseline ({SHARE})\)", "", rest)
        if found := re.search(r"majority baseline \((\d\.\d{3})\)", rest):
            self.same("majority in the verdict", found[1], f"{self.majority():.3f}")
            rest = rest.replace(found[0], "")
        if found := re.search(r"gain of less than (\d\.\d\d) over", rest):
            self.same("smallest gain", found[1], f"{self.config.report['resolution']:.2f}")
            rest = rest.replace(found[0], "")
        if found := re.search(rf"Floor: ([a-z]+) of other text [^;]* ({SHARE}) of the pairs", rest):
            self.same(f"{found[1]} in the verdict", found[2], f"{self.findings[found[1]]['measured']:.3f}")
            rest = rest.replace(found[0], "")
        if found := re.search(r"About ([\d,]+) rows would decide\.", rest):
            self.same("rows that would decide", number(found[1]), self.deciding(open_))
            rest = rest.replace(found[0], "")
        if not above:
            self.release.unknown(f"{self.name}, verdict", rest)

    def deciding(self, open_):
        """Rows with which the intervals of the open solvers end at what passes or fails, in two digits rounded up."""
        needed = 0.0
        for finding in open_:
            measure, value, (low, high), threshold = figure(finding)
            chance = finding["macro_f1"]["baseline"] if measure == "macro-F1" else finding["baseline"]
            passing = max(threshold, chance + 0.1 * min(1, 2 * (1 - chance)))
            share = (value - low) / (value - threshold) if value > threshold else (high - value) / (passing - value)
            pairs = finding["check"] in {"pairwise", "differences", "cosines"} and "pairwise" in self.compared_pairs()
            needed = max(needed, finding["n"] * (1 + pairs) * share * share)
        step = 10 ** (len(str(int(needed))) - 2)
        return -int(-needed // step) * step

    def compared_pairs(self):
        return [name for name, finding in self.findings.items() if finding["measured"] is not None]

    def rows(self, lines):
        config, many = self.config, len(self.config.used) > 12
        at = next(at for at, line in enumerate(lines) if line.startswith("| split"))
        said, _ = table(lines, at)
        head = cells(lines[at])
        self.same("splits", [row[0] for row in said], list(config.rows))
        if not many:
            self.same("labels in the table", [plain(name) for name in head[2:]], config.used)
        for split, n, *counts in said:
            of = config.counts.get(split, Counter())
            true = [of[label] for label in config.used]
            self.same(f"rows of {split}", number(n), sum(true))
            self.same(f"rows of {split} per label", [*map(number, counts)], [min(true), max(true)] if many else true)
        for line in lines[at + 2 + len(said) :]:
            if found := re.match(r"\| length in (words|characters) ", line):
                rows, _ = table(lines, lines.index(line))
                for label, *values in rows:
                    self.same(f"lengths of {label}", [*map(number, values)], config.lengths(plain(label)))
                self.same("unit", found[1], "words" if "n_words" in config.schema.names else "characters")
            elif found := re.match(r"([\d,]+) labels: (.*)\.$", line):
                self.same("number of labels", number(found[1]), len(config.used))
                self.same("names of labels", plain(found[2]).removesuffix(", …").split(", "), config.used[:40])
            elif found := re.match(r"<img .*>$", line):
                self.image(line)
            elif not line.startswith("|"):
                self.release.unknown(f"{self.name}, Rows", line)

    def image(self, line):
        """A plot is a view of the sheet of the language, of the size that the page says."""
        said = re.fullmatch(
            r'<img src="\.\./(assets/\w+\.svg)#([\w-]+)" width="(\d+)" height="(\d+)" alt="[^"]+">', line
        )
        sheet = (self.release.folder / said[1]).read_text(encoding="utf-8") if said else ""
        view = re.search(
            rf'<view id="{said[2]}" viewBox="0 \d+ (\d+) (\d+)"/>\n<svg y="\d+">\n.*\n<title>([\w-]+):', sheet
        )
        self.same(f"plot {said[2]}", view and view.groups(), (said[3], said[4], self.name))

    def examples(self, lines):
        row, texts = None, []
        for line in lines:
            if found := re.match(
                r"\*\*\d+\. label (.*?)\*\* · (?:places in the source: ([\d, ]+) · )?(.*) · `(\w+)`$", line
            ):
                row = self.config.by_id.get(found[4])
                self.holds(f"example {found[4]} is a row", row is not None)
                if row is None:
                    continue
                self.same(f"label of {found[4]}", plain(found[1]), self.config.labels[row["label"]])
                place = ", ".join(filter(None, (row["corpus"], row["doc_id"])))
                self.same(f"place of {found[4]}", plain(found[3]), on_one_line(place))
                if found[2]:
                    self.same(f"order of {found[4]}", found[2], ", ".join(map(str, row["order"])))
                texts = [text for name in (*TEXTS, "sentence_bad", "marked") for text in as_list(row.get(name))]
                texts = [on_one_line(text) for text in texts]
            elif found := re.match(r"- (\S+(?: \d+)?): (.*)$", line):
                shown = plain(found[2]).strip("…")
                self.holds(f"text {found[1]} of {row and row['id']}", any(shown in text for text in texts))

    def fields(self, where, rows):
        config = self.config
        self.same("columns", [row[0].strip("`") for row in rows], config.schema.names, where)
        for name, kind, what in rows:
            arrow = str(config.schema.field(name.strip("`")).type)
            for old, new in (("item: ", ""), ("element: ", ""), ("float", "float32"), ("double", "float64")):
                arrow = arrow.replace(old, new)
            if name != "`label`":
                self.same(f"type of {name}", plain(kind), arrow, where)
                continue
            labels = config.labels
            more = f", … {len(labels)} in all" if len(labels) > 6 else ""
            self.same("class names", plain(kind), f"ClassLabel({', '.join(labels[:6])}{more})", where)
            unused = [label for label in labels if label not in config.used]
            several = f"{len(unused)} of the {len(labels)} names" if len(unused) > 6 else ", ".join(unused)
            said = re.search(r"; no row has (.*)$", plain(what))
            self.same("labels without rows", said and said[1], several if unused else None, where)

    def chosen(self, lines):
        config, entry = self.config, self.config.entry
        settings, drops = entry["settings"], dict(entry["drops"])
        notes = {note.removesuffix(".") for note in entry["notes"]}
        at = 0
        while at < len(lines):
            line = lines[at]
            if line.startswith("| reason"):
                said, at = table(lines, at)
                self.same("drops", {plain(reason): number(n) for reason, n, _ in said}, drops)
                continue
            if found := re.match(r"- Filters: (\d+)–(\d+) words", line):
                key = "probing_words" if "words in every" not in line and not config.is_suite else "discourse_words"
                said = [int(found[1]), int(found[2])]
                true = [settings["probing_words"], settings["discourse_words"]]
                self.holds("words in filters", said in true)
                if "n_words" in config.schema.names:
                    sizes = [n for rows in config.rows.values() for n in rows["n_words"]]
                    self.holds(f"words within the filter ({key})", said[0] <= min(sizes) <= max(sizes) <= said[1])
            elif found := re.match(r"- Seed (\d+); at most ([\d,]+) / ([\d,]+) / ([\d,]+) rows", line):
                self.same("seed", int(found[1]), settings["seed"])
                sizes = dict(zip(SPLITS, map(number, found.groups()[1:]), strict=True))
                self.same("sizes", list(sizes.values()), settings["sizes"])
                within = all(rows.height <= sizes[split] for split, rows in config.rows.items())
                self.holds("rows within the sizes", within)
            elif found := re.match(r"- Candidates: ([\d,]+)\.", line):
                self.same("candidates", number(found[1]), entry["candidates"])
            elif line.startswith("- Split by"):
                groups = [set(rows["group"]) for rows in config.rows.values()]
                shared = [a & b for i, a in enumerate(groups) for b in groups[i + 1 :]]
                self.same("groups in two splits", len(set().union(*shared)) if shared else 0, 0)
            elif line.startswith("- Labels are balanced"):
                for split, of in config.counts.items():
                    values = [of[label] for label in config.used]
                    paired = config.is_suite or max(values) <= 1.5 * min(values) + 1
                    self.holds(f"balance of {split}", paired)
            elif line.startswith("- ") and plain(line[2:]).removesuffix(".") in notes:
                notes.discard(plain(line[2:]).removesuffix("."))
            elif not re.match(r"- (Rows, labels|Labels have)", line):
                self.release.unknown(f"{self.name}, How", line)
            at += 1
        self.same("notes that lack", notes, set())

    def audit(self, lines):
        report, at = self.config.report, 0
        if not report:
            return
        where = f"{self.name}, Audit"
        while at < len(lines):
            line, rows = lines[at], None
            if line.startswith("|"):
                head = cells(line)
                rows, at = table(lines, at)
            if rows is not None and head[0] == "baseline":
                true = [[b["name"], f"{b['accuracy']:.3f}", span(b["interval"])] for b in report["baselines"]]
                self.same("baselines", rows, true)
                said = {row[0]: row[1] for row in rows}
                self.same("majority baseline", said.get("majority"), f"{self.majority():.3f}")
            elif rows is not None and head[0] == "shortcut":
                true = [f for f in report["findings"] if f["kind"] == "shortcut" and f["measured"] is not None]
                self.same("shortcuts", [row[0] for row in rows], [f["check"] for f in true])
                for row, finding in zip(rows, true, strict=False):
                    measure, value, ends, threshold = figure(finding)
                    gain = round(finding["measured"] - finding["baseline"], 6)
                    shown = [f"{measure} {value:.3f}".removeprefix("accuracy "), span(ends),
                             f"{gain:+.3f}",
                             f"{threshold:.3f}" if threshold is not None else ""]  # fmt: skip
                    self.same(f"figures of {row[0]}", row[1:5], shown)
                    self.same(f"result of {row[0]}", row[5].partition(",")[0], finding["status"])
                    known = f"{finding['reason']} {finding['detail']}"
                    for word in re.findall(r"\d[\d.]*\d", plain(row[6]).rpartition(": ")[2]):
                        self.holds(f"{word} in the remark on {row[0]}", word in known)
            elif rows is not None and head[0] == "rule":
                true = [r for r in report["heuristics"]["rules"] if r["coverage"]][:5]
                said = [[plain(row[0]), plain(row[1]), *row[2:]] for row in rows]
                self.same("rules", said, [[on_one_line(f"{r['family']}: {r['condition']}"), r["label"],
                    f"{r['coverage']:.3f}", "" if r["correct"] is None else f"{r['correct']:.3f}",
                    span(r["interval"]) if r["correct"] is not None else ""] for r in true])  # fmt: skip
            elif rows is not None and head[0] == "integrity":
                for check, measured, threshold, result, _ in rows:
                    finding = self.findings[check]
                    self.same(f"figures of {check}", [measured, threshold, result.partition(",")[0]], [
                        f"{finding['measured']:g}", "" if finding["threshold"] is None else f"{finding['threshold']:g}",
                        finding["status"]])  # fmt: skip
            elif rows is not None:
                self.same("table", head, None)
            elif found := re.match(r"Integrity: (\d+) checks found nothing \((.*)\)\.", line):
                measured = [f for f in report["findings"] if f["measured"] is not None]
                clean = [f["check"] for f in measured if f["kind"] == "integrity" and f["status"] == "below"]
                self.same("clean checks", found[2].split(", "), clean)
                self.same("number of clean checks", int(found[1]), len(clean))
            elif found := re.search(r"rules apply to (\S+) of these rows", line):
                self.same("coverage of rules", found[1], f"{report['heuristics']['coverage']:.3f}")
            elif line.startswith("A config can be too small"):
                self.recorded(line)
            elif line.startswith("<img "):
                self.image(line)
            elif line in report["notes"] or "95 % interval" in line:
                pass
            else:
                self.release.unknown(where, line)
            at += rows is None

    def recorded(self, line):
        """What is quoted of the record of all treebanks is the same on every card of the task."""
        known = json.loads((Path(__file__).parents[2] / "cards" / "metadata" / "designs.json").read_text("utf-8"))
        design = known[self.config.task]
        said = re.findall(r"\d[\d,.]*\d|\d", line.replace("`", ""))
        low, high = design["interval"][0], design["interval"][1]
        shares = [design["measured"], low, high, design["threshold"]]
        true = [f"{design['configs']}", f"{design['n']:,}", *(f"{share:.3f}" for share in shares)]
        self.same("the record of treebanks", said, true)
        self.holds("its check", design["check"] in line and f"*{design['status']}*" in line)

    def sources(self, lines):
        at = next(at for at, line in enumerate(lines) if line.startswith("| corpus"))
        rows, _ = table(lines, at)
        present = {corpus for of_split in self.config.rows.values() for corpus in of_split["corpus"]}
        said = {plain(row[0]): row for row in rows}
        self.same("corpora", sorted(said), sorted(self.config.entry["sources"]))
        self.same("corpora of rows that are no sources", present - said.keys(), set())
        for name, row in said.items():
            source = self.release.manifest["sources"].get(name)
            if source is None:
                continue
            self.same(f"genre of {name}", plain(row[1]), ", ".join(source.get("genre", [])))
            self.same(f"licence of {name}", plain(row[2]), source["licence"])
            self.release.commit(self.name, name, row[3], source)
            self.same(f"citation of {name}", plain(row[4]).strip("…"), source["citation"][:600])


def simple(licence):
    return re.sub(r"^gnu|[^a-z0-9]", "", re.sub("-(only|or-later)$", "", licence.lower()))


def as_list(value):
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def span(ends):
    return f"{ends[0]:.3f}–{ends[1]:.3f}" if ends else ""


def figure(finding):
    """Measure, value, interval and threshold of a finding as a card shows them: macro-F1 where that decided."""
    accuracy = "accuracy", finding["measured"], finding["interval"], finding["threshold"]
    if not finding["macro_f1"] or finding["threshold"] is None:
        return accuracy
    macro = "macro-F1", *(finding["macro_f1"][name] for name in ("value", "interval", "threshold"))

    def excess(measure):
        _, value, (low, high), threshold = measure
        return (low > threshold) + (high > threshold), value - threshold

    return max(accuracy, macro, key=excess)


def rounded(value, measure, finding):
    return round(value if measure == "accuracy" else figure(finding)[1], 3)
