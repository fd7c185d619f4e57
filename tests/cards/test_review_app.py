"""The review application over HTTP: rows are found, marks kept, rounds blind, and strangers refused."""

import html
import json
import re
import signal
import subprocess
import sys
from types import SimpleNamespace

import msgspec
import pytest
import releases
from releases import config, write
from review_server import App, reviewing

from discoprobe.builders.audit import Finding, Kind, Severity, Status
from discoprobe.cards import marks_file, read_marks
from discoprobe.cards.metadata import manifest
from discoprobe.cards.release import RowFilter, RowStore, compare, in_folder, renew_figures
from discoprobe.cards.review import BlindRound, Reader, differences, inside, read_card, sample
from discoprobe.cards.text import question_of
from discoprobe.loaders import DiscoprobeError, UsageError


def rows_of(text):
    return re.findall(r'href="/row/(\w+)/([\w-]+)"', text)


# rows


def test_every_row_is_on_one_page_of_the_list(release, app):
    total = sum(
        sum(counts.values()) for one in manifest.read(release).configs.values() for counts in one.counts.values()
    )
    seen = [place for page in range(1, 5) for place in rows_of(app.get(f"/rows?page={page}")[2])]
    assert len(seen) == len(set(seen)) == total == 72
    assert "No row is like that" in app.get("/rows?page=9")[2]


@pytest.mark.parametrize(
    ("query", "n"),
    [
        ("task=so", 24), ("lang=ar", 24), ("split=test&task=bso", 16), ("label=swapped&lang=de", 24),
        ("corpus=UD_ar", 24), ("config=bso_ar&words=script", 3), ("words=SATZ 3 IN", 6), ("words=%25", 0),
        ("task=nothing", 0), ("label=nothing", 0), ("verdict=any", 0), ("verdict=none", 72),
    ],
)  # fmt: skip
def test_filters(app, query, n):
    status, _, text = app.get(f"/rows?{query.replace(' ', '%20')}")
    assert status == 200
    assert re.search(r'id="count">(\d+) row', text)[1] == str(n)
    assert len(rows_of(text)) == min(n, 25)


def test_the_first_page_of_1600_configs_is_small(release):
    whole = manifest.read(release)
    entry = whole.configs["bso_de"]
    names = [f"task{number}_de" for number in range(1_600)]
    whole.configs |= {name: msgspec.structs.replace(entry, task=name.removesuffix("_de")) for name in names}
    (release / manifest.NAME).write_text(json.dumps(msgspec.to_builtins(whole)), encoding="utf-8")
    with reviewing(release) as app:
        first, last = app.get("/")[2], app.get("/?page=17")[2]
        assert len(first.encode()) < 120_000
        assert "page 1 of 17" in first
        assert "1,603 of 1,603" in first
        assert last.count("<tr>") == 1 + 3
        found = app.get("/?q=task159&sort=-config")[2]
        assert re.findall(r'href="/rows\?config=(\w+)" title=', found)[:2] == ["task159_de", "task1599_de"]
        assert "11 of 1,603" in found


def test_words_are_found_in_any_case(tmp_path):
    store = RowStore(
        write(
            tmp_path / "release",
            config("bso", "de", change=lambda rows: [{**rows[0], "sentence1": "Die Straße"}, *rows[1:]]),
        )
    )
    assert [store.find(RowFilter(words=words, split="test"), 0, 9)[1] for words in ("straße", "DIE Straße")] == [
        1,
        1,
    ]


def test_a_corpus_that_is_one_of_several_is_counted_by_its_rows(tmp_path):
    from releases import source

    def other(rows):
        return [row | {"corpus": "UD_b"} if n < 3 else row for n, row in enumerate(rows)]

    two = config("bso", "de", change=other, sources=(source("de"), source("b")))
    store = RowStore(write(tmp_path / "release", two))
    assert store.find(RowFilter(corpus="UD_b"), 0, 10)[1] == 3
    assert store.find(RowFilter(corpus="UD_de"), 18, 10)[1] == 21
    assert [row.number for row in store.find(RowFilter(corpus="UD_de", split="test"), 1, 2)[0]] == [4, 5]


