"""README.md of a release: the Hub's own classes and `datasets` read it, at any size and with any names."""

import itertools
import json
import re
from email.message import Message

import pytest
import releases
import yaml
from card_cases import HOSTILE, config, hostile_config
from card_rules import card_problems
from datasets import get_dataset_config_names, load_dataset
from huggingface_hub import DatasetCard, DatasetCardData
from markdown_it import MarkdownIt
from msgspec.structs import replace
from shared import tree_of

from discoprobe import pipeline
from discoprobe.builders import Shape, Unavailable
from discoprobe.builders.audit import audit
from discoprobe.cards.metadata import config_entry, manifest, source_entry, yaml_header
from discoprobe.cards.release import MOST_BYTES, documents, open_release
from discoprobe.cards.review import read_card
from discoprobe.cards.text import card
from discoprobe.cards.text.verdicts import best_advised, verdicts
from discoprobe.plan import plan
from discoprobe.sources import Request

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")
LANGS = (
    "af", "am", "ar", "be", "bg", "bn", "br", "ca", "cop", "cs", "cy", "da", "de", "el", "en", "es", "et", "eu", "fa",
    "fi", "fo", "fr", "ga", "gd", "gl", "gsw", "he", "hi", "hr", "hsb", "hu", "id", "is", "it", "ja", "kk", "ko",
)  # fmt: skip
TASKS = (
    "bso", "cloze", "dc", "dconn", "nsp", "nsp_choice", "so", "sp", "sp_swap", "ssp", "subj_number", "tree_depth",
    "feats_nsubj_person",
)  # fmt: skip


def written(folder, *configs, missing=(), audited=False):
    with open_release(folder) as release:
        for one in configs:
            release.add(one, audit(one) if audited else None)
        for one in missing:
            release.add(one)
        release.add_corpus(_Corpus(configs))
        release.finish()
    return folder


class _Corpus:
    """What a release asks of a corpus."""

    def __init__(self, configs):
        self.lang, self.drops = "es", {"malformed": 2}
        self.sources = tuple({source.name: source for one in configs for source in one.sources}.values())
        self.all_sources = self.sources


def large(n):
    """A manifest of ``n`` configs, as of a release of many languages."""
    one = config(Shape.SEQUENCE, ("a", "b"), [{"sentences": ["x"]}] * 2)
    entry = config_entry(one, {}, {})
    whole = manifest.empty()
    names = [(task, lang) for task in TASKS for lang in LANGS][:n]
    whole.configs = {f"{task}_{lang}": replace(entry, task=task, lang=lang) for task, lang in names}
    whole.sources = {source.name: source_entry(source) for source in one.sources}
    return whole


def front(text):
    return yaml.safe_load(text.split("---\n")[1])


def test_the_hub_s_classes_read_it_and_write_it_back(sample_release):
    text = (sample_release / "README.md").read_text(encoding="utf-8")
    read = DatasetCard(text)
    assert isinstance(read.data, DatasetCardData)
    assert read.data.language == ["de", "en", "es", "ru"]
    assert read.data.license == "cc0-1.0"
    assert read.data.size_categories in (["1K<n<10K"], ["10K<n<100K"])
    assert read.data.task_categories == ["text-classification", "multiple-choice"]
    assert yaml.safe_load(read.data.to_yaml()) == front(text)
    assert DatasetCard(str(read)).text.strip() == read.text.strip()


def test_every_section_is_there(sample_release):
    text = metadata_free(sample_release)
    wanted = [
        "Load", "Configs", "Fields", "Tasks", "Uses", "How it was built", "Readers", "Sources and licences",
        "Limitations and biases", "Contamination", "Contact",
    ]  # fmt: skip
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == wanted


