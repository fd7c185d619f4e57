"""The gallery of the site: a row per task and language of the sample corpus, with what was edited or asked in colour.

`python scripts/docs_gallery.py` builds the sample and writes ``docs/site/gallery.html``, and three rows of it for the
home page, ``docs/site/rows.html``. As a hook of mkdocs it puts both in the place of ``<!-- gallery -->`` and
``<!-- rows -->``.
"""

import html
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
PARTS = {"gallery": DOCS / "site" / "gallery.html", "rows": DOCS / "site" / "rows.html"}
HOME = ("dc_es", "bso_en", "agreement_suite_en")
"""Configs of which the home page shows a row."""
COLOURS = 5
"""Colours of labels in the style sheet."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The text of a page with the gallery or its rows, as mkdocs asks for it."""
    return re.sub(r"<!-- (gallery|rows) -->", lambda part: PARTS[part[1]].read_text(encoding="utf-8"), markdown)


def row_html(config: Any) -> str:
    """A row of a config, the first of test that is edited or has a label other than the first, if there is one."""
    from discoprobe.cards.text import examples  # noqa: PLC0415 (the hook needs no discoprobe)
    from discoprobe.loaders.catalogue.treebanks import language_name  # noqa: PLC0415 (the same)

    rows = examples.examples(config.shape, config.labels, config.last_split)
    marked = [row for row in rows if any(line.end > line.start for line in row.lines)]
    changed = [row for row in rows if row.label != config.labels[0]]
    row = next(iter([*marked, *changed, *rows]))
    label = f'<span class="label l{config.labels.index(row.label) % COLOURS}">{html.escape(row.label)}</span>'
    lines = "".join(f'<p dir="auto">{_coloured(line.pieces())}</p>' for line in row.lines)
    note = f"<p><small>{html.escape(row.note)}</small></p>" if row.note else ""
    head = f"<b>{language_name(config.lang)}</b> <code>{config.name}</code> {label}"
    return f'<div class="row"><p>{head}</p><div lang="{config.lang}">{lines}</div>{note}</div>\n'


def _coloured(pieces: Iterable[tuple[str, bool]]) -> str:
    """The pieces of a text as HTML, those that are marked in colour."""
    return "".join(f"<mark>{html.escape(text)}</mark>" if mark else html.escape(text) for text, mark in pieces)


def gallery_html(release: Mapping[str, Any]) -> str:
    """The rows of all configs by family and task; a task is a part that opens."""
    from discoprobe.builders.task import all_tasks  # noqa: PLC0415 (the hook needs no discoprobe)

    parts, family = [], ""
    for task in all_tasks().values():
        of_task = [config for config in release.values() if config.task == task.name]
        if not of_task:
            continue
        if task.family != family:
            family = task.family
            parts.append(f"<h2>{family.capitalize()}</h2>\n")
        question = html.escape(task.definition.partition("\n")[0])
        rows = "".join(row_html(config) for config in sorted(of_task, key=lambda config: config.lang))
        summary = f"<summary><b>{task.name}</b>: {question}</summary>"
        parts.append(f'<details class="task" id="{task.name}">{summary}\n{rows}</details>\n')
    return "".join(parts)


def main() -> None:
    """Builds the sample in all its languages and writes both parts."""
    import discoprobe  # noqa: PLC0415 (the hook needs no discoprobe)

    release = discoprobe.build("all", "sample", audit=False, progress=False)
    PARTS["gallery"].write_text(gallery_html(release), encoding="utf-8", newline="\n")
    PARTS["rows"].write_text("".join(row_html(release[name]) for name in HOME), encoding="utf-8", newline="\n")
    sys.stdout.write(f"{len(release)} rows in {PARTS['gallery']}\n")


if __name__ == "__main__":
    main()
