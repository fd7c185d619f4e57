"""Makes the pictures of docs/reviewing.md: `python tests/cards/review_pictures.py`. Needs Chromium and Playwright."""

import itertools
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))

from playwright.sync_api import sync_playwright
from review_server import reviewing
from typer.testing import CliRunner

from discoprobe.cli import app as program
from discoprobe.sources import Contexts

FOLDER = Path(__file__).parent.parent.parent / "docs" / "images"
ROUND = "/blind/round?name=r1&task=dc&lang=es&n=8"
DESK, PHONE = {"width": 1200, "height": 800}, {"width": 360, "height": 740}


def first_row(page):
    page.locator("article h2 a").first.click()
    page.wait_for_selector("text=In the source")
    page.click("button:has-text('unnatural text')")
    page.wait_for_selector("[aria-pressed=true]")
    page.fill(".comment input", "reads well otherwise")
    page.keyboard.press("Enter")
    page.wait_for_selector("#status:has-text('with the comment')")


def result(page):
    for answer in itertools.cycle("1121"):
        if not page.locator(".answering").count():
            break
        with page.expect_navigation():
            page.keyboard.press(answer)
    with page.expect_navigation():
        page.click("text=Show the results")


PICTURES = {
    "configs": ("/", DESK, "light", None),
    "rows": ("/rows?config=bigram_shift_es&split=test&label=shifted", DESK, "light", None),
    "row": ("/rows?config=bigram_shift_es&split=test&label=shifted", DESK, "light", first_row),
    "blind": (ROUND, DESK, "light", None),
    "phone": (ROUND, PHONE, "dark", None),
    "result": (ROUND, {"width": 1200, "height": 320}, "light", result),
}


def main():
    with tempfile.TemporaryDirectory() as place, sync_playwright() as drivers:
        release = Path(place) / "release"
        made = CliRunner().invoke(program, ["run", "--lang", "es", "--corpus", "sample", "--out", str(release)])
        assert made.exit_code == 0, made.output
        browser = drivers.chromium.launch(executable_path=shutil.which("chromium"), args=["--headless", "--no-sandbox"])
        with reviewing(release, context=Contexts(["sample"])) as app:
            for name, (path, size, scheme, act) in PICTURES.items():
                scale = 2 if size is PHONE else 1
                page = browser.new_page(
                    base_url=app.address, viewport=size, color_scheme=scheme, device_scale_factor=scale
                )
                page.context.add_cookies([app.cookie])
                page.goto(path)
                if act:
                    act(page)
                page.screenshot(path=FOLDER / f"review-{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
