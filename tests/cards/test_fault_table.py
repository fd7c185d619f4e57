"""Faults for good: every request of a push gets every answer that the Hub could give, each in a push of its own.

`pytest -s -m slow` prints the messages as a table. Requests that fail only once are in ``test_push``.
"""

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import pytest
import releases
from hub_server import Answer, Fault

from discoprobe.cards.metadata import manifest

pytestmark = pytest.mark.slow

REQUESTS = {
    "the token is checked": "/whoami", "refs are read": "/refs", "files are listed": "/tree/",
    "a file is read": "/resolve/", "the card is checked": "/validate-yaml", "files are announced": "/preupload/",
    "an upload is asked for": "/objects/batch", "a file is uploaded": "PUT /lfs/", "an upload is checked": "-verify/",
    "the commit": "/commit/", "the tag": "/tag/",
}  # fmt: skip
ANSWERS = {
    **{str(status): Answer(status) for status in (401, 403, 500)}, "429": Fault.LIMITED, "503": Fault.BUSY,
    "no answer": Fault.TIMEOUT, "connection reset": Fault.RESET, "200 with HTML": Answer(200),
    "200 with {}": Answer(200, b"{}"), "200 with null": Answer(200, b"null"),
}  # fmt: skip
"""A status for which nothing is said here comes with a page of HTML, as from a proxy."""
MORE = {
    "the commit": {str(status): Answer(status) for status in (404, 409, 412, 413, 502, 504)},
    "files are listed": {
        "200 with []": Answer(200, b"[]"), "200 cut off": Answer(200, b'[{"type": "file", "path": "README.md", "si'),
        "200 with words": Answer(200, b'[{"type": "file", "path": "a", "oid": "b", "size": "large"}]'),
    },
}  # fmt: skip
WORDS = {
    (None, "401"): "valid token", (None, "403"): "(403)", (None, "429"): "rate limit",
    ("/commit/", "409"): "409", ("/commit/", "412"): "somebody else", ("/commit/", "413"): "too large",
    ("/tag/", "503"): "main of", ("/tag/", "403"): "main of", ("/tag/", "500"): "main of",
    ("/validate-yaml", "503"): "try later", ("PUT /lfs/", "500"): "answered 500",
    ("/preupload/", "200 with {}"): "try later", ("/objects/batch", "200 with {}"): "try later",
    ("/tree/", "200 with {}"): "lacks manifest.json", ("/tree/", "200 with []"): "lacks manifest.json",
    ("/tree/", "200 with words"): "lacks manifest.json",
}  # fmt: skip
"""What a message has to say, by request (None: all) and answer."""
UNREAD = "/validate-yaml"
"""The request of which the client reads the answer before it looks at the status."""
HARMLESS = {"/resolve/", "/tag/", "-verify/", "PUT /lfs/", "/validate-yaml", "/whoami"}
"""Requests of which the client does not read the body of a success, or that a push may do without."""
LONGEST = 420


class Told(NamedTuple):
    request: str
    answer: str
    case: object
    outcome: dict

    @property
    def message(self):
        return self.outcome.get("error", "")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("folders")
    return [releases.write(base / lang, releases.config(lang=lang)) for lang in ("de", "es")]


FAILURES = {
    (403, ""): "(Xet) refuses the token", (500, ""): "(Xet) failed while uploading (500",
    (403, "/xorbs/"): "(Xet) refuses the token", (500, "/xorbs/"): "(Xet) failed while uploading (500",
    (None, "/xorbs/"): "(Xet) failed while uploading (no end within",
}  # fmt: skip
"""What is said of a storage that gives an answer to requests with a part in the address."""


@pytest.fixture(scope="module")
def failures(hub, folders, tmp_path_factory):
    """A push to each storage that fails, as a future of the seconds that it took.

    The client of the storage is the real one, which would try for six minutes: so all of them wait together.
    """

    def pushed(number, answer, part, words):
        case = hub.case(f"storage{number}")
        with storage(answer, part) as failing:
            hub.xet[case.repo] = failing.url
            process = start(
                hub, case, tmp_path_factory.mktemp("pushed"), *push(folders[0], case), HF_HUB_DISABLE_XET="0"
            )
            took = ended(process, 4, words, 340)
        assert not hub.repos[case.repo].tags
        return took

    with ThreadPoolExecutor(len(FAILURES)) as pool:
        yield {
            failure: pool.submit(pushed, number, *failure, words)
            for number, (failure, words) in enumerate(FAILURES.items())
        }


@pytest.fixture(scope="module")
def table(hub, client, folders, failures):
    """What came of a push for each request and answer; the German release is there, the Spanish one is pushed.

    The pushes to storages that fail wait meanwhile.
    """
    first = hub.case("fault")
    assert "result" in client.call("push", first, folder=str(folders[0]))
    cases = {}
    for request, part in REQUESTS.items():
        for answer, fault in (ANSWERS | MORE.get(request, {})).items():
            cases[request, answer] = case = hub.case(f"fault{len(cases)}")
            hub.copy(first.repo, case.repo)
            case.always = {part: fault}

    def pushed(named):
        more = {"folder": str(folders[1]), "patience": {"attempts": 1}, "seconds": 400}
        return Told(*named, cases[named], client.call("push", cases[named], **more))

    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(pushed, cases))
    for (request, message), answers in _grouped(told).items():
        print(f"| {request} | {', '.join(answers)} | {message} |")
    return told


def _grouped(told):
    grouped = {}
    for one in told:
        message = one.message.replace(one.case.repo, "REPO") or f"({one.outcome['result']['state']})"
        grouped.setdefault((one.request, message), []).append(one.answer)
    return grouped


