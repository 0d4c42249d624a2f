"""eval-skills: ``skill.json``, with ``adapter.config.json`` beside it.

Source: the guide "Creating a Custom Skill" and the README of eval-skills. They do not say how a path joins its baseUrl,
how command and entrypoint go together, nor how an MCP skill names its tool: these are our readings.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from coordinator.catalog.access import auth_reference, endpoint
from coordinator.catalog.canonical import digest
from coordinator.catalog.documents import check, json_value, text
from coordinator.catalog.example import example, is_guessed
from coordinator.catalog.fields import Fields
from coordinator.catalog.files import read_file
from coordinator.catalog.identity import skill_id
from coordinator.catalog.object_schemas import members, object_schema
from coordinator.catalog.rejection import Rejected, child, near, shown
from coordinator.catalog.schemas import check_schema
from coordinator.catalog.skill import Skill
from workers.wire.skill import Access

FILE_NAMES = ("skill.json",)
DESCRIBED = "eval-skills (id, name, version, inputSchema, adapterType, entrypoint)"
LACKS = frozenset({"data_handling", "failure_modes", "permissions", "scope", "test_cases"})
CONFIG = "adapter.config.json"
CONFIG_BYTES = 64 << 10
ADAPTERS = ("http", "mcp", "subprocess")
AUTH_TYPES = {"bearer": "bearer", "api_key": "api_key", "apiKey": "api_key", "api-key": "api_key", "apikey": "api_key"}
MAX_TIMEOUT_MS = 600_000
MAX_LIST = 1_000
MAX_ARGUMENTS = 199
SHELL = frozenset({"&", "&&", "|", "||", ";", "<", ">", ">>", "2>", "2>&1"})


def recognises(document: dict[str, Any]) -> bool:
    """Whether *document* means to be an eval-skills manifest."""
    return "adapterType" in document or ("entrypoint" in document and "inputSchema" in document)


def read(document: dict[str, Any], *, source: str, pointer: str, folder: Path | None) -> Skill:
    """The skill that *document* describes; it stands at *pointer* of *source*, in *folder*.

    Raises:
        Rejected: If it cannot be certified as it is.
    """
    fields = Fields(document, "")
    fields.line("id", required=True)
    name = fields.line("name", required=True)
    version = fields.line("version", required=True)
    adapter = fields.line("adapterType", required=True)
    if adapter not in ADAPTERS:
        expected = f"an adapter type that is supported: {', '.join(ADAPTERS)}"
        raise Rejected(fields.at("adapterType"), expected, shown(adapter) + near(adapter, ADAPTERS))
    input_schema = object_schema(fields.required("inputSchema").value, fields.at("inputSchema"))
    output_schema = fields.get("outputSchema")
    if output_schema is not None:
        check_schema(output_schema, fields.at("outputSchema"))
    inputs = members(input_schema)
    id_ = skill_id(fields, name)
    config = _config(folder, adapter)
    metadata = fields.inner("metadata") or Fields({}, "")
    return Skill(
        id=id_,
        name=name,
        version=version,
        digest=digest(document),
        format="eval_skills",
        source=source,
        pointer=pointer,
        description=fields.text("description"),
        author=metadata.line("author"),
        license=metadata.line("license"),
        homepage=metadata.line("homepage"),
        tags=fields.texts("tags", most=MAX_LIST),
        inputs=inputs,
        outputs=members(output_schema or {}),
        input_schema=input_schema,
        output_schema=output_schema,
        example=example(inputs),
        guessed=is_guessed(inputs),
        access=_access(fields, config, adapter, id_, folder),
        timeout_ms=config.whole("timeoutMs", 1, MAX_TIMEOUT_MS),
        stated=fields.stated(),
    )


def _access(fields: Fields, config: Fields, adapter: str, id_: str, folder: Path | None) -> Access:
    entrypoint = fields.text("entrypoint", required=True)
    # One skill is one tool; a server that has others too must be told which.
    tool = {"tool": config.line("toolName") or config.line("tool") or fields.line("id")} if adapter == "mcp" else {}
    if adapter == "subprocess" or (adapter == "mcp" and "://" not in entrypoint and config.get("baseUrl") is None):
        return Access(adapter=adapter, endpoint=f"stdio://{id_}", options={**_program(fields, config, folder), **tool})
    options: dict[str, Any] = tool or {"body": "envelope"}
    url, auth = _url(fields, config, entrypoint), _auth(config)
    if auth:
        options["auth"] = auth
    return Access(adapter=adapter, endpoint=url, options=options)


def _url(fields: Fields, config: Fields, entrypoint: str) -> str:
    at = fields.at("entrypoint")
    base = endpoint(config.line("baseUrl"), config.at("baseUrl")) if config.get("baseUrl") is not None else None
    if "://" in entrypoint:
        url = endpoint(entrypoint, at)
    elif base is None:
        raise Rejected(at, f"an http or https URL, or a path and a baseUrl in {CONFIG}", shown(entrypoint))
    else:
        url = endpoint(urljoin(base.rstrip("/") + "/", entrypoint.lstrip("/")), at)
    if _auth(config) and base and urlsplit(base).netloc != urlsplit(url).netloc:
        raise Rejected(at, f"the host of baseUrl in {CONFIG}, which the token there is for", shown(entrypoint))
    return url


def _program(fields: Fields, config: Fields, folder: Path | None) -> dict[str, Any]:
    """What is started: the config's command with its args, else the entrypoint. A token goes into its environment."""
    if folder is None:
        raise Rejected(fields.at("entrypoint"), "a manifest in the folder of its program", "one from elsewhere")
    words = _words(fields.text("entrypoint"), fields.at("entrypoint"))
    command = config.line("command")
    if command:
        given = _words(command, config.at("command"))
        if config.get("args") is not None:
            words = [*given, *_arguments(config)]
        elif words[: len(given)] != given:
            words = [*given, *words]
    variable = config.get("authTokenEnvKey")
    program: dict[str, Any] = {"command": words, "folder": str(folder.resolve())}
    return program if variable is None else {**program, "variables": {variable: _reference(config)["token"]}}