def test_a_row_is_shown_with_its_pair_and_its_text_is_only_text(app):
    status, _, text = app.get("/row/bso_ar/ar-test-0")
    assert status == 200
    assert "&lt;script&gt;document.title" in text
    assert "<script>document" not in text
    assert 'lang="ar" dir="auto"' in text
    assert text.count("/row/bso_ar/ar-test-1") == 2, "its pair, and the next row"
    assert app.get("/row/bso_ar/nothing")[0] == 404
    assert app.get("/row/nothing/ar-test-0")[0] == 404


@pytest.mark.parametrize(
    ("left", "right", "marked"),
    [
        ("Le avisé por teléfono hoy.", "Le avisé teléfono por hoy.", ["por teléfono", "teléfono por"]),
        ("El vino era áspero.", "El pan era áspero.", ["vino", "pan"]),
        ("Vino y pagó.", "Vino y pagó ayer.", ["", "ayer"]),
        ("No vino.", "No vino.", ["", ""]),
    ],
)
def test_the_edit_of_a_pair_is_marked_in_both(left, right, marked):
    sides = [side.pieces(None) for side in differences(left, right)]
    assert ["".join(piece for piece, _ in side) for side in sides] == [left, right]
    assert ["".join(piece for piece, mark in side if mark) for side in sides] == marked


def test_context_of_the_source(release):
    def around(lang, corpus, ids):
        return [(f"{lang} {corpus} {sorted(ids)}", True, False), ("after", False, True)]

    with reviewing(release, context=around) as app:
        text = app.get("/row/bso_de/de-test-3")[2]
    assert "de UD_de [&#39;s3&#39;]" in text
    assert 'class="gap"' in text


def test_the_rows_that_a_solver_is_surest_of(tmp_path, monkeypatch):
    """Of each config at most twenty, the surest first, whatever split they are in."""
    surest = {"bso_de": ("de-test-3", "de-train-7", "de-test-1"), "so_de": ("de-train-0",)}

    report = releases.report

    def reported(made, **_more):
        found = Finding("chars", Kind.SHORTCUT, Severity.ERROR, Status.BELOW, 0.5, 0.6, 0.5, rows=surest[made.name])
        return msgspec.structs.replace(report(made), findings=(found,))

    monkeypatch.setattr(releases, "report", reported)
    made = write(tmp_path / "release", config("bso", "de"), config("so", "de"))
    with reviewing(made) as app:
        assert [row for _, row in rows_of(app.get("/rows?config=bso_de&surest=chars")[2])] == list(surest["bso_de"])
        assert len(rows_of(app.get("/rows?surest=chars")[2])) == 4
        assert rows_of(app.get("/rows?surest=chars&split=train&task=bso")[2]) == [("bso_de", "de-train-7")]
        assert rows_of(app.get("/rows?surest=words")[2]) == []
        mark(app, row="de-test-1")
        assert rows_of(app.get("/rows?surest=chars&verdict=any")[2]) == [("bso_de", "de-test-1")]
        assert len(rows_of(app.get("/rows?surest=chars&verdict=none")[2])) == 3


def test_changes_since_a_release(tmp_path):
    def drop(rows):
        return rows[:-2]

    old = write(tmp_path / "old", config("bso", "de"))
    new = write(tmp_path / "new", config("bso", "de", change=drop), config("so", "de"))
    changes = compare(in_folder(old, manifest.read(old)), in_folder(new, manifest.read(new)))
    with reviewing(new, changes=changes, against="old") as app:
        text = app.get("/changes")[2]
        assert "so_de (24 rows)" in text
        assert "test: 2 removed" in text
        assert "test: 2 removed" in app.get("/card/bso_de")[2]
    with reviewing(new) as app:
        assert app.get("/changes")[0] == 404


