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

from discoprobe.builders.config import RELATION_CANDIDATES
from discoprobe.builders.edits.swaps import SwapRules, causes_elision
from discoprobe.builders.passages.coreference import TextMention, TextSentence
from discoprobe.builders.passages.entities import Entity, PronounForms, described_documents, entities_of
from discoprobe.builders.passages.relation_units import REASONS as OF_UNITS
from discoprobe.builders.passages.relation_units import candidates
from discoprobe.builders.sampling.balance import cap, in_both_directions
from discoprobe.builders.sampling.splits import Split
from discoprobe.builders.sentences.candidates import sentences
from discoprobe.builders.sentences.trees import Trees
from discoprobe.builders.task import Context, Sample
from discoprobe.loaders import clean_text, hashing
from discoprobe.loaders.corpus import Shard
from discoprobe.loaders.languages.language import LanguageData
from discoprobe.loaders.running_text import not_running


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
ROOT: Final = 0
"""The head of a root."""
GENITIVE: Final = re.compile(r"['’]s?$")
QUOTES: Final = re.compile(r'["“”„«»]')
UNNAMED: Final = re.compile(r"[^\w\s.'’-]")
"""A character of a transcription, or of a word that is no name."""
TOUCHING: Final = re.compile(r"[\w'’‘-]")


def lacks(language: LanguageData) -> str:
    """Why a language has no such rows; empty if its subject pronouns are listed."""
    return "" if language.section(PronounForms).subjects else f"no subject pronouns are listed for {language.name}"


