"""The checks of the audit and their thresholds, in one table."""

import enum
from types import MappingProxyType

import msgspec


class Kind(enum.StrEnum):
    """What a check is about."""

    INTEGRITY = "integrity"
    SHORTCUT = "shortcut"


class Severity(enum.StrEnum):
    """What a finding above its threshold means."""

    ERROR = "error"
    NOTE = "note"


class Check(msgspec.Struct, frozen=True):
    """A check and its threshold.

    Attributes:
        id: stable name.
        kind: integrity, or a shortcut to the label.
        measures: what the value is.
        threshold: largest value allowed. Integrity: a number of rows (a share for ``doubled-words``). Shortcuts: the
            gain of a solver over the majority baseline with two equally frequent labels, in accuracy
            (``allowed_gain`` gives that of other data). None: the value is reported and never fails.
        perturbation_only: whether the threshold holds for perturbation tasks only; other tasks report the value.
        unit: of an integrity check, what the value counts.
        across: whether it compares a split with earlier ones, so that the rows of later splits are faulty.
        removable: whether the fault is gone when the rows that show it are left out; else it is in the design.
        of_text: whether it reads the texts of a row, or their places. A model sees nothing of what the others read, so
            that they change no score.
    """

    id: str
    kind: Kind
    measures: str
    threshold: float | None
    perturbation_only: bool = False
    unit: str = "rows"
    across: bool = False
    removable: bool = False
    of_text: bool = True

    def allowed_gain(self, baseline: float) -> float | None:
        """The largest gain allowed over a baseline: the same share of the possible gain (1 - baseline) in all data.

        A gain of .02 is 4 % of what is possible above .5, the baseline of two equally frequent labels. Of 77 labels it
        is .04, the same 4 % of .987; of labels of which one has nine rows in ten, .004. So the threshold is one of the
        accuracy corrected for chance (Cohen 1960), in which .04 means the same for any number of labels.
        """
        return None if self.threshold is None else self.threshold * (1 - baseline) / 0.5


RULED_OUT = 0.10
"""A shortcut is below its threshold if its accuracy is, and a larger gain is ruled out (with two equal labels).

Thresholds say what is a fault if it is certain. To pass, a solver must be known to gain little, and thresholds of .02
and .05 are finer than what 2,000 rows can show. These are worth 2,000 / (1 + 2/π) = 1,222 independent ones if they are
cross-validated (``intervals.MIRRORED``), so the standard error of an accuracy of .5 is .0143. In four of five sets,
none of 15 solvers that found nothing has an interval that ends above a gain of

- (1.96 + 2.18) · .0143 = .059 for a solver alone: half the interval, and the largest of 15 such gains;
- (2.81 + 2.97) · .0143 = .083 for the best of ten, as one text of several alone.

So .10 is the smallest round gain that 2,000 rows can rule out. It is also the largest threshold of the table. 1,000
pairs can rule out .084 for a solver alone and .117 for the best of ten.
"""


def largest_passing(threshold: float, baseline: float) -> float:
    """The value at which the interval of a solver that is below its threshold ends at most.

    It is the threshold, or a gain of ``RULED_OUT`` over the baseline if that is larger; over a baseline above .5, the
    same share of the possible gain.
    """
    return max(threshold, round(baseline + RULED_OUT * min(1.0, (1 - baseline) / 0.5), 6))


def _integrity(  # noqa: PLR0913 (one parameter per column)
    name: str, measures: str, threshold: float | None = 0, *, unit: str = "rows", across: bool = False,
    removable: bool = False,
) -> Check:  # fmt: skip
    return Check(name, Kind.INTEGRITY, measures, threshold, unit=unit, across=across, removable=removable)


def _shortcut(
    name: str, measures: str, threshold: float | None, *, perturbation_only: bool = False, of_text: bool = True
) -> Check:
    return Check(name, Kind.SHORTCUT, measures, threshold, perturbation_only, of_text=of_text)


