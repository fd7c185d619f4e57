"""Cells read from their places in the text, against Python's own reading of each."""

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discoprobe.loaders.cells import LARGEST, NO_NUMBER, PADDING, numbers, occurrences, strings

CELLS = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n"), max_size=20), min_size=1)
NUMBERS = st.one_of(
    st.integers(0, 10**12).map(str),
    st.text("0123456789+-._/: ", max_size=12),
    st.text(st.characters(categories=["Nd"]), max_size=3),
)


def laid_out(cells):
    encoded = [cell.encode() for cell in cells]
    margin = b"\n" * PADDING
    ends = PADDING + np.cumsum([len(cell) + 1 for cell in encoded]) - 1
    return margin + b"\t".join(encoded) + margin, ends - [len(cell) for cell in encoded], ends


@given(CELLS)
def test_strings_are_those_in_the_text(cells):
    assert strings(*laid_out(cells)).to_list() == cells


@given(CELLS)
def test_strings_are_null_where_they_are_not_valid(cells):
    valid = np.array([len(cell) % 2 == 0 for cell in cells])
    expected = [cell if len(cell) % 2 == 0 else None for cell in cells]
    assert strings(*laid_out(cells), valid).to_list() == expected


@given(st.lists(NUMBERS, min_size=1))
def test_numbers_are_canonical_decimals_of_32_bits(cells):
    is_number = [re.fullmatch("0|[1-9][0-9]*", cell) and int(cell) <= LARGEST for cell in cells]
    expected = [int(cell) if good else NO_NUMBER for cell, good in zip(cells, is_number, strict=True)]
    assert numbers(*laid_out(cells)).tolist() == expected


@given(st.text("ab|"))
def test_occurrences_are_all_places_of_a_part(text):
    data = text.encode()
    assert occurrences(data, b"a|").tolist() == [found.start() for found in re.finditer(r"a\|", text)]