class _Text(msgspec.Struct, frozen=True, dict=True):
    """Sentences of a document and what is known of them: first all, then those that follow each other without a gap.

    Attributes:
        language: of the text.
        faults: why a sentence cannot be used, by ``sent``; null if it can.
        forms: every pronoun of one person → the usual one as a subject.
        subject_forms: pronouns that are subjects.
        joins: words after a name that is not a subject alone.
        agrees: words that may agree with a subject in gender: those that the corpus has with and without an ending.
        before: words that stand directly before subjects.
        telling: pronouns that tell gender and number.
        neutral: words that mention persons of different pronouns about equally often (French *son*).
        sentences: in their order.
        entities: of the document.
        pronouns: the subject pronoun of each of them that is a person with pronouns.
        small: the words of the document in small letters.
        phrases: entities and noun phrases, in small letters, that mention them as a subject and in another place; only
            in a document without trees.
    """

    language: LanguageData
    faults: Mapping[int, str | None]
    forms: Mapping[str, str]
    subject_forms: frozenset[str]
    joins: frozenset[str]
    agrees: frozenset[str]
    before: frozenset[str]
    telling: frozenset[str]
    neutral: frozenset[str]
    sentences: Sequence[TextSentence] = ()
    entities: Mapping[str, Entity] = msgspec.field(default_factory=dict)
    pronouns: Mapping[str, str] = msgspec.field(default_factory=dict)
    small: frozenset[str] = frozenset()
    phrases: frozenset[tuple[str, str]] = frozenset()

    def fault(self, first: int, at: int) -> str | None:
        """Why the sentences from one to another one cannot be shown; None if they can."""
        shown = [self.faults[part.sent] for part in self.sentences[first : at + 1]]
        return next((fault for fault in shown[:-1] if fault not in OF_ONE), None) or shown[-1]

    def subjects(self, sentence: TextSentence, persons: Collection[str]) -> list[TextMention]:
        """The mentions of persons that are subjects, alone (not Anna of *Anna and Mary*), in their order.

        With a tree, it is the subject of the main clause, whoever that is.
        """
        if not sentence.has_tree:
            return [each for each in sentence.widest if each.entity in persons and self.is_in_place(sentence, each)]
        roots = {number for number, word in enumerate(sentence.words, 1) if word.head == ROOT}
        joined = {word.head for word in sentence.words if word.deprel.partition(":")[0] == "conj"}
        for mention in sentence.widest:
            head = sentence.head(mention)
            word = sentence.word(head)
            if word.deprel in SUBJECTS and word.head in roots and head not in joined:
                return [mention]
        return []

    def is_in_place(self, sentence: TextSentence, mention: TextMention) -> bool:
        """Whether a mention stands where a subject stands."""
        first, last = mention.words[0], mention.words[-1]
        form = sentence.word(first).form.lower()
        if form in self.forms and form not in self.subject_forms:
            return False
        joined = any(
            first - 2 in {each.words[-1], *(each.words if first in each.words else ())} for each in sentence.widest
        )
        if joined and sentence.word(first - 1).form in self.joins:  # Anna and Mary
            return False
        following = sentence.word(last + 1).form if last < len(sentence.words) else ""
        if form not in self.forms and (not following[:1].islower() or following in self.joins):
            return False
        begins = not any(word.form[:1].isalnum() for word in sentence.words[: first - 1])
        return begins or sentence.word(first - 1).form.lower() in self.before

    @cached_property
    def names(self) -> list[list[TextMention]]:
        """Of each sentence the mentions that are short names with no other words: no genitive, no transcription.

        They have their place in the sentence, and as ``text`` the name as inside a sentence.
        """
        return [
            [name for mention in sentence.widest if (name := self._name(sentence, mention))]
            for sentence in self.sentences
        ]

    def _name(self, sentence: TextSentence, mention: TextMention) -> TextMention | None:
        span = _span(sentence, mention) if mention.n_words <= LONGEST else None
        if not span:
            return None
        text = sentence.text[slice(*span)]
        is_name = self._is_name(sentence, mention) and not text.islower() and not UNNAMED.search(text)
        if not is_name and (sentence.has_tree or (mention.entity, text.lower()) not in self.phrases):
            return None
        if not is_name and text.partition(" ")[0].lower() in self.small:
            text = text[:1].lower() + text[1:]
        return replace(mention, start=span[0], end=span[1], text=text)

    def _is_name(self, sentence: TextSentence, mention: TextMention) -> bool:
        """By the tags of its words, else by its kind, else by its capitals."""
        words = [sentence.word(number) for number in mention.words]
        tags = {word.upos for word in words} - {""}
        if tags - {"PRON"} or (tags and len(words) == 1):  # an article may have the form of a pronoun
            return all(word.upos == "PROPN" and word.features.get("Case") != "Gen" for word in words)
        if mention.kind:
            return mention.kind == "name" and not GENITIVE.search(words[-1].form)
        return all(word.form[:1].isupper() and word.form.lower() not in self.small for word in words)

    def is_pronoun(self, sentence: TextSentence, mention: TextMention) -> bool:
        """Whether a mention is a pronoun, by its tag, its kind, or because it is a word in small letters elsewhere."""
        word = sentence.word(sentence.head(mention))
        if word.upos or mention.n_words > 1:
            return word.upos == "PRON" and (sentence.has_tree or mention.n_words == 1)
        return mention.kind == "pronoun" if mention.kind else word.form.lower() in self.small

    def phrases_of_subjects(self) -> frozenset[tuple[str, str]]:
        """The `phrases`; none where a sentence has a tree."""
        used = Counter[tuple[str, str]]()
        as_subject: set[tuple[str, str]] = set()
        for sentence in self.sentences if not any(sentence.has_tree for sentence in self.sentences) else ():
            for mention in sentence.widest:
                if mention.n_words > LONGEST or self.is_pronoun(sentence, mention):
                    continue
                if not (span := _span(sentence, mention)):
                    continue
                phrase = mention.entity, sentence.text[slice(*span)].lower()
                if phrase[1] in self.forms:
                    continue
                used[phrase] += 1
                if self.is_in_place(sentence, mention):
                    as_subject.add(phrase)
        return frozenset(phrase for phrase in as_subject if used[phrase] > 1)


def _span(sentence: TextSentence, mention: TextMention) -> tuple[int, int] | None:
    """Start and end of a mention; None if it has gaps or is written together with other words."""
    first, last = (sentence.word(mention.words[at]) for at in (0, -1))
    start, end = first.start, last.end
    if first.mwt or last.mwt or start < 0 or end < 0 or mention.words[-1] - mention.words[0] + 1 > mention.n_words:
        return None
    around = sentence.text[max(start - 1, 0) : start], sentence.text[end : end + 1]
    return None if any(map(TOUCHING.match, around)) else (start, end)


def rementions(shard: Shard, context: Context) -> pl.DataFrame:
    """The subjects of a shard as candidates: ``sentence1`` as the corpus has it, ``sentence2`` with the other mention.

    Both begin with the last sentence that names the subject. Further columns: ``condition``, ``name``, ``start`` (of
    the mention in both texts), ``mention``, ``other`` (what takes its place), and ``cell``: the pronoun, the number of
    words of the name and of sentences before, and whether the last name in these is that of the subject.
    """
    return _frame(shard, context, _candidates_of_text, LONGEST_TEXT)


