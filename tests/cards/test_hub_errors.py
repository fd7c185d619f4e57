"""What the Hub, its storage or a person does to a push is told in one line with a remedy."""

import pytest
from huggingface_hub.errors import FileMetadataError

from discoprobe.cards.hub import Hub, RetryPolicy
from discoprobe.loaders import RemoteError, UsageError


@pytest.fixture
def hub():
    return Hub(
        "org/x", endpoint="http://127.0.0.1:9", token="hf_secret123", retry=RetryPolicy(attempts=2, first_wait=0)
    )


XET = (
    "Data processing error: CAS service error : ReqwestMiddleware Error: HTTP status {} for url (https://cas/x?token=1)"
)


@pytest.mark.parametrize(
    ("error", "words", "transient"),
    [
        (RuntimeError(XET.format("client error (403 Forbidden)")), "(Xet) refuses the token while uploading", False),
        (RuntimeError(XET.format("server error (500 Internal Server Error)")), "HF_HUB_DISABLE_XET=1", False),
        (FileMetadataError("Response is missing the 'X-Repo-Commit' header"), "is not the Hub", False),
        (OSError("Network error: Request error: error decoding response body"), "storage (Xet) failed while", False),
        (ConnectionError("Network error: HTTP status client error (403 Forbidden)"), "(Xet) refuses the token", False),
        (ValueError("Malformed response from server"), "is not as expected (Malformed response", True),
        (KeyError("oid"), "is incomplete (KeyError)", True),
        (TypeError("NoneType"), "is incomplete (TypeError)", True),
        (AttributeError("x"), "is incomplete", True),
    ],
)
def test_failures_of_the_client_are_one_line(hub, error, words, transient):
    def fail():
        raise error

    with pytest.raises(RemoteError) as caught:
        hub._try_once("uploading", fail)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "hf_secret" not in str(caught.value)
    assert caught.value.transient is transient


@pytest.mark.parametrize("token", ["hf_пароль", "hf_a\nb", "hf_a b", "hf_\x00"])
def test_a_token_with_characters_that_no_token_has(token):
    with pytest.raises(UsageError, match="characters that no token has"):
        Hub("org/x", endpoint="http://127.0.0.1:9", token=token)


@pytest.mark.parametrize("answer", [None, {}, [], "ana", {"auth": {}}])
def test_an_answer_to_the_token_that_is_none(hub, monkeypatch, answer):
    monkeypatch.setattr(hub._api, "whoami", lambda: answer)
    with pytest.raises(RemoteError, match="is incomplete"):
        hub.check_rights()


def test_a_failing_storage_is_not_tried_for_minutes(hub):
    calls = []

    def fail():
        calls.append(1)
        raise RuntimeError(XET.format("server error (500)"))

    with pytest.raises(RemoteError):
        hub._retry("uploading", fail)
    assert len(calls) == 1, "the storage's client has tried for a minute by itself"
