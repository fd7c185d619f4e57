"""The catalogue of corpora: its records, and how they are looked up by language, name, prefix or file name.

A file ``loaders/catalogue/<code>.toml`` describes one language: a ``[language]`` table, a ``[[treebank]]`` table per
openly licensed treebank, a ``[[text]]`` table per corpus of raw text and a ``[[forms]]`` table for its table of
UniMorph, pinned to a commit with the hash of every file, and a ``[[left_out]]`` table per corpus that is not used
without further permission, with the reason. If only the licence is the reason, its files are pinned too, and it is used
where every licence is accepted.
``scripts/pin_corpora.py`` makes the files; nothing here uses the network. Plugins (``loaders.plugins``) may have files
of the same form, whose corpora are added to those of the language, or make a language known.

Each class is a table of such a file with the same fields; `msgspec` reads and checks them. Files are parsed
only as far as needed, because parsing is slow: `languages` reads the head of each file, `treebank` one whole file.

``catalogue/hub/texts.toml`` has datasets of text on the Hub, pinned by repository and commit. There a corpus is one
language of a dataset: ``finewiki-de`` is German FineWiki.
"""

import functools
import importlib.resources
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, Final, Literal, get_args
from urllib.parse import quote

import msgspec

from discoprobe.loaders import plugins
from discoprobe.loaders.errors import DiscoprobeError, UnknownNameError, UnsupportedError
from discoprobe.loaders.files import File, convert_table, hashes_of, line_of, parse_toml, read_utf8

HUB: Final = "hf://"
"""Prefix of URLs on the Hub."""
DATASETS: Final = "datasets/"
"""Prefix of dataset repositories, in URLs after `HUB` and in the sources of a manifest."""
HOST: Final = "https://raw.githubusercontent.com"
"""The host of the pinned files: ``<HOST>/<repo>/<commit>/<path>``."""


class DocumentRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the documents of a treebank are recognised.

    Attributes:
        kind: one of

            * ``auto``: decides for each file: by ``# newdoc`` comments if it has any, but not before every sentence; if
              it has none, by the ids of sentences if these show documents (``conllu.documents``); else no documents;
            * ``newdoc``: by ``# newdoc`` comments. Sentences before the first one belong to no document. Where there is
              a ``pattern``, a sentence whose ``sent_id`` does not match it belongs to no document, nor do the following
              sentences up to the next ``newdoc``;
            * ``none``: sentences are shuffled or single, there are no documents;
            * ``file``: every file is one document;
            * ``sent_id``: the first group of ``pattern``, matched at the start of ``sent_id``, is the document. A
              sentence that does not match belongs to none.
        pattern: a regular expression; required for ``sent_id``, optional for ``newdoc``, forbidden for the others.
    """

    kind: Literal["auto", "newdoc", "none", "file", "sent_id"] = "auto"
    pattern: str = ""

    def __post_init__(self) -> None:
        needed = self.kind == "sent_id"
        if needed != bool(self.pattern) and self.kind != "newdoc":
            raise ValueError(f"a rule of kind '{self.kind}' {'needs a' if needed else 'takes no'} pattern")
        try:
            groups = re.compile(self.pattern).groups
        except re.error as error:
            raise ValueError(f"'{self.pattern}' is not a regular expression: {error}") from error
        if needed and groups == 0:
            raise ValueError(f"'{self.pattern}' needs a group that names the document, as in '^(.*)-s'")

    def __str__(self) -> str:
        return f"{self.kind} {self.pattern}".rstrip()


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A treebank or other corpus, and where it comes from.

    Attributes:
        name: as its publisher calls it (``UD_Spanish-AnCora``, ``Klexikon``).
        lang: the code of its language.
        licence: as its README writes it; ``"unknown"`` if it is not known.
        repo: on GitHub or the Hub; empty if it is not known, as are commit and citation.
        commit: of which the files have the content.
        files: its files at the commit, or those that were read.
        annotation: how it was made from raw text, as JSON values; None for any other corpus.
        genre: the genres of its texts, where they are known.
        documents: how its documents are recognised.
    """

    name: str
    lang: str
    licence: str = "unknown"
    repo: str = ""
    commit: str = ""
    citation: str = ""
    files: tuple[File, ...] = ()
    annotation: Mapping[str, Any] | None = None
    genre: tuple[str, ...] = ()
    documents: DocumentRule = DocumentRule()

    def __hash__(self) -> int:
        return hash((self.name, self.lang, self.repo, self.commit, self.files))

    @property
    def identity(self) -> dict[str, Any]:
        """What a config depends on, as JSON values: not where files are on this machine, nor the rule for documents."""
        files = tuple(msgspec.structs.replace(file, url="") for file in self.files)
        values: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(self, files=files))
        del values["documents"]
        return values


