"""Subjects that were mentioned before, as a pronoun or as a name, in corpora with coreference.

The subject of the main clause is compared with that of the sentence before: a pronoun continues with the same person, a
name switches to another (Centering, Grosz, Joshi & Weinstein 1995). In sentences without trees, the first person is
taken for the subject, if it stands at the beginning, or after a word that is before subject pronouns in the corpus.

Items of a suite: two pairs with opposite edits that are alike in everything that a simple rule can count.

If single pairs are not reliable, an item is: a reader may accept a bad text, but prefers each of the two mentions more
in its own context.
"""

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Final

import msgspec
import numpy as np
import polars as pl
from msgspec.structs import replace

from discoprobe.builders import clean_text
from discoprobe.builders.config import RELATION_CANDIDATES
from discoprobe.builders.edits.swaps import SwapRules, causes_elision
from discoprobe.builders.passages.coreference import AnnotatedSentence, MentionRow
from discoprobe.builders.passages.entities import Entity, PronounForms, described_documents, entities_of
from discoprobe.builders.passages.relation_units import REASONS as OF_UNITS
from discoprobe.builders.passages.relation_units import candidates
from discoprobe.builders.sampling.balance import cap, in_both_directions
from discoprobe.builders.sampling.splits import Split
from discoprobe.builders.sentences.candidates import sentences
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, Sample
from discoprobe.loaders import hashing
from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.languages.language import LanguageData


def items(
    frame: pl.DataFrame, context: Context, *, conditions: tuple[str, str], alike: tuple[str, ...], rather: str
) -> Sample:
    """As many pairs of one condition as of the other; two of them, one of each, are an item and share ``group``.

    Args:
        frame: relation candidates with ``condition``; ``sentence1`` is the good text and has the ``mention`` at
            ``start``, ``sentence2`` the bad text with the ``other`` mention there.
        context: seed key and settings.
        conditions: the two ways in which a bad text is made.
        alike: columns in which both rows of an item are equal.
        rather: a column in which they are equal, too, if possible.
    """
    drops = context.drops
    clean = drops.usable(frame.with_columns(_second=pl.col("condition") == conditions[1]))
    single = clean.sort("key").unique(["sentence1", "sentence2"], keep="first", maintain_order=True)
    usable = drops.keep(clean, single, "duplicate")
    same = in_both_directions(usable, [*alike, rather], "_second", *context.seed_key)
    others = usable.filter(~pl.col("key").is_in(same["key"].implode()))
    paired = pl.concat([same, in_both_directions(others, alike, "_second", *context.seed_key)])
    drops.keep(usable, paired, "one-direction")
    split = paired.with_columns(split=pl.lit("test", Split), pair="key", group=hashing.as_text("ring"))
    capped = cap(split, context.settings, *context.seed_key, weight=2) if split.height else split
    drops.keep(paired, capped, "over-size")
    rows = pl.concat([_texts(capped, 0, "sentence1", "mention"), _texts(capped, 1, "sentence2", "other")])
    n_items, least = capped.height // 2, context.settings.min_class
    reason = "" if n_items >= least else f"{n_items} items are left; {least} are needed"
    return Sample(rows.clear() if reason else rows, candidates=frame.height, reason=reason)


def _texts(rows: pl.DataFrame, label: int, text: str, mention: str) -> pl.DataFrame:
    """The good or the bad text of each candidate, with the place of the mention in it."""
    end = (pl.col("start") + pl.col(mention).str.len_chars()).cast(pl.Int32)
    nothing = pl.lit(None, pl.String)
    return rows.with_columns(
        text=text, edit=pl.struct("start", end.alias("end")), label=pl.lit(label, pl.Int64),
        target=pl.struct("start", end.alias("end"), form=mention, lemma=nothing, upos=nothing),
        row=pl.col("row").cast(pl.Int64), key=pl.Series(hashing.mix(rows["key"].to_numpy(), label)),
    )  # fmt: skip


CONDITIONS: Final = ("continue", "switch")
CONTINUE, SWITCH = CONDITIONS
DISTANCES: Final = ("near", "far")
NEAR, FAR = DISTANCES
SHORT: Final = "short-context"

