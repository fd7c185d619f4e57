"""What is up to date is not built again, and whatever can change a byte makes it stale."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest
from shared import sample_file, tree_of

from discoprobe import builders, cards, pipeline
from discoprobe.builders import Settings, all_tasks, tasks_named
from discoprobe.builders.audit import report
from discoprobe.cards.metadata import manifest
from discoprobe.cards.release import release_folder as staleness
from discoprobe.loaders import File, Source
from discoprobe.loaders import corpus as corpus_tables
from discoprobe.plan import plan
from discoprobe.sources import Request, load_corpus

TASKS = ("bso", "dc", "gapping")
"""Two that the Spanish sample supports, and one that it does not."""
BUILT = {"bso_es", "dc_es"}
ALL = [f"{task}_es" for task in TASKS]


@pytest.fixture
def corpus(tmp_path):
    """The Spanish sample as a file of the user's own."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    return Path(shutil.copy(sample_file("es"), folder))


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A folder that a renewal filled; tests copy it."""
    base = tmp_path_factory.mktemp("first")
    corpus = base / sample_file("es").name
    shutil.copy(sample_file("es"), corpus)
    outcome, fresh = pipeline.renew(plan(Request(("es",), (str(corpus),), TASKS)), base / "out")
    assert (set(outcome.built), [one.name for one in outcome.missing], fresh) == (BUILT, ["gapping_es"], ())
    return base / "out"


@pytest.fixture
def out(first, tmp_path):
    return Path(shutil.copytree(first, tmp_path / "out"))


@pytest.fixture
def request_(corpus):
    return Request(("es",), (str(corpus),), TASKS)


def renewed(request, out):
    """Names of what was built or tried, and of what was up to date."""
    outcome, fresh = pipeline.renew(plan(request), out)
    return {*outcome.built, *(one.name for one in outcome.missing)}, set(fresh)


def test_nothing_changed(out, request_):
    before, inode = tree_of(out), out.stat().st_ino
    assert renewed(request_, out) == (set(), set(ALL))
    assert tree_of(out) == before
    assert out.stat().st_ino == inode, "the folder was not even written anew"


def test_what_is_renewed_piece_by_piece_is_what_a_build_gives(out, request_, tmp_path):
    shutil.rmtree(out / "dc_es")
    assert renewed(request_, out) == ({"dc_es"}, {"bso_es", "gapping_es"})
    pipeline.run(plan(request_), tmp_path / "whole")
    assert tree_of(out) == tree_of(tmp_path / "whole")


def test_a_build_is_up_to_date_for_a_renewal(request_, tmp_path):
    pipeline.run(plan(request_), tmp_path / "out")
    assert renewed(request_, tmp_path / "out") == (set(), set(ALL))


def test_only_what_is_asked_for_is_built(out, request_):
    more = msgspec.structs.replace(request_, tasks=("bso", "so"))
    assert renewed(more, out) == ({"so_es"}, {"bso_es"})
    assert renewed(request_, out) == (set(), set(ALL)), "the others are as they were"


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("bso_es/test-00000-of-00001.parquet", lambda file: file.write_bytes(file.read_bytes()[:-1])),
        ("bso_es/validation-00000-of-00001.parquet", lambda file: file.write_bytes(file.read_bytes()[:-1] + b"2")),
        ("bso_es/train-00000-of-00001.parquet", lambda file: file.unlink()),
        ("bso_es/train-more.parquet", lambda file: file.write_bytes(b"PAR1")),
    ],
    ids=["fewer bytes", "same size", "gone", "one more"],
)
def test_files_that_were_touched(out, request_, path, change):
    before = tree_of(out)
    change(out / path)
    assert renewed(request_, out) == ({"bso_es"}, {"dc_es", "gapping_es"})
    assert tree_of(out) == before


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("cards/es.md", lambda file: file.write_text(file.read_text().replace("Spanish", "spanish"))),
        ("audits/es.parquet", lambda file: file.unlink()),
        ("assets/es.svg", lambda file: file.write_text("<svg/>")),
    ],
    ids=["same size", "gone", "plots"],
)
def test_a_file_of_the_language_that_was_touched(out, request_, path, change):
    before = tree_of(out)
    change(out / path)
    assert renewed(request_, out) == ({"bso_es", "dc_es"}, {"gapping_es"})
    assert tree_of(out) == before


def test_a_folder_where_there_should_be_none(out, request_):
    (out / "gapping_es").mkdir()
    assert renewed(request_, out)[0] == {"gapping_es"}
    assert not (out / "gapping_es").exists()


@pytest.mark.parametrize(
    "changes", [{"seed": 14}, {"sizes": (60, 20, 20)}, {"match": False}, {"discourse_words": (4, 64)}], ids=str
)
def test_other_settings(out, request_, changes):
    other = msgspec.structs.replace(request_, settings=msgspec.structs.replace(Settings(), **changes))
    assert renewed(other, out)[0] == set(ALL)
    assert renewed(other, out) == (set(), set(ALL))


def test_another_corpus(out, request_, corpus):
    text = corpus.read_text(encoding="utf-8")
    corpus.write_text(text.replace("# newdoc id = ", "# newdoc id = x", 1), encoding="utf-8")
    assert renewed(request_, out)[0] == set(ALL)


def test_one_more_corpus(out, request_, corpus):
    """Also one of which no row can be shown: what resembles its sentences is left out."""
    extra = corpus.parent / "es_extra-ud-test.conllu"
    head, *sentences = corpus.read_text(encoding="utf-8").split("\n\n")
    extra.write_text("\n\n".join(sentences[3:5]) + "\n\n", encoding="utf-8")
    assert head
    more = msgspec.structs.replace(request_, corpora=(str(corpus), str(extra)))
    assert renewed(more, out)[0] == set(ALL)


def test_without_audit_is_something_else(out, request_):
    assert renewed(msgspec.structs.replace(request_, audit=False), out)[0] == set(ALL)


def test_a_list_of_the_user_counts_by_its_content(tmp_path, request_):
    words = tmp_path / "words.tsv"
    words.write_text("casa\t12.5\n", encoding="utf-8")
    request = msgspec.structs.replace(request_, settings=Settings(frequency=str(words)), tasks=("bso",))
    out = tmp_path / "other"
    assert renewed(request, out)[0] == {"bso_es"}
    entry = manifest.read(out).configs["bso_es"]
    assert entry.lists["frequency"].bytes == words.stat().st_size
    assert renewed(request, out)[0] == set()
    words.write_text("casa\t12.6\n", encoding="utf-8")
    assert renewed(request, out)[0] == {"bso_es"}


def test_a_manifest_without_inputs_is_no_proof(out, request_):
    found = manifest.read(out)
    found.inputs = {}
    (out / manifest.NAME).write_bytes(manifest.contents(found)[manifest.NAME])
    assert renewed(request_, out)[0] == set(ALL)


STAGES = {"reader": corpus_tables, "build": builders, "audit": report, "card": cards}


@pytest.mark.parametrize("stage", STAGES)
def test_another_version_of_a_step(out, request_, monkeypatch, stage):
    monkeypatch.setattr(STAGES[stage], "VERSION", STAGES[stage].VERSION + 1)
    assert renewed(request_, out)[0] == set(ALL)
    assert manifest.read(out).configs["bso_es"].versions[stage] == STAGES[stage].VERSION


def test_another_version_of_a_task(out, request_, monkeypatch):
    task = all_tasks()["bso"]
    changed = msgspec.structs.replace(task, version=task.version + 1)
    monkeypatch.setattr("discoprobe.builders.task.all_tasks", lambda: {**all_tasks(), "bso": changed})
    assert renewed(request_, out)[0] == {"bso_es"}


def test_other_data_of_the_language(out, request_, monkeypatch):
    monkeypatch.setattr(staleness, "language_file_hash", lambda lang: f"other {lang}")
    assert renewed(request_, out)[0] == set(ALL)
    assert len(staleness.language_file_hash("es")) > 0


def test_the_hash_of_a_language_s_data_is_that_of_its_file():
    assert staleness.language_file_hash("es") != staleness.language_file_hash("de")
    assert staleness.language_file_hash("xx") == ""


def test_libraries_count_by_their_version():
    found = staleness.environment()
    assert {"python", "polars", "pyarrow", "scikit-learn", "wordfreq", "numpy", "jinja2"} <= found.keys()
    assert all(found[name] for name in {"python", *manifest.SOFTWARE} - {*manifest.ANALYSERS})
    assert not {*manifest.ANALYSERS, "flask", "stanza", "torch", "transformers", "pytest", "typer"} & found.keys(), (
        "they change no byte"
    )


def test_a_dictionary_counts_for_the_tasks_that_ask_it(tmp_path, monkeypatch):
    request = Request(("ru", "es"), ("sample",), ("bso", "subj_number"), audit=False)
    pipeline.run(plan(request), tmp_path / "out")
    text = json.loads((tmp_path / "out" / manifest.NAME).read_bytes())
    text["software"] |= {"pymorphy3": "1.0", "pymorphy3-dicts-uk": "1.0"}
    (tmp_path / "out" / manifest.NAME).write_text(json.dumps(text), encoding="utf-8")
    monkeypatch.setattr(staleness, "environment", lambda: {"numpy": "another"})
    reasons = pipeline.stale_configs(plan(request), tmp_path / "out")[1]
    assert reasons["subj_number_ru"] == (f"pymorphy3: 1.0 → {manifest.software()['pymorphy3']}",)
    assert "pymorphy3" not in str(reasons["bso_ru"] + reasons["subj_number_es"])


def test_why_a_config_is_built_again_is_said(out, request_, corpus, monkeypatch):
    def reasons(request):
        return pipeline.stale_configs(plan(request), out)[1]

    assert reasons(request_) == {}
    other_seed = msgspec.structs.replace(request_, settings=Settings(seed=14))
    assert reasons(other_seed) == {
        "bso_es": ("seed: 13 → 14",), "dc_es": ("seed: 13 → 14",),
        "gapping_es": ("could not be built, and something has changed",),
    }  # fmt: skip
    more = msgspec.structs.replace(request_, tasks=(*TASKS, "so"))
    assert reasons(more) == {"so_es": ("not built yet",)}
    path = out / manifest.NAME
    text = json.loads(path.read_bytes())
    text["software"]["numpy"] = "2.0"
    numpy = manifest.software()["numpy"]
    path.write_text(json.dumps(text), encoding="utf-8")
    monkeypatch.setattr(staleness, "environment", lambda: {"numpy": "another"})
    assert reasons(request_)["dc_es"] == (f"numpy: 2.0 → {numpy}",)
    monkeypatch.undo()
    corpus.write_text(corpus.read_text(encoding="utf-8").replace("# newdoc", "# mine = yes\n# newdoc", 1), "utf-8")
    assert "es_sample: not read before" in reasons(request_)["dc_es"]


def test_another_table_of_forms_counts_for_the_tasks_that_use_it(tmp_path):
    """A release with a table, and the same corpus with the table of another commit."""
    tasks = tasks_named(("agreement_suite", "bso"))
    sample = load_corpus("es", ["sample"])
    file = File("es", "0" * 64, 1, url=str(sample_file("es")))
    table = Source("UniMorph-es", "es", commit="1" * 40, files=(file,))
    with_table = msgspec.structs.replace(sample, forms=table)
    moved = msgspec.structs.replace(table, commit="2" * 40)
    request = Request(("es",), ("sample",), tuple(task.name for task in tasks))
    pipeline.run(plan(request), tmp_path / "out", corpora=[(with_table, tasks)])
    release = manifest.read(tmp_path / "out")
    assert set(release.sources) == {"sample-es", "UniMorph-es"}
    assert release.configs["agreement_suite_es"].sources == ["sample-es", "UniMorph-es"]
    assert release.configs["bso_es"].sources == ["sample-es"]
    why = {
        task.name: staleness.why_stale(
            release, f"{task.name}_es", pipeline._as_used(msgspec.structs.replace(sample, forms=moved), task),
            request.settings, task.version,
        )
        for task in tasks
    }  # fmt: skip
    assert why["agreement_suite"] == ("UniMorph-es: commit 111111111111 → 222222222222",)
    assert "UniMorph" not in str(why["bso"])
