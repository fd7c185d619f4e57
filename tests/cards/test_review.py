"""Review pages: whole, closed to the network and to scripts that are not theirs, and readable in a browser."""

import html.parser
import re
import shutil
import subprocess

import pytest
from card_cases import hostile_config
from shared import tree_of

from discoprobe.builders.audit import audit
from discoprobe.cards.metadata import manifest
from discoprobe.cards.release import Changes, ConfigChange, SplitChange, open_release
from discoprobe.cards.review import write_review
from discoprobe.loaders import UsageError

CHANGES = Changes(
    added={"so_es": 108},
    removed={"gapping_es": 22},
    changed=(ConfigChange("dc_es", {"train": SplitChange(3, 2, ids={"added": ("a1", "<b>")})}, ("labels: a → b",)),),
    sources=("UD_X: commit 1 → 2",),
)  # fmt: skip


@pytest.fixture(scope="module")
def pages(sample_release, tmp_path_factory):
    return write_review(sample_release, tmp_path_factory.mktemp("review") / "pages", CHANGES).parent


@pytest.fixture(scope="module")
def hostile_pages(tmp_path_factory):
    place = tmp_path_factory.mktemp("hostile")
    one = hostile_config()
    with open_release(place / "release") as release:
        release.add(one, audit(one))
        release.finish()
    return write_review(place / "release", place / "pages").parent


class _Elements(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def elements(path):
    parser = _Elements()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser.found


def test_a_page_per_config_and_every_link_leads_somewhere(sample_release, pages):
    names = set(manifest.read(sample_release)["configs"])
    assert {path.parent.name for path in pages.glob("*/index.html")} == names
    for page in pages.rglob("*.html"):
        for tag, attrs in elements(page):
            target = attrs.get("src" if tag == "img" else "href", "")
            if tag in {"a", "img"} and not target.startswith("https://"):
                path, _, anchor = target.partition("#")
                other = (page.parent / path).resolve() if path else page
                assert other.exists(), (page, target)
                assert not anchor or anchor in {attrs.get("id") for _, attrs in elements(other)}, (page, target)


def test_nothing_is_loaded_from_elsewhere(pages):
    html = list(pages.rglob("*.html"))
    assert len(html) >= 2
    for page in html:
        found = elements(page)
        assert not [attrs for tag, attrs in found if tag in {"link", "iframe", "object", "embed", "base", "form"}]
        assert not [attrs for tag, attrs in found if tag in {"img", "script"} and "://" in (attrs.get("src") or "")]
        assert not [key for _, attrs in found for key in attrs if key.startswith("on") or key == "style"]
        policy = next(attrs["content"] for tag, attrs in found if attrs.get("http-equiv"))
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy


def test_the_table_begins_with_the_largest_gain(pages):
    text = (pages / "index.html").read_text(encoding="utf-8")
    gains = [float(found) for found in re.findall(r'data-name="gain" class="number" data-value="([-\d.]+)"', text)]
    assert gains == sorted(gains, reverse=True)
    assert len(gains) > 50


def test_changes_stand_beside_the_cards(pages):
    index = (pages / "index.html").read_text(encoding="utf-8")
    assert "<b>removed</b> gapping_es (22 rows)" in index
    assert "<b>source</b> UD_X: commit 1 → 2" in index
    page = (pages / "dc_es" / "index.html").read_text(encoding="utf-8")
    assert "train: 3 added (a1, &lt;b&gt;), 2 removed" in page
    assert "labels: a → b" in page
    assert "new in this release" in (pages / "so_es" / "index.html").read_text(encoding="utf-8")
    assert "Since the last release" not in (pages / "bso_es" / "index.html").read_text(encoding="utf-8")


def test_hostile_pages_have_our_elements_only(hostile_pages):
    html = list(hostile_pages.rglob("*.html"))
    assert len(html) >= 2
    for page in html:
        found = elements(page)
        assert sum(tag == "script" for tag, _ in found) == 1
        assert sum(tag == "style" for tag, _ in found) == 1
        images = [attrs["src"] for tag, attrs in found if tag == "img"]
        assert all(re.fullmatch(r"\.\./assets/dc_es-(rows|audit)\.svg", source) for source in images)
        assert page.stat().st_size < 100_000


def test_languages_can_be_chosen(sample_release, tmp_path):
    pages = write_review(sample_release, tmp_path / "pages", languages=["ru"]).parent
    assert {path.parent.name[-3:] for path in pages.glob("*/index.html")} == {"_ru"}
    with pytest.raises(UsageError, match="no config of fi"):
        write_review(sample_release, tmp_path / "other", languages=["fi"])


def test_pages_are_replaced_and_nothing_else_is(sample_release, tmp_path):
    out = tmp_path / "pages"
    write_review(sample_release, out, languages=["ru"])
    write_review(sample_release, out, languages=["es"])
    assert not list(out.glob("*_ru"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    with pytest.raises(UsageError, match="holds no review pages"):
        write_review(sample_release, tmp_path / "mine")
    assert (tmp_path / "mine" / "file").exists()


def test_no_release(tmp_path):
    with pytest.raises(UsageError, match="holds no configs"):
        write_review(tmp_path, tmp_path / "pages")


def test_the_same_bytes_every_time(sample_release, tmp_path):
    places = tmp_path / "one", tmp_path / "two"
    first, second = (write_review(sample_release, place, CHANGES, languages=["es"]).parent for place in places)
    assert tree_of(first) == tree_of(second) != {}


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(not CHROMIUM, reason="no Chromium")


def dom(page, width=1280):
    """The page after its scripts ran, as Chromium has it."""
    ran = subprocess.run(
        [
            CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000",
            f"--window-size={width},900", "--dump-dom", page,
        ],
        check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    return ran.stdout


@needs_browser
def test_a_browser_searches(pages):
    made = dom((pages / "index.html").as_uri() + "#Russian%20dc_")
    shown = re.findall(r"<tr data-more=[^>]*?(hidden)?[^>]*>\s*<td[^>]*><a href=\"(\w+)/", made)
    rows = re.findall(r"<tr data-more=\"[^\"]*\"( hidden=\"\")?>\s*<td[^>]*><a href=\"(\w+)/", made)
    assert len(rows) == len(shown) > 50
    assert {name for hidden, name in rows if not hidden} == {"dc_ru", "dc_easy_ru"}
    assert "2 of" in made


@needs_browser
def test_a_browser_runs_nothing_hostile(hostile_pages):
    made = dom((hostile_pages / "dc_es" / "index.html").as_uri())
    assert "<title>dc_es</title>" in made
    assert "taken</title>" not in made
