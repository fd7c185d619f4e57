"""The review application in a real browser: a headless Chromium filters, pages, marks, reloads, and reads blind."""

import importlib.util
import json
import re
import shutil

import pytest
from review_server import App, reviewing
from shared import run_in_process

from discoprobe.cards import marks_file, read_marks
from discoprobe.cards.release import RowStore

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WHY = (
    "Playwright is not installed: pip install playwright"
    if importlib.util.find_spec("playwright") is None
    else "" if CHROMIUM else "no Chromium on this machine: apt-get install chromium"
)  # fmt: skip
pytestmark = pytest.mark.skipif(bool(WHY), reason=WHY)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
]  # fmt: skip
PHONE = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as drivers:
        browser = drivers.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium, app):
    """A function that opens a page; at the end no page has reported an error or asked anybody else for anything."""
    errors, contexts = [], []

    def new(path="/", **options):
        context = chromium.new_context(base_url=app.address, **options)
        context.add_cookies([app.cookie])
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda sent: sent.url.startswith(app.address) or errors.append(sent.url))
        page.goto(path)
        return page

    yield new
    for context in contexts:
        context.close()
    assert [error for error in errors if "ERR_CONNECTION_REFUSED" not in error] == []


def count(page):
    return int(re.match(r"\d+", page.text_content("#count"))[0])


def test_configs_are_searched_and_sorted(tab):
    page = tab("/")
    names = page.locator("#table-of-configs tbody tr td:first-child")
    page.fill("#search", "arabic")
    page.press("#search", "Enter")
    assert names.all_text_contents() == ["bso_ar"]
    page.fill("#search", "")
    page.press("#search", "Enter")
    page.click("th a:has-text('language')")
    assert names.all_text_contents() == ["bso_ar", "bso_de", "so_de"]
    page.click("th a:has-text('language')")
    assert names.all_text_contents()[-1] == "bso_ar"
    page.click("text=bso_ar")
    assert count(page) == 24


def test_arrow_keys_go_from_card_to_card(tab):
    """The release card has a heading "Configs", whose id a script once took for that of a table."""
    page = tab("/card")
    headings = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        with page.expect_navigation():
            page.keyboard.press(key)
        headings.append(page.url.rpartition("/")[2])
    assert headings == ["bso_ar", "bso_de", "bso_ar"]


def test_filter_and_page(tab):
    page = tab("/rows")
    assert count(page) == 72
    assert page.locator("article.row").count() == 25
    page.keyboard.press("n")
    page.wait_for_url("**/rows?*page=2")
    assert "26–50" in page.text_content("#count")
    page.select_option("select[name=lang]", "ar")
    page.select_option("select[name=label]", "swapped")
    page.click("text=Show")
    page.wait_for_url("**lang=ar**")
    assert count(page) == 12
    assert page.locator("select[name=label]").input_value() == "swapped"
    assert set(page.locator(".row .label").all_text_contents()) == {"swapped"}


def test_mark_by_keyboard_and_reload(tab, release):
    page = tab("/rows?config=bso_de&split=test")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("2")
    page.wait_for_selector("#status:has-text('Saved: wrong label')")
    page.keyboard.press("c")
    page.keyboard.type("two of 1 2 3")
    page.keyboard.press("Enter")
    page.wait_for_selector("#status:has-text('Saved: wrong label, with the comment')")
    page.reload()
    second = page.locator("article.row").nth(1)
    assert second.locator("[aria-pressed=true]").text_content().split(maxsplit=1)[1] == "wrong label"
    assert second.locator(".comment input").input_value() == "two of 1 2 3", marks_file(release).read_text()
    assert page.locator("[aria-pressed=true]").count() == 1
    assert [one.verdict for one in read_marks(marks_file(release))] == ["wrong label"] * 2


