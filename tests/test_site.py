"""The documentation as a site: complete, without other hosts, and every page within two clicks."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from shared import ROOT

import discoprobe

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("mkdocs") is None, reason="mkdocs is not installed: pip install '.[docs]'"
    ),
]
LOADED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc="([^"]+)"|<link\b[^>]*\bhref="([^"]+)\""""
    r"""|url\(([^)]+)\)|@import ([^;]+)"""
)
LINK = re.compile(r'<a\b[^>]*\bhref="([^"#]+)')


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def api(site):
    return (site / "api.html").read_text(encoding="utf-8")


def test_no_page_loads_anything_from_another_host(site):
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 25
    for page in pages:
        for found in LOADED.findall(page.read_text(encoding="utf-8")):
            address = next(filter(None, found)).strip("\"' ")
            assert not urlsplit(address).netloc or address.startswith("data:"), f"{page.name}: {address}"


def test_every_page_is_within_two_clicks(site):
    reached, new = set(), {"index.html"}
    for _ in range(2):
        targets = set()
        for name in new:
            links = LINK.findall((site / name).read_text(encoding="utf-8"))
            targets |= {urljoin(name, link) for link in links if not urlsplit(link).scheme}
        reached |= new
        new = {name for name in targets if (site / name).suffix == ".html" and (site / name).is_file()} - reached
    pages = {page.relative_to(site).as_posix() for page in site.rglob("*.html")} - {"404.html"}
    assert pages <= reached | new


def test_the_search_knows_every_page_and_the_functions_of_python(site):
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    pages = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")}
    for page in pages - {Path("skill/SKILL.html")}:  # it is for agents, which read it in the repository
        assert page.as_posix() in index
    assert "probing_words" in index
    listed = re.findall(r'href="#[^"]*"[^>]*>\s*<span class="md-ellipsis">\s*(?:<[^>]+>)*(\w+)', api(site))
    assert set(discoprobe.__all__) <= {*listed}


def test_the_page_of_python_shows_what_the_package_exports(site):
    page = api(site)
    for name in ("load_corpus", "build"):
        assert f'id="discoprobe.notebook.{name}"' in page, "the function of another module"


def test_pages_of_a_folder_search_without_a_server(site):
    index = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    assert index.startswith("var __index = {")
    for page in site.rglob("*.html"):
        assert re.search(r'<script src="[./]*/?site/iframe-worker\.js"', page.read_text(encoding="utf-8")), page
