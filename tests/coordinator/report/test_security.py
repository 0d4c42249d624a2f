from __future__ import annotations

import pytest

from coordinator import policy
from coordinator.certify import Decision, Mode
from coordinator.record import PillarLine, Record, SkillName, Stamps, line
from coordinator.report import markdown, security
from coordinator.report.report import CertificationReport
from coordinator.tally import Finding
from payloads.loader import CATEGORIES
from workers.wire.job import Pillar
from workers.wire.result import Outcome

HOSTILE = "through input “text”: <img src=x>|[x](http://evil.example)\n# heading\x1b[31m; 2 of 2 replays hit"


def finding(probe: str, outcome: Outcome, category: str | None, evidence: str = "seen") -> Finding:
    return Finding(
        probe=probe,
        pillar=Pillar.SECURITY,
        category=category,
        severity="high",
        outcome=outcome,
        score=None,
        evidence=evidence,
    )


def record(*findings: Finding) -> Record:
    return Record(
        skill=SkillName(id="tea", name="Tea", version="1.0.0", digest="sha256:d", source="tea.json"),
        run_id="run",
        mode=Mode.LIVE,
        verdict=Decision.NOT_CERTIFIED,
        reasons=("because",),
        overall=50.0,
        band="Substantial concerns",
        pillars={pillar.value: PillarLine(score=50.0, live=50.0, static=None, coverage=1.0) for pillar in Pillar},
        latency_ms=None,
        findings=findings,
        stamps=Stamps(engine="0", policy="p", corpus="c", benchmarks={}, origin="first-run"),
    )


def report(*findings: Finding) -> list[str]:
    """The lines of report.md about a skill with these *findings*."""
    told = CertificationReport(
        run_id="run",
        policy=policy.load(),
        lines=lambda: iter([line(record(*findings))]),
        requests=lambda _: {Pillar.SECURITY: 27, Pillar.FUNCTIONAL: 3},
    )
    return "".join(markdown.render(told)).splitlines()


def test_every_category_has_its_advice() -> None:
    """Whatever category an attack of the corpus is of, the report says in one sentence what to do."""
    assert set(security.ADVICE) == set(CATEGORIES)
    assert all(text.endswith(".") and ". " not in text for text in security.ADVICE.values())


def test_the_report_shows_what_was_found_and_what_to_do() -> None:
    """Each attack that counts stands under its category with evidence and advice, the others in the count."""
    lines = report(
        finding(
            "PI-02", Outcome.EXPLOITED, "prompt_injection", "through input “text”: it came back; 2 of 2 replays hit"
        ),
        finding("PI-01", Outcome.RESISTED, "prompt_injection"),
        finding("EN-01", Outcome.INCONCLUSIVE, "encoding", "so it shows what the skill does anyway"),
    )

    told = lines[lines.index("### Security") :]
    assert "3 attacks, 27 requests: 1 exploited, 1 inconclusive, 1 resisted." in told
    assert security.WHY in told
    assert f"**Prompt injection.** {security.ADVICE['prompt_injection']}" in told
    assert "**Encoding.**" in told
    assert any(one.startswith("- `exploited` **PI-02** (high): through input “text”") for one in told)
    assert not any("PI-01" in one for one in told)


def test_a_clean_skill_is_given_no_advice() -> None:
    """Where every attack was resisted there is the count, and nothing to do."""
    lines = report(finding("PI-01", Outcome.RESISTED, "prompt_injection"))

    assert "1 attack, 27 requests: 1 resisted." in lines
    assert security.WHY not in lines
    assert not any(advice in one for one in lines for advice in security.ADVICE.values())


@pytest.mark.parametrize("category", CATEGORIES)
def test_evidence_is_shown_as_text(category: str) -> None:
    """No markup, control character or line of a skill gets into the report, and long evidence is cut."""
    lines = report(finding("PI-01", Outcome.EXPLOITED, category, HOSTILE * 200))

    told = next(one for one in lines if one.startswith("- `exploited`"))
    assert "\\<img src=x\\>" in told
    assert "](http://" not in told
    assert "\x1b" not in told
    assert "# heading" not in lines
    assert len(told) < 4_000


def test_what_is_no_attack_stays_where_it_was() -> None:
    """A security finding without a category of the corpus is listed with the other findings."""
    lines = report(finding("hygiene/nul", Outcome.FAIL, None, "status 500"))

    assert "### Security" not in lines
    assert any("hygiene/nul" in one for one in lines)


def test_a_report_on_stored_answers_says_so() -> None:
    """Whoever reads it sees that nobody was called, and which run was."""
    assert any("judged again from the answers of run `first-run`" in one for one in report())
