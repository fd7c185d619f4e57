"""Prints the results of commands."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING

from discoprobe.cli.terminal import Cell, print_json, show
from discoprobe.loaders.fetch.remote_files import is_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discoprobe.cards.hub.push import Plan, PushResult
    from discoprobe.cards.hub.verify import Verified
    from discoprobe.cards.metadata.manifest import ConfigEntry
    from discoprobe.cards.release.diff import Changes
    from discoprobe.cards.text.verdicts import Verdict
    from discoprobe.loaders.raw.annotate.annotate_corpus import AnnotatedCorpus
    from discoprobe.pipeline import BuildResult
    from discoprobe.reading_plan import PlannedSource

_NAMED = 3
"""Largest number of checks that a remark names; if there are more, it gives their number."""


def show_build(result: BuildResult, out: str, *, as_json: bool = False) -> None:
    """Prints a line per config, built or not, and the call that loads one of them."""
    from discoprobe.cards.text.verdicts import verdicts  # noqa: PLC0415 (scipy: a second)

    entries = result.manifest["configs"]
    if as_json:
        configs = {name: entries[name] for name in result.built}
        print_json({"out": out, "configs": configs, "unavailable": {one.name: one.reason for one in result.missing}})
        return
    of_config = verdicts(entries)
    rows = [_config_row(name, entries[name], of_config[name]) for name in result.built]
    rows += _missing_rows(result)
    show(rows, ["config", "train", "validation", "test", "majority", "strongest shortcut", "audit", "remark"])
    if result.built:
        first = next((name for name in result.built if name.startswith("dc_")), result.built[0])
        show_load_call(out, first, tuple(entries[first]["counts"]))


def show_load_call(out: str, config: str, splits: Sequence[str]) -> None:
    """Prints the call that loads a config: of a folder, or of a URL by the parquet files of each split."""
    files = ", ".join(f'"{split}": "{out}/{config}/{split}-*.parquet"' for split in splits)
    arguments = f'"parquet", data_files={{{files}}}' if is_url(out) else f'"{out}", "{config}"'
    sys.stdout.write(f"\nload_dataset({arguments})\n")


def _missing_rows(result: BuildResult) -> list[dict[str, Cell]]:
    """A line per config that is not available; configs of generated tasks with the same reason share a line."""
    generated: dict[str, list[str]] = {}
    rows: list[dict[str, Cell]] = []
    for config in result.missing:
        if config.task.startswith("feats_"):
            generated.setdefault(config.reason, []).append(config.name)
        else:
            rows.append({"config": config.name, "audit": "not built", "remark": config.reason})
    for reason, names in generated.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        rows.append({"config": names[0] + more, "audit": "not built", "remark": reason})
    return rows


def _config_row(name: str, entry: ConfigEntry, verdict: Verdict) -> dict[str, Cell]:
    row: dict[str, Cell] = {
        "config": name,
        **{split: sum(labels.values()) for split, labels in entry["counts"].items()},
    }
    if audit := entry["audit"]:
        row |= {"majority": f"{audit['majority']:.3f}", "audit": verdict.word}
        if audit["strongest"]:
            row["strongest shortcut"] = f"{audit['strongest']} {audit['accuracy']:.3f} ({audit.get('gain') or 0:+.3f})"
        row["remark"] = remark(verdict)
    if entry.get("tiny"):
        row["remark"] = f"tiny; {row['remark']}" if row.get("remark") else "tiny"
    return row


def remark(verdict: Verdict) -> str | None:
    """The checks above their threshold, or the smallest detectable gain."""
    if verdict.word == "failed":
        checks = ", ".join(verdict.checks) if len(verdict.checks) <= _NAMED else f"{len(verdict.checks)} checks"
        return f"above the threshold: {checks}{' (all languages of the task)' if verdict.of_design else ''}"
    return None if verdict.resolution is None else f"smallest detectable gain {verdict.resolution:.3f}"


def show_annotated(annotated: AnnotatedCorpus, out: str, *, as_json: bool = False) -> None:
    """Prints what was annotated and how fast, what was left out, and which sentence boundaries were corrected."""
    manifest = annotated.manifest
    if as_json:
        print_json({"out": out, "new_words": annotated.new_words, "seconds": annotated.seconds, **manifest})
        return
    made = manifest["made_by"]
    with_what = ", ".join(f"{name} {version}" for name, version in made["software"].items())
    sys.stdout.write(
        f"{manifest['name']} ({manifest['lang']}): {manifest['documents']:,} documents, "
        f"{manifest['sentences']:,} sentences, {manifest['words']:,} words in {out}, by {with_what}\n"
    )
    if annotated.new_words:
        speed = f"{annotated.new_words / annotated.seconds:,.0f} words/s, loading of models included"
        sys.stdout.write(f"{annotated.new_words:,} words in {annotated.seconds:.0f} s: {speed}\n")
    else:
        sys.stdout.write("nothing to annotate: the annotation is complete\n")
    rows: list[dict[str, Cell]] = [
        {"left out in": step, "reason": reason, "number": n}
        for step, reasons in manifest["drops"].items()
        for reason, n in reasons.items()
    ]
    if rows:
        show(rows, ["left out in", "reason", "number"])
    corrections: list[dict[str, Cell]] = [
        {"sentence boundaries corrected": kind, "number": n} for kind, n in manifest["corrections"].items()
    ]
    if corrections:
        show(corrections, ["sentence boundaries corrected", "number"])


def show_sources(planned: Sequence[PlannedSource], unbuilt: Sequence[str] | None, *, as_json: bool = False) -> None:
    """Prints what a push reads, in the order of reading, and for a dry run the configs that it would build.

    JSON is printed only for a dry run with such configs.
    """
    if as_json:
        if unbuilt:
            reads = [dataclasses.asdict(one) for one in planned]
            print_json({"state": "unbuilt", "reads": reads, "build": unbuilt})
        return
    every = max((len(one.tasks) for one in planned), default=0)
    show(
        [_source_row(one, every) for one in planned],
        ["lang", "corpus", "what is done", "files", "MB", "licence", "tasks"],
    )
    if unbuilt:
        sys.stdout.write(
            f"\nto build first, if the corpora support them: {', '.join(unbuilt)}\n"
            "the files to send are known only after the build: run this again after `build run`\n"
        )
    sys.stdout.flush()


def _source_row(one: PlannedSource, n_tasks: int) -> dict[str, Cell]:
    tasks = "all" if len(one.tasks) == n_tasks else ", ".join(one.tasks)
    size = None if one.bytes is None else f"{one.bytes / 1e6:,.1f}"
    return {
        "lang": one.lang, "corpus": one.corpus, "what is done": one.how, "files": one.files or None, "MB": size,
        "licence": one.licence, "tasks": tasks,
    }  # fmt: skip


def confirmed(plan: Plan) -> bool:
    """Asks whether to publish; every answer but y or yes declines."""
    sys.stdout.write(f"Publish {plan.release} to {plan.repo}? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def show_plan(plan: Plan, *, as_json: bool = False) -> None:
    """Prints what a push will send, delete, keep and change; on stderr if stdout is for JSON."""
    stream = sys.stderr if as_json else sys.stdout
    size = sum(plan.uploads.values())
    since = f" (after {plan.last})" if plan.last else ""
    stream.write(
        f"{plan.repo} {plan.release}{since}: {len(plan.uploads)} files to send ({size:,} bytes), "
        f"{len(plan.deletes)} to delete, {len(plan.keeps)} configs stay as they are\n"
    )
    if plan.deletes:
        stream.write(f"files to delete: {', '.join(plan.deletes)}\n")
    if plan.resourced:
        stream.write(f"configs that are replaced by ones from other corpora: {'; '.join(plan.resourced)}\n")
    if plan.keeps:
        stream.write(f"configs that stay: {', '.join(plan.keeps)}\n")
    if plan.unmanaged:
        stream.write(f"files that no release wrote, which stay: {', '.join(plan.unmanaged)}\n")
    if not as_json:
        show_changes(plan.changes)
    stream.flush()


def show_push(result: PushResult, *, as_json: bool = False) -> None:
    """Prints what a push did."""
    if as_json:
        print_json(result.to_dict())
        return
    if result.state == "planned":
        show_plan(result.plan)
    at = " ".join(part for part in (result.commit or "", result.url) if part)
    sys.stdout.write(f"{result.state}: {result.plan.repo} {result.plan.release} {at}".rstrip() + "\n")
    for note in result.notes:
        sys.stdout.write(f"note: {note}\n")


def show_changes(changes: Changes, *, as_json: bool = False) -> None:
    """Prints what changed between two releases: a line per config, then sources, software and other files."""
    if as_json:
        print_json(changes.to_dict())
        return
    rows: list[dict[str, Cell]] = [{"config": name, "change": "new", "added": n} for name, n in changes.added.items()]
    rows += [{"config": name, "change": "gone", "removed": n} for name, n in changes.removed.items()]
    kinds = ("added", "removed", "relabelled")
    rows += [
        {"config": one.name, "change": "changed", **{kind: one.total(kind) for kind in kinds}}
        for one in changes.changed
    ]
    if rows:
        show(rows, ["config", "change", *kinds])
    for what, lines in (("source", changes.sources), ("software", changes.software), ("file", changes.files)):
        for line in lines:
            sys.stdout.write(f"{what}: {line}\n")
    if not changes:
        sys.stdout.write("nothing changed\n")


def show_verified(verified: Verified, *, as_json: bool = False) -> None:
    """Prints what a verification found."""
    if as_json:
        print_json(verified.to_dict())
        return
    sys.stdout.write(
        " ".join(part for part in (verified.target, verified.release, verified.commit) if part)
        + f": {verified.files} files compared with the manifest, {verified.rebuilt} with the rebuild, "
        f"{len(verified.differences)} differ\n"
    )
    rows: list[dict[str, Cell]] = [
        {"file": one.path, "step": one.step, "why": "; ".join(one.why)} for one in verified.differences
    ]
    if rows:
        show(rows, ["file", "step", "why"])