def test_the_first_screen_says_what_it_is_and_how_to_get_it(sample_release):
    """Before the first heading: what it is, a row, how far tricks get, the licence, the call, the citation."""
    whole = manifest.read(sample_release)
    text, _ = card.release_card(whole, repository="ana/probes", release="1.2.0", day="2026-11-28")
    first = text.split("---\n", 2)[2].partition("\n## ")[0].partition("<details>")[0]
    judged = verdicts(whole.configs)
    name = best_advised(whole.configs, judged)
    entry = whole.configs[name]
    assert "licence CC0-1.0" in first
    assert f"A row of `{name}`: label **" in first
    assert "<mark><b>" in first or f"label **{entry.labels[0]}**" in first
    assert f"| [{name}](cards/{entry.lang}.md#{name}) | {entry.asks} | " in first
    assert f"| {judged[name].advice} |" in first
    assert f'load_dataset("ana/probes", "{name}", revision="v1.2.0")' in first
    assert "Cite: ana (2026). probes: balanced" in first
    assert len(first.split()) < 250
    assert len(first.splitlines()) < 40


def test_the_canary_is_that_of_the_repository_in_all_releases(sample_release):
    whole = manifest.read(sample_release)
    lines = {
        (name, release): re.search(r"canary GUID (\S+)", card.release_card(whole, repository=name, release=release)[0])[
            1
        ]
        for name in ("ana/probes", "ben/probes")
        for release in ("1.0.0", "2.0.0")
    }
    assert len(set(lines.values())) == 2
    assert lines["ana/probes", "1.0.0"] == lines["ana/probes", "2.0.0"]


def metadata_free(folder):
    return (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)[2]


def test_every_link_leads_somewhere(sample_release):
    for page in [sample_release / "README.md", *sample_release.glob("cards/*.md")]:
        targets = re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
        assert targets, page
        for target in targets:
            anchor = target.startswith("#") and target[1:].replace("-", " ") in page.read_text(encoding="utf-8").lower()
            path, _, part = target.partition("#")
            there = (page.parent / path).exists()
            if part and path:
                there = there and f"\n# {part}\n" in (page.parent / path).read_text(encoding="utf-8")
            assert anchor or target.startswith("https://") or there, (page, target)


def test_a_data_set_of_another_name_is_cited_by_that_name(sample_release):
    whole = manifest.read(sample_release)
    text, _ = card.release_card(whole, repository="ana_b/my_notes", release="1.0.0", day="2026-11-28")
    assert front(text)["pretty_name"] == "my_notes"
    assert "\n# my_notes\n" in text
    assert "@misc{my_notes,\n  title        = {my\\_notes: balanced, audited probing and discourse datasets},\n" in text
    assert "\n  author       = {{ana\\_b}},\n" in text
    assert "discoprobe 0." in text
    own, _ = card.release_card(whole, release="1.0.0", day="2026-11-28")
    assert front(own)["pretty_name"] == "discoprobe"
    assert "title        = {discoprobe: balanced, audited probing and discourse datasets for every language" in own
    assert "author       = {{The discoprobe authors}}," in own


def test_text_divided_by_rules_is_no_treebank(sample_release):
    whole = manifest.read(sample_release)
    assert "universal-dependencies" in yaml_header.data(whole)["tags"]
    assert "expert-generated" in yaml_header.data(whole)["annotations_creators"]
    for source in whole.sources.values():
        source.annotation = {"made_by": {"engine": "rules"}}
    made = yaml_header.data(whole)
    assert "universal-dependencies" not in made["tags"]
    assert made["annotations_creators"] == ["machine-generated"]


@pytest.mark.parametrize(
    ("urls", "place"),
    [
        ([], "https://pypi.org/project/discoprobe/"),
        (["Homepage, https://a.example", "Repository, https://b.example/code"], "https://b.example/code"),
        (["Source Code, https://c.example"], "https://c.example"),
        (["Funding, https://d.example"], "https://pypi.org/project/discoprobe/"),
    ],
)
def test_where_the_code_is(sample_release, monkeypatch, urls, place):
    """The repository of pyproject's ``[project.urls]``; the package's page where there is none."""
    found = Message()
    for url in urls:
        found["Project-URL"] = url
    monkeypatch.setattr("importlib.metadata.metadata", lambda _: found)
    text, _ = card.release_card(manifest.read(sample_release))
    assert f"[`discoprobe`]({place}), version" in text


