"""Mentions of entities in passages of documents, from corpora with coreference.

``passages`` cuts the documents of a shard into passages; of each the ``TextMention``s that can be shown, and what
the whole document says about each ``Entity``: its pronouns tell number and gender, so that two entities can be
compared.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import ClassVar, Final

import msgspec
from msgspec import field
from msgspec.structs import replace

from discoprobe.builders.passages.coreference import TextMention, TextSentence, documents, stem
from discoprobe.loaders.corpus import Shard, Word
from discoprobe.loaders.discourse_layers.disrpt_relations import UNSPACED_END
from discoprobe.loaders.languages.language import LanguageData, LanguageSection
from discoprobe.loaders.running_text import not_running

LEAST: Final = 70
"""Words from which on a passage ends with a sentence."""

SHORTEST: Final = 40
"""Least words of a document that is a passage as a whole."""

LONGEST: Final = 200
"""Most words of a passage, which then fits into the 512 tokens of most encoders."""

KINDS: Final = {"PRON": "pronoun", "DET": "pronoun", "PROPN": "name", "NOUN": "noun"}
"""Part of speech of the head of a mention → what kind of a mention it is; others (clauses, *here*) are ``other``."""

CONTENT: Final = frozenset({"NOUN", "PROPN", "ADJ", "NUM", "VERB"})
"""Parts of speech of words that say what a mention refers to."""


POSSESSING: Final = 0.8
"""Share of the mentions that begin with a word, from which on it is a possessive if it is a mention itself in these."""

SMALL_WORD: Final = 3
"""Letters of a word that says little, where parts of speech are not known."""


class PronounForms(LanguageSection, frozen=True):
    """The section ``[pronouns]``: which forms refer to whom, where a corpus has no parts of speech and features.

    Attributes:
        third: pronouns of the third person that tell number and gender, as far as the language has it → their forms.
        subjects: a pronoun of one person → its forms as a subject, the usual one first; only if clauses have a subject.
        joins: words after a name that is not a subject alone (*Anna and Mary*, *Anna of the inn*).
        feminine: the end of words that agree with a feminine subject (French *arrivée*).
        others: forms of the third person that do not.
        speakers: forms of the first and the second person, and those that refer to nobody in particular; one with a
            capital is meant only with it (German *Sie*).
        indefinite: forms of the indefinite article.
        reflexive: those with which a verb begins that stands for its subject (French *se leva*).
    """

    section: ClassVar[str] = "pronouns"
    third: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    subjects: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    joins: frozenset[str] = frozenset()
    feminine: str = ""
    others: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    indefinite: tuple[str, ...] = ()
    reflexive: tuple[str, ...] = ()

    @property
    def of_persons(self) -> dict[str, str]:
        """Every pronoun of one person → the usual one as a subject."""
        return {
            form: subjects[0]
            for name, subjects in self.subjects.items()
            for form in (*self.third.get(name, ()), *subjects)
        }


class Entity(msgspec.Struct, frozen=True):
    """What a document says about an entity.

    Attributes:
        pronouns: the forms of the pronouns that refer to it, with their numbers.
        genders: their genders and numbers, where they tell them.
        types: the types that the corpus gives it.
        sentences: the sentences (by index in the document) in which it is mentioned, one for each mention.
        inside: entities that are mentioned inside a mention of it, or the other way round.
        parts: entities that it is made of, or that are made of it.
        bridges: entities by which it can be understood.
    """

    pronouns: Counter[str] = field(default_factory=Counter)
    genders: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    sentences: list[int] = field(default_factory=list)
    inside: set[str] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)
    bridges: set[str] = field(default_factory=set)
    salience: list[float] = field(default_factory=list)

    def may_be(self, other: "Entity") -> bool:
        """Whether the same pronouns refer to both; if one has none, whether they have the same type."""
        if self.genders and other.genders:
            return bool(self.genders & other.genders)
        if self.pronouns and other.pronouns:
            return bool(self.pronouns & other.pronouns)
        return bool(self.types & other.types)

    def subject(self, of_persons: Mapping[str, str]) -> str | None:
        """The subject pronoun that most of its pronouns belong to; None if it is not one person, or has none.

        Args:
            of_persons: `PronounForms.of_persons`.
        """
        if self.types and not any(name.lower().startswith("per") for name in self.types):
            return None
        if self.genders and all(gender.endswith("Plur") for gender in self.genders):
            return None
        counts = Counter[str]()
        for form, n in self.pronouns.items():
            if form in of_persons:
                counts[of_persons[form]] += n
        return min(counts, key=lambda form: (-counts[form], form), default=None)


class Passage(msgspec.Struct, frozen=True):
    """Neighbouring sentences of a document, with their mentions in the order in which they begin.

    Attributes:
        doc: the document in its shard.
        key: of its first sentence.
        ids: of its sentences.
        first: index of its first sentence in the document; ``n_sentences`` is the number of the document's.
        text: the sentences as running text.
        mentions: those that can be marked.
        entities: of the document.
    """

    doc: int
    key: int
    ids: tuple[str, ...]
    first: int
    n_sentences: int
    text: str
    mentions: tuple[TextMention, ...]
    entities: Mapping[str, Entity]

    @property
    def is_parsed(self) -> bool:
        """Whether the corpus has trees: else roles and articles are not known."""
        return any(mention.role for mention in self.mentions)


def passages(shard: Shard, language: LanguageData) -> Iterator[Passage]:
    """Disjoint passages of the documents of a shard that have mentions, each of unbroken sentences of running text.

    A passage ends with the sentence that brings it to ``LEAST`` words; one of more than ``LONGEST`` is left out. The
    last one before a heading, or something else that is no running text, has the rest of the sentences before that too,
    if it is not longer than ``LONGEST`` with them.
    """
    faulty = frozenset(not_running(shard).drop_nulls("fault")["sent"])
    for doc, sentences in described_documents(shard, language.section(PronounForms)):
        entities = entities_of(sentences)
        kinds = any(mention.kind for sentence in sentences for mention in sentence.mentions)
        articles = any(
            "Definite" in word.features and (word.upos == "DET" or (word.upos == "PRON" and not kinds))
            for sentence in sentences for word in sentence.words
        )  # fmt: skip
        begins, possessing = Counter[str](), Counter[str]()
        for sentence in sentences:
            alone = {mention.words[0] for mention in sentence.mentions if mention.n_words == 1}
            for mention in (mention for mention in sentence.mentions if mention.n_words > 1):
                form = sentence.word(mention.words[0]).form.lower()
                begins[form] += 1
                possessing[form] += mention.words[0] in alone
        possessives = {form for form, n in possessing.items() if n >= POSSESSING * begins[form]}
        for taken in _parts(sentences, faulty):
            yield _passage(doc, taken, entities, len(sentences), articles=articles, possessives=possessives)


def _parts(sentences: Sequence[TextSentence], faulty: Collection[int]) -> Iterator[list[TextSentence]]:
    """The sentences of each passage of a document; those that are ``faulty`` are in none."""
    for (left_out, _), run in groupby(sentences, key=lambda sentence: (sentence.sent in faulty, sentence.run)):
        if left_out:
            continue
        parts: list[list[TextSentence]] = [[]]
        for sentence in run:
            if _n_words(parts[-1]) >= LEAST:
                parts.append([])
            parts[-1].append(sentence)
        if len(parts) > 1 and _n_words(parts[-1]) < LEAST and _n_words(parts[-2] + parts[-1]) <= LONGEST:
            parts[-2:] = [parts[-2] + parts[-1]]
        least = LEAST if len(parts) > 1 else SHORTEST
        yield from (part for part in parts if least <= _n_words(part) <= LONGEST)


def _n_words(sentences: Sequence[TextSentence]) -> int:
    return sum(len(sentence.words) for sentence in sentences)


def described_documents(shard: Shard, forms: PronounForms) -> Iterator[tuple[int, list[TextSentence]]]:
    """The documents of a shard that have mentions; what the corpus does not say of pronouns, their forms do."""
    listed = dict.fromkeys(forms.others, "Person=3") | dict.fromkeys(forms.speakers, "Person=1")
    listed |= dict.fromkeys(forms.indefinite, "Definite=Ind|Person=1")
    listed |= dict.fromkeys(forms.reflexive, "Person=1|Reflex=Yes")
    listed |= {form: f"Gender={group}|Person=3" for group, of_group in forms.third.items() for form in of_group}

    def described(word: Word) -> Word:
        by_form = None if word.upos else listed.get(word.form, listed.get(word.form.lower()))
        return replace(word, upos="PRON", feats=by_form) if by_form else word

    for doc, sentences in documents(shard):
        yield doc, [replace(sentence, words=list(map(described, sentence.words))) for sentence in sentences]


def entities_of(sentences: Sequence[TextSentence]) -> Mapping[str, Entity]:
    """What a document says about its entities."""
    entities: defaultdict[str, Entity] = defaultdict(Entity)
    for sentence in sentences:
        spans = []
        for mention in sentence.mentions:
            entity, word = entities[mention.entity], sentence.word(sentence.head(mention))
            entity.sentences.append(sentence.index)
            if mention.gender or mention.number:
                entity.genders.add(f"{mention.gender} {mention.number}")
            if mention.n_words == 1 and _kind_of_mention(word, mention.kind) == "pronoun" and not _is_speaker(word):
                entity.pronouns[word.form.lower()] += 1
                features = _features(word)
                if features.get("Gender") or features.get("Number", "Sing") != "Sing":
                    entity.genders.add(f"{features.get('Gender')} {features.get('Number')}")
            entity.types.update([mention.type] if mention.type else [])
            entity.bridges.update([mention.bridge] if mention.bridge else [])
            entity.salience.extend([] if mention.salience is None else [mention.salience])
            for part in mention.parts:
                entity.parts.add(part)
                entities[part].parts.add(mention.entity)
            spans.append((mention.entity, set(mention.words)))
        for name, of_name in spans:
            entities[name].inside.update(other for other, of_other in spans if other != name and of_name & of_other)
    return entities


def _kind_of_mention(head: Word, of_corpus: str | None) -> str:
    """What kind of a mention one with this head is, as the corpus says, or by its part of speech.

    Where neither is known, a word with a capital is a name.
    """
    if of_corpus or head.upos:
        return of_corpus or KINDS.get(head.upos, "other")
    return "name" if head.form[:1].isupper() else "noun"


def _is_speaker(word: Word) -> bool:
    """Whether a pronoun is of the first or second person."""
    return _features(word).get("Person") in {"1", "2"}


def _features(word: Word) -> Mapping[str, str | None]:
    """The features of a head that are those of what the mention refers to.

    Number and Gender of a possessive determiner agree with what is possessed; the possessor's are in ``[psor]``.
    """
    feats: dict[str, str | None] = dict(word.features)
    of_possessor = {name: feats.pop(f"{name}[psor]", None) for name in ("Number", "Gender", "Person")}
    if feats.get("Poss") and (any(of_possessor.values()) or word.upos == "DET"):
        return feats | of_possessor | {"Person": of_possessor["Person"] or feats.get("Person")}
    return feats


def _passage(  # noqa: PLR0913 (one parameter per fact about the document)
    doc: int,
    sentences: Sequence[TextSentence],
    entities: Mapping[str, Entity],
    n_sentences: int,
    *,
    articles: bool,
    possessives: Collection[str],
) -> Passage:
    """The passage of some sentences of a document, which has articles or not, and these possessives.

    Where annotators did not mark the possessor of a mention, they may have marked the whole for it (*his brutality* for
    the man), so that it is of no kind.
    """
    text, mentions = "", list[TextMention]()
    for place, sentence in enumerate(sentences):
        text += " " if text and not UNSPACED_END.search(text) else ""
        shown = (_described(sentence, place, len(text), mention, articles=articles) for mention in sentence.mentions)
        alone = {mention.words[0] for mention in sentence.mentions if mention.n_words == 1}
        for mention in filter(None, shown):
            form = sentence.word(mention.words[0]).form.lower()
            unmarked = mention.n_words > 1 and form in possessives and mention.words[0] not in alone
            mentions.append(replace(mention, kind="other") if unmarked else mention)
        text += sentence.text
    ordered = sorted(mentions, key=lambda mention: (mention.start, -mention.end))
    numbered = tuple(replace(mention, place=place) for place, mention in enumerate(ordered))
    ids = tuple(sentence.sent_id for sentence in sentences)
    return Passage(doc, sentences[0].key, ids, sentences[0].index, n_sentences, text, numbered, entities)


def _described(
    sentence: TextSentence, place: int, offset: int, mention: TextMention, *, articles: bool
) -> TextMention | None:
    """A mention with what is known of it in its passage; None if it cannot be shown.

    It cannot if it has gaps, if words are written with it, or if it is a mark or a sentence. A sentence that is a
    mention alone is a heading, or names who speaks in a play.
    """
    inside, head = {*mention.words}, sentence.head(mention)
    first, last, root = (sentence.word(number) for number in (min(inside), max(inside), head))
    of_mention = [sentence.word(number) for number in inside]
    tokens = {word.mwt for word in of_mention} - {0}
    fused = any(word.mwt in tokens and number not in inside for number, word in enumerate(sentence.words, 1))
    if fused or first.start < 0 or last.end < 0 or max(inside) - min(inside) + 1 > len(inside):
        return None
    inner, outer = sentence.text[first.start : last.end], sentence.text[: first.start] + sentence.text[last.end :]
    if not all(any(map(str.isalnum, text)) for text in (inner, outer)):
        return None
    kind = _kind_of_mention(root, mention.kind)
    joined = any(word.deprel == "conj" and word.head == head for word in of_mention)
    features = {"Number": mention.number, "Gender": mention.gender, **_features(root)}
    features |= {"Number": "Plur"} if joined else {}
    determined = len(inside) > 1 and (first.upos in {"DET", "PRON"} or not first.upos)
    definiteness = "indefinite" if first.features.get("Definite") == "Ind" else "definite" if determined else ""
    if articles and kind == "noun" and not determined and features.get("Number") == "Plur":
        definiteness = "bare"
    if articles and kind != "pronoun" and len(inside) == 1 and not root.upos and not mention.kind:
        inside_clause = re.search(r"[\w,]\s*$", sentence.text[: first.start])
        kind = "name" if kind == "name" and inside_clause else "other"  # it may be a verb that stands for its subject
    if len(inside) > 1 and first.features.get("Reflex"):
        kind = "other"
    nested = (each for each in sentence.mentions if each.words[0] == mention.words[0] and each.n_words < len(inside))
    possessor = next((each.entity for each in nested if each.entity != mention.entity), "")
    predicate = any(word.head == head and word.deprel == "cop" for word in sentence.words)
    small = SMALL_WORD if sentence.text.lower() != sentence.text.upper() else 1
    content = [word for word in of_mention if word.upos in CONTENT or not word.upos]
    return replace(
        mention, start=offset + first.start, end=offset + last.end, sentence=place, kind=kind, features=features,
        text=sentence.text[first.start : last.end], stem=stem(root.form),
        content=frozenset(stem(word.form) for word in content if word.upos or len(word.form) > small),
        role="cop" if predicate else root.deprel.partition(":")[0],
        opens=not any(char.isalnum() for char in sentence.text[: first.start]),
        opening=first.form.lower() if determined else "", definiteness=definiteness,
        pronoun=root.form.lower() if kind == "pronoun" and len(inside) == 1 else "", possessor=possessor,
    )  # fmt: skip
