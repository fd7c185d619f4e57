"""Mutated files: those of the published shapes with bytes, lines, cells and values changed, as a hash says."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from published_shapes import Published

PIECES = (
    b"\0", b"\xff", b"\xfe\xff", b"\r", b"\n", b"\n\n", b"\t", b"\t\t", b",", b'"', b'""', b"|", b"[", b"]", b"{",
    b"}", b":", b"null", b"true", b"NaN", b"Infinity", b"-1", b"1e999", b"9" * 30, b"0.5", b"\xe2\x80\xa8",
    b"__label__x ", b"\\u0000", b"\\ud800", b"[[]]", b"{}", b'{"a": {"b": [{"c": 1}]}}', b"\xef\xbb\xbf", b"label",
    b"text", b"# text = x\n", b"'", b" ", b"\xc2\xa0", b"-DOCSTART-", b'[1, "x"]', b"train", b"\x1f\x8b",
)  # fmt: skip
"""What is written into a file."""


VALUES = (
    None, True, 0, -1, 10**30, 0.5, float("nan"), float("inf"), "", " ", "\0", "1", "01", "1e999", [], [None], [[]],
    ["x"],
    [1, "x"], [["x", "y"], ["z"]], {}, {"a": None}, {"a": {"b": [1]}}, [{"text": "x", "label": 1}],
    [{"a": [{"b": "c"}]}], "x" * 5000, "\ud800",
)  # fmt: skip
"""What a value of JSON is replaced by."""


class Dice:
    """Numbers from a hash of a seed: the same on every machine."""

    def __init__(self, *seed: object) -> None:
        self.state = repr(seed).encode()

    def below(self, n: int) -> int:
        """A number from 0 to ``n`` - 1."""
        self.state = hashlib.sha256(self.state).digest()
        return int.from_bytes(self.state[:8], "big") % max(1, n)


def mutated(shape: Published, seed: int) -> dict[str, bytes]:
    """The files of a shape with one to three changes."""
    dice, files = Dice(shape.name, seed), dict(shape.files)
    for _ in range(1 + dice.below(3)):
        name = sorted(files)[dice.below(len(files))]
        changes = list(_changes(files[name], dice))
        if (values := _with_other_values(files[name], dice)) is not None and dice.below(2):
            files[name] = values
            continue
        change = dice.below(len(changes) + 2)
        if change < len(changes):
            files[name] = changes[change]
        elif change == len(changes) and len(files) > 1:
            del files[name]
        else:
            other = [".txt", ".csv", ".tsv", ".json", ".jsonl", ".parquet", ".gz", ".zip", ""][dice.below(9)]
            files[name.rsplit(".", 1)[0] + other] = files.pop(name)
    return files


def _with_other_values(content: bytes, dice: Dice) -> bytes | None:
    """JSON with one key's value replaced in one row, some rows or all; None for what is no JSON."""
    try:
        lines = [json.loads(line) for line in content.splitlines()]
        in_lines = len(lines) > 1
        rows = lines if in_lines else lines[0]
        every = [row for row in (rows if isinstance(rows, list) else [rows]) if isinstance(row, dict)]
    except (ValueError, IndexError):
        return None
    if not every or not every[0]:
        return None
    key = sorted(every[0])[dice.below(len(every[0]))]
    kind, value = dice.below(4), VALUES[dice.below(len(VALUES))]
    only = dice.below(len(every))
    for at, row in enumerate(every):
        if kind == 0:
            row.pop(key, None)
        elif kind == 1 or at == only or dice.below(kind):
            row[key] = value
    return "\n".join(map(json.dumps, lines)).encode() if in_lines else json.dumps(rows).encode()


def _changes(content: bytes, dice: Dice) -> Iterator[bytes]:
    """The content with one change of each kind."""
    place, other = dice.below(len(content)), dice.below(len(content))
    piece = PIECES[dice.below(len(PIECES))]
    lines = content.split(b"\n")
    line = dice.below(len(lines))
    separator = [b"\t", b",", b'": ', b" "][dice.below(4)]
    cells = lines[line].split(separator)
    cell = dice.below(len(cells))
    yield content[:place] + piece + content[place:]
    yield content[:place] + content[place + 1 + dice.below(20) :]
    yield content[:place]
    yield content[: min(place, other)] + content[max(place, other) :]
    yield b"\n".join([*lines[:line], *lines[line + 1 :]])
    yield b"\n".join([*lines[:line], lines[line], *lines[line:]])
    yield b"\n".join([*lines[:line], piece, *lines[line:]])
    yield b"\n".join([*lines[:line], separator.join([*cells[:cell], piece, *cells[cell + 1 :]]), *lines[line + 1 :]])
    yield b"\n".join([*lines[:line], separator.join([*cells[:cell], *cells[cell + 1 :]]), *lines[line + 1 :]])
    rows = [each.split(separator) for each in lines]
    yield b"\n".join(separator.join([*of[:cell], piece, *of[cell + 1 :]]) for of in rows)
    yield b"\n".join(separator.join([*of[:cell], *of[cell + 1 :]]) for of in rows)
    yield content.replace(separator, piece)
    yield content.replace(b'"label"', b'"answer"').replace(b"label", b"class")
    yield content + content
    yield b""
    yield piece
