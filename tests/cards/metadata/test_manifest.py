"""The manifest: names in one that somebody else wrote, versions of libraries, and the default config made from it."""

import ast
import importlib.metadata
import json
import sys
from pathlib import Path

import msgspec
import polars as pl
import pytest
from card_cases import config
from msgspec.structs import replace

import discoprobe
from discoprobe.builders import Shape
from discoprobe.cards.metadata import config_entry, manifest, source_entry, yaml_header
from discoprobe.loaders import DiscoprobeError, File, Source


@pytest.fixture
def entry():
    return config_entry(config(Shape.SEQUENCE, ("a", "b"), [{"sentences": ["x"]}] * 2, name="dc_es"), {}, {})


def written(folder, **changes):
    (folder / manifest.NAME).write_text(
        json.dumps(msgspec.to_builtins(manifest.empty()) | changes, default=msgspec.to_builtins), encoding="utf-8"
    )
    return folder


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "a/b", "", ".", "..", "a\\b", "dc_es\n", "Dc_es", "-rf"])
def test_names_that_lead_out_of_the_folder_are_refused(tmp_path, entry, name):
    for changes in (
        {"configs": {name: entry}},
        {"configs": {"dc_es": replace(entry, task=name)}},
        {"configs": {"dc_es": replace(entry, lang=name)}},
        {"unavailable": {name: "no such task"}},
    ):
        with pytest.raises(DiscoprobeError, match="cannot be the name of a config, task or language"):
            manifest.read(written(tmp_path, **changes))


@pytest.mark.parametrize("path", ["../evil", "/etc/passwd", "a/../../b", "..\\evil"])
def test_files_outside_of_the_folder_are_refused(tmp_path, entry, path):
    file = {path: {"sha256": "0" * 64, "bytes": 1}}
    for changes in ({"files": file}, {"configs": {"dc_es": msgspec.to_builtins(entry) | {"files": file}}}):
        with pytest.raises(DiscoprobeError, match="leads out of the release folder"):
            manifest.read(written(tmp_path, **changes))


@pytest.fixture
def large(entry):
    """A manifest of 102 configs in three languages."""
    made = {}
    for lang in ("de", "es", "gsw"):
        made |= {f"t{n}_{lang}": replace(entry, task=f"t{n}", lang=lang) for n in range(34)}
    file = File("", "0" * 64, 1)
    return replace(
        manifest.empty(), configs=dict(sorted(made.items())), skipped={"de": {"too long": 1}}, version="1.0.0",
        unavailable={"x_es": "no documents", "x_fi": "no documents"},
        sources={"UD_de": source_entry(Source("UD_de", "de"))}, built_with={"t0_es": {"python": "3"}},
        files={"README.md": file, "assets/es.svg": file, "attribution/gsw.parquet": file},
    )  # fmt: skip


def write(folder, content):
    for path, data in manifest.contents(content).items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(data)
    return manifest.read(folder)


def test_a_large_manifest_has_a_part_per_language(tmp_path, large, entry):
    found = write(tmp_path, large)
    parts = {path: found.files.pop(path) for path in list(found.files) if manifest.is_part(path)}
    assert [*parts] == [f"manifest/{lang}.parquet" for lang in ("de", "es", "fi", "gsw")]
    assert found == large
    assert [*found.configs] == [*large.configs]
    root = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert root["files"].keys() == {"README.md", *parts}
    assert root["configs"] == root["unavailable"] == root["sources"] == root["skipped"] == root["built_with"] == {}
    before = manifest.contents(large)
    large.configs["t0_es"] = replace(entry, task="t0", lang="es", candidates=7)
    after = manifest.contents(large)
    assert {path for path in after if after[path] != before[path]} == {"manifest.json", "manifest/es.parquet"}


def test_a_part_that_is_missing_or_leads_out(tmp_path, large):
    write(tmp_path, large)
    (tmp_path / "manifest" / "es.parquet").rename(tmp_path / "es.parquet")
    with pytest.raises(DiscoprobeError, match=r"manifest/es\.parquet: not a manifest .*restore it"):
        manifest.read(tmp_path)
    (tmp_path / "manifest" / "es.parquet").symlink_to(tmp_path.parent / "es.parquet")
    with pytest.raises(DiscoprobeError, match="symbolic link that leads out"):
        manifest.read(tmp_path)
    (tmp_path / "manifest" / "es.parquet").unlink()
    part = tmp_path / "manifest" / "es.parquet"
    evil = json.dumps(msgspec.to_builtins(large.configs["t0_es"]))
    for rows, problem in (
        ([("configs", "../evil", evil)], "cannot be the name of a config"),
        ([("configs", "t0_es", "{")], r"not a manifest \(Expecting property name"),
        ([("configs", "t0_es", None)], r"not a manifest \("),
        ([("configs", "t0_es", "7")], r"not a manifest: Expected `object`"),
    ):
        pl.DataFrame(rows, ["key", "name", "entry"], orient="row").write_parquet(part)
        with pytest.raises(DiscoprobeError, match=problem):
            manifest.read(tmp_path)
    pl.DataFrame({"key": ["configs"]}).write_parquet(part)
    with pytest.raises(DiscoprobeError, match=r"not a manifest \(.*restore it"):
        manifest.read(tmp_path)


