"""Show a release to reviewers, in a browser or in the terminal.

``pages`` turns a card, a row or the report of an audit into what a reader sees. ``site`` is the web application that
all pages share: who may ask, who reads, the marks. ``web_app`` adds the pages of configs, rows and cards to it, and
``blind_round`` those of blind rounds. Every page is a template in ``templates`` that extends ``base.html.jinja``.
"""

from discoprobe.loaders.rooms import offer

__getattr__, __dir__, __all__ = offer(__name__, {
    "blind_round": ["BlindRound", "sample", "scores"],
    "pages": ["card_for_terminal", "differences", "read_card", "shown_row"],
    "site": ["Reader", "inside"],
    "web_app": ["server"],
})  # fmt: skip
