"""Is the main clause impersonal (RuSentEval ImpersonalSent)?

`impersonal`: the main predicate has no `nsubj`, `csubj` or `expl`, and meets one of the conditions that the data of the
language give for impersonal clauses (Russian neuter past *стемнело*, predicative *можно*; Finnish zero person *täällä
voi uida*). It has no `ccomp` either, since many treebanks give this relation to a clause that is the subject (*стало
известно, что* …). `personal`: the main predicate has an `nsubj`, no adverb and in a case that subjects have (a noun in
the genitive is measured or negated: Russian *времени не осталось*). A clause without a subject is left out if its verb
shows that a personal subject was dropped, or does not show whether one was. So the task exists only in languages whose
data tell dropped subjects from impersonal clauses. Labels are balanced within each combination of part of speech,
VerbForm, Person, Mood, Tense, Number, Gender and Voice of the root, and of the lemmas and forms of its finite
auxiliaries, so that a neuter verb or a modal does not tell the label. Verbs without inflection (Polish *trzeba*) are
left out, since no personal clause has one, and so are infinitives whose finite auxiliary meets no condition.
"""

from discoprobe.builders.sentences.candidates import balanced
from discoprobe.builders.sentences.predicate import ImpersonalRules, personal_or_impersonal
from discoprobe.builders.task import ProbingTask

ASKS = "Is the clause impersonal?"
TASK = ProbingTask(
    labels=("personal", "impersonal"), select=personal_or_impersonal, sample=balanced, lacks=ImpersonalRules.lacking,
    needs=frozenset({"upos", "feats", "deps"}), version=2,
)  # fmt: skip