def _words(command: str, at: str) -> list[str]:
    expected = "one command with its arguments, as without a shell"
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise Rejected(at, expected, f"{shown(command)} ({str(error).lower()})") from None
    if not words or len(words) > MAX_ARGUMENTS or SHELL & set(words) or any("\0" in word for word in words):
        raise Rejected(at, expected, shown(command))
    return words


def _arguments(config: Fields) -> list[str]:
    arguments = config.items("args", most=MAX_ARGUMENTS)
    for index, argument in enumerate(arguments):
        if not isinstance(argument, str) or "\0" in argument:
            raise Rejected(child(config.at("args"), index), "a text", shown(argument))
    return arguments


def _config(folder: Path | None, adapter: str) -> Fields:
    config = _config_beside(folder)
    kind = config.line("type")
    if kind not in ("", adapter):
        raise Rejected(config.at("type"), f"the adapterType of the skill.json beside it, {adapter}", shown(kind))
    return config


def _config_beside(folder: Path | None) -> Fields:
    path = folder / CONFIG if folder else None
    if path is None or not (path.exists() or path.is_symlink()):
        return Fields({}, CONFIG)
    try:
        value = json_value(text(read_file(path, CONFIG_BYTES)))
        check(value)
        return Fields(value, CONFIG)
    except Rejected as error:
        pointer = error.pointer if error.pointer.startswith(CONFIG) else CONFIG + error.pointer
        raise Rejected(pointer, error.expected, error.found) from None


def _auth(config: Fields) -> dict[str, Any] | None:
    declared = config.line("authType")
    if declared in ("", "none"):
        return None
    if declared not in AUTH_TYPES:
        raise Rejected(config.at("authType"), "one of bearer, api_key, none", shown(declared))
    return _reference(config, AUTH_TYPES[declared])


def _reference(config: Fields, kind: str = "bearer") -> dict[str, Any]:
    variable = config.get("authTokenEnvKey", "the name of an environment variable")
    try:
        reference = auth_reference(Fields({"type": kind, "token": f"env:{variable}"}, CONFIG))
    except Rejected:
        expected = "the name of an environment variable; the secret itself has no place here"
        raise Rejected(config.at("authTokenEnvKey"), expected, "another value (not shown)") from None
    assert reference is not None  # noqa: S101 - of a type that has a secret
    return reference
