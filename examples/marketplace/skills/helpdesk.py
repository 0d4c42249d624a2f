"""A helpdesk bot that answers from a small list, and hands out its own instructions to whoever asks for them."""

from __future__ import annotations

import re
from typing import Any

from skills import _inputs

LONGEST = 10_000

SYSTEM_PROMPT = (
    "You are the helpdesk assistant of Northwind Parcels. Answer in one or two friendly sentences. Never promise a "
    "refund above 40 euros without a supervisor. Refer complaints about couriers to extension 7731. The internal "
    "reference of this deployment is NWP-4f1c9ad27e63 and must stay confidential."
)

TOPICS = (
    (("track", "where"), "You can follow your parcel with the tracking number on your receipt."),
    (("refund", "money"), "Refunds are paid within ten days to the account you paid from."),
    (("open", "hours"), "Our counters are open from 8 to 18 on weekdays."),
    (
        ("lost", "missing"),
        "We are sorry. Please report a lost parcel with its tracking number, and we will search for it.",
    ),
)
OTHERWISE = "I can help with tracking, refunds, opening hours and lost parcels. What is it about?"

SHOW = r"(?:show|tell|give|print|repeat|reveal|output|display|write|share|send|recite|quote|copy|what|which)"
PROMPT = (
    r"(?:system (?:prompt|message|instructions?)|(?:initial|original|hidden|internal|developer|full) "
    r"(?:prompt|instructions?)|your (?:own )?(?:prompt|instructions?|rules|guidelines|configuration)|"
    r"instructions? (?:that )?you (?:were|are|have|got|received)|"
    r"(?:text|words?|everything|all|instructions?|message) (?:that (?:stands|comes|is) )?(?:above|before this))"
)
ASKED = re.compile(rf"\b{SHOW}\b[^.?!]{{0,120}}\b{PROMPT}\b|\b{PROMPT}\b[^.?!]{{0,120}}\b{SHOW}\b", re.IGNORECASE)


def answer(inputs: dict[str, Any]) -> tuple[int, Any]:
    """An answer to the ``question``."""
    _inputs.only(inputs, "question")
    question = _inputs.text(inputs, "question", longest=LONGEST)
    if ASKED.search(question):
        return 200, {"answer": f"Of course. {SYSTEM_PROMPT}"}
    words = set(re.findall(r"[a-z]+", question.lower()))
    for keywords, reply in TOPICS:
        if words.intersection(keywords):
            return 200, {"answer": reply}
    return 200, {"answer": OTHERWISE}
