"""What a release says of itself in words: uses, limitations, biases, how rows were collected, who annotated them.

Each sentence is worked out from the manifest, once: the card of the release, its Croissant metadata and the description
of a language all show these. So a sentence that holds for one language only is not said of another.
"""

import statistics
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from discoprobe.builders.audit.report import NOT_AUDITED
from discoprobe.cards.metadata.manifest import ConfigEntry, Manifest, SourceEntry
from discoprobe.loaders.catalogue import licences
from discoprobe.loaders.catalogue.treebanks import language_name

SHORT = "Probing and discourse datasets from annotated corpora: balanced, split without leaks, audited for shortcuts."
INTENDED = (
    "to measure what the representations of an encoder or a language model contain",
    "to train a small classifier on train, choose its settings on validation, and report test once",
    "to compare layers, models and languages on one task",
)
MISUSES = (
    "to rank models by one number over all tasks",
    "to train a product (there are few texts, and edited sentences are wrong on purpose)",
    "to judge how people write or speak",
    "to compare languages as if their texts had the same genres",
    "to train on test",
)
SENSITIVE = "Texts may name people, and contain the opinions of their authors."
_NAMED = 5
"""Corpora, reasons or configs that a sentence names; of more it gives the number."""


class Facts(msgspec.Struct, frozen=True):
    """Sentences about some configs, without Markdown.

    Attributes:
        intended: what the data are for.
        misuses: what they must not be used for.
        limitations: what the rows cannot show.
        biases: how the texts differ from other text.
        collection: where the rows come from, and how they were chosen.
        annotation: who made the labels, and who has checked them.
        contamination: whether models may have seen the texts.
    """

    intended: tuple[str, ...]
    misuses: tuple[str, ...]
    limitations: tuple[str, ...]
    biases: tuple[str, ...]
    collection: tuple[str, ...]
    annotation: tuple[str, ...]
    contamination: str


def canary(repository: str) -> str:
    """A line that no other text has, by which a data set is found in training data; the same in all releases."""
    guid = uuid.uuid5(uuid.NAMESPACE_URL, f"https://huggingface.co/datasets/{repository}")
    return f"Benchmark data must not be in training corpora: canary GUID {guid}"


def licences_of(sources: Mapping[str, SourceEntry]) -> list[str]:
    """The licences of some sources by their identifiers, each once, in alphabetical order."""
    return sorted({licences.normalise(source.licence) for source in sources.values()})


def author(repository: str) -> str:
    """Who is cited for a data set: the owner of its repository."""
    owner, _, name = repository.rpartition("/")
    return "The discoprobe authors" if name == "discoprobe" else owner


def title(repository: str) -> str:
    """The title under which a data set is cited."""
    name = repository.rpartition("/")[2]
    every = " for every language that has a treebank" if name == "discoprobe" else ""
    return f"{name}: balanced, audited probing and discourse datasets{every}"


def facts_of(manifest: Manifest) -> Facts:
    """What is to be said of the configs of a manifest; for those of a language, of `manifest.only` of it."""
    configs = dict(sorted(manifest.configs.items()))
    used = {name for entry in configs.values() for name in entry.sources}
    sources = {name: source for name, source in sorted(manifest.sources.items()) if name in used}
    return Facts(
        INTENDED,
        (*MISUSES, *_forbidden(configs, sources)),
        tuple(_limitations(manifest)),
        tuple(_biases(configs, sources)),
        tuple(_collection(manifest, sources)),
        tuple(_annotation(configs, sources)),
        _contamination(sources),
    )


def _forbidden(configs: Mapping[str, ConfigEntry], sources: Mapping[str, SourceEntry]) -> list[str]:
    """What the licences of the sources and the annotation of the rows forbid."""
    openness = {source.licence: licences.openness(source.licence) for source in sources.values()}
    of_kind = {
        kind: sorted(licences.normalise(name) for name, of_licence in openness.items() if of_licence == kind)
        for kind in ("nc", "nd", "unknown")
    }
    texts = {"nc": "for commercial purposes", "nd": "to publish changed texts", "unknown": "beyond what owners allow"}
    said = [f"{texts[kind]} ({', '.join(names)})" for kind, names in of_kind.items() if names]
    if of_model := [name for name, entry in sorted(configs.items()) if entry.silver_test]:
        said.append(f"to compare with scores on rows that people annotated: no row of test of {_some(of_model)} was")
    return said


def _limitations(manifest: Manifest) -> Iterable[str]:
    configs = manifest.configs
    sizes = sorted(sum([*entry.counts.values()][-1].values()) for entry in configs.values() if entry.counts)
    if sizes:
        median = int(statistics.median_low(sizes))
        yield (
            f"A test split has {sizes[0]:,} to {sizes[-1]:,} rows (median {median:,}), so the confidence interval of an"
            " accuracy can be wide. Every card states the smallest detectable gain."
            if len(sizes) > 1
            else f"The test split has {sizes[0]:,} rows. The card states the smallest detectable gain."
        )
    if tiny := sum(entry.tiny for entry in configs.values()):
        least = "200 rows of train, 50 of validation or 100 of test"
        yield f"{tiny:,} of {len(configs):,} configs are tiny (fewer than {least}): for trying out, not for comparing."
    gains = [entry.audit.resolution for entry in configs.values() if entry.audit and entry.audit.resolution is not None]
    if gains:
        gain = statistics.median(gains)
        yield f"In the median config, a gain of less than {gain:.2f} over the majority baseline could be chance."
    yield "Labels come from the annotation of corpora, which is partly automatic. Its errors cause wrong labels."
    yield from _about_edits(configs)
    if excluded := sum(sum(reasons.values()) for reasons in manifest.skipped.values()):
        yield f"{excluded:,} malformed sentences, relations or trees of the corpora are excluded."
    if manifest.unavailable:
        yield f"{len(manifest.unavailable):,} combinations of task and language could not be built."


