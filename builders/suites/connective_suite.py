"""Is a clause more probable after its connective than after one of another sense?

Explicit connectives of CoherenceGym (Beyer et al. 2021), in every language whose connectives are listed with one sense
each. The good sentence is that of the corpus; in the bad one a connective that introduces a clause is replaced. `label`
says by what: a connective whose sense is not possible in the same place (`other_sense`: *because* for *although*), or,
as a control, one with the same sense (`same_sense`: *though* for *although*), where a model should prefer the good
sentence in about half of the rows. The texts differ in region 2. Region 3, the clause after the connective, is the same
in both and is compared. Connectives are found in the text, without annotation: they open the sentence or follow a
comma. Two connectives replace each other only before a word that follows both of them in the corpus (two words, if a
connective of the language takes both moods), so that the clause fits after either. They replace each other equally
often in both directions, so that no preference for a connective or for the word beside it finds the good sentence.
Contrasts are left out, since readers accept *but* in most places. So are connectives that belong to another one later
in the sentence (*weil …, deshalb*).
"""

from discoprobe.builders.edits import clause_edits
from discoprobe.builders.edits.versions import planned_edit
from discoprobe.builders.task import ProbingTask

ASKS = "Which connective fits?"
TASK = ProbingTask(
    labels=("good", "bad"), select=clause_edits.excluding_connectives,
    sample=clause_edits.with_other_connective, edit=planned_edit, lacks=clause_edits.no_exchange,
    pairs=True, conditions=clause_edits.CONDITIONS, region=3, needs=frozenset({"text"}),
    reasons=clause_edits.REASONS, version=6,
)  # fmt: skip
