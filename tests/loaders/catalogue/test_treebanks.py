"""The catalogue: what it holds, how it is asked, and that it is what its inputs make."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from shared import ROOT, SHARED
from tiny_catalogue import use_catalogue, write_catalogue

from discoprobe.loaders import (
    CorpusFormatError,
    DiscoprobeError,
    File,
    Source,
    UnknownNameError,
    UnsupportedError,
    convert_table,
    hashes_of,
)
from discoprobe.loaders.catalogue import (
    DocumentRule,
    Treebank,
    corpora_with,
    default_corpora,
    hub_texts,
    language,
    language_code,
    languages,
    needed_corpora,
    openness,
    treebank,
    treebanks,
)
from discoprobe.loaders.conllu import read_corpora
from discoprobe.loaders.fetch import HUB_TEXT, list_corpora, select
from discoprobe.loaders.languages import has_spaces, language_data, script_share, wordfreq_code
from discoprobe.plan import plan
from discoprobe.request import Request

FACTS, CORPORA = SHARED / "facts", SHARED / "corpora"
LISTINGS = [FACTS / "ud_catalogue.json", FACTS / "ud_catalogue_2.18_new.json"]
TABLES = FACTS / "unimorph_facts.json"
FROM_LISTINGS = [option for path in LISTINGS for option in ("--catalogue", path)] + ["--forms", TABLES]
SCRIPT = ROOT / "scripts" / "pin_corpora.py"
needs_inputs = pytest.mark.skipif(
    not (CORPORA.is_dir() and all(path.is_file() for path in (*LISTINGS, TABLES))),
    reason="no ../shared with the inputs",
)

SINGLE = {
    "UD_Bavarian-MaiBaam": ("tatoeba_", "xsid_", "sid_", "cairo_", "wikisample_"),
    "UD_Croatian-SET": ("web.hr-",),
    "UD_Czech-CAC": ("n",),
    "UD_Finnish-TDT": ("h",),
    "UD_Kazakh-KTB": ("akorda-random.", "kdt.", "wikipedia", "wikitravel.", "әртүрлі."),
    "UD_Russian-Taiga": ("instagram-", "poetry-rnc-abstract-", *"123456789"),
    "UD_Slovenian-SSJ": ("elexiswsd1.",),
}
"""How the ids of sentences begin that are in no document, each from another text."""

EVERY = [bank for known in languages() for bank in known.treebanks]
OFFERED = [corpus for known in languages() for corpus in (*known.treebanks, *known.texts)]
LEFT_OUT = [left for known in languages(every=True) for left in known.left_out]
FORMS = [known.forms for known in languages(every=True) if known.forms]
CLOSED = {known.code for known in languages(every=True)} - {known.code for known in languages()}
"""Languages whose corpora are not openly licensed."""


def pin(*options):
    return subprocess.run(
        [sys.executable, SCRIPT, *map(str, options)], capture_output=True, text=True, check=False, timeout=60
    )


# What it holds


def test_there_are_languages_and_treebanks():
    assert len(languages()) >= 165
    assert len(EVERY) >= 280
    universal = [bank for bank in (*EVERY, *LEFT_OUT) if bank.name.startswith("UD_")]
    assert len(universal) >= 360, "release 2.18 has 353, of which two could not be read"
    assert len([bank for bank in universal if bank.files]) >= 330
    assert {"es", "ru", "de", "zh", "am", "ug"} <= {known.code for known in languages()}


@pytest.mark.parametrize("bank", EVERY, ids=lambda bank: bank.name)
def test_a_treebank_is_whole(bank):
    assert openness(bank.licence) == "open"
    assert re.fullmatch(r"[0-9a-f]{40}", bank.commit)
    assert bank.files
    assert all(re.fullmatch(r"[0-9a-f]{40}", file.git_blob_sha1) for file in bank.files)
    assert all(re.fullmatch(r"|[0-9a-f]{64}", file.sha256) for file in bank.files)
    assert all(file.bytes is None or file.bytes > 0 for file in bank.files)
    readable = (".conllu", ".rels", ".rs3", ".rs4", ".conll", ".ann", ".txt", ".sacr", ".tsv", ".knp")
    assert all(file.path.endswith(readable) for file in bank.files)
    assert len({bank.place(file) for file in bank.files}) == len(bank.files), "the cache keeps files by place"
    assert bank.commit[:7] in bank.citation
    assert bank.repo in bank.citation


def test_train_files_are_there():
    assert {"de_gsd-ud-train.conllu", "de_gsd-ud-dev.conllu"} <= {file.path for file in treebank("de_gsd").files}
    assert len([file for file in treebank("ru_taiga").files if "train" in file.path]) == 5


def test_names_and_prefixes_are_unique():
    names = [name for bank in OFFERED for name in {bank.name.casefold(), bank.prefix.casefold()}]
    names += [name for left in LEFT_OUT for name in {left.name.casefold(), left.prefix.casefold()}]
    assert len(set(names)) == len(names)


def test_what_is_left_out_has_a_reason_and_the_rest_is_not_left_out():
    assert LEFT_OUT
    assert all(left.reason for left in LEFT_OUT)
    assert not {left.name for left in LEFT_OUT} & {bank.name for bank in EVERY}
    reasons = {left.name: left.reason for left in LEFT_OUT}
    assert "commercial" in reasons["UD_English-GUM"]
    assert "text" in reasons["UD_Arabic-NYUAD"]
    assert "C-UDA" in reasons["UD_Ligurian-GLT"]


def test_decisions_about_treebanks_have_reasons():
    reasons = {left.name: left.reason for left in LEFT_OUT}
    assert "machine translation" in reasons["UD_Turkmen-TUD"]
    assert "no copy of its files" in reasons["UD_Egyptian-PC"]
    for old_name in ("UD_Swiss_German-UZH", "UD_Occitan-CorAG"):
        with pytest.raises(UnknownNameError):
            treebank(old_name)
    assert (treebank("gsw_uzh").name, treebank("pro_corag").name) == ("UD_Alemannic-UZH", "UD_Old_Occitan-CorAG")
    booklet = next(left for left in LEFT_OUT if left.name == "UD_Haitian_Creole-Adolphe")
    assert (booklet.licence, len(booklet.files)) == ("unknown", 3)
    assert "not known to have licensed it" in booklet.reason
    assert "release 2.17" in treebank("egy_ujaen").note
    on_dev = treebank("fro_altm")
    assert (on_dev.commit[:7], on_dev.date) == ("041b8eb", "2025-06-27"), "its files are on the branch dev only"


def test_the_stricter_licence_counts_where_readme_and_licence_file_differ():
    differing = {left.name: left for left in LEFT_OUT if "stricter" in left.licence_note}
    assert len(differing) == 11
    assert {"UD_Xibe-XDT", "UD_Occitan-TTB", "UD_Ruuli-RDT"} <= differing.keys()
    assert all("NC" in left.licence for left in differing.values())


@pytest.mark.parametrize("code", sorted(known.code for known in languages(every=True)))
def test_a_language_works_without_a_file_or_a_code_of_its_own(code):
    """Also one with a private code (``qfn``, Frisian with Dutch) or unknown to langcodes and wordfreq."""
    data = language_data(code)
    assert (data.code, data.spaces) == (code, has_spaces(code) if not data.file else data.spaces)
    assert script_share("", code) == 1
    assert wordfreq_code(code) is None or isinstance(wordfreq_code(code), str)
    assert language_code(code) == code
    assert language(treebanks.language_name(code)).code == code


def test_tables_without_a_known_licence_are_used_only_where_every_licence_is_accepted():
    by_lang = {table.lang: table for table in FORMS}
    assert len(by_lang) >= 65
    assert {"gl", "sq", "fro", "az"} <= {lang for lang, table in by_lang.items() if table.default}
    unknown = {lang for lang, table in by_lang.items() if openness(table.licence) != "open"}
    assert {"cy", "ka", "kmr"} <= unknown == {lang for lang, table in by_lang.items() if not table.default}
    assert by_lang["cy"] not in select(["cy"])
    assert by_lang["cy"] in select(["cy"], "all")
    assert by_lang["gl"] in select(["gl"])
    request = Request(("cy", "gl"), tasks=("agreement_suite",))
    assert {*plan(request).forms} == {"gl"}
    assert {*plan(msgspec.structs.replace(request, licences="all")).forms} == {"cy", "gl"}


def test_languages_without_a_wikipedia_are_not_offered_its_text():
    (lists,) = {text.without for text in hub_texts()}
    assert {"qfn", "akk", "grc"} <= set(lists) <= treebanks.language_codes()
    assert treebanks.hub_text("finewiki-wo")[0].url("yue").endswith("data/zh_yuewiki/*.parquet")
    with pytest.raises(UnknownNameError):
        treebanks.hub_text("finewiki-akk")


def test_the_open_part_of_a_corpus_is_offered_without_the_rest():
    files = {file.name for file in treebank("GUM-open").files}
    genres = {name.split("_")[1] for name in files}
    assert len({name.partition(".")[0] for name in files}) * 2 == len(files), "every document has its tree"
    assert genres == {"academic", "bio", "court", "interview", "news", "speech", "textbook", "vlog", "voyage"}
    assert not {name for name in (file.name for file in treebank("GCDT").files) if "whow" in name}


# How it is asked


def test_listing_all_languages_parses_no_list_of_files():
    """Of two megabytes of pinned files, what stands before them is parsed."""
    code = """
