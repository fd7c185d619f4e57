"""The running text of a page of HTML, laid out as Markdown: a blank line between blocks, ``#`` before headings.

What is no text of the page is left out: scripts, navigation, tables, code. An item of a list is a line with a hyphen,
so that lists are recognised as in other texts (``plain_text``).
"""

import re
from html.parser import HTMLParser
from typing import Final

BLOCKS: Final = frozenset({
    "address", "article", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt", "fieldset",
    "figure", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "section", "summary", "ul",
})  # fmt: skip
LEFT_OUT: Final = frozenset({
    "aside", "button", "dialog", "figcaption", "footer", "form", "iframe", "math", "nav", "noscript", "object",
    "pre", "script", "select", "style", "svg", "table", "template", "textarea", "title",
})  # fmt: skip
"""Elements whose content is left out."""
_HEADING: Final = re.compile(r"h[1-6]")


class _Page(HTMLParser):
    """Collects the text; ``inside`` has the elements left out that are open."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in LEFT_OUT:
            self.inside.append(tag)
        elif tag == "body":  # whatever the head left open
            self.inside.clear()
        self._break(tag)
        if _HEADING.fullmatch(tag):
            self._add("#" * int(tag[1]) + " ")
        elif tag == "li":
            self._add("- ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.inside:
            del self.inside[self.inside.index(tag) :]
        self._break(tag)

    def handle_data(self, data: str) -> None:
        self._add(re.sub(r"\s+", " ", data))

    def _break(self, tag: str) -> None:
        """The end of a line or a block."""
        self._add("\n" if tag in {"br", "li"} else "\n\n" if tag in BLOCKS | LEFT_OUT else "")

    def _add(self, text: str) -> None:
        if not self.inside:
            self.parts.append(text)


def text_of_html(source: str) -> str:
    """The text of a page; empty if it has none."""
    page = _Page()
    page.feed(source)
    page.close()
    lines = [re.sub(r" +", " ", line).strip() for line in "".join(page.parts).split("\n")]
    kept = [line for line in lines if not line or line.strip("#- ")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip() + "\n"