REASONS: Final = {
    **{reason: OF_UNITS[reason] for reason in ("unit-too-long", "no-words", "equal-units")},
    "not-named": "the sentences before it do not have its name, in this form",
    "named-again": "the sentence names its subject in another place too",
    "not-first": "somebody is mentioned before the subject",
    SHORT: "too few sentences are before it that no other row shows",
    "agrees": "a word of the sentence may agree with its subject in gender",
    "elision": "the word before the name would lose its vowel before that of the other person",
    "rival-named": "the sentence has the name of the other person, too",
    "one-direction": "no candidate of the other condition is left with the same pronoun and as long a name",
}

MOST: Final = 18
"""Most sentences before the last one that are shown; they begin with the last one that names the subject."""

LEAST: Final = 4
"""Fewest sentences before the last one by which two antecedents can be told apart."""

SHOWN: Final = 6
"""Sentences before the last one with which the text of an antecedent begins at the latest."""

FURTHEST, LONGEST_ANTECEDENT = 30, 400
"""Most sentences before the last one, and most words, of a text of an antecedent that begins earlier: where a person
is named."""

NEUTRAL: Final = 0.2
"""Least share of a word's mentions that are of persons of the rarer pronoun, if the word does not tell them apart."""

BACK: Final = 3
"""Sentences before the last one in which the subject before is looked for, without trees."""

LONGEST_TEXT: Final = 256
"""Most words of a text."""

LONGEST: Final = 3
"""Most words of a name."""

OF_ONE: Final = frozenset({"too-short", "too-long", "quotes", None})
"""Faults of single sentences that are none of the sentences before the last one."""

SUBJECTS: Final = ("nsubj", "nsubj:pass")
ROOT: Final = -1
"""The head of a root."""
GENITIVE: Final = re.compile(r"['’]s?$")
QUOTES: Final = re.compile(r'["“”„«»]')
UNNAMED: Final = re.compile(r"[^\w\s.'’-]")
"""A character of a transcription, or of a word that is no name."""
TOUCHING: Final = re.compile(r"[\w'’‘-]")


def lacks(language: LanguageData) -> str:
    """Why a language has no such rows; empty if its subject pronouns are listed."""
    return "" if language.section(PronounForms).subjects else f"no subject pronouns are listed for {language.name}"


class _Rules(msgspec.Struct, frozen=True):
    """What shows subjects without trees.

    Attributes:
        forms: every pronoun of one person → the usual one as a subject.
        subjects: pronouns that are subjects.
        joins: words after a name that is not a subject alone.
        agrees: words that may agree with a subject in gender: those that the corpus has with and without an ending.
        before: words that stand directly before subjects.
        telling: pronouns that tell gender and number.
        neutral: words that mention persons of different pronouns about equally often (French *son*).
    """

    forms: Mapping[str, str]
    subjects: frozenset[str]
    joins: frozenset[str]
    agrees: frozenset[str]
    before: frozenset[str]
    telling: frozenset[str]
    neutral: frozenset[str]


class _Mention(msgspec.Struct, frozen=True):
    """A mention: its words and its head, counted from 0, and its entity; without a tree, the first word is the head."""

    words: tuple[int, ...]
    head: int
    entity: str
    kind: str | None = None

    @classmethod
    def of_row(cls, row: MentionRow) -> "_Mention":
        """The mention of a row, whose words are counted from 1."""
        words = tuple(number - 1 for number in row.words)
        return cls(words, row.head - 1 if row.head else words[0], row.entity, row.kind)


class _Name(msgspec.Struct, frozen=True):
    """A mention by name or noun phrase: its place in the text, the name as inside a sentence, and the entity."""

    start: int
    end: int
    name: str
    entity: str


class _DocumentFacts(msgspec.Struct, frozen=True):
    """Facts about a document.

    Attributes:
        small: its words in small letters.
        phrases: entities and noun phrases, in small letters, that mention them as a subject and in another place.
    """

    small: set[str]
    phrases: set[tuple[str, str]]


