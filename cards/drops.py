"""What the reasons mean for which candidates were not used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_MEANINGS: Final = {
    "too-short": "a sentence has too few words",
    "too-long": "a sentence has too many words",
    "replacement-character": "text with U+FFFD",
    "control-character": "text with control characters",
    "private-use-character": "text with characters of the private-use area",
    "entity": "text with an HTML entity or a bracket by name (`-LRB-`)",
    "tag": "text with an HTML tag",
    "mask": "text with masked words (`_`, `**`)",
    "contact": "text with an address or a telephone number",
    "stray-dash": "text with dashes left over from its source (`- -`, ` -,`)",
    "white-space": "text with runs of white space or a table's bar",
    "quotes": "a sentence with half a pair of quotation marks or parentheses, or LaTeX's quotation marks",
    "not-nfc": "text that is not in Unicode's composed form (NFC)",
    "unaligned": "tokens that do not stand in the text as annotated",
    "heading": "a heading or a caption, which ends a passage",
    "in-two-splits": "a sentence that documents of two splits contain",
    "near-duplicate": "nearly the same as another sentence",
    "duplicate": "the same sentences as another candidate",
    "sentence-twice": "a sentence occurs twice in the passage",
    "donor": "set aside to lend its sentences to other rows",
    "no-matching-intruder": "no sentence to put in resembles the one it would replace",
    "no-matching-distractor": "no wrong ending resembles the right one",
    "no-later-sentence": "no later sentence of the document resembles the right one",
    "no-nearest-sentence": "no sentence of another document resembles the right one",
    "no-genre-sentence": "no further sentence of the same genre resembles the right one",
    "unbalanced": "no counterpart with another label, of its length and split",
    "unmatched": "no counterpart to exchange words with",
    "over-size": "more than the size that was set",
    "rare-words": "too few of its words are common (IPM filter)",
    "rare-connective": "a connective with too few occurrences for a class",
    "rare-value": "a value of the feature with too few candidates for a class",
    "odd": "left over after labels were given in equal numbers",
    "same-words-swapped": "another candidate swaps the same words",
    "syncretic-pos": "the target's form has several parts of speech",
    "syncretic-feature": "the target's form has several values of the feature",
    "target-fused": "the target is fused with another word and cannot be shown alone",
    "target-inside": "the target touches another word or is part of a hyphenated one",
    "typo": "the target is marked as a typing error",
    "foreign": "the target is marked as foreign",
    "reparandum": "the target is a false start that the speaker corrects",
}


class Drop(NamedTuple):
    """Candidates that were left out: the reason's name, how many, and the reason in words (empty if it says enough)."""

    reason: str
    number: int
    meaning: str


def described(drops: Mapping[str, int]) -> list[Drop]:
    """The reasons that left anything out, the commonest first."""
    counted = sorted(drops.items(), key=lambda one: (-one[1], one[0]))
    return [Drop(reason, number, _MEANINGS.get(reason.partition(" ")[0], "")) for reason, number in counted if number]
