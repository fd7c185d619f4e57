"""The review application on the sample's release and on a hostile one: complete, and closed to what is not its own."""

import html.parser
import re

import pytest
from card_cases import hostile_config
from review_server import reviewing

from discoprobe.builders.audit import audit
from discoprobe.cards.metadata import manifest
from discoprobe.cards.release import Changes, ConfigChange, SplitChange, open_release
from discoprobe.loaders import UsageError

CHANGES = Changes(
    added={"so_es": 108},
    removed={"gapping_es": 22},
    changed=(ConfigChange("dc_es", {"train": SplitChange(3, 2, ids={"added": ("a1", "<b>")})}, ("labels: a → b",)),),
    sources=("UD_X: commit 1 → 2",),
)  # fmt: skip


@pytest.fixture(scope="module")
def sample_app(sample_release):
    with reviewing(sample_release, changes=CHANGES, against="v1.0.0") as app:
        yield app


@pytest.fixture(scope="module")
def hostile_app(tmp_path_factory):
    config = hostile_config()
    folder = tmp_path_factory.mktemp("hostile") / "release"
    with open_release(folder) as release:
        release.add(config, audit(config))
        release.finish()
    with reviewing(folder) as app:
        yield app


class _Elements(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.elements = []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))


def elements(app, path):
    """The elements of a page."""
    parser = _Elements()
    status, _, text = app.get(path)
    assert status == 200, path
    parser.feed(text)
    return parser.elements


def test_a_card_per_config_and_every_link_of_cards_leads_somewhere(sample_release, sample_app):
    names = set(manifest.read(sample_release).configs)
    first = elements(sample_app, "/")
    assert {attrs["href"].removeprefix("/rows?config=") for tag, attrs in first if tag == "a"} >= names
    pages = {"/card": elements(sample_app, "/card")}
    waiting = {"/card"}
    while waiting:
        page = waiting.pop()
        for tag, attrs in pages[page]:
            target = attrs.get("src" if tag == "img" else "href", "")
            if tag not in {"a", "img"} or target.startswith("https://"):
                continue
            path, _, anchor = target.partition("#")
            if tag == "img" or not path.startswith("/card"):
                assert not path or sample_app.get(path)[0] == 200, (page, target)
            elif path not in pages:
                pages[path] = elements(sample_app, path)
                waiting.add(path)
            if anchor:
                assert anchor in {attrs.get("id") for _, attrs in pages[path or page]}, (page, target)
    assert pages.keys() == {"/card", *(f"/card/{name}" for name in names)}


def test_the_table_begins_with_the_largest_gain(sample_app):
    text = sample_app.get("/")[2]
    gains = [float(gain) for gain in re.findall(r'data-name="gain" class="number">([-+\d.]+)<', text)]
    assert gains == sorted(gains, reverse=True)
    assert len(gains) > 50


def test_changes_stand_on_their_page_in_the_table_and_on_the_cards(sample_app):
    text = sample_app.get("/changes")[2]
    assert "<b>removed</b> gapping_es (22 rows)" in text
    assert "<b>new</b> so_es (108 rows)" in text
    assert "<b>changed</b> dc_es" in text
    assert "<b>source</b> UD_X: commit 1 → 2" in text
    assert "train: 3 added (a1, &lt;b&gt;), 2 removed" in text
    card = sample_app.get("/card/dc_es")[2]
    assert "train: 3 added (a1, &lt;b&gt;), 2 removed" in card
    assert "labels: a → b" in card
    assert "new in this release" in sample_app.get("/card/so_es")[2]
    assert 'class="changes"' not in sample_app.get("/card/bso_es")[2]
    assert sample_app.get("/")[2].count("new in this release") == 1


def test_cards_show_tables_and_numbers_as_the_hub_does(sample_app):
    text = sample_app.get("/card/dc_es")[2]
    assert text.count('<div class="scroll" tabindex="0"><table>') == text.count("</table></div>") >= 2
    assert '<td class="number">' in text
    assert "<h1 id=" in text
    assert "\n---\n" not in text, "the YAML is for the Hub"


def test_hostile_cards_have_our_elements_only(hostile_app):
    for path in ("/card", "/card/dc_es", "/", "/rows?config=dc_es"):
        of_page = elements(hostile_app, path)
        assert [attrs for tag, attrs in of_page if tag == "script"] == [{"src": "/app.js", "defer": None}]
        assert not [tag for tag, _ in of_page if tag in {"style", "iframe", "object", "embed", "base"}]
        assert not [name for _, attrs in of_page for name in attrs if name.startswith("on") or name == "style"]
        images = [attrs["src"] for tag, attrs in of_page if tag == "img"]
        assert all(re.fullmatch(r"/assets/dc_es\.svg|/overview\.svg", source) for source in images)


def test_languages_can_be_chosen(sample_release):
    with reviewing(sample_release, languages=("ru",)) as app:
        rows = re.findall(r'<td data-name="config"><a href="/rows\?config=(\w+)"', app.get("/")[2])
        assert rows
        assert {name[-3:] for name in rows} == {"_ru"}
    with pytest.raises(UsageError, match="no config of fi"), reviewing(sample_release, languages=("fi",)):
        pass