import importlib.resources
from discoprobe.loaders.catalogue import treebanks
parsed, parse_toml = [], treebanks.parse_toml
treebanks.parse_toml = lambda text, file: parsed.append(len(text)) or parse_toml(text, file)
treebanks.languages()
folder = importlib.resources.files("discoprobe.loaders").joinpath("catalogue")
print(sum(parsed) / sum(len(file.read_text()) for file in folder.iterdir() if file.name.endswith(".toml")))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert 0 < float(run.stdout) < 0.1


def test_a_language_by_code_and_name():
    assert language("es") is language("Spanish") is language("spanish")
    assert language("Ancient_Greek") is language("ancient greek")
    assert [bank.name for bank in language("ug").treebanks] == ["UD_Uyghur-UDT"]


def test_a_language_without_a_treebank_in_the_catalogue_is_known_by_its_code():
    assert [language_code(name) for name in ("got", "Spanish", "es")] == ["got", "es", "es"]
    assert [language_code(name) for name in ("deu", "spa", "nn", "nno", "sh")] == ["de", "es", "nn", "nn", "sh"]
    assert language("deu") is language("de")
    with pytest.raises(UnknownNameError, match="unknown language 'xyz'"):
        language_code("xyz")


@pytest.mark.parametrize(("name", "near"), [("Spanich", "Spanish"), ("Ukranian", "Ukrainian")])
def test_an_unknown_language_lists_near_names(name, near):
    with pytest.raises(UnknownNameError, match=f"unknown language '{name}'; did you mean .*{near}"):
        language(name)