def test_the_release_is_checked_before_the_first_page(tmp_path, release):
    with pytest.raises(UsageError, match="holds no configs"), reviewing(tmp_path):
        pass
    with pytest.raises(UsageError, match="no config of fi"), reviewing(release, languages=("fi",)):
        pass
    marks_file(release).write_text("nothing}\n")
    with pytest.raises(DiscoprobeError, match=r"marks\.jsonl:1: not a mark"), reviewing(release):
        pass


def test_a_link_out_of_the_release_is_not_followed(release, tmp_path):
    file = release / "so_de" / "test-00000-of-00001.parquet"
    file.rename(tmp_path / "elsewhere.parquet")
    file.symlink_to(tmp_path / "elsewhere.parquet")
    with pytest.raises(DiscoprobeError, match="leads out of the release folder"), reviewing(release):
        pass


def test_a_file_that_is_no_parquet_is_named(release, app):
    (release / "so_de" / "test-00000-of-00001.parquet").write_bytes(b"PAR1" * 9)
    status, _, text = app.get("/rows?config=so_de&split=test")
    assert (status, "cannot be read as parquet" in text) == (400, True)
    assert app.get("/rows?config=bso_de&split=test")[0] == 200


# marks


def mark(app, row="de-test-0", verdict="wrong label", config_="bso_de", **more):
    return app.post("/mark", {"token": app.token(), "config": config_, "row": row, "verdict": verdict, **more})


def test_a_mark_is_in_the_file_before_the_answer_and_on_every_page_after(release, app):
    status, headers, _ = mark(app, comment=" twice “said”\nhere ", next="/rows?task=bso")
    assert (status, headers["Location"]) == (303, "/rows?task=bso")
    (kept,) = read_marks(marks_file(release))
    assert (kept.reader, kept.reader_kind, kept.verdict, kept.place) == (
        "ana", "person", "wrong label", ("bso_de", "de-test-0"),
    )  # fmt: skip
    assert kept.comment == "twice “said”\nhere"
    assert rows_of(app.get("/rows?verdict=wrong%20label")[2]) == [("bso_de", "de-test-0")]
    assert 'value="wrong label" data-key="2" aria-pressed="true"' in app.get("/row/bso_de/de-test-0")[2]
    assert "71 rows" in app.get("/rows?verdict=none")[2]
    assert app.get("/marks.jsonl")[2] == marks_file(release).read_text()


def test_marks_survive_a_new_start_and_can_be_taken_back(release):
    with reviewing(release) as app:
        mark(app)
    with reviewing(release, reader=Reader("ben", "model")) as app:
        assert "ana (person): wrong label" in app.get("/row/bso_de/de-test-0")[2]
        mark(app, verdict="fine")
        mark(app, verdict="")
    assert [one.verdict for one in read_marks(marks_file(release))] == ["wrong label", "fine", ""]
    assert {one.reader_kind for one in read_marks(marks_file(release))} == {"person", "model"}


def test_a_mark_names_a_row_and_a_verdict_that_there_are(app):
    assert mark(app, row="nothing")[0] == 404
    assert mark(app, config_="../evil")[0] == 404
    assert mark(app, verdict="bad")[0] == 400
    assert app.get("/marks.jsonl")[2] == ""


def test_who_reads_is_asked_for(release):
    with reviewing(release, reader=Reader()) as app:
        assert mark(app)[0] == 400
        status, headers, _ = app.post(
            "/reader", {"token": app.token(), "name": "Zoë", "kind": "model", "next": "//evil"}
        )
        assert (status, headers["Location"]) == (303, "/")
        cookie = headers["Set-Cookie"].partition(";")[0]
        assert "HttpOnly" in headers["Set-Cookie"]
        answer = app.post(
            "/mark", {"token": app.token(), "config": "so_de", "row": "de-test-1", "verdict": "fine"}, Cookie=cookie
        )
        assert answer[0] == 303
        assert app.post("/reader", {"token": app.token(), "name": "x", "kind": "robot"})[0] == 400
    assert read_marks(marks_file(release))[0].reader == "Zoë"