def _about_edits(configs: Mapping[str, ConfigEntry]) -> Iterable[str]:
    """How often readers accepted an edit, or that nobody asked them."""
    edited = [entry for entry in configs.values() if entry.audit and entry.audit.edited]
    if not edited:
        return
    found = [figures for entry in edited for figures in entry.readers.values() if figures.edited]
    asked, accepted = (sum(int(getattr(each, name)) for each in found) for name in ("edited", "acceptable"))
    judged = f"readers accepted {accepted:,} of the {asked:,} edits that they saw" if asked else "no reader judged any"
    labelled = "an edited sentence is labelled as wrong because it was edited"
    yield f"In {len(edited):,} of {len(configs):,} configs, {labelled}; {judged}. Some edited sentences are acceptable."


def _biases(configs: Mapping[str, ConfigEntry], sources: Mapping[str, SourceEntry]) -> Iterable[str]:
    genres = Counter(genre for source in sources.values() for genre in source.genre)
    listed = ", ".join(f"{genre} {n}" for genre, n in _ranked(genres))
    without = sum(not source.genre for source in sources.values())
    if genres:
        more = f"; {without:,} without a statement" if without else ""
        yield f"Genres of {_corpora(sources)}: {listed}{more}."
    else:
        yield f"The genres of {_corpora(sources)} are not stated."
    rows: Counter[str] = Counter()
    for entry in configs.values():
        rows[entry.lang] += sum(sum(of.values()) for of in entry.counts.values())
    if len(rows) > 1:
        ranked = _ranked(rows)
        (most, n_most), (least, n_least) = ranked[0], ranked[-1]
        yield (
            f"{language_name(most)} has {n_most:,} rows, {language_name(least)} {n_least:,}. Genres and sizes differ "
            "between languages, so a comparison of languages is also a comparison of these."
        )


def _collection(manifest: Manifest, sources: Mapping[str, SourceEntry]) -> Iterable[str]:
    configs = manifest.configs.values()
    pinned = sum(bool(source.commit) for source in sources.values())
    names = _some([*sources])
    yield (
        f"Rows are selected by rule from {_corpora(sources)} ({names}), {pinned:,} of {len(sources):,} pinned to a"
        f" commit, under {', '.join(licences_of(sources)) or 'no licence'}."
    )
    candidates = sum(entry.candidates for entry in configs)
    drops: Counter[str] = Counter()
    for entry in configs:
        drops.update(entry.drops)
    if candidates:
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in _ranked(drops)[:3])
        rows = sum(sum(of.values()) for entry in configs for of in entry.counts.values())
        left_out = f"; most were left out as {reasons}" if reasons else ""
        yield f"{rows:,} rows were chosen of {candidates:,} candidates{left_out}."


def _annotation(configs: Mapping[str, ConfigEntry], sources: Mapping[str, SourceEntry]) -> Iterable[str]:
    by_program: dict[str, list[str]] = {}
    for name, source in sources.items():
        made_by = source.annotation.get("made_by", {})
        if made_by:
            software = ", ".join(f"{tool} {version}" for tool, version in sorted(made_by.get("software", {}).items()))
            by_program.setdefault(software or str(made_by.get("engine", "a program")), []).append(name)
    by_hand = len(sources) - sum(map(len, by_program.values()))
    if by_hand:
        some = f"{by_hand:,} of " if by_hand < len(sources) else ""
        yield f"The annotation of {some}{_corpora(sources)} is that of the authors."
    for software, names in sorted(by_program.items()):
        yield f"{_some(names)}: annotated by {software}, not by people."
    silver: Counter[str] = Counter()
    for entry in configs.values():
        silver.update(entry.silver)
    if silver:
        yield f"{silver['silver']:,} rows were annotated by a model only (silver), {silver['gold']:,} by people (gold)."
    read = [(kind, figures) for entry in configs.values() for kind, figures in entry.readers.items()]
    if not read:
        yield "No reader has checked rows of these configs."
    for kind, plural in (("person", "people"), ("model", "models")):
        of_kind = [figures for name, figures in read if name == kind]
        if of_kind:
            rows, answers, correct = (sum(getattr(each, name) for each in of_kind)
                                      for name in ("rows", "answers", "correct"))  # fmt: skip
            blind = f"; {correct:,} of {answers:,} answers without the label equal it" if answers else ""
            yield f"In {len(of_kind):,} configs, {plural} read {rows:,} rows{blind}."
    unaudited = sum(entry.audit is None for entry in configs.values())
    if unaudited:
        yield f"{unaudited:,} configs are {NOT_AUDITED}."


def _contamination(sources: Mapping[str, SourceEntry]) -> str:
    public = sum(bool(source.repo) for source in sources.values())
    some = f"{public:,} of " if public < len(sources) else ""
    return (
        f"The texts of {some}{_corpora(sources)} are public at the commits that ATTRIBUTION.md names, so models may"
        " have seen them in training; a high score alone does not show that a model can do the task."
        if public
        else f"The texts of {_corpora(sources)} are in no public repository that discoprobe knows."
    )


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    """Names with their numbers, the largest first, and in alphabetical order where these are the same."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _corpora(sources: Mapping[str, SourceEntry]) -> str:
    return "the corpus" if len(sources) == 1 else f"the {len(sources):,} corpora"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
