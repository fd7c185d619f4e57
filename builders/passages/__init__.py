"""Passages of documents, the rows of discourse tasks made from them, and distractors.

``windows`` finds unbroken passages and cuts windows from them. ``window_rows`` makes rows from windows. Most other
modules make families of tasks: ``distractor_windows``, ``continuations`` and ``choices`` with wrong sentences,
``links`` with other orders, ``corpus_labels`` and ``connective_pairs`` with what the corpus says. ``distractors`` finds
sentences that resemble the one they replace, by ``similarity``; ``char_ngrams`` counts what it compares.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "continuations": ["choice_task"],
    "corpus_labels": ["change_task", "counterpart_task"],
    "distractors": ["ANY", "BEYOND", "CLOSE", "Matching", "Slots", "distractor_task"],
    "links": ["SIZE", "breaking_orders", "linked_windows", "marks", "order_suite"],
    "relation_units": ["LABELS", "MEMBERS", "SEVERAL", "binary_relations", "class_of", "mark_units"],
    "similarity": ["Similarity", "char_grams", "gains_of_sentences", "gains_of_similarity", "slack"],
    "windows": ["LONG", "choice_rows", "cut", "ends", "ends_note", "labelled", "members", "not_prose",
        "ordering_task", "passage_keys", "random_sizes", "replaced_pairs", "sentences", "single_rows", "version",
        "windows_of", "with_passages", "without_introductions"],
})  # fmt: skip