def test_a_card_that_is_not_published_names_no_repository(sample_release):
    assert card.REPOSITORY not in metadata_free(sample_release)


def test_the_version_of_each_task_is_in_the_table(sample_release):
    versions = {one.task: one.versions["task"] for one in manifest.read(sample_release).configs.values()}
    found = dict(
        re.findall(r"^\| `(\w+)` \| (\d+) \| .+ \| \d+ \| [\d,]+ \|$", metadata_free(sample_release), re.MULTILINE)
    )
    assert found == {task: str(version) for task, version in versions.items()}


def test_the_matrix_has_every_config_once(sample_release):
    whole = manifest.read(sample_release)
    tables = metadata_free(sample_release).partition("\n## Configs\n")[2]
    cells = re.findall(r"\[[^\]]+\]\(cards/\w+\.md#(\w+)\)", tables)
    assert sorted(cells) == sorted(whole.configs)


def test_a_released_card_names_repository_revision_and_changes(sample_release):
    whole = manifest.read(sample_release)
    changes = "## 1.2.0 (2026-11-21)\n\n### Added\n\n- `x_es` (3 rows)\n"
    whole = replace(whole, version="1.2.0")
    made = documents(whole, repository="lab/probes", release="1.2.0", changes=changes)
    text = made["README.md"]
    (loaded,) = re.findall(r'load_dataset\("lab/probes", "(\w+)", revision="v1.2.0"\)', text)
    assert loaded == best_advised(whole.configs, verdicts(whole.configs))
    assert "## Changes in 1.2.0\n\n### Added" in text
    assert "2026-11-21" not in text
    assert '"version":"1.2.0"' in made["croissant.json"]
    files = [path.relative_to(sample_release).as_posix() for path in sample_release.rglob("*.parquet")]
    assert card_problems(text, files) == []


def test_a_config_s_card_and_plots_do_not_change_with_the_release(sample_release):
    for name in ("dc_es", "bso_de"):
        text = read_card(sample_release, name)
        assert "org/discoprobe" not in text
        assert "revision" not in text


@pytest.mark.parametrize("n", [120, 300, 480])
def test_many_configs(n):
    whole = large(n)
    text, tables = card.release_card(whole, release="10.20.30")
    standalone = yaml_header.standalone(whole)
    block = text.split("---\n")[1]
    files = [
        f"{name}/{split}-00000-of-00001.parquet" for name in whole.configs for split in ("train", "validation", "test")
    ]
    assert len(whole.configs) == n
    assert len(block.encode()) < MOST_BYTES / 20
    assert len(text.encode()) < card.MOST_BYTES
    assert card_problems(text, files, standalone) == []
    assert [one["config_name"] for one in yaml.safe_load(standalone)["configs"]] == sorted(whole.configs)
    links = {name: f"](cards/{entry.lang}.md#{name})" for name, entry in whole.configs.items()}
    assert all(link in tables or link in text for link in links.values())


def test_one_of_300_configs_loads(tmp_path):
    one = config(Shape.SEQUENCE, ("a", "b"), [{"sentences": ["x"]}] * 2, name="dc_es")
    folder = written(tmp_path / "release", one)
    whole = large(300)
    (folder / "README.md").write_text(card.release_card(whole, release="1.0.0")[0], encoding="utf-8")
    (folder / yaml_header.STANDALONE).write_text(yaml_header.standalone(whole), encoding="utf-8")
    for name in whole.configs:
        if not (folder / name).exists():
            (folder / name).symlink_to(folder / "dc_es")
    assert load_dataset(str(folder), "dc_es", cache_dir=str(tmp_path / "cache"))["test"].num_rows == 2
    assert len(get_dataset_config_names(str(folder))) == 300


