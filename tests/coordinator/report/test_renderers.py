from __future__ import annotations

import io
import json
from csv import reader
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from coordinator import policy, record, scorecard
from coordinator.certify import Decision, Mode
from coordinator.cli import _results
from coordinator.record import Header, Latency, PillarLine, Record, SkillName, Stamps
from coordinator.report import csv, formats, html, jsonl, markdown, table
from coordinator.report import json as json_report
from coordinator.report.report import CertificationReport, EvaluationReport
from coordinator.scorecard import Grade, Measures, Percentiles, Scorecard
from coordinator.settings import SettingsError
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


def hostile_card() -> Scorecard:
    """The same of an evaluation."""
    one = hostile()
    return Scorecard(
        skill=one.skill,
        run_id="run",
        verdict=Grade.FAILED,
        reasons=one.reasons,
        measures=Measures(
            tasks=3,
            runs=2,
            planned=6,
            judged=6,
            passed=4,
            completion_rate=0.69996,
            partial_score=0.7,
            error_rate=0.0,
            consistency=0.9,
            latency_ms=Percentiles(p50=1.0, p95=2.0, p99=3.0),
            composite=0.8,
            coverage=1.0,
            groups={HOSTILE: 0.7},
            flaky=(HOSTILE,),
        ),
        findings=one.findings,
        stamps=scorecard.Stamps(engine="0", policy="sha256:p", benchmarks={HOSTILE: "d"}, min_completion=0.7),
    )


def report_of(*records: Record, interrupted: bool = False) -> CertificationReport:
    return CertificationReport(
        run_id="run",
        policy=policy.load(),
        interrupted=interrupted,
        lines=lambda: map(record.line, records),
        requests=lambda _: {Pillar.SECURITY: 30},
    )


def evaluation_of(*cards: Scorecard) -> EvaluationReport:
    return EvaluationReport(run_id="run", policy=policy.load(), lines=lambda: map(scorecard.line, cards))


REPORTS = (report_of(hostile()), evaluation_of(hostile_card()))


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


def test_the_table_of_a_large_catalog_ends_and_says_so() -> None:
    """A table is held in memory; a catalog is not."""
    shown = shown_table(*[hostile()] * 1003)

    assert shown.count("89.9") == 1000
    assert "and 3 more" in shown


def test_the_report_shows_hostile_text_as_text() -> None:
    """No HTML, no heading, no table cell and no link of a skill reaches the report."""
    lines = "".join(markdown.render(report_of(hostile()))).splitlines()

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
    formats.write(tmp_path, (), report_of(hostile(), hostile()))

    (path,) = formats.write(tmp_path, (), report_of(hostile()))

    assert [json.loads(line)["run_id"] for line in path.read_text("ascii").splitlines()] == ["run"]
    assert [file.name for file in tmp_path.iterdir()] == ["results.jsonl"]


def test_no_figure_pretends_to_meet_a_threshold() -> None:
    """89.96 is shown as 89.9, in table and report."""
    report = "".join(markdown.render(report_of(hostile())))

    assert "89.9" in shown_table(hostile())
    assert "| 89.9 | Good |" in report


def test_an_empty_catalog_has_a_report_too() -> None:
    """Nothing to say is said."""
    assert "The catalog holds no skill.\n" in list(markdown.render(report_of()))


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


