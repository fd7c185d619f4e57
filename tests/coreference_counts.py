"""Mentions and entities of coreference, counted from the files by a few lines that share no code with the readers."""

import re
from collections import Counter


def of_conll(text):
    """Mentions of a file of CoNLL-2012: how many there are of each document, entity and text inside one sentence."""
    mentions, doc, opened, words = {}, "", [], []
    for number, line in enumerate(text.split("\n")):
        if line.startswith("#begin"):
            name, part = re.match(r"#begin document \((.*?)\)(?:; part (\d+))?", line).groups()
            doc, opened = name if int(part or 0) == 0 else f"{name}.{int(part)}", []
        elif not line.strip():
            opened, words = [], []
        elif not line.startswith("#"):
            cells = line.split("\t") if "\t" in line else line.split()
            words.append(cells[3])
            for mark in re.findall(r"\(\w+\)?|\w+\)", cells[-1]):
                name = mark.strip("()")
                if mark[0] == "(":
                    opened.append((name, len(words) - 1))
                if mark[-1] == ")" and (begun := [each for each in opened if each[0] == name]):
                    opened.remove(begun[-1])
                    mentions[name, number, len(words) - begun[-1][1]] = doc, name, " ".join(words[begun[-1][1] :])
    return Counter(mentions.values())


def of_brat(text, annotation, doc):
    """Mentions of a file of brat: how many there are of each document and text without blanks; the sizes of chains."""
    spans = dict(re.findall(r"(?m)^(T\d+)\t\S+ ([\d ;]+)", annotation))
    texts = {
        name: "".join(text[int(a) : int(b)] for a, b in re.findall(r"(\d+) (\d+)", span))
        for name, span in spans.items()
    }
    inside = {name for name, shown in texts.items() if "\n" not in shown.strip()}
    chain = {name: {name} for name in spans}
    for one, other in re.findall(r"(?m)^R\d+\tCoreference Arg1:(T\d+) Arg2:(T\d+)", annotation):
        if chain[one] is not chain[other]:
            chain[one] |= chain[other]
            for name in chain[other]:
                chain[name] = chain[one]
    counted = Counter((doc, re.sub(r"\s", "", texts[name])) for name in inside)
    distinct = {id(names): len(names & inside) for names in chain.values()}
    return counted, sorted(filter(None, distinct.values()))
