"""Downloads over real HTTP from a loopback server that fails as planned."""

import contextlib
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from file_server import Cut, Drop, Slow, Stall, Status, WrongStart, serving, until
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import SHARED

from discoprobe.loaders import DiscoprobeError, File, IntegrityError, RemoteError, RetryPolicy, hashes_of
from discoprobe.loaders.catalogue import DocumentRule, Treebank, treebank
from discoprobe.loaders.catalogue import treebanks as pinned_corpora
from discoprobe.loaders.fetch import fetch, location, places, select, state_of

QUICK = RetryPolicy(attempts=4, first_wait=0.01, longest_wait=0.05, longest_asked=0.05, timeout=5)
CONTENT = b"".join(hashlib.sha256(b"%d" % n).digest() for n in range(4000))
"""128,000 bytes that compress badly."""
PATH = "o/UD_Xish-T/" + "a" * 40 + "/xx_t-ud-test.conllu"


def pinned(content, path="xx_t-ud-test.conllu", *, sized=True, sha256=True):
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    known = hashlib.sha256(content).hexdigest() if sha256 else None
    return File(path, known or "", len(content) if sized else None, blob)


def states(*corpora):
    return [state_of(corpus, file)[0] for corpus in corpora for file in corpus.files]


def bank(*files):
    return Treebank(
        name="UD_Xish-T",
        prefix="xx_t",
        lang="xx",
        repo="o/UD_Xish-T",
        commit="a" * 40,
        licence="CC BY 4.0",
        citation="",
        documents=DocumentRule(),
        genre=(),
        files=files or (pinned(CONTENT),),
    )


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_CACHE", str(tmp_path / "cache"))
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.delenv("DISCOPROBE_MIRROR", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def host(monkeypatch):
    with serving({PATH: CONTENT}) as server:
        monkeypatch.setattr(pinned_corpora, "HOST", server.url)
        yield server


def parts(cache):
    return sorted((cache / "corpora" / ".partial").glob("*.part"))


# What arrives


def test_a_file_arrives_in_its_place_and_is_asked_for_once(host, cache):
    (path,) = fetch([bank()], retry=QUICK)
    assert path == cache / "corpora" / "o" / "UD_Xish-T" / ("a" * 40) / "xx" / "UD_Xish-T" / "xx_t-ud-test.conllu"
    assert path.read_bytes() == CONTENT
    assert fetch([bank()], retry=QUICK) == [path]
    assert [(seen.path, seen.range, seen.encoding) for seen in host.seen] == [(PATH, None, "identity")]
    assert parts(cache) == []


@pytest.mark.usefixtures("host")
def test_without_size_and_sha256_the_blob_hash_is_enough():
    (path,) = fetch([bank(pinned(CONTENT, sized=False, sha256=False))], retry=QUICK)
    assert path.read_bytes() == CONTENT


def test_files_come_back_in_the_catalogue_s_order(host):
    contents = {f"{n}.conllu": b"%d" % n * 1000 for n in range(9)}
    files = [pinned(content, name) for name, content in contents.items()]
    host.files = {PATH.replace("xx_t-ud-test.conllu", name): content for name, content in contents.items()}
    host.plan(PATH.replace("xx_t-ud-test.conllu", "0.conllu"), Slow(0.1))
    shown = []
    paths = fetch([bank(*files)], jobs=4, retry=QUICK, progress=lambda *counts: shown.append(counts))
    assert [path.read_bytes() for path in paths] == list(contents.values())
    assert shown == sorted(shown)
    assert shown[-1] == ("downloading: kB", 9, 9)


def test_progress_shows_what_has_arrived_of_a_single_file(host):
    content = bytes(50_000)
    host.files = {PATH: content}
    host.plan(PATH, Slow(1.2))
    shown = []
    fetch([bank(pinned(content))], retry=QUICK, progress=lambda *counts: shown.append(counts))
    assert shown[0] == ("downloading: kB", 0, 50)
    assert shown[-1] == ("downloading: kB", 50, 50)


@pytest.mark.parametrize("sized", [True, False])
@pytest.mark.parametrize("wrong", [b"# another file\n", CONTENT + b"more", b"", CONTENT[:-1] + b"?"])
def test_wrong_content_is_never_used(host, cache, wrong, sized):
    host.files[PATH] = wrong
    file = pinned(CONTENT, sized=sized)
    with pytest.raises(IntegrityError) as raised:
        fetch([bank(file)], retry=QUICK)
    assert f"{host.url}/{PATH}: expected" in str(raised.value)
    assert (str(len(CONTENT)) if sized and len(wrong) != len(CONTENT) else file.git_blob_sha1) in str(raised.value)
    assert "got" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not location(bank(), file).exists()
    assert parts(cache) == []
    assert len(host.seen) == 1


@pytest.mark.usefixtures("host")
def test_content_of_the_pinned_blob_hash_with_another_sha256_is_not_used():
    file = File("xx_t-ud-test.conllu", "0" * 64, len(CONTENT), pinned(CONTENT).git_blob_sha1)
    with pytest.raises(IntegrityError, match=f"expected SHA-256 {'0' * 64}, got"):
        fetch([bank(file)], retry=QUICK)
    assert not location(bank(), file).exists()


def test_a_host_that_sends_without_end_is_cut_off(host):
    host.files[PATH] = CONTENT * 200
    with pytest.raises(IntegrityError, match=rf"expected {len(CONTENT)} bytes, got (\d+)") as raised:
        fetch([bank()], retry=QUICK)
    assert int(re.search(r"got (\d+)", str(raised.value))[1]) < 2 * len(CONTENT)


# What does not arrive at first


def test_a_file_that_is_not_there(host):
    host.files.clear()
    with pytest.raises(RemoteError, match=r"xx_t-ud-test\.conllu: the host has no such file \(404\)"):
        fetch([bank()], retry=QUICK)
    assert len(host.seen) == 1


@pytest.mark.usefixtures("host")
def test_a_failing_file_leaves_the_others_kept():
    with pytest.raises(RemoteError, match=r"gone\.conllu"):
        fetch([bank(pinned(CONTENT), pinned(b"x", "gone.conllu"))], retry=QUICK, jobs=1)
    assert states(bank()) == ["ok"]


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429])
def test_a_passing_failure_is_tried_again(host, status):
    host.plan(PATH, Status(status), Status(status))
    (path,) = fetch([bank()], retry=QUICK)
    assert path.read_bytes() == CONTENT
    assert len(host.seen) == 3