def test_a_treebank_by_name_and_prefix():
    assert treebank("es_ancora") is treebank("UD_Spanish-AnCora") is treebank("ud_spanish-ancora")
    with pytest.raises(UnknownNameError, match="did you mean UD_Spanish-AnCora"):
        treebank("UD_Spanish-Ancorra")
    with pytest.raises(UnsupportedError, match=r"UD_Bulgarian-BTB: CC BY-NC-SA 3.0 forbids .*--licences all"):
        treebank("bg_btb")
    assert treebank("bg_btb", "all").name == "UD_Bulgarian-BTB"
    for licences in ("open", "all"):
        with pytest.raises(UnsupportedError, match=r"UD_Arabic-NYUAD is not offered for download: .*without the text"):
            treebank("ar_nyuad", licences)


def test_treebanks_taken_by_default():
    assert [bank.name for bank in needed_corpora("Uyghur")] == ["UD_Uyghur-UDT"]
    names = {bank.name for bank in needed_corpora("zh")}
    assert "UD_Chinese-GSD" in names
    assert "GCDT" not in names, "its tags are not those of Universal Dependencies"
    with pytest.raises(UnsupportedError, match=r"Gothic has no openly licensed treebank .*commercial"):
        needed_corpora("got")


def test_every_licence_is_accepted_only_if_asked_for():
    assert default_corpora("got") == ()
    assert [corpus.name for corpus in default_corpora("bg")] == ["NTREX-128-bg"]
    assert [bank.name for bank in default_corpora("bg", "all")] == ["UD_Bulgarian-BTB"]
    assert [corpus.name for corpus in default_corpora("eu")] == ["NTREX-128-eu"]
    assert [corpus.name for corpus in default_corpora("eu", "all")] == ["UD_Basque-BDT"], "a treebank, not raw text"
    closed = {bank.name for bank in default_corpora("it", "all")} - {bank.name for bank in default_corpora("it")}
    assert {"UD_Italian-ISDT", "UD_Italian-VIT"} <= closed
    assert "UD_Italian-ISDT" in {corpus.name for corpus in select(["it"], "all")}
    assert "UD_Italian-ISDT" not in {corpus.name for corpus in select(["it"])}


