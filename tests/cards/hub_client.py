"""A process in which clients of a Hub run as users have them: ``HF_ENDPOINT`` set, nothing offline, nothing patched.

It imports once, and forks for every task that it reads, one JSON object a line; the child says its process id before it
starts, so that a test can kill it, and what came of it. Several children may run at the same time.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import gc
import hashlib
import io
import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path

ENVIRONMENT = {
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_ETAG_TIMEOUT": "1",
    "HF_HUB_DOWNLOAD_TIMEOUT": "1",
}


class Client:
    """The parent's end."""

    def __init__(self, url, home):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        environment |= ENVIRONMENT | {"HF_ENDPOINT": url, "HF_HOME": str(home)}
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        self.numbers, self.waiting, self.lock = itertools.count(), {}, threading.Lock()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            self.waiting[answer["number"]].put(answer)

    def call(self, task, case, /, seconds=120, **arguments):
        """What became of a task: ``result``, ``error`` and ``status`` (its exit status), ``signal``, ``output``."""
        number = next(self.numbers)
        answers = self.waiting[number] = queue.SimpleQueue()
        asked = {"number": number, "task": task, "repo": case.repo, "token": case.token, **arguments}
        with self.lock:
            self.process.stdin.write(json.dumps(asked) + "\n")
            self.process.stdin.flush()
        case.pid = answers.get(timeout=seconds)["pid"]
        return answers.get(timeout=seconds)

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()
        self.reader.join()


def main():
    """The process's end: a forking loop; a child that has ended is reported by whoever waits for it."""
    import datasets  # noqa: F401
    import huggingface_hub.hf_api  # noqa: F401

    import discoprobe.cards.hub.push
    import discoprobe.cards.hub.verify  # noqa: F401

    prepare_cards()
    gc.collect()
    gc.freeze()  # a child that collects garbage would copy the whole process, page by page
    running = {}
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake := pipe_end(), warn_on_full_buffer=False)
    import select

    lines, closed = b"", False
    while not closed or running:
        ready, _, _ = select.select([*([] if closed else [0]), WAKE[0]], [], [], 1)
        if WAKE[0] in ready:
            os.read(WAKE[0], 4096)
        if 0 in ready:
            read = os.read(0, 1 << 16)
            closed, lines = not read, lines + read
            *whole, lines = lines.split(b"\n")
            for line in whole:
                start(json.loads(line), running)
        reap(running)
    signal.set_wakeup_fd(-1)
    os.close(wake)


WAKE = []


def pipe_end():
    """The end of a pipe that signals write to; `select` waits at the other."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    WAKE.append(reading)
    return writing


def prepare_cards():
    """Import and compile, before the first fork, what every push would for itself; nothing that begins a thread."""
    import charset_normalizer  # noqa: F401
    import scipy.special  # noqa: F401

    from discoprobe.cards.metadata import manifest
    from discoprobe.cards.release import release_folder
    from discoprobe.cards.text import templating

    manifest.software()
    release_folder.environment()
    for is_text in (True, False):
        templates = templating._environment("text", escaping=not is_text)
        for name in templates.list_templates(filter_func=lambda name, is_text=is_text: (".md." in name) == is_text):
            templates.get_template(name)


def import_for_builds():
    """Import, before the first fork that needs it, what every build would import for itself."""
    import huggingface_hub.hf_file_system  # noqa: F401
    import scipy.sparse.linalg  # noqa: F401

    import discoprobe.builders.build
    import discoprobe.builders.task
    import discoprobe.loaders.raw.raw_corpus
    import discoprobe.pipeline

    discoprobe.builders.task.all_tasks()
    discoprobe.loaders.raw.raw_corpus.is_known("es")


def start(asked, running):
    if asked["task"] == "program":
        import_for_builds()
    said = tempfile.TemporaryFile("w+")  # noqa: SIM115 (the child writes it, `reap` reads it)
    go_reading, go_writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.read(go_reading, 1)
        with contextlib.suppress(BaseException):
            said.write(json.dumps(carried_out(asked)))
            said.flush()
        os._exit(0)
    os.close(go_reading)
    running[pid] = asked["number"], said
    say({"number": asked["number"], "pid": pid})
    os.write(go_writing, b".")
    os.close(go_writing)


def reap(running):
    for pid in list(running):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            number, file = running.pop(pid)
            with file:
                file.seek(0)
                said = file.read()
            killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
            say({"number": number, "signal": killed, **(json.loads(said) if said else {})})


def say(answer):
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def carried_out(asked):
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            found = {
                "result": TASKS[asked.pop("task")](**{name: value for name, value in asked.items() if name != "number"})
            }
        except Exception as error:  # noqa: BLE001 (the test looks at it)
            found = {"error": str(error), "type": type(error).__name__, "status": getattr(error, "exit_status", None),
                     "trace": "".join(traceback.format_exception(error))}  # fmt: skip
    return found | {"output": output.getvalue()}


def hub_of(repo, token, patience=None, **options):
    from discoprobe.cards.hub import Hub, RetryPolicy

    quick = RetryPolicy(**{"attempts": 4, "first_wait": 0.05, "longest_wait": 0.2, "timeout": 1.0} | (patience or {}))
    return Hub(repo, token=token, retry=quick, **options)


def push(
    repo, token, folder, *, agree=True, patience=None, verbose=False, pull_request=False, read_back=0, private=False,
    dry_run=False, heading="", **options,
):  # fmt: skip
    """A push; with ``heading`` by a version of the program whose card of a release has other words."""
    import logging

    from discoprobe.cards.hub import plan_push

    if heading:
        from discoprobe.cards.text import card

        write = card.render
        card.render = lambda *template, **values: write(*template, **values).replace("## Uses", f"## {heading}")
    if verbose:
        logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    hub = hub_of(repo, token, patience, pull_request=pull_request)
    plan = plan_push(Path(folder), hub, day=dt.date(2026, 1, 2), dry_run=dry_run, **options)
    more = {"folder": Path(folder), "private": private, "read_back": read_back}
    return carried_out_plan(hub, plan, agree=agree, dry_run=dry_run, **more)


def restore(repo, token, release, *, patience=None, pull_request=False, read_back=0, dry_run=False):
    from discoprobe.cards.hub import plan_restore

    hub = hub_of(repo, token, patience, pull_request=pull_request)
    plan = plan_restore(hub, release, dry_run=dry_run)
    return carried_out_plan(hub, plan, dry_run=dry_run, read_back=read_back)


def carried_out_plan(hub, plan, *, agree=True, dry_run=False, **options):
    """What comes of a plan, as JSON; a plan that sends no file is not asked about."""
    from msgspec.structs import replace

    from discoprobe.cards.hub import send

    result, staged = plan
    if not dry_run and not agree and (result.uploads or result.deletes):
        result = replace(result, state="declined")
    return (result if dry_run else send(hub, result, staged, **options)).to_dict()


def push_full_disk(repo, token, folder):
    """A push on a machine that cannot write more than a few bytes per file."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        return push(repo, token, folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def propose(repo, token, path, text):
    from discoprobe.cards.hub import Hub
    from discoprobe.cards.hub.push import propose_file

    return propose_file(Hub(repo, token=token, pull_request=True, kind="model"), path, text.encode(), f"Add {path}")


