"""Cards: the pages that describe a release and its configs.

``card`` collects what a card says, with ``examples`` (rows, and texts in pieces) and ``plots`` (SVG);
``questions`` are rows without what gives their label away. ``templating`` fills the templates. ``verdicts`` puts the
result of the audit of a config into words, for all pages.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "card": ["config_card", "fields"],
    "examples": ["ShownText", "lengths"],
    "plots": ["heat_map", "layer_plot"],
    "questions": ["answer_names", "prompt_of", "question_of", "question_texts"],
    "templating": ["markdown", "plain"],
    "verdicts": ["ABOVE", "BELOW", "OPEN", "UNMEASURED"],
})  # fmt: skip
