"""Sentences in CoNLL-U that are written by hand: stories with coreference, and clauses with connectives."""

import re

STORIES = {
    "en": ("{a} came to the house.", "She:a met {b} at the door.", "{b} laughed for hours.", "She:b left after that."),
    "fr": (
        "{a} entra dans la maison.",
        "Elle:a rencontra {b} dehors.",
        "{b} riait sans fin.",
        "Elle:b partit le soir.",
    ),
    "nl": ("{a} kwam naar het huis.", "Zij:a ontmoette {b} bij huis.", "{b} lachte heel lang.", "Ze:b ging naar bed."),
    "de": ("{a} kam in das Haus.", "Sie:a traf {b} vor der Tür.", "{b} lachte sehr lange.", "Sie:b ging am Abend."),
}
"""A story of two women: the third sentence has another subject than the second, the others go on with theirs."""
NAMES = [("Anna", "Berta"), ("Clara", "Dora"), ("Emma", "Fanny"), ("Gerda", "Hilda Lund"), ("Ida Berg", "Jenny Holm")]
PRONOUNS = {"i", "she", "her", "he", "they", "elle", "il", "zij", "ze", "sie"}


def sentence(name, text):
    """CoNLL-U of a sentence of ``form`` or ``form:entity``; its first mention is the subject of the next word.

    A name of two words is written ``Ida_Berg:a``.
    """
    words = []
    for written in text.removesuffix(".").split():
        forms, _, entity = written.partition(":")
        parts = forms.split("_")
        opened = [f"({entity}", *[""] * (len(parts) - 1)]
        closed = [*[""] * (len(parts) - 1), ")" if len(parts) == 1 else f"{entity})"]
        marks = [opening + closing if entity else "" for opening, closing in zip(opened, closed, strict=True)]
        words += [(part, entity, marks[n], len(words) + 1 if n else 0) for n, part in enumerate(parts)]
    subject = next((n for n, word in enumerate(words) if word[1]), 0)
    verb = next(n for n, word in enumerate(words) if n > subject and not word[3]) + 1
    lines = []
    for n, (form, entity, mark, head) in enumerate(words, 1):
        upos = "VERB" if n == verb else "NOUN" if not entity else "PRON" if form.lower() in PRONOUNS else "PROPN"
        relation = "root" if n == verb else "flat" if head else "nsubj" if n == subject + 1 else "dep"
        misc = [f"Entity={mark}"] * bool(mark) + ["SpaceAfter=No"] * (n == len(words))
        above = 0 if n == verb else head or verb
        lines.append(f"{n}\t{form}\t{form.lower()}\t{upos}\t_\t_\t{above}\t{relation}\t_\t{'|'.join(misc) or '_'}")
    lines.append(f"{len(words) + 1}\t.\t.\tPUNCT\t_\t_\t{verb}\tpunct\t_\t_")
    shown = " ".join(word[0] for word in words)
    return "\n".join([f"# sent_id = {name}", f"# text = {shown}.", *lines]) + "\n\n"


def document(number, sentences, **names):
    """A document; ``{a}`` in a sentence stands for the name of entity ``a``."""
    told = {entity: f"{name.replace(' ', '_')}:{entity}" for entity, name in names.items()}
    texts = [sentence(f"{number}.{n}", text.format(**told)) for n, text in enumerate(sentences, 1)]
    return f"# newdoc id = d{number}\n# global.Entity = eid\n" + "".join(texts)


def stories(lang):
    return [document(n, STORIES[lang], a=a, b=b) for n, (a, b) in enumerate(NAMES)]


def connective_sentence(number, name, connective, *, following="she", opening=False, elided=False):
    """*Kim12 left early, because she met Ann12 there.*, or the clause first; only the text is given."""
    clause = f"{connective}{'' if elided else ' '}{following} met Ann{number} there"
    text = f"{clause[0].upper()}{clause[1:]}, {name}{number} left." if opening else f"{name}{number} left, {clause}."
    words = re.finditer(r"\w+['’]|\w+|[^\w\s]", text)
    lines = [
        f"{n}\t{word[0]}" + "\t_" * 7 + ("\t_" if text[word.end() :].startswith(" ") else "\tSpaceAfter=No")
        for n, word in enumerate(words, 1)
    ]
    return f"# sent_id = {name}{number}{following}\n# text = {text}\n" + "\n".join(lines) + "\n\n"


def words(*lines):
    """A sentence in CoNLL-U, from ``form lemma UPOS feats head relation``, with its text."""
    rows = [line.split() for line in lines]
    text = " ".join(row[0] for row in rows).replace(" .", ".")
    space = ["_"] * (len(rows) - 2) + ["SpaceAfter=No", "_"]
    table = [
        f"{at}\t{form}\t{lemma}\t{upos}\t_\t{feats}\t{head}\t{relation}\t_\t{space[at - 1]}"
        for at, (form, lemma, upos, feats, head, relation) in enumerate(rows, 1)
    ]
    return text, "\n".join(table)
