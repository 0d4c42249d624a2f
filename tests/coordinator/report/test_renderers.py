from __future__ import annotations

import io
import json
from pathlib import Path

import msgspec
from rich.console import Console

from coordinator import policy, record
from coordinator.certify import Decision, Mode
from coordinator.record import Header, Latency, PillarLine, Record, SkillName, Stamps
from coordinator.report import jsonl, markdown, table
from coordinator.tally import Finding
from workers.wire.job import Pillar
from workers.wire.result import Outcome

HOSTILE = "<img src=x onerror=alert(1)>|**bold**\x1b[31m\u202e](http://evil.example)\n# heading"
HEADER = Header(
    run_id="run", mode=Mode.LIVE, stamps=Stamps(engine="0", policy="sha256:p", corpus="sha256:c", benchmarks={"b": "d"})
)


def hostile() -> Record:
    """A record in which everything that a skill supplies is hostile."""
    return Record(
        skill=SkillName(id=HOSTILE, name=HOSTILE, version=HOSTILE, digest="sha256:d", source=HOSTILE),
        run_id="run",
        mode=Mode.LIVE,
        verdict=Decision.NOT_CERTIFIED,
        reasons=(HOSTILE,),
        overall=89.96,
        band="Good",
        pillars={pillar.value: PillarLine(score=89.96, live=89.96, static=None, coverage=1.0) for pillar in Pillar},
        latency_ms=Latency(p50=1.0, p95=2.0, p99=3.0, samples=(1.0,), uncertainty=0.1),
        findings=(
            Finding(
                probe=HOSTILE,
                pillar=Pillar.SECURITY,
                category="encoding",
                severity="high",
                outcome=Outcome.EXPLOITED,
                score=0.0,
                evidence=HOSTILE,
            ),
        ),
        stamps=HEADER.stamps,
    )


def shown_table(*records: Record) -> str:
    stream = io.StringIO()
    table.show(Console(file=stream, width=400), records, policy.load())
    return stream.getvalue()


def test_the_table_shows_hostile_text_as_text() -> None:
    """No control character of a skill reaches the terminal, and its markup is not rich's."""
    shown = shown_table(hostile())

    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert r"\x1b[31m\u202e" in shown


def test_the_report_shows_hostile_text_as_text() -> None:
    """No HTML, no heading, no table cell and no link of a skill reaches the report."""
    lines = list(markdown.render(lambda: [hostile()], policy.load()))

    assert not any("<img" in line.replace(r"\<img", "") for line in lines)
    assert not any("](http://" in line for line in lines)
    assert [line for line in lines if line.startswith("# ")] == ["# Certification report"]
    row = next(line for line in lines if line.startswith(r"| \<img"))
    assert row.replace(r"\|", "").count("|") == 10


def test_a_record_survives_its_line() -> None:
    """What is written to results.jsonl reads back as the same record, and is one ASCII line."""
    line = record.line(hostile())

    assert record.parse(line) == hostile()
    assert line.isascii()
    assert b"\n" not in line


def test_results_replace_the_file_whole(tmp_path: Path) -> None:
    """A new run's results replace an older run's, with no partial file left behind."""
    jsonl.write(tmp_path, [b"{}", b"{}"])

    path = jsonl.write(tmp_path, [record.line(hostile())])

    assert [json.loads(line)["run_id"] for line in path.read_text("ascii").splitlines()] == ["run"]
    assert [file.name for file in tmp_path.iterdir()] == ["results.jsonl"]


def test_no_figure_pretends_to_meet_a_threshold() -> None:
    """89.96 is shown as 89.9, in table and report."""
    report = "\n".join(markdown.render(lambda: [hostile()], policy.load()))

    assert "89.9" in shown_table(hostile())
    assert "| 89.9 | Good |" in report


def test_an_empty_catalog_has_a_report_too() -> None:
    """Nothing to say is said."""
    assert "The catalog holds no skill." in list(markdown.render(list, policy.load()))


def test_a_rejected_entry_is_named_by_its_file() -> None:
    """Without an id the table shows the end of the entry's path."""
    rejected = msgspec.structs.replace(
        hostile(),
        skill=SkillName(id=None, name=None, version=None, digest=None, source="/a/b/shop/sxm-manifest.json#/inputs"),
        verdict=Decision.REJECTED,
        overall=None,
        pillars={},
        latency_ms=None,
    )

    assert "shop/sxm-manifest.json" in shown_table(rejected)
