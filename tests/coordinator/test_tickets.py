from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator.catalog.skill import Entry, Rejection
from coordinator.ledger.ledger import Ledger
from coordinator.settings import SettingsError
from coordinator.tickets import Ticket, begin, catalog_digest, new_run_id
from tests.coordinator.skills import skill
from workers.wire.skill import Access

STAMPS = {"catalog": "sha256:1", "policy": "sha256:2", "repeats": 1}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger.open(f"sqlite:///{tmp_path / 'l.sqlite'}")
    yield opened
    opened.close()


def interrupted(ledger: Ledger) -> str:
    """A run that was cut short."""
    ticket = begin(ledger, "", mode="live", catalog="c", stamps=STAMPS)
    ledger.end(ticket.run_id, state="interrupted")
    return ticket.run_id


def test_a_run_goes_on_under_its_own_id(ledger: Ledger) -> None:
    """The ids of jobs derive from it: under another nothing that was judged would be found."""
    run_id = interrupted(ledger)

    ticket = begin(ledger, run_id, mode="live", catalog="c", stamps=dict(STAMPS))

    assert ticket == Ticket(run_id=run_id, resumed=True)
    assert ledger.state(run_id) == ("running", STAMPS)


def test_a_run_that_would_decide_by_something_else_is_refused(ledger: Ledger) -> None:
    """Each thing that changed is named, with what it was and what it is; the run stays as it was."""
    run_id = interrupted(ledger)

    with pytest.raises(SettingsError) as caught:
        begin(ledger, run_id, mode="live", catalog="c", stamps={**STAMPS, "policy": "sha256:3", "attacks": ["PI-01"]})

    assert 'policy was "sha256:2" and is "sha256:3"' in str(caught.value)
    assert 'attacks was null and is ["PI-01"]' in str(caught.value)
    assert ledger.state(run_id) == ("interrupted", STAMPS)


def test_a_run_that_is_unknown_or_has_ended_is_refused(ledger: Ledger) -> None:
    """There is nothing to go on with."""
    run_id = interrupted(ledger)
    ledger.end(run_id, state="ended")

    with pytest.raises(SettingsError, match="has ended"):
        begin(ledger, run_id, mode="live", catalog="c", stamps=STAMPS)
    with pytest.raises(SettingsError, match="this store knows"):
        begin(ledger, "20260101-nothing", mode="live", catalog="c", stamps=STAMPS)


def test_a_killed_run_goes_on_too(ledger: Ledger) -> None:
    """A coordinator that was killed had no time to close its run."""
    killed = begin(ledger, "", mode="live", catalog="c", stamps=STAMPS)

    assert begin(ledger, killed.run_id, mode="live", catalog="c", stamps=STAMPS).resumed


def test_no_two_runs_have_the_same_id() -> None:
    """Nor one that a skill could guess: 64 random bits end it."""
    ids = {new_run_id() for _ in range(1000)}

    assert len(ids) == 1000
    assert all(len(one.rpartition("-")[2]) == 16 for one in ids)


REJECTED = Rejection(source="a.json", pointer="/name", expected="a text", found="1")


@pytest.mark.parametrize(
    "other",
    [
        [skill(digest="sha256:1"), REJECTED],
        [skill(access=Access(adapter="http", endpoint="http://127.0.0.1:2/")), REJECTED],
        [skill(access=None), REJECTED],
        [REJECTED, skill()],
        [skill()],
        [skill(), Rejection(source="a.json", pointer="/name", expected="a text", found="2")],
    ],
)
def test_the_digest_of_a_catalog_is_over_all_that_decides_its_plan(other: list[Entry]) -> None:
    """Manifests, the ways in, rejections and the order; where the catalog lies does not matter."""
    same = [
        skill(source="elsewhere.json"),
        Rejection(source="elsewhere.json", pointer="/name", expected="a text", found="1"),
    ]

    assert catalog_digest([skill(), REJECTED]) == catalog_digest(same)
    assert catalog_digest(other) != catalog_digest(same)
