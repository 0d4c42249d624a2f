"""``contains``: how many of the keywords stand in the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workers.evaluators._compared import better, shown, text_of
from workers.evaluators._evaluator import Evaluate, Score, check_shape, switch, texts

KEYWORDS = 1_000
KEYWORD_CHARS = 10_000


def prepare(expected: Mapping[str, Any], options: Mapping[str, Any]) -> Evaluate:
    """Look for ``expected["keywords"]``: matched / total. Upper and lower case are one unless ``caseSensitive``.

    Raises:
        BadExpectation: If there are no keywords, one is empty, or an option is unknown.
    """
    check_shape(("contains",), expected, options, "caseSensitive")
    keywords = texts("keywords", expected, most=KEYWORDS, longest=KEYWORD_CHARS)
    case_sensitive = switch("caseSensitive", expected, options, default=False)

    def folded(text: str) -> str:
        return text if case_sensitive else text.casefold()

    needles = [folded(keyword) for keyword in keywords]

    def score(value: Any) -> Score:
        text = folded(text_of(value))
        missing = [keyword for keyword, needle in zip(keywords, needles, strict=True) if needle not in text]
        found = len(keywords) - len(missing)
        evidence = f"{found} of {len(keywords)} keywords found"
        if missing:
            evidence += f"; missing {shown(missing)} in {shown(value)}"
        return Score(found / len(keywords), evidence)

    return lambda reply: better(reply, score)
