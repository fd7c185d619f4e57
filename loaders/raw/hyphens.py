"""Words that are divided at the end of a line."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from wordfreq import available_languages, zipf_frequency

DIVIDED: Final = re.compile(r"(?<!\w)(?P<before>[^\W\d_]++)[-‐¬](?P<gap>[ \t]*\r?[\n\r]\s*)(?P<after>[^\W\d_]+)")
"""A word, a hyphen at the end of a line, and the word that the next line begins with."""
WORD: Final = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
COMMON: Final = 5.5
"""Zipf frequency from which what follows is a word by itself, as in German ``Haus-\\nund Gartenarbeit``."""


@dataclass(frozen=True)
class Divisions:
    """Decides for a document what a hyphen at the end of a line is; ``lang`` may be empty."""

    source: str
    lang: str = ""

    def edits(self, text: str) -> list[tuple[int, int, str]]:
        """What to replace in a stretch of the document: hyphens and line ends inside words."""
        found = []
        for match in DIVIDED.finditer(text):
            hyphen, after = match.end("before"), match.start("after")
            if not match["after"][0].islower():
                if match["before"].lower() + "-" + match["after"].lower() in self._words:
                    found.append((hyphen + 1, after, ""))
            elif self._is_one_word(match["before"], match["after"]):
                found.append((hyphen, after, ""))
            elif not self._is_word(match["after"]):
                found.append((hyphen + 1, after, ""))
        return found

    def _is_one_word(self, before: str, after: str) -> bool:
        """Whether the hyphen is there because of the line's end only."""
        whole, parts = (before + after).lower(), f"{before}-{after}".lower()
        if self._words[whole] or self._words[parts]:
            return self._words[whole] >= self._words[parts]
        if self._known and zipf_frequency(whole, self.lang) > 0:
            return True
        return not self._is_word(after)

    def _is_word(self, after: str) -> bool:
        """Whether it is a frequent word, before which a hyphen stands for a part that is not repeated."""
        return self._known and zipf_frequency(after.lower(), self.lang) >= COMMON

    @cached_property
    def _known(self) -> bool:
        return self.lang in available_languages()

    @cached_property
    def _words(self) -> Counter[str]:
        """The words of the document, those with a hyphen inside a line too."""
        return Counter(word.replace("‐", "-").lower() for word in WORD.findall(self.source))