def test_what_is_left_out_for_its_licence_is_pinned():
    usable = [record for record in LEFT_OUT if record.files]
    assert len(usable) > 50
    for record in usable:
        assert openness(record.licence) != "open"
        assert all(re.fullmatch(r"[0-9a-f]{40}", file.git_blob_sha1) for file in record.files)
        assert len({file.name for file in record.files}) == len(record.files)


def test_corpora_with_annotated_discourse():
    def names(layer, lang, licences="open"):
        return [bank.name for bank in corpora_with(frozenset({layer, "upos"}), lang, licences)]

    assert names("relations", "en") == ["GUM-open"]
    assert names("rst_trees", "zh") == ["GCDT"]
    assert names("coreference", "cop") == ["UD_Coptic-Scriptorium"]
    assert names("relations", "es") == []
    assert names("relations", "es", "all") == ["spa.rst.rststb", "spa.rst.sctb"]
    assert names("rst_trees", "en", "all") == ["GUM-open"]
    whole = names("relations", "en", "all")
    assert {"UD_English-GUM", "UD_English-GENTLE"} <= set(whole)
    assert not {"GUM-open", "eng.erst.gentle"} & set(whole), "they are parts of those"
    for record in (record for record in LEFT_OUT if record.name.count(".") == 2):
        stems = {file.path.removesuffix(".rels") for file in record.files if file.path.endswith(".rels")}
        assert stems == {file.path.removesuffix(".conllu") for file in record.files if file.path.endswith(".conllu")}
        assert not record.default, "it is not used for other tasks"


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """The three files of a catalogue of one treebank, by the end of their names, each with its content."""
    contents = {part: CONLLU.format(part).encode() for part in ("dev", "test", "train")}
    digests = {part: hashes_of(content) for part, content in contents.items()}
    dev, test, train = digests["dev"], digests["test"], digests["train"]
    write_catalogue(
        tmp_path / "catalogue", "{ kind = \"sent_id\", pattern = '^(\\w+)-' }",
        dev=f'git_blob_sha1 = "{dev.git_blob_sha1}", bytes = {dev.bytes}',
        test=f'git_blob_sha1 = "GIT", bytes = 1, sha256 = "{test.sha256}"',
        train=f'git_blob_sha1 = "{train.git_blob_sha1}"',
    )  # fmt: skip
    use_catalogue(tmp_path / "catalogue", monkeypatch)
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    return contents


CONLLU = """# sent_id = {0}-1
# text = a
1\ta\ta\tX\t_\t_\t0\troot\t_\t_

# sent_id = {0}-2
# text = b
1\tb\tb\tX\t_\t_\t0\troot\t_\t_

"""


