"""What a corpus is known by: the content of its files, not their names."""

import shutil

import pytest
from discourse_corpora import write_disrpt
from shared import sample_file
from tiny_catalogue import use_catalogue, write_catalogue

from discoprobe.builders import Settings, tasks_named
from discoprobe.loaders import CorpusFormatError, DiscoprobeError, UnknownNameError, UnsupportedError, hashes_of
from discoprobe.loaders.catalogue import treebanks
from discoprobe.loaders.fetch import downloads
from discoprobe.plan import plan, reads
from discoprobe.request import SAMPLE, parse_request
from discoprobe.sources import Request, corpora_of, load_corpus


def test_the_sample_is_known_by_its_content():
    (source,) = load_corpus("es", ["sample"]).sources
    assert (source.name, source.licence) == ("sample-es", "CC0 1.0")


@pytest.mark.parametrize("name", ["es_gsd-ud-train.conllu", "es_sample-ud-test.conllu"])
def test_a_file_with_the_name_of_a_treebank_and_other_content_is_the_user_s_text(tmp_path, name):
    text = sample_file("es").read_text(encoding="utf-8")
    (tmp_path / name).write_text(text.replace("# newdoc", "# mine = yes\n# newdoc", 1), encoding="utf-8")
    (source,) = load_corpus("es", [str(tmp_path / name)]).sources
    assert (source.licence, source.repo, source.commit, source.citation) == ("unknown", "", "", "")


def test_files_of_other_languages_are_not_read(tmp_path):
    """A broken row of a Turkish file does not stop a build of English."""
    for lang in ("es", "de"):
        shutil.copy(sample_file(lang), tmp_path / f"{lang}_x-ud-test.conllu")
    (tmp_path / "tr_x-ud-test.conllu").write_text("1\tbroken\n\n", encoding="utf-8")
    assert load_corpus("es", [str(tmp_path)]).lang == "es"
    with pytest.raises(CorpusFormatError, match="2 columns"):
        load_corpus("tr", [str(tmp_path)])
    with pytest.raises(UnsupportedError, match=r"no corpus of fr among .*; there is de, es, tr"):
        load_corpus("fr", [str(tmp_path)])


def test_corpora_are_read_by_url_as_by_path(tmp_path):
    (tmp_path / "bank").mkdir()
    shutil.copy(sample_file("es"), tmp_path / "bank" / "es_x-ud-test.conllu")
    by_path = load_corpus("es", [str(tmp_path / "bank" / "es_x-ud-test.conllu")])
    by_url = load_corpus("es", [f"file://{tmp_path}/bank/es_x-ud-test.conllu"])
    assert by_url.counts == by_path.counts
    assert by_url.parts[0].load().sentences["text"].equals(by_path.parts[0].load().sentences["text"])
    with pytest.raises(DiscoprobeError, match=r"file:///nowhere/x\.conllu: no such file or folder there"):
        load_corpus("es", ["file:///nowhere/x.conllu"])


RELATIONS = """
[[left_out]]
name = "spa.pdtb.toy"
prefix = "es_toy"
repo = "org/toy"
commit = "0123456789abcdef0123456789abcdef01234567"
licence = "CC BY-NC 4.0"
layers = ["relations"]
default = false
documents = {{ kind = "auto" }}
citation = "Toy, https://example.org/toy"
reason = "CC BY-NC 4.0 forbids commercial use"
files = [{}]
"""


FORMS = """
[[forms]]
name = "UniMorph-es"
prefix = "es_unimorph"
repo = "org/spa"
commit = "0123456789abcdef0123456789abcdef01234567"
licence = "CC BY-SA 3.0"
citation = "UniMorph, https://example.org/spa"
files = [{{ path = "spa", {} }}]
"""


@pytest.fixture
def of_relations(tmp_path, monkeypatch):
    """A catalogue of a treebank, of a corpus of relations that is not openly licensed, and of a table of forms."""
    mirror = tmp_path / "mirror" / "org"
    contents = {mirror / "tiny" / "es_tiny-ud-test.conllu": sample_file("es").read_bytes()}
    for path in write_disrpt(tmp_path).glob("eng.*"):
        contents[mirror / "toy" / path.name.replace("eng.", "spa.")] = path.read_bytes()
    contents[mirror / "spa" / "spa"] = b"comer\tcomen\tV;IND;PRS;3;PL\n"
    pins = {}
    for name, content in contents.items():
        path = name.parent / "0123456789abcdef0123456789abcdef01234567" / name.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        pins[path.name] = f'git_blob_sha1 = "{hashes_of(path).git_blob_sha1}", bytes = {len(content)}'
    write_catalogue(tmp_path / "catalogue", '{ kind = "newdoc" }', test=pins.pop("es_tiny-ud-test.conllu"))
    forms = pins.pop("spa")
    files = ", ".join(f'{{ path = "{name}", {pin} }}' for name, pin in pins.items())
    with (tmp_path / "catalogue" / "es.toml").open("a", encoding="utf-8") as toml:
        toml.write(RELATIONS.format(files) + FORMS.format(forms))
    use_catalogue(tmp_path / "catalogue", monkeypatch)
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DISCOPROBE_MIRROR", str(tmp_path / "mirror"))


TREEBANK, TOY = "UD_Spanish-Tiny", "spa.pdtb.toy"


