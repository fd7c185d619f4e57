"""Which texts are clean enough to be shown to a model, as polars expressions."""

from functools import reduce

import polars as pl

from discoprobe.loaders.languages.spacing import LOOSE_MARK, TIGHT_MARK

_BEGIN, _END = r"(?:^|\W)", r"(?:\W|$)"
"""The edges of a word. ``\b`` has the same meaning, but is thirty times as slow in non-ASCII text."""

_AFTER_WORD = r"(?:\.?(?: \pL{1,3} \pL+)[.:]?|\.[.:]?|[\s:+(])[\s:+(]*"
"""What may be between a word for a telephone and the number (*Tel. und Fax 05550*)."""

_CONTACT = (
    r"[\w.+-]@[\w-]+\.\w",
    rf"(?i:https?://|{_BEGIN}www\.\w)",
    r"\.(?:com|org|net|info|edu|cat|[a-z]{2})/\w",
    r"\+\d[\d ().-]{7,}\d",
    rf"{_BEGIN}\d{{10,12}}{_END}",
    rf"{_BEGIN}\d{{3}}[-.]\d{{3}}[-.]\d{{4}}{_END}",
    rf"{_BEGIN}0\d(?:[ .]\d{{2}}){{4}}{_END}",
    rf"{_BEGIN}\d{{3}}-\d{{2}}-\d{{2}}{_END}",
    rf"{_BEGIN}(?i:tel|tél|tlf|tfno|fax|faks|phone|puh|тел|факс){_AFTER_WORD}\d[\d\s()/.-]{{4,}}\d",
)
"""E-mail addresses, addresses of pages, and telephone numbers: by their form, or after the word for one."""

_HEADERS = ("from", "to", "b?cc", "subject", "sent", "re", "fwd?", "von", "an", "betreff", "asunto", "objet", "oggetto")
"""What lines at the head of a letter begin with."""

_PICTURES = (
    "figure", r"fig\.", "table", "tabelle", "abbildung", r"abb\.", "figura", "tabla", "tableau", "tabela",
    "рисунок", r"рис\.", "таблица", r"табл\.",
)  # fmt: skip
"""What captions begin with, before their number."""

_PLACES = (
    "left", "right", "above", "below", "links", "rechts", "oben", "unten", "mitte", "à gauche", "à droite", "en haut",
    "en bas", "(?:a la )?izquierda", "(?:a la )?derecha", "arriba", "abajo", "a sinistra", "a destra", "in alto",
    "in basso", "(?:à )?esquerda", "(?:à )?direita", "esquerra", "dreta", "слева", "справа", "вверху", "внизу",
    "lijevo", "slijeva", "levo", "sleva", "desno", "zdesna", "vlevo", "vpravo", "zleva", "zprava", "vľavo",
    "(?:z|po) lewej", "(?:z|po) prawej",
    "till vänster", "till höger", "til venstre", "til høyre", "til højre", "vasemmalla", "oikealla", "balra", "jobbra",
    "(?:în )?stânga", "(?:în )?dreapta", "ліворуч", "праворуч", "зліва", "solda", "sağda", "αριστερά", "δεξιά",
)  # fmt: skip
"""Where something is in a picture, in brackets: such a sentence is a caption."""

_CLITIC = r"(?:['’](?:[lnmst]|ls|ns)|-(?:l[aei]s?|ho|hi|ne|se|me|te|nos|vos))(?:[\s,.]|$)"
"""The end of a word that is a clitic (Catalan *se'n*). If at least two clitics of a corpus follow a blank, and
more than do not, this is the spelling of the language (Afrikaans *op 'n* .99, Scottish Gaelic *uile 's* .78; in
Catalan it is .15)."""

_LOOSE_QUOTE = r"„\s|„[^„”“]*\s”"
"""Blanks inside quotation marks (Romanian *„Romania ”*); where „ opens, ” only closes."""

USUAL, PROFILED = 0.1, 20
"""If a larger share of the texts than ``USUAL`` has a blank before a mark, that is how the treebank is written (Catalan
.03, tokenised treebanks .4 to .98). At least ``PROFILED`` texts are needed to measure it."""

FAULTS = {
    "replacement-character": "\ufffd",
    "control-character": r"\p{Cc}",
    "private-use-character": r"\p{Co}",
    "mojibake": (
        r"Ã[\u0080-\u00ba\u00bc-\u00bf]|Â[\u0080-\u00a9\u00ab-\u00b9\u00bb-\u00bf]|â(?:\u0080|€|‚¬)|ï¿½|"
        r"Ð[\u0080-\u009f\u00b0-\u00ba\u00bc-\u00bf]"
    ),
    "entity": (
        r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]{1,7});|-[LR][RSC]B-|"
        r"(?:^|\s)\pL{1,3}_\s\pL"  # a contraction pulled apart: Portuguese *de_ a* for *da*
    ),
    "tag": r"</?[A-Za-z][^<>]*>",
    "mask": (
        r"__|(?:^|\s)_(?:\s+_)+(?:\s|$)|\S\s[#*](?:[\s,.]|$)|\*{2}|\*_|_\*|@[xX]{4}|#{2}|\bIMG\b|"
        r"[\[(]\s*(?:формула|символ)\s*[\])]"  # pictures, headings and formulas of RRT
    ),
    "contact": "|".join(_CONTACT),
    "stray-dash": r"(?:^|\s)[-–—]\s+[-–—](?:[\s.,;:!?]|$)|\s-[.,;](?:\s|$)|\s-\s+[.,;](?:\s|$)",
    "transcription": (
        rf"{_BEGIN}XXX+{_END}|(?:^|\s)~|\pL~(?:[\s\pP]|$)|(?:^|\s)//|//(?:\s|$)|[{{}}]|\[\s*(?:\.{{3}}|…|\?)\s*\]"
    ),
    "mention": r"(?:^|\s)@\w|(?:^|\s)#\pL",
    "e-mail-header": rf"(?i)^\s*(?:{'|'.join(_HEADERS)})\s*:",
    "list-item": (r"^\s*(?:[*•●▪◦‣·]\s|\d[^.–—]{0,20}\.\s?[-–—]\s|\(?(?:\d{1,2}|\p{Latin}|\p{Cyrillic})\)\s)"),
    "caption": (
        rf"(?i)^\s*(?:(?:{'|'.join(_PICTURES)})\s*\d+\s*[:.–—]|(?:image|photo|foto)s?\s*:)|"
        rf"\((?:{'|'.join(_PLACES)})\)"
    ),
    "fragment": r"^\s*[,;:)،、，；：）]|[,،、，]\s*$",
    "no-punctuation": r"^\s*[\p{Latin}\p{Cyrillic}\p{Greek}][^\p{P}]{59,}$",
    "heading": r"^[^\p{Ll}\p{Lo}]*(?:\p{Lu}[^\p{Ll}\p{Lo}]*){4,}$",
    "white-space": r"\s{2}|\s\|\s*$",
}
"""Reason → pattern of what a clean text does not contain."""


