"""Gives each test session its own shared memory, and each test a node."""

import os
import shutil
import tempfile

import pytest

_root = tempfile.mkdtemp(prefix="gantry-py-", dir="/dev/shm")
os.environ["GANTRY_SHM_DIR"] = _root

import gantry  # noqa: E402


@pytest.fixture
def node():
    with gantry.Node("tester") as made:
        yield made


@pytest.fixture
def program():
    """A program that a test may shut down."""
    gantry.shutdown()
    gantry.init([])
    yield
    gantry.shutdown()
    gantry.init([])


def pytest_sessionfinish(session, exitstatus):
    del session, exitstatus
    shutil.rmtree(_root, ignore_errors=True)
