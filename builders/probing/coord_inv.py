"""Whether two coordinated clauses have changed places (SentEval, X-Probe CoordInv).

The sentence consists of two full clauses, each with its own subject, joined by one coordinating conjunction. In
`inverted` the clauses are exchanged (*Ann left and Bob missed her.* - *Bob missed her and Ann left.*); the conjunction,
the punctuation beside it and the final punctuation stay in their places. The clause that now comes first gets a
capital. The other one loses its capital, unless its first word is a name or has a capital in its lemma (*I*, German
nouns). Sentences with quotes or brackets are left out. Original and inverted sentence share `pair_id`.

The order of the clauses must be fixed: the second clause contains a pronoun or possessive that refers to a subject or
object of the first clause, and the first clause contains no such word. The word agrees with its antecedent; it depends
on the predicate, or is the possessive of a word that depends on it; no noun comes before it in its own clause, unless
it is an object; and it is not the first word of the clause. Words that can also refer to an earlier sentence do not
count: *then*, *also*, *this mineral*. Sentences are chosen so that neither the lengths of the clauses nor the parts of
speech with which they begin tell the order. One reader judged 57 pairs, and found the original in 56. But 15 of these
57 inversions (26 %, 17 to 39) would be possible in a text, after sentences that name the antecedent of the pronoun. If
this matters to you, compare the two rows of a pair. Few sentences remain: one of 241 coordinations in English
treebanks.
"""

from discoprobe.builders.edits.clause_edits import CoordInvRules, invert, invertible_sentences, original_and_inverted
from discoprobe.builders.task import ProbingTask

ASKS = "Are two clauses swapped?"
TASK = ProbingTask(
    labels=("original", "inverted"), select=invertible_sentences, sample=original_and_inverted, edit=invert, pairs=True,
    lacks=CoordInvRules.lacking, needs=frozenset({"upos", "deps"}), version=6,
)  # fmt: skip
