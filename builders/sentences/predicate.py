"""The main predicate of a sentence: which of its words carries tense, aspect or voice.

The language data say where a feature is marked: on the root, on an auxiliary or on the copula (`PredicateRules`).
``words_of_predicate`` finds these words, ``feature_of_predicate`` the one that bears a feature; compound tenses and
voice have rules of their own.

The end of the module tells main clauses that have a subject from those that take none (`ImpersonalRules`), and both
from those whose subject was dropped.
"""

import functools
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
import polars as pl

from discoprobe.builders.sentences.candidates import feature_task
from discoprobe.builders.sentences.clauses import PASSIVE, ArgumentRules, spelled_out, valued
from discoprobe.builders.sentences.trees import Trees, label_columns, with_dependents
from discoprobe.builders.task import Context, ProbingTask
from discoprobe.loaders.corpus import feat
from discoprobe.loaders.languages.language import Availability, Condition, LanguageData, LanguageSection

Place = Literal["root", "aux", "cop", "aux:pass"]
PredicateFeature = Annotated[str, msgspec.Meta(pattern=r"^(Tense|Voice|Aspect)$")]
Mark = Annotated[str, msgspec.Meta(pattern=r"^([a-z]+(:[a-z]+)?|Voice=[A-Z][A-Za-z]+|aux=\w+(/Inf)?)$")]

VERBAL: Final = ("VERB", "AUX")
"""Parts of speech whose features are the clause's: a noun's Person is its possessor's."""

PASSIVE_DEPENDENTS: Final = ("nsubj:pass", "csubj:pass")
"""Marks of the passive that a verb above the passive one may have: Russian *решения могут быть оспорены*."""

REFLEXIVE: Final = ("expl:pv", "expl:comp", "expl:pass", "expl:impers")
"""Reflexives that are no evidence of a passive: French *il s'est amélioré* is a perfect, Czech *dveře se otevřely* (the
door opened) an active, and treebanks call both `expl:pass`."""

UNDECIDED: Final = ("expl:pass", "expl:impers")
"""Reflexives that leave the voice undecided in every language."""

OUTER: Final = ("nsubj:outer", "csubj:outer")
"""Subjects of a predicate that is a clause: *best* in *the best was that they agreed*, whose root is *agreed*."""

UNREAL: Final = ("Cnd", "Sub", "Opt", "Des", "Jus", "Prp", "Irr")
"""Moods whose Tense names a form, not a time: German *könnte* (Sub, Past), French *pourrait* (Cnd, Pres), Turkish
*gidelim* (let us go; Opt, Pres)."""

FINITE: Final = Condition(feats={"VerbForm": frozenset({"", "Fin"})})
"""What a word must be for Tense to be read from it, where the language's data have no condition."""

NOT_PERFECT: Final = ("Imp", "Prog", "Hab")
"""Aspects of participles that make no perfect with an auxiliary: Hindi *करता है*."""

PROFILED: Final = 20
"""Least number of words from which it is known what a treebank marks, such as verbs with Tense and without VerbForm."""

FEW_PASTS: Final = 0.05
"""Share of finite past forms among past participles up to which the participle is the only past tense."""

SLIPS: Final = 0.01
"""Share of verbs with Fin, compared with those without VerbForm, up to which they count as annotation errors."""

REASONS: Final = {
    "clausal-predicate": "the predicate is a clause",
    "no-finite-form": "the feature stands on a form from which it is not read in this language, such as a participle",
    "several-bearers": "several words of the predicate bear the feature, or one bears several values",
    "person-on-copula": "a copula with a feature of its own follows the verb",
    "compound-tense": "a compound tense, which treebanks label by its auxiliary and not by its meaning, or one that is "
    "annotated half as a perfect, half as a passive (`nsubj` beside `aux:pass`)",
    "unreal-mood": "a conditional, subjunctive or optative, whose tense is a form",
    "imperative": "an imperative, which has no tense",
    "unclear-voice": "no mark of voice, one that leaves it open (Russian *-ся*), or marks that contradict each other "
    "(an object, a reflexive, a copula or the subject of an active beside a passive)",
}
"""Why candidates of these tasks are dropped."""


