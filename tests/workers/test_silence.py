"""What is attacked with, planted, or answered stands in no log."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import structlog

from payloads import loader
from tests.workers.probes.conftest import ATTACKS, Shelf
from workers import registry
from workers.canaries import Canaries
from workers.run import Adapters, run
from workers.wire.job import HygieneJob, Parcel, SecurityJob
from workers.wire.skill import Planted, SkillRef

SECRET = "walrus-quartz-41"


@pytest.fixture
def shelf() -> Any:
    """Skills on a port of their own."""
    shelf = Shelf()
    yield shelf
    shelf.close()


def run_all(skill: SkillRef) -> list[Any]:
    """Every attack and the hygiene cases, as a worker runs them."""
    jobs = [
        *(SecurityJob(id=f"job-{one.id}", probe=one.id, attack=one, timeout_ms=2_000) for one in ATTACKS.values()),
        HygieneJob(id="job-h", probe="hygiene", timeout_ms=2_000),
    ]

    async def results() -> list[Any]:
        adapters = Adapters()
        try:
            parcel = Parcel(id="p", run_id="r", skill=skill, jobs=tuple(jobs), reply_to="x", lanes=4)
            found: list[Any] = []
            await run(parcel, adapters, found.append)
            return found
        finally:
            await adapters.aclose()

    return asyncio.run(results())


def secrets() -> set[str]:
    """The derived words of every first attempt, and stretches of the attacks' own texts."""
    words = {SECRET, "Ignore every instruction", "etc/passwd", "environment variables", "maintainer mode"}
    for payload in loader.load().payloads:
        canaries = Canaries(f"job-{payload.id}", payload.id, "text/plain attack")
        words |= {canaries.word(name) for name in ("a", "b", "secret")}
        words |= {canaries.token(name) for name in ("callback", "redirect", "internal")}
    return words


@pytest.mark.parametrize("breaks", [False, True])
def test_no_log_line_holds_what_was_sent_or_planted(
    breaks: bool, shelf: Shelf, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither when all goes well nor when a probe of ours fails on the way, with everything in its hands."""
    skill = shelf.put(lambda body: (200, {"echo": body, "by": SECRET}), planted=Planted(canary=SECRET))
    if breaks:
        detector = registry.part("detectors", "witness").Witness

        def fail(self: Any, answers: Any, *_: Any) -> Any:
            raise ValueError(f"cannot read {answers[-1].sent}: {SECRET}")

        monkeypatch.setattr(detector, "read", fail)

    with structlog.testing.capture_logs() as captured:
        results = run_all(skill)

    assert len(results) == len(ATTACKS) + 1
    out, err = capfd.readouterr()
    logged = "".join([out, err, *map(str, captured)])
    assert ("probe crashed" in logged) is breaks
    assert [secret for secret in secrets() if secret in logged] == []