LEAK_WORDS = 6
"""Sentences of fewer words repeat naturally ("What do you mean?") and are no leak."""

NEAR_JACCARD = 0.8
"""Jaccard similarity of word 5-grams from which on two sentences are near-duplicates (Lee et al. 2022 use the same)."""

ALTERED_WORDS = 8
"""Sentences of fewer words differ in one word by chance ("What do you want to do?", "What do you want to say?")."""

MOST_ROWS = 10_000
"""Rows that solvers learn from and are measured on at most, chosen by hash: published sets have 10,000 for test, and a
shortcut that 10,000 rows do not show is not shallow."""

PARAPHRASE = 0.5
"""Weighted Jaccard similarity of words from which on two sentences are paraphrases, or fill one template.

Of sentences of eight languages in which three words were replaced by others, .80 to .96 are found, also in another
order. Of 12,653 sentences of documents that others do not repeat (Wikipedia, novels, treebanks of ten languages) 17
are: quotations, formulas and sentences that say the same. Of 119 Russian sentences that a model paraphrased or
translated back, it finds .16: those say the same in other words."""

FLOOR = "trigrams"
"""The solver that has read other text, as a language model has: a model must do better."""

FEWEST_WORDS = 1000
"""Words of other text from which on a model of trigrams is made."""