OF_SENTENCES = frozenset({"e-mail-header", "list-item", "caption", "fragment", "no-punctuation", "heading"})
"""Faults of whole sentences only; a part of one, such as a clause, may lack punctuation."""

_SMILE = r"[:;=8][-']?[()]+|\){2,}|\({2,}"


def fault(text: pl.Expr, *, whole: bool = True, some: bool = False) -> pl.Expr:
    """The first reason why a text is not clean, null for a clean one.

    Args:
        text: sentences of one corpus, which show together where it writes blanks.
        whole: whether they are whole sentences; in parts of sentences, ``OF_SENTENCES`` and loose marks are no faults.
        some: whether they are only some of the sentences of the corpus, as in a config. They are weaker evidence of its
            spelling, so only blanks that are clearly exceptions are faults.
    """
    patterns = {reason: pattern for reason, pattern in FAULTS.items() if whole or reason not in OF_SENTENCES}
    faults = [pl.when(text.str.contains(pattern)).then(pl.lit(reason)) for reason, pattern in patterns.items()]
    loose, tight = (text.str.count_matches(rf"\pL{blank}{_CLITIC}") for blank in (r"\s", ""))
    rare = 3 * loose.sum() <= tight.sum() if some else loose.sum() <= pl.max_horizontal(1, tight.sum())
    faults.append(pl.when(loose > 0, rare).then(pl.lit("spacing")))
    if whole:
        loose_mark = text.str.contains(LOOSE_MARK)
        share = loose_mark.mean()
        usual = share > USUAL / 2 if some else (share > USUAL) & (pl.len() >= PROFILED)
        faulty = loose_mark & text.str.contains(TIGHT_MARK) | text.str.contains(_LOOSE_QUOTE)
        faults.append(pl.when(faulty, ~usual).then(pl.lit("spacing")))
    composed = pl.when(text.str.normalize("NFC") != text).then(pl.lit("not-nfc"))
    return pl.coalesce(*faults, composed, pl.lit(None, dtype=pl.String))


def separated_markup(text: pl.Expr) -> pl.Expr:
    """``entity`` or ``tag`` where a tokeniser has pulled one apart (``& lt ;``, ``< onlyinclude >``), else null."""
    entity = pl.when(text.str.contains(r"(?i)& ?(?:lt|gt|amp|quot|apos|nbsp|# ?\d+) ?;")).then(pl.lit("entity"))
    return entity.when(text.str.contains(r"< ?/? ?[a-z]{3,} ?/? ?>")).then(pl.lit("tag"))


def half_quoted(text: pl.Expr) -> pl.Expr:
    """``quotes`` where a sentence by itself opens or closes a quotation or a parenthesis and not both, else null.

    (A quotation of several sentences is complete in a passage, but not in one of its sentences.) LaTeX's marks (two
    grave accents, two apostrophes) are always a fault. Not counted: a straight mark inside a word (Hebrew acronyms), a
    prime after a number, the parenthesis after the number of an item (``a)``), and emoticons (``:)``, ``)))``).
    """
    without_number = text.str.replace(r"^\s*(?:\p{L}|[\p{N}.]{1,4})\)", "")
    outer = without_number.str.replace_all(r'\p{L}"\p{L}|\d"', "")
    straight = (without_number.str.count_matches('"') % 2 == 1) & (outer.str.count_matches('"') % 2 == 1)
    low, like_66, like_99 = (without_number.str.count_matches(mark) for mark in "„“”")
    alike = (like_66 > 0) & (like_99 > 0)
    curled = (
        pl.when(low > 0)
        .then(low != like_66 + like_99)
        .when(alike)
        .then(like_66 != like_99)
        .otherwise((like_66 + like_99) % 2 == 1)
    )
    pairs = (("«", "»"), ("‹", "›"), ("「", "」"), ("『", "』"), ("《", "》"))
    smiling = without_number.str.replace_all(_SMILE, "")
    brackets = _unequal(without_number, "[(（]", "[)）]") & _unequal(smiling, "[(（]", "[)）]")
    unpaired = reduce(pl.Expr.or_, (_unequal(without_number, *pair) for pair in pairs), straight | curled | brackets)
    return pl.when(unpaired | text.str.contains(r"``|''(?:[\s\p{P}]|$)")).then(pl.lit("quotes"))


def _unequal(text: pl.Expr, one: str, other: str) -> pl.Expr:
    """Whether a text has the one mark more or less often than the other."""
    return text.str.count_matches(one) != text.str.count_matches(other)