class CompoundTense(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A compound tense whose label is not that of its finite word: Croatian *je radio* is Past though *je* is Pres.

    Attributes:
        aux: lemmas of the auxiliary, an ``aux`` child of the root.
        root: the condition on the root.
        label: the tense; None: the clause is not a candidate.
        aux_tense: the Tense of the auxiliary (empty: any).
    """

    aux: Annotated[frozenset[str], msgspec.Meta(min_length=1)]
    root: Condition
    label: str | None = None
    aux_tense: frozenset[str] = frozenset()


class PredicateRules(LanguageSection, frozen=True):
    """The section ``[predicate]``: where the features of the main predicate are read.

    The fields named after features are the places where the feature may be: the root, or a child of it with this
    relation. The first place with a word that carries the feature, and meets ``read``, gives the label. No place: the
    language's treebanks do not support the feature. The place ``aux`` is ``aux`` and any subtype except ``aux:pass``.

    Tense: compound tenses listed in ``compound`` have the label given there; if several match, the first counts. Every
    other auxiliary with a past participle (*hat gesagt*, *a dit*, *has been*) is left out. A language without
    ``compound`` and without a place but the root, and a treebank without past forms, have the past of the participle
    (`_participles_of_past`). An auxiliary without features is a particle of another tense or mood than the finite form
    says (Bulgarian *ще*): the clause is left out.

    Voice: a clause is Pass where one of ``passive`` marks it and the root meets one of ``passive_if``, and is left out
    where it is marked and meets none; else, where one of ``unsure`` marks it, it is left out; else, where the root
    meets one of ``active_if``, it is Act.

    Attributes:
        tense: places of Tense, in the order in which they are looked at.
        voice: places of Voice; of a passive that is not marked by the feature, see `passive`.
        aspect: places of Aspect.
        unreadable: features without a place that treebanks mark all the same, as ``notes`` say.
        read: conditions, any of which the word must meet for the feature to be read from it (no entry: ``FINITE`` for
            Tense, none for the others).
        labels: the values kept, per feature (no entry: all); a clause with another value is left out.
        compound: compound tenses with a label of their own.
        passive: marks of the passive: a relation among the root's children (``aux:pass``, ``nsubj:pass``), a value of
            the root (``Voice=Pass``), or ``aux=`` and the lemma of an ``aux`` child of a root that is a participle
            (``aux=ser``) or an infinitive (``aux=sein/Inf``).
        passive_if: conditions on the root (none: any root).
        passive_aux: lemmas of ``aux:pass`` (empty: any); with another one the voice is not decided.
        passive_object: a passive verb may have an ``obj``; elsewhere an object leaves the voice undecided.
        never_passive: lemmas of verbs whose perfect looks like a passive (French *il est rentré*).
        unsure: marks that leave the voice undecided.
        active_if: conditions on the root.
        notes: what else there is to know of the language's predicates.
    """

    section: ClassVar[str] = "predicate"
    tense: tuple[Place, ...] = ("root",)
    voice: tuple[Place, ...] = ("root",)
    aspect: tuple[Place, ...] = ("root",)
    unreadable: frozenset[PredicateFeature] = frozenset()
    read: dict[PredicateFeature, tuple[Condition, ...]] = msgspec.field(default_factory=dict)
    labels: dict[PredicateFeature, tuple[str, ...]] = msgspec.field(default_factory=dict)
    compound: tuple[CompoundTense, ...] = ()
    passive: tuple[Mark, ...] = ()
    passive_if: tuple[Condition, ...] = ()
    passive_aux: frozenset[str] = frozenset()
    passive_object: bool = False
    never_passive: frozenset[str] = frozenset()
    unsure: tuple[Mark, ...] = ()
    active_if: tuple[Condition, ...] = ()
    notes: str = ""

    def places(self, feature: str) -> tuple[Place, ...]:
        """Where a feature is read."""
        places: tuple[Place, ...] = getattr(self, feature.lower())
        return places

    def conditions(self, feature: str) -> tuple[Condition, ...]:
        """The conditions on the word that a feature is read from; empty where there are none."""
        default = (FINITE,) if feature == "Tense" else ()
        return self.read.get(feature, default)


def unmarked(language: LanguageData, *, feature: str) -> str:
    """Why a language has no task of this feature of the predicate; empty where it has."""
    if language.section(PredicateRules).places(feature):
        return ""
    if feature in language.section(PredicateRules).unreadable:
        return f"{language.name}: what the treebanks mark as {feature} on the main predicate is not the clause's"
    return f"{language.name}: the treebanks do not mark {feature} on the main predicate"


def meets(condition: Condition) -> pl.Expr:
    """Whether a word (``upos``, ``lemma``, ``feats``) meets a condition of the language's data."""
    parts = [pl.lit(value=True)]
    if condition.upos:
        parts.append(pl.col("upos").cast(pl.String).is_in(sorted(condition.upos)).fill_null(value=False))
    if condition.lemma:
        parts.append(pl.col("lemma").is_in(sorted(condition.lemma)).fill_null(value=False))
    parts += [feat(name).fill_null("").is_in(sorted(allowed)) for name, allowed in condition.feats.items()]
    return pl.all_horizontal(parts)


def meets_any(conditions: Iterable[Condition]) -> pl.Expr:
    """Whether a word meets one of several conditions; False where there are none."""
    return pl.any_horizontal([pl.lit(value=False), *map(meets, conditions)])


def predicate_feature(feature: str, version: int = 9, **choices: Any) -> ProbingTask:
    """A task on a feature of the main predicate: of the root, or of the auxiliary or copula that bears it.

    Args:
        feature: a feature of Universal Dependencies, such as ``Tense``.
        version: raised when the rows of the task change.
        choices: ``needs``, ``companions`` and ``keep`` of ``feature_task``.
    """
    lacks = functools.partial(unmarked, feature=feature)
    return feature_task(feature, feature_of_predicate, lacks=lacks, reasons=REASONS, version=version, **choices)


def words_of_predicate(trees: Trees) -> pl.DataFrame:
    """The roots and the auxiliaries and copulas that depend on them, each with its ``place``."""
    place = pl.coalesce(
        pl.when(pl.col("depth") == 0).then(pl.lit("root")),
        pl.when(pl.col("deprel").str.starts_with("aux:pass")).then(pl.lit("aux:pass")),
        "rel",
    )
    helpers = trees.dependents.filter(pl.col("rel").is_in(["aux", "cop"]))
    return _with_finite_forms(_with_one_form(pl.concat([trees.roots, helpers]).with_columns(place=place)))


def _with_one_form(words: pl.DataFrame) -> pl.DataFrame:
    """The words, with one VerbForm on those that can be finite or another form (Afrikaans ``VerbForm=Fin,Inf``).

    The first auxiliary or copula of a predicate is its finite word; the root is where there is none.
    """
    helper, feats, form = pl.col("place") != "root", pl.col("feats"), feat("VerbForm")
    first = pl.when(helper.any().over("sent")).then(helper & helper.cum_sum().over("sent").eq(1)).otherwise(~helper)
    finite = feats.str.replace(r"VerbForm=[\w,]*", "VerbForm=Fin")
    other = feats.str.replace(r"VerbForm=(?:Fin,([\w,]*)|([\w,]*),Fin)", "VerbForm=$1$2")
    both = form.str.contains(",") & form.str.contains("Fin")
    return words.with_columns(feats=pl.when(both & first).then(finite).when(both).then(other).otherwise("feats"))


def _with_finite_forms(words: pl.DataFrame) -> pl.DataFrame:
    """The words, with VerbForm=Fin on verbs with Tense or Mood where the treebank has no VerbForm on finite verbs.

    If it marks Mood on such verbs, Mood distinguishes them from participles, which also have Tense (German PUD). A few
    verbs with Fin count as annotation errors (``SLIPS``).
    """
    verbs, form = pl.col("upos").is_in(VERBAL), feat("VerbForm")
    bare = verbs & form.is_null() & (feat("Tense").is_not_null() | feat("Mood").is_not_null())
    with_mood = bare & feat("Mood").is_not_null()
    counts = words.select(
        bare=bare.sum(), mood=with_mood.sum(), finite=(verbs & (form == "Fin")).sum(), other=form.is_not_null().sum()
    )
    n_bare, n_mood, n_finite, n_other = counts.row(0)
    if n_finite > SLIPS * n_bare or n_bare < PROFILED or (not n_other and n_mood < PROFILED):
        return words
    unmarked_finite = with_mood if n_mood >= PROFILED else bare
    marked = pl.concat_str("feats", pl.lit("|VerbForm=Fin"))
    return words.with_columns(feats=pl.when(unmarked_finite).then(marked).otherwise("feats"))


def feature_of_predicate(trees: Trees, context: Context, *, feature: str) -> pl.DataFrame:
    """Candidates: the word of the main predicate that bears a feature, labelled with its value.

    The first place that has a bearer counts, if it has exactly one with one value. A compound tense is labelled as the
    language's data say and its target is the main verb. ``hindrance`` is the reason why a candidate cannot be used.
    """
    rule = context.language.section(PredicateRules)
    if feature == "Voice" and not rule.passive:
        # A treebank that marks no Voice, and the passive by relations (Afrikaans, Bavarian), decides by these; an
        # auxiliary that is also aux:pass leaves the voice undecided.
        deprel, voice = pl.col("deprel"), feat("Voice")
        n_passive, with_voice = trees.words.select(deprel.is_in(PASSIVE).sum(), voice=voice.is_not_null().any()).row(0)
        if n_passive >= PROFILED and not with_voice:
            lemmas = trees.words.filter(deprel="aux:pass")["lemma"].drop_nulls().unique().sort()
            active = (Condition(upos=frozenset({"VERB"})),)
            unsure = tuple(f"aux={lemma}" for lemma in lemmas)
            rule = msgspec.structs.replace(rule, passive=PASSIVE, active_if=active, unsure=unsure)
    if feature == "Voice" and rule.passive:
        values = _voice(trees, rule)
    else:
        words = trees.once(words_of_predicate)
        values = _bearers(words, feature, rule)
        if feature == "Voice":
            reflexive = trees.dependents.filter(pl.col("deprel").is_in(UNDECIDED))
            values = _hinder(values, pl.concat([_deponents(trees), reflexive]), "unclear-voice")
        if rule.tense == ("root",):
            # Where tense is an ending of the root, auxiliaries with the feature end the verb: Turkish *istemiyordum* (I
            # did not want) is *istemiyor*, Person=3, and the copula *dum*, Person=1.
            endings = words.filter(pl.col("depth") == 1, pl.col("upos") == "AUX", feat(feature).is_not_null())
            values = _hinder(values, endings, "person-on-copula")
        if feature == "Tense":  # beside a word of an unreal mood, a past form is no past (*написал бы*)
            unreal = words.filter(feat("Mood").is_in(UNREAL))
            values = _hinder(_label_compounds(trees, words, values, rule), unreal, "unreal-mood")
            values = _hinder(values, words.filter(feat("Mood") == "Imp"), "imperative")
    if feature in {"Tense", "Voice"} and trees.words["deprel"].is_in(PASSIVE_DEPENDENTS).any():
        # Treebanks call the auxiliary of some perfects `aux:pass` (French *elle est tombée*), but not their subjects.
        helped = trees.dependents.filter(pl.col("deprel").str.starts_with("aux:pass"))
        passives = trees.dependents.filter(pl.col("deprel").is_in(PASSIVE_DEPENDENTS))
        subjects = trees.dependents.filter(pl.col("deprel").is_in(["nsubj", "csubj"]), _in_sentences_of(helped))
        reason = "compound-tense" if feature == "Tense" else "unclear-voice"
        values = _hinder(values, subjects.filter(~_in_sentences_of(passives)), reason)
    label, undefined = label_columns(pl.col("value"), feature)
    excluded = ~pl.col("value").is_in(labels) if (labels := rule.labels.get(feature)) else pl.lit(value=False)
    other = pl.when(excluded).then(pl.lit("other-value"))
    # Above a root that is the verb of a clause that is the predicate: its subject or its copula.
    verbs = trees.roots.filter(pl.col("upos").is_in(VERBAL), feat("VerbForm") == "Fin")
    above = pl.col("deprel").is_in(OUTER) | ((pl.col("rel") == "cop") & pl.col("sent").is_in(verbs["sent"].implode()))
    return _hinder(values, trees.dependents.filter(above), "clausal-predicate").select(
        "sent", "target", label, hindrance=pl.coalesce("hindrance", other, undefined)
    )


def _hinder(rows: pl.DataFrame, words: pl.DataFrame, reason: str) -> pl.DataFrame:
    """The candidates, with a reason against those of the sentences of ``words`` that have none yet."""
    here = pl.when(_in_sentences_of(words)).then(pl.lit(reason))
    return rows.with_columns(hindrance=pl.coalesce("hindrance", here))


def _bearers(words: pl.DataFrame, feature: str, rule: PredicateRules) -> pl.DataFrame:
    """The word of each predicate that bears a feature: ``sent``, ``target``, ``value``, ``place``, ``hindrance``.

    It is the one word in the first place of the rule that has a bearer. Where the feature is on other words alone, or
    on several, one of them stands for the sentence, with the reason.
    """
    order = {place: number for number, place in enumerate(rule.places(feature))}
    conditions = rule.conditions(feature)
    bearing = words.filter(pl.col("upos").is_in(VERBAL), feat(feature).is_not_null()).with_columns(
        _order=pl.col("place").replace_strict(order, return_dtype=pl.Int8, default=None)
    )
    read = pl.col("_order").is_not_null() & (meets_any(conditions) if conditions else pl.lit(value=True))
    ranked = bearing.with_columns(_order=pl.when(read).then("_order").otherwise(len(order)))
    first = ranked.filter(pl.col("_order") == pl.col("_order").min().over("sent"))
    hindrance = pl.coalesce(
        pl.when(pl.col("_order") == len(order)).then(pl.lit("no-finite-form")),
        pl.when((pl.len().over("sent") > 1) | ~valued(feature)).then(pl.lit("several-bearers")),
    )
    described = first.select("sent", "place", target="row", value=feat(feature), hindrance=hindrance)
    return described.unique("sent", keep="first", maintain_order=True).sort("sent")


def _label_compounds(trees: Trees, words: pl.DataFrame, values: pl.DataFrame, rule: PredicateRules) -> pl.DataFrame:
    """The candidates, relabelled for the compound tenses that the rule lists; other compounds get a drop reason."""
    auxiliaries = trees.dependents.filter(pl.col("rel") == "aux")
    # Auxiliaries may mark the passive though their relation does not say so (aux=ser).
    lemmas = [mark.removeprefix("aux=") for mark in rule.passive if mark.startswith("aux=")]
    of_passive = auxiliaries.filter(pl.col("lemma").is_in(lemmas))["row"].implode()
    perfect = (pl.col("place") == "aux") & ~pl.col("target").is_in(of_passive)
    perfect &= _in_sentences_of(words.filter(_past_participle()))
    particles = words.filter(pl.col("place") == "aux", pl.col("feats").is_null())
    marked = words.filter(pl.col("deprel") == "aux:tense")
    reason = pl.when(perfect | _in_sentences_of(particles) | _in_sentences_of(marked)).then(pl.lit("compound-tense"))
    others = values.with_columns(hindrance=pl.coalesce("hindrance", reason))
    if rule.compound:
        parts = []
        for compound in rule.compound:
            helpers = auxiliaries.filter(pl.col("lemma").is_in(sorted(compound.aux)))
            if compound.aux_tense:
                helpers = helpers.filter(feat("Tense").is_in(sorted(compound.aux_tense)))
            verbs = trees.roots.filter(meets(compound.root))
            verbs = verbs.join(helpers.select("sent").unique(), on="sent", how="semi")
            parts.append(verbs.select("sent", target="row", value=pl.lit(compound.label, pl.String)))
        listed = pl.concat(parts)
    elif rule.tense == ("root",):
        listed = _participles_of_past(words)
    else:
        return others
    listed = listed.unique("sent", keep="first", maintain_order=True).with_columns(
        place=pl.lit("root"), hindrance=pl.when(pl.col("value").is_null()).then(pl.lit("compound-tense"))
    )
    return pl.concat(
        [others.join(listed, on="sent", how="anti"), listed.select(values.columns).cast(values.schema)]
    ).sort("sent")


def _past_participle() -> pl.Expr:
    """Whether a word is a participle, or supine, that makes a perfect with an auxiliary: no present participle."""
    imperfective = feat("Aspect").is_in(NOT_PERFECT).fill_null(value=False)
    participle = (feat("VerbForm") == "Part") & (feat("Tense") != "Pres").fill_null(value=True) & ~imperfective
    return (participle | (feat("VerbForm") == "Sup")).fill_null(value=False)


def _participles_of_past(words: pl.DataFrame) -> pl.DataFrame:
    """The main verbs of a past that is a participle: ``sent``, ``target``, ``value``; none where verbs have another.

    Alone or with a finite auxiliary in the present: Serbian *radio je*, Slovak *robil*; but not alone where most have
    an auxiliary, as Afrikaans *het gegaan*. Where a treebank has past forms
    too (*sagte* beside *hat gesagt*), the two differ in meaning.
    """
    finite, root = feat("VerbForm") == "Fin", pl.col("place") == "root"
    perfect = (pl.col("place") != "aux:pass") & finite & (feat("Tense") == "Pres")
    others = words.filter(~root & ~perfect.fill_null(value=False))
    active = (feat("Tense") == "Past") & (feat("Voice") != "Pass").fill_null(value=True)
    verbs = words.filter(root, pl.col("upos") == "VERB", _past_participle(), active, ~_in_sentences_of(others))
    helped = verbs.filter(_in_sentences_of(words.filter(~root)))
    verbs = helped if 2 * helped.height > verbs.height else verbs
    unreal = feat("Mood").is_in(UNREAL).fill_null(value=False)
    pasts = words.filter(pl.col("upos") == "VERB", finite & feat("Tense").is_in(["Past", "Imp"]) & ~unreal)
    is_past = verbs.height >= PROFILED and pasts.height <= FEW_PASTS * verbs.height
    return (verbs if is_past else verbs.clear()).select("sent", target="row", value=pl.lit("Past"))


def _voice(trees: Trees, rule: PredicateRules) -> pl.DataFrame:
    """Roots in the passive by one of its marks, or in the active: ``sent``, ``target``, ``value``, ``hindrance``.

    With a copula the root is an infinitive (*my plan is to sell it*) or a participle that names a state. A root with a
    mark is undecided with a reflexive pronoun, an object, an auxiliary that makes no passive, a verb that has none, or
    a relation that leaves the voice undecided.
    """
    deprel, rel, person, dependents = pl.col("deprel"), pl.col("rel"), feat("Person"), trees.dependents
    # A pronoun that stands for the subject: *se*, or *me* beside *je*.
    pronoun, speaker = pl.col("upos") == "PRON", person.is_in(["1", "2"])
    same = speaker & (person == person.filter(pronoun & (rel == "nsubj") & speaker).first().over("sent"))
    reflexive = pronoun & rel.is_in(["obj", "iobj", "expl"]) & ((feat("Reflex") == "Yes") | same)
    unsure = [mark for mark in rule.unsure if "=" not in mark]
    against = [deprel.is_in([*REFLEXIVE, *unsure]), reflexive.fill_null(value=False) & ~deprel.is_in(rule.passive)]
    if not rule.passive_object:
        against.append(rel == "obj")
    if rule.passive_aux:
        makes_passive = pl.col("lemma").is_in(sorted(rule.passive_aux)).fill_null(value=False)
        against.append((deprel == "aux:pass") & ~makes_passive)
    never = pl.col("lemma").is_in(sorted(rule.never_passive)).fill_null(value=False)
    # Infinitives below the root that are passive: the subject of *pode ser visualizado* is that of a passive.
    helped = trees.governing(deprel.str.starts_with("aux:pass"))["row"].implode()
    passive_word = pl.col("row").is_in(helped) | (feat("Voice") == "Pass").fill_null(value=False)
    of_subject = [mark for mark in rule.passive if mark in PASSIVE_DEPENDENTS]
    facts = trees.roots.with_columns(
        _verb=_has_mark(trees, [mark for mark in rule.passive if mark not in of_subject]),
        _subject=_has_mark(trees, of_subject),
        _below=_in_sentences_of(dependents.filter(rel == "xcomp", passive_word)),
        _raised=_in_sentences_of(dependents.filter(rel == "xcomp")),
        _against=_in_sentences_of(dependents.filter(pl.any_horizontal(against))) | never,
        _unsure=_has_mark(trees, (*UNDECIDED, *rule.unsure)),
        _copular=_in_sentences_of(dependents.filter(rel == "cop")),
        _passive=meets_any(rule.passive_if) if rule.passive_if else pl.lit(value=True),
        _active=meets_any(rule.active_if),
    )
    passive_undecided = pl.when("_verb").then("_against").otherwise(pl.col("_raised") | pl.col("_against"))
    marked = pl.col("_verb") | pl.col("_subject")
    undecided = pl.when(marked).then(passive_undecided).otherwise(pl.col("_unsure") | pl.col("_below"))
    passive, active = marked & pl.col("_passive"), ~marked & pl.col("_active")
    decided = pl.when(passive).then(pl.lit("Pass")).when(active).then(pl.lit("Act"))
    value = pl.when(~undecided & ~pl.col("_copular")).then(decided)
    participle = (pl.col("upos") == "ADJ") & (feat("VerbForm") == "Part")
    verbal = (pl.col("upos").is_in(VERBAL) | participle) & spelled_out()
    return facts.filter(verbal).select(
        "sent", target="row", value=value, hindrance=pl.when(value.is_null()).then(pl.lit("unclear-voice"))
    )


def _deponents(trees: Trees) -> pl.DataFrame:
    """The roots that are passive in form alone (Latin *hortatur*), where a treebank tells passive subjects.

    A verb is a deponent if its passive forms have active subjects and objects more often than passive subjects, or if
    they have neither and the verb has no active form.
    """
    deprel, voice = pl.col("deprel"), feat("Voice")
    if trees.words.filter(deprel == "nsubj:pass").height < PROFILED:
        return trees.roots.clear()
    governed = trees.words.group_by(row="head_row").agg(
        active=deprel.is_in(["nsubj", "obj"]).sum(), passive=(deprel == "nsubj:pass").sum()
    )
    verbs = trees.words.join(governed, on="row", how="left")
    counts = verbs.filter(voice == "Pass").group_by("lemma").agg(pl.col("active", "passive").sum())
    also_active = pl.col("lemma").is_in(trees.words.filter(voice == "Act")["lemma"].unique().implode())
    alone = (pl.col("active") + pl.col("passive") == 0) & ~also_active
    deponent = counts.filter((pl.col("active") > pl.col("passive")) | alone)["lemma"].drop_nulls()
    return trees.roots.filter(voice == "Pass", pl.col("lemma").is_in(deponent.implode()))


def _has_mark(trees: Trees, marks: Iterable[str]) -> pl.Expr:
    """Whether a root has one of the marks of the language's data (``PredicateRules.passive``)."""
    present = [pl.lit(value=False)]
    for mark in marks:
        kind, _, value = mark.partition("=")
        if not value:
            present.append(_in_sentences_of(trees.dependents.filter(pl.col("deprel") == mark)))
        elif kind == "aux":
            lemma, _, form = value.partition("/")
            helped = _in_sentences_of(trees.dependents.filter(pl.col("rel") == "aux", pl.col("lemma") == lemma))
            present.append(helped & (feat("VerbForm") == (form or "Part")).fill_null(value=False))
        else:
            present.append((feat(kind) == value).fill_null(value=False))
    return pl.any_horizontal(present)


def _in_sentences_of(words: pl.DataFrame) -> pl.Expr:
    """Whether a row is of a sentence that one of the words is in."""
    return pl.col("sent").is_in(words["sent"].unique().implode())


class ImpersonalRules(Availability, frozen=True):
    """The section ``[impersonal]``: which clauses without ``nsubj``, ``csubj`` and ``expl`` are impersonal.

    The conditions are on root, auxiliaries and copula.

    Attributes:
        personal: a clause in which a word meets one of them has an unexpressed personal subject and is left out.
        impersonal: else, a clause in which a word meets one of them is impersonal; any other is left out.
    """

    section: ClassVar[str] = "impersonal"
    available: bool = False
    reason: str = "no rule for this language tells a dropped personal subject from none"
    impersonal: tuple[Condition, ...] = ()
    personal: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        if self.available != bool(self.impersonal):
            raise ValueError("`impersonal` needs conditions where the task is available, and only there")


SUBJECTS = ("nsubj", "csubj", "expl")
FORM = ("VerbForm", "Person", "Mood", "Tense", "Number", "Gender", "Voice")
"""What of the form of root and auxiliaries is the same for both labels."""


def personal_or_impersonal(trees: Trees, context: Context) -> pl.DataFrame:
    """Candidates: the main clauses that have a subject, ``personal``, and those that take none, ``impersonal``.

    Clauses that could have a subject that was dropped are left out; so are infinitives that have a finite auxiliary:
    Russian *будет читать* has a dropped subject, though its infinitive does not show this. The ``cell`` says in which
    form root and finite auxiliaries are, with the lemmas of the auxiliaries.
    """
    rule, words = context.language.section(ImpersonalRules), trees.once(words_of_predicate)
    root, form = pl.col("place") == "root", feat("VerbForm")
    silent = root & (form == "Inf") & (~root & (form == "Fin")).any().over("sent")
    telling = words.filter(~silent.fill_null(value=False))
    dropped, impersonal = (
        _in_sentences_of(telling.filter(meets_any(conditions))) for conditions in (rule.personal, rule.impersonal)
    )
    finite = words.filter(~root, form == "Fin").sort("sent", "index")
    helpers = finite.group_by("sent").agg(helpers=_describe(pl.col("lemma").fill_null("")).str.join(" + "))
    subject = pl.col("rel") == "nsubj"
    unlike = (pl.col("upos") == "ADV") | ~context.language.section(ArgumentRules).of("nsubj").in_case()
    clauses = with_dependents(
        trees.roots, trees.dependents, subject=subject.any() & ~(subject & unlike).any(),
        any=pl.col("rel").is_in((*SUBJECTS, "ccomp")).any(),
    ).join(helpers, on="sent", how="left", maintain_order="left")  # fmt: skip
    has_none = ~pl.col("any") & ~dropped & impersonal
    label = pl.when("subject").then(pl.lit("personal")).when(has_none).then(pl.lit("impersonal"))
    cell = pl.concat_str(_describe(pl.col("upos").cast(pl.String)), pl.col("helpers").fill_null(""), separator=" + ")
    formless = (pl.col("upos") == "VERB") & form.is_null()
    return clauses.filter(~formless).select("sent", label=label, cell=cell).drop_nulls("label")


def _describe(name: pl.Expr) -> pl.Expr:
    """A word by a name and its form.

    Person=0 counts as 3: the zero person of Finnish has the form of the third (*voi*). Where it is a form of its own
    (Ukrainian *-но*), mood and tense keep it apart.
    """
    form = [feat(feature).fill_null("") for feature in FORM if feature != "Person"]
    return pl.concat_str(name, feat("Person").replace("0", "3").fill_null(""), *form, separator=" ")
