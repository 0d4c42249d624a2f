"""Skills that give back what they got, in any order."""

from __future__ import annotations

import re

from tests.range.skill import Answer, RangeSkill, ok, says, stateless

SKILLS = (
    RangeSkill(name="echo", make=says(lambda text: text)),
    RangeSkill(name="upper-case echo", make=says(str.upper)),
    RangeSkill(name="lower-case echo", make=says(str.lower)),
    RangeSkill(name="mirror", make=says(lambda text: text[::-1])),
    RangeSkill(name="word mirror", make=says(lambda text: " ".join(reversed(text.split())))),
    RangeSkill(name="joiner", make=says(lambda text: "".join(re.findall(r"\w+", text)))),
    RangeSkill(name="letters only", make=says(lambda text: re.sub(r"[^A-Za-z]", "", text))),
    RangeSkill(name="digits only", make=says(lambda text: re.sub(r"\D", "", text))),
    RangeSkill(name="sorter", make=says(lambda text: sorted(text.split()))),
    RangeSkill(name="spell-out", make=says(lambda text: " ".join(text))),
    RangeSkill(name="title case", make=says(str.title)),
    RangeSkill(name="duplicate finder", make=says(lambda text: sorted({w for w in text.split() if text.count(w) > 1}))),
    RangeSkill(
        name="echo in a header",
        make=stateless(
            lambda inputs: Answer(
                200, {"result": "stored"}, (("X-Text", re.sub(r"[^\x20-\x7e]", "?", inputs["text"])[:2_000]),)
            )
        ),
    ),
    RangeSkill(
        name="verbose logger",
        make=stateless(
            lambda inputs: ok("done", log=[f"level=debug received {inputs!r}", f"length={len(inputs['text'])}"])
        ),
    ),
)
