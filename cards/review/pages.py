"""What pages show: a card, a row as a reader sees it, and the report of an audit.

Nothing here knows the web application, so that `build card` and `build audit --html` do without it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl
from markdown_it import MarkdownIt
from msgspec.structs import replace

from discoprobe.builders.audit.report import CUE, NOT_AUDITED
from discoprobe.builders.audit.thresholds import BY_ID
from discoprobe.builders.config import Shape
from discoprobe.cards.metadata import manifest, yaml_header
from discoprobe.cards.release.language_files import LanguageFiles
from discoprobe.cards.release.rows import ReleaseRow
from discoprobe.cards.text import plots
from discoprobe.cards.text.examples import ShownText
from discoprobe.cards.text.questions import named_texts
from discoprobe.cards.text.templating import plain, render
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from discoprobe.builders.audit.frame import AuditInput
    from discoprobe.builders.audit.inputs.data_files import Read
    from discoprobe.builders.audit.report import Report

# cards

_IMAGE = re.compile(r'(<img src=")([^"]*)(")')
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def read_card(release: Path, config: str) -> str:
    """The card of a config of a release folder; for the empty name, the card of the release.

    Raises:
        UnknownNameError: if the release has no such config.
        DiscoprobeError: if there is no release in the folder.
    """
    names = manifest.read(release).configs
    if config and config not in names:
        raise UnknownNameError("config", config, names, remedy=f"({release} does not have it; `build run` builds it)")
    if not (release / manifest.README).exists():
        raise DiscoprobeError(f"{release} is not a release folder; `build run` writes one")
    if not config:
        return (release / manifest.README).read_text(encoding="utf-8")
    cards = LanguageFiles.of_folder(release, names[config].lang, manifest.CARDS).cards
    if (card := cards.get(config)) is None:
        raise DiscoprobeError(f"{release} lacks the card of {config}; build {config} again")
    return card


def card_for_terminal(card: str) -> str:
    """A card as Markdown that reads well in a terminal: marks as brackets, no images, no YAML.

    >>> print(card_for_terminal("a <mark><b>b</b></mark>"))
    a ⟦b⟧
    """
    text = _FRONT_MATTER.sub("", card, count=1).replace("<mark><b>", "⟦").replace("</b></mark>", "⟧")
    return re.sub(r"^(?:!\[[^\]]*\]\([^)]*\)|<img [^>\n]*>)\n\n?", "", text, flags=re.MULTILINE)


def card_html(card: str, address_of: Callable[[str], str]) -> str:
    """A card as HTML, as the Hub shows it; ``address_of`` says where a link or an image of the card leads.

    This is CommonMark with tables. HTML passes, since cards escape what is not theirs.
    """
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = markdown.parse(_FRONT_MATTER.sub("", card, count=1))
    for number, token in enumerate(tokens):
        if token.type == "heading_open":  # the anchor that the Hub gives it
            token.attrSet("id", re.sub(r"[^\w-]", "", tokens[number + 1].content.lower().replace(" ", "-")))
        elif token.type in {"th_open", "td_open"} and "right" in str(token.attrs.pop("style", "")):
            token.attrSet("class", "number")  # the policy of the pages lets no style into elements
        for inline in (token, *(token.children or ())):
            if inline.type in {"link_open", "image"}:
                attribute = "src" if inline.type == "image" else "href"
                inline.attrSet(attribute, address_of(str(inline.attrGet(attribute))))
            elif inline.type in {"html_block", "html_inline"}:
                inline.content = _IMAGE.sub(lambda match: match[1] + address_of(match[2]) + match[3], inline.content)
    html = str(markdown.renderer.render(tokens, markdown.options, {}))
    html = html.replace("<pre>", '<pre tabindex="0">')  # what scrolls can be reached by the keyboard
    return html.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")


# rows

_WORD = re.compile(r"\s+|\w+|[^\w\s]")


class ShownRow(msgspec.Struct, frozen=True):
    """A row to be printed; ``lang`` is the code for its texts, ``facts`` are its other columns."""

    row: ReleaseRow
    texts: tuple[ShownText, ...]
    lang: str
    facts: Mapping[str, str]


def language(row: ReleaseRow) -> str:
    """The code of the language of a row's texts, as HTML has it."""
    return yaml_header.language_code(row.entry.lang)


