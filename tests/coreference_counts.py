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


def of_brat(text, annotation, doc, *, tokenised=False):
    """Mentions of a file of brat: how many there are of each document and text without blanks; the sizes of chains.

    Of a tokenised text, mentions count that begin and end beside a blank.
    """
    spans = dict(re.findall(r"(?m)^(T\d+)\t\S+ ([\d ;]+)", annotation))
    texts = {
        name: "".join(text[a:b] for a, b in sorted((int(a), int(b)) for a, b in re.findall(r"(\d+) (\d+)", span)))
        for name, span in spans.items()
    }
    edges = {name: [int(edge) for edge in re.findall(r"\d+", span)] for name, span in spans.items()}
    inside = {name for name, each in edges.items() if "\n" not in text[min(each) : max(each)].strip()}
    if tokenised:
        beside = [(edge, f" {text} "[edge : edge + 2]) for each in edges.values() for edge in each]
        cut = {edge for edge, around in beside if not re.search(r"\s", around)}
        inside = {name for name in inside if not cut & set(edges[name])}
    chain = {name: {name} for name in spans}
    for one, other in re.findall(r"(?m)^R\d+\tCoref\w* Arg1:(T\d+) Arg2:(T\d+)", annotation):
        if chain[one] is not chain[other]:
            chain[one] |= chain[other]
            for name in chain[other]:
                chain[name] = chain[one]
    counted = Counter((doc, re.sub(r"\s", "", texts[name])) for name in inside)
    distinct = {id(names): len(names & inside) for names in chain.values()}
    return counted, sorted(filter(None, distinct.values()))


def of_links(links):
    """The sizes of chains, from pairs of mentions: mentions that are joined by any number of pairs are one chain."""
    chains = []
    for pair in links:
        touched = [chain for chain in chains if chain & set(pair)]
        chains = [chain for chain in chains if chain not in touched] + [set(pair).union(*touched)]
    return chains


def of_webanno(text):
    """The sizes of the chains of a file of WebAnno, with the number of words of every mention in ``*->7-2`` cells."""
    links = Counter(re.findall(r"\*->(\d+)-(\d+)", text))
    return Counter(Counter(chain for chain, _ in links).values()), sum(links.values())


def of_knp(text):
    """The sizes of the chains of a file of KNP, without base phrases of sentences that were in brackets."""
    links, left_out = [], set()
    for block in text.split("EOS\n"):
        for at, line in enumerate(re.findall(r"(?m)^\+ .*", block)):
            sid = re.search(r"S-ID:(\S+)", block)[1]
            left_out |= {(sid, str(at))} if "括弧始" in block.split("\n")[0] else set()
            links += [
                ((sid, str(at)), target)
                for target in re.findall(r'type="=" target="[^"]*" sid="(\S+)" id="(\d+)"', line)
            ]
    return Counter(filter(None, (len(chain - left_out) for chain in of_links(links))))
