"""Does the verb agree with its subject? Pairs of a sentence and the same with another form of the verb.

Subject-verb agreement in number, person and gender, as in BLiMP (Warstadt et al. 2020) and MultiBLiMP (Jumelet et al.
2025), on unchanged corpus sentences. The good sentence is that of the corpus. In the bad one the verb, auxiliary or
copula has another form of its paradigm, with the same lemma and the same features except one, which does not agree with
the subject. The form is taken from the treebank or, if the treebank lacks it, from a table of UniMorph (`--set
paradigms=FILE`). `label` names both values, such as `Singular/Plural`; `target` is the verb; and the texts differ in
region 2 only.

Every change occurs equally often in both directions, and so does every pair of frequent forms (*is*, *are*), so that no
preference for a form or a length finds the good sentence. The same subject and verb are in at most two sentences. These
are left out: subjects that do not show their value or agree in two ways; forms that could agree as well (German *er
habe*); and kinds of verb that agree with their subject in less than nine tenths of the corpus. Person is changed only
beside personal pronouns, and gender is not changed beside persons.
"""

import polars as pl

from discoprobe.builders.sentences import agreement
from discoprobe.builders.sentences.candidates import original_and_edited, planned_edit, usable_of
from discoprobe.builders.sentences.connectives import capitalised
from discoprobe.builders.sentences.feature_values import VALUES
from discoprobe.builders.task import Context, ProbingTask, Sample

NAMES = {
    value: name for feature in agreement.FEATURES for value, name in VALUES[feature].items()
    if value in {"Sing", "Plur", "Dual", "1", "2", "3", "Masc", "Fem", "Neut", "Com"}
}  # fmt: skip
CONDITIONS = tuple(
    f"{NAMES[good]}/{NAMES[bad]}"
    for feature in reversed(agreement.FEATURES)
    for good in VALUES[feature]
    for bad in VALUES[feature]
    if good != bad and {good, bad} <= NAMES.keys()
)


def sample(frame: pl.DataFrame, context: Context) -> Sample:
    """The sentences whose verb has another form, in both directions, and the same with that form."""
    usable, drops = usable_of(agreement.with_other_forms(frame, context), context)
    single = agreement.not_repeated(usable, *context.seed_key)
    both = agreement.both_directions(single, *context.seed_key)
    names = [pl.col(column).replace_strict(NAMES) for column in ("value", "other_value")]
    new = capitalised(both["other"], both["target_form"].str.contains(r"^\p{Uppercase}"), context.language)
    rows = both.with_columns(
        condition=pl.concat_str(names, separator="/"), plan=pl.struct(start="target_start", end="target_end", new=new)
    )
    drops |= {"repeated": usable.height - single.height, "one-direction": single.height - both.height}
    return original_and_edited(rows, context, drops)


TASK = ProbingTask(
    labels=("good", "bad"),
    select=agreement.candidates,
    sample=sample,
    edit=planned_edit,
    pairs=True,
    conditions=CONDITIONS,
    region=2,
    version=5,
    needs=frozenset({"upos", "lemma", "feats", "deps"}),
    reasons=agreement.REASONS,
)
