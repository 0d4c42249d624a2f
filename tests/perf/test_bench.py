"""The bench itself runs, in the small: what it measures is the product's own path, and every skill passes."""

from __future__ import annotations

from pathlib import Path

from coordinator.embedded import EmbeddedFleet
from tests.perf import waiting
from tests.perf.catalog import write_benchmark, write_catalog
from tests.perf.evaluation import Work, run
from tests.perf.scale import Answering
from tests.perf.target import target


def test_an_evaluation_is_run_to_its_end(tmp_path: Path) -> None:
    """Every skill of the catalog is called for its tasks and its latencies, and passes."""
    benchmark = write_benchmark(tmp_path / "sums.json", 3)
    with target(2) as ports:
        catalog = write_catalog(tmp_path / "catalog.jsonl", ports, 3)
        work = Work(
            catalog=catalog, benchmark=benchmark, store=f"sqlite:///{tmp_path}/l.sqlite", limits={"parcel_jobs": 2}
        )

        took = run(work, lambda _: EmbeddedFleet(concurrency=2))
        timed = run(
            Work(catalog=catalog, benchmark=benchmark, store=work.store, latencies=True),
            lambda _: EmbeddedFleet(concurrency=2),
        )

    assert took.verdicts == {"passed": 3}
    assert timed.verdicts == {"passed": 3}


def test_skills_answered_in_memory_pass(tmp_path: Path) -> None:
    """Without a worker the coordinator's own path is the same: planned, sent, collected and entered."""
    work = Work(
        catalog=write_catalog(tmp_path / "catalog.jsonl", range(8001, 8005), 40),
        benchmark=write_benchmark(tmp_path / "sums.json"),
        store=f"sqlite:///{tmp_path}/l.sqlite",
    )

    took = run(work, lambda _: Answering())

    assert took.verdicts == {"passed": 40}


def test_the_shortest_time_counts_the_cap_and_the_series() -> None:
    """Eight skills on a host: 160 tasks at eight at once, then eight series of 21 requests side by side."""
    assert waiting.shortest_s(8) == 0.1 * (20 + 21)
    assert waiting.shortest_s(9) > waiting.shortest_s(8) + 0.1 * 21