def test_4000_configs_and_no_more():
    whole = large(1)
    (entry,) = whole.configs.values()
    whole.configs = {f"t{n}_es": replace(entry, task=f"t{n}", lang="es") for n in range(4_001)}
    text, _ = card.release_card(whole, release="1.0.0")
    assert len(text.encode()) < card.MOST_BYTES
    assert "4,001 configs are too many for one repository" in card_problems(text, [], yaml_header.standalone(whole))[0]


def test_the_load_snippet_of_a_folder_runs_there(sample_release, monkeypatch, tmp_path):
    for name in ("", "bso_de"):
        snippet = re.search(r"```python\n(.*?)```", read_card(sample_release, name), re.DOTALL)[1]
        monkeypatch.chdir(sample_release)
        monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path)
        exec(snippet, {})  # it would raise


def test_the_same_manifest_gives_the_same_texts(sample_release):
    """What `build verify` compares: the manifest as the file has it, keys sorted."""
    texts = documents(manifest.read(sample_release))
    assert {name: (sample_release / name).read_text(encoding="utf-8") for name in texts} == texts


def test_the_example_is_a_row_with_its_fields(sample_release):
    text = metadata_free(sample_release)
    section = text.partition("## Fields")[2].partition("\n## ")[0]
    row = json.loads(re.search(r"```json\n(.*?)```", section, re.DOTALL)[1])
    (name,) = re.findall(r"The first row of <code>(\w+)</code>, test", section)
    first = load_dataset(str(sample_release), name, split="test")[0]
    assert row == {name: value for name, value in first.items() if name in row}
    fields = section.partition("| field |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", fields, re.MULTILINE) == list(row)


def test_a_small_release_says_its_numbers_of_rows_and_a_large_one_does_not(sample_release):
    data = front((sample_release / "README.md").read_text(encoding="utf-8"))
    counts = {name: one.counts for name, one in manifest.read(sample_release).configs.items()}
    if len(counts) <= manifest.MOST_IN_CARD:
        found = {
            one["config_name"]: {s["name"]: s["num_examples"] for s in one["splits"]} for one in data["dataset_info"]
        }
        assert found == {name: {split: sum(of.values()) for split, of in one.items()} for name, one in counts.items()}
    assert "dataset_info" in front(card.release_card(large(100))[0])
    assert "dataset_info" not in front(card.release_card(large(101))[0])
    assert set(data["task_ids"]) <= {"acceptability-classification", "multi-class-classification", "multiple-choice-qa"}


@pytest.mark.parametrize("name", ["dc_en", "dc_es"])
def test_a_folder_that_was_built_again_loads_with_its_new_rows(tmp_path, name):
    """`datasets` caches by the YAML, not by the files: the YAML must change with the rows of any config."""
    for text in ("old", "new"):
        configs = [
            config(Shape.SEQUENCE, ("a", "b"), [{"sentences": [text if one == name else "same"]}] * 2, name=one)
            for one in ("dc_en", "dc_es")
        ]
        folder = written(tmp_path / "release", *configs)
        rows = load_dataset(str(folder), name, cache_dir=str(tmp_path / "cache"))["test"]
        assert rows[0]["sentences"] == [text]


def test_all_languages_of_a_task_together(sample_release):
    """A line per task of several languages; exempt checks are not in it."""
    whole = manifest.read(sample_release)
    text = (sample_release / "README.md").read_text(encoding="utf-8")
    section = text.partition("### All languages of a task together")[2].partition("\n## ")[0]
    lines = {line.split("`")[1]: line for line in section.splitlines() if line.startswith("| `")}
    audits = {}
    for entry in whole.configs.values():
        audits.setdefault(entry.task, []).append(entry.audit)
    several = {task for task, entries in audits.items() if len(entries) > 1}
    assert several - {"sent_len"} <= lines.keys() <= several  # the checks that matter do not apply to sent_len
    for task, line in lines.items():
        measured = {check for audit in audits[task] for check in audit.evidence}
        exempt = {check for audit in audits[task] for check in audit.exempt}
        assert set(re.findall(r"([a-z-]+) [+-]", line)) <= measured - exempt
        assert f"| {len(audits[task])} |" in line