# strangers


def test_other_host_names_and_other_sites_are_refused(app):
    assert app.get("/", Host="evil.example")[0] == 400
    assert app.get("/", Host="127.0.0.1")[0] == 400, "without the port"
    assert app.get("/", Host=app.address[7:].replace("127.0.0.1", "localhost"))[0] == 200
    values = {"config": "bso_de", "row": "de-test-0", "verdict": "fine"}
    assert app.post("/mark", values)[0] == 403
    assert app.post("/mark", values | {"token": "x"})[0] == 403
    assert app.post("/mark", values | {"token": app.token()}, Origin="http://evil.example")[0] == 403
    assert app.post("/mark", values | {"token": app.token()}, Origin="null")[0] == 403
    assert app.post_json("/mark", values)[0] == 403
    assert app.post_json("/mark", [1])[0] == 400
    assert app.get("/marks.jsonl")[2] == ""
    assert app.post("/mark", values | {"token": app.token(), "comment": "x" * 3_000_000})[0] == 413


def test_only_files_of_the_release_are_served(app, release):
    (release / "assets" / "secret.svg").write_text("x")
    for path in ("secret.svg", "..%2Fmanifest.json", "../manifest.json", "%2e%2e/%2e%2e/etc/passwd", "nothing.svg"):
        assert app.get(f"/assets/{path}")[0] == 404, path
    assert app.get("/assets/bso_de.svg")[0] == 200
    assert app.get("/card/..%2F..%2Fetc")[0] == 404


def test_pages_load_nothing_from_elsewhere(app):
    for path in ("/", "/rows", "/row/bso_de/de-test-0", "/blind", "/card", "/card/bso_de", "/rows?surest=chars"):
        status, headers, text = app.get(path)
        assert status == 200, path
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert not re.findall(r'<(?:script|img|link)[^>]+(?:src|href)="(?!/)', text), path
        assert not re.findall(r"<[^>]+ (?:style|on\w+)=", text), path
        assert (headers["Cache-Control"], headers["X-Content-Type-Options"]) == ("no-store", "nosniff")


def test_a_picture_that_is_opened_alone_has_its_style_and_no_script(app):
    for path in ("/overview.svg", "/assets/bso_de.svg"):
        assert app.get(path)[1]["Content-Security-Policy"] == "default-src 'none'; style-src 'unsafe-inline'"


def test_another_account_of_the_machine_sees_and_marks_nothing(app, release):
    """Whoever can reach the port has no key; the address that is printed has it."""
    token, stranger = app.token(), App(app.address)
    for path in ("/", "/rows", "/blind/round.json?name=r1", "/app.js", "/marks.jsonl"):
        assert stranger.get(path)[0] == 403, path
        assert token not in stranger.get(path)[2]
        assert App(app.address, "wrong").get(path)[0] == 403, path
    form = {"token": token, "config": "so_de", "row": "de-test-1", "verdict": "fine"}
    assert stranger.post("/mark", form)[0] == 403
    assert "`build review` printed" in html.unescape(stranger.get("/")[2])
    assert not marks_file(release).exists()
    status, headers, _ = stranger.get(f"/?key={app.key}")
    assert status == 200
    assert headers["Set-Cookie"].startswith(f"key-{app.address.rpartition(':')[2]}={app.key};")
    assert "HttpOnly" in headers["Set-Cookie"]
    assert "SameSite=Strict" in headers["Set-Cookie"]
    assert stranger.post(f"/mark?key={app.key}", form)[0] == 303


@pytest.mark.parametrize("address", ["//evil", "https://evil", "/\\evil", "javascript:x", "", "rows"])
def test_only_own_addresses_are_followed(address):
    assert inside(address) == "/"
    assert inside("/rows?a=b") == "/rows?a=b"


