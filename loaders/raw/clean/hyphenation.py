"""Words that are divided by a hyphen at the end of a line."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from wordfreq import available_languages, zipf_frequency

DIVIDED: Final = re.compile(r"(?<!\w)(?P<before>[^\W\d_]++)[-‐¬](?P<gap>[ \t]*\r?[\n\r]\s*)(?P<after>[^\W\d_]+)")
"""A word, a hyphen at the end of a line, and the first word of the next line."""
WORD: Final = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
COMMON: Final = 5.5
"""Zipf frequency from which the second part is a word by itself, as in German ``Haus-\\nund Gartenarbeit``."""


@dataclass(frozen=True)
class LineEndHyphens:
    """Decides for a document what each hyphen at the end of a line is; ``lang`` may be empty."""

    source: str
    lang: str = ""

    def edits(self, text: str) -> list[tuple[int, int, str]]:
        """What to delete in a part of the document: hyphens and line ends inside words, as edits of the text."""
        edits = []
        for match in DIVIDED.finditer(text):
            before, after = match["before"], match["after"]
            hyphen, end = match.end("before"), match.start("after")
            if not after[0].islower():
                if f"{before}-{after}".lower() in self._words:
                    edits.append((hyphen + 1, end, ""))
            elif self._is_one_word(before, after):
                edits.append((hyphen, end, ""))
            elif not self._is_common(after):
                edits.append((hyphen + 1, end, ""))
        return edits

    def _is_one_word(self, before: str, after: str) -> bool:
        """Whether the word is written without the hyphen when it is not divided."""
        closed, hyphenated = (before + after).lower(), f"{before}-{after}".lower()
        if self._words[closed] or self._words[hyphenated]:
            return self._words[closed] >= self._words[hyphenated]
        if self._has_frequencies and zipf_frequency(closed, self.lang) > 0:
            return True
        return not self._is_common(after)

    def _is_common(self, word: str) -> bool:
        """Whether it is a frequent word: then the hyphen before it stands for a part that is not repeated."""
        return self._has_frequencies and zipf_frequency(word.lower(), self.lang) >= COMMON

    @cached_property
    def _has_frequencies(self) -> bool:
        return self.lang in available_languages()

    @cached_property
    def _words(self) -> Counter[str]:
        """The words of the document with their counts, including those with a hyphen inside a line."""
        return Counter(word.replace("‐", "-").lower() for word in WORD.findall(self.source))