CHECKS = (
    # Published sets hold up to 4,747 of 10,000 duplicate rows (X-Probe SOMO); nothing justifies one.
    _integrity("dup-within", "rows whose input occurs more than once in their split", removable=True),
    # X-Probe TreeDepth: test equals dev in five languages.
    _integrity("dup-across", "rows whose input occurs in an earlier split", across=True, removable=True),
    # PDTB: 214 test inputs with two labels; X-Probe SOMO: 2,315.
    _integrity("label-conflict", "rows whose input occurs with another label", removable=True),
    # Spanish DC gdd: 62 % of test rows share a sentence with train.
    _integrity(
        "sentence-leak", f"rows with a sentence of {LEAK_WORDS} words or more of an earlier split",
        across=True, removable=True,
    ),
    _integrity("near-dup", "rows with a near-duplicate of a sentence of an earlier split", across=True, removable=True),
    # Copies with a changed word, without their end or in reverse were in no finding: a word in the middle of twelve
    # changes five of eight 5-grams. Formulas ("He was born in …") differ in one word naturally, so a few are allowed.
    _integrity(
        "altered-dup", "share of rows with a sentence of an earlier split that lacks, adds, changes or reorders words",
        0.01, unit="share of rows", across=True, removable=True,
    ),
    # Rows that were paraphrased, or three words of which were replaced, are known from train, and in no other finding.
    # Sentences of a template have as much in common, so the share is only reported.
    _integrity(
        "paraphrase", "share of rows with a sentence that has most words of one of an earlier split", 0.01,
        unit="share of rows", across=True, removable=True,
    ),
    # SentEval Tense: a verb form occurs in one partition only.
    _integrity("target-leak", "test rows whose target form is a target in train", across=True, removable=True),
    # Rows of one document have the same topic and author: a model may know the document instead of the task.
    _integrity("group-split", "rows whose document or group has rows in an earlier split", across=True, removable=True),
    _integrity("split-equal", "pairs of splits with the same content", unit="pairs of splits"),
    # A release folder without its test split loads, and its solvers are then measured elsewhere.
    _integrity("split-set", "splits that are missing", unit="missing splits"),
    # X-Probe Turkish SubjNumber: the test split holds one class.
    _integrity("label-set", "labels that a split lacks", unit="labels"),
    # X-Probe BigramShift: 43 % against 57 %.
    _integrity("balance", "largest difference of label counts in a split"),
    # To compare label shares between splits is the first advice of Iazykova et al. (2021) after Russian SuperGLUE.
    # The threshold depends on the rows (intervals): what lots give in 999 of 1,000 data sets.
    _integrity("label-shares", "largest difference of a label's share between two splits", None, unit="shares"),
    # DiscoEval DC and SSP: labels alternate in 19 files. The threshold depends on the number of rows (intervals).
    _integrity("order", "accuracy of a guess by even and odd row numbers", None, unit="accuracy or rows"),
    # BLiMP issue 10; discourse suite over UD: 93-100 % of the negatives of two tasks.
    _integrity("unperturbed", "perturbed rows equal to their original", removable=True),
    # HELM issue 435: accuracies under 10 % because members of pairs were sampled apart.
    _integrity("pair-split", "rows whose pair is in two splits or lacks a member", removable=True),
    # DiscoEval: HTML entities in up to 10 % of rows, U+FFFD, glyphs of the private-use area.
    _integrity("clean-text", "rows with text that is not clean", removable=True),
    # X-Probe Turkish: multiword tokens printed with their parts in 15 % of rows, 0 % in other languages; "haha ha ha"
    # is real text, so a few are allowed.
    _integrity(
        "doubled-words", "share of rows with a word followed by its two parts", 0.01, unit="share of rows",
        removable=True,
    ),
    # MultiBLiMP: 15-39 % of English, German and Spanish sentences differ from the source.
    _integrity("fidelity", "rows whose text is not a slice of the source plus one edit", removable=True),
    # X-Probe numbers .50-.58, SSP .66, SP on ROCStories .28 of .20. SentLen 1.000 by the tokens of `split()`.
    _shortcut("length", "logistic regression and a decision tree on counts of words, tokens and characters", 0.02),
    # SP on ROCStories: "He" in sentence 2 gives the label in 98 % of 475 rows.
    _shortcut(
        "token", "best rule of one token (anywhere, first or last in a text) that predicts one label", 0.05,
        perturbation_only=True,
    ),
    # CoordInv .59-.72; for other tasks it is the baseline beside which models are read.
    _shortcut("chars", "logistic regression on character 1-5-grams, blanks included", 0.10, perturbation_only=True),
    # The same threshold as for characters: both read the whole string.
    _shortcut("words", "logistic regression on words and word bigrams", 0.10, perturbation_only=True),
    # CoordInv of X-Probe: .806 where characters reach .675.
    _shortcut(
        "edges", "logistic regression on the first and last words and the words beside frequent ones", 0.10,
        perturbation_only=True,
    ),
    _shortcut("frequency", "logistic regression on word frequencies in the originals", 0.05, perturbation_only=True),
    # DC wiki .71, 4-way next sentence .85-.94.
    _shortcut("overlap", "words that the texts of a row have in common", 0.05),
    # DC wiki .79 where overlap reaches .75.
    _shortcut("similarity", "tree ensemble on the similarities between the texts of a row", 0.05),
    # dc of treebanks: the member with the larger sum of cosines is the original in .64 of the pairs of all languages.
    _shortcut("cosines", "best of some rules on the cosines between the texts of a row, none of which learns", 0.10),
    # SP .46 of .20.
    _shortcut("single", "chars and words on one text of the row alone", 0.05),
    # DC gdd .76-.78.
    _shortcut("seen", "a sentence of the row occurs in train", 0.02),
    # SSP "any comma" .65, gapping "contains a dash" .85.
    _shortcut("punctuation", "logistic regression on punctuation marks", 0.05),
    # CoordInv .80 with three features, BigramShift "lower Upper" at the start.
    _shortcut("case", "logistic regression on capitals by position", 0.05),
    # Blanks of six kinds that decided every label were invisible to all other solvers, and are not to a tokeniser.
    _shortcut(
        "surface", "logistic regression on white space, quotes and dashes by code point, and how letters are encoded",
        0.05,
    ),
    # WordContent 1.000. Finding the word is what such a task asks, so the value is reported.
    _shortcut("label-word", "the label's own word occurs in the text", None),
    # No model reads these columns, but whoever sorts or filters rows by them has a part of the label. Of texts that
    # nobody edited, the document may tell the label (a report is in the past tense), and in data of others a column may
    # be what the label was made of (votes, sources), so there the value is reported.
    _shortcut(
        "metadata", "decision tree on a column that is neither text nor label (ids, dates, sources …)", 0.05,
        perturbation_only=True, of_text=False,
    ),
    # A mention refers to the nearest one, to the subject, to the most frequent entity: .60 of .50, as for pairs.
    _shortcut("cues", "decision tree on one of the cues of the marked mentions, or trees on all of them", 0.10),
    # Labels that alternate, come in blocks or are sorted (DiscoEval DC and SSP, 19 files).
    _shortcut("row-order", "best period of labels, or decision tree on the place in the split", 0.05, of_text=False),
    # The right choice is often the first one in published sets whose choices were not shuffled.
    _shortcut("position", "logistic regression on the place of a choice", 0.05),
    # A swap of words is a tie for characters inside words: ngram_shift el .74, bigram_shift pt .69 where they pass.
    _shortcut(
        "differences", "logistic regression on the character 1-5-grams in which the members of a pair differ", 0.10,
        perturbation_only=True,
    ),
    # A swap of words makes an improbable order, which is what the task asks about: .81 of the Spanish pairs.
    _shortcut(FLOOR, "which member of a pair is more probable to a trigram model of other text of the corpora", None),
    # An early dc: mean character cosine finds the original in .725 of pairs, and no solver of single rows fails. Length
    # does in .80 of the pairs or more of 28 of 112 suites of BLiMP and RuBLiMP.
    _shortcut("pairwise", "best solver that sees both members of a pair and chooses the correct one", 0.10),
)  # fmt: skip
"""All checks, in the order of reports."""

