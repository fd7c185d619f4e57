"""How often and how long to try what a host may answer later: downloads of corpora, and requests to the Hub."""

import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long to try.

    Attributes:
        attempts: tries of one step.
        first_wait: seconds before the second try; each further wait is twice as long.
        longest_wait: the most seconds that such a wait grows to.
        longest_asked: the most seconds to wait when a host asks for a wait; five minutes are the window of the Hub's
            rate limit.
        timeout: seconds without an answer; the Hub gives up a commit after 60.
    """

    attempts: int = 5
    first_wait: float = 1.0
    longest_wait: float = 60.0
    longest_asked: float = 300.0
    timeout: float = 120.0

    def wait(self, attempt: int, asked: float | None) -> None:
        """Sleep after the failed try number ``attempt`` (from 0), as long as the host asked, where it did."""
        grown = min(self.first_wait * 2**attempt, self.longest_wait)
        seconds = grown if asked is None else min(asked, self.longest_asked)
        _log.info("waiting %.1f s before another try", seconds)
        time.sleep(seconds)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds that a host asks to wait; None where it asks for nothing.

    ``Retry-After`` is a number of seconds or a date; a used-up rate limit of the Hub is ``RateLimit: "api";r=0;t=N``.
    """
    after = headers.get("Retry-After", "")
    if after.isdecimal():
        return float(after)
    try:
        return max(0.0, (parsedate_to_datetime(after) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):  # no date, or a date without a time zone
        limit = re.search(r"r=0;\s*t=(\d+)", headers.get("RateLimit", ""))
        return float(limit[1]) if limit else None