def antecedents(shard: Shard, context: Context) -> pl.DataFrame:
    """The named persons of the sentences of a shard as candidates: ``sentence2`` has the name of a rival in its place.

    A rival is another person with the same pronouns whom the sentences before name: the one who was mentioned last.
    Further columns are those of `rementions`; ``name`` has the names of both, that of the one who was mentioned last
    first, and ``cell`` which of these has more words, and which occurs more often before.
    """
    return _frame(shard, context, _rivals_of_text, LONGEST_ANTECEDENT)


def _frame(
    shard: Shard, context: Context, of_text: Callable[[_Text], Iterator[dict[str, Any]]], longest: int
) -> pl.DataFrame:
    """The candidates of the unbroken texts of a shard, of ``longest`` words at most."""
    settings = replace(context.settings, probing_words=context.settings.discourse_words)
    judged = sentences(Trees(shard), settings).join(not_running(shard), on="sent", maintain_order="left")
    facts = judged.select("sent", "key", reason=pl.coalesce("reason", "fault"))
    forms = context.language.section(PronounForms)
    documents = [(doc, of_doc, entities_of(of_doc)) for doc, of_doc in described_documents(shard, forms)]
    every = [sentence for _, of_doc, _ in documents for sentence in of_doc]
    pronouns_of = {}
    used: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for doc, of_doc, entities in documents:
        subjects = {name: entity.subject(forms.of_persons) for name, entity in entities.items()}
        pronouns_of[doc] = {name: subject for name, subject in subjects.items() if subject}
        for sentence in of_doc:
            for mention in sentence.mentions:
                if mention.n_words == 1 and mention.entity in pronouns_of[doc]:
                    used[sentence.word(sentence.head(mention)).form.lower()][pronouns_of[doc][mention.entity]] += 1
    words = {word.form.lower() for sentence in every for word in sentence.words} if forms.feminine else set()
    rarest = {form: min(counts.values()) / counts.total() for form, counts in used.items() if len(counts) > 1}
    shared = _Text(
        context.language, dict(facts.select("sent", "reason").iter_rows()), forms.of_persons,
        frozenset(chain.from_iterable(forms.subjects.values())), forms.joins,
        frozenset(form for word in words if word + forms.feminine in words for form in (word, word + forms.feminine)),
        _before_subjects(every, {*forms.of_persons.values()}),
        frozenset(chain.from_iterable(forms.third.values())),
        frozenset(form for form, share in rarest.items() if share >= NEUTRAL),
    )  # fmt: skip
    rows: list[dict[str, Any]] = []
    for doc, of_doc, entities in documents:
        small = frozenset(word.form for sentence in of_doc for word in sentence.words if word.form.islower())
        text = replace(shared, sentences=of_doc, entities=entities, pronouns=pronouns_of[doc], small=small)
        text = replace(text, phrases=text.phrases_of_subjects())
        runs: defaultdict[int, list[TextSentence]] = defaultdict(list)
        for sentence in of_doc:
            runs[sentence.run].append(sentence)
        rows += [{"doc": doc, **row} for run in runs.values() for row in of_text(replace(text, sentences=run))]
    schema: dict[str, Any] = {
        **RELATION_CANDIDATES, "sent": pl.UInt32, "start": pl.Int32,
        **dict.fromkeys(("condition", "name", "mention", "other", "cell"), pl.String),
    }  # fmt: skip
    frame = pl.DataFrame([dict.fromkeys(schema) | row for row in rows], schema, orient="row").drop("key")
    keyed = frame.join(facts.select("sent", "key"), on="sent", how="left", maintain_order="left")
    keys = [hashing.mix(key, start) for key, start in keyed.select("key", "start").iter_rows()]
    keyed = keyed.with_columns(key=pl.Series(keys, dtype=pl.UInt64))
    for check in (clean_text.half_quoted, functools.partial(clean_text.fault, some=True)):  # sentences were clean alone
        fault = pl.when(pl.col("reason").is_null()).then(check(pl.col("sentence1")))
        keyed = keyed.with_columns(reason=pl.coalesce("reason", fault))
    return candidates(keyed, longest)


Pair = tuple[int, TextMention, int, TextMention, str, Collection[str]]
"""A subject and the number of its sentence, the subject before it and that of its sentence, which may be the same; the
pronoun of both, and the entities with this pronoun."""