LEAKS = MappingProxyType({
    "dup-across": "the row occurs in a later split, too",
    "sentence-leak": "a sentence of the row occurs in a later split, too",
    "near-dup": "a sentence of the row is nearly one of a later split",
    "dup-within": "the row occurs before in its split",
})  # fmt: skip
"""Check → what it means for a row that ``build import --drop-leaks`` leaves out."""

MOST_DROPPED = 0.1
"""Largest share of the different rows of a split that may be left out because they occur in a later split, too."""

BY_ID = MappingProxyType({check.id: check for check in CHECKS})

KNOWN_AS = MappingProxyType({
    "dup-within": "repeated rows", "dup-across": "rows in two splits", "label-conflict": "two labels for a text",
    "sentence-leak": "shared sentences", "near-dup": "near copies", "altered-dup": "altered copies",
    "paraphrase": "paraphrases",
    "target-leak": "shared targets", "group-split": "shared documents", "split-equal": "equal splits",
    "split-set": "a missing split", "label-set": "a missing label", "balance": "unequal labels",
    "label-shares": "label shares",
    "order": "sorted rows", "unperturbed": "unedited rows", "pair-split": "divided pairs",
    "clean-text": "unclean text", "doubled-words": "doubled words", "fidelity": "changed text", "length": "length",
    "token": "one word", "chars": "spelling", "words": "words", "edges": "first/last words",
    "frequency": "rare words", "overlap": "shared words", "similarity": "similar texts", "cosines": "most alike texts",
    "single": "one text alone", "seen": "seen in train", "punctuation": "punctuation", "case": "capitals",
    "surface": "blanks, quotes", "label-word": "the label's word", "metadata": "another column",
    "cues": "cues of mentions", "row-order": "row order", "position": "place of choice",
    "differences": "the edit alone", FLOOR: "trigrams", "pairwise": "comparing pairs",
})  # fmt: skip
"""Check → what people call the fault, or the cheap trick, in a table."""

OF_WORDS = frozenset(check.id for check in CHECKS if check.perturbation_only and check.of_text)
"""Checks that have a threshold only where texts were edited: in other data, words may be what the labels are about."""

PAIRED = frozenset({"pairwise", "differences", "cosines", FLOOR})
"""Checks that compare the two members of a pair, of which guessing finds the right one in half of the cases."""
