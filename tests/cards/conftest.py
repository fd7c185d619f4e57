"""A loopback Hub, and a process in which the unmodified clients talk to it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hub_client import Client
from hub_server import serving


@pytest.fixture(scope="module")
def hub():
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def client(hub, tmp_path_factory):
    made = Client(hub.url, tmp_path_factory.mktemp("home"))
    yield made
    made.close()
