"""A2A agent cards, in the 1.0 and the older 0.3 shape. A card is one skill: the agent.

What a card calls skills are descriptions of what the agent can be asked; the protocol has no way to call one of them.
So they make the agent's description, and the first example of theirs is the call that is certain to be valid. A card
declares no inputs but media types: what is sent is one text or, where the agent takes nothing but JSON, one object in
the shape of that example.

Ours beside the card's own members: ``id``, and ``auth`` by reference, since a card says only that a token is wanted.

Source: A2A protocol specification 1.0 and 0.3.0, the AgentCard object.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coordinator.catalog.access import auth_reference, endpoint
from coordinator.catalog.canonical import digest
from coordinator.catalog.documents import json_value
from coordinator.catalog.example import example, is_guessed
from coordinator.catalog.fields import Fields
from coordinator.catalog.identity import skill_id
from coordinator.catalog.parameters import object_schema
from coordinator.catalog.rejection import Rejected, child, shown
from coordinator.catalog.skill import Parameter, Skill
from workers.wire.skill import Access

FILE_NAMES = ("agent-card.json",)
DESCRIBED = "A2A agent card (name, version, skills, supportedInterfaces or url)"
LACKS = frozenset({"data_handling", "failure_modes", "permissions", "scope", "test_cases"})
MAX_SKILLS = 200
MAX_LIST = 100
MAX_INTERFACES = 20
MAX_PARAMETERS = 200
MESSAGE = "message"
ANSWER = "answer"
SPOKEN = ("JSONRPC 1.0", "JSONRPC 0.3", "HTTP+JSON 1.0")


def recognises(document: dict[str, Any]) -> bool:
    """Whether *document* means to be an agent card."""
    if not isinstance(document.get("skills"), list):
        return False
    return "supportedInterfaces" in document or ("url" in document and bool({"capabilities", *_OLD} & document.keys()))


_OLD = ("protocolVersion", "preferredTransport", "defaultInputModes")


def read(document: dict[str, Any], *, source: str, pointer: str, folder: Path | None) -> Skill:
    """The skill that *document* describes; it stands at *pointer* of *source*, in *folder*.

    Raises:
        Rejected: If it cannot be certified as it is.
    """
    fields = Fields(document, "")
    name = fields.line("name", required=True)
    version = fields.line("version", required=True)
    skills = [Fields(one, child("/skills", at)) for at, one in enumerate(fields.items("skills", most=MAX_SKILLS))]
    if not skills:
        raise Rejected("/skills", "at least one skill", "none")
    texts = [text for one in skills for text in one.texts("examples", most=MAX_LIST)]
    as_text = _takes_text(fields, skills)
    inputs = _message(texts) if as_text else _members(texts)
    answers_text = _says_text_only(fields, skills)
    provider = fields.inner("provider") or Fields({}, "")
    return Skill(
        id=skill_id(fields, name),
        name=name,
        version=version,
        digest=digest(document),
        format="a2a",
        source=source,
        pointer=pointer,
        description=_description(fields, skills),
        author=provider.line("organization"),
        homepage=fields.line("documentationUrl"),
        tags=tuple(dict.fromkeys(tag for one in skills for tag in one.texts("tags", most=MAX_LIST)))[:MAX_LIST],
        inputs=inputs,
        outputs=(_answer(answers_text),),
        input_schema=object_schema(inputs),
        output_schema={"type": "string"} if answers_text else None,
        example=example(inputs),
        guessed=is_guessed(inputs),
        access=_access(fields, as_text=as_text),
        stated=fields.stated(),
    )


def _description(fields: Fields, skills: list[Fields]) -> str:
    lines = [fields.text("description", required=True)]
    for one in skills:
        told = ": ".join(text for text in (one.line("name"), one.text("description")) if text)
        lines += [told] if told else []
    return "\n".join(lines)


def _modes(fields: Fields, skills: list[Fields], default: str, own: str) -> set[str]:
    modes = {*fields.texts(default, most=MAX_LIST)}
    modes.update(mode for one in skills for mode in one.texts(own, most=MAX_LIST))
    return {mode.partition(";")[0].strip().lower() for mode in modes}


def _is_text(mode: str) -> bool:
    return mode in ("text", "*/*") or mode.startswith("text/")


def _takes_text(fields: Fields, skills: list[Fields]) -> bool:
    modes = _modes(fields, skills, "defaultInputModes", "inputModes")
    if not modes or any(_is_text(mode) for mode in modes):
        return True
    if modes & {"application/json", "data"}:
        return False
    raise Rejected("/defaultInputModes", "text/plain or application/json among them", shown(sorted(modes)[0]))


def _says_text_only(fields: Fields, skills: list[Fields]) -> bool:
    modes = _modes(fields, skills, "defaultOutputModes", "outputModes")
    return bool(modes) and all(mode == "text" or mode.startswith("text/") for mode in modes)


def _message(examples: list[str]) -> tuple[Parameter, ...]:
    schema: dict[str, Any] = {"type": "string"}
    if examples:
        schema["examples"] = examples[:MAX_LIST]
    return (Parameter(name=MESSAGE, schema=schema, description="What the agent is asked.", assumed=True),)


def _members(examples: list[str]) -> tuple[Parameter, ...]:
    for text in examples:
        try:
            value = json_value(text)
        except Rejected:
            continue
        if isinstance(value, dict) and 0 < len(value) <= MAX_PARAMETERS:
            return tuple(Parameter(name=name, example=item, assumed=True) for name, item in value.items())
    expected = "an example that is a JSON object, since the agent takes nothing but JSON"
    raise Rejected("/skills/0/examples", expected, "none")


def _answer(is_text: bool) -> Parameter:
    return Parameter(name=ANSWER, schema={"type": "string"} if is_text else {}, description="What the agent answers.")


def _access(fields: Fields, *, as_text: bool) -> Access:
    options: dict[str, Any] = {"parts": "text" if as_text else "data"}
    auth = auth_reference(fields.inner("auth"))
    if auth:
        options["auth"] = auth
    elif _wants_auth(fields):
        raise Rejected(
            "/auth",
            'a token by reference, such as {"type": "bearer", "token": "env:NAME"}, since the card requires one',
            "nothing",
        )
    unspoken = []
    for at, url, binding, version, tenant in _interfaces(fields):
        generation = _generation(version)
        if f"{binding} {generation}" in SPOKEN:
            options |= {"binding": binding, "version": generation, **({"tenant": tenant} if tenant else {})}
            return Access(adapter="a2a", endpoint=endpoint(url, at), options=options)
        unspoken.append(f"{binding} {version}")
    raise Rejected(_pointer(fields), f"an interface of {', '.join(SPOKEN)}", shown(", ".join(unspoken)))


def _interfaces(fields: Fields) -> list[tuple[str, str, str, str, str]]:
    """Pointer and text of the URL, binding, version and tenant of each interface, the preferred first."""
    found = []
    for index, item in enumerate(fields.items("supportedInterfaces", most=MAX_INTERFACES)):
        one = Fields(item, child("/supportedInterfaces", index))
        binding = one.line("protocolBinding") or one.line("transport") or "JSONRPC"
        version = one.line("protocolVersion") or "1.0"
        found.append((one.at("url"), one.text("url", required=True), binding, version, one.line("tenant")))
    if found:
        return found
    version = fields.line("protocolVersion") or "0.3"
    found.append(
        ("/url", fields.text("url", required=True), fields.line("preferredTransport") or "JSONRPC", version, "")
    )
    for index, item in enumerate(fields.items("additionalInterfaces", most=MAX_INTERFACES)):
        one = Fields(item, child("/additionalInterfaces", index))
        found.append((one.at("url"), one.text("url", required=True), one.line("transport", required=True), version, ""))
    return found


def _generation(version: str) -> str:
    """The generation of the protocol to speak with *version*; 0.2 has the methods and messages of 0.3."""
    major, _, rest = version.partition(".")
    minor = rest.partition(".")[0]
    return "1.0" if major == "1" else "0.3" if (major, minor) in (("0", "2"), ("0", "3")) else version


def _wants_auth(fields: Fields) -> bool:
    wanted = [*fields.items("securityRequirements", most=MAX_LIST), *fields.items("security", most=MAX_LIST)]
    return bool(wanted) and all(isinstance(one, dict) and one and one != {"schemes": {}} for one in wanted)


def _pointer(fields: Fields) -> str:
    return "/supportedInterfaces" if fields.get("supportedInterfaces") else "/preferredTransport"