@pytest.mark.parametrize(
    ("licences", "sources"),
    [("open", {"subj_number": TREEBANK, "dr": TREEBANK}), ("all", {"subj_number": TREEBANK, "dr": TOY})],
)
def test_tasks_on_relations_are_built_from_the_corpora_that_have_them(of_relations, licences, sources):
    request = Request(("es",), fill=(), licences=licences)
    tasks = tasks_named(tuple(sources))
    planned = {task: row["corpus"] for row in reads(plan(request, tasks)) for task in row["tasks"]}
    assert planned == sources
    read = {
        task.name: source.name
        for corpus, of in corpora_of(plan(request, tasks))
        for task in of
        for source in corpus.sources
    }
    assert read == sources
    layers = {task.name: corpus.layers for corpus, of in corpora_of(plan(request, tasks)) for task in of}
    assert ("relations" in layers["dr"]) == (licences == "all")


def test_a_corpus_that_is_named_is_used_for_every_task(of_relations):
    request = Request(("es",), (TOY,), fill=(), licences="all")
    ((corpus, tasks),) = corpora_of(plan(request, tasks_named(("subj_number", "dr"))))
    assert [source.name for source in corpus.sources] == [TOY]
    assert [task.name for task in tasks] == ["subj_number", "dr"]
    with pytest.raises(UnsupportedError, match=rf"{TOY}: CC BY-NC 4.0 forbids commercial use; .*--licences all"):
        list(corpora_of(plan(Request(("es",), (TOY,), fill=()), tasks)))


TABLE = "UniMorph-es"


@pytest.mark.parametrize(
    ("corpora", "setting", "table"),
    [((), "unimorph", TABLE), ((), "none", None), ((SAMPLE,), "unimorph", None), ((SAMPLE,), TABLE.lower(), TABLE)],
)
def test_the_forms_of_the_catalogue_are_used_with_its_corpora_or_if_they_are_named(
    of_relations, corpora, setting, table
):
    request = Request(("es",), corpora, settings=Settings(paradigms=setting), fill=())
    tasks = tasks_named(("agreement_suite", "subj_number"))
    ((corpus, _),) = corpora_of(plan(request, tasks))
    source = corpus.forms
    assert (source and (source.name, source.licence)) == (table and (table, "CC BY-SA 3.0"))
    planned = {row["corpus"]: row["tasks"] for row in reads(plan(request, tasks))}
    assert planned.get(TABLE) == (["agreement_suite"] if table else None)
    assert TABLE not in {row["corpus"] for row in reads(plan(request, tasks[1:]))}


def test_a_table_of_forms_is_no_corpus(of_relations):
    with pytest.raises(UnsupportedError, match="UniMorph-es is a table of forms; give --set paradigms=UniMorph-es"):
        list(corpora_of(plan(Request(("es",), (TABLE,), fill=()), tasks_named(("subj_number",)))))
    request = Request(("es",), settings=Settings(paradigms="unimorph-xx"), fill=())
    with pytest.raises(UnknownNameError, match="unknown table of forms 'unimorph-xx'"):
        list(corpora_of(plan(request, tasks_named(("agreement_suite",)))))
    assert [corpus.name for corpus in downloads.select(["es"])] == [TREEBANK, TABLE]
    assert [corpus.name for corpus in downloads.select([TABLE])] == [TABLE]


def test_all_languages_are_those_of_the_catalogue_if_no_corpus_is_named(of_relations):
    assert parse_request(["all"], ["subj_number"], None).languages == ("es",)
    assert parse_request(["all"], ["subj_number"], ["sample"]).languages == ()
    assert parse_request(None, ["subj_number"], None).languages == ()


def test_the_text_of_a_tree_is_that_of_the_catalogue_if_it_is_downloaded(of_relations, tmp_path, caplog):
    """A tree with the name of a file of the catalogue, whose text has blanks where people write them."""
    (tmp_path / "trees").mkdir()
    tokenised = "Ana vino , y Eva no ; pero Luis sí , dijo ."
    halves = tokenised[:21], tokenised[22:]
    segments = "".join(
        f'<segment id="{n}" parent="3" relname="{rel}">{text}</segment>'
        for n, (text, rel) in enumerate(zip(halves, ("list", "list"), strict=True), 1)
    )
    head = '<rst><header><relations><rel name="list" type="multinuc"/></relations></header><body>'
    tree = f'{head}{segments}<group id="3" type="multinuc"/></body></rst>'
    (tmp_path / "trees" / "es_tiny-ud-test.rs3").write_text(tree, encoding="utf-8")
    rows = [
        f"{n}\t{word}\t_\t_\t_\t_\t{int(n > 1)}\t{'dep' if n > 1 else 'root'}\t_\t_"
        for n, word in enumerate(tokenised.split(), 1)
    ]
    text = tokenised.replace(" ,", ",").replace(" ;", ";").replace(" .", ".")
    conllu = "\n".join(["# newdoc id = es_tiny-ud-test", "# sent_id = 1", f"# text = {text}", *rows, "", ""])
    (bank,) = treebanks.files_named(["es_tiny-ud-test.conllu"])

    def units():
        corpus = load_corpus("es", [str(tmp_path / "trees")])
        (shard,) = corpus.shards()
        names = [file.path for source in corpus.sources for file in source.files]
        assert names == ["es_tiny-ud-test.rs3"], "the file with the text is no part of the corpus"
        return "".join(shard.rst_nodes["text"].drop_nulls())

    assert " ," in units()
    assert f"`build corpora fetch {TREEBANK}` gets it" in caplog.text
    place = downloads.location(bank, bank.files[0])
    place.parent.mkdir(parents=True)
    place.write_text(conllu, encoding="utf-8")
    caplog.clear()
    assert units().replace(" ", "") == text.replace(" ", "")
    assert " ," not in units()
    assert not caplog.text
