"""A strict Hub on the loopback interface: real HTTP, real hashes, nothing accepted that the real one would refuse.

It speaks what `huggingface_hub` and `datasets` ask of a dataset repository without Xet: accounts, trusted publishers
(the exchange of RFC 8693, with the provider's side), repositories, refs, trees, LFS uploads in one piece or in parts
whose size and hash are checked, commits that must name present objects and the current parent, tags that are never
overwritten, downloads with ranges, and the check of a card's YAML.

Requests that belong to one repository or its token are counted; a plan names what happens to the n-th of them, or to
the first with a given part in its address.
"""

from __future__ import annotations

import base64
import contextlib
import enum
import hashlib
import json
import os
import re
import signal
import socket
import struct
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from urllib.parse import parse_qs, parse_qsl, quote, unquote, urlsplit

import yaml
from file_server import running

LFS_SUFFIXES = {".parquet", ".png", ".jpg", ".zip", ".gz"}
LICENCES = {
    "unknown",
    "cc0-1.0",
    "cc-by-nc-sa-4.0",
    "cc-by-3.0",
    "cc-by-4.0",
    "cc-by-sa-3.0",
    "cc-by-sa-4.0",
    "gpl-3.0",
    "gpl-2.0",
    "lgpl-lr",
    "mit",
    "other",
}
GATEWAY_SECONDS = 60
LANDING_SECONDS = 0.3
"""How long after the gateway's 504 a commit is there."""
SIZES = {"n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M"}
GIT_ATTRIBUTES = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"


class Fault(enum.Enum):
    """What happens to a request instead of, before or after its being served."""

    BUSY = "503"
    LIMITED = "429 Retry-After"
    RESET = "connection reset"
    TIMEOUT = "timeout"
    REFUSED = "401"
    FORBIDDEN = "403"
    LOST = "answer lost after success"
    LATE = "504 while it is still being served"
    RIVAL = "rival's commit before it"
    KILL = "kill -9 before it"
    KILL_AFTER = "kill -9 after it"


@dataclass(frozen=True)
class Answer:
    """What is answered instead of serving a request."""

    status: int
    body: bytes = b"<html>no</html>"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class File:
    """A file of a commit: its git blob, and for LFS the object that the pointer names."""

    blob: str
    size: int
    sha256: str | None


@dataclass(frozen=True)
class Commit:
    """A commit of a repository."""

    oid: str
    parent: str | None
    title: str
    author: str
    tree: dict[str, File]


@dataclass
class Repo:
    """A dataset repository."""

    name: str
    private: bool = False
    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    pulls: dict[str, str] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    sent: dict[str, bytes] = field(default_factory=dict)
    parts: dict[tuple[str, int], bytes] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)

    def commit(self, ref: str, title: str, author: str, tree: dict[str, File]) -> Commit:
        parent = self.resolve(ref)
        text = json.dumps([self.name, parent, title, len(self.commits), sorted((p, f.blob) for p, f in tree.items())])
        made = Commit(hashlib.sha1(text.encode()).hexdigest(), parent, title, author, tree)
        self.commits[made.oid] = made
        (self.pulls if ref.startswith("refs/pr/") else self.branches)[ref] = made.oid
        return made

    def resolve(self, revision: str) -> str | None:
        for names in (self.branches, self.tags, self.pulls):
            if revision in names:
                return names[revision]
        full = [oid for oid in self.commits if len(revision) >= 5 and oid.startswith(revision)]
        return full[0] if len(full) == 1 else None

    def store(self, path: str, content: bytes) -> File:
        """A file whose content is at hand; what git keeps for an LFS file is a pointer."""
        if is_lfs(path, content):
            sha256 = hashlib.sha256(content).hexdigest()
            self.objects[sha256] = content
            return self.pointer(sha256, len(content))
        blob = git_blob(content)
        self.blobs[blob] = content
        return File(blob, len(content), None)

    def pointer(self, sha256: str, size: int) -> File:
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()
        self.blobs[git_blob(pointer)] = pointer
        return File(git_blob(pointer), size, sha256)

    def read(self, file: File) -> bytes:
        return self.objects[file.sha256] if file.sha256 else self.blobs[file.blob]

    @property
    def head(self) -> Commit:
        return self.commits[self.branches["main"]]

    def history(self) -> list[Commit]:
        found, oid = [], self.branches["main"]
        while oid:
            found.append(self.commits[oid])
            oid = self.commits[oid].parent
        return found


