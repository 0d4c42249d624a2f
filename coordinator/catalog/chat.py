"""Manifests whose endpoint is talked to: ``{base}/chat/completions`` as the OpenAI-compatible servers have it.

An endpoint is one if its path says so, or the manifest does (``"protocol": "chat"`` or ``"platform": "chat"``, ours);
``model`` is the name under which it knows the assistant. The answer to a chat is a text. Where the manifest declares
one output that is a text, or untyped, that text is this output, and a test case that expects an object with this one
member means the text in it. Where it declares anything else, the text must be the JSON of it.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import msgspec

from coordinator.catalog.fields import Fields
from coordinator.catalog.skill import Skill, TestCase
from workers.wire.skill import Access

PATH = "/chat/completions"
CHAT = "chat"


def is_chat(fields: Fields, url: str) -> bool:
    """Whether the endpoint *url* of a manifest is talked to."""
    if CHAT in (fields.value.get("protocol"), fields.value.get("platform")):
        return True
    return urlsplit(url).path.rstrip("/").endswith(PATH)


def chat_access(fields: Fields, url: str, auth: dict[str, Any] | None) -> Access:
    """The way in to the assistant at *url*.

    Raises:
        Rejected: If the manifest names no model.
    """
    fields.get("model", "the name of the model, which a chat endpoint has to be told")
    options: dict[str, Any] = {"model": fields.line("model", required=True)}
    if auth:
        options["auth"] = auth
    return Access(adapter=CHAT, endpoint=url, options=options)


def spoken(skill: Skill) -> Skill:
    """*skill*, its declared outputs as a chat can give them."""
    if skill.access is None or skill.access.adapter != CHAT:
        return skill
    named = [one for one in skill.outputs if one.name]
    if not named:
        return msgspec.structs.replace(skill, output_schema={"type": "string"})
    if len(named) == 1 and named[0].schema.get("type", "string") == "string":
        output = named[0]
        return msgspec.structs.replace(
            skill,
            output_schema={"type": "string", **output.schema},
            test_cases=tuple(_unwrapped(case, output.name) for case in skill.test_cases),
        )
    options = {**skill.access.options, "answer": "json"}
    return msgspec.structs.replace(skill, access=msgspec.structs.replace(skill.access, options=options))


def _unwrapped(case: TestCase, output: str) -> TestCase:
    if isinstance(case.expected, dict) and case.expected.keys() == {output}:
        return msgspec.structs.replace(case, expected=case.expected[output])
    return case
