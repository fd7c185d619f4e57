"""Corpora in which every task can be built block by block: copies of the sample, and text for layers it lacks."""

import importlib.util
import itertools
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from discourse_corpora import write_many, write_trees
from made_sentences import connective_sentence, stories, words
from shared import ROOT, sample_file

COMMENTS: dict[str, Callable[[int], str]] = {
    "es": lambda n: f"section_number = {n // 3 % 3}",
    "ru": lambda n: f"speaker = {'AB'[n // 3 % 2]}",
}
"""What copies of the sample say of each sentence in addition, by its number."""


def load_script(name: str) -> ModuleType:
    """A module of ``scripts``, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def write_copies(folder: Path, lang: str, copies: int) -> Path:
    """A folder of copies of the sample, each a treebank with words of its own (see ``scripts/benchmark.py build``)."""
    numbers = itertools.count()
    lines = sample_file(lang).read_text(encoding="utf-8").split("\n")
    if comment := COMMENTS.get(lang):
        lines = [f"# {comment(next(numbers))}\n{line}" if line.startswith("# sent_id") else line for line in lines]
    source = folder / "source" / sample_file(lang).name
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text("\n".join(lines), encoding="utf-8")
    load_script("benchmark").copy_corpus(source, folder, copies)
    source.unlink()
    for path in sorted(source.parent.iterdir()):
        number = path.stem.rpartition("-")[2]
        home = folder / lang / f"UD_Copy-{number}"
        home.mkdir(parents=True)
        path.rename(home / f"{lang}_copy{number}-ud-test.conllu")
    return folder / lang


def write_corpora(folder: Path) -> dict[str, Path]:
    """A folder of corpora for each of five languages, of several blocks of 20 kB; every task can be built from one."""
    copies = {"en": 5, "es": 16, "ru": 6}
    corpora = {lang: write_copies(folder, lang, n) for lang, n in copies.items()} | {
        lang: folder / lang for lang in ("de", "uk")
    }
    relations = corpora["en"] / "relations"
    relations.mkdir()
    write_trees(write_many(relations, "eng.pdtb.made", 40), 40)
    connectives = {"Kim": "because", "Tim": "although"}
    clauses = [connective_sentence(n, name, word) for name, word in connectives.items() for n in range(40)]
    texts_of = {
        "en": {"stories": stories("en"), "clauses": clauses, "coordination": coordinated_clauses(120)},
        "ru": {"clauses": impersonal_clauses(100)},
        "uk": {f"clauses{n}": impersonal_clauses(480)[n::4] for n in range(4)},
        "de": {f"lexicon{seed}": lexicon(seed) for seed in range(4)},
    }
    for lang, name in [(lang, name) for lang, texts in texts_of.items() for name in texts]:
        home = corpora[lang] / f"UD_Made-{name}"
        home.mkdir(parents=True)
        (home / f"{lang}_{name}-ud-test.conllu").write_text("".join(texts_of[lang][name]), encoding="utf-8")
    return corpora


def lexicon(seed: int) -> list[str]:
    """Sentences of made-up nouns: 1,500 that are in eight sentences each, and twelve rarer ones that are in six."""
    source = random.Random(seed)
    common = made_words("ba de fi go ku la mer nos pil rut sav tez", 1500)
    rare = made_words("bra dre fri gro kru lar mir nus pol ret siv tuz", 12) * 6
    rounds = [noun for _ in range(8) for noun in source.sample(common, len(common))]
    sentences = []
    for n, nouns in enumerate(zip(*[iter(rounds)] * 8, strict=True)):
        forms = [*nouns[: n % 9], *rare[n : n + 1], *nouns[n % 9 :]]
        lines = [f"{noun} {noun} NOUN _ {place} {'dep' if place else 'root'}" for place, noun in enumerate(forms)]
        text, table = words(*lines, ". . PUNCT _ 1 punct")
        sentences.append(f"# sent_id = lexicon{seed}-{n}\n# text = {text}\n{table}\n\n")
    return sentences


def made_words(syllables: str, n: int) -> list[str]:
    """The first ``n`` words of three of these syllables."""
    return ["".join(parts) for parts in itertools.islice(itertools.product(syllables.split(), repeat=3), n)]


VERB = "VERB Gender=Neut|Mood=Ind|Number=Sing|Tense=Past|VerbForm=Fin 0 root"


def impersonal_clauses(n: int) -> list[str]:
    """Russian clauses of a neuter verb, with a subject and without, and an oblique noun in two cases."""
    stems = made_words("бар вед гом дун жив кир лем мос нал пит рос сут", 4 * n)
    sentences = []
    for at, (subject, verb, noun, name) in enumerate(zip(*[iter(stems)] * 4, strict=True)):
        case, ending = (("Ins", "ом"), ("Dat", "ям"))[at // 2 % 2]
        first = (
            f"{subject}о {subject}о NOUN Case=Nom|Gender=Neut|Number=Sing 3 nsubj"
            if at % 2
            else f"{subject}е {subject}е ADV _ 3 advmod"
        )
        text, table = words(
            first, "вчера вчера ADV _ 3 advmod", f"{verb}ло {verb}ть {VERB}",
            f"{noun}{ending} {noun} NOUN Case={case}|Gender=Masc|Number=Sing 3 obl",
            f"{name.title()} {name} PROPN _ 4 flat", ". . PUNCT _ 3 punct",
        )  # fmt: skip
        sentences.append(f"# sent_id = clause-{at}\n# text = {text}\n{table}\n\n")
    return sentences


def coordinated_clauses(n: int) -> list[str]:
    """English coordinations of two clauses; in every second one the other clause has no verb, but an adjective more."""
    stems = made_words("ab el ig om ut ad en ir os ul", 5 * n)
    sentences = []
    for at, (subject, verb, thing, other, last) in enumerate(zip(*[iter(stems)] * 5, strict=True)):
        second = (
            [
                f"{other.title()} {other} PROPN _ 2 conj",
                f"{last}y {last}y ADJ _ 7 amod",
                f"{last} {last} NOUN _ 5 orphan",
            ]
            if at % 2
            else [
                f"{other.title()} {other} PROPN _ 6 nsubj",
                f"{last}s {last} VERB _ 2 conj",
                f"{last} {last} NOUN _ 6 obj",
            ]
        )
        text, table = words(
            f"{subject.title()} {subject} PROPN _ 2 nsubj", f"{verb}s {verb} VERB _ 0 root",
            f"{thing} {thing} NOUN _ 2 obj", f"and and CCONJ _ {6 - at % 2} cc", *second, ". . PUNCT _ 2 punct",
        )  # fmt: skip
        sentences.append(f"# sent_id = coordination-{at}\n# text = {text}\n{table}\n\n")
    return sentences