class _Sentence:
    """A sentence of a document with its words and mentions: ``every`` one, and the widest of each head.

    ``facts`` are those of its document.
    """

    def __init__(self, sentence: AnnotatedSentence, facts: _DocumentFacts) -> None:
        self.sent, self.sent_id, self.text = sentence.sent, sentence.sent_id, sentence.text
        self.words, self.facts = sentence.words, facts
        self.every = [*map(_Mention.of_row, sentence.mentions)]
        widest = {mention.head: mention for mention in sorted(self.every, key=lambda mention: len(mention.words))}
        self.mentions = sorted(widest.values(), key=lambda mention: mention.words)

    @property
    def has_tree(self) -> bool:
        """Whether a word has a head."""
        return any(word.head is not None for word in self.words)

    def subjects(self, persons: Collection[str], rules: _Rules) -> list[_Mention]:
        """The mentions of persons that are subjects, alone (not Anna of *Anna and Mary*), in their order.

        With a tree, it is the subject of the main clause, whoever that is.
        """
        if not self.has_tree:
            return [each for each in self.mentions if each.entity in persons and self.is_in_place(each, rules)]
        roots = {number for number, word in enumerate(self.words) if word.head == ROOT}
        joined = {word.head for word in self.words if word.deprel.partition(":")[0] == "conj"}
        for mention in self.mentions:
            word = self.words[mention.head]
            if word.deprel in SUBJECTS and word.head in roots and mention.head not in joined:
                return [mention]
        return []

    def is_in_place(self, mention: _Mention, rules: _Rules) -> bool:
        """Whether a mention stands where a subject stands."""
        first, after = mention.words[0], mention.words[-1] + 1
        form = self.words[first].form.lower()
        if form in rules.forms and form not in rules.subjects:
            return False
        joined = any(
            first - 2 in {each.words[-1], *(each.words if first in each.words else ())} for each in self.mentions
        )
        if joined and self.words[first - 1].form in rules.joins:  # Anna and Mary
            return False
        following = self.words[after].form if after < len(self.words) else ""
        if form not in rules.forms and (not following[:1].islower() or following in rules.joins):
            return False
        begins = not any(word.form[:1].isalnum() for word in self.words[:first])
        return begins or self.words[first - 1].form.lower() in rules.before

    @cached_property
    def names(self) -> list[_Name]:
        """The mentions that are short names with no other words, in their order: no genitive, no transcription."""
        short = [mention for mention in self.mentions if len(mention.words) <= LONGEST]
        spans = [(mention, self.span(mention)) for mention in short]
        in_text = [(each, _Name(*span, self.text[slice(*span)], each.entity)) for each, span in spans if span]
        names = []
        for mention, name in in_text:
            if self._is_name(mention) and not name.name.islower() and not UNNAMED.search(name.name):
                names.append(name)
            elif self._is_phrase(mention, name.name):
                begins = name.name.partition(" ")[0].lower() in self.facts.small
                names.append(replace(name, name=name.name[:1].lower() + name.name[1:]) if begins else name)
        return names

    def _is_phrase(self, mention: _Mention, text: str) -> bool:
        """Whether a mention is a noun phrase that is a subject of the document, in sentences without trees."""
        return not self.has_tree and (mention.entity, text.lower()) in self.facts.phrases

    def _is_name(self, mention: _Mention) -> bool:
        """By the tags of its words, else by its kind, else by its capitals."""
        words = [self.words[number] for number in mention.words]
        tags = {word.upos for word in words} - {""}
        if tags - {"PRON"} or (tags and len(words) == 1):  # an article may have the form of a pronoun
            return all(word.upos == "PROPN" and word.feats.get("Case") != "Gen" for word in words)
        if mention.kind:
            return mention.kind == "PROP" and not GENITIVE.search(words[-1].form)
        return all(word.form[:1].isupper() and word.form.lower() not in self.facts.small for word in words)

    def is_pronoun(self, mention: _Mention) -> bool:
        """Whether a mention is a pronoun, by its tag, its kind, or because it is a word in small letters elsewhere."""
        word = self.words[mention.head]
        if word.upos or len(mention.words) > 1:
            return word.upos == "PRON" and (self.has_tree or len(mention.words) == 1)
        return mention.kind == "PRON" if mention.kind else word.form.lower() in self.facts.small

    def span(self, mention: _Mention) -> tuple[int, int] | None:
        """Start and end of a mention; None if it has gaps or is written together with other words."""
        first, last = mention.words[0], mention.words[-1]
        fused = any(self.words[at].token is not None for at in (first, last))
        start, end = (None, None) if fused else (self.words[first].start, self.words[last].end)
        if start is None or end is None or last - first + 1 > len(mention.words):
            return None
        around = self.text[max(start - 1, 0) : start], self.text[end : end + 1]
        return None if any(map(TOUCHING.match, around)) else (start, end)


