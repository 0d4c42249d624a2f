from __future__ import annotations

import subprocess
import sys

import pytest

SECRET = "NWP-4f1c9ad27e63"
FAILING = f"""
import logging, sys
from concurrent.futures import CancelledError
from dramatiq import Message
from workers.wire import logs

logs.configure(json=sys.argv[1] == "json")
log = logging.getLogger("dramatiq.worker.WorkerThread")
options = {{}}
message = Message("skillmark.security", "security", ({SECRET!r},), {{}}, options, message_id="m-1")
for error in (RuntimeError("broken"), CancelledError("given up")):
    try:
        raise error
    except Exception:
        log.error("Failed to process message %s with unhandled exception.", message, exc_info=True)
"""


@pytest.fixture(params=["json", "terminal"])
def logged(request: pytest.FixtureRequest) -> str:
    """What a process logs in which one message fails and another is given up, as JSON and for people."""
    ran = subprocess.run([sys.executable, "-c", FAILING, request.param], capture_output=True, text=True, check=True)
    return ran.stderr


def test_a_message_is_logged_by_its_id(logged: str) -> None:
    """A failed message is named with its error, and nothing that it holds is shown, in the traceback neither."""
    assert "m-1" in logged
    assert "RuntimeError: broken" in logged
    assert SECRET not in logged


def test_what_we_give_up_ourselves_is_no_failure(logged: str) -> None:
    """Parcels that are cancelled when we hang up are not logged as errors."""
    assert "given up" not in logged