class Page(HTMLParser):
    """What a browser makes of a page: its tags with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("report", REPORTS)
def test_the_page_shows_hostile_text_as_text(report: CertificationReport | EvaluationReport) -> None:
    """No tag, no attribute and no invisible character of a skill is in the page, and its text is there, spelt out."""
    text = "".join(html.render(report))

    page = Page(text)

    assert not {tag for tag, _ in page.tags} & {"img", "script", "iframe", "object", "link", "base", "form"}
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert not {"\u202e", "\x1b"} & set(text)
    assert r"<img src=x onerror=alert(1)>|**bold**\x1b[31m\u202e](http://evil.example)\n# heading" in page.text


@pytest.mark.parametrize("report", REPORTS)
def test_the_page_needs_nothing_but_itself(report: CertificationReport | EvaluationReport) -> None:
    """Every link leads into the page, nothing is loaded, and a policy forbids it too."""
    page = Page("".join(html.render(report)))

    links = [value for _, attributes in page.tags for name, value in attributes.items() if name in ("href", "src")]
    places = {attributes.get("id") for _, attributes in page.tags}

    assert links
    assert all(link is not None and link[0] == "#" and link[1:] in places for link in links)
    assert any("default-src 'none'" in str(attributes.get("content")) for _, attributes in page.tags)


def test_the_page_tells_what_a_certificate_rests_on() -> None:
    """Figures that pretend nothing, the requests of a pillar, the attack, its evidence, advice, and the stamps."""
    text = Page("".join(html.render(report_of(hostile())))).text

    assert "89.9" in text
    assert "1 attack, 30 requests: 1 exploited." in text
    assert "Normalise and decode inputs" in text
    assert "sha256:c" in text


def test_the_page_of_a_large_catalog_has_no_dead_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows whose skill has no section are there, and are no links; the page says how many."""
    monkeypatch.setattr(html, "DETAILED", 1)

    text = "".join(html.render(report_of(hostile(), hostile(), hostile())))

    assert text.count('href="#skill-') == text.count('id="skill-') == 1
    assert "2 more skills have no section here" in text


def test_a_run_that_was_cut_short_says_so_in_every_report_for_people() -> None:
    """With how to go on; also when no skill was done with."""
    for report in (report_of(hostile(), interrupted=True), report_of(interrupted=True)):
        for renderer in (html, markdown):
            assert "cut short" in "".join(renderer.render(report))
    assert "--resume run" in "".join(html.render(report_of(interrupted=True)))


def test_a_page_of_nothing_is_a_page() -> None:
    """An empty catalog has a page too."""
    assert "There is no skill in this report." in "".join(html.render(report_of()))


@pytest.mark.parametrize("report", REPORTS)
def test_the_markdown_of_both_kinds_has_no_markup_of_a_skill(
    report: CertificationReport | EvaluationReport,
) -> None:
    """One heading of the first level, no tag, no link."""
    text = "".join(markdown.render(report))

    assert [line for line in text.splitlines() if line.startswith("# ")] == [text.splitlines()[0]]
    assert "<img" not in text.replace(r"\<img", "")
    assert "](http://" not in text


def test_no_completion_pretends_to_pass() -> None:
    """69.996% is shown as 69.9%, under a threshold of 70%."""
    for renderer in (html, markdown):
        text = "".join(renderer.render(evaluation_of(hostile_card())))

        assert "69.9%" in text


@pytest.mark.parametrize("report", REPORTS)
def test_a_spreadsheet_gets_rows_and_no_formulas(report: CertificationReport | EvaluationReport) -> None:
    """Each row has a cell for each heading, on one line."""
    text = "".join(csv.render(report))

    header, row = list(reader(io.StringIO(text)))

    assert len(header) == len(row)
    assert header[:5] == ["id", "name", "version", "source", "verdict"]
    assert text.count("\r\n") == 2


@pytest.mark.parametrize("report", REPORTS)
def test_json_is_one_object_with_counts_and_records(report: CertificationReport | EvaluationReport) -> None:
    """The counts name every verdict of that kind of run, the records are the lines of results.jsonl."""
    told = json.loads("".join(json_report.render(report)))

    lines = [json.loads(line) for line in "".join(jsonl.render(report)).splitlines()]

    assert told["run_id"] == "run"
    assert told["results"] == lines
    assert sum(told["counts"].values()) == 1
    assert len(told["counts"]) == 4


def test_the_command_line_offers_every_format_there_is() -> None:
    """A new renderer is a new file; the command line's list must not lag behind."""
    assert set(_results.FORMATS) == set(formats.renderers())


def test_a_format_that_is_not_there_is_refused() -> None:
    """With the names of those that are."""
    with pytest.raises(SettingsError, match="csv, html, json"):
        formats.checked(["pdf"])
