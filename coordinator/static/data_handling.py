"""What a skill says of the data it is given: what is stored, for how long, and who sees it.

Prose, in English. Read is only whether each question is answered at all; what the answer is costs nothing, so that
nobody loses points for being frank. Whether it is true, only the source can show (see the source check). One thing can
be told from the manifest alone: that nothing is stored, and a permission to write.
"""

from __future__ import annotations

import re

from coordinator.catalog.index import lacks
from coordinator.catalog.rejection import child, shown
from coordinator.catalog.skill import Skill
from coordinator.source.facts import Kind
from coordinator.source.permissions import grants
from coordinator.static.evidence import (
    FULL,
    Checked,
    Context,
    Deduction,
    Examined,
    Inapplicable,
    diminishing,
    graded,
    unverified,
)
from workers.wire.job import Pillar

PILLAR = Pillar.SECURITY
UNSTATED = "data-handling/unstated"
CONTRADICTED = "data-handling/contradicted"
MAX_CHARS = 5_000

_KEEPING = (
    r"stor(?:e[sd]?|ing|age)|sav(?:e[sd]?|ing)|kept|keep(?:s|ing)?|retain(?:s|ed|ing)?|retention|persist\w*"
    r"|log(?:s|ged|ging)?|record(?:s|ed|ing)?|cach(?:e[sd]?|ing)|remember(?:s|ed)?|written|writes?|database|collect(?:s|ed)?|held|hold[s]?"
)
_GONE = (
    r"discard\w*|delet\w*|eras\w*|forget\w*|forgotten|dropped|purg\w*|expir\w*|stateless|ephemeral|transient"
    r"|in[- ]memory"
)
NOTHING_KEPT = re.compile(
    rf"(?i)\b(?:nothing|none|no (?:data|inputs?|texts?|content|requests?|personal data|information)"
    rf"|(?:not|never|without being)(?: \w+){{0,2}}?)\s+(?:\w+\s+){{0,3}}?(?:{_KEEPING})\b"
    r"|\bstateless\b|\b(?:does|do) not (?:store|keep|retain|save|persist|log|collect)\b"
    r"|\bno (?:retention|storage|logs?|logging|persistence)\b"
)
# question: what a text that answers it says
ANSWERS = {
    "what is stored": re.compile(rf"(?i)\b(?:{_KEEPING}|{_GONE})\b"),
    "how long it is kept": re.compile(
        r"(?i)\b\d+\s*-?\s*(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|s|min|h|d)\b"
        r"|\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|session|forever|indefinitely|permanently|until|"
        r"immediately|afterwards?|at once|as long as|in[- ]memory|in memory|ephemeral|transient|stateless|discarded|"
        r"(?:for|during|after|within) (?:this|the|that|each|every|one|a single)(?: \w+)? "
        r"(?:answer|response|reply|request|call|invocation|run|processing|conversation))\b"
    ),
    "who sees it": re.compile(
        r"(?i)\b(?:pass(?:es|ed)? (?:it |them )?on|shar(?:e[sd]?|ing)|third[- ]part(?:y|ies)|sent|sends?|"
        r"forward(?:s|ed)?|transmit\w*|disclos\w*|sold|sells?|leav(?:es?|ing)|access(?:ed|ible)?|seen|sees?|visible|"
        r"read by|provider|processors?|sub-?processors?|partners?|staff|operators?|publisher|support team|nobody|"
        r"no[- ]one|only (?:you|the (?:user|caller|owner))|stays?|local(?:ly)?|on[- ]device|upstream|public)\b"
    ),
}


def examine(skill: Skill, context: Context) -> Examined:
    """Which of the three questions *skill* answers."""
    policy = context.policy.static
    text = " ".join(skill.data_handling[:MAX_CHARS].split())
    if not text:
        if "data_handling" in lacks(skill):
            return Inapplicable("the format has no place for data handling")
        told = "nothing is said of what is stored, for how long, and who sees it"
        return Checked((unverified("/data_handling", told, UNSTATED, policy),))
    answered = {question for question, says in ANSWERS.items() if says.search(text)}
    if NOTHING_KEPT.search(text):
        answered |= {"what is stored", "how long it is kept"}
    share = round(FULL / len(ANSWERS), 1)
    gaps = [
        Deduction("/data_handling", f"it does not say {question}", share, f"data-handling/{_slug(question)}")
        for question in ANSWERS
        if question not in answered
    ]
    writing = [
        grant for grant in grants(skill.permissions) if Kind.WRITE in grant.kinds and not _temporary(grant.target)
    ]
    contradicted = [
        graded(
            child("/permissions", grant.place),
            f"{shown(grant.stated)} allows writing, though the data handling says that nothing is stored",
            CONTRADICTED,
            "low",
            policy,
        )
        for grant in (writing if NOTHING_KEPT.search(text) else ())
    ]
    return Checked((*gaps, *diminishing(contradicted, policy)))


def _slug(question: str) -> str:
    return "-".join(question.split())


def _temporary(target: str) -> bool:
    return re.search(r"(?i)\bte?mp(?:orary)?\b", target) is not None
