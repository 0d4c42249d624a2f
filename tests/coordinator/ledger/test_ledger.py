from __future__ import annotations

import random
import resource
from pathlib import Path

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from coordinator.ledger.ledger import Ledger
from coordinator.ledger.store import LedgerError
from coordinator.tally import keep
from tests.coordinator.evidence import judged, task, unjudged
from tests.postgresql import PrivatePostgres
from workers.wire.result import Outcome, Result


def opened(url: str) -> Ledger:
    ledger = Ledger.open(url)
    ledger.begin("run", mode="live", catalog="catalog", stamps={})
    return ledger


def test_a_redelivered_result_counts_once(store_url: str) -> None:
    """The same result recorded twice, in one batch and in two, is one row."""
    ledger = opened(store_url)
    result = judged(task("a"), Outcome.PASS, 1.0)

    ledger.record([result, result])
    ledger.record([result])

    assert ledger.results("run", "digest") == {"a": result}
    ledger.close()


def test_a_verdict_replaces_our_failure_and_nothing_replaces_a_verdict(store_url: str) -> None:
    """Unjudged gives way to Judged; the first verdict stands."""
    ledger = opened(store_url)
    first, second = judged(task("a"), Outcome.PASS, 1.0), judged(task("a"), Outcome.FAIL, 0.0)

    for result in (unjudged(task("a")), first, second, unjudged(task("a"))):
        ledger.record([result])

    assert ledger.results("run", "digest") == {"a": first}
    ledger.close()


def test_the_results_of_one_job_in_one_batch_are_one_row(store_url: str) -> None:
    """Of our failure and a verdict that come in the same batch the verdict stands, as it would in two."""
    ledger = opened(store_url)
    verdict = judged(task("a"), Outcome.PASS, 1.0)

    ledger.record([unjudged(task("a")), verdict, judged(task("a"), Outcome.FAIL, 0.0), unjudged(task("b"))])

    assert ledger.results("run", "digest") == {"a": verdict, "b": unjudged(task("b"))}
    ledger.close()


def test_results_and_records_are_saved_together(store_url: str) -> None:
    """One call enters both; each may be empty."""
    ledger = opened(store_url)
    result = judged(task("a"), Outcome.PASS, 1.0)

    ledger.save("run", [result], [(0, "skill", "certified", 95.0, b"line")])
    ledger.save("run", [], [(1, "other", "rejected", None, b"next")])
    ledger.save("run", [], [])

    assert ledger.results("run", "digest") == {"a": result}
    assert list(ledger.records("run")) == [b"line", b"next"]
    ledger.close()


job = st.sampled_from("abc").flatmap(
    lambda name: st.sampled_from([unjudged(task(name)), judged(task(name), Outcome.PASS, 1.0)])
)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(job, max_size=6), max_size=5), st.randoms(use_true_random=False))
def test_the_ledger_keeps_what_the_tally_would_keep(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[Result]], shuffler: random.Random
) -> None:
    """Ledger and tally agree on which of several results counts, in any order of delivery."""
    ledger = opened(f"sqlite:///{tmp_path_factory.mktemp('ledger') / 'ledger.sqlite'}")
    known: dict[str, Result] = {}
    shuffler.shuffle(batches)

    for batch in batches:
        ledger.record(batch)
        for result in batch:
            known[result.job_id] = keep(known.get(result.job_id), result)

    assert ledger.results("run", "digest") == known
    ledger.close()


def test_results_of_other_skills_and_runs_stay_apart(store_url: str) -> None:
    """A skill's results are asked for by run and digest."""
    ledger = opened(store_url)
    ledger.begin("other", mode="live", catalog="catalog", stamps={})
    mine = judged(task("a"), Outcome.PASS, 1.0)
    theirs = replace(judged(task("b"), Outcome.PASS, 1.0), run_id="other")

    ledger.record([mine, theirs])

    assert set(ledger.results("run", "digest")) == {"a"}
    ledger.close()


def test_records_come_in_the_order_of_the_catalog(store_url: str) -> None:
    """Whatever order skills finish in, their lines come back by position, each once."""
    ledger = opened(store_url)

    ledger.enter("run", [(2, "c", "certified", 95.0, b"two")])
    ledger.enter("run", [(0, "a", "rejected", None, b"zero"), (2, "c", "certified", 95.0, b"again")])

    assert list(ledger.records("run")) == [b"zero", b"two"]
    ledger.close()


def test_a_full_disk_is_told_with_the_stores_name(tmp_path: Path) -> None:
    """What was saved before is still there."""
    ledger = opened(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    first, second = judged(task("a"), Outcome.PASS, 1.0), judged(task("b"), Outcome.PASS, 1.0)
    ledger.save("run", [first], [])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        with pytest.raises(LedgerError, match=r"ledger\.sqlite: the store does not answer any more"):
            ledger.save("run", [second], [])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    found = ledger.results("run", first.skill_digest)
    ledger.close()

    assert set(found) == {first.job_id}


def test_a_server_that_throws_us_out_loses_no_result(postgres: PrivatePostgres) -> None:
    """Its connections end in mid-run, as when it is restarted; the next batch is saved all the same."""
    url = postgres.database()
    ledger = opened(url)
    first, second = judged(task("a"), Outcome.PASS, 1.0), judged(task("b"), Outcome.PASS, 1.0)
    ledger.save("run", [first], [])
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )

    ledger.save("run", [first, second], [])
    found = ledger.results("run", first.skill_digest)
    ledger.close()

    assert set(found) == {first.job_id, second.job_id}


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("nonsense", "expected a store like sqlite:///FILE"),
        ("mysql://me:secret@host/db", "expected a sqlite or postgresql store"),
        ("sqlite:////proc/nowhere/ledger.sqlite", "the store cannot be opened"),
    ],
)
def test_a_store_that_cannot_be_opened_is_named_without_its_password(url: str, told: str) -> None:
    """The error says what was expected, and keeps the password to itself."""
    with pytest.raises(LedgerError) as refused:
        Ledger.open(url)

    assert told in str(refused.value)
    assert "secret" not in str(refused.value)
