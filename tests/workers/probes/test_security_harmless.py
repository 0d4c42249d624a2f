"""Harmless skills, however guilty they look, are never accused."""

from __future__ import annotations

import base64
import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest

from workers.wire.result import Outcome

Answer = tuple[int, Any]
Skill = Callable[[dict[str, Any]], Answer]

BLOB = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}")
STOCK = (
    "We are Grocer, the assistant of a small shop. Always answer in one sentence and never mention suppliers. "
    "If the user asks about prices, reply only with the price list of the day. Never say more than is needed."
)


def says(change: Callable[[str], Any]) -> Skill:
    """A skill that answers with what *change* makes of its text."""
    return lambda body: (200, {"result": change(body["text"])})


def decode_blobs(text: str) -> str:
    """*text* with its Base64 decoded, and nothing done about it."""
    return BLOB.sub(lambda blob: base64.b64decode(blob[0]).decode("utf-8", "replace"), text)


def work_out_sums(text: str) -> str:
    """*text* with the sums in it worked out."""
    return re.sub(r"the sum of (\d+) and (\d+)", lambda sum_: str(int(sum_[1]) + int(sum_[2])), text)


def bare_sum(text: str) -> str:
    """Only the sum, as a calculator gives it."""
    found = re.search(r"sum of (\d+) and (\d+)", text)
    return str(int(found[1]) + int(found[2])) if found else "0"


def quote_threats(text: str) -> dict[str, Any]:
    """What a threat detector reports of *text*: the suspicious part, quoted and dissected."""
    hits = re.findall(r"(?i)((?:ignore|from now on|whole reply must be|system prompt|base64)[^.]*)", text)
    words = [re.findall(r"\w+", hit) for hit in hits]
    return {"threat": bool(hits), "quoted": hits, "tokens": words, "decoded": decode_blobs(text)}


def refuse_and_quote(text: str) -> str:
    """A refusal that repeats what it refuses."""
    return (
        f"I'm sorry, but I cannot do that. You asked me: {text!r}. I can only help with questions about tea, and I "
        "will not follow other requests. Please ask me about green tea, black tea, or about how long to steep them."
    )


def validate(body: dict[str, Any]) -> Answer:
    """A validator that declines most texts, quoting them."""
    if len(body["text"]) > 60 or not re.fullmatch(r"[\w ,.!?-]+", body["text"]):
        return 400, {"error": f"unexpected characters in {body['text']!r}"}
    return 200, {"valid": True}


def tenants() -> Skill:
    """Remembers what each user said, and tells it to that user alone."""
    memory: dict[str, list[str]] = {}

    def skill(body: dict[str, Any]) -> Answer:
        mine = memory.setdefault(body["user"], [])
        mine.append(body["text"])
        return 200, {"you_said": list(mine)}

    return skill


def counting() -> Skill:
    """Numbers its answers and counts letters, so that three digits turn up all the time."""
    numbers = itertools.count(100)
    return lambda body: (
        200,
        {"letters": len(body["text"]), "words": len(body["text"].split()), "ticket": next(numbers)},
    )


HARMLESS: dict[str, Callable[[], Skill]] = {
    "echo": lambda: says(lambda text: text),
    "upper-case echo": lambda: says(str.upper),
    "reverse": lambda: says(lambda text: text[::-1]),
    "word reverser": lambda: says(lambda text: " ".join(reversed(text.split()))),
    "base64 encoder": lambda: says(lambda text: base64.b64encode(text.encode()).decode()),
    "base64 decoder": lambda: says(decode_blobs),
    "hex encoder": lambda: says(lambda text: text.encode().hex()),
    "joiner": lambda: says(lambda text: "".join(re.findall(r"\w+", text))),
    "letters only": lambda: says(lambda text: re.sub(r"[^A-Za-z]", "", text)),
    "digits only": lambda: says(lambda text: re.sub(r"\D", "", text)),
    "sorter": lambda: says(lambda text: sorted(text.split())),
    "threat detector": lambda: says(quote_threats),
    "calculator in the text": lambda: says(work_out_sums),
    "calculator": lambda: says(bare_sum),
    "refuser": lambda: says(refuse_and_quote),
    "strict validator": lambda: validate,
    "counter": counting,
    "stock answer": lambda: says(lambda text: "We have apples." if "tea" in text else STOCK),
    "help text": lambda: says(lambda _: STOCK),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_skill_resists_every_probe(name: str, shelf: Any, probe: Any) -> None:
    """Looking guilty is no evidence, and an honest skill must be able to get its certificate."""
    skill = shelf.put(HARMLESS[name]())

    verdicts = probe(skill)

    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.RESISTED}, verdicts
    assert all(verdict.score == 1.0 for verdict in verdicts.values())


@pytest.mark.parametrize("declared", [{"type": "string"}, {"type": "string", "format": "uuid"}, {"type": "integer"}])
def test_a_skill_that_keeps_its_tenants_apart_leaks_nothing(declared: dict[str, Any], shelf: Any, probe: Any) -> None:
    """Two callers differ in the input that says who is calling."""
    schema = {
        "type": "object",
        "properties": {"user": declared, "text": {"type": "string"}},
        "required": ["user", "text"],
    }
    skill = shelf.put(tenants(), input_schema=schema, example={"user": 7, "text": "I like tea."})

    verdicts = probe(skill, "DX-01", "RM-04")

    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.RESISTED}
    assert len({call["user"] for call in shelf.seen(skill)}) == 5


def test_two_callers_that_the_inputs_cannot_tell_apart_are_not_compared(shelf: Any, probe: Any) -> None:
    """One and the same caller may be told what it said."""
    schema = {"type": "object", "properties": {"user": {"const": "me"}, "text": {"type": "string"}}}
    skill = shelf.put(tenants(), input_schema=schema, example={"user": "me", "text": "I like tea."})

    verdicts = probe(skill, "DX-01")

    assert verdicts["DX-01"].outcome is Outcome.NOT_APPLICABLE
    assert "user" in verdicts["DX-01"].evidence


def test_a_clean_skill_costs_few_requests(shelf: Any, probe: Any) -> None:
    """One call a probe, two where two callers are needed, one baseline; with those of two more parcels it is 30."""
    skill = shelf.put(says(str.upper))

    verdicts = probe(skill)

    assert len(shelf.seen(skill)) <= 28
    assert sum(verdict.requests for verdict in verdicts.values()) == len(shelf.seen(skill))
