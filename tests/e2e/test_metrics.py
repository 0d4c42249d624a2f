from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.command import Command, Marketplace, finished, until

LOOPBACK = ("--allow-network", "127.0.0.0/8")


def logged(process: subprocess.Popen[str], event: str) -> dict[str, Any]:
    """The first log line with this event."""
    assert process.stderr is not None
    for text in process.stderr:
        try:
            line: dict[str, Any] = json.loads(text)
        except ValueError:
            continue
        if line.get("event") == event:
            return line
    raise AssertionError(f"{event!r} was not logged")


def scraped(port: int) -> Iterator[tuple[str, dict[str, str], float]]:
    """Name, labels and value of every sample at /metrics."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            yield sample.name, dict(sample.labels), sample.value


def total(port: int, name: str, **labels: str) -> float:
    """The sum of the samples called *name* with these labels."""
    return sum(value for found, has, value in scraped(port) if found == name and labels.items() <= has.items())


def test_a_run_serves_metrics_while_it_lasts(marketplace: Marketplace, skillmark: Command) -> None:
    """Jobs by pillar and outcome, durations, jobs in flight and certifications, without ids among the labels."""
    catalog = marketplace.catalog("catalog", "calculator", "capital-finder")

    process = skillmark("certify", catalog, *LOOPBACK, "--metrics", "127.0.0.1:0")
    port = logged(process, "metrics")["port"]
    until(
        lambda: total(port, "skillmark_certifications_total", verdict="certified") == 1, "the quick skill is certified"
    )
    samples = list(scraped(port))
    names = {name for name, _, _ in samples}
    labels = {label for name, has, _ in samples if name.startswith("skillmark") for label in has}
    passed = total(port, "skillmark_jobs_total", pillar="functional", outcome="pass")
    code, _, _ = finished(process)

    assert code == 0
    assert {"skillmark_jobs_in_flight", "skillmark_probe_duration_seconds_bucket"} <= names
    assert {"skillmark_coordinator_jobs_ended_total", "skillmark_coordinator_jobs_in_flight"} <= names
    assert labels <= {"pillar", "outcome", "verdict", "le"}
    assert passed > 0


def test_a_static_run_serves_metrics_too(tmp_path: Path, skillmark: Command) -> None:
    """Nobody is called, so there are no jobs; the verdicts are counted as they come."""
    skill = {"version": "1.0.0", "description": "Adds.", "inputs": ["a"], "outputs": ["sum"]}
    place = tmp_path / "skills.jsonl"
    place.write_text("\n".join(json.dumps({**skill, "name": f"Adder {number}"}) for number in range(20_000)))

    process = skillmark("certify", place, "--mode", "static", "--metrics", "127.0.0.1:0")
    port = logged(process, "metrics")["port"]
    until(lambda: total(port, "skillmark_certifications_total", verdict="not_certified") > 0, "a skill is judged")

    assert process.poll() is None


def test_workers_metrics_add_up_over_processes(marketplace: Marketplace, skillmark: Command, broker_url: str) -> None:
    """One page for all processes of a worker: what they counted together is what the run had."""
    catalog = marketplace.catalog("catalog", "calculator", "text-tool", "unit-converter")
    workers = skillmark("worker", "--broker", broker_url, "--processes", "2", "--metrics", "127.0.0.1:0")
    port = logged(workers, "metrics")["port"]

    code, stdout, _ = finished(skillmark("certify", catalog, *LOOPBACK, "--broker", broker_url, "--json"))
    findings = [one for record in json.loads(stdout)["results"] for one in record["findings"]]
    jobs = [one for one in findings if "location" not in one]  # the others are of static checks

    assert code == 0
    assert total(port, "skillmark_jobs_total") == len(jobs)
    assert total(port, "skillmark_probe_duration_seconds_count") == len(jobs)
    assert total(port, "skillmark_jobs_in_flight") == 0
    for pillar in ("functional", "security", "performance"):
        assert total(port, "skillmark_jobs_total", pillar=pillar) == sum(one["pillar"] == pillar for one in jobs)
