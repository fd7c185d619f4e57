"""Do determiner and adjective agree with their noun? Pairs of a sentence and the same with another form of one of them.

To be written.
"""

from discoprobe.builders.edits.concord import CONDITIONS, REASONS, candidates, with_wrong_form
from discoprobe.builders.edits.versions import planned_edit
from discoprobe.builders.task import ProbingTask

SHOWN_BY_ENDINGS = "beside its noun, the ends of two words show whether a modifier agrees: the suite asks about this"

ASKS = "Does the modifier agree?"
TASK = ProbingTask(
    labels=("good", "bad"), select=candidates, sample=with_wrong_form, edit=planned_edit, pairs=True,
    conditions=CONDITIONS, region=2, needs=frozenset({"upos", "lemma", "feats", "deps"}), reasons=REASONS,
    exempt={"differences": SHOWN_BY_ENDINGS},
)  # fmt: skip