def read_files(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    corpus = read_corpora([folder], lang="es")["es"]
    ids = [doc_id for shard in corpus.shards() for doc_id in shard.documents["doc_id"]]
    return [(source.name, source.licence, source.commit[:4]) for source in corpus.sources], ids


def test_a_copy_of_a_file_is_known_by_its_content_whatever_its_name(tiny, tmp_path):
    named = {f"UD_Spanish-Tiny/es_tiny-ud-{part}.conllu": content for part, content in tiny.items()}
    pinned = [("UD_Spanish-Tiny", "CC BY 4.0", "0123")]
    assert read_files(tmp_path / "named", named) == (pinned, ["dev", "test", "train"])
    renamed = {"mine/a.conllu": tiny["dev"], "mine/b.conllu": tiny["test"]}
    assert read_files(tmp_path / "renamed", renamed) == (pinned, ["dev", "test"])


def test_a_file_that_is_only_named_like_a_treebank_takes_nothing_from_the_catalogue(tiny, tmp_path):
    """Not its licence, and not its rule of documents, by which the sentence ids would name one."""
    other = CONLLU.replace("{0}-1", "x-1").replace("{0}-2", "y-1").encode()
    sources, ids = read_files(tmp_path / "a", {"es_tiny-ud-test.conllu": other})
    assert (sources, ids) == ([("es_tiny", "unknown", "")], [None])
    sources, ids = read_files(tmp_path / "b", {"es_tiny-ud-dev.conllu": tiny["dev"], "es_tiny-ud-test.conllu": other})
    assert sources == [("UD_Spanish-Tiny", "CC BY 4.0", "0123"), ("es_tiny", "unknown", "")]
    mixed = {f"UD_Spanish-Tiny/es_tiny-ud-{part}.conllu": text for part, text in {**tiny, "test": other}.items()}
    assert read_files(tmp_path / "c", mixed)[0] == [("UD_Spanish-Tiny", "unknown", "")]


def test_a_malformed_sentence_of_a_pinned_file_is_left_out_and_counted(tmp_path, monkeypatch):
    """Nobody can mend it; in a file of one's own it is a fault (eng.sdrt.stac has one of 8,700 sentences)."""
    content = CONLLU.format("test").replace("1\tb\tb", "1-2\tb\t_\t_\t_\t_\t_\t_\t_\t_\n1\tb\tb").encode()
    pinned = hashes_of(content)
    write_catalogue(tmp_path / "catalogue", '{ kind = "none" }', test=f'git_blob_sha1 = "{pinned.git_blob_sha1}"')
    use_catalogue(tmp_path / "catalogue", monkeypatch)
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "files" / "es_tiny-ud-test.conllu"
    file.parent.mkdir()
    file.write_bytes(content)
    corpus = read_corpora([file], lang="es")["es"]
    assert (corpus.n_sentences, corpus.drops) == (1, {"multiword token": 1})
    file.write_bytes(content + b"\n")
    with pytest.raises(CorpusFormatError, match="multiword token 1-2"):
        read_corpora([file], lang="es")


def test_git_hashes_a_file_only_if_its_size_or_name_is_in_the_catalogue(tiny, tmp_path, monkeypatch):
    paths = {name: tmp_path / f"{name}.conllu" for name in ("large", "dev", "es_tiny-ud-train")}
    for path, content in zip(paths.values(), (b"another size", tiny["dev"], tiny["train"]), strict=True):
        path.write_bytes(content)
    digests = {name: hashes_of(path, with_git=False) for name, path in paths.items()}
    hashed = []
    monkeypatch.setattr(treebanks, "hashes_of", lambda path: hashed.append(path.stem) or hashes_of(path))
    facts = {name: treebanks.facts_of(path, digests[name]) for name, path in paths.items()}
    assert hashed == ["dev", "es_tiny-ud-train"]
    assert [bool(of_file) for of_file in facts.values()] == [False, True, True]


def test_every_record_is_found_by_name_and_prefix():
    assert len(EVERY) > 100
    assert LEFT_OUT
    for bank in EVERY:
        assert treebank(bank.name) is treebank(bank.prefix) is bank


def test_document_rules():
    assert treebank("es_ancora").documents == DocumentRule("newdoc")
    assert treebank("tr_boun").documents == DocumentRule("none")
    assert treebank("es_coser").documents == DocumentRule("auto")
    assert treebank("ko_kaist").documents == DocumentRule("sent_id", r"^(.*)-s\d+$")
    assert treebank("hr_set").documents == DocumentRule("newdoc", r"^(?:set|news)\.hr-s")
    puds = [bank for bank in EVERY if bank.name.endswith("-PUD")]
    assert len(puds) >= 15
    assert {bank.documents for bank in puds} == {DocumentRule("sent_id", r"^([nw]\d{5})")}


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"kind": "paragraph"}, r"documents\.kind: Invalid enum value 'paragraph'; see DocumentRule in"),
        ({"kind": "file", "pattern": "^(x)"}, "documents: a rule of kind 'file' takes no pattern"),
        ({"kind": "sent_id"}, "documents: a rule of kind 'sent_id' needs a pattern"),
        ({"kind": "sent_id", "pattern": r"^x\d+$"}, "needs a group that names the document"),
        ({"kind": "sent_id", "pattern": "^(x"}, "is not a regular expression"),
        ({"kind": "auto", "patern": ""}, "documents: Object contains unknown field `patern`"),
    ],
)
def test_a_document_rule_that_makes_no_sense_is_refused(rule, message):
    with pytest.raises(DiscoprobeError, match=f"^catalogue/es.toml: .*{message}"):
        convert_table(rule, DocumentRule, "catalogue/es.toml", "documents")


def test_select_means_languages_and_treebanks_each_once():
    names = [bank.name for bank in select(["Uyghur", "ug_udt", "GCDT"])]
    assert names == ["UD_Uyghur-UDT", "NTREX-128-ug", "UniMorph-ug", "GCDT"]
    assert [corpus for corpus in select([]) if corpus not in FORMS] == OFFERED
    assert {corpus.name for corpus in select([])} >= {
        table.name for table in FORMS if table.default and table.lang not in CLOSED
    }
    with pytest.raises(UnknownNameError):
        select(["es", "klingon"])
    with pytest.raises(UnsupportedError):
        select(["Gothic"])


