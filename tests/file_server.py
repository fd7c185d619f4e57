"""A file server on the loopback interface that fails as planned."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Status:
    """Answer with a status instead of the file."""

    code: int
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cut:
    """Promise the whole body, send so many bytes of it, close."""

    after: int


@dataclass(frozen=True)
class Drop:
    """Close without a word."""


@dataclass(frozen=True)
class Stall:
    """Send so many bytes, then nothing for some seconds."""

    after: int
    seconds: float


@dataclass(frozen=True)
class Slow:
    """Send the whole body after some seconds."""

    seconds: float


@dataclass(frozen=True)
class WrongStart:
    """Answer a range with the right status and the wrong bytes, and say so."""


@dataclass(frozen=True)
class Seen:
    """A request: path, the Range and Accept-Encoding headers."""

    path: str
    range: str | None
    encoding: str | None


class FileServer(ThreadingHTTPServer):
    """Serves `files` (path without the first slash to bytes); each request to a path uses up its next planned fault."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, files=(), *, ranges=True):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.ranges = dict(files), ranges
        self.faults, self.seen = defaultdict(list), []
        self.stopping = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def plan(self, path, *faults):
        self.faults[path].extend(faults)

    def ranges_asked(self, path):
        return [seen.range for seen in self.seen if seen.path == path]


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def do_GET(self):
        path = self.path.lstrip("/")
        self.server.seen.append(Seen(path, self.headers["Range"], self.headers["Accept-Encoding"]))
        fault = self.server.faults[path].pop(0) if self.server.faults[path] else None
        if isinstance(fault, Drop):
            self.close_connection = True
        elif isinstance(fault, Status):
            self.answer(fault.code, fault.headers)
        elif path not in self.server.files:
            self.answer(404)
        else:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.send_file(self.server.files[path], fault)

    def answer(self, code, headers=()):
        self.send_response(code)
        for name, value in {"Content-Length": "0", **dict(headers)}.items():
            self.send_header(name, value)
        self.end_headers()

    def send_file(self, content, fault):
        start = self.start(fault)
        if start is not None and start >= len(content):
            self.answer(416, {"Content-Range": f"bytes */{len(content)}"})
            return
        body = content[start or 0 :]
        self.send_response(200 if start is None else 206)
        if start is not None:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.send_body(body, fault)

    def start(self, fault):
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or "")
        if not asked or not self.server.ranges:
            return None
        return int(asked[1]) // 2 if isinstance(fault, WrongStart) else int(asked[1])

    def send_body(self, body, fault):
        if isinstance(fault, Slow):
            self.server.stopping.wait(fault.seconds)
        if isinstance(fault, (Cut, Stall)):
            self.wfile.write(body[: fault.after])
            self.close_connection = True
            if isinstance(fault, Stall):
                self.server.stopping.wait(fault.seconds)
            return
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@contextlib.contextmanager
def running(server):
    """A server that answers in a thread of its own, stopped at the end."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.stopping.set()
            server.shutdown()
            thread.join()


def serving(files=(), *, ranges=True):
    """A running server of files."""
    return running(FileServer(files, ranges=ranges))


def until(condition, seconds=10.0):
    """Wait for a condition; false if it does not come true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False
