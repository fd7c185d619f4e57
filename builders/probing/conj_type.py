"""Whether two clauses are coordinated or one is subordinate (RuSentEval ConjType).

A conjunction joins two clauses of the sentence, and its place is hidden. In `coordination` the second clause is a
`conj` with a coordinating conjunction; in `subordination` a clause (`advcl`, `ccomp`, `csubj` or `acl`) has a
subordinating conjunction. The sentence has exactly one clause that is joined in this way. The clause has a predicate of
its own, which is no participle, infinitive or gerund (*despite having left*; *as tall as Ann*), and it is no relative
clause. The sentence may also have clauses that are not of this kind or have no conjunction.

The conjunction is one that the data of the language permit (none of comparison: *than*), no interrogative or relative
word follows it (*on how …*), and it joins clauses of one kind only in the corpus (Spanish *mientras* is in both). An
ellipsis (` …`) replaces the conjunction, the words fixed to it, and the comma (dash, semicolon) before it: if these are
visible, the task is nearly a look-up (in RuSentEval a baseline of strings reaches .97). `original` has the sentence
before the edit and `edit` the place. Sentences that contain an ellipsis are left out. The conjunction is never the
first word, because only subordinate clauses come first. Labels are matched on length, on the number of remaining commas
and dashes, and on whether the second clause has a subject of its own.
"""

from discoprobe.builders.edits.clause_edits import KINDS, LABELS, hidden_conjunctions, matched_without_conjunction
from discoprobe.builders.edits.versions import planned_edit
from discoprobe.builders.task import ProbingTask

ASKS = "Coordinate or subordinate?"
TASK = ProbingTask(
    labels=LABELS, select=hidden_conjunctions, sample=matched_without_conjunction, edit=planned_edit,
    needs=frozenset({"upos", "deps"}), version=5, reasons=KINDS,
)  # fmt: skip