def test_the_listing_says_what_is_offered_and_why_the_rest_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path))
    rows = {row["name"]: row for row in list_corpora(["English", "bg"])}
    assert rows["UD_English-PUD"]["licence"] == "CC-BY-SA-3.0"
    assert rows["UD_English-PUD"]["bytes"] == 1386858
    assert rows["UD_English-PUD"]["cached"] == 0
    assert rows["GUM-open"]["offered"]
    assert not rows["UD_Bulgarian-BTB"]["offered"]
    assert "commercial" in rows["UD_Bulgarian-BTB"]["note"]
    faulty = [row["name"] for row in list_corpora() if "passive" in row["note"]]
    assert sorted(faulty) == ["UD_French-ParisStories", "UD_Spanish-COSER"]
    of_hub = [row for row in list_corpora() if row["documents"] == HUB_TEXT]
    assert len(of_hub) > 100
    assert len(list_corpora()) == len(OFFERED) + len(LEFT_OUT) + len(FORMS) + len(of_hub)


# That it is what its inputs make


@needs_inputs
def test_the_catalogue_is_what_the_script_makes(tmp_path):
    made = pin(*FROM_LISTINGS, "--corpora", CORPORA, "--check")
    assert (made.returncode, made.stdout) == (0, "")

    assert pin(*FROM_LISTINGS, "--corpora", CORPORA, "--out", tmp_path).returncode == 0
    (tmp_path / "es.toml").write_text("", encoding="utf-8")
    (tmp_path / "xx.toml").write_text("", encoding="utf-8")
    stale = pin(*FROM_LISTINGS, "--corpora", CORPORA, "--out", tmp_path, "--check")
    assert stale.returncode == 1
    assert [line.split()[0] for line in stale.stdout.splitlines()] == ["es.toml", "xx.toml"]


@needs_inputs
def test_files_at_hand_of_the_pinned_commit_have_their_sha256():
    pinned = {file.git_blob_sha1: file for bank in EVERY for file in bank.files}
    manifest = json.loads((CORPORA / "manifest.json").read_text(encoding="utf-8"))["files"]
    at_hand = [file for file in manifest if file.get("kind") == "ud" and not file["nc"]]
    matched = {file["path"]: file for file in at_hand if hashes_of(CORPORA / file["path"]).git_blob_sha1 in pinned}
    for path, file in matched.items():
        known = pinned[hashes_of(CORPORA / path).git_blob_sha1]
        assert (known.sha256, known.bytes) == (file["sha256"], file["bytes"])
    older = {Path(file["path"]).name for file in at_hand} - {Path(path).name for path in matched}
    assert older == {
        "es_ancora-ud-dev.conllu",
        "ca_ancora-ud-dev.conllu",
        "ja_pud-ud-test.conllu",
        "annodis.er.conllu",
    }, "three files are of older commits than the pins, one is not part of the release"


