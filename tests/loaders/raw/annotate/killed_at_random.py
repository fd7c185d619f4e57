"""Annotates in child processes that are killed at random points, and prints what came of it as JSON.

A child is a fork, so that the models are loaded once and a kill falls into the work, not into the loading.
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))
from raw_cases import annotated, document
from shared import STANZA, tree_of

from discoprobe.loaders.raw import AnnotationOptions, RuleEngine, choose_engine

LINES = [f"Die Katze Nummer {n} schläft. ... Der Hund {n} läuft am See. »Komm! « Er kam." for n in range(60)]
DOCUMENTS = [document(f"d{n:02}", LINES[n : n + 3], extracted=n % 5 == 0) for n in range(24)]
BATCH = 300


def killed(engine, out, after):
    """Whether a child that annotates was killed before it was done; it lives for some seconds."""
    child = os.fork()
    if child == 0:
        annotated(DOCUMENTS, out, engine, batch=BATCH)
        os._exit(0)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def parts(out):
    return len(list((out / ".annotating" / "parts").glob("*.batch")))


def main(kind, folder):
    engine = choose_engine("de", AnnotationOptions(stanza_dir=STANZA)) if kind == "stanza" else RuleEngine("de")
    engine.annotate([], Counter())  # loads the models
    begun = time.monotonic()
    whole = annotated(DOCUMENTS, folder / "whole", engine, batch=BATCH)
    lasted = time.monotonic() - begun
    draw = random.Random(13)
    out = folder / "killed"
    kills, kept = 0, []
    for _ in range(10):
        before = parts(out)
        kills += killed(engine, out, lasted * draw.uniform(0.01, 0.08))
        kept.append(parts(out) >= before or not (out / ".annotating").exists())
    annotated(DOCUMENTS, out, engine, batch=BATCH)
    several = annotated(DOCUMENTS, folder / "several", engine, batch=BATCH, jobs=2)
    again = annotated(DOCUMENTS, folder / "several", engine, batch=BATCH)
    trees = [tree_of(folder / name) for name in ("whole", "killed", "several")]
    print(json.dumps({
        "kills": kills, "kept": all(kept), "files": sorted(trees[0]), "words": [several.new_words, again.new_words],
        "batches": whole.manifest.documents, "killed": trees[1] == trees[0], "several": trees[2] == trees[0],
        "corrections": whole.manifest.corrections,
    }))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
