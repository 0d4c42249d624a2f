from __future__ import annotations

import asyncio
import os
import signal
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from coordinator import examinations, examining, policy
from coordinator.catalog.skill import Skill
from coordinator.certify import Mode
from coordinator.examinations import QUICK_DEPENDENCIES, Examinations
from coordinator.examining import ENDED, Terms
from coordinator.record import Header, Stamps
from coordinator.static import checks
from coordinator.static.context import static_context
from coordinator.static.evidence import Examined, Unchecked
from tests.coordinator.skills import skill, text


def terms(folder: Path) -> Terms:
    return Terms(
        header=Header(
            run_id="run",
            mode=Mode.LIVE,
            stamps=Stamps(engine="0", policy="sha256:p", corpus="sha256:c", benchmarks={}),
        ),
        catalog=folder,
        policy=policy.load(),
        database=folder / "no-database",
        now=datetime(2026, 1, 1, tzinfo=UTC),
    )


def with_source(folder: Path, name: str) -> Skill:
    (folder / name).mkdir()
    (folder / name / "main.py").write_text("import subprocess\nsubprocess.run(['true'])\n")
    (folder / name / "requirements.txt").write_text("flask==1\n")
    return skill(
        text(), id=name, digest=f"sha256:{name}", source=str(folder / f"{name}.json"), source_path=name, permissions=()
    )


def examined(place: Terms, *skills: Skill) -> list[dict[str, Examined] | None]:
    """What came of each of *skills*, all begun at once, when each has ended."""

    async def made() -> list[dict[str, Examined] | None]:
        elsewhere = Examinations(place)
        try:
            for one in skills:
                elsewhere.begin(one)
            for one in skills:
                if (end := elsewhere.end(one)) is not None:
                    await asyncio.wait_for(end, 60)
            return [elsewhere.taken(one) for one in skills]
        finally:
            elsewhere.close()

    return asyncio.run(made())


def test_what_is_examined_elsewhere_is_what_would_be_found_here(tmp_path: Path) -> None:
    """The same checks by the same terms, in another process."""
    one, place = with_source(tmp_path, "one"), terms(tmp_path)

    (found,) = examined(place, one)

    with static_context(place.catalog, place.policy, place.database, place.now) as context:
        assert found == checks.examine(one, context)


@pytest.mark.parametrize(
    "more",
    [
        {"source_path": "src"},
        {"dependencies": ("a",) * (QUICK_DEPENDENCIES + 1)},
        {"description": "x" * (examinations.QUICK_BYTES + 1)},
    ],
)
def test_what_could_take_long_is_examined_elsewhere(tmp_path: Path, more: dict[str, object]) -> None:
    """A source, many dependencies, a large manifest."""
    one = msgspec.structs.replace(skill(text(), source=str(tmp_path / "m.json")), **more)

    (found,) = examined(terms(tmp_path), one)

    assert found is not None


def test_a_small_manifest_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is examined where its verdict is made."""
    monkeypatch.delattr(examinations, "started")

    assert examined(terms(tmp_path), skill(text())) == [None]


def die_on_fatal(place: Terms) -> None:
    """Make an examining process that ends at a skill called ``fatal``."""
    examining.ready(place)
    real = checks.examine

    def fatal(one: Skill, context: object) -> dict[str, Examined]:
        if one.id == "fatal":
            os.kill(os.getpid(), signal.SIGKILL)
        return real(one, context)  # type: ignore[arg-type]

    checks.examine = fatal  # type: ignore[assignment]


def test_a_process_that_ends_is_our_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it did is done again; of the skill that ends each process nothing is judged, and that is told."""
    monkeypatch.setattr(examinations, "ready", die_on_fatal)

    before, fatal, after = examined(
        terms(tmp_path), *(with_source(tmp_path, name) for name in ("before", "fatal", "after"))
    )

    assert fatal == dict.fromkeys(checks.checks(), Unchecked(ENDED))
    assert before is not None
    assert after is not None
    assert not any(isinstance(one, Unchecked) and one.reason == ENDED for one in (*before.values(), *after.values()))