# blind rounds

ROUND = "name=r1&task=bso&n=6&split=train"


def test_a_row_of_a_suite_asks_which_text_is_better():
    entry = SimpleNamespace(shape="suite", summary="Does the verb agree with its subject?")
    assert question_of(entry) == "Which text is better? Does the verb agree with its subject?"
    assert question_of(SimpleNamespace(shape="sentence", summary=entry.summary)) == entry.summary


def test_questions_say_nothing_of_labels(app):
    text = app.get(f"/blind/round.json?{ROUND}")[2]
    asked = json.loads(text)
    assert len(asked["items"]) == 12
    assert {key for item in asked["items"] for key in item} == {"config", "row", "asks", "texts", "answers", "answered"}
    page = app.get(f"/blind/round?{ROUND}")[2]
    assert "1 of 12, 0 answered" in page
    assert not re.search("pair_id|doc_id|UD_|position|class=.label", page)


def test_a_sample_is_balanced_and_has_one_row_of_a_pair(release):
    store = RowStore(release)
    rows = sample(store, BlindRound("r1", ("bso_de",), "train", 4)).rows
    assert [row.label for row in rows].count("swapped") == 2
    assert len({row.values["pair_id"] for row in rows}) == 4
    assert rows == sample(RowStore(release), BlindRound("r1", ("bso_de",), "train", 4)).rows
    assert rows != sample(store, BlindRound("r2", ("bso_de",), "train", 4)).rows
    every = sample(store, BlindRound("r1", ("bso_de",), "train", 100))
    assert (len(every.rows), every.missing) == (6, {"bso_de": 6}), "as many as there are pairs"


def test_no_document_is_in_two_rows_of_a_round(release):
    """Two tasks over the same documents: a row of one would give the order of sentences in the other away."""
    found = sample(RowStore(release), BlindRound("r1", ("bso_de", "so_de"), "train", 5))
    assert sorted(row.values["doc_id"] for row in found.rows) == [f"d{n}" for n in range(6)]
    assert [row.config for row in found.rows] == ["bso_de"] * 3 + ["so_de"] * 3, "no config gets all documents"
    assert found.missing == {"bso_de": 2, "so_de": 2}


def test_no_sentence_is_in_two_rows_of_a_round_that_may_repeat_documents(release):
    found = sample(RowStore(release), BlindRound("r1", ("bso_de", "so_de"), "train", 6, repeat_documents=True))
    sentences = [sentence for row in found.rows for sentence in row.values["sent_ids"]]
    assert len(sentences) == len(set(sentences)) == 12
    assert found.missing == {}


NO_IDS = {"doc_id": None, "sent_ids": None, "pair_id": None}
ROWS = {
    "no documents": (6, lambda _: {"doc_id": None}),
    "one sentence": (1, lambda _: {"doc_id": None, "sent_ids": ["s0"]}),
    "one distractor": (1, lambda n: {"doc_id": f"x{n}", "sent_ids": [f"s{n}", "distractor"], "pair_id": None}),
    "texts only": (12, lambda _: NO_IDS),
    "a text in four rows": (3, lambda n: NO_IDS | {"sentence1": f"Satz {n // 4}"}),
}


@pytest.mark.parametrize(("n", "change"), ROWS.values(), ids=ROWS)
def test_what_rows_of_a_round_do_not_share(tmp_path, n, change):
    def changed(rows):
        return [row | change(number) for number, row in enumerate(rows)]

    store = RowStore(write(tmp_path / "release", config("bso", "de", change=changed, splits=("train",))))
    assert len(sample(store, BlindRound("r1", ("bso_de",), "train", 12)).rows) == n