def test_a_lasting_failure_is_told(host, cache):
    host.plan(PATH, *[Status(500)] * 9)
    with pytest.raises(RemoteError, match="the host answered 500 Internal Server Error"):
        fetch([bank()], retry=QUICK)
    assert len(host.seen) == QUICK.attempts
    assert not location(bank(), bank().files[0]).exists()
    assert parts(cache) == []


def test_a_refusal_is_not_tried_again(host):
    host.plan(PATH, Status(403))
    with pytest.raises(RemoteError, match="403 Forbidden"):
        fetch([bank()], retry=QUICK)
    assert len(host.seen) == 1


def test_retry_after_is_waited_for(host):
    host.plan(PATH, Status(429, {"Retry-After": "1"}))
    start = time.monotonic()
    fetch([bank()], retry=RetryPolicy(attempts=3, first_wait=0.01, longest_asked=5, timeout=5))
    assert time.monotonic() - start >= 1


def test_retry_after_beyond_patience_is_not(host):
    host.plan(PATH, Status(503, {"Retry-After": "20"}))
    start = time.monotonic()
    fetch([bank()], retry=QUICK)
    assert time.monotonic() - start < 3


def test_a_dropped_request_is_repeated(host):
    host.plan(PATH, Drop(), Drop())
    (path,) = fetch([bank()], retry=QUICK)
    assert path.read_bytes() == CONTENT


def test_a_host_that_is_not_there(monkeypatch):
    with serving() as server:
        gone = server.url
    monkeypatch.setattr(pinned_corpora, "HOST", gone)
    with pytest.raises(RemoteError, match="refused; check the network, or set DISCOPROBE_MIRROR"):
        fetch([bank()], retry=QUICK)


def test_a_silent_host_is_given_up(host):
    host.plan(PATH, *[Stall(40_000, 30)] * 2)
    impatient = RetryPolicy(attempts=2, first_wait=0.01, timeout=0.2)
    with pytest.raises(RemoteError, match=r"broke; \d+ bytes have arrived and are kept, try again \(attempt 2 of 2\)"):
        fetch([bank()], retry=impatient)
    (path,) = fetch([bank()], retry=impatient)
    assert path.read_bytes() == CONTENT


# Going on


def test_a_broken_connection_is_gone_on_with(host):
    host.plan(PATH, Cut(50_000), Cut(40_000))
    (path,) = fetch([bank()], retry=QUICK)
    assert path.read_bytes() == CONTENT
    asked = [None if asked is None else int(asked[6:-1]) for asked in host.ranges_asked(PATH)]
    assert asked[0] is None
    assert 0 < asked[1] <= 50_000 < asked[2] <= 90_000


