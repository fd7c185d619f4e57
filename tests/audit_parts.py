"""One check of the audit without the others: what a test of a single check needs, in a fraction of the time.

``test_every_check_of_the_table_is_run`` shows that an audit runs all of them.
"""

from unittest import mock

import msgspec
import polars as pl
import pyarrow as pa

from discoprobe.builders.audit import INTEGRITY, audit, run
from discoprobe.builders.audit.run import with_edited
from discoprobe.builders.audit.solvers import SOLVERS


def frame_of(sources):
    """A dictionary (corpus, sent_id) → text as the audit gets it."""
    rows = [(*key, text) for key, text in sources.items()]
    return pl.DataFrame(rows, ["corpus", "sent_id", "text"], orient="row")


def _audit(data, checks, sources=None, *, rules=False):
    """The audit with the named checks only, and without mining rules unless that is asked for."""
    kept = [mock.patch.dict(table, {name: table[name] for name in checks & table.keys()}, clear=True)
            for table in (INTEGRITY, SOLVERS)]  # fmt: skip
    unmined = mock.patch.object(run, "mine", run.mine if rules else lambda *_: None)
    with kept[0], kept[1], unmined:
        return audit(data, None if sources is None else frame_of(sources))


def finding_of(data, check, sources=None):
    """The finding of one check, as in an audit with all of them; ``pairwise`` compares the scores of all solvers."""
    names = SOLVERS.keys() if check == "pairwise" else {check}
    return _audit(data, names, sources).finding(check)


def finding_with_words(data, check):
    """The finding of one check where words are measured, too."""
    return _audit(data, {check, "words"}).finding(check)


def report_of(data):
    """The whole report but for the mined rules, which no verdict depends on."""
    return _audit(data, SOLVERS.keys() | INTEGRITY.keys())


def errors_of(data):
    """The error-level findings, as in an audit with all checks: those that can only be notes are not measured."""
    return _audit(data, run._counting(with_edited(data)) | INTEGRITY.keys()).errors


def rules_of(data):
    """The report of an audit that only mines rules."""
    return _audit(data, set(), rules=True)


def heuristics_of(data):
    """The mined rules."""
    return rules_of(data).heuristics


def with_other_ending(suite, old, new):
    """A suite of pairs of three regions, with another word in the last region of its first bad text."""
    table = suite.splits["test"]
    rows = table.to_pylist()
    before, edited, after = rows[0]["regions_bad"]
    rows[0]["regions_bad"] = [before, edited, after.replace(old, new)]
    rows[0]["sentence_bad"] = " ".join(rows[0]["regions_bad"])
    return msgspec.structs.replace(suite, splits={"test": pa.Table.from_pylist(rows, schema=table.schema)})
