"""Review pages: all cards of a release in a browser, before or after it is published, from plain files.

The pages show the cards that the Hub will show, as HTML like the Hub's, a table of all configs to search and sort, and
what changed since the last release. They load nothing from other places, and a Content-Security-Policy in each page
allows only its own script.

Cards of a release folder as they are read: whole, without their YAML, or in a terminal.

The report of an audit as one HTML page without external files: the data, every check, and the rows that fail.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
import re
import shutil
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from discoprobe.builders.audit.thresholds import BY_ID
from discoprobe.cards.metadata import manifest, yaml_header
from discoprobe.cards.release.rows import shown_configs
from discoprobe.cards.text import card
from discoprobe.cards.text.render import plain, render
from discoprobe.cards.text.verdicts import Verdict, tally, verdicts
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError, UsageError
from discoprobe.loaders.file_hashes import hashes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

    from discoprobe.builders.audit.frame import AuditInput
    from discoprobe.builders.audit.inputs import Read
    from discoprobe.builders.audit.report import Report
    from discoprobe.cards.metadata.manifest import ConfigEntry, Manifest
    from discoprobe.cards.release.diff import Changes, ConfigChange, SplitChange


README = "README.md"
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def card_text(release: Path, config: str) -> str:
    """The card of a config of a release folder; for the empty name, the card of the release.

    Raises:
        UnknownNameError: if the release has no such config.
        DiscoprobeError: if there is no release in the folder.
    """
    names = manifest.read(release)["configs"]
    if config and config not in names:
        raise UnknownNameError("config", config, names, remedy=f"({release} does not have it; `build run` builds it)")
    if not (release / README).exists():
        raise DiscoprobeError(f"{release} is not a release folder; `build run` writes one")
    return (release / config / README).read_text(encoding="utf-8")


def body(card: str) -> str:
    """A card without its YAML block."""
    return _FRONT_MATTER.sub("", card, count=1)


def for_terminal(card: str) -> str:
    """A card as Markdown that reads well in a terminal: marks as brackets, no images, no YAML.

    >>> print(for_terminal("a <mark><b>b</b></mark>"))
    a ⟦b⟧
    """
    text = body(card).replace("<mark><b>", "⟦").replace("</b></mark>", "⟧")
    return re.sub(r"^!\[[^\]]*\]\([^)]*\)\n\n?", "", text, flags=re.MULTILINE)


_LONGEST = 600
"""Characters of a text that are shown."""


def write_audit_page(path: Path, read: Read, reports: Sequence[Report], verdicts: Sequence[Verdict]) -> None:
    """Writes the page: a report and a verdict per dataset that was read, and why others were not."""
    sections = list(zip(reports, verdicts, map(_texts, read.data, reports), strict=True))
    page = render("audit_page.html", package="review", sections=sections, skipped=read.skipped, checks=BY_ID)
    path.write_text(page, encoding="utf-8")


def _texts(data: AuditInput, report: Report) -> dict[str, tuple[str, str, list[str]]]:
    """Split, label and texts of the rows that findings name, by id."""
    named = {row for finding in report.findings for row in finding.rows}
    rows = data.rows.filter(pl.col("id").is_in(sorted(named))).select("id", "split", "label", "texts").unique("id")
    return {
        row_id: (split, data.labels[label], [plain(text or "", _LONGEST) for text in texts])
        for row_id, split, label, texts in rows.iter_rows()
    }


INDEX = "index.html"
CARD = "card.html"
_MARKER = ".discoprobe-review"
_WHOLE = {"README.md": "Release card", "ATTRIBUTION.md": "Attribution", "CHANGELOG.md": "Changelog"}
"""The files of a release that have a page of their own, with its title."""
_KINDS = ("added", "removed", "relabelled", "edited")


def write_review(release: Path, out: Path, changes: Changes | None = None, *, languages: Sequence[str] = ()) -> Path:
    """Writes the pages of a release folder into ``out`` and returns the first of them.

    Args:
        release: the release folder.
        out: where the pages go: a new folder, an empty one, or one that held such pages before (they are replaced).
        changes: what changed since the last release, to be shown beside the cards.
        languages: codes of the languages whose configs are shown; all by default.

    Raises:
        UsageError: if there is no release, or ``out`` holds something else.
    """
    published, shown = shown_configs(release, languages)
    _prepare(out)
    _copy_plots(release, published, out)
    names = list(shown)
    for before, name, after in zip(["", *names], names, [*names[1:], ""], strict=False):
        values = {"before": before, "after": after, "changes": changes_of(name, changes)}
        _write(out / name / INDEX, _card_page(card_text(release, name), name, "../", **values))
    for name, title in _WHOLE.items():
        if (source := release / name).exists():
            page = _card_page(source.read_text(encoding="utf-8"), title, "", before="", after="", changes=[])
            _write(out / _page_of(name), page)
    _write(out / INDEX, _index_page(published, shown, changes))
    return out / INDEX


def _copy_plots(release: Path, whole: Manifest, out: Path) -> None:
    """Copies the plots that the manifest lists, each with the content that it lists."""
    (out / manifest.PLOTS).mkdir()
    for path, entry in whole["files"].items():
        plot = release / path
        if manifest.is_plot_of(path, whole["configs"]) and plot.is_file() and hashes_of(plot).sha256 == entry["sha256"]:
            shutil.copyfile(plot, out / path)


def _prepare(out: Path) -> None:
    if out.exists() and any(out.iterdir()):
        if not (out / _MARKER).exists():
            raise UsageError(f"{out} is not empty and holds no review pages; give --pages a new folder")
        shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)
    _write(out / _MARKER, "")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _card_page(text: str, title: str, up: str, **values: object) -> str:
    return _page("review_card.html", title, up, html=card_html(text, _page_of), **values)


def _page(template: str, title: str, up: str, /, **values: object) -> str:
    style, script = asset("review.css"), asset("review.js")
    policy = (
        f"default-src 'none'; img-src 'self' file:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return render(template, package="review", title=title, up=up, style=style, script=script, policy=policy, **values)


@functools.cache
def asset(name: str) -> str:
    """A style sheet or script of the pages."""
    return (importlib.resources.files("discoprobe.cards.review") / "templates" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def card_html(text: str, address_of: Callable[[str], str]) -> str:
    """A card as HTML; ``address_of`` says where a link or an image of the card leads."""
    return str(_markdown().render(body(text), {"address_of": address_of}))


@functools.cache
def _markdown() -> MarkdownIt:
    """Markdown as the Hub reads it: CommonMark with tables; HTML passes, since cards escape what is not theirs."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 (only to write pages)

    made = MarkdownIt("commonmark", {"html": True}).enable("table")
    made.add_render_rule("table_open", lambda *_: '<div class="scroll"><table>\n')
    made.add_render_rule("table_close", lambda *_: "</table></div>\n")
    made.add_render_rule("link_open", _link)
    made.add_render_rule("image", _image)
    made.add_render_rule("heading_open", _heading)
    for cell in ("th_open", "td_open"):
        made.add_render_rule(cell, _cell)
    return made