def test_a_body_that_is_always_shorter_than_promised(host, cache):
    host.ranges = False
    host.plan(PATH, *[Cut(50_000)] * 9)
    with pytest.raises(RemoteError, match=r"the connection broke; .* \(attempt 4 of 4\)"):
        fetch([bank()], retry=QUICK)
    assert not location(bank(), bank().files[0]).exists()
    assert parts(cache)[0].stat().st_size < len(CONTENT)


def test_a_host_without_ranges_begins_anew(host):
    host.ranges = False
    host.plan(PATH, Cut(50_000))
    (path,) = fetch([bank()], retry=QUICK)
    assert path.read_bytes() == CONTENT
    assert [asked is None for asked in host.ranges_asked(PATH)] == [True, False]


def test_a_range_that_begins_elsewhere_is_not_appended(host):
    host.plan(PATH, Cut(50_000), WrongStart())
    (path,) = fetch([bank()], retry=QUICK)
    assert path.read_bytes() == CONTENT
    assert [asked is None for asked in host.ranges_asked(PATH)] == [True, False, True]


def leave_part(cache, content, file):
    part = cache / "corpora" / ".partial" / f"{file.git_blob_sha1}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(content)


@pytest.mark.parametrize("sized", [True, False])
def test_a_part_that_is_whole_is_not_downloaded_again(host, cache, sized):
    file = pinned(CONTENT, sized=sized)
    leave_part(cache, CONTENT, file)
    (path,) = fetch([bank(file)], retry=QUICK)
    assert path.read_bytes() == CONTENT
    assert host.ranges_asked(PATH) == ([] if sized else [f"bytes={len(CONTENT)}-"])


@pytest.mark.parametrize("old", [b"?" * 1000, b"?" * len(CONTENT), b"?" * (len(CONTENT) + 1)])
def test_a_part_of_something_else_is_thrown_away(host, cache, old):
    leave_part(cache, old, bank().files[0])
    (path,) = fetch([bank()], retry=QUICK)
    assert path.read_bytes() == CONTENT
    assert host.ranges_asked(PATH)[-1] is None


@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(1, len(CONTENT) - 1), max_size=3), ranges=st.booleans(), sized=st.booleans())
def test_wherever_it_breaks_the_file_is_whole(tmp_path_factory, cuts, ranges, sized):
    with serving({PATH: CONTENT}, ranges=ranges) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCOPROBE_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(pinned_corpora, "HOST", server.url)
        server.plan(PATH, *map(Cut, cuts))
        (path,) = fetch([bank(pinned(CONTENT, sized=sized))], retry=QUICK)
        assert path.read_bytes() == CONTENT


CHILD = """
import json, sys
from discoprobe.cli import terminal
from discoprobe.loaders.catalogue.treebanks import DocumentRule, Treebank
from discoprobe.loaders.files import File
from discoprobe.loaders.fetch.downloads import fetch
from discoprobe.loaders.errors import RetryPolicy
record = json.loads(sys.argv[1])
record |= {"files": tuple(File(**file) for file in record["files"]), "documents": DocumentRule()}
with terminal.progress() as display:
    paths = fetch([Treebank(**record)], retry=RetryPolicy(first_wait=0.01), progress=display)
print(*paths)
"""


def child(server, **options):
    record = {
        name: getattr(bank(), name) for name in ("name", "prefix", "lang", "repo", "commit", "licence", "citation")
    }
    file = bank().files[0]
    record |= {
        "genre": [],
        "files": [{name: getattr(file, name) for name in ("path", "git_blob_sha1", "bytes", "sha256")}],
    }
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, json.dumps(record)],
        env={**os.environ, "DISCOPROBE_MIRROR": server.url, "TERM": "xterm"},
        text=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options,
    )


def test_after_a_kill_the_next_run_goes_on(host, cache):
    host.plan(PATH, Stall(100_000, 60))
    with child(host) as process:
        assert until(lambda: parts(cache) and parts(cache)[0].stat().st_size > 50_000)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
    assert [path for path in cache.rglob("*") if path.is_file() and ".partial" not in path.parts] == []
    (path,) = fetch([bank()], retry=QUICK)
    assert path.read_bytes() == CONTENT
    assert int(host.ranges_asked(PATH)[-1][6:-1]) > 50_000


