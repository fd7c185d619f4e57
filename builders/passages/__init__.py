"""Passages of documents, the rows of discourse tasks made from them, and distractors.

``windows`` finds unbroken passages, cuts windows from them, and makes rows of windows. ``distractors`` finds sentences
that resemble the one they replace, by ``similarity``. Other modules make families of tasks: ``continuations`` with
wrong sentences, ``links`` with other orders, ``corpus_labels`` with what the corpus says, ``relation_units`` with the
relations of two units. ``coreference`` has the words, sentences and mentions of documents, ``entities`` what is known
of them in a passage, ``entity_marks`` and ``mention_rows`` the tasks on marked mentions, ``rementions`` the suites.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "continuations": ["choice_task"],
    "corpus_labels": ["change_task", "counterpart_task"],
    "distractors": ["ANY", "BEYOND", "CLOSE", "Matching", "Slots", "distractor_task"],
    "links": ["SIZE", "breaking_orders", "linked_windows", "marks", "order_suite"],
    "relation_units": ["LABELS", "MEMBERS", "SEVERAL", "binary_relations", "class_of", "mark_units"],
    "similarity": ["Comparison", "Similarity", "char_grams", "gains_of_sentences", "gains_of_similarity"],
    "windows": ["LONG", "choice_rows", "cut", "ends", "ends_note", "labelled", "members",
        "ordering_task", "passage_keys", "random_sizes", "replaced_pairs", "sentences", "single_rows", "version",
        "windows_of", "with_passages", "without_introductions"],
})  # fmt: skip
