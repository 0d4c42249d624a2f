"""Declared failure modes and limits: what happens when time runs out, at the rate limit, under overload, on bad input.

Whoever builds on a skill has to plan for these four; the rest is the skill's own. Prose, in English: a failure mode is
about those of them that its condition names in plain words. One that says when, but not what the skill does then, is
worth half, and so is a limit that is given as a figure alone (`test_timeout_ms`, `max_requests_per_second`). Whether
the skill does as it says, the live evidence shows.
"""

from __future__ import annotations

import re

from coordinator.catalog.index import lacks
from coordinator.catalog.skill import FailureMode, Skill
from coordinator.static.evidence import FULL, Checked, Context, Deduction, Examined, Inapplicable
from workers.wire.job import Pillar

PILLAR = Pillar.PERFORMANCE
MAX_MODES = 200
MAX_CHARS = 1_000

KINDS = {
    "timeout": (
        "what happens when time runs out",
        re.compile(
            r"(?i)\btime[ -]?(?:d )?outs?\b|\btime[sd] out\b|\b(?:time|latency) limit|\bdeadline|"
            r"\btoo (?:slow|long to answer)|\btakes? (?:too long|longer|more than)\b|"
            r"\b(?:no|late|slow) (?:answer|response|reply)\b|\bhangs?\b|"
            r"\b(?:not|never) (?:answer|respond|reply)\w*|\b(?:504|408)\b"
        ),
    ),
    "rate limit": (
        "what happens at the rate limit",
        re.compile(
            r"(?i)\brate[ -]?limit|\btoo many (?:requests|calls)\b|\bquota|\bthrottl\w*|"
            r"\b(?:requests|calls) (?:per|a|each) (?:second|minute|hour|day)\b|\b429\b|\bburst"
        ),
    ),
    "overload": (
        "what happens under overload",
        re.compile(
            r"(?i)\boverload\w*|"
            r"\b(?:server|service|system|upstream|backend|dependency|database|provider|api|model|host)s? "
            r"(?:\w+ ){0,3}?(?:unavailable|down|busy|offline|unreachable|stopp\w+|restart\w*|fails?|errors?)\b|"
            r"\bunavailab\w*|\boutage|\bcapacity|\bbackpressure|\bqueue (?:is )?full|\b(?:high|heavy|peak) load|"
            r"\bunder load|\bout of memory|\b50[023]\b"
        ),
    ),
    "bad input": (
        "what happens on bad input",
        re.compile(
            r"(?i)\b(?:bad|invalid|malformed|missing|empty|blank|unknown|unsupported|wrong|unexpected|illegal|"
            r"corrupt\w*|non-?\w+|unparsable|unreadable|ambiguous|out[ -]of[ -]range|"
            r"too (?:long|large|big|small|short|many (?!requests|calls)))\b|"
            r"\b(?:is|are|was|were|has|have|does|do) (?:not|no)\b|\b(?:longer|larger|more|greater|fewer|less) than\b|"
            r"\bexceeds?\b|\b4(?:00|04|13|15|22)\b|"
            r"\bno (?:\w+ ){0,2}?(?:match|result|input|text|contract|document)"
        ),
    ),
}
SHARE = FULL / len(KINDS)


def examine(skill: Skill, context: Context) -> Examined:
    """Which of the four *skill* declares with a behaviour; each is worth the same."""
    if not skill.failure_modes and "failure_modes" in lacks(skill):
        return Inapplicable("the format has no place for failure modes")
    modes = skill.failure_modes[:MAX_MODES]
    stated = {"timeout": skill.timeout_ms is not None, "rate limit": skill.max_requests_per_second is not None}
    told = []
    for kind, (question, says) in KINDS.items():
        about = [mode for mode in modes if _about(mode, kind, says)]
        if any(mode.behaviour.strip() for mode in about):
            continue
        rule = f"failure-modes/{kind.replace(' ', '-')}"
        if about or stated.get(kind, False):
            told.append(Deduction("/failure_modes", f"{question} is not said, only when", SHARE / 2, rule))
        else:
            told.append(Deduction("/failure_modes", f"{question} is not said", SHARE, rule))
    return Checked(tuple(told))


def _about(mode: FailureMode, kind: str, says: re.Pattern[str]) -> bool:
    condition = mode.condition[:MAX_CHARS]
    if not says.search(condition):
        return False
    # "The upstream does not answer" is a time-out or an outage; that it "does not" makes it no bad input.
    return kind != "bad input" or not any(other.search(condition) for name, (_, other) in KINDS.items() if name != kind)
