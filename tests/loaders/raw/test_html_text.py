"""Pages of HTML, as text laid out like Markdown."""

from discoprobe.loaders.raw import ReadOptions, read_documents
from discoprobe.loaders.raw.html_text import text_of_html

PAGE = """<!DOCTYPE html><html><head><title>Ana</title><style>p {color: red}</style></head><body>
<nav><a href="/">Home</a></nav><h2>The  garden</h2><p>It was <b>too</b>
wet to dig. I&nbsp;cleaned the tools &amp; sorted the seeds.<p>On the ninth the sun<br>came out.
<ul><li>beans<li>a net</ul><table><tr><td>1</td></tr></table><pre>x = 1</pre>
<div>Mice ate the beans.<script>if (a < b) {}</script></div><footer>2024</footer></body></html>"""


def test_blocks_headings_and_lists_are_kept_and_the_rest_is_left_out():
    assert text_of_html(PAGE) == (
        "## The garden\n\nIt was too wet to dig. I cleaned the tools & sorted the seeds.\n\n"
        "On the ninth the sun\ncame out.\n\n- beans\n- a net\n\nMice ate the beans.\n"
    )


def test_a_page_without_text():
    assert text_of_html("<html><body><script>1</script>") == "\n"


def test_pages_mails_and_markdown_in_a_folder_are_documents(tmp_path):
    (tmp_path / "garden.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "plan.md").write_text("# The plan\n\nWe dig in March. We plant in May.\n", encoding="utf-8")
    (tmp_path / "mail.eml").write_text(
        "From: ana@example.org\nTo: ben@example.org\nSubject: Beans\n\nThe mice ate them. I will buy a cat.\n",
        encoding="utf-8",
    )
    documents = list(read_documents(tmp_path, ReadOptions(lang="en", language_share=0)))
    texts = {each.doc_id: [part.text for part in each.paragraphs if part.kind == "text"] for each in documents}
    assert texts == {
        "garden": [
            "It was too wet to dig. I cleaned the tools & sorted the seeds.", "On the ninth the sun came out.",
            "Mice ate the beans.",
        ],
        "mail": ["The mice ate them. I will buy a cat."],
        "plan": ["We dig in March. We plant in May."],
    }  # fmt: skip