class _Run(msgspec.Struct, frozen=True):
    """Sentences that follow each other without a gap, and what is known of them.

    Attributes:
        sentences: in their order.
        entities: of the document.
        pronouns: the subject pronoun of each of them that is a person with pronouns.
        rules: what shows subjects without trees.
        faults: why a sentence cannot be used, by ``sent``; null if it can.
        language: of the text.
    """

    sentences: Sequence[_Sentence]
    entities: Mapping[str, Entity]
    pronouns: Mapping[str, str]
    rules: _Rules
    faults: Mapping[int, str | None]
    language: LanguageData

    def fault(self, first: int, at: int) -> str | None:
        """Why the sentences from one to another one cannot be shown; None if they can."""
        shown = [self.faults[part.sent] for part in self.sentences[first : at + 1]]
        return next((fault for fault in shown[:-1] if fault not in OF_ONE), None) or shown[-1]


def rementions(shard: Shard, context: Context) -> pl.DataFrame:
    """The subjects of a shard as candidates: ``sentence1`` as the corpus has it, ``sentence2`` with the other mention.

    Both begin with the last sentence that names the subject. Further columns: ``condition``, ``name``, ``start`` (of
    the mention in both texts), ``mention``, ``other`` (what takes its place), and ``cell``: the pronoun, the number of
    words of the name and of sentences before, and whether the last name in these is that of the subject.
    """
    return _frame(shard, context, _candidates_of_run, LONGEST_TEXT)


def antecedents(shard: Shard, context: Context) -> pl.DataFrame:
    """The named persons of the sentences of a shard as candidates: ``sentence2`` has the name of a rival in its place.

    A rival is another person with the same pronouns whom the sentences before name: the one who was mentioned last.
    Further columns are those of `rementions`; ``name`` has the names of both, that of the one who was mentioned last
    first, and ``cell`` which of these has more words, and which occurs more often before.
    """
    return _frame(shard, context, _rivals_of_run, LONGEST_ANTECEDENT)