def _cell(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    """A cell whose alignment is a class: the policy lets no style into elements."""
    style = tokens[index].attrs.pop("style", "")
    if "right" in str(style):
        tokens[index].attrSet("class", "number")
    return renderer.renderToken(tokens, index, options, env)


def _link(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[index]
    token.attrSet("href", env["address_of"](str(token.attrGet("href"))))
    return renderer.renderToken(tokens, index, options, env)


def _image(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[index]
    token.attrSet("src", env["address_of"](str(token.attrGet("src"))))
    return str(renderer.image(tokens, index, options, env))


def _heading(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    """A heading with the anchor that the Hub gives it."""
    tokens[index].attrSet("id", re.sub(r"[^\w-]", "", tokens[index + 1].content.lower().replace(" ", "-")))
    return renderer.renderToken(tokens, index, options, env)


def _page_of(target: str) -> str:
    """The page that stands for a card: ``dc_es/README.md`` is ``dc_es/index.html``, the release's is ``card.html``."""
    folder, _, name = target.rpartition("/")
    if name not in _WHOLE or "://" in target:
        return target
    page = {"README.md": CARD if folder in {"", ".."} else INDEX}.get(name, name.lower().replace(".md", ".html"))
    return f"{folder}/{page}" if folder else page


class ConfigRow(NamedTuple):
    """A config in the table of the first page: its entry in the manifest, and what the manifest does not say."""

    name: str
    entry: ConfigEntry
    language: str
    rows: int
    verdict: str
    change: str


def config_rows(configs: Mapping[str, ConfigEntry], whole: Manifest, changes: Changes | None) -> list[ConfigRow]:
    """Lines of the table of configs, the largest gain first.

    ``configs`` are the entries of the manifest ``whole`` that are shown: a verdict depends on all configs of a task.
    """
    of_release = verdicts(whole["configs"])
    rows = [
        ConfigRow(
            name, entry, card.language_name(entry["lang"]), yaml_header.n_rows(entry), of_release[name].word,
            "; ".join(changes_of(name, changes)),
        )
        for name, entry in configs.items()
    ]  # fmt: skip
    return sorted(rows, key=_by_gain)


def _by_gain(row: ConfigRow) -> tuple[float, str]:
    gain = row.entry["audit"].get("gain") if row.entry["audit"] else None
    return 1.0 if gain is None else -gain, row.name


def _index_page(whole: Manifest, shown: Mapping[str, ConfigEntry], changes: Changes | None) -> str:
    rows = config_rows(shown, whole, changes)
    return _page(
        "review_index.html", "discoprobe: review", "", rows=rows,
        verdicts=tally(row.verdict for row in rows),
        languages=len({entry["lang"] for entry in shown.values()}), unavailable=sorted(whole["unavailable"].items()),
        news=news(changes), compared=changes is not None,
    )  # fmt: skip


class News(NamedTuple):
    """A line on what changed: a word for the kind, and what."""

    kind: str
    what: str


def news(changes: Changes | None) -> list[News]:
    """What changed in the release as a whole; configs' own changes stand in the table."""
    if changes is None:
        return []
    first = [News("first", "there is no earlier release")] if changes.first else []
    added = [] if changes.first else [News("new", f"{name} ({rows:,} rows)") for name, rows in changes.added.items()]
    removed = [News("removed", f"{name} ({rows:,} rows)") for name, rows in changes.removed.items()]
    other = [News("changed", one.name) for one in changes.changed]
    sources = [News("source", line) for line in changes.sources]
    return [*first, *removed, *added, *other, *sources, *(News("software", line) for line in changes.software)]


def changes_of(name: str, changes: Changes | None) -> list[str]:
    """What changed in a config since the last release, a line each."""
    if changes is None:
        return []
    if not changes.first and name in changes.added:
        return ["new in this release"]
    return next((_lines(one) for one in changes.changed if one.name == name), [])


def _lines(change: ConfigChange) -> list[str]:
    rows = [f"{split}: {_counts(one)}" for split, one in change.splits.items()]
    settings = [f"setting {line}" for line in change.settings]
    return [*change.definition, *rows, *settings, *(["wording of the definition"] if change.wording else [])]


def _counts(change: SplitChange) -> str:
    """``3 rows added (4c50…, …), 1 removed (…)``."""
    numbers = {kind: number for kind in _KINDS if (number := getattr(change, kind))}
    return ", ".join(f"{number:,} {kind}{_ids(change.ids.get(kind, ()))}" for kind, number in numbers.items())


def _ids(ids: Iterable[str]) -> str:
    shown = ", ".join(ids)
    return f" ({shown})" if shown else ""
