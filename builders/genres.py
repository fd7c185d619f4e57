"""Which genres a task takes: one table for all tasks.

Some texts suit no edit: where a writer learns the language, speaks, or writes verse or posts, the original may be as
wrong as its edit, and the sentences of a grammar are often edited themselves. Some are no passages of prose: speech and
verse are cut by breath or line, and examples do not follow each other. With ``--set genres=all`` every task takes all.

The genre of a document is what its ``# genre`` comment says. Of other documents the id may name it, and the genres of
the treebank are known, from the catalogue or its README. Where there are several, a document may be of any, so that it
is only left out if the task takes none of them.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import polars as pl

from discoprobe.builders.settings import Settings
from discoprobe.loaders.catalogue.treebanks import Source

Use = Literal["labels", "edits", "suites", "passages", "connectives"]
"""What a task makes of a text: ``labels`` of sentences, relations and entities as they are; ``edits``, an original and
an edited text of a probing task or suite; ``suites`` of passages, which have a right and a wrong order or ending;
``passages`` of other discourse tasks; ``connectives`` that link sentences."""

_VERSE: Final[tuple[Use, ...]] = ("edits", "suites", "passages", "connectives")
_TALK: Final[tuple[Use, ...]] = ("edits", "connectives")
_POSTS: Final[tuple[Use, ...]] = ("edits",)
_LEARNERS: Final[tuple[Use, ...]] = ("edits", "suites")
NOT_FOR: Final[Mapping[str, tuple[Use, ...]]] = {
    **dict.fromkeys(("grammar-examples", "grammar", "examples", "proverb", "proverbs"), _VERSE),
    **dict.fromkeys(("poetry", "poem", "verse"), _VERSE),
    "spoken": _VERSE,
    **dict.fromkeys(("conversation", "podcast", "vlog", "court"), _TALK),
    **dict.fromkeys(("learner-essays", "learner"), _LEARNERS),
    **dict.fromkeys(("social", "reddit", "twitter"), _POSTS),
}
"""Genre → what is not made of its texts. Universal Dependencies has *grammar-examples*, *poetry*, *spoken*,
*learner-essays* and *social*; the others are genres of documents (GUM, UD_Yiddish-YiTB). In talk a connective may be a
filler (*so, I was, like, …*); its turns follow each other as people spoke them."""

EXAMPLES: Final = frozenset({"grammar-examples", "grammar", "examples"})
IN_IDS: Final[Mapping[str, str]] = {
    "grammar": r"grammar", "examples": r"\bexamples\b", "proverbs": r"\bproverbs\b", "poetry": r"\bpoetry\b",
    "verse": r"\bverse\b", "spoken": r"\bspoken\b", "conversation": r"\bconversation\b",
}  # fmt: skip
"""Genres that ids of documents name (``grammar_Syntax``, ``cgrammar2.txt``, ``Roland_1100_verse``), as patterns for
their words."""

REASON: Final = "genre"
"""Drop reason of a text of a genre that the task does not take."""


def unsuited(sources: Iterable[Source], settings: Settings, use: Use) -> pl.Expr:
    """`REASON` where a task does not take the genre of a text, else null.

    Args:
        sources: the corpora.
        settings: whether tasks take all genres.
        use: what the task makes of a text.

    Returns:
        An expression over ``corpus``, ``doc_id`` and ``genre`` (of the document; null if it is not known).
    """
    if settings.genres == "all":
        return pl.lit(None, pl.String)
    refused = [genre for genre, uses in NOT_FOR.items() if use in uses]
    corpora = sorted({source.name for source in sources if source.genre and set(source.genre) <= set(refused)})
    of_document = _named(pl.col("genre")).list.eval(pl.element().is_in(refused)).list.all()
    in_ids = "|".join(pattern for genre, pattern in IN_IDS.items() if genre in refused)
    words = pl.col("doc_id").cast(pl.String).str.to_lowercase().str.replace_all(r"\P{L}+", " ")
    of_id = words.str.contains(in_ids) if in_ids else pl.lit(value=False)
    of_others = pl.col("corpus").is_in(corpora) | of_id.fill_null(value=False)
    return pl.when(of_document.fill_null(of_others)).then(pl.lit(REASON))


def may_be_examples(sources: Iterable[Source], settings: Settings) -> pl.Expr:
    """Whether a document may be a list of examples, by the same columns; of none if the settings take all genres."""
    if settings.genres == "all":
        return pl.lit(value=False)
    corpora = sorted({source.name for source in sources if not EXAMPLES.isdisjoint(source.genre)})
    of_document = _named(pl.col("genre")).list.eval(pl.element().is_in(sorted(EXAMPLES))).list.any()
    return of_document.fill_null(pl.col("corpus").is_in(corpora))


def _named(genre: pl.Expr) -> pl.Expr:
    """The genres that a comment names."""
    return genre.cast(pl.String).str.to_lowercase().str.extract_all(r"[\w-]+")