def test_a_comment_that_is_left_is_saved(tab, release):
    page = tab("/rows?config=so_de&split=test")
    page.keyboard.press("2")
    page.wait_for_selector("#status:has-text('Saved: wrong label')")
    page.locator(".comment input").first.fill("both fit")
    page.keyboard.press("Tab")
    page.wait_for_selector("#status:has-text('Saved: wrong label, with the comment')")
    assert [(one.verdict, one.comment) for one in read_marks(marks_file(release))] == [
        ("wrong label", ""), ("wrong label", "both fit"),
    ]  # fmt: skip


def test_a_comment_that_is_left_for_another_verdict_goes_with_that(tab, release):
    page = tab("/rows?config=so_de&split=test")
    page.keyboard.press("2")
    page.wait_for_selector("#status:has-text('Saved: wrong label')")
    page.locator(".comment input").first.fill("both fit")
    page.locator("article.row").first.locator("button:has-text('undecidable')").click()
    page.wait_for_selector("#status:has-text('Saved: undecidable, with the comment')")
    assert [(one.verdict, one.comment) for one in read_marks(marks_file(release))] == [
        ("wrong label", ""), ("undecidable", "both fit"),
    ]  # fmt: skip


def test_two_tabs_lose_nothing(tab, release):
    first, second = tab("/rows?config=so_de&split=test"), tab("/rows?config=so_de&split=test")
    for number, page in enumerate((first, second)):
        page.locator("article.row").nth(number).locator("button:has-text('fine')").click()
        page.wait_for_selector("#status:has-text('Saved')")
    for page in (first, second):
        page.reload()
        assert page.locator("[aria-pressed=true]").count() == 2
    assert len(read_marks(marks_file(release))) == 2


def test_a_mark_that_could_not_be_sent_is_kept_and_sent_later(chromium, release):
    with reviewing(release) as app:
        port = int(app.address.rpartition(":")[2])
        context = chromium.new_context(base_url=app.address)
        context.add_cookies([app.cookie])
        page = context.new_page()
        page.goto("/row/bso_de/de-test-0")
    page.keyboard.press("4")
    page.wait_for_selector("#status:has-text('kept in this browser')")
    assert read_marks(marks_file(release)) == []
    from discoprobe.cards.review import Reader, server

    made, address = server(release, port, reader=Reader("ana"))
    context.add_cookies([App(*address.split("/?key=")).cookie])
    import threading

    threading.Thread(target=made.serve_forever, daemon=True).start()
    page.reload()
    page.wait_for_selector("#status:has-text('1 kept verdict saved')")
    assert [one.verdict for one in read_marks(marks_file(release))] == ["unnatural text"]
    made.shutdown()
    made.server_close()
    context.close()


def test_without_a_script_marks_are_saved_too(tab, release):
    page = tab("/rows?config=bso_ar&split=test", java_script_enabled=False)
    page.locator("article.row").nth(2).locator("button:has-text('undecidable')").click()
    page.wait_for_load_state()
    assert page.locator("[aria-pressed=true]").count() == 1
    assert [one.verdict for one in read_marks(marks_file(release))] == ["undecidable"]


def test_a_blind_round_with_a_reload_in_it(tab, release):
    labels = {row_id: row.label for row_id, row in _rows(release).items()}
    page = tab("/blind")
    page.fill("main [name=name]", "first")
    page.check("[name=task][value=bso]")
    page.check("[name=lang][value=de]")
    page.fill("[name=n]", "4")
    page.click("text=Begin")
    for number in range(4):
        page.wait_for_selector(f"text={number + 1} of 4, {number} answered")
        page.wait_for_load_state()  # the keys work once the script has run
        assert not set(labels) & set(re.findall(r"p\d+|d\d+", page.text_content("article")))
        if number == 2:
            page.reload()
        label = labels[page.locator("[name=row]").first.get_attribute("value")]
        page.keyboard.press({"in_order": "1", "swapped": "2"}[label] if number else "0")
    page.wait_for_selector("text=4 of 4 rows are answered")
    page.click("text=Show the results")
    cells = page.locator("tbody tr td").all_text_contents()
    assert cells[:2] == ["4 of 4", ".750"] or cells[:2] == ["4 of 4", "0.750"]
    assert cells[6 - 1] == "1", "cannot tell"
    page.goto("/blind/round?name=first&task=bso&lang=de&n=4&split=test")
    assert "/blind/result" in page.url


