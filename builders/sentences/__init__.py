"""Sentences and words as candidates of probing tasks; sentences are edited in ``builders.edits``.

``trees`` computes tree facts as columns; ``clauses``, ``predicate`` and ``connectives`` find words by syntax,
``syncretism`` and ``frequency_filter`` drop what is ambiguous or rare. ``candidates`` filters sentences and chooses
rows, ``classes`` chooses classes too.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "candidates": ["balance_labels", "if_enough", "sentences", "unedited", "usable_of", "with_splits"],
    "clauses": ["ArgumentRules", "noun_feature"],
    "classes": ["class_task", "neighbouring_classes", "unlabelled", "word_of_sentence"],
    "connectives": ["Connectives", "ONE_WORD", "one_per_sense", "sentence_connectives", "unlisted"],
    "frequency_filter": ["Frequencies", "rank_lemmas"],
    "predicate": ["ImpersonalRules", "PredicateRules", "feature_of_predicate", "predicate_feature"],
    "syncretism": ["MorphologyRules"],
    "trees": ["Trees", "VALUES", "has", "with_dependents"],
})  # fmt: skip
