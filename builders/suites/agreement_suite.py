"""Does the verb agree with its subject? Pairs of a sentence and the same with another form of the verb.

Subject-verb agreement in number, person and gender, as in BLiMP (Warstadt et al. 2020) and MultiBLiMP (Jumelet et al.
2025), on unchanged corpus sentences. The good sentence is that of the corpus. In the bad one the verb, auxiliary or
copula, or the participle or adjective of the predicate, has another form of its paradigm, with the same lemma and the
same features except one, which does not agree with the subject. The form is taken from the treebank or, if the treebank
lacks it, from the table of UniMorph that the catalogue has for the language. `label` names both values, such as
`Singular/Plural`; `target` is the verb, `subject` the subject with its distance from the verb, and with the attractors
between them (nouns with another value; Linzen, Dupoux & Goldberg 2016); and the texts differ in region 2 only. Every
change occurs equally often in both directions, and so does every pair of frequent forms (*is*, *are*), so that no
preference for a form or a length finds the good sentence. The same subject and verb are in at most two sentences. Left
out are subjects that do not show their value or agree in two ways; forms that could agree as well (German *er habe*),
also as a subjunctive behind a conjunction (*if the need arise*); and kinds of verb that agree with their subject in
less than nine tenths of the corpus; and all, where a corpus spells many verbs in several ways. Participles beside an
auxiliary, and adjectives, are changed only behind a noun that is not indefinite. Person is changed only beside personal
pronouns, and gender is not changed beside persons.
"""

from discoprobe.builders.edits.agreement import CHANGES, REASONS, candidates, with_wrong_form
from discoprobe.builders.edits.versions import planned_edit
from discoprobe.builders.task import ProbingTask

SHOWN_BY_ENDINGS = "beside its subject, the ends of two words show whether a verb agrees: the suite asks about this"

ASKS = "Does the verb agree?"
TASK = ProbingTask(
    labels=("good", "bad"), select=candidates, sample=with_wrong_form, edit=planned_edit, pairs=True,
    conditions=CHANGES, region=2, needs=frozenset({"upos", "lemma", "feats", "deps"}), reasons=REASONS, version=12,
    exempt={"differences": SHOWN_BY_ENDINGS}, uses_forms=True,
)  # fmt: skip