def git_blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def is_lfs(path: str, sample: bytes) -> bool:
    return PurePosixPath(path).suffix in LFS_SUFFIXES or b"\0" in sample


@dataclass
class Case:
    """One repository with who pushes to it, what they ask and what is to go wrong.

    What goes wrong, by request: ``plan`` by number, from 1 (uploads go in parallel: which of them has a number is
    chance); ``first`` by part of what is asked, once; ``always`` by part, each time.

    Objects of more than ``part_size`` bytes, if it is set, are sent in parts of that size.

    A commit has at most ``most_files`` files of LFS and a body of ``most_bytes``, as at the real Hub. It takes
    ``per_file`` seconds for each file; if that is more than a minute, the gateway answers 504, and the commit is made.
    """

    repo: str
    token: str
    plan: dict[int, Fault] = field(default_factory=dict)
    first: dict[str, Fault] = field(default_factory=dict)
    always: dict[str, Fault | Answer] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    hit: list[str] = field(default_factory=list)
    pid: int | None = None
    part_size: int = 0
    most_files: int = 25_000
    most_bytes: int = 1_000_000_000
    per_file: float = 0.0

    def next(self, what: str) -> Fault | Answer | None:
        self.seen.append(what)
        fault = self.plan.pop(len(self.seen), None)
        part = next((part for part in self.first if part in what), None)
        fault = fault or (self.first.pop(part, None) if part else None)
        fault = fault or next((f for part, f in self.always.items() if part in what), None)
        if fault:
            self.hit.append(what)
        return fault


class Refusal(Exception):  # noqa: N818 (it is an answer)
    """An answer that is no success."""

    def __init__(self, status: int, message: str, code: str = "", **more: object) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.more = status, message, code, more