def test_every_answer_is_one_line_that_says_what_to_do(table):
    wrong = []
    for one in table:
        if "result" in one.outcome:
            if REQUESTS[one.request] not in HARMLESS or not one.answer.startswith("200"):
                wrong.append((one.request, one.answer, "published"))
            continue
        ok = one.outcome["status"] in {1, 4} and "\n" not in one.message and len(one.message) <= LONGEST
        ok &= one.case.token not in str(one.outcome) and "ignature=" not in one.message
        ok &= one.outcome["type"] not in {"KeyError", "TypeError", "AttributeError", "AssertionError", "ValueError"}
        if not ok:
            wrong.append((one.request, one.answer, one.outcome["type"], one.message))
        wanted = [
            words
            for (part, answer), words in WORDS.items()
            if answer == one.answer
            and (part == REQUESTS[one.request] or (part is None and REQUESTS[one.request] != UNREAD))
        ]
        wrong += [(one.request, one.answer, words, one.message) for words in wanted if words not in one.message]
    assert not wrong, "\n".join(map(str, wrong))


def test_main_has_the_old_release_or_the_new_one_and_no_tag_is_on_something_else(hub, table):
    states = Counter()
    for one in table:
        repo = hub.repos[one.case.repo]
        titles = [commit.title for commit in repo.history()]
        state = "new" if titles[0] == "Release v1.1.0" else "old"
        states[state] += 1
        assert titles == ["Release v1.1.0", "Release v1.0.0", "initial commit"][state == "old" :]
        assert repo.tags.keys() <= {"v1.0.0", *(["v1.1.0"] if "result" in one.outcome else [])}, one
    assert states["old"] > len(table) / 2


# in processes of their own


@contextlib.contextmanager
def storage(answer, part=""):
    """A storage of the kind of Xet that gives requests one answer, or none: those with a part in the address.

    For all others it says 404: it does not hold the piece, and does not know another way to send it.
    """
    asked = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if part in self.path:
                asked.set()
            if part in self.path and answer is None:
                time.sleep(200)
            self.send_response(answer if part in self.path else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_PUT = do_HEAD = do_GET  # noqa: N815 (names that the library calls)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.block_on_close = True, False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.url, server.asked = f"http://127.0.0.1:{server.server_port}", asked
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def case(hub, request):
    return hub.case(f"process-{request.node.nodeid.encode().hex()[-24:]}")


def start(hub, case, folder, *words, **changes):
    """Starts the program in a folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    environment |= {"HF_ENDPOINT": hub.url, "HF_TOKEN": case.token, "HF_HOME": str(folder / "hf")}
    return subprocess.Popen(
        [sys.executable, "-m", "discoprobe", *map(str, words)], cwd=folder, text=True,
        env=environment | {"HF_HUB_DISABLE_XET": "1"} | changes,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.fixture
def program(hub, case, tmp_path):
    """A function that starts the program."""
    return functools.partial(start, hub, case, tmp_path)


WAITING = ("http://", "still ", "uploading: ")
"""How a line begins that says what the program waits for: `http://… answered 500 while uploading; trying again`."""


def ended(process, status, words, seconds):
    """Waits for the end of a process, which has to say one line."""
    began = time.monotonic()
    with process:
        try:
            told = process.communicate(timeout=seconds)[1]
        finally:
            process.kill()
    print(f"| {process.returncode} | {time.monotonic() - began:.1f} s | {told.strip()} |")
    assert process.returncode == status, told
    lines = [line for line in told.splitlines() if not line.startswith(WAITING)]
    assert len(lines) == (1 if status else 0), told
    assert words in told
    return time.monotonic() - began


def push(folder, case):
    return ("push", "--no-build", "--out", folder, "--repo", case.repo, "--yes")


def interrupt(process, words="interrupted"):
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    ended(process, 4, words, 60)


@pytest.mark.parametrize("part", ["/whoami", "PUT /lfs/", "/commit/", "/tag/"])
def test_ctrl_c_while_the_hub_does_not_answer(program, case, folders, part):
    case.always = {part: Fault.TIMEOUT}
    process = program(*push(folders[0], case))
    while not case.hit:
        time.sleep(0.05)
        assert process.poll() is None, process.stderr.read()
    interrupt(process)


def test_ctrl_c_while_the_storage_does_not_answer(hub, program, case, folders):
    with storage(None, "/xorbs/") as silent:
        hub.xet[case.repo] = silent.url
        process = program(*push(folders[0], case), HF_HUB_DISABLE_XET="0")
        assert silent.asked.wait(200)
        interrupt(process)


@pytest.fixture
def disk(tmp_path):
    """A function that makes a small disk of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def made(size):
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, check=False
        )
        if done.returncode:
            pytest.skip("this user may not mount a disk")
        return folder

    yield made
    if shutil.which("umount"):
        subprocess.run(["umount", "-l", folder], capture_output=True, check=False)


BUILD = ("run", "--lang", "es", "--corpus", "sample", "--task", "nsp", "--no-audit", "--out")


def test_a_disk_that_is_full(program, disk):
    folder = disk("40k")
    ended(program(*BUILD, folder / "release"), 1, "disk is full", 400)
    assert not list(folder.iterdir())


def test_a_disk_of_its_own_as_the_folder(program, disk):
    folder = disk("4m")
    ended(program(*BUILD, folder), 0, "", 400)
    assert manifest.read(folder).configs


@pytest.mark.parametrize(("answer", "part"), FAILURES)
def test_the_storage_fails_for_good(failures, answer, part):
    assert failures[answer, part].result() < 300