def _frame(
    shard: Shard, context: Context, of_run: Callable[[_Run], Iterator[dict[str, Any]]], longest: int
) -> pl.DataFrame:
    """The candidates of the runs of a shard, of ``longest`` words at most."""
    settings = replace(context.settings, probing_words=context.settings.discourse_words)
    facts = sentences(Trees(shard), settings).select("sent", "key", "reason")
    faults = dict(facts.select("sent", "reason").iter_rows())
    forms = context.language.section(PronounForms)
    documents = [*_documents(shard, forms)]
    whole = [sentence for _, _, runs in documents for run in runs for sentence in run]
    pronouns_of = {}
    used: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for doc, entities, runs in documents:
        subjects = {name: entity.subject(forms.of_persons) for name, entity in entities.items()}
        pronouns_of[doc] = {name: subject for name, subject in subjects.items() if subject}
        for sentence in chain.from_iterable(runs):
            for mention in sentence.every:
                if len(mention.words) == 1 and mention.entity in pronouns_of[doc]:
                    used[sentence.words[mention.head].form.lower()][pronouns_of[doc][mention.entity]] += 1
    words = {word.form.lower() for sentence in whole for word in sentence.words} if forms.feminine else set()
    rarest = {form: min(counts.values()) / counts.total() for form, counts in used.items() if len(counts) > 1}
    rules = _Rules(
        forms.of_persons, frozenset(chain.from_iterable(forms.subjects.values())), forms.joins,
        frozenset(form for word in words if word + forms.feminine in words for form in (word, word + forms.feminine)),
        _before_subjects(whole, {*forms.of_persons.values()}),
        frozenset(chain.from_iterable(forms.third.values())),
        frozenset(form for form, share in rarest.items() if share >= NEUTRAL),
    )  # fmt: skip
    rows: list[dict[str, Any]] = []
    for doc, entities, runs in documents:
        _add_phrases([sentence for run in runs for sentence in run], rules)
        rows += [
            {"doc": doc, **row}
            for run in runs
            for row in of_run(_Run(run, entities, pronouns_of[doc], rules, faults, context.language))
        ]
    schema: dict[str, Any] = {
        **RELATION_CANDIDATES, "sent": pl.UInt32, "start": pl.Int32,
        **dict.fromkeys(("condition", "name", "mention", "other", "cell"), pl.String),
    }  # fmt: skip
    frame = pl.DataFrame([dict.fromkeys(schema) | row for row in rows], schema, orient="row").drop("key")
    keyed = frame.join(facts.select("sent", "key"), on="sent", how="left", maintain_order="left")
    keys = [hashing.mix(key, start) for key, start in keyed.select("key", "start").iter_rows()]
    keyed = keyed.with_columns(key=pl.Series(keys, dtype=pl.UInt64))
    for check in (clean_text.half_quoted, functools.partial(clean_text.fault, some=True)):  # sentences were clean alone
        of_text = pl.when(pl.col("reason").is_null()).then(check(pl.col("sentence1")))
        keyed = keyed.with_columns(reason=pl.coalesce("reason", of_text))
    return candidates(keyed, longest)


class _Pair(msgspec.Struct, frozen=True):
    """A subject of a sentence (``at`` in its run), and the subject before it, in the same sentence or in the last one.

    ``persons`` are the entities with their ``pronoun``.
    """

    at: int
    new: _Mention
    before: int
    old: _Mention
    pronoun: str
    persons: Collection[str]


def _pairs(run: Sequence[_Sentence], pronouns: Mapping[str, str], rules: _Rules) -> Iterator[_Pair]:
    """The subjects of sentences that follow each other without a gap, with those before them, all of persons."""
    for pronoun in sorted({*pronouns.values()}):
        persons = {entity for entity in pronouns if pronouns[entity] == pronoun}
        earlier, place = None, 0
        for at, sentence in enumerate(run):
            old, before = earlier, place
            for new in sentence.subjects(persons, rules):
                if old and persons >= {old.entity, new.entity}:
                    yield _Pair(at, new, before, old, pronoun, persons)
                old, before = new, at
            of_persons = [mention for mention in sentence.mentions if mention.entity in persons]
            of_sentence = sentence.subjects(persons, rules) if sentence.has_tree else of_persons
            if of_sentence or sentence.has_tree or at - place >= BACK:
                earlier, place = next(iter(of_sentence), None), at