class PinnedCorpus(Source, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A corpus of the catalogue, which can be downloaded; the catalogue leaves none of the facts empty.

    Attributes:
        prefix: a short name (``es_ancora``, ``de_klexikon``); the file names of a treebank of Universal Dependencies
            begin with it.
        date: the day of the commit, where it is known.
        licence_note: the licences of the parts of the corpus, if they differ.
        default: whether the corpus is used when its language is requested and no corpus is named.
        note: why it is not used by default, or other information on it.
    """

    prefix: str
    licence: str
    repo: str
    commit: str
    citation: str
    files: tuple[File, ...]
    genre: tuple[str, ...]
    date: str = ""
    licence_note: str = ""
    default: bool = True
    note: str = ""

    def __post_init__(self) -> None:
        for number, file in enumerate(self.files):
            if not file.path or not file.content_hash:
                lacking = "git_blob_sha1" if file.path else "path"
                raise ValueError(f"files[{number}]: the key {lacking} is missing")

    @property
    def names(self) -> set[str]:
        """Its name and prefix in small letters."""
        return {self.name.casefold(), self.prefix.casefold()}

    def is_named(self, name: str) -> bool:
        """Whether this is its name or prefix, in any case."""
        return name.casefold() in self.names

    @property
    def bytes(self) -> int | None:
        """The size of all files; None where that of one is not known."""
        sizes = [file.bytes for file in self.files if file.bytes is not None]
        return sum(sizes) if len(sizes) == len(self.files) else None

    def url(self, file: File) -> str:
        """The address of the file on the catalogue's host."""
        return f"{HOST}/{self.repo}/{self.commit}/{quote(file.path)}"

    def place(self, file: File) -> str:
        """Where the file is in the folder of the corpus: its name, or its path for files whose folders are read."""
        return file.name

    def has(self, name: str) -> bool:
        """Whether one of its files has this name, without folders and in any case."""
        return any(file.name.casefold() == name.casefold() for file in self.files)

    @property
    def facts(self) -> Source:
        """What it is and where it comes from, without its files."""
        return Source(
            self.name, self.lang, self.licence, self.repo, self.commit, self.citation, genre=self.genre,
            documents=self.documents,
        )  # fmt: skip


Licences = Literal["open", "all"]
"""Which corpora may be used: the openly licensed ones, or those under any licence or none."""
LICENCES: Final[tuple[Licences, ...]] = get_args(Licences)


class Treebank(PinnedCorpus, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A treebank, or a corpus with annotated discourse.

    Attributes:
        documents: how its documents are recognised.
        layers: the layers of discourse annotation that it has (``relations``, ``rst_trees``, ``coreference``). When no
            corpus is named, tasks that need one of these are built from the corpora that have it.
        part_of: the corpus that has the same documents and the same layer, and others, if there is one.
    """

    documents: DocumentRule
    layers: tuple[str, ...] = ()
    part_of: str = ""

    def place(self, file: File) -> str:
        """As of every corpus; files of coreference are read with others in neighbouring folders, or repeat names."""
        return file.name if file.name.endswith((".conllu", ".rels", ".rs3", ".rs4")) else file.path


class TextCorpus(PinnedCorpus, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A corpus of raw text, which is annotated before anything is built from it.

    Attributes:
        read: the options of reading that differ from the defaults, as ``build annotate --set`` takes them
            (``lines=sentences``).
    """

    read: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        """The short name without the language: ``klexikon``."""
        return self.prefix.partition("_")[2]


class FormsTable(PinnedCorpus, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of UniMorph: the inflected forms of words, which tasks use beside the corpora of a language."""

    genre: tuple[str, ...] = ()


class LeftOut(Treebank, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A known corpus that is not used unless every licence is accepted, with the reason.

    Without ``files`` it cannot be used at all.
    """

    reason: str
    genre: tuple[str, ...] = ()
    files: tuple[File, ...] = ()


_CODE: Final = re.compile(r"[a-z]{2,3}")
_NAMES: Final = re.compile(r'^(?:name|prefix) = "([^"]+)"$', re.MULTILINE)
_FILES: Final = re.compile(
    r'\{ path = "(?:[^"]*/)?([^"/]+\.(?:conllu|rs[34]|conll|ann|knp|tsv))", git_blob_sha1 = "(\w+)"'
    r'(?:, bytes = (\d+))?(?:, sha256 = "(\w+)")?'
)


class Language(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A language of the catalogue: its code in Universal Dependencies, and its English name."""

    code: str
    name: str

    def count(self, kind: str) -> int:
        """How many corpora it has of one of the `KINDS`; they are not parsed, which is fast."""
        return sum(text.count(f"\n[[{kind}]]") for text in _texts(self.code).values())

    @property
    def treebanks(self) -> tuple[Treebank, ...]:
        """Its openly licensed treebanks, by name; empty where there is none."""
        return _contents(self.code).treebank

    @property
    def texts(self) -> tuple[TextCorpus, ...]:
        """Its openly licensed corpora of raw text, by name; empty where there is none."""
        return _contents(self.code).text

    @property
    def forms(self) -> FormsTable | None:
        """Its table of inflected forms; None where there is none."""
        return next(iter(_contents(self.code).forms), None)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Its corpora that are not openly licensed, or cannot be used at all, by name."""
        return _contents(self.code).left_out


KINDS: Final = ("treebank", "text", "forms", "left_out")
"""The tables of a file that are lists of corpora."""


class CatalogueFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of the catalogue."""

    language: Language
    treebank: tuple[Treebank, ...] = ()
    text: tuple[TextCorpus, ...] = ()
    forms: tuple[FormsTable, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def languages(*, every: bool = False) -> list[Language]:
    """The languages that have an openly licensed corpus, sorted by code; with ``every`` all known languages."""
    known = _by_code().values()
    return [language for language in known if every or language.count("treebank") or language.count("text")]


def language_name(code: str) -> str:
    """The English name of a language: that of the catalogue, else that of ``names.toml``, else the code itself."""
    return _by_code()[code].name if code in _by_code() else _english_names().get(code, code)


@functools.cache
def _english_names() -> Mapping[str, str]:
    file = importlib.resources.files("discoprobe.loaders.languages") / "names.toml"
    return parse_toml(file.read_text(encoding="utf-8"), file.name)


def language(name: str) -> Language:
    """The language with this code (``es``, ``spa``) or English name (``Spanish``, ``ancient greek``).

    Raises:
        UnknownNameError: the catalogue has no such language.
    """
    heads = _by_code()
    if name in heads:
        return heads[name]
    title, code = name.replace("_", " ").casefold(), _standard_code(name)
    for head in heads.values():
        if head.code in (title, code) or head.name.casefold() == title:
            return head
    names = [*heads, *(head.name for head in heads.values())]
    raise UnknownNameError("language", name, names, remedy="(`build languages` lists them)")


def language_code(name: str) -> str:
    """The code of a language, from its code or English name; also of languages without a treebank (``nn``, ``rm``).

    Raises:
        UnknownNameError: there is no such language.
    """
    try:
        return language(name).code
    except UnknownNameError:
        if code := _standard_code(name):
            return code
        raise


def _standard_code(name: str) -> str:
    """The standard one of several codes of a language (``de`` for ``deu``); empty if the name is not a code."""
    import langcodes  # noqa: PLC0415 (most names are in the catalogue)

    if not _CODE.fullmatch(name) or not langcodes.tag_is_valid(name):
        return ""
    code = langcodes.standardize_tag(name)
    return code if _CODE.fullmatch(code) else name


@plugins.cached
def language_codes() -> frozenset[str]:
    """The codes of the languages of the catalogue, those without a corpus that may be used among them."""
    return frozenset(language.code for language in languages(every=True))


def default_corpora(name: str, licences: Licences = "open") -> tuple[Treebank | TextCorpus, ...]:
    """The corpora of a language, given its code or name, that are used when no corpus is named; may be empty.

    They are its treebanks, or raw text for a language without one that may be used.

    Raises:
        UnknownNameError: the catalogue has no such language.
    """
    head = language(name)
    banks = tuple(bank for bank in _usable(head, licences) if bank.default)
    return banks or tuple(text for text in head.texts if text.default)


def corpora_with(layers: frozenset[str], name: str, licences: Licences = "open") -> tuple[Treebank, ...]:
    """The corpora of a language, given its code or name, that have one of these layers of discourse annotation.

    Where a corpus and a part of it have the layer, the part is left out.

    Raises:
        UnknownNameError: the catalogue has no such language.
    """
    banks = [bank for bank in _usable(language(name), licences) if not layers.isdisjoint(bank.layers)]
    names = {bank.name for bank in banks}
    return tuple(bank for bank in banks if bank.part_of not in names)


def _usable(head: Language, licences: Licences) -> Iterator[Treebank]:
    yield from head.treebanks
    if licences == "all":
        yield from (bank for bank in head.left_out if bank.files)


def needed_corpora(name: str, licences: Licences = "open") -> tuple[Treebank | TextCorpus, ...]:
    """As `default_corpora`, but at least one.

    Raises:
        UnknownNameError: the catalogue has no such language.
        UnsupportedError: it has only corpora that are left out; the message gives the reasons.
    """
    if corpora := default_corpora(name, licences):
        return corpora
    head = language(name)
    reasons = "; ".join(f"{record.name}: {record.reason}" for record in head.left_out)
    remedy = "give --licences all or files" if any(record.files for record in head.left_out) else "give files"
    raise UnsupportedError(f"{head.name} has no openly licensed treebank ({reasons}); {remedy} of your own")


def treebank(name: str, licences: Licences = "open") -> Treebank:
    """The treebank with this name (``UD_Spanish-AnCora``) or prefix (``es_ancora``), in any case.

    Raises:
        UnknownNameError: the catalogue has no such treebank.
        UnsupportedError: it is known and left out; the message gives the reason.
    """
    record = corpus(name, licences, kind="treebank")
    if not isinstance(record, Treebank):
        raise UnknownNameError("treebank", name, _index_names())
    return record


def corpus(name: str, licences: Licences = "open", *, kind: str = "corpus") -> Treebank | TextCorpus:
    """The treebank or corpus of raw text with this name (``Klexikon``) or prefix (``de_klexikon``), in any case.

    Args:
        name: its name or prefix.
        licences: which corpora may be used.
        kind: the word for it in messages.

    Raises:
        UnknownNameError: the catalogue has no such corpus.
        UnsupportedError: it is known and left out; the message gives the reason.
    """
    record = known(name, kind=kind)
    if isinstance(record, FormsTable):
        raise UnsupportedError(f"{record.name} is a table of forms; give --set paradigms={record.name}")
    if isinstance(record, LeftOut):
        if not record.files:
            raise UnsupportedError(f"{record.name} is not offered for download: {record.reason}")
        if licences != "all":
            raise UnsupportedError(f"{record.name}: {record.reason}; to use it all the same, give --licences all")
    return record


def known(name: str, *, kind: str = "corpus") -> Treebank | TextCorpus | FormsTable:
    """What the catalogue has under a name or prefix, in any case, whatever its licence.

    Raises:
        UnknownNameError: nothing; the message calls it ``kind``.
    """
    code = _index().get(name.casefold())
    if code is None:
        raise UnknownNameError(kind, name, _index_names(), remedy="(`build corpora list` lists the catalogue)")
    contents = _contents(code)
    records: tuple[Treebank | TextCorpus | FormsTable, ...] = (
        *contents.treebank, *contents.text, *contents.forms, *contents.left_out,
    )  # fmt: skip
    return next(record for record in records if record.is_named(name))


def facts_of(path: Path, digest: File) -> Source | None:
    """The facts about the treebank that has a file with this content at its commit; None if there is none.

    The name of the file does not count: a renamed copy is known, and a file that is only named like a treebank is not.
    Git's hash is computed only for a file whose size or name is in the catalogue.

    Args:
        path: the file.
        digest: of its content; git's hash may be missing.
    """
    index = _file_index()
    content = next((key for key in (digest.sha256, digest.git_blob_sha1) if key in index), "")
    if not content and not digest.git_blob_sha1 and {str(digest.bytes), path.name.casefold()} & index.keys():
        content = hashes_of(path).git_blob_sha1
    if content not in index:
        return None
    contents = _contents(index[content])
    files = ((bank, file) for bank in (*contents.treebank, *contents.left_out) for file in bank.files)
    return next(bank.facts for bank, file in files if content in {file.git_blob_sha1, file.sha256})


def files_named(names: Iterable[str], licences: Licences = "open") -> tuple[Treebank, ...]:
    """The treebanks of the catalogue that have files of these names, in any folder, each with these files only."""
    wanted = {name.casefold() for name in names}
    banks = []
    for code in sorted({_file_index()[name] for name in wanted & _file_index().keys()}):
        contents = _contents(code)
        for bank in (*contents.treebank, *(contents.left_out if licences == "all" else ())):
            files = tuple(file for file in bank.files if PurePosixPath(file.path).name.casefold() in wanted)
            if files and isinstance(bank, Treebank):
                banks.append(msgspec.structs.replace(bank, files=files))
    return tuple(banks)


def sample_files() -> dict[str, Path]:
    """The files of the corpus that ships with the package, by language."""
    folder = Path(str(importlib.resources.files("discoprobe.loaders").joinpath("sample")))
    return {path.name.partition("_")[0]: path for path in sorted(folder.glob("*.conllu"))}


@functools.cache
def packaged_names() -> frozenset[str]:
    """The names and prefixes, in small letters, of all corpora of the package's catalogue."""
    entries = [entry for entry in _folder().iterdir() if entry.name.endswith(".toml")]
    return frozenset(name.casefold() for entry in entries for name in _names_in(entry.read_text(encoding="utf-8")))


def packaged_language_name(code: str) -> str:
    """The name of a language in the package's catalogue; empty if it does not have the language."""
    file = _folder() / f"{code}.toml"
    text = file.read_text(encoding="utf-8").partition("\n[[")[0] if file.is_file() else ""
    return str(parse_toml(text, file.name)["language"]["name"]) if text else ""


def own_files(names: Iterable[str]) -> list[Path]:
    """The files of plugins that have corpora of these names."""
    names = set(names)
    return [file for file in plugins.plugin_files(plugins.CATALOGUE) if names & _own_values(file, ("name",))]


def own_file(corpus: PinnedCorpus, path: str) -> Path | None:
    """Where the plugin that has a corpus in its catalogue has a file of it; None if none has one.

    The path is that in the catalogue, below the folder of the plugin.
    """
    files = (file for file in plugins.plugin_files(plugins.CATALOGUE) if file.stem == corpus.lang)
    places = (file.parents[1] / path for file in files if corpus.name in _own_values(file, ("name",)))
    return next((place for place in places if place.is_file()), None)


@plugins.cached
def _own_values(file: Path, keys: tuple[str, ...]) -> frozenset[str]:
    """The texts and numbers that the corpora in a file of a plugin, and their files, have under some keys."""
    tables = parse_toml(read_utf8(file), str(file))
    listed = [tables[kind] for kind in KINDS if isinstance(tables.get(kind), list)]
    corpora = [corpus for of_kind in listed for corpus in of_kind if isinstance(corpus, dict)]
    entries = [entry for corpus in corpora if isinstance(corpus.get("files"), list) for entry in corpus["files"]]
    records = [*corpora, *(entry for entry in entries if isinstance(entry, dict))]
    return frozenset(str(record[key]) for record in records for key in keys if key in record)


def _folder() -> Traversable:
    return importlib.resources.files("discoprobe.loaders") / "catalogue"


@plugins.cached
def _texts(code: str) -> Mapping[str, str]:
    """The files of a language with their texts: that of the package, then those of plugins."""
    entry = _folder() / f"{code}.toml"
    of_package = {f"catalogue/{code}.toml": entry.read_text(encoding="utf-8")} if entry.is_file() else {}
    files = [file for file in plugins.plugin_files(plugins.CATALOGUE) if file.stem == code]
    return of_package | {str(file): read_utf8(file) for file in files}


@plugins.cached
def _by_code() -> Mapping[str, Language]:
    """Every language by code. The tables of corpora are cut off before parsing, because parsing them takes long."""
    names = {entry.name for entry in _folder().iterdir()} | {file.name for file in plugins.plugin_files("catalogue")}
    heads: dict[str, Language] = {}
    for code in sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")):
        for file, text in _texts(code).items():
            of_plugin = Path(file).is_absolute()
            tables = parse_toml(text if of_plugin else text.partition("\n[[")[0], file)
            facts = {key: value for key, value in tables.items() if key not in KINDS}
            head = convert_table(facts, CatalogueFile, file, toml=text if of_plugin else "").language
            if head.code != code:
                place = f"{file}:{line_of(text, ['language', 'code'])}" if of_plugin else file
                raise DiscoprobeError(f"{place}: language.code: expected '{code}', as the file is called")
            if head != heads.setdefault(code, head):
                place, first = f"{file}:{line_of(text, ['language', 'name'])}", next(iter(_texts(code)))
                raise DiscoprobeError(f"{place}: language.name: expected '{heads[code].name}', as in {first}")
    return MappingProxyType(heads)


@plugins.cached
def _index() -> Mapping[str, str]:
    """Name or prefix of every corpus, in lower case → code of its language.

    Both are found by a pattern, since parsing all files would take ten times as long.
    """
    return MappingProxyType({name.casefold(): code for code in _by_code() for name in _names_of(code)})


@plugins.cached
def _file_index() -> Mapping[str, str]:
    """Hashes, size and, in lower case, name of every file of a treebank in the catalogue → code of its language."""
    values: dict[str, str] = {}
    for code in _by_code():
        for file, text in _texts(code).items():
            if Path(file).is_absolute():
                paths = (PurePosixPath(path).name for path in _own_values(Path(file), ("path",)))
                of_file = {*_own_values(Path(file), ("git_blob_sha1", "bytes", "sha256")), *paths}
            else:
                of_file = {value for of_entry in _FILES.findall(text) for value in of_entry}
            values |= dict.fromkeys((value.casefold() for value in of_file if value), code)
    return MappingProxyType(values)


def _index_names() -> list[str]:
    return [name for code in _by_code() for name in _names_of(code)]


def _names_of(code: str) -> list[str]:
    names: list[str] = []
    for file, text in _texts(code).items():
        names += sorted(_own_values(Path(file), ("name", "prefix"))) if Path(file).is_absolute() else _names_in(text)
    return names


def _names_in(text: str) -> list[str]:
    return _NAMES.findall(text.partition("\n[[")[2])


@plugins.cached
def _contents(code: str) -> CatalogueFile:
    """What the catalogue has of a language, in all files.

    Raises:
        DiscoprobeError: a file of a plugin has a mistake, or a corpus with a name that is used.
    """
    together, places = CatalogueFile(_by_code()[code]), dict[str, str]()
    for file, text in _texts(code).items():
        tables = parse_toml(text, file)
        for kind in KINDS:
            for table in tables.get(kind, ()):
                table["lang"] = code
        contents = convert_table(tables, CatalogueFile, file, toml=text if Path(file).is_absolute() else "")
        records = {kind: (*getattr(together, kind), *getattr(contents, kind)) for kind in KINDS}
        names = Counter(name.casefold() for of_kind in records.values() for record in of_kind for name in record.names)
        if Path(file).is_absolute() and (twice := sorted(name for name, n in names.items() if n > 1)):
            where = places.get(twice[0], file)
            raise DiscoprobeError(f"{file}: there is a corpus {twice[0]} in {where}; choose another name and prefix")
        places |= {name: file for name in names if name not in places}
        together = msgspec.structs.replace(together, **records)
    return together


class HubText(Source, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A dataset of text in many languages on the Hub; its name is that for ``--corpus`` and ``--fill``.

    Attributes:
        paths: pattern for the paths of a language's parquet files; ``{wiki}`` stands for the code of its Wikipedia.
        note: a description of the text.
        without: codes of languages that the dataset does not have.
        wikis: code of a language → code of its Wikipedia, if they differ.
        licence_note: further information on the licence.
        default: whether it is the default of ``--fill`` when no corpus is named.
    """

    lang: str = ""
    paths: str
    note: str
    without: tuple[str, ...] = ()
    wikis: dict[str, str] = {}
    licence_note: str = ""
    default: bool = False

    def corpus(self, lang: str) -> str:
        """The name of the corpus of a language."""
        return f"{self.name}-{lang}"

    def pattern(self, lang: str) -> str:
        """The pattern of the paths of a language's files."""
        return self.paths.replace("{wiki}", self.wikis.get(lang, lang))

    def url(self, lang: str) -> str:
        """The URL of the files of a language, with their pattern."""
        return f"{HUB}{DATASETS}{self.repo}@{self.commit}/{self.pattern(lang)}"


@functools.cache
def hub_texts() -> tuple[HubText, ...]:
    """The datasets of the catalogue. The languages without a Wikipedia are the same in all of them."""
    file = "catalogue/hub/texts.toml"
    tables = parse_toml((importlib.resources.files("discoprobe.loaders") / file).read_text(encoding="utf-8"), file)
    listed = [{"without": tables["without"], **table} for table in tables["dataset"]]
    return convert_table({"dataset": listed}, dict[Literal["dataset"], tuple[HubText, ...]], file)["dataset"]


def is_hub_text(name: str) -> bool:
    """Whether a name is that of a dataset (``finewiki``), or of one language of it (``finewiki-de``)."""
    return any(_stem(name) == text.name for text in hub_texts())


def hub_text(name: str, lang: str = "") -> tuple[HubText, str]:
    """The dataset and the language that a name means: ``finewiki-de``, or ``finewiki`` of a language.

    Args:
        name: one for which `is_hub_text` is true.
        lang: the code of the language, where the name has none.

    Raises:
        UnknownNameError: the dataset has no such language, or none is named.
    """
    text = next(text for text in hub_texts() if _stem(name) == text.name)
    code = name.casefold().partition("-")[2] or lang
    offered = [head.code for head in languages(every=True) if head.code not in text.without]
    if code not in offered:
        raise UnknownNameError(f"language of {text.name}", code, offered, remedy="(name one with --lang)")
    return text, code


def _stem(name: str) -> str:
    return name.casefold().partition("-")[0]