@needs_inputs
def test_rules_on_sentence_ids_fit_the_sentence_ids():
    """All of them, except those that are single sentences."""
    seen = 0
    for path in sorted((CORPORA / "ud").rglob("*.conllu")):
        facts = treebanks.facts_of(path, hashes_of(path))
        if facts and facts.documents.pattern:
            ids = re.findall(r"^# sent_id = (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            outside = [sent_id for sent_id in ids if not re.match(facts.documents.pattern, sent_id)]
            assert not [sent_id for sent_id in outside if not sent_id.startswith(SINGLE.get(facts.name, ()))], path.name
            seen += 1
    assert seen >= 13


@pytest.mark.parametrize(
    ("prefix", "sent_id", "document"),
    [
        ("ru_taiga", "xud--n_n--n_03-62", "xud--n_n--n_03"),
        ("ru_taiga", "uch-nauch--n_n--n12-1a", "uch-nauch--n_n--n12"),
        ("ru_taiga", "instagram-584", None),
        ("ru_taiga", "poetry-rnc-abstract-7", None),
        ("ru_taiga", "2001", None),
        ("fi_tdt", "wn051.3", "wn051"),
        ("fi_tdt", "h1052.11", None),
        ("sl_ssj", "ssj500.2653.9490", "ssj500.2653"),
        ("sl_ssj", "elexiswsd1.1818.sl.132644", None),
        ("kk_ktb", "story.tagged.txt:3:40", "story.tagged.txt"),
        ("kk_ktb", "akorda-random.tagged.txt:3:40", None),
        ("bho_bhtb", "f2-152", "f2"),
        ("bho_bhtb", "f3-1", "f3"),
        ("quc_iu", "cuentos:Alaj_kuk.wiki:3", "cuentos:Alaj_kuk.wiki"),
        ("quc_iu", "biblia:2752", "biblia"),
        ("quc_iu", "utexas:179.4", None),
        ("quc_iu", "almg-examples:3", None),
    ],
)
def test_posts_and_samples_are_no_documents(prefix, sent_id, document):
    found = re.match(treebank(prefix).documents.pattern, sent_id)
    assert (found and found[1]) == document


@pytest.mark.parametrize("prefix", ["am_att", "br_keb", "cy_ccg", "gv_cadhan", "ka_glc", "ml_ufal", "ro_rrt"])
def test_files_of_single_sentences_are_no_documents(prefix):
    assert treebank(prefix).documents == DocumentRule("none")


@pytest.mark.parametrize(
    ("prefix", "sent_id", "in_document"),
    [
        ("naq_kdt", "film_Bridge_12", True),
        ("naq_kdt", "book_Khomai_5_1", False),
        ("naq_kdt", "conversation_Windhoek5_351", False),
        ("ruc_rdt", "spokenTale_Gweero_2", True),
        ("ruc_rdt", "graphy_Nakasongola1_1", True),
        ("ruc_rdt", "spokenConv_Nakasongola2_1", False),
        ("ruc_rdt", "nonfiction_Aniinire_1", False),
    ],
)
def test_sentences_that_were_shuffled_are_in_no_document(prefix, sent_id, in_document):
    rule = treebank(prefix, "all").documents
    assert bool(re.match(rule.pattern, sent_id)) == in_document


def test_the_script_on_small_inputs(tmp_path):
    corpora = tmp_path / "corpora"
    folder = corpora / "ud" / "fr" / "UD_French-Small"
    folder.mkdir(parents=True)
    (folder / "fr_small-ud-test.conllu").write_text("# sent_id = a-1\n", encoding="utf-8")
    (folder / "SOURCE.txt").write_text("document rule: ^(.*)-\\d+$\n", encoding="utf-8")
    hashes = hashes_of(folder / "fr_small-ud-test.conllu")
    blob, sha256 = hashes.git_blob_sha1, hashes.sha256
    path = "ud/fr/UD_French-Small/fr_small-ud-test.conllu"
    others = [
        {"path": f"{path}{n}", "kind": "ud", "treebank": name, "lang": "en", "repo": "a/b", "commit": "c" * 40}
        for n, name in enumerate(["GUM-open", "GCDT"])
    ]
    for n, other in enumerate(others):
        (corpora / other["path"]).write_text(str(n), encoding="utf-8")
        other |= {"bytes": 1, "sha256": str(n) * 64, "path": other["path"]}
        (corpora / other["path"]).rename(corpora / f"{n}_news_x.conllu")
        other["path"] = f"{n}_news_x.conllu"
    entry = {"path": path, "kind": "ud", "treebank": "UD_French-Small", "bytes": 16, "sha256": sha256}
    (corpora / "manifest.json").write_text(json.dumps({"files": [entry, *others]}), encoding="utf-8")
    record = {
        "repo": "UniversalDependencies/UD_French-Small",
        "commit": "a" * 40,
        "date": "2026-01-01",
        "licence": "CC BY 4.0",
        "genre": "news wiki",
        "includes_text": "yes",
        "files": [
            {"path": "fr_small-ud-test.conllu", "git_blob_sha1": blob, "bytes": None},
            {"path": "fr_small-ud-train.conllu", "git_blob_sha1": "b" * 40, "bytes": None},
        ],
    }
    closed = record | {"repo": "UniversalDependencies/UD_French-Closed", "licence": "CC BY-ND 4.0"}
    closed["files"] = [record["files"][1] | {"path": "fr_closed-ud-test.conllu"}]
    listing = tmp_path / "listing.json"
    listing.write_text(json.dumps({"treebanks": [record, closed]}), encoding="utf-8")
    table = {"repo": "unimorph/fra", "iso": "fra", "commit": "d" * 40, "date": "2026-01-01", "licence": "unknown"}
    table |= {"files": [{"path": "fra", "git_blob_sha1": "e" * 40, "bytes": 7}], "usable_files": ["fra"]}
    forms = tmp_path / "forms.json"
    languages_of = [{"lcode": "fr", "unimorph": ["unimorph/fra"]}, {"lcode": "zz", "unimorph": ["unimorph/fra"]}]
    forms.write_text(json.dumps({"repositories": [table], "ud_languages": languages_of}), encoding="utf-8")

    out = tmp_path / "out"
    assert pin("--catalogue", listing, "--forms", forms, "--corpora", corpora, "--out", out).returncode == 0
    text = (out / "fr.toml").read_text(encoding="utf-8")
    assert f'git_blob_sha1 = "{blob}", bytes = 16, sha256 = "{sha256}"' in text
    assert f'git_blob_sha1 = "{"b" * 40}" }}' in text
    assert "documents = { kind = \"sent_id\", pattern = '^(.*)-\\d+$' }" in text
    assert 'reason = "CC BY-ND 4.0 forbids passing on changed copies"' in text
    assert 'name = "UniMorph-fr"' in text
    assert 'licence = "unknown"\ndefault = false\nnote = "no licence is named"' in text

    before = {path.name: path.read_bytes() for path in out.iterdir()}
    time.sleep(0.01)
    assert pin("--catalogue", listing, "--forms", forms, "--corpora", corpora, "--out", out).returncode == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_folder_of_clones_is_a_listing(tmp_path):
    clone = tmp_path / "clones" / "UD_Wolof-Small"
    clone.mkdir(parents=True)
    (clone / "wo_small-ud-test.conllu").write_text("# sent_id = a-1\n", encoding="utf-8")
    (clone / "not-to-release.txt").write_text("x", encoding="utf-8")
    (clone / "LICENSE.txt").write_text("Creative Commons Attribution-ShareAlike 4.0", encoding="utf-8")
    (clone / "README.md").write_text(
        "# Summary\n\nLicense: see below\n\n=== Machine-readable metadata ===\nLicense: CC BY-NC-SA 4.0\n"
        "Includes text: yes\nGenre: wiki, legal\nLemmas: manual native\n",
        encoding="utf-8",
    )
    git = ["git", "-C", clone, "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x", "--date=2026-05-06T00:00:00Z"]):
        subprocess.run([*git, *command], check=True, env=os.environ | {"GIT_COMMITTER_DATE": "2026-05-06T00:00:00Z"})

    script = ROOT / "scripts" / "list_treebanks.py"
    printed = subprocess.run([sys.executable, script, tmp_path / "clones"], capture_output=True, check=True)
    listed = json.loads(printed.stdout)["treebanks"]
    assert [(record["repo"], record["date"]) for record in listed] == [
        ("UniversalDependencies/UD_Wolof-Small", "2026-05-06")
    ]
    (record,) = listed
    assert (record["licence"], record["genre"], record["includes_text"]) == ("CC BY-NC-SA 4.0", "wiki, legal", "yes")
    blob = hashes_of(clone / "wo_small-ud-test.conllu").git_blob_sha1
    assert record["files"] == [{"path": "wo_small-ud-test.conllu", "git_blob_sha1": blob, "bytes": 16}]