def _pairs(text: _Text) -> Iterator[Pair]:
    """The subjects of sentences that follow each other without a gap, with those before them, all of persons."""
    for pronoun in sorted({*text.pronouns.values()}):
        persons = {entity for entity in text.pronouns if text.pronouns[entity] == pronoun}
        earlier, place = None, 0
        for at, sentence in enumerate(text.sentences):
            old, before = earlier, place
            subjects = text.subjects(sentence, persons)
            for new in subjects:
                if old and persons >= {old.entity, new.entity}:
                    yield at, new, before, old, pronoun, persons
                old, before = new, at
            of_persons = [mention for mention in sentence.widest if mention.entity in persons]
            of_sentence = subjects if sentence.has_tree else of_persons
            if of_sentence or sentence.has_tree or at - place >= BACK:
                earlier, place = next(iter(of_sentence), None), at


def _candidates_of_text(text: _Text) -> Iterator[dict[str, Any]]:
    """The candidates of sentences that follow each other without a gap.

    Previous subjects in the first or second person do not count: no pronoun of the third person can refer to them.
    Inside a sentence, a pronoun continues with a name only: before a name, a pronoun may be the same person.
    """
    for at, new, before, old, pronoun, persons in _pairs(text):
        sentence, of_old = text.sentences[at], text.sentences[before]
        if text.is_pronoun(of_old, old) and of_old.word(of_old.head(old)).form.lower() not in text.forms:
            continue
        condition = CONTINUE if new.entity == old.entity else SWITCH
        places_of_names, place = {(name.start, name.end) for name in text.names[at]}, _span(sentence, new)
        form = sentence.text[slice(*place)] if place else ""
        is_name, is_form = place in places_of_names, text.forms.get(form.lower()) == pronoun
        if not place or not (is_name if condition == SWITCH else is_form):
            continue
        if before == at and condition == CONTINUE and _span(sentence, old) not in places_of_names:
            continue
        named = [
            [name for name in text.names[n] if n < at or name.end <= place[0]] for n in range(max(at - MOST, 0), at + 1)
        ]
        of_new = [n for n, names in enumerate(named) if any(name.entity == new.entity for name in names)]
        first = at - len(named) + 1 + of_new[-1] if of_new else at
        earlier = [name.text for names in named for name in names if name.entity == new.entity]
        earlier_name = earlier[-1] if earlier else ""
        sentences_of_text = text.sentences[first : at + 1]
        name = earlier_name if condition == CONTINUE else form
        after = sentence.text[place[1] :]
        start = sum(len(part.text) + 1 for part in sentences_of_text[:-1]) + place[0]
        begins = not re.search(r"\w", sentence.text[: place[0]])
        other = text.language.capitalise(pronoun) if begins else pronoun
        if condition == CONTINUE:
            other = text.language.capitalise(earlier_name) if begins and not sentence.has_tree else earlier_name
        begin, end = sentence.head(old) if before == at else 0, sentence.head(new)
        between = [each for each in sentence.widest if begin < sentence.head(each) < end and each.entity in persons]
        checks = (
            ("not-named", not earlier_name or name.lower() not in earlier_name.lower()),
            ("named-again", name.lower() in after.lower()),
            ("not-first", any(condition == CONTINUE or each.entity != old.entity for each in between)),
        )
        reason = next((reason for reason, holds in checks if holds), text.fault(first, at))
        last = [name.entity for names in named[len(named) - (at - first) - 1 :] for name in names][-1:]
        shown = " ".join(part.text for part in sentences_of_text)
        yield {
            "sent": sentence.sent, "ids": [part.sent_id for part in sentences_of_text], "label": condition,
            "condition": condition, "sentence1": shown, "sentence2": shown[:start] + other + after, "start": start,
            "name": name, "mention": form, "other": other, "reason": reason,
            "cell": f"{pronoun} {len(name.split())} {min(at - first, 2)} {last == [new.entity]} {before == at}",
        }  # fmt: skip