class Hub(ThreadingHTTPServer):
    """The server; `users` says who a token is, what it may do and in which namespaces.

    `trusts` has for the token of a workflow the resource that it may write to, ``datasets/org/name``; `publishers` for
    each token that was given for it its repository.

    `read` counts the bytes of files that were sent, by address. ``xet`` has the address of a storage for large files of
    each repository that has one.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.repos: dict[str, Repo] = {}
        self.users: dict[str, tuple[str, str]] = {}
        self.cases: dict[str, Case] = {}
        self.trusts: dict[str, str] = {}
        self.publishers: dict[str, str] = {}
        self.lock = threading.RLock()
        self.stopping = threading.Event()
        self.auth_seen: Counter[str] = Counter()
        self.read: Counter[str] = Counter()
        self.xet: dict[str, str] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def storage(self) -> str:
        """Where objects are: another host, as at the real Hub, which clients must not show their token to."""
        return f"http://localhost:{self.server_port}"

    def case(self, name: str, *, role: str = "write") -> Case:
        """A new case: a repository ``org/<name>`` that is not there yet, and a token that may write to ``org``."""
        case = Case(f"org/{name}", f"hf_{hashlib.sha1(name.encode()).hexdigest()}")
        self.cases[case.repo] = case
        self.users[case.token] = ("ana", role)
        return case

    def case_of(self, path: str, token: str) -> Case | None:
        for case in self.cases.values():
            if case.token == token or re.search(rf"/{re.escape(case.repo)}(?:[/.?]|$)", unquote(path)):
                return case
        return None

    def create(self, name: str) -> Repo:
        repo = self.repos[name] = Repo(name)
        repo.commit("main", "initial commit", "hub", {".gitattributes": repo.store(".gitattributes", GIT_ATTRIBUTES)})
        return repo

    def holds(self, name: str, files: dict[str, bytes], oid: str | None = None) -> str:
        """A public repository with files in one commit, whose name is given or made; returns that."""
        repo = self.create(name)
        made = repo.commit("main", "files", "hub", {path: repo.store(path, data) for path, data in files.items()})
        if oid:
            repo.commits[oid] = Commit(oid, made.parent, made.title, made.author, made.tree)
            repo.branches["main"] = oid
        return repo.head.oid

    def copy(self, name: str, new: str) -> Repo:
        """The same repository under another name, without sending it again."""
        old = self.repos[name]
        made = self.repos[new] = Repo(new, old.private)
        for part in ("commits", "branches", "tags", "pulls", "blobs", "sent", "objects"):
            setattr(made, part, dict(getattr(old, part)))
        return made

    def rival(self, name: str) -> None:
        """Somebody else commits a file of their own to main."""
        repo = self.repos.get(name)
        if repo:
            tree = repo.head.tree | {"rival.txt": repo.store("rival.txt", b"%d" % len(repo.commits))}
            repo.commit("main", "Rival's change", "rita", tree)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Hub

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.serve()

    do_HEAD = do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 (names that the library calls)

    def serve(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        split = urlsplit(self.path)
        self.route, self.query = split.path, parse_qs(split.query, keep_blank_values=True)
        case = self.server.case_of(self.path, self.token)
        fault = case.next(f"{self.command} {self.route}") if case else None
        if case and re.search(r"/commit/", self.route):
            n_files = self.body.count(b"\n")
            if n_files * case.per_file > GATEWAY_SECONDS:
                fault = fault or Fault.LATE
        if isinstance(fault, Answer):
            self.send(fault.status, fault.body, {"Content-Type": "application/json", **fault.headers})
        elif fault is None or not self.fails(fault, case):
            with self.server.lock:
                answer = self.answer()
            if fault is Fault.LOST:
                self.reset()
            elif fault is Fault.LATE:
                pass  # the answer comes after the gateway's
            elif fault is Fault.KILL_AFTER:
                self.kill(case)
            else:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.send(*answer)

    def fails(self, fault: Fault, case: Case) -> bool:
        """Carries out a fault that comes before the request; false if the request is to be served all the same."""
        match fault:
            case Fault.BUSY:
                self.send(503, b"<html>busy</html>", {"Content-Type": "text/html"})
            case Fault.LIMITED:
                self.send(429, b'{"error": "too many requests"}', {"Retry-After": "1"})
            case Fault.REFUSED:
                self.send(
                    401,
                    b'{"error": "Invalid credentials"}',
                    {"X-Error-Message": "Invalid credentials in Authorization header"},
                )
            case Fault.FORBIDDEN:
                self.send(403, b'{"error": "forbidden"}', {"X-Error-Message": "You have read but not write access"})
            case Fault.RESET:
                self.reset()
            case Fault.TIMEOUT:
                self.server.stopping.wait(40)  # longer than any client is to wait
                self.reset()
            case Fault.KILL:
                self.kill(case)
            case Fault.RIVAL:
                with self.server.lock:
                    self.server.rival(case.repo)
                return False
            case Fault.LATE:
                self.close_connection = True  # the next request of this client comes beside this one
                self.send(504, b"<html>Gateway Time-out</html>", {"Content-Type": "text/html", "Connection": "close"})
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_WR)
                self.server.stopping.wait(LANDING_SECONDS)
                return False
            case Fault.LOST | Fault.KILL_AFTER:
                return False
        return True

    def reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def kill(self, case: Case) -> None:
        assert case.pid, "nobody to kill"
        os.kill(case.pid, signal.SIGKILL)
        self.reset()

    def finish(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # after a reset there is nothing to flush
            super().finish()

    def send(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "X-Request-Id": "loopback", **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def answer(self) -> tuple[int, bytes, dict[str, str]]:
        try:
            return self.routed()
        except Refusal as refusal:
            headers = {"X-Error-Message": refusal.message, "Content-Type": "application/json"}
            headers |= {"X-Error-Code": refusal.code} if refusal.code else {}
            return refusal.status, json.dumps({"error": refusal.message, **refusal.more}).encode(), headers

    def routed(self) -> tuple[int, bytes, dict[str, str]]:
        for method, pattern, function in ROUTES:
            if self.command in method.split("|") and (found := re.fullmatch(pattern, self.route)):
                parts = {name: unquote(value) for name, value in found.groupdict().items() if value is not None}
                return function(self, **parts)
        raise Refusal(404, f"no route {self.command} {self.route}")

    # what requests need

    def user(self) -> tuple[str, str]:
        if self.token not in self.server.users:
            raise Refusal(401, "Invalid user token.")
        return self.server.users[self.token]

    def writer(self, repo: str) -> str:
        user, role = self.user()
        if self.token in self.server.publishers:
            if self.server.publishers[self.token] != repo or repo not in self.server.repos:
                raise Refusal(403, "Forbidden: this token is for another repository")
            return user
        if role not in {"write", "admin"} or repo.partition("/")[0] not in {user, "org"}:
            raise Refusal(403, "Forbidden: you must have write access to this repository")
        return user

    def repo(self, name: str) -> Repo:
        repo = self.server.repos.get(name)
        if not repo or (repo.private and self.token not in self.server.users):
            raise Refusal(404 if self.token in self.server.users else 401, "Repository not found", "RepoNotFound")
        return repo

    def commit_at(self, name: str, revision: str) -> tuple[Repo, Commit]:
        repo = self.repo(name)
        oid = repo.resolve(revision)
        if not oid:
            raise Refusal(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return repo, repo.commits[oid]

    def json(self) -> dict:
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise Refusal(400, "not JSON") from error

    # routes

    def whoami(self):
        user, role = self.user()
        if self.token in self.server.publishers:  # nobody's account, and a member of no organisation
            return reply({"type": "user", "name": user, "orgs": [], "auth": {"type": "oauth"}})
        org = {"name": "org", "roleInOrg": "write", "type": "org"}
        return reply(
            {
                "type": "user",
                "name": user,
                "orgs": [org],
                "auth": {"type": "access_token", "accessToken": {"role": role}},
            }
        )

    def provider_token(self, workflow: str):
        """The provider of a job's tokens: what GitHub gives it that has ``permissions: id-token: write``."""
        if self.token != "job" or self.query.get("audience") != [self.server.url]:
            raise Refusal(403, "no token for this audience")
        return reply({"value": workflow})

    def exchange(self):
        asked = self.json()
        kinds = asked.get("grant_type"), asked.get("subject_token_type")
        if kinds != (
            "urn:ietf:params:oauth:grant-type:token-exchange",
            "urn:ietf:params:oauth:token-type:id_token",
        ):
            raise Refusal(400, "unsupported grant")
        resource = asked.get("resource", "")
        if self.server.trusts.get(asked.get("subject_token")) != resource:
            raise Refusal(403, "no trusted publisher matches this token")
        token = f"hf_jwt_{hashlib.sha1(resource.encode()).hexdigest()}.{len(self.server.publishers)}.s-g"
        self.server.publishers[token] = resource.removeprefix("datasets/")
        self.server.users[token] = ("github-actions", "write")
        return reply({"access_token": token, "token_type": "bearer", "expires_in": 3600})

    def create_repo(self):
        asked = self.json()
        name = f"{asked.get('organization') or self.user()[0]}/{asked['name']}"
        self.writer(name)
        if asked.get("type") != "dataset":
            raise Refusal(400, "only datasets here")
        if name in self.server.repos:
            raise Refusal(409, "You already created this dataset repo", url=f"{self.server.url}/datasets/{name}")
        private = asked.get("visibility") == "private" or bool(asked.get("private"))  # the latter of clients before 1
        self.server.create(name).private = private
        return reply({"url": f"{self.server.url}/datasets/{name}", "name": name, "id": name})

    def info(self, id: str, rev: str = "main"):
        repo, commit = self.commit_at(id, rev)
        blobs = "blobs" in self.query
        siblings = [
            {"rfilename": path} | (entry(path, file) if blobs else {}) for path, file in sorted(commit.tree.items())
        ]
        return reply(
            {"id": id, "sha": commit.oid, "private": repo.private, "gated": False, "disabled": False, "downloads": 0,
             "likes": 0,
             "tags": [], "siblings": siblings, "author": id.partition("/")[0]}, commit,
        )  # fmt: skip

    def tree(self, id: str, rev: str, path: str = ""):
        _, commit = self.commit_at(id, rev)
        recursive = self.query.get("recursive", ["false"])[0].lower() in {"true", "1"}
        base = f"{path}/" if path else ""
        below = {name: file for name, file in commit.tree.items() if name.startswith(base)}
        if path and not below:
            raise Refusal(404, f"{path} does not exist on {rev}", "EntryNotFound")
        folders = {base + name[len(base) :].rpartition("/")[0] for name in below if "/" in name[len(base) :]}
        folders = {
            str(folder) for name in folders for folder in (PurePosixPath(name), *PurePosixPath(name).parents)
        } - {".", path}
        shown = [
            {"type": "directory", "oid": git_blob(name.encode()), "size": 0, "path": name} for name in sorted(folders)
        ]
        shown += [entry(name, file) for name, file in sorted(below.items())]
        if not recursive:
            shown = [one for one in shown if "/" not in one["path"][len(base) :]]
        start, most = int(self.query.get("cursor", ["0"])[0]), 1000
        more = {}
        if start + most < len(shown):
            query = "&".join(f"{key}={quote(value[0])}" for key, value in self.query.items() if key != "cursor")
            more = {"Link": f'<{self.server.url}{self.route}?{query}&cursor={start + most}>; rel="next"'}
        return reply(shown[start : start + most], commit, more)

    def paths_info(self, id: str, rev: str):
        _, commit = self.commit_at(id, rev)
        kind = self.headers.get("Content-Type", "")
        asked = (
            self.json()["paths"]
            if "json" in kind
            else [value for key, value in parse_qsl(self.body.decode()) if key == "paths"]
        )
        found = [entry(path, commit.tree[path]) for path in asked if path in commit.tree]
        folders = [path for path in asked if any(name.startswith(f"{path}/") for name in commit.tree)]
        return reply(
            found + [{"type": "directory", "oid": git_blob(p.encode()), "size": 0, "path": p} for p in folders], commit
        )

    def refs(self, id: str):
        repo = self.repo(id)
        shown = {
            "branches": [ref(name, f"refs/heads/{name}", oid) for name, oid in repo.branches.items()],
            "tags": [ref(name, f"refs/tags/{name}", oid) for name, oid in repo.tags.items()],
            "converts": [],
        }
        if "include_prs" in self.query:
            shown["pullRequests"] = [ref(name.removeprefix("refs/"), name, oid) for name, oid in repo.pulls.items()]
        return reply(shown)

    def commits(self, id: str, rev: str):
        repo, commit = self.commit_at(id, rev)
        shown = []
        while commit:
            shown.append({"id": commit.oid, "title": commit.title, "message": "", "date": "2026-01-01T00:00:00.000Z",
                          "authors": [{"user": commit.author}]})  # fmt: skip
            commit = repo.commits.get(commit.parent)
        return reply(shown)

    def validate_yaml(self):
        asked = self.json()
        errors = card_errors(asked["content"])
        body = {"errors": [{"message": error} for error in errors], "warnings": []}
        return (400 if errors else 200), json.dumps(body).encode(), {"Content-Type": "application/json"}

    def preupload(self, id: str, rev: str):
        self.writer(id)
        _, commit = self.commit_at(id, rev)
        shown = []
        for asked in self.json()["files"]:
            path, sample = asked["path"], base64.b64decode(asked["sample"])
            lfs = is_lfs(path, sample) or asked["size"] > 10_000_000
            there = commit.tree.get(path)
            shown.append({"path": path, "uploadMode": "lfs" if lfs else "regular", "shouldIgnore": False}
                         | ({"oid": there.sha256 or there.blob} if there else {}))  # fmt: skip
        return reply({"files": shown})

    def xet_token(self, id: str, **_: str):
        address = self.server.xet.get(id)
        if not address:
            raise Refusal(404, "this Hub has no Xet")
        token = {"X-Xet-Cas-Url": address, "X-Xet-Access-Token": "t", "X-Xet-Token-Expiration": "4102444800"}
        return reply({"casUrl": address, "accessToken": "t", "exp": 4102444800}, headers=token)

    def lfs_batch(self, id: str):
        self.writer(id)
        repo, asked = self.repo(id), self.json()
        if (
            asked.get("operation") != "upload"
            or asked.get("hash_algo") != "sha256"
            or "basic" not in asked["transfers"]
        ):
            raise Refusal(422, "unsupported batch")
        shown = []
        for one in asked["objects"]:
            if not re.fullmatch("[0-9a-f]{64}", one["oid"]):
                raise Refusal(422, "malformed oid")
            url = f"{self.server.storage}/lfs/{id}/{one['oid']}?size={one['size']}&X-Amz-Signature=secret-signature"
            verify = {"href": f"{self.server.url}/api/lfs-verify/{id}", "header": {}}
            upload = self.in_parts(id, one) or {"href": url, "header": {}}
            actions = {"actions": {"upload": upload, "verify": verify}}
            shown.append({"oid": one["oid"], "size": one["size"]} | ({} if one["oid"] in repo.objects else actions))
        return reply({"transfer": "basic", "objects": shown}, kind="application/vnd.git-lfs+json")

    def in_parts(self, id: str, one: dict):
        """Where to send the parts of an object, and where to say that all are there; none for a small one."""
        case = self.server.cases.get(id)
        size = case.part_size if case else 0
        if not size or one["size"] <= size or "multipart" not in self.json()["transfers"]:
            return None
        base = f"{self.server.storage}/lfs-part/{id}/{one['oid']}"
        count = -(-one["size"] // size)
        urls = {f"{n:05d}": f"{base}/{n}?X-Amz-Signature=secret-signature" for n in range(1, count + 1)}
        done = f"{self.server.url}/api/lfs-complete/{id}/{one['oid']}?size={one['size']}&parts={count}"
        return {"href": done, "header": {"chunk_size": str(size), **urls}}

    def lfs_part(self, id: str, oid: str, number: str):
        if self.token:
            raise Refusal(400, "only one auth mechanism allowed")
        if not self.body or len(self.body) > self.server.cases[id].part_size:
            raise Refusal(400, "a part of the wrong size")
        self.repo(id).parts[oid, int(number)] = self.body
        return 200, b"", {"ETag": f'"{hashlib.md5(self.body).hexdigest()}"'}

    def lfs_complete(self, id: str, oid: str):
        repo, asked = self.server.repos[id], self.json()
        numbers = range(1, int(self.query["parts"][0]) + 1)
        if asked["oid"] != oid or [one["partNumber"] for one in asked["parts"]] != list(numbers):
            raise Refusal(400, "InvalidPart: the parts are not those that were asked for")
        found = [repo.parts.get((oid, number), b"") for number in numbers]
        if [one["etag"] for one in asked["parts"]] != [f'"{hashlib.md5(part).hexdigest()}"' for part in found]:
            raise Refusal(400, "InvalidPart: a part is not what was sent")
        whole = b"".join(found)
        if len(whole) != int(self.query["size"][0]) or hashlib.sha256(whole).hexdigest() != oid:
            raise Refusal(400, "BadDigest: the parts do not make the object that was announced")
        repo.sent[oid] = whole
        return reply({})

    def lfs_put(self, id: str, oid: str):
        if self.token:
            raise Refusal(400, "only one auth mechanism allowed")
        if len(self.body) != int(self.query["size"][0]) or hashlib.sha256(self.body).hexdigest() != oid:
            raise Refusal(400, "BadDigest: the body does not match what was announced")
        self.server.repos[id].sent[oid] = self.body  # a signed address needs no token
        return 200, b"", {"ETag": f'"{oid}"'}

    def lfs_get(self, id: str, oid: str):
        if self.token:
            raise Refusal(400, "only one auth mechanism allowed")
        return self.content(self.server.repos[id].objects[oid], oid)

    def lfs_verify(self, id: str):
        self.writer(id)
        repo, asked = self.repo(id), self.json()
        sent = repo.sent.get(asked["oid"])
        if sent is None or len(sent) != asked["size"]:
            raise Refusal(404, "no such object")
        repo.objects[asked["oid"]] = sent
        return reply({})

    def commit(self, id: str, rev: str):
        user = self.writer(id)
        if self.headers.get("Content-Type") != "application/x-ndjson":
            raise Refusal(400, "a commit is application/x-ndjson")
        repo, head = self.commit_at(id, rev)
        if rev not in repo.branches and rev not in repo.pulls:
            raise Refusal(400, f"{rev} is no branch")
        lines = [json.loads(line) for line in self.body.splitlines() if line]
        case = self.server.cases.get(id)
        if case and sum(line["key"] == "lfsFile" for line in lines) > case.most_files:
            raise Refusal(400, f"too many LFS files in one commit: at most {case.most_files}")
        if case and len(self.body) > case.most_bytes:
            raise Refusal(413, f"the commit is larger than {case.most_bytes} bytes")
        header = lines[0]["value"]
        if lines[0]["key"] != "header" or not header.get("summary"):
            raise Refusal(400, "a commit begins with its header")
        parent = header.get("parentCommit")
        if parent is not None and repo.resolve(parent) != head.oid:
            raise Refusal(412, "A commit has happened since. Please refresh and try again.")
        tree = self.changed(repo, dict(head.tree), lines[1:])
        if tree == head.tree:
            raise Refusal(400, "an empty commit")
        pull = f"refs/pr/{len(repo.pulls) + 1}" if self.query.get("create_pr") == ["1"] else None
        if pull:
            repo.pulls[pull] = head.oid
        made = repo.commit(pull or rev, header["summary"], user, tree)
        shown = {
            "success": True,
            "commitOid": made.oid,
            "commitUrl": f"{self.server.url}/datasets/{id}/commit/{made.oid}",
        }
        if pull:
            shown["pullRequestUrl"] = f"{self.server.url}/datasets/{id}/discussions/{pull.rpartition('/')[2]}"
        return reply(shown)

    def changed(self, repo: Repo, tree: dict[str, File], lines: list[dict]) -> dict[str, File]:
        for line in lines:
            value = line["value"]
            path = value["path"]
            match line["key"]:
                case "file":
                    content = base64.b64decode(value["content"], validate=True)
                    if is_lfs(path, content):
                        raise Refusal(400, f"{path} is binary: it must be sent with LFS")
                    if path == "README.md" and (errors := card_errors(content.decode())):
                        raise Refusal(400, f"invalid card: {errors[0]}")
                    tree[path] = repo.store(path, content)
                case "lfsFile":
                    if len(repo.objects.get(value["oid"], b"")) != value["size"] or value["algo"] != "sha256":
                        raise Refusal(400, f"LFS pointer pointed to a file that does not exist: {path}")
                    tree[path] = repo.pointer(value["oid"], value["size"])
                case "deletedFile":
                    if path not in tree:
                        raise Refusal(404, "A file with this name doesn't exist", "EntryNotFound")
                    del tree[path]
                case other:
                    raise Refusal(400, f"unknown operation {other}")
        return tree

    def tag(self, id: str, rev: str):
        self.writer(id)
        repo, commit = self.commit_at(id, rev)
        name = self.json()["tag"]
        if name in repo.tags:
            raise Refusal(409, f"Tag {name} already exists")
        repo.tags[name] = commit.oid
        return reply({}, status=201)

    def resolve(self, id: str, rev: str, path: str):
        repo, commit = self.commit_at(id, rev)
        file = commit.tree.get(path)
        if not file:
            raise Refusal(404, f"{path} does not exist", "EntryNotFound")
        here = {"X-Repo-Commit": commit.oid}
        if file.sha256:
            linked = {"X-Linked-ETag": f'"{file.sha256}"', "X-Linked-Size": str(file.size)}
            return 302, b"", here | linked | {"Location": f"{self.server.storage}/lfs/{id}/{file.sha256}"}
        return self.content(repo.blobs[file.blob], file.blob, here)

    def content(self, content: bytes, etag: str, headers: dict[str, str] | None = None):
        answer = self.part(content, etag, headers)
        if self.command == "GET":
            self.server.read[self.route] += len(answer[1])
        return answer

    def part(self, content: bytes, etag: str, headers: dict[str, str] | None):
        headers = {"ETag": f'"{etag}"', "Accept-Ranges": "bytes", **(headers or {})}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if not asked:
            return 200, content, headers
        start, end = int(asked[1]), min(int(asked[2] or len(content) - 1), len(content) - 1)
        if start > end:
            return 416, b"", {"Content-Range": f"bytes */{len(content)}"}
        return 206, content[start : end + 1], headers | {"Content-Range": f"bytes {start}-{end}/{len(content)}"}


def reply(data, commit=None, headers=None, *, status=200, kind="application/json"):
    found = {"Content-Type": kind} | ({"X-Repo-Commit": commit.oid} if commit else {}) | (headers or {})
    return status, json.dumps(data).encode(), found


def entry(path: str, file: File) -> dict:
    shown = {"type": "file", "oid": file.blob, "size": file.size, "path": path}
    if file.sha256:
        shown["lfs"] = {"oid": file.sha256, "size": file.size, "pointerSize": 130}
    return shown


def ref(name: str, full: str, oid: str) -> dict:
    return {"name": name, "ref": full, "targetCommit": oid}


def card_errors(text: str) -> list[str]:
    """What the Hub would find wrong in a card's YAML."""
    found = re.match(r"---\n(.*?)\n---(?:\n|$)", text, re.DOTALL)
    if not found:
        return ["no YAML block"]
    try:
        data = yaml.safe_load(found[1])
    except yaml.YAMLError as error:
        return [f"invalid YAML: {error}"]
    if not isinstance(data, dict):
        return ["the YAML block is no mapping"]
    return [*field_errors(data), *config_errors(data.get("configs", []))]


def field_errors(data: dict) -> list[str]:
    licences = data.get("license", [])
    licences = [licences] if isinstance(licences, str) else licences
    errors = [f'"license" must be one of the list, not {one}' for one in licences if one not in LICENCES]
    errors += ['"license: other" needs license_name and license_link'] * (
        "other" in licences and "license_link" not in data
    )
    languages = data.get("language", [])
    languages = [languages] if isinstance(languages, str) else languages
    errors += [
        f'"language" {one!r} is no code'
        for one in languages
        if not re.fullmatch("[a-z]{2,3}", str(one)) or one is False
    ]
    errors += [f'"size_categories" {one!r} is unknown' for one in data.get("size_categories", []) if one not in SIZES]
    return errors


def config_errors(configs: list[dict]) -> list[str]:
    names = [one.get("config_name") for one in configs]
    errors = [f"config {name} twice" for name, n in Counter(names).items() if n > 1]
    errors += ["more than one default config"] * (sum(bool(one.get("default")) for one in configs) > 1)
    for one in configs:
        files = one.get("data_files")
        if not isinstance(files, list) or not all(isinstance(f, dict) and {"split", "path"} <= set(f) for f in files):
            errors.append(f"config {one.get('config_name')}: data_files must list split and path")
    return errors


_ID = r"(?P<id>[\w.-]+/[\w.-]+)"
_KIND = "(?:datasets|models)"
_REV = r"(?P<rev>[^/]+)"
ROUTES = [
    ("GET", r"/api/whoami-v2", Handler.whoami),
    ("GET", r"/provider/token/(?P<workflow>.+)", Handler.provider_token),
    ("POST", r"/oauth/token", Handler.exchange),
    ("POST", r"/api/repos/create", Handler.create_repo),
    ("POST", r"/api/validate-yaml", Handler.validate_yaml),
    ("GET", rf"/api/{_KIND}/{_ID}", Handler.info),
    ("GET", rf"/api/{_KIND}/{_ID}/revision/{_REV}", Handler.info),
    ("GET", rf"/api/{_KIND}/{_ID}/tree/{_REV}(?:/(?P<path>.+))?", Handler.tree),
    ("POST", rf"/api/{_KIND}/{_ID}/paths-info/{_REV}", Handler.paths_info),
    ("GET", rf"/api/{_KIND}/{_ID}/refs", Handler.refs),
    ("GET", rf"/api/{_KIND}/{_ID}/commits/{_REV}", Handler.commits),
    ("POST", rf"/api/{_KIND}/{_ID}/preupload/{_REV}", Handler.preupload),
    ("GET", rf"/api/{_KIND}/{_ID}/xet-write-token/{_REV}", Handler.xet_token),
    ("POST", rf"/datasets/{_ID}\.git/info/lfs/objects/batch", Handler.lfs_batch),
    ("PUT", rf"/lfs/{_ID}/(?P<oid>[0-9a-f]+)", Handler.lfs_put),
    ("PUT", rf"/lfs-part/{_ID}/(?P<oid>[0-9a-f]+)/(?P<number>\d+)", Handler.lfs_part),
    ("POST", rf"/api/lfs-complete/{_ID}/(?P<oid>[0-9a-f]+)", Handler.lfs_complete),
    ("GET|HEAD", rf"/lfs/{_ID}/(?P<oid>[0-9a-f]+)", Handler.lfs_get),
    ("POST", rf"/api/lfs-verify/{_ID}", Handler.lfs_verify),
    ("POST", rf"/api/{_KIND}/{_ID}/commit/{_REV}", Handler.commit),
    ("POST", rf"/api/{_KIND}/{_ID}/tag/{_REV}", Handler.tag),
    ("GET|HEAD", rf"/datasets/{_ID}/resolve/{_REV}/(?P<path>.+)", Handler.resolve),
]


def serving():
    """A running Hub."""
    return running(Hub())