def test_what_the_reader_has_read_in_another_round_is_not_asked(app):
    """Neither the rows of an earlier round, nor those that share a document with them, nor marked ones."""

    def asked(query):
        return json.loads(app.get(f"/blind/round.json?{query}")[2])

    first = asked("name=r1&config=bso_de&split=train&n=2")
    answers = [{"config": "bso_de", "row": item["row"], "answer": "swapped"} for item in first["items"]]
    sent = {"token": first["token"], "round": "name=r1&config=bso_de&split=train&n=2", "answers": answers}
    assert app.post_json("/answers.json", sent) == (200, {"saved": 2})
    assert first["read_before"] == {}
    second = asked("name=r2&config=so_de&split=train&n=6")
    assert (len(second["items"]), second["read_before"], second["missing"]) == (4, {"so_de": 2}, {})
    mark(app, row=second["items"][0]["row"], config_="so_de")
    assert len(asked("name=r2&config=so_de&split=train&n=6")["items"]) == 3
    assert asked("name=r2&config=bso_ar&split=train&n=6")["read_before"] == {}, "documents of another corpus"
    again = asked("name=r1&config=bso_de&split=train&n=2")
    assert [item["answered"] for item in again["items"]] == ["swapped"] * 2, "its own rows stay"
    page = app.get("/blind/round?name=r2&config=so_de&split=train&n=6")[2]
    assert "so_de: 3 rows are not asked, because you have read their documents or sentences before" in page
    page = app.get("/blind/round?name=r3&config=bso_ar&split=train&n=12")[2]
    assert "bso_ar: 6 rows fewer, because every other row shares a document or a sentence with these" in page


def test_a_round_from_first_answer_to_the_cards(release, app):
    asked = json.loads(app.get(f"/blind/round.json?{ROUND}")[2])
    store = RowStore(release)
    labels = {item["row"]: store.row(item["config"], item["row"]).label for item in asked["items"]}
    right, wrong = asked["items"][:-2], asked["items"][-2:]
    answers = [{"config": item["config"], "row": item["row"], "answer": labels[item["row"]]} for item in right]
    answers += [{"config": item["config"], "row": item["row"], "answer": "cannot tell"} for item in wrong]
    token = asked["token"]
    assert app.get(f"/blind/result?{ROUND}")[0] == 303, "no results before the end"
    assert app.post_json("/answers.json", {"token": token, "round": ROUND, "answers": answers}) == (200, {"saved": 12})
    assert json.loads(app.get(f"/blind/round.json?{ROUND}")[2])["items"][-1]["answered"] == "cannot tell"
    assert app.post("/reveal", {"token": token, "round": ROUND})[0] == 303
    result = json.loads(app.get(f"/blind/result?{ROUND}", Accept="application/json")[2])
    assert sum(one["correct"] for one in result) == 10
    assert [one["answered"] for one in result] == [6, 6]
    status, said = app.post_json("/answers.json", {"token": token, "round": ROUND, "answers": answers})
    assert (status, said["error"]) == (409, "the results of this round have been shown; begin another one")
    lines = renew_figures(release)
    assert len(lines) == 2
    whole = manifest.read(release).configs
    found = [whole[name].readers["person"] for name in ("bso_ar", "bso_de")]
    assert sum(one.correct for one in found) == 10
    card = read_card(release, "bso_de")
    assert card.count("## Readers\n") == 1
    assert "| 1 person |" in card
    edited = sum(reader.edited for reader in found)
    assert edited == sum(labels[item["row"]] == "swapped" for item in asked["items"])
    assert {reader.acceptable for reader in found} == {0}, "a reader who cannot tell does not find them acceptable"
    assert f"| 0 of {found[1].edited} |" in card
    unread = read_card(release, "so_de")
    assert "## Readers\n\nNot read: nobody has read rows of this config" in unread
    assert "| `bso_de` | 1 person |" in (release / "README.md").read_text(encoding="utf-8")
    assert renew_figures(release) == lines, "once more"
    assert read_card(release, "bso_de") == card


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_application_ends_in_the_background_and_writes_the_figures(release, number):
    """A shell starts programs in the background with Ctrl-C ignored."""
    words = [sys.executable, "-m", "discoprobe", "review", "--out", release, "--reader", "ana", "--no-open"]
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *words]
    with subprocess.Popen(ignoring, stdout=subprocess.PIPE, text=True) as program:
        try:
            app = App(*program.stdout.readline().strip().split("/?key="))
            mark(app, verdict="fine")
            program.send_signal(number)
            assert program.communicate(timeout=200)[0].startswith("bso_de: 1 row read by 1 person")
            assert program.returncode == 0
        finally:
            program.kill()