def test_an_interrupted_run_stops_and_keeps_what_has_arrived(host, cache):
    host.plan(PATH, Stall(100_000, 1))
    with child(host) as process:
        assert until(lambda: parts(cache) and parts(cache)[0].stat().st_size > 50_000)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode != 0
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert parts(cache)[0].stat().st_size > 50_000


def test_two_processes_download_once(host):
    host.plan(PATH, Slow(0.5))
    processes = [child(host), child(host)]
    outputs = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert outputs[0] == outputs[1]
    assert len(host.ranges_asked(PATH)) == 1
    assert Path(outputs[0][0].strip()).read_bytes() == CONTENT


def test_two_threads_that_want_the_same_file_download_once(host):
    host.plan(PATH, Slow(0.2))
    paths = fetch([bank(), bank()], jobs=2, retry=QUICK)
    assert paths[0] == paths[1]
    assert len(host.seen) == 1


# The cache


@pytest.mark.usefixtures("host")
def test_check_tells_missing_whole_and_corrupt_and_fetch_mends():
    assert states(bank()) == ["missing"]
    (path,) = fetch([bank()], retry=QUICK)
    assert (states(bank()), location(bank(), bank().files[0])) == (["ok"], path)

    path.write_bytes(CONTENT[:-1] + b"?")
    state, problem = state_of(bank(), bank().files[0])
    assert state == "corrupt"
    assert problem.startswith("expected git blob SHA-1")
    path.write_bytes(CONTENT[:100])
    assert state_of(bank(), bank().files[0])[1] == f"expected {len(CONTENT)} bytes, got 100"

    assert fetch([bank()], retry=QUICK) == [path]
    assert path.read_bytes() == CONTENT
    assert states(bank()) == ["ok"]


def test_a_corrupt_file_that_cannot_be_mended_is_not_left_to_be_used(host):
    (path,) = fetch([bank()], retry=QUICK)
    path.write_bytes(b"?")
    host.files.clear()
    with pytest.raises(RemoteError):
        fetch([bank()], retry=QUICK)
    assert not path.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.usefixtures("host")
def test_a_full_disk_is_told(cache):
    part = cache / "corpora" / ".partial" / f"{bank().files[0].git_blob_sha1}.part"
    part.parent.mkdir(parents=True)
    part.symlink_to("/dev/full")
    with pytest.raises(
        DiscoprobeError, match=r"cannot write .*: No space left on device; .*DISCOPROBE_CACHE"
    ) as raised:
        fetch([bank()], retry=QUICK)
    assert not isinstance(raised.value, RemoteError)
    assert not location(bank(), bank().files[0]).exists()


@pytest.mark.usefixtures("host")
def test_a_cache_that_is_no_folder_is_told(cache):
    cache.write_text("")
    with pytest.raises(DiscoprobeError, match=r"cannot write .*cache.*DISCOPROBE_CACHE"):
        fetch([bank()], retry=QUICK)


@given(st.binary(max_size=3000), st.binary(max_size=3000))
@settings(max_examples=25, deadline=None)
def test_only_the_same_content_matches(tmp_path_factory, content, other):
    path = tmp_path_factory.mktemp("file") / "x"
    path.write_bytes(other)
    assert (pinned(content, sized=False).mismatch(path) == "") == (content == other)
    assert pinned(other).mismatch(path) == ""


def test_the_blob_hash_is_git_s(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(CONTENT)
    made = subprocess.run(["git", "hash-object", "--no-filters", path], capture_output=True, text=True, check=True)
    expected = File("", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), made.stdout.strip())
    assert hashes_of(path) == hashes_of(CONTENT) == expected


# Mirrors