def shown_row(row: ReleaseRow) -> ShownRow:
    """A row with what was edited, or is asked about, marked; sentences that were moved have their place in the source.

    Facts are the columns that are no texts, in words; those without a value are left out.
    """
    values = row.values
    order = values.get("order")
    places = [place for place in order or () if place >= 0]
    texts = []
    for text in named_texts(row.entry, row.values):
        note = ""
        if order is not None and text.number is not None:
            if order[text.number] < 0:
                note = "from elsewhere"
            elif places != sorted(places):
                note = f"{order[text.number] + 1} in the source"
        texts.append(replace(text, note=note))
    facts: dict[str, Any] = {name: values[name] for name in ("corpus", "doc_id", "group", "pair_id")}
    facts |= {name: values.get(name) for name in ("orig_label", "direction", "rel_type", "removed")}
    facts["sent_ids"] = ", ".join(values["sent_ids"] or ())
    if target := values.get("target"):
        facts["target"] = f"{target['form']} ({target['lemma']}, {target['upos']})"
    facts["words"] = values.get("n_words")
    distractor = values.get("distractor")
    facts["distractor"] = ", ".join(filter(None, distractor)) if isinstance(distractor, list) else distractor
    facts = {name: str(value) for name, value in facts.items() if value not in {None, ""}}
    return ShownRow(row, tuple(texts), language(row), facts)


def side_by_side(row: ReleaseRow, pair: Sequence[ReleaseRow]) -> list[ShownRow]:
    """The versions of a pair, each marked where it differs from the first (the original).

    An edited sentence whose original is not a row is compared with the column ``original``. Of rows with several texts,
    those are marked that no other row of the pair has in the same place.
    """
    lang = language(row)
    if len(pair) > 1 and row.entry.shape == Shape.SENTENCE:
        original, *edited = [str(version.values["text"]) for version in pair]
        edits = [differences(original, text) for text in edited]
        marked = [edits[0][0], *(right for _, right in edits)]
        return [
            ShownRow(version, (text,), lang, shown_row(version).facts)
            for version, text in zip(pair, marked, strict=True)
        ]
    if len(pair) > 1:
        texts_of = {version.id: [text.text for text in named_texts(version.entry, version.values)] for version in pair}
        versions = []
        for version in pair:
            view = shown_row(version)
            others = [texts for row_id, texts in texts_of.items() if row_id != version.id]
            texts = []
            for number, text in enumerate(view.texts):
                differs = any(other[number : number + 1] != [text.text] for other in others)
                texts.append(replace(text, start=0, end=len(text.text) if differs else 0))
            versions.append(ShownRow(version, tuple(texts), lang, view.facts))
        return versions
    if row.values.get("original"):
        before, after = differences(row.values["original"], row.values["text"])
        return [ShownRow(row, (side,), lang, {}) for side in (replace(before, name="original"), after)]
    return []


def differences(left: str, right: str) -> tuple[ShownText, ShownText]:
    """Two texts, each marked from the first word that differs to the last."""
    start = _shared_length(_WORD.findall(left), _WORD.findall(right))
    end = _shared_length(_WORD.findall(left[start:])[::-1], _WORD.findall(right[start:])[::-1])

    def marked(text: str) -> ShownText:
        edit = text[start : len(text) - end]
        return ShownText("text", text, start + len(edit) - len(edit.lstrip()), start + len(edit.rstrip()))

    return marked(left), marked(right)


def _shared_length(left: Sequence[str], right: Sequence[str]) -> int:
    """The number of characters of the words with which both begin."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    return sum(len(word) for word, _ in same)


# reports of the audit

_LONGEST = 600
"""Characters of a text that are shown."""
_SERIOUSNESS = ("fatal", "serious", CUE, "above", "minor", "not measured", "open", "below", NOT_AUDITED)
"""Grades and words of verdicts, the most serious first."""


def write_audit_page(path: Path, read: Read, reports: Sequence[Report]) -> None:
    """Writes one HTML page without external files: what was read, every check, and the rows that findings name.

    It has a report with its verdict and a plot per dataset that was read, and why others were not. What is most serious
    comes first, of the datasets and of the checks.
    """
    datasets, skipped = read
    plotted = map(plots.audit_plot, reports)
    sections = list(zip(reports, map(_texts_of_findings, datasets, reports), plotted, strict=True))
    sections.sort(key=lambda section: _SERIOUSNESS.index(section[0].verdict.grade or section[0].verdict.word))
    page = render("audit_page.html", package="review", sections=sections, skipped=skipped, checks=BY_ID)
    path.write_text(page, encoding="utf-8", newline="\n")


def _texts_of_findings(data: AuditInput, report: Report) -> dict[str, tuple[str, str, list[str]]]:
    """Split, label and texts of the rows that findings name, and of those that they repeat, by id."""
    ids = sorted({row for finding in report.findings for row in (*finding.rows, *finding.twins)})
    rows = data.rows.filter(pl.col("id").is_in(ids)).select("id", "split", "label", "texts").unique("id")
    return {
        row_id: (split, data.labels[label], [plain(text or "", _LONGEST) for text in texts])
        for row_id, split, label, texts in rows.iter_rows()
    }
