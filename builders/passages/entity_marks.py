"""Which mentions of a passage a row can mark, for each task on entities: one for each label, alike in all but that.

Two mentions are alike if they have the same kind, number and gender; two entities, if the same pronouns refer to them
somewhere in the document, which shows the same gender and number in any language; without pronouns, if the corpus gives
them the same type.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Final

from discoprobe.builders.passages.coreference import TextMention
from discoprobe.builders.passages.entities import Passage
from discoprobe.builders.passages.mention_rows import Marks

SAME_CUES: Final = (
    "mentions_between",
    "sentences_between",
    "last_mention",
    "same_string",
    "shared_words",
    "shared_letters",
    "frequency",
    "subject",
    "same_role",
    "opens_sentence",
    "n_words",
)
"""What a rule could count of two mentions: mentions and sentences between them; mentions between the second one and the
last mention of the entity of the first before it; whether they are the same string; the shares of words and of pairs of
letters that they have in common; mentions of the entity of the first in the passage; whether the first is a subject,
has the relation of the second, begins its sentence; and its words."""

PERSONAL: Final = frozenset({None, "Prs", "Dem"})
"""Types of pronouns that refer to what was mentioned; others (*who*, *nobody*, *each other*) do not, or in a clause."""

LINKS: Final = frozenset({"appos", "pred", "disc", "cata"})
"""Links of mentions that syntax decides, or that refer to no entity (GUM)."""

NO_REFERENCE: Final = frozenset({"cop", "appos", "vocative", "expl", "discourse", "dislocated"})
"""Roles of mentions that say something of an entity that is mentioned beside them, or refer to nothing."""

SUBJECTS: Final = frozenset({"nsubj", "csubj"})


def same_entity(passage: Passage) -> Iterator[Marks]:
    """An antecedent of a mention, and a mention of another entity that could be one."""
    usable = [mention for mention in passage.mentions if _refers(mention)]
    for second in usable:
        before = [mention for mention in usable if mention.end < second.start - 1]
        if not _takes_up(second):
            continue
        right = [mention for mention in before if mention.entity == second.entity]
        others = [mention for mention in before if mention.entity != second.entity]
        for antecedent, other in product(right, others):
            if (
                not antecedent.overlaps(other)
                and _alike(antecedent, other)
                and _could_be(passage, antecedent, other, second)
            ):
                cues = tuple(_cues_of_two(passage, first, second) for first in (antecedent, other))
                yield Marks((antecedent, other), second, cues)


def _shared(two: Sequence[set[str]]) -> float:
    """The share of the members of two sets that both have (Jaccard)."""
    return len(two[0] & two[1]) / max(1, len(two[0] | two[1]))


def _refers(mention: TextMention) -> bool:
    """Whether a mention refers to a third person or thing by itself."""
    if mention.link in LINKS or mention.role in NO_REFERENCE or mention.kind == "other":
        return False
    if mention.feature("Person") in {"1", "2"} or mention.feature("Reflex"):
        return False
    return mention.kind != "pronoun" or (mention.feature("PronType") in PERSONAL and mention.n_words == 1)


def _takes_up(mention: TextMention) -> bool:
    """Whether a mention can refer back: it is no indefinite noun."""
    return mention.kind != "noun" or mention.definiteness not in {"indefinite", "bare"}


def _alike(one: TextMention, other: TextMention) -> bool:
    """Whether two mentions have the same kind, number and gender."""
    features = all(one.feature(name) == other.feature(name) for name in ("Number", "Gender"))
    return one.kind == other.kind and features and one.type == other.type


def _could_be(passage: Passage, one: TextMention, other: TextMention, second: TextMention) -> bool:
    """Whether a reader could take the entity of ``other`` for that of ``second``, and annotators kept them apart."""
    if one.possessor and second.possessor and one.possessor != second.possessor:
        return False  # *his tenderness* and *her tenderness*: annotators are wrong, or mean something else
    same, different = passage.entities[second.entity], passage.entities[other.entity]
    if other.entity in same.inside | same.parts or not same.may_be(different):
        return False
    if second.kind == "pronoun":
        return bool(same.genders & different.genders) or second.pronoun in different.pronouns
    common = [bool(first.content & second.content) for first in (one, other)]
    if common[0] != common[1] or (other.text.lower() == second.text.lower() and other.kind != "pronoun"):
        return False
    if not common[1] or second.kind == "pronoun":
        return True
    extra = [first.content - second.content for first in (one, other)]
    if second.kind == "name":  # *Barbara Bush* may be no *Bush* that was meant before, *an independent Texas* is Texas
        extra = [words & first.capitals for words, first in zip(extra, (one, other), strict=True)]
    return all(extra)


def _cues_of_two(passage: Passage, first: TextMention, second: TextMention) -> tuple[float, ...]:
    """The cues ``SAME_CUES``."""
    of_entity = [mention for mention in passage.mentions if mention.entity == first.entity]
    last = max(mention.place for mention in of_entity if mention.end <= second.start)
    words, letters = [], []
    for text in (first.text.lower(), second.text.lower()):
        words.append(set(text.split()))
        letters.append({text[at : at + 2] for at in range(len(text) - 1)})
    return (
        second.place - first.place, second.sentence - first.sentence, second.place - last,
        first.text.lower() == second.text.lower(), _shared(words), _shared(letters),
        sum(mention != second for mention in of_entity), first.role in SUBJECTS, first.role == second.role,
        first.opens, first.n_words,
    )  # fmt: skip


NEW_CUES: Final = (
    "sentence",
    "mentions_before",
    "subject",
    "opens_sentence",
    "n_words",
    "n_chars",
    "modifiers",
    "words_before",
    "type_before",
    "conjunct",
    "object",
    "oblique",
    "modifier",
    "capitals",
)
"""What a rule could count of a mention and of the passage before it: its sentence, mentions before it, whether it is a
subject or begins its sentence, its words, characters and words beside head and article; how many of its words were used
before, nouns of its type before it; whether it is in a coordination, an object, an oblique or a modifier of a noun; and
its words with a capital."""

INFERRED: Final = "acc:inf"
"""Status of a mention that can be understood because of another one (GUM)."""


def given_new(passage: Passage) -> Iterator[Marks]:
    """A mention of an entity that is new in the document, one that the passage mentioned before, and a bridged one.

    Where the passage has no bridged mention that is alike, there are two. None in a corpus without trees, in which
    shortcuts would remain.
    """
    if not passage.is_parsed:
        return
    noun = [m for m in passage.mentions if m.kind != "pronoun" and m.sentence and _refers(m) and _takes_up(m)]
    new, given, bridged = [], [], []
    for mention in noun:
        before = {other.entity for other in passage.mentions if other.end < mention.start}
        first = passage.entities[mention.entity].sentences[0] == passage.first + mention.sentence
        if mention.entity in before and mention.status not in {"new", INFERRED}:
            given.append(mention)
        elif mention.bridge in before and mention.status in {None, INFERRED}:
            bridged.append(mention)
        elif first and mention.status in {None, "new"} and not mention.bridge and mention.entity not in before:
            named = mention.kind == "name" and mention.stem in passage.text[: mention.start].lower()
            new += [mention] if not named else []  # annotators missed the link, or somebody else has the name
    for one, other in product(new, given):
        if _alike_in_form(passage, one, other):
            thirds = [third for third in bridged if _alike_in_form(passage, one, third)]
            for mentions in [(one, other), *((one, other, third) for third in thirds)]:
                yield Marks(mentions, None, tuple(_cues_of_new(passage, mention) for mention in mentions))


def _alike_in_form(passage: Passage, one: TextMention, other: TextMention) -> bool:
    """Whether two mentions have the same kind, number and article, and both or neither a head that was used before."""
    seen = [
        any(mention.stem in before.content for before in passage.mentions if before.end < mention.start)
        for mention in (one, other)
    ]
    return (
        one.kind == other.kind and one.opening == other.opening and one.feature("Number") == other.feature("Number")
        and one.definiteness == other.definiteness and seen[0] == seen[1] and not one.overlaps(other)
    )  # fmt: skip


def _cues_of_new(passage: Passage, mention: TextMention) -> tuple[float, ...]:
    """The cues ``NEW_CUES``."""
    before = [other for other in passage.mentions if other.end <= mention.start]
    used = frozenset().union(*(other.content for other in before))
    return (
        mention.sentence, len(before), mention.role in SUBJECTS, mention.opens, mention.n_words, len(mention.text),
        len(mention.content), len(mention.content & used),
        sum(other.type == mention.type and other.kind != "pronoun" for other in before),
        *(mention.role == role for role in ("conj", "obj", "obl", "nmod")), len(mention.capitals),
    )  # fmt: skip


BRIDGE_CUES: Final = (
    "mentions_between",
    "sentences_between",
    "frequency",
    "last_mention",
    "subject",
    "n_words",
    "n_chars",
    "capitals",
    "name",
    "definite",
    "same_type",
)
"""What a rule could count of two mentions, as in ``SAME_CUES``; characters of the first one, and its words with a
capital; whether it is a name, is definite, and has the type of the second."""

NEAREST: Final = 16
"""Earlier mentions of other entities, the nearest ones, of which three are wrong choices."""


def bridging_choice(passage: Passage) -> Iterator[Marks]:
    """Of a bridged mention the mention before it that it can be understood by, and three of other entities.

    All are names or nouns, of which none is inside another, and none has a word of the right one or of the bridged
    mention. An entity that can be understood by the right one, or that explains it, is no wrong choice.
    """
    for second in passage.mentions:
        if second.status not in {None, INFERRED} or not second.bridge:
            continue
        anchor, bridged = passage.entities[second.bridge], passage.entities[second.entity]
        linked = {second.bridge, second.entity}.union(*((e.inside | e.parts | e.bridges) for e in (anchor, bridged)))
        linked |= {name for name, entity in passage.entities.items() if entity.bridges & {second.bridge, second.entity}}
        before = [m for m in passage.mentions if m.end < second.start and m.kind in {"name", "noun"} and _refers(m)]
        before = [mention for mention in before if not mention.content & second.content]  # *the beaches*, *the beach*
        cues = {mention.place: _cues_of_bridge(passage, mention, second) for mention in before}
        others = [mention for mention in before if mention.entity not in linked][-NEAREST:]
        for anchor_mention in (mention for mention in before if mention.entity == second.bridge):
            wrong = [m for m in others if not m.content & anchor_mention.content and not m.overlaps(anchor_mention)]
            for three in combinations(wrong, 3):
                choices = (anchor_mention, *three)
                entities, texts = ({getattr(m, name) for m in choices} for name in ("entity", "text"))
                apart = not any(m.overlaps(other) for m, other in combinations(three, 2))
                if len(entities) == len(texts) == len(choices) and apart:
                    of_choices = tuple(cues[mention.place] for mention in choices)
                    yield Marks(choices, second, of_choices, traits=tuple(mention.traits for mention in choices))


def _cues_of_bridge(passage: Passage, first: TextMention, second: TextMention) -> tuple[float, ...]:
    """The cues ``BRIDGE_CUES``."""
    between, sentences, last, _, _, _, frequency, subject, *_, n_words = _cues_of_two(passage, first, second)
    return (
        between, sentences, frequency, last, subject, n_words, len(first.text), len(first.capitals),
        first.kind == "name", first.definiteness == "definite", first.type == second.type,
    )  # fmt: skip


SALIENCE_CUES: Final = (
    "sentence",
    "mentions_before",
    "subject",
    "subjects",
    "opens_sentence",
    "n_words",
    "n_chars",
    "capitals",
    "modifier",
    "definite",
    "inside",
    "occurrences",
)
"""What a rule could count of a mention and of its entity in the passage: its sentence, mentions before it; whether it
is a subject, and how many of the entity's mentions are; whether it begins its sentence; its words, characters, words
with a capital; whether it modifies a noun, is definite, or is inside another mention; and how often
its text occurs in the passage."""

MOST_SALIENT: Final = 0.5
"""Share of the summaries from which on an entity is one that the text is about."""

SUMMARIES, CHAINS = "summaries", "chains"
"""Where the label of a row of `salience` comes from."""

LONG, SPREAD, SHORT = 6, 0.5, 3
"""Without summaries, the text is about an entity with ``LONG`` mentions at least, which are spread over this part of
the document; it is not about one with ``SHORT`` at most."""


def salience(passage: Passage) -> Iterator[Marks]:
    """A mention of an entity that the document is about, and one of an entity that it is not about.

    None in a corpus without trees, in which shortcuts would remain.
    """
    if not passage.is_parsed:
        return
    first: dict[str, TextMention] = {}
    counts: Counter[str] = Counter()
    for mention in passage.mentions:
        counts[mention.entity] += 1
        if mention.kind in {"name", "noun"} and _refers(mention):
            first.setdefault(mention.entity, mention)
    rated = {entity: _about(passage, entity) for entity in first}
    for one, other in product(*([m for e, m in first.items() if rated[e][0] == about] for about in (True, False))):
        same = counts[one.entity] == counts[other.entity] and one.kind == other.kind and one.type == other.type
        # without types, the same pronouns show that both are persons, or things
        same &= one.type is not None or passage.entities[one.entity].may_be(passage.entities[other.entity])
        if same and one.feature("Number") == other.feature("Number") and not one.overlaps(other):
            facts = [rated[mention.entity][1:] for mention in (one, other)]
            yield Marks((one, other), None, tuple(_cues_of_salience(passage, m) for m in (one, other)), tuple(facts))


def _about(passage: Passage, entity: str) -> tuple[bool | None, str, float | None]:
    """Whether the document is about an entity (None if it cannot be said), what says so, and its graded salience."""
    facts = passage.entities[entity]
    if facts.salience:
        share = max(facts.salience)
        return (True if share >= MOST_SALIENT else None if share else False), SUMMARIES, share
    n, places = len(facts.sentences), facts.sentences
    spread = (max(places) - min(places)) / passage.n_sentences
    return (True if n >= LONG and spread >= SPREAD else False if n <= SHORT else None), CHAINS, n * spread


def _cues_of_salience(passage: Passage, mention: TextMention) -> tuple[float, ...]:
    """The cues ``SALIENCE_CUES``."""
    same = [other for other in passage.mentions if other.entity == mention.entity]
    return (
        mention.sentence, mention.place, mention.role in SUBJECTS, sum(other.role in SUBJECTS for other in same),
        mention.opens, mention.n_words, len(mention.text), len(mention.capitals), mention.role == "nmod",
        mention.definiteness == "definite",
        any(mention.overlaps(other) and len(other.text) > len(mention.text) for other in passage.mentions),
        passage.text.count(mention.text),
    )  # fmt: skip