LAYOUTS = {
    "host": PATH,
    "treebank": "UD_Xish-T/xx_t-ud-test.conllu",
    "language": "xx/UD_Xish-T/xx_t-ud-test.conllu",
    "shared": "ud/xx/UD_Xish-T/xx_t-ud-test.conllu",
    "blob": pinned(CONTENT).git_blob_sha1,
    "sha256": pinned(CONTENT).sha256,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_folder_as_mirror(tmp_path, monkeypatch, layout):
    mirror = tmp_path / "a mirror"
    (mirror / LAYOUTS[layout]).parent.mkdir(parents=True)
    (mirror / LAYOUTS[layout]).write_bytes(CONTENT)
    monkeypatch.setenv("DISCOPROBE_MIRROR", str(mirror))
    (path,) = fetch([bank()], retry=QUICK)
    assert path.read_bytes() == CONTENT
    assert (mirror / LAYOUTS[layout]).read_bytes() == CONTENT


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_url_as_mirror(monkeypatch, layout):
    with serving({f"mirror/{LAYOUTS[layout]}": CONTENT}) as server:
        monkeypatch.setenv("DISCOPROBE_MIRROR", f"{server.url}/mirror/")
        (path,) = fetch([bank()], retry=QUICK)
        assert path.read_bytes() == CONTENT
        assert all(seen.path.startswith("mirror/") for seen in server.seen)


def test_a_mirror_of_another_commit_is_passed_over(tmp_path, monkeypatch):
    mirror = tmp_path / "mirror"
    (mirror / "UD_Xish-T").mkdir(parents=True)
    (mirror / "UD_Xish-T" / "xx_t-ud-test.conllu").write_bytes(b"an older state")
    monkeypatch.setenv("DISCOPROBE_MIRROR", str(mirror))
    with pytest.raises(IntegrityError, match=r"UD_Xish-T/xx_t-ud-test\.conllu: expected"):
        fetch([bank()], retry=QUICK)
    (mirror / LAYOUTS["blob"]).write_bytes(CONTENT)
    (path,) = fetch([bank()], retry=QUICK)
    assert path.read_bytes() == CONTENT


def test_a_mirror_without_the_file(host, tmp_path, monkeypatch):
    monkeypatch.setenv("DISCOPROBE_MIRROR", str(tmp_path))
    with pytest.raises(RemoteError, match=r"the mirror has no UD_Xish-T/xx_t-ud-test\.conllu, nor [0-9a-f]{40}"):
        fetch([bank()], retry=QUICK)
    assert host.seen == [], "a mirror stands in for the host"


def test_a_mirror_that_is_no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("DISCOPROBE_MIRROR", str(tmp_path / "nowhere"))
    with pytest.raises(DiscoprobeError, match=r"DISCOPROBE_MIRROR=.*nowhere: no such folder"):
        fetch([bank()], retry=QUICK)


def test_the_host_of_the_catalogue():
    known = treebank("es_gsd")
    assert places(known, known.files[0]) == [
        f"https://raw.githubusercontent.com/UniversalDependencies/UD_Spanish-GSD/{known.commit}/es_gsd-ud-dev.conllu"
    ]


@pytest.mark.skipif(not (SHARED / "corpora").is_dir(), reason="no ../shared with corpora")
@pytest.mark.parametrize(
    ("folder", "names", "files"),
    [("ud", ["en_pud", "kk_ktb"], 1 + 2), (".", ["GUM-open", "GCDT", "en_pud", "kk_ktb"], 2 * 54 + 14 + 40 + 1 + 2)],
)
def test_the_shared_corpora_as_mirror(monkeypatch, folder, names, files):
    monkeypatch.setenv("DISCOPROBE_MIRROR", str(SHARED / "corpora" / folder))
    paths = fetch(select(names))
    assert len(paths) == files
    corpora = select(names)
    assert [location(corpus, file) for corpus in corpora for file in corpus.files] == paths
    assert states(*corpora) == ["ok"] * len(paths)


def test_a_part_of_a_file_that_nobody_asked_for_is_refused(host):
    host.plan(PATH, Status(206, {"Content-Range": "bytes 5-9/10"}))
    with pytest.raises(RemoteError, match="206"):
        fetch([bank()], retry=QUICK)


# What it costs


def test_importing_loads_no_http_library():
    code = (
        "import sys, discoprobe.loaders.fetch.downloads, discoprobe.loaders.fetch.downloads;"
        "slow = ('httpx2', 'requests', 'urllib3', 'rich', 'filelock', 'polars');"
        "print([name for name in slow if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"


@pytest.mark.usefixtures("host")
def test_nothing_is_printed_where_there_is_no_terminal(capfd):
    fetch([bank()], retry=QUICK)
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_a_terminal_gets_a_bar_on_stderr(host):
    ours, theirs = os.openpty()
    with child(host, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        # Linux ends the reading side with an error when the other side closes
        with contextlib.suppress(OSError):
            while chunk := os.read(ours, 4096):
                shown += chunk
        os.close(ours)
        assert process.stdout.read().strip().endswith("xx_t-ud-test.conllu")
    assert b"downloading" in shown
    assert b"/128" in shown, "a bar that is full is hidden"


def test_no_thread_is_left(host):
    before = set(threading.enumerate())
    host.plan(PATH, Status(404))
    with pytest.raises(RemoteError):
        fetch([bank()], retry=QUICK)
    assert until(lambda: not [t for t in set(threading.enumerate()) - before if "process_request" not in t.name])