def test_hostile_names_and_texts(tmp_path):
    one = hostile_config()
    folder = written(tmp_path / "release", one, missing=[Unavailable("so_es", "so", "es", HOSTILE[0])])
    assert releases.problems(folder) == []
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert set(front(text)) == set(yaml_header.data(manifest.read(folder)))
    found = MARKDOWN.parse(text.split("---\n", 2)[2])
    inner = [token for token in found for token in [token, *(token.children or [])]]
    ours = re.compile(r"</?(?:details|mark|b)>|<details><summary>[\w ,<>/]+</summary>\n?|<!-- release ; SHA-256 .*-->")
    assert not [
        token.content for token in inner if token.type.startswith("html") and not ours.fullmatch(token.content.strip())
    ]
    headings = [after.content for one, after in itertools.pairwise(found) if one.type == "heading_open"]
    anchors = {"#" + heading.lower().replace(" ", "-") for heading in headings}
    assert {token.attrGet("href") for token in inner if token.type == "link_open"} - anchors <= {
        "cards/es.md#dc_es", "ATTRIBUTION.md", card.code_location(),
        "https://github.com/UniversalDependencies/UD_Test-Case/tree/" + "0123456789abcdef" * 2,
    }  # fmt: skip
    attribution = MARKDOWN.parse((folder / "ATTRIBUTION.md").read_text(encoding="utf-8"))
    assert not [child for token in attribution for child in token.children or [] if child.type.startswith("html")]
    rows = load_dataset(str(folder), "dc_es", cache_dir=str(tmp_path / "cache"))["test"]
    assert rows[7]["sentences"][0] == HOSTILE[7]


def test_what_could_not_be_built_is_listed_or_counted(tmp_path):
    one = config(Shape.SEQUENCE, ("a", "b"), [{"sentences": ["x"]}] * 2)
    few = [Unavailable(f"t{n}_es", f"t{n}", "es", "too few") for n in range(3)]
    assert "- `t1_es`: too few" in metadata_free(written(tmp_path / "few", one, missing=few))
    many = [Unavailable(f"t{n}_es", f"t{n}", "es", "too few") for n in range(100)]
    text = metadata_free(written(tmp_path / "many", one, missing=many))
    assert "t1_es" not in text
    assert "100 combinations of task and language could not be built." in text


def test_two_builds_give_the_same_bytes(tmp_path, sample_release):
    request = Request(languages=("es",), corpora=("sample",), tasks=("bso", "dc"))
    for name in ("one", "two"):
        pipeline.run(plan(request), tmp_path / name)
    assert tree_of(tmp_path / "one") == tree_of(tmp_path / "two")
    pipeline.run(plan(request), tmp_path / "two")
    assert tree_of(tmp_path / "one") == tree_of(tmp_path / "two"), "building again into the same folder"
    same = [name for name in tree_of(tmp_path / "one") if name.startswith("dc_es/")]
    assert len(same) == 3
    assert read_card(tmp_path / "one", "dc_es") == read_card(sample_release, "dc_es")
    for name in same:
        assert (sample_release / name).read_bytes() == (tmp_path / "one" / name).read_bytes(), (
            "other languages change nothing"
        )


def test_a_config_that_is_gone_takes_its_plot_with_it(tmp_path):
    one, other = (
        config(Shape.SEQUENCE, ("a", "b"), [{"sentences": ["x"]}] * 2, name=name) for name in ("dc_es", "so_es")
    )
    folder = written(tmp_path / "release", one, other, audited=True)
    assert '<view id="so_es"' in (folder / "assets" / "es.svg").read_text(encoding="utf-8")
    written(folder, one, missing=[Unavailable("so_es", "so", "es", "gone")], audited=True)
    for path in (folder / "assets" / "es.svg", folder / "cards" / "es.md"):
        assert "so_es" not in path.read_text(encoding="utf-8")
    assert {path.name for path in (folder / "assets").iterdir()} == {"es.svg"}
