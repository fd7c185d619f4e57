"""Does a word agree with another one? Pairs of a sentence and the same with another form of a verb or a modifier.

Agreement as in BLiMP (Warstadt et al. 2020) and MultiBLiMP (Jumelet et al. 2025), on unchanged corpus sentences. In the
bad sentence one word, `target`, has another form of its paradigm: the same lemma and features except one, which does
not agree with the `subject`. The form is from the treebank or, of verbs, from the catalogue's table of UniMorph. Verbs,
and participles and adjectives of the predicate, agree with their subject in number, person or gender; `label` names
both values (`Singular/Plural`). Determiners and adjectives agree with their noun, which `subject` then is, in number,
gender or case; `label` says which (`determiner number`). `subject` has the distance from the target, and the attractors
between them (nouns with another value; Linzen, Dupoux & Goldberg 2016); the texts differ in region 2 only. Every change
is equally frequent in both directions, as is every pair of frequent forms (*is*, *are*): no preference for a form or a
length finds the good sentence. The same two words are in at most two sentences. Left out are: words that do not show
their value or agree in two ways; forms that could agree too (German *er habe*), as a subjunctive (*if the need arise*),
in a reading that their ending can have, with another noun, by standing alone, or with a family of the name that the
noun looks like (*les Charmeuse*); and kinds of words that agree in less than nine tenths of the corpus, and all verbs
where it spells many in several ways. Participles beside an auxiliary, and adjectives of the predicate, are changed only
behind a noun that is not indefinite; person only beside personal pronouns; gender not beside persons.
"""

from discoprobe.builders.edits.agreeing_words import CONDITIONS, REASONS, candidates, with_wrong_form
from discoprobe.builders.edits.versions import planned_edit
from discoprobe.builders.task import ProbingTask

SHOWN_BY_ENDINGS = "beside each other, the ends of two words show whether they agree: the suite asks about this"

ASKS = "Do the words agree?"
TASK = ProbingTask(
    labels=("good", "bad"), select=candidates, sample=with_wrong_form, edit=planned_edit, pairs=True,
    conditions=CONDITIONS, region=2, needs=frozenset({"upos", "lemma", "feats", "deps"}), reasons=REASONS, version=15,
    exempt={"differences": SHOWN_BY_ENDINGS}, uses_forms=True,
)  # fmt: skip