def _candidates_of_run(of_run: _Run) -> Iterator[dict[str, Any]]:
    """The candidates of sentences that follow each other without a gap.

    Previous subjects in the first or second person do not count: no pronoun of the third person can refer to them.
    Inside a sentence, a pronoun continues with a name only: before a name, a pronoun may be the same person.
    """
    run, rules, language = of_run.sentences, of_run.rules, of_run.language
    for at, new, before, old, pronoun, persons in map(msgspec.structs.astuple, _pairs(run, of_run.pronouns, rules)):
        sentence, of_old = run[at], run[before]
        if of_old.is_pronoun(old) and of_old.words[old.head].form.lower() not in rules.forms:
            continue
        condition = CONTINUE if new.entity == old.entity else SWITCH
        places_of_names, place = {(name.start, name.end) for name in sentence.names}, sentence.span(new)
        form = sentence.text[slice(*place)] if place else ""
        is_name, is_form = place in places_of_names, rules.forms.get(form.lower()) == pronoun
        if not place or not (is_name if condition == SWITCH else is_form):
            continue
        if before == at and condition == CONTINUE and sentence.span(old) not in places_of_names:
            continue
        named = [
            [name for name in run[n].names if n < at or name.end <= place[0]] for n in range(max(at - MOST, 0), at + 1)
        ]
        of_new = [n for n, names in enumerate(named) if any(name.entity == new.entity for name in names)]
        first = at - len(named) + 1 + of_new[-1] if of_new else at
        earlier = [name.name for names in named for name in names if name.entity == new.entity]
        earlier_name = earlier[-1] if earlier else ""
        sentences_of_text = run[first : at + 1]
        name = earlier_name if condition == CONTINUE else form
        after = sentence.text[place[1] :]
        start = sum(len(part.text) + 1 for part in sentences_of_text[:-1]) + place[0]
        begins = not re.search(r"\w", sentence.text[: place[0]])
        other = language.capitalise(pronoun) if begins else pronoun
        if condition == CONTINUE:
            other = language.capitalise(earlier_name) if begins and not sentence.has_tree else earlier_name
        reason = of_run.fault(first, at)
        between = [each for each in sentence.mentions if (old.head if before == at else -1) < each.head < new.head]
        if not earlier_name or name.lower() not in earlier_name.lower():
            reason = "not-named"
        elif name.lower() in after.lower():
            reason = "named-again"
        elif any(each.entity in persons and (condition == CONTINUE or each.entity != old.entity) for each in between):
            reason = "not-first"
        last = [name.entity for names in named[len(named) - (at - first) - 1 :] for name in names][-1:]
        text = " ".join(part.text for part in sentences_of_text)
        yield {
            "sent": sentence.sent, "ids": [part.sent_id for part in sentences_of_text], "label": condition,
            "condition": condition, "sentence1": text, "sentence2": text[:start] + other + after, "start": start,
            "name": name, "mention": form, "other": other, "reason": reason,
            "cell": f"{pronoun} {len(name.split())} {min(at - first, 2)} {last == [new.entity]} {before == at}",
        }  # fmt: skip


def _rivals_of_run(run: _Run) -> Iterator[dict[str, Any]]:
    """The candidates of `antecedents` of sentences that follow each other without a gap; one of each at most.

    The texts do not overlap, so that none shows the last sentence of another one: those with a name come first, then
    those with a pronoun, of which fewer are `FAR`. Names that several persons have are left out (*the other one* could
    be anybody), and so are those with an *s* more than another name: genitives.
    """
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for name in chain.from_iterable(sentence.names for sentence in run.sentences):
        owners[name.name.lower()].add(name.entity)
    unique = {
        name for name, entities in owners.items()
        if len(entities) == 1 and not (name.endswith("s") and owners.get(name[:-1]) == entities)
    }  # fmt: skip
    free = [range(len(run.sentences))]
    for rivals in (_rivals_by_name, functools.partial(_rivals_by_pronoun, condition=FAR),
                   functools.partial(_rivals_by_pronoun, condition=NEAR)):  # fmt: skip
        left = []
        for part in free:
            begin = part.start
            for at in part:
                lengths = np.cumsum(
                    [len(sentence.words) for sentence in run.sentences[max(begin, at - FURTHEST) : at + 1][::-1]]
                )
                earliest = at + 1 - int((lengths <= LONGEST_ANTECEDENT).sum())
                for first in range(max(at - SHOWN, earliest), earliest - 1, -1):
                    row = min(rivals(run, first, at, unique), key=lambda row: row["reason"] is not None, default=None)
                    if row and row["reason"] is None:
                        left.append(range(begin, first))
                        begin = at + 1
                        break
                yield from [row] if row else []
            left.append(range(begin, part.stop))
        free = left


