"""eval-skills: ``skill.json``, with ``adapter.config.json`` beside it. Skills over HTTP, for now.

Source: the guide "Creating a Custom Skill" of eval-skills. How a path joins its baseUrl it does not say: our reading.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from coordinator.catalog.access import auth_reference, endpoint
from coordinator.catalog.canonical import digest
from coordinator.catalog.documents import check, json_value, text
from coordinator.catalog.example import example
from coordinator.catalog.fields import Fields
from coordinator.catalog.files import read_file
from coordinator.catalog.identity import skill_id
from coordinator.catalog.rejection import Rejected, child, near, shown
from coordinator.catalog.schemas import check_schema, embedded
from coordinator.catalog.skill import Parameter, Skill
from workers.wire.skill import Access

FILE_NAMES = ("skill.json",)
DESCRIBED = "eval-skills (id, name, version, inputSchema, adapterType, entrypoint)"
LACKS = frozenset({"data_handling", "failure_modes", "permissions", "scope", "test_cases"})
CONFIG = "adapter.config.json"
CONFIG_BYTES = 64 << 10
ADAPTERS = ("http",)
AUTH_TYPES = {"bearer": "bearer", "api_key": "api_key", "apiKey": "api_key", "api-key": "api_key", "apikey": "api_key"}
MAX_TIMEOUT_MS = 600_000
MAX_LIST = 1_000


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
    input_schema = _input_schema(fields)
    output_schema = fields.get("outputSchema")
    if output_schema is not None:
        check_schema(output_schema, fields.at("outputSchema"))
    inputs = _members(input_schema, input_schema)
    access, timeout_ms = _access(fields, folder)
    metadata = fields.inner("metadata") or Fields({}, "")
    return Skill(
        id=skill_id(fields, name),
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
        outputs=_members(output_schema or {}, output_schema or {}),
        input_schema=input_schema,
        output_schema=output_schema,
        example=example(inputs),
        access=access,
        timeout_ms=timeout_ms,
        stated=fields.stated(),
    )


def _input_schema(fields: Fields) -> dict[str, Any]:
    schema = fields.required("inputSchema").value
    pointer = fields.at("inputSchema")
    check_schema(schema, pointer)
    if schema.get("type", "object") != "object":
        raise Rejected(child(pointer, "type"), '"object"', shown(schema["type"]))
    return {**schema, "type": "object", "properties": schema.get("properties", {})}


def _members(schema: dict[str, Any], root: dict[str, Any]) -> tuple[Parameter, ...]:
    """The members that an object *schema* declares, each with the definitions of *root* that it may refer to."""
    shared: dict[str, Any] = {name: root[name] for name in ("$schema", "$defs", "definitions") if name in root}
    required = schema.get("required", ())
    members = []
    for name, member in schema.get("properties", {}).items():
        declared = member if isinstance(member, dict) else {}
        description = declared.get("description")
        members.append(
            Parameter(
                name=name,
                schema=embedded(shared | declared, name) if shared else declared,
                description=description if isinstance(description, str) else "",
                required=name in required,
            )
        )
    return tuple(members)


def _access(fields: Fields, folder: Path | None) -> tuple[Access, int | None]:
    entrypoint, at = fields.text("entrypoint", required=True), fields.at("entrypoint")
    config = _config(folder)
    base = endpoint(config.line("baseUrl"), config.at("baseUrl")) if config.get("baseUrl") is not None else None
    if "://" in entrypoint:
        url = endpoint(entrypoint, at)
    elif base is None:
        raise Rejected(at, f"an http or https URL, or a path and a baseUrl in {CONFIG}", shown(entrypoint))
    else:
        url = endpoint(urljoin(base.rstrip("/") + "/", entrypoint.lstrip("/")), at)
    auth = _auth(config)
    if auth and base and urlsplit(base).netloc != urlsplit(url).netloc:
        raise Rejected(at, f"the host of baseUrl in {CONFIG}, which the token there is for", shown(entrypoint))
    options: dict[str, Any] = {"body": "envelope"}
    if auth:
        options["auth"] = auth
    return Access(adapter="http", endpoint=url, options=options), config.whole("timeoutMs", 1, MAX_TIMEOUT_MS)


def _config(folder: Path | None) -> Fields:
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
    variable = config.get("authTokenEnvKey", "the name of an environment variable")
    reference = {"type": AUTH_TYPES[declared], "token": f"env:{variable}"}
    try:
        return auth_reference(Fields(reference, CONFIG))
    except Rejected:
        expected = "the name of an environment variable; the secret itself has no place here"
        raise Rejected(config.at("authTokenEnvKey"), expected, "another value (not shown)") from None
