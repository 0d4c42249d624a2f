"""The MCP registry's ``server.json``. An entry is a server; which tools it has, it is asked when the run comes to it.

A remote over streamable HTTP comes first; the older transport of two endpoints (``sse``) no adapter speaks. Else a
package over stdio, if the operator lets programs be started: the one that is installed, since nothing is downloaded.

Secrets by reference: a header or variable that is secret is read from the worker's environment, under the name that its
template or its own name makes (``{api_key}`` and ``api-key`` make ``API_KEY``), and only if the operator granted it.

Source: MCP registry, server.json schema of 2025-12-11 and its older spellings of 2025-07-09.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coordinator.catalog.access import HEADER, endpoint
from coordinator.catalog.canonical import digest
from coordinator.catalog.fields import Fields
from coordinator.catalog.identity import slug
from coordinator.catalog.registry_inputs import arguments, is_secret, reference, spelt, templated, variables
from coordinator.catalog.rejection import Rejected, child, shown
from coordinator.catalog.skill import Skill
from workers.wire.skill import Access

FILE_NAMES = ("server.json",)
DESCRIBED = "MCP registry (name, description, version, remotes or packages)"
LACKS = frozenset({"data_handling", "failure_modes", "permissions", "scope", "test_cases"})
MAX_LIST = 100
STREAMABLE = "streamable-http"
PACKAGES = ("npm", "pypi")


def recognises(document: dict[str, Any]) -> bool:
    """Whether *document* means to be a server of the registry, bare or as the registry's API wraps it."""
    server = document.get("server", document)
    if not isinstance(server, dict) or "name" not in server or "inputs" in server:
        return False
    return "server.schema.json" in str(server.get("$schema")) or isinstance(
        server.get("remotes") or server.get("packages"), list
    )


def read(document: dict[str, Any], *, source: str, pointer: str, folder: Path | None) -> Skill:
    """The server that *document* describes; it stands at *pointer* of *source*, in *folder*.

    Raises:
        Rejected: If it cannot be reached as it is.
    """
    wrapped = Fields(document, "")
    fields = wrapped.required("server") if isinstance(document.get("server"), dict) else wrapped
    name = fields.line("name", required=True)
    if any(character.isspace() for character in name):
        raise Rejected(fields.at("name"), "a name without blanks", shown(name))
    detail = fields.inner("version_detail")
    repository = fields.inner("repository") or Fields({}, "")
    namespace, _, _ = name.rpartition("/")
    return Skill(
        id=name,
        name=fields.line("title") or name,
        version=detail.line("version", required=True) if detail else fields.line("version", required=True),
        digest=digest(document),
        format="mcp_registry",
        source=source,
        pointer=pointer,
        description=fields.text("description"),
        author=namespace,
        homepage=fields.line("websiteUrl"),
        source_url=repository.text("url") or None,
        access=_access(fields, name, folder),
        stated=fields.stated(),
    )


def _access(fields: Fields, name: str, folder: Path | None) -> Access:
    remotes = [_inner(fields, "remotes", at, one) for at, one in enumerate(fields.items("remotes", most=MAX_LIST))]
    packages = [_inner(fields, "packages", at, one) for at, one in enumerate(fields.items("packages", most=MAX_LIST))]
    for remote in remotes:
        if _kind(remote) == STREAMABLE:
            return _remote(remote)
    for package in packages:
        if _is_stdio(package) and spelt(package, "registryType") in PACKAGES:
            return _package(package, name, folder)
    if not remotes and not packages:
        raise Rejected("", "remotes or packages", "neither: a server that can be reached nowhere")
    if not packages:
        found = ", ".join(sorted({shown(_kind(remote)) for remote in remotes}))
        raise Rejected(
            fields.at("remotes"), f"a remote of type {STREAMABLE}", f"{found} alone; sse was replaced in 2025-03-26"
        )
    found = ", ".join(sorted({shown(spelt(package, "registryType")) for package in packages}))
    raise Rejected(fields.at("packages"), f"a remote of type {STREAMABLE}, or an npm or pypi package over stdio", found)


def _inner(fields: Fields, name: str, at: int, value: Any) -> Fields:
    return Fields(value, child(fields.at(name), at))


def _kind(remote: Fields) -> str:
    return remote.line("type") or remote.line("transport_type")


def _is_stdio(package: Fields) -> bool:
    transport = package.inner("transport")
    return transport is None or _kind(transport) in ("", "stdio")


def _remote(remote: Fields) -> Access:
    url = templated(remote, "url", remote.text("url", required=True))
    options: dict[str, Any] = {}
    headers: dict[str, str] = {}
    for index, item in enumerate(remote.items("headers", most=MAX_LIST)):
        header = Fields(item, child(remote.at("headers"), index))
        name = header.line("name", required=True)
        if not HEADER.fullmatch(name):
            raise Rejected(header.at("name"), "the name of an HTTP header", shown(name))
        if is_secret(header):
            if spelt(header, "isRequired") is not True and "value" not in header.value:
                continue
            if "auth" in options:
                raise Rejected(header.pointer, "one secret header at most", shown(name))
            options["auth"] = _auth(header, name)
        elif (value := templated(header, "value")) is not None:
            headers[name] = value
    if headers:
        options["headers"] = headers
    return Access(adapter="mcp", endpoint=endpoint(url or "", remote.at("url")), options=options)


def _auth(header: Fields, name: str) -> dict[str, Any]:
    template = header.text("value").strip()
    scheme, _, rest = template.partition(" ")
    if name.lower() == "authorization" and scheme.lower() == "bearer":
        return {"type": "bearer", "token": reference(header, rest.strip(), name)}
    return {"type": "api_key", "header": name, "token": reference(header, template, name)}


def _package(package: Fields, name: str, folder: Path | None) -> Access:
    """A program to start: ``npm:NAME@VERSION`` or ``pypi:...`` stands for what is installed under that name."""
    kind, identifier = spelt(package, "registryType"), package.line("identifier", required=True)
    version = package.line("version")
    program = f"{kind}:{identifier}@{version}" if version else f"{kind}:{identifier}"
    options: dict[str, Any] = {
        "command": [program, *arguments(package, "packageArguments")],
        "folder": str(folder.resolve()) if folder else "",
    }
    if given := variables(package, "environmentVariables"):
        options["variables"] = given
    return Access(adapter="mcp", endpoint=f"stdio://{slug(name)}", options=options)
