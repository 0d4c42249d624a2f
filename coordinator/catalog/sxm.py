"""skillmark (SXM) manifests, in both published shapes.

Members that the format does not know are left alone: publishers add their own. Where inputs are told in prose, the
skill can be read but not called, so prose is refused as soon as there is a ``test_endpoint``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coordinator.catalog.access import auth_reference, endpoint
from coordinator.catalog.canonical import digest
from coordinator.catalog.chat import chat_access, is_chat, spoken
from coordinator.catalog.example import example, is_guessed
from coordinator.catalog.fields import Fields
from coordinator.catalog.identity import skill_id
from coordinator.catalog.parameters import object_schema, parameters
from coordinator.catalog.rejection import Rejected, child, shown
from coordinator.catalog.skill import FailureMode, Parameter, Skill, TestCase
from workers.wire.skill import Access, Planted

FILE_NAMES = ("sxm-manifest.json", "skillmark.json")
DESCRIBED = "SXM (name, version, description, inputs, outputs)"
LACKS: frozenset[str] = frozenset()
REQUIRED = ("name", "version", "description", "inputs", "outputs")
MAX_LIST = 1_000
MAX_TIMEOUT_MS = 600_000
MAX_RATE = 10_000


def recognises(document: dict[str, Any]) -> bool:
    """Whether *document* means to be an SXM manifest: it has inputs and outputs, or most of what is required."""
    return "adapterType" not in document and sum(name in document for name in REQUIRED) >= 3


def read(document: dict[str, Any], *, source: str, pointer: str, folder: Path | None) -> Skill:
    """The skill that *document* describes; it stands at *pointer* of *source*, in *folder*.

    Raises:
        Rejected: If it cannot be certified as it is.
    """
    fields = Fields(document, "")
    name = fields.line("name", required=True)
    version = fields.line("version", required=True)
    description = fields.text("description", required=True)
    inputs = parameters(fields, "inputs", {"type": "string"})
    outputs = parameters(fields, "outputs", {})
    access = _access(fields)
    if access:
        _refuse_prose(inputs)
    skill = Skill(
        id=skill_id(fields, name),
        name=name,
        version=version,
        digest=digest(document),
        format="sxm",
        source=source,
        pointer=pointer,
        description=description,
        platform=fields.line("platform"),
        category=fields.line("category"),
        author=fields.line("author"),
        author_email=fields.line("author_email"),
        scope=fields.text("scope"),
        data_handling=fields.text("data_handling"),
        inputs=inputs,
        outputs=outputs,
        input_schema=object_schema(inputs),
        output_schema=object_schema(outputs) if any(output.name for output in outputs) else None,
        example=example(inputs),
        guessed=is_guessed(inputs),
        failure_modes=_failure_modes(fields),
        dependencies=fields.texts("dependencies", most=MAX_LIST),
        permissions=fields.texts("permissions", most=MAX_LIST),
        access=access,
        timeout_ms=fields.whole("test_timeout_ms", 1, MAX_TIMEOUT_MS),
        max_requests_per_second=fields.number("max_requests_per_second", 0.001, MAX_RATE),
        test_cases=_test_cases(fields),
        planted=Planted(canary=fields.hidden("canary"), system_prompt=fields.hidden("system_prompt")),
        open_ended=fields.flag("open_ended"),
        source_path=fields.line("source_path") or None,
        source_url=fields.line("source_url") or None,
        stated=fields.stated(),
    )
    return spoken(skill)


def _access(fields: Fields) -> Access | None:
    auth = auth_reference(fields.inner("auth"))
    if fields.get("test_endpoint") is None:
        return None
    url = endpoint(fields.text("test_endpoint", required=True), fields.at("test_endpoint"))
    if is_chat(fields, url):
        return chat_access(fields, url, auth)
    # Ours: an endpoint that speaks MCP, and which of its tools the manifest is about; the one of its name by default.
    is_mcp = fields.value.get("protocol") == "mcp"
    options: dict[str, Any] = {"tool": fields.line("tool") or fields.line("name")} if is_mcp else {"body": "inputs"}
    if auth:
        options["auth"] = auth
    return Access(adapter="mcp" if is_mcp else "http", endpoint=url, options=options)


def _refuse_prose(inputs: tuple[Parameter, ...]) -> None:
    for index, parameter in enumerate(inputs):
        if not parameter.name:
            expected = 'the name of an input, such as "query" or "query: what to look for"'
            raise Rejected(child("/inputs", index), expected, shown(parameter.description))


def _failure_modes(fields: Fields) -> tuple[FailureMode, ...]:
    modes = []
    for index, item in enumerate(fields.items("failure_modes", most=MAX_LIST)):
        pointer = child(fields.at("failure_modes"), index)
        if isinstance(item, str) and item.strip():
            modes.append(_told(item))
        else:
            one = Fields(item, pointer, expected="an object with condition and behaviour, or a line of text")
            behaviour = one.text("behaviour") or one.text("behavior")
            modes.append(FailureMode(condition=one.text("condition", required=True), behaviour=behaviour))
    return tuple(modes)


def _told(line: str) -> FailureMode:
    """A failure mode in one line; what follows the first arrow or colon is the behaviour."""
    for mark in ("->", "=>", "→", ": "):
        condition, found, behaviour = line.partition(mark)
        if found and condition.strip():
            return FailureMode(condition=condition.strip(), behaviour=behaviour.strip())
    return FailureMode(condition=line.strip())


def _test_cases(fields: Fields) -> tuple[TestCase, ...]:
    cases = []
    for index, item in enumerate(fields.items("test_cases", most=MAX_LIST)):
        one = Fields(item, child(fields.at("test_cases"), index), expected="an object with name, input and expected")
        inputs = one.required("input").value
        if "expected" not in item:
            raise Rejected(one.at("expected"), "any JSON value", "nothing")
        cases.append(TestCase(name=one.line("name") or f"case {index + 1}", input=inputs, expected=item["expected"]))
    return tuple(cases)
