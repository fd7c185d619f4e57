"""Show a release to reviewers: ``pages`` writes web pages, ``terminal_view`` prints a card in the terminal."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={
    "blind_round": ["BlindRound", "draw", "question_of"],
    "pages": ["card_text", "for_terminal", "write_review"],
    "site": ["Reader", "ReviewOptions", "differences", "inside"],
    "web_app": ["server"],
})  # fmt: skip
