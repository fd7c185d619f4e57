"""A text in which every character has its place in the source, also after edits."""

from __future__ import annotations

import unicodedata
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import regex

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class TextWithOffsets:
    """A text and, for each of its characters, the span of the source that it stands for.

    Attributes:
        text: the characters.
        starts: offset in the source at which the span of each character begins, int32.
        ends: offset after the span of each character, int32.
    """

    text: str
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]

    @classmethod
    def of(cls, text: str, at: int = 0) -> TextWithOffsets:
        """A text that begins at an offset of the source and is unchanged."""
        starts = np.arange(at, at + len(text), dtype=np.int32)
        return cls(text, starts, starts + np.int32(1))

    def __reduce__(self) -> tuple[object, ...]:
        """How it is pickled: differences of offsets, which are mostly 1 and compress to little."""
        steps = np.diff(self.starts, prepend=np.int32(0)), self.ends - self.starts
        return _unpickled, (self.text, *(zlib.compress(array.tobytes(), 1) for array in steps))

    def source_span(self, start: int, end: int) -> Span:
        """The span of the source from the first to the last of the characters ``start`` to ``end`` (at least one).

        It includes characters that were removed between them, but none before the first or after the last.
        """
        return int(self.starts[start]), int(self.ends[end - 1])

    def replace(self, edits: Iterable[tuple[int, int, str]]) -> TextWithOffsets:
        """The text with spans replaced.

        Args:
            edits: (start, end, new text), in order, without overlap and not empty. Each new character stands for the
                whole span that is replaced.
        """
        texts: list[str] = []
        starts: list[NDArray[np.int32]] = []
        ends: list[NDArray[np.int32]] = []
        at = 0
        for start, end, new in edits:
            texts += (self.text[at:start], new)
            starts += (self.starts[at:start], np.full(len(new), self.starts[start]))
            ends += (self.ends[at:start], np.full(len(new), self.ends[end - 1]))
            at = end
        if not texts:
            return self
        text = "".join([*texts, self.text[at:]])
        return TextWithOffsets(
            text, np.concatenate([*starts, self.starts[at:]]), np.concatenate([*ends, self.ends[at:]])
        )

    def sub(self, pattern: re.Pattern[str], by: str | Callable[[re.Match[str]], str]) -> tuple[TextWithOffsets, int]:
        """The text with every match replaced, and the number of matches."""
        edits = [(*match.span(), by if isinstance(by, str) else by(match)) for match in pattern.finditer(self.text)]
        return self.replace(edits), len(edits)

    def cut(self, start: int, end: int) -> TextWithOffsets:
        """The part from ``start`` to ``end``."""
        return TextWithOffsets(self.text[start:end], self.starts[start:end], self.ends[start:end])

    def stripped(self) -> TextWithOffsets:
        """The text without white space at both ends."""
        start = len(self.text) - len(self.text.lstrip())
        return self.cut(start, max(start, len(self.text.rstrip())))

    def composed(self) -> tuple[TextWithOffsets, int]:
        """The text in NFC, and the number of grapheme clusters that this changed."""
        if unicodedata.is_normalized("NFC", self.text):
            return self, 0
        clusters = ((*match.span(), match[0]) for match in regex.finditer(r"\X", self.text))
        composed = ((start, end, old, unicodedata.normalize("NFC", old)) for start, end, old in clusters)
        edits = [(start, end, new) for start, end, old, new in composed if new != old]
        return self.replace(edits), len(edits)


def joined(parts: Sequence[TextWithOffsets]) -> tuple[TextWithOffsets, list[Span]]:
    """Texts of the same source with one space between them, and the span of each; the space stands for the gap."""
    starts: list[NDArray[np.int32]] = []
    ends: list[NDArray[np.int32]] = []
    spans: list[Span] = []
    at = 0
    for i, part in enumerate(parts):
        if i:
            starts.append(parts[i - 1].ends[-1:])
            ends.append(part.starts[:1])
        starts.append(part.starts)
        ends.append(part.ends)
        spans.append((at, at + len(part.text)))
        at += len(part.text) + 1
    text = " ".join(part.text for part in parts)
    return TextWithOffsets(text, np.concatenate(starts), np.concatenate(ends)) if parts else TextWithOffsets.of(
        ""
    ), spans


def _unpickled(text: str, steps: bytes, lengths: bytes) -> TextWithOffsets:
    starts = np.cumsum(np.frombuffer(zlib.decompress(steps), np.int32), dtype=np.int32)
    return TextWithOffsets(text, starts, starts + np.frombuffer(zlib.decompress(lengths), np.int32))