def _rivals_of_text(text: _Text) -> Iterator[dict[str, Any]]:
    """The candidates of `antecedents` of sentences that follow each other without a gap; one of each at most.

    The texts do not overlap, so that none shows the last sentence of another one: those with a name come first, then
    those with a pronoun, of which fewer are `FAR`. Names that several persons have are left out (*the other one* could
    be anybody), and so are those with an *s* more than another name: genitives.
    """
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for name in chain.from_iterable(text.names):
        owners[name.text.lower()].add(name.entity)
    unique = {
        name for name, entities in owners.items()
        if len(entities) == 1 and not (name.endswith("s") and owners.get(name[:-1]) == entities)
    }  # fmt: skip
    free = [range(len(text.sentences))]
    for rivals in (_rivals_by_name, functools.partial(_rivals_by_pronoun, condition=FAR),
                   functools.partial(_rivals_by_pronoun, condition=NEAR)):  # fmt: skip
        left = []
        for part in free:
            begin = part.start
            for at in part:
                lengths = np.cumsum(
                    [len(sentence.words) for sentence in text.sentences[max(begin, at - FURTHEST) : at + 1][::-1]]
                )
                earliest = at + 1 - int((lengths <= LONGEST_ANTECEDENT).sum())
                for first in range(max(at - SHOWN, earliest), earliest - 1, -1):
                    row = min(rivals(text, first, at, unique), key=lambda row: row["reason"] is not None, default=None)
                    if row and row["reason"] is None:
                        left.append(range(begin, first))
                        begin = at + 1
                        break
                yield from [row] if row else []
            left.append(range(begin, part.stop))
        free = left


def _rivals_by_name(text: _Text, first: int, at: int, unique: Collection[str]) -> Iterator[dict[str, Any]]:
    """The candidates of a sentence that names a person by a ``unique`` name; the texts begin with the ``first`` one."""
    sentence = text.sentences[at]
    names = [name for of_sentence in text.names[first:at] for name in of_sentence if name.text.lower() in unique]
    present = {mention.entity for mention in sentence.mentions}
    for pronoun in sorted({*text.pronouns.values()}):
        persons = {entity for entity in text.pronouns if text.pronouns[entity] == pronoun}
        places = {_span(sentence, mention) for mention in text.subjects(sentence, persons)}
        for name in text.names[at]:
            if name.entity not in persons or name.text.lower() not in unique:
                continue
            is_subject = (name.start, name.end) in places
            if not is_subject and not _is_object(sentence, name, text.joins):
                continue
            rivals = [
                other for other in names
                if other.entity in persons - present and _apart(other.text, name.text)
                and (is_subject or other.text[:1].isupper())
                and text.entities[other.entity].may_be(text.entities[name.entity])
            ]  # fmt: skip
            named = any(other.entity == name.entity and other.text == name.text for other in names)
            if not rivals:
                continue
            row = _row_of_rivals(text, (first, at), name, rivals)
            before, after = sentence.text[: name.start], sentence.text[name.end :]
            checks = (
                (SHORT, row["reason"] == SHORT),
                ("not-named", not named),
                ("named-again", name.text.lower() in f"{before}{after}".lower()),
                ("rival-named", row["other"].lower() in sentence.text.lower()),
                ("elision", _elides(before, row["other"], text.language)),
            )
            last, earlier = row["name"].split(" / ")
            of_text = row["sentence1"][: -len(sentence.text)]
            more = (
                np.sign(len(last.split()) - len(earlier.split())),
                np.sign(of_text.count(last) - of_text.count(earlier)),
            )
            reason = next((reason for reason, holds in checks if holds), row["reason"])
            yield row | {"reason": reason, "cell": "{} {}".format(*more)}


def _rivals_by_pronoun(
    text: _Text, first: int, at: int, _unique: Collection[str], *, condition: str
) -> Iterator[dict[str, Any]]:
    """The candidates of a sentence whose subject is a pronoun: a rival is a person to whom another pronoun refers.

    Nothing else in the sentence refers to the person, or agrees with it. That they are no group (German *sie*), either
    their pronoun or the corpus tells.
    """
    single = {
        entity for entity, pronoun in text.pronouns.items()
        if pronoun in text.telling or any(gender.endswith("Sing") for gender in text.entities[entity].genders)
    }  # fmt: skip
    sentence = text.sentences[at]
    shown = [
        mention
        for part in text.sentences[first:at] for mention in part.widest if not text.is_pronoun(part, mention)
    ]  # fmt: skip
    named = {mention.entity for mention in shown}
    present = {mention.entity for mention in sentence.mentions}
    words = [word.form.lower() for word in sentence.words]
    for mention in text.subjects(sentence, text.pronouns):
        place = _span(sentence, mention)
        form = sentence.text[slice(*place)].lower() if place else ""
        others = [each for each in shown if each.entity in single - present and text.pronouns[each.entity] != form]
        if not place or mention.entity not in single or form != text.pronouns[mention.entity] or not others:
            continue
        of_pronoun = replace(mention, start=place[0], end=place[1], text=form)
        row = _row_of_rivals(text, (first, at), of_pronoun, others)
        again = [each for each in sentence.mentions if each.entity == mention.entity and each != mention]
        is_neutral = all(words[sentence.head(each) - 1] in text.neutral and each.n_words == 1 for each in again)
        checks = (
            (SHORT, row["reason"] == SHORT),
            ("not-named", mention.entity not in named),
            ("named-again", sum(word in text.forms for word in words) > 1 or not is_neutral),
            ("agrees", not text.agrees.isdisjoint(words)),  # *assise au dernier banc, elle …*
        )
        reason = next((reason for reason, holds in checks if holds), row["reason"])
        if row["condition"] == condition:
            yield row | {"reason": reason}