def test_what_a_newer_version_wrote_is_written_again(tmp_path, entry):
    values = {
        "configs": {"dc_es": msgspec.to_builtins(entry) | {"mood": "new"}}, "moods": [1],
        "sources": {
            "UD_es": msgspec.to_builtins(source_entry(Source("UD_es", "es", annotation={"labels": {"": 0.5}})))
            | {"weather": {"a": None}}
        },
    }  # fmt: skip
    found = manifest.read(written(tmp_path, **values))
    (data,) = manifest.contents(found).values()
    assert json.loads(data) == json.loads((tmp_path / manifest.NAME).read_text(encoding="utf-8"))


def test_links_within_the_cache_of_the_hub_client_are_followed(tmp_path):
    """`snapshot_download` gives a folder of links to blobs; a link to any other place is refused."""
    snapshot, blobs = tmp_path / "snapshots" / "abc", tmp_path / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    written(snapshot)
    file = snapshot / "README.md"
    (blobs / "1").write_text("card")
    file.symlink_to(blobs / "1")
    assert manifest.read(snapshot).format
    (blobs / "1").rename(tmp_path / "secret")
    file.unlink()
    file.symlink_to(tmp_path / "secret")
    with pytest.raises(DiscoprobeError, match=r"README\.md is a symbolic link"):
        manifest.read(snapshot)


def test_a_manifest_with_plain_names_is_read(tmp_path, entry):
    file = {"README.md": {"sha256": "0" * 64, "bytes": 1}}
    found = manifest.read(
        written(tmp_path, configs={"dc_es": msgspec.to_builtins(entry) | {"files": file}}, files=file)
    )
    assert set(manifest.listed(found)) == {"dc_es/README.md", "README.md"}


NO_ROWS = {
    "filelock": "locks folders",
    "fsspec": "opens files, whose hash or ETag is in the manifest",
    "httpx": "downloads; files are verified by their hash",
    "httpx2": "the same",
    "huggingface-hub": "downloads and publishes",
    "packaging": "names licences",
    "requests": "downloads; files are verified by their hash",
    "rich": "shows progress",
    "stanza": "its version is in the manifest's entry for each annotated corpus",
    "threadpoolctl": "limits the threads of the audit",
    "torch": "the same",
    "werkzeug": "pages and forms of `build review`",
    "lxml": "reads raw text; its version is in the entry for each annotated corpus",
}


def imported_by(*parts):
    """The distributions that the modules of some folders of the package import, in lower case."""
    root, distributions = Path(discoprobe.__file__).parent, importlib.metadata.packages_distributions()
    files = [file for part in parts for file in (root / part).rglob("*.py")]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    imported = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"discoprobe"}
    return {found.lower().replace("_", "-") for name in imported for found in distributions.get(name, [name])}


def test_a_config_depends_on_every_library_that_cards_are_written_with():
    of_cards = imported_by("cards/text", "cards/metadata", "cards/release")
    assert {"jinja2", "pyyaml"} <= of_cards
    assert of_cards - NO_ROWS.keys() <= {*manifest.SOFTWARE, *manifest.WRITING}


def test_the_manifest_has_the_version_of_every_library_that_rows_come_through():
    wanted = imported_by("loaders", "builders")
    assert len(wanted) > 10
    assert wanted - NO_ROWS.keys() <= set(manifest.SOFTWARE)
    dictionaries = {
        found.metadata["Name"]
        for found in importlib.metadata.distributions()
        if found.metadata["Name"].startswith("pymorphy3-dicts-")
    }
    assert {"pymorphy3-dicts-ru", "pymorphy3-dicts-uk"} <= dictionaries
    assert dictionaries <= manifest.software().keys()
    assert manifest.software()["python"].count(".") == 2


@pytest.mark.parametrize(
    ("names", "default"),
    [
        (["dc_de", "dc_en", "bso_en"], "dc_en"),
        (["dc_de", "sp_en", "bso_en"], "bso_en"),
        (["dc_fr", "dc_de", "bso_ar"], "dc_de"),
        (["sp_fr", "bso_ar"], "bso_ar"),
        ([], ""),
    ],
)
def test_the_default_config_is_english_where_there_is_one(entry, names, default):
    configs = {name: replace(entry, **dict(zip(("task", "lang"), name.split("_"), strict=True))) for name in names}
    assert yaml_header.default_config(configs) == default