def test_a_model_is_never_called_human(release):
    with reviewing(release, reader=Reader("m1", "model")) as app:
        mark(app, verdict="fine")
    renew_figures(release)
    card = read_card(release, "bso_de")
    assert "no person has read any, so no figure here is human" in card
    assert "| 1 model |" in card


@pytest.mark.parametrize(
    ("query", "status"),
    [("name=r", 200), ("split=test", 400), ("name=r&split=x", 400), ("name=r&task=nothing", 404), ("name=r&n=x", 200)],
)
def test_rounds_that_cannot_be(app, query, status):
    assert app.get(f"/blind/round?{query}")[0] == status


def test_a_round_leaves_configs_out_that_lack_its_split(release):
    """Suites of minimal pairs have a test split only."""
    whole = json.loads((release / manifest.NAME).read_text(encoding="utf-8"))
    del whole["configs"]["so_de"]["counts"]["train"]
    (release / manifest.NAME).write_text(json.dumps(whole), encoding="utf-8")
    with reviewing(release) as app:
        asked = json.loads(app.get("/blind/round.json?name=r&split=train&lang=de")[2])["items"]
        assert {item["config"] for item in asked} == {"bso_de"}
        assert app.get("/blind/round?name=r&split=train&task=so")[0] == 404
        assert app.get("/blind/round?name=r&split=test&task=so")[0] == 200


def test_answers_that_cannot_be(app):
    token = app.token()

    def send(**changes):
        answer = {"config": "bso_de", "row": "", "answer": "swapped"} | changes
        return app.post_json("/answers.json", {"token": token, "round": ROUND, "answers": [answer]})[0]

    asked = json.loads(app.get(f"/blind/round.json?{ROUND}")[2])["items"]
    row = next(item["row"] for item in asked if item["config"] == "bso_de")
    assert send(row=row) == 200
    assert send(row=row, answer="Singular") == 400
    assert send(row="de-test-0") == 404
    assert app.post_json("/answers.json", {"token": token, "round": ROUND, "answers": "x"})[0] == 400


# marks without a browser


def test_marks_of_another_reader_are_added(release, command, tmp_path):
    with reviewing(release) as app:
        mark(app)
    file = tmp_path / "answers.jsonl"
    time = '"time":"2026-11-22T08:00:00Z"'
    lines = [
        f'{{"kind":"mark","config":"bso_de","row":"de-test-0","verdict":"fine","reader":"m","reader_kind":"model",{time}}}',
        f'{{"kind":"answer","config":"bso_de","row":"de-test-1","answer":"swapped","reader":"m","reader_kind":"model",{time}}}',
    ]
    file.write_text("\n".join(lines) + "\n")
    done = command("review", "--out", release, "--marks", file)
    assert done.returncode == 0, done.stderr
    assert "2 marks added" in done.stdout
    assert "bso_de: 2 rows read by 1 model, 1 blind answer, too few for a figure" in done.stdout
    assert "0 marks added" in command("review", "--out", release, "--marks", file).stdout
    file.write_text(lines[0].replace("de-test-0", "nothing") + "\n")
    done = command("review", "--out", release, "--marks", file)
    assert (done.returncode, "bso_de has no row nothing" in done.stderr) == (1, True)
    assert command("review", "--out", release, "--reader-kind", "robot").returncode == 2