def _rows(release):
    store = RowStore(release)
    return {row_id: store.row("bso_de", row_id) for row_id in (f"de-test-{n}" for n in range(8))}


def test_export(tab):
    page = tab("/row/so_de/de-test-3")
    page.click("button:has-text('other')")
    page.wait_for_selector("#status:has-text('Saved')")
    with page.expect_download() as loaded:
        page.click("text=Export marks")
    assert loaded.value.suggested_filename == "release.marks.jsonl"
    with open(loaded.value.path(), encoding="utf-8") as file:  # noqa: PTH123 (a path of the browser)
        assert json.loads(file.read())["row"] == "de-test-3"


def test_the_reader_is_named_in_the_browser(tab, release):
    page = tab("/rows?config=so_de")
    page.click("summary")
    page.fill(".reader [name=name]", "Zoë")
    page.select_option(".reader [name=kind]", "model")
    page.click(".reader button")
    page.wait_for_selector("summary:has-text('Zoë')")
    page.locator("button:has-text('fine')").first.click()
    page.wait_for_selector("#status:has-text('Saved')")
    (kept,) = read_marks(marks_file(release))
    assert (kept.reader, kept.reader_kind) == ("Zoë", "model")


PATHS = (
    "/",
    "/rows",
    "/row/bso_ar/ar-test-0",
    "/blind",
    "/blind/round?name=r&split=test",
    "/card/bso_de",
    "/rows?config=so_de&surest=chars",
)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone_and_can_be_read(tab, path, scheme):
    """No page is wider than the screen; text, fields and links are as WCAG asks.

    Text has a contrast of 4.5 : 1, every field has a name and every form its own, links in sentences are underlined,
    and the keyboard reaches what scrolls.
    """
    page = tab(path, viewport=PHONE, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    colours = page.evaluate("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
    assert contrast(*colours) > 4.5
    assert luminance(colours[1]) < 0.1 if scheme == "dark" else luminance(colours[1]) > 0.9
    unnamed = page.evaluate(
        "[...document.querySelectorAll('input:not([type=hidden]), select, button')].filter(e =>"
        " !(e.labels && e.labels.length) && !e.textContent.trim() && !e.getAttribute('aria-label')).length"
    )
    assert unnamed == 0
    forms = page.eval_on_selector_all("form[aria-label]", "forms => forms.map(form => form.getAttribute('aria-label'))")
    assert len(forms) == len(set(forms))
    in_text = "links => links.filter(a => getComputedStyle(a).textDecorationLine == 'underline').length == links.length"
    assert page.eval_on_selector_all("main p:not([role]) a, main li a", in_text)
    assert page.locator("main pre:not([tabindex])").count() == 0


def test_the_page_of_an_audit_fits_a_phone(chromium, tmp_path):
    """The plot and the tables, too; all of it is in the part of the page that is said to be its main one."""
    rows = [{"text": f"the old river number{at} walked slowly home", "label": "ab"[at % 2]} for at in range(80)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run_in_process("audit", tmp_path / "rows.jsonl", "--html", tmp_path / "page.html")
    page = chromium.new_page(viewport=PHONE)
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("main svg").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.locator("th:empty").count() == page.locator("body > :not(main)").count() == 0
    page.close()


def luminance(colour):
    parts = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_texts_have_their_language_and_direction(tab):
    page = tab("/row/bso_ar/ar-test-2")
    text = page.locator("article .text").first
    assert text.get_attribute("lang") == "ar"
    assert text.evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert page.evaluate("getComputedStyle(document.body).direction") == "ltr"


def test_hostile_text_is_text(tab):
    page = tab("/row/bso_ar/ar-test-0")
    assert page.title() != "taken"
    assert "<script>" in page.text_content("article")