def _rivals_by_name(run: _Run, first: int, at: int, unique: Collection[str]) -> Iterator[dict[str, Any]]:
    """The candidates of a sentence that names a person by a ``unique`` name; the texts begin with the ``first`` one."""
    sentence, context = run.sentences[at], run.sentences[first:at]
    names = [name for part in context for name in part.names if name.name.lower() in unique]
    present = {mention.entity for mention in sentence.every}
    for pronoun in sorted({*run.pronouns.values()}):
        persons = {entity for entity in run.pronouns if run.pronouns[entity] == pronoun}
        places = {sentence.span(mention) for mention in sentence.subjects(persons, run.rules)}
        for name in sentence.names:
            if name.entity not in persons or name.name.lower() not in unique:
                continue
            is_subject = (name.start, name.end) in places
            if not is_subject and not _is_object(sentence, name, run.rules):
                continue
            rivals = [
                other for other in names
                if other.entity in persons - present and _apart(other.name, name.name)
                and (is_subject or other.name[:1].isupper())
                and run.entities[other.entity].may_be(run.entities[name.entity])
            ]  # fmt: skip
            named = any(other.entity == name.entity and other.name == name.name for other in names)
            if not rivals:
                continue
            row = _row_of_rivals(run, (first, at), name, rivals)
            before, after = sentence.text[: name.start], sentence.text[name.end :]
            reason = row["reason"]
            if reason == SHORT:
                pass
            elif not named:
                reason = "not-named"
            elif name.name.lower() in f"{before}{after}".lower():
                reason = "named-again"
            elif row["other"].lower() in sentence.text.lower():
                reason = "rival-named"
            elif _elides(before, row["other"], run.language):
                reason = "elision"
            last, earlier = row["name"].split(" / ")
            of_text = row["sentence1"][: -len(sentence.text)]
            more = (
                np.sign(len(last.split()) - len(earlier.split())),
                np.sign(of_text.count(last) - of_text.count(earlier)),
            )
            yield row | {"reason": reason, "cell": "{} {}".format(*more)}


def _rivals_by_pronoun(
    run: _Run, first: int, at: int, _unique: Collection[str], *, condition: str
) -> Iterator[dict[str, Any]]:
    """The candidates of a sentence whose subject is a pronoun: a rival is a person to whom another pronoun refers.

    Nothing else in the sentence refers to the person, or agrees with it. That they are no group (German *sie*), either
    their pronoun or the corpus tells.
    """
    single = {
        entity for entity, pronoun in run.pronouns.items()
        if pronoun in run.rules.telling or any(gender.endswith("Sing") for gender in run.entities[entity].genders)
    }  # fmt: skip
    sentence = run.sentences[at]
    shown = [
        _Name(0, 0, "", mention.entity)
        for part in run.sentences[first:at] for mention in part.mentions if not part.is_pronoun(mention)
    ]  # fmt: skip
    named = {each.entity for each in shown}
    present = {mention.entity for mention in sentence.every}
    words = [word.form.lower() for word in sentence.words]
    for mention in sentence.subjects(run.pronouns, run.rules):
        place = sentence.span(mention)
        form = sentence.text[slice(*place)].lower() if place else ""
        others = [each for each in shown if each.entity in single - present and run.pronouns[each.entity] != form]
        if not place or mention.entity not in single or form != run.pronouns[mention.entity] or not others:
            continue
        row = _row_of_rivals(run, (first, at), _Name(*place, form, mention.entity), others)
        reason = row["reason"]
        if reason == SHORT:
            pass
        elif mention.entity not in named:
            reason = "not-named"
        elif sum(word in run.rules.forms for word in words) > 1 or not all(
            words[each.head] in run.rules.neutral and len(each.words) == 1
            for each in sentence.every
            if each.entity == mention.entity and each != mention
        ):
            reason = "named-again"
        elif run.rules.agrees.intersection(words):  # *assise au dernier banc, elle …*
            reason = "agrees"
        if row["condition"] == condition:
            yield row | {"reason": reason}


def _is_object(sentence: _Sentence, name: _Name, rules: _Rules) -> bool:
    """Whether a name without an article stands directly after a word, alone: it is no conjunct, and not in speech.

    In speech, the name could be that of the person who is spoken to.
    """
    before, after = sentence.text[: name.start], sentence.text[name.end :]
    neighbours = {*re.findall(r"[\w'’]+", before)[-1:], *re.findall(r"[\w'’]+", after)[:1]}
    in_speech = len(QUOTES.findall(before)) % 2 > 0
    follows = name.name[:1].isupper() and re.search(r"\w $", before) is not None
    return follows and not in_speech and not rules.joins & neighbours


def _apart(one: str, other: str) -> bool:
    """Whether two names end with different words, so that they have at most a title in common."""
    return one.lower().split()[-1] != other.lower().split()[-1]


