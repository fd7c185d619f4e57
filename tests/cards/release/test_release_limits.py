"""What a release folder does not become: too large for the Hub, a way out of the folder, a list of dead links."""

import json

import polars as pl
import pytest
import releases

from discoprobe.cards.hub import Hub, staging
from discoprobe.cards.metadata import manifest
from discoprobe.cards.release import checks as card_checks
from discoprobe.cards.release import open_release
from discoprobe.cards.text import card
from discoprobe.loaders import DiscoprobeError, UsageError


def test_a_build_stops_where_the_yaml_is_too_large_for_the_hub(tmp_path, monkeypatch):
    size = len(
        card.release_card(manifest.read(releases.write(tmp_path / "small", releases.config())))[0].split("---\n")[1]
    )
    monkeypatch.setattr(card_checks, "MOST_BYTES", size)
    releases.write(tmp_path / "enough", releases.config())
    with pytest.raises(DiscoprobeError, match=f"YAML has .* and the Hub accepts {size:,}; build fewer languages"):
        releases.write(tmp_path / "large", releases.config(), releases.config(lang="es"))
    assert not (tmp_path / "large").exists()


@pytest.mark.parametrize("name", ["assets/evil", "bso_de/link.md", "link"])
def test_a_folder_with_a_symbolic_link_is_not_written_to(tmp_path, name):
    folder = releases.write(tmp_path / "release", releases.config())
    (tmp_path / "outside").mkdir()
    (folder / name).symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError, match="is a symbolic link"):
        releases.write(folder, releases.config())
    assert list((tmp_path / "outside").iterdir()) == []


def test_the_attribution_has_no_empty_commit_and_no_dead_link(tmp_path):
    source = releases.source("de", commit="", repo="")
    folder = releases.write(tmp_path / "release", releases.config(sources=(source,)))
    text = (folder / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert "## UD\\_de" in text
    assert "commit" not in text
    assert "github.com" not in text
    assert "source_datasets: [original]" in (folder / "README.md").read_text(encoding="utf-8")


def test_a_build_of_another_language_keeps_the_tables_of_documents(tmp_path):
    table = pl.DataFrame({"corpus": ["UD_de"], "doc_id": ["d1"], "title": ["T"], "url": ["https://example.org"]})
    with open_release(tmp_path / "release") as release:
        release.add(releases.config(), documents=table)
        release.finish()
    releases.write(tmp_path / "release", releases.config(lang="es"))
    name = "attribution/de.parquet"
    assert (tmp_path / "release" / name).is_file()
    assert name in manifest.read(tmp_path / "release").files


def test_a_manifest_that_lists_not_all_splits_is_not_published(tmp_path):
    folder = releases.write(tmp_path / "release", releases.config())
    listing = json.loads((folder / manifest.NAME).read_text(encoding="utf-8"))
    del listing["configs"]["bso_de"]["files"]["train-00000-of-00001.parquet"]
    (folder / manifest.NAME).write_text(json.dumps(listing), encoding="utf-8")
    with pytest.raises(DiscoprobeError, match="does not list bso_de/train-"):
        staging.stage(folder, manifest.read_release(folder), Hub("org/x"), staging.Remote())