def corrections(repo, token, pull=None):
    from discoprobe.cards.hub import Hub
    from discoprobe.cards.hub.corrections import corrections as found
    from discoprobe.cards.hub.staging import read_remote

    hub = Hub(repo, token=token)
    return [
        [one.config, one.split, one.row, one.author, one.verdict, sorted(one.changes)]
        for one in found(hub, read_remote(hub), pull)
    ]


def compare(repo, token, folder, revision=""):
    from discoprobe.cards.hub.staging import compare as compared

    os.environ["HF_TOKEN"] = token
    return compared(Path(folder), f"{repo}@{revision}" if revision else repo).to_dict()


def verify(repo, token, revision, folder=None):
    """Verifies against a rebuild that copies a release folder."""
    import shutil

    from discoprobe.cards.hub.verify import verify as verified

    rebuild = (lambda _, out: shutil.copytree(folder, out)) if folder else None
    return verified(f"{repo}@{revision}", rebuild, token=token).to_dict()


def load(repo, token, config, revision, cache):
    from datasets import load_dataset

    loaded = load_dataset(repo, config, revision=revision, token=token, cache_dir=cache)
    return {split: {"ids": table["id"][:], "labels": table.features["label"].names} for split, table in loaded.items()}


def names(repo, token, revision):
    from datasets import get_dataset_config_names

    return get_dataset_config_names(repo, revision=revision, token=token)


def stream(repo, token, config, revision, split):
    from datasets import load_dataset

    return [
        row["id"] for row in load_dataset(repo, config, revision=revision, split=split, streaming=True, token=token)
    ]


def execute(repo, token, code, cache):
    """Runs code that somebody copied from a card."""
    import datasets

    os.environ["HF_TOKEN"] = token
    datasets.config.HF_DATASETS_CACHE = cache
    exec(code, {})


def checksums(repo, token, revision):
    """The client's own download and check of a whole revision."""
    from huggingface_hub import HfApi

    api = HfApi(token=token)
    folder = Path(api.snapshot_download(repo, repo_type="dataset", revision=revision))
    if not hasattr(api, "verify_repo_checksums"):  # a client of last year has none
        paths = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
        listed = api.get_paths_info(repo, paths, repo_type="dataset", revision=revision)
        wrong = 0
        for file in listed:
            data = (folder / file.path).read_bytes()
            blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            wrong += hashlib.sha256(data).hexdigest() != file.lfs.sha256 if file.lfs else blob != file.blob_id
        return {"checked": len(listed), "mismatches": wrong}
    found = api.verify_repo_checksums(repo, repo_type="dataset", revision=revision)
    return {"checked": found.checked_count, "mismatches": len(found.mismatches)}


def read_hub(repo, token, config=None):
    """What the audit reads of a dataset."""
    from discoprobe.auditing import read_all
    from discoprobe.builders.audit.inputs import Reading

    found, skipped = read_all([f"hf://{repo}"], Path("dist"), Reading(config=config))
    data = [
        {"name": one.name, "format": one.read.format, "labels": one.labels, "columns": one.read.columns,
         "counts": one.counts} for one in found
    ]  # fmt: skip
    return {"data": data, "skipped": [[one.name, one.reason, one.unlabelled] for one in skipped]}


def program(repo, token, arguments, environment, folder, catalogue=None):
    """The program as a user calls it in a folder, perhaps with another catalogue: exit status, stdout and stderr."""
    from discoprobe import cli
    from discoprobe.loaders.catalogue import treebanks

    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["build", *arguments]
    if catalogue:
        treebanks._folder = lambda: Path(catalogue)
    out, err, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            cli.main()
        except SystemExit as end:
            status = end.code or 0
    return {"returncode": status, "stdout": out.getvalue(), "stderr": err.getvalue()}


TASKS = {
    task.__name__: task
    for task in (
        program,
        read_hub,
        push,
        restore,
        push_full_disk,
        propose,
        corrections,
        compare,
        verify,
        load,
        names,
        stream,
        execute,
        checksums,
    )
}

if __name__ == "__main__":
    main()