def _elides(before: str, name: str, language: LanguageData) -> bool:
    """Whether the last word of a text loses its vowel before a name (*que Emma*)."""
    last = before.lower().split()[-1:]
    is_bound = bool(last) and last[0] in language.section(SwapRules).elides
    return is_bound and bool(pl.select(causes_elision(pl.lit(name.lower()))).item())


def _row_of_rivals(run: _Run, shown: tuple[int, int], name: _Name, rivals: Sequence[_Name]) -> dict[str, Any]:
    """The candidate of a mention by name or pronoun: the rival is the one of ``rivals`` who was mentioned last."""
    first, at = shown
    sentence, parts = run.sentences[at], run.sentences[first : at + 1]
    mentioned = [mention.entity for part in parts[:-1] for mention in part.mentions]
    rival = max(rivals, key=lambda each: len(mentioned) - mentioned[::-1].index(each.entity))
    own, others = ([n for n, each in enumerate(mentioned) if each == who] for who in (name.entity, rival.entity))
    near = bool(own) and own[-1] > others[-1]
    by_pronoun = name.name in run.rules.forms
    instead = run.pronouns[rival.entity] if by_pronoun else rival.name
    last, earlier = (name.name, instead) if near else (instead, name.name)
    text = " ".join(part.text for part in parts)
    start = sum(len(part.text) + 1 for part in parts[:-1]) + name.start
    form = sentence.text[name.start : name.end]
    other = run.language.capitalise(instead) if not re.search(r"\w", sentence.text[: name.start]) else instead
    more_often = np.sign(len(own) - len(others)) * (1 if near else -1)
    return {
        "sent": sentence.sent, "ids": [part.sent_id for part in parts], "label": NEAR if near else FAR,
        "condition": NEAR if near else FAR, "sentence1": text,
        "sentence2": text[:start] + other + text[start + len(form) :], "start": start, "name": f"{last} / {earlier}",
        "mention": form, "other": other, "cell": f"{last} {more_often}",
        "reason": SHORT if len(parts) <= LEAST else run.fault(first, at),
    }  # fmt: skip


def _add_phrases(whole: Sequence[_Sentence], rules: _Rules) -> None:
    """Fill the `phrases` of a document without trees."""
    used = Counter[tuple[str, str]]()
    as_subject: set[tuple[str, str]] = set()
    for sentence in whole if not any(sentence.has_tree for sentence in whole) else ():
        for mention in sentence.mentions:
            if len(mention.words) <= LONGEST and not sentence.is_pronoun(mention) and (span := sentence.span(mention)):
                phrase = mention.entity, sentence.text[slice(*span)].lower()
                if phrase[1] in rules.forms:
                    continue
                used[phrase] += 1
                if sentence.is_in_place(mention, rules):
                    as_subject.add(phrase)
    for sentence in whole[:1]:
        sentence.facts.phrases.update(phrase for phrase in as_subject if used[phrase] > 1)


def _before_subjects(whole: Iterable[_Sentence], pronouns: Collection[str]) -> frozenset[str]:
    """The words that are directly before each of the subject pronouns somewhere."""
    before: defaultdict[str, set[str]] = defaultdict(set)
    for sentence in whole:
        for previous, word in pairwise(sentence.words):
            before[word.form.lower()].add(previous.form.lower())
    return frozenset(set.intersection(*(before[pronoun] for pronoun in pronouns))) if pronouns else frozenset()


def _documents(shard: Shard, forms: PronounForms) -> Iterator[tuple[int, Mapping[str, Entity], list[list[_Sentence]]]]:
    """The documents of a shard that have mentions, with their entities, and their sentences by ``run``."""
    for doc, document in described_documents(shard, forms):
        small = {word.form for sentence in document for word in sentence.words if word.form.islower()}
        of_document = _DocumentFacts(small, set())
        runs: defaultdict[int, list[_Sentence]] = defaultdict(list)
        for sentence in document:
            runs[sentence.run].append(_Sentence(sentence, of_document))
        yield doc, entities_of(document), [*runs.values()]