def _is_object(sentence: TextSentence, name: TextMention, joins: Collection[str]) -> bool:
    """Whether a name without an article stands directly after a word, alone: it is no conjunct, and not in speech.

    In speech, the name could be that of the person who is spoken to.
    """
    before, after = sentence.text[: name.start], sentence.text[name.end :]
    neighbours = {*re.findall(r"[\w'’]+", before)[-1:], *re.findall(r"[\w'’]+", after)[:1]}
    in_speech = len(QUOTES.findall(before)) % 2 > 0
    follows = name.text[:1].isupper() and re.search(r"\w $", before) is not None
    return follows and not in_speech and neighbours.isdisjoint(joins)


def _apart(one: str, other: str) -> bool:
    """Whether two names end with different words, so that they have at most a title in common."""
    return one.lower().split()[-1] != other.lower().split()[-1]


def _elides(before: str, name: str, language: LanguageData) -> bool:
    """Whether the last word of a text loses its vowel before a name (*que Emma*)."""
    last = before.lower().split()[-1:]
    is_bound = bool(last) and last[0] in language.section(SwapRules).elides
    return is_bound and bool(pl.select(causes_elision(pl.lit(name.lower()))).item())


def _row_of_rivals(
    text: _Text, shown: tuple[int, int], name: TextMention, rivals: Sequence[TextMention]
) -> dict[str, Any]:
    """The candidate of a mention by name or pronoun: the rival is the one of ``rivals`` who was mentioned last."""
    first, at = shown
    sentence, parts = text.sentences[at], text.sentences[first : at + 1]
    mentioned = [mention.entity for part in parts[:-1] for mention in part.widest]
    rival = max(rivals, key=lambda each: len(mentioned) - mentioned[::-1].index(each.entity))
    own, others = ([n for n, each in enumerate(mentioned) if each == who] for who in (name.entity, rival.entity))
    near = bool(own) and own[-1] > others[-1]
    instead = text.pronouns[rival.entity] if name.text in text.forms else rival.text
    last, earlier = (name.text, instead) if near else (instead, name.text)
    good = " ".join(part.text for part in parts)
    start = sum(len(part.text) + 1 for part in parts[:-1]) + name.start
    form = sentence.text[name.start : name.end]
    other = text.language.capitalise(instead) if not re.search(r"\w", sentence.text[: name.start]) else instead
    more_often = np.sign(len(own) - len(others)) * (1 if near else -1)
    return {
        "sent": sentence.sent, "ids": [part.sent_id for part in parts], "label": NEAR if near else FAR,
        "condition": NEAR if near else FAR, "sentence1": good,
        "sentence2": good[:start] + other + good[start + len(form) :], "start": start, "name": f"{last} / {earlier}",
        "mention": form, "other": other, "cell": f"{last} {more_often}",
        "reason": SHORT if len(parts) <= LEAST else text.fault(first, at),
    }  # fmt: skip


def _before_subjects(sentences: Iterable[TextSentence], pronouns: Collection[str]) -> frozenset[str]:
    """The words that are directly before each of the subject pronouns somewhere."""
    before: defaultdict[str, set[str]] = defaultdict(set)
    for sentence in sentences:
        for previous, word in pairwise(sentence.words):
            before[word.form.lower()].add(previous.form.lower())
    return frozenset(set.intersection(*(before[pronoun] for pronoun in pronouns))) if pronouns else frozenset()
