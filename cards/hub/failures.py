"""Errors of the Hub and of the network as one line of plain words, without tokens and signed addresses."""

import errno
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from discoprobe.loaders.errors import RemoteError

_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class HubError(RemoteError):
    """The Hub or the way to it failed.

    Attributes:
        status: HTTP status; None where there was no answer.
        transient: whether it may go well the next time.
        wait: seconds that the Hub asked to wait.
    """

    def __init__(self, message: str, *, status: int | None, transient: bool, wait: float | None = None) -> None:
        super().__init__(message)
        self.status, self.transient, self.wait = status, transient, wait


@dataclass(frozen=True, slots=True)
class Failures:
    """What went wrong with a repository at an endpoint, in messages that do not show the token."""

    repo: str
    endpoint: str
    token: str | None = field(repr=False)

    def told(self, error: BaseException, doing: str) -> HubError | None:
        """The error in plain words; None for one that has nothing to do with the Hub."""
        if odd := self._odd(error, doing):
            return odd
        if clear := next((clear for cause in _causes(error) if (clear := self._cause(cause, doing))), None):
            return clear
        if isinstance(error, ValueError):  # what the client says of an answer that it cannot use
            words = f"the Hub's answer while {doing} is not as expected ({self.safe(str(error))}); try later"
            return HubError(words, status=None, transient=True)
        return None

    def _cause(self, cause: BaseException, doing: str) -> HubError | None:
        import httpx2  # noqa: PLC0415
        from huggingface_hub import errors  # noqa: PLC0415

        if isinstance(cause, errors.LocalTokenNotFoundError):
            return final(f"no token for {self.endpoint}; log in with `hf auth login` or set HF_TOKEN", 401)
        if isinstance(cause, errors.OfflineModeIsEnabled):
            return final(f"HF_HUB_OFFLINE is set, so {self.repo} cannot be reached; unset it")
        if isinstance(cause, errors.HfHubHTTPError):
            return self._answered(cause, doing)
        if isinstance(cause, httpx2.HTTPError):
            words = (
                f"no answer from {self.endpoint} while {doing} ({type(cause).__name__}); check the network, then run it"
            )
            return HubError(f"{words} again: nothing is half published", status=None, transient=True)
        return self._system(cause, doing) if isinstance(cause, OSError) else None

    def _system(self, error: OSError, doing: str) -> HubError | None:
        from huggingface_hub import errors  # noqa: PLC0415

        if isinstance(error, errors.FileMetadataError):
            return final(f"what answers while {doing} is not the Hub: a file comes without its hash and commit")
        if error.errno is None and doing == "uploading":  # an error of this machine has a number
            return self.storage(self.safe(str(error)), doing)
        full = error.errno in _DISK_FULL
        return final(f"no space left on this machine while {doing}; free some, then run it again") if full else None

    def _odd(self, error: BaseException, doing: str) -> HubError | None:
        if isinstance(error, ValueError) and "Invalid metadata in README.md" in str(error):
            return final(f"the Hub refuses the card: {self.safe(str(error))}", 400)
        if isinstance(error, ValueError) and type(error).__name__ == "JSONDecodeError":
            # the check of a card reads JSON before it looks at the status: a busy Hub's page of HTML ends up here
            return HubError(f"the Hub's answer while {doing} is not JSON; try later", status=None, transient=True)
        if isinstance(error, (LookupError, TypeError, AttributeError)):
            words = f"the Hub's answer while {doing} is incomplete ({type(error).__name__}); try later"
            return HubError(words, status=None, transient=True)
        if type(error) is RuntimeError and error.__cause__ is None:
            return self.storage(self.safe(str(error)), doing)
        return None

    def storage(self, message: str, doing: str, *, transient: bool = False) -> HubError:
        """A failure of the storage of large files (Xet): its client gives up with a text only."""
        if re.search(r"\b40[13]\b|[Ff]orbidden|[Uu]nauthorized", message):
            return final(f"the Hub's storage (Xet) refuses the token while {doing}; use one with write access", 403)
        status = re.search(r"\(([45]\d\d [A-Z][\w ]*)\)", message)
        words = (
            f"the Hub's storage (Xet) failed while {doing} ({status[1] if status else message[:120]}); nothing was"
            " published: try later, or with HF_HUB_DISABLE_XET=1"
        )
        return HubError(words, status=int(status[1][:3]) if status else None, transient=transient)

    def _answered(self, error: Any, doing: str) -> HubError:
        response = error.response
        status = int(response.status_code)
        message = self.safe(response.headers.get("X-Error-Message") or getattr(error, "server_message", None) or "")
        message = "" if message.startswith("<") else message  # a page of a proxy
        return HubError(
            self._words(status, doing) + (f" (the Hub says: {message})" if message else ""),
            status=status, transient=status in _TRANSIENT, wait=_asked_wait(response.headers),
        )  # fmt: skip

    def _words(self, status: int, doing: str) -> str:
        known = {
            401: f"the Hub requires a valid token while {doing} (401); log in with `hf auth login` or set HF_TOKEN,"
            f" and check the name {self.repo}: a wrong one gets the same answer",
            403: f"the token may not do this to {self.repo} while {doing} (403); use one with write access to it",
            404: f"{self.repo}, or a file of it, does not exist or is hidden from this token, while {doing} (404)",
            409: f"the Hub is processing another change of {self.repo} while {doing} (409); run it again in a minute",
            412: f"somebody else has committed to {self.repo} meanwhile (412); run it again",
            413: f"too large for the Hub while {doing} (413); build fewer languages at once",
            429: f"the Hub's rate limit is used up while {doing} (429); wait some minutes, then run it again",
        }
        if status in _TRANSIENT:
            return known.get(status, f"the Hub answered {status} while {doing}; try later: nothing is half published")
        return known.get(status, f"the Hub refuses this while {doing} ({status}): nothing was published")

    def safe(self, text: str) -> str:
        """Text from elsewhere on one line, without tokens and without the signed part of addresses."""
        text = text.replace(self.token, "hf_…") if self.token else text
        text = re.sub(r"\bhf_\w{4,}|(?<=\?)\S*(?:Signature|token|Credential)=\S*", "…", text)
        return " ".join(text.split())[:300]


def final(message: str, status: int | None = None) -> HubError:
    """An error that another try does not remove."""
    return HubError(message, status=status, transient=False)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes; the client wraps a failed upload in an error of its own."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds of ``Retry-After`` or, for a used-up rate limit, of ``RateLimit: "api";r=0;t=N``."""
    if (after := headers.get("Retry-After", "")).isdecimal():
        return float(after)
    limit = re.search(r"r=0;\s*t=(\d+)", headers.get("RateLimit", ""))
    return float(limit[1]) if limit else None