def test_names_are_read_off_the_text_as_the_parser_reads_them():
    """`treebanks` finds names by a pattern, for speed; a layout that the pattern misses would hide a treebank."""
    read = {name for code in treebanks._by_code() for name in treebanks._names_of(code)}
    parsed = {name for bank in OFFERED for name in (bank.name, bank.prefix)}
    assert read == parsed | {name for other in (*LEFT_OUT, *FORMS) for name in (other.name, other.prefix)}


# What a config depends on


def test_the_identity_of_a_source_does_not_say_where_its_files_are():
    here, there = (
        Source("UniMorph-es", "es", files=(File("es", "0" * 64, 1, url=f"{folder}/es"),)) for folder in ("/a", "/b")
    )
    assert here.identity == there.identity
    assert [*here.identity["files"]] == [{"path": "es", "sha256": "0" * 64, "bytes": 1}]
    assert here.identity.keys().isdisjoint({"documents"})


def test_a_file_of_the_catalogue_has_a_path_and_a_hash():
    record = msgspec.to_builtins(treebank("en_pud"))
    for key in ("path", "git_blob_sha1"):
        files = [{**record["files"][0], "sha256": "", key: ""}]
        with pytest.raises(msgspec.ValidationError, match=rf"files\[0\]: the key {key} is missing"):
            msgspec.convert({**record, "files": files}, Treebank)
