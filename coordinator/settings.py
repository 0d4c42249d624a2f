"""Settings: flag, then environment (``SKILLMARK_*``), then ``skillmark.toml``, then default; and which one it was."""

from __future__ import annotations

import ipaddress
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from workers.wire.callbacks import Callbacks

FILE = "skillmark.toml"
PREFIX = "SKILLMARK_"
MAX_FILE_BYTES = 1 << 20
WORKERS_OWN = frozenset({"LLM_BASE_URL", "LLM_MODEL"})  # no settings: the judge reads them
CALLBACK_URL = re.compile(r"https?://[^\s/?#@]{1,300}(?:/[^\s?#]{0,300})?")
AUTH_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?(?:@[^@\s/]+)?")


class SettingsError(Exception):
    """A setting that cannot be used; the message says which, where it came from, and what was expected."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set outside a policy. Empty strings mean: not set."""

    broker: str = ""
    store: str = ""
    policy: str = ""
    out: str = ""
    corpus: str = ""
    metrics: str = ""
    osv_database: str = ""
    osv_url: str = "https://osv-vulnerabilities.storage.googleapis.com"
    benchmarks_dir: tuple[str, ...] = ()
    allow_network: tuple[str, ...] = ()
    allow_exec: bool = False
    auth_env: tuple[str, ...] = ()
    callback_url: str = ""
    callback_internal_url: str = ""
    callback_listen: str = ""
    concurrency: Annotated[int, Meta(ge=1, le=1024)] = 64
    processes: Annotated[int, Meta(ge=1, le=256)] = 1
    queues: tuple[str, ...] = ("functional", "security", "latency", "static")


class Resolved(Struct, frozen=True):
    """The settings, and for each where it came from: ``flag``, its variable, the file's path, or ``default``.

    *warnings* tell of variables that look like settings and are none.
    """

    settings: Settings
    origins: dict[str, str]
    warnings: tuple[str, ...] = ()


def resolve(flags: Mapping[str, Any], *, environment: Mapping[str, str], folder: Path) -> Resolved:
    """The settings out of *flags* (None or empty: not given), *environment* and ``skillmark.toml`` in *folder*.

    Raises:
        SettingsError: On an unknown key, or a value that does not fit.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    file = folder / FILE
    written = _file(file)
    for field in msgspec.structs.fields(Settings):
        name, variable = field.name, PREFIX + field.name.upper()
        given = flags.get(name)
        if given is not None and given != ():
            values[name], origins[name] = _parts(given, field), "flag"
        elif environment.get(variable):
            values[name], origins[name] = _parts(environment[variable], field), variable
        elif name in written:
            values[name], origins[name] = written[name], str(file)
        else:
            values[name], origins[name] = field.default, "default"
    for name in values:
        _fits(name, values[name], origins[name])
    settings = msgspec.convert(values, Settings, strict=False)
    _urls(settings, origins)
    _networks(settings, origins)
    _auth_env(settings, origins)
    _callbacks(settings, origins)
    return Resolved(settings, origins, tuple(_strangers(environment)))


def redacted(url: str) -> str:
    """*url* without its password."""
    scheme, separator, rest = url.partition("://")
    user, at, host = rest.rpartition("@")
    if not at:
        return url
    return f"{scheme}{separator}{user.partition(':')[0]}:***@{host}"


def metrics_address(text: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``, ``:PORT`` or ``PORT``; the host is loopback where none is given.

    Raises:
        SettingsError: If there is no port in it.
    """
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise SettingsError(f"metrics: expected HOST:PORT, found {text!r}")
    return host.strip("[]") or "127.0.0.1", int(port)


def callbacks(settings: Settings) -> Callbacks:
    """How skills reach the workers that attack them."""
    return Callbacks(
        public_url=settings.callback_url, internal_url=settings.callback_internal_url, listen=settings.callback_listen
    )


def _strangers(environment: Mapping[str, str]) -> Iterator[str]:
    """Of each variable with our prefix that nobody reads, that it is one, and which was perhaps meant."""
    known = {field.name.upper() for field in msgspec.structs.fields(Settings)} | WORKERS_OWN
    for name in sorted(environment):
        if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in known:
            from difflib import get_close_matches  # needed for a mistake alone

            near = get_close_matches(name.removeprefix(PREFIX), known, 1)
            hint = f"; did you mean {PREFIX}{near[0]}?" if near else "; `skillmark config show` lists the settings"
            yield f"the environment variable {name} is no setting and changes nothing{hint}"


def _parts(given: Any, field: msgspec.structs.FieldInfo) -> Any:
    """*given*, and where it is a text for a list, its parts."""
    if isinstance(given, str) and isinstance(field.default, tuple):
        return [part.strip() for part in given.split(",")]
    return given


def _file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise SettingsError(f"{path}: expected at most {MAX_FILE_BYTES} bytes, found {path.stat().st_size}")
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path}: expected a readable TOML file, found: {error}") from error
    known = {field.name for field in msgspec.structs.fields(Settings)}
    written = {key.replace("-", "_"): value for key, value in table.items()}
    unknown = sorted(set(written) - known)
    if unknown:
        raise SettingsError(f"{path}: {unknown[0]}: expected one of {', '.join(sorted(known))}")
    return written


def _fits(name: str, value: Any, origin: str) -> None:
    kind = next(field.type for field in msgspec.structs.fields(Settings) if field.name == name)
    try:
        msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError as error:
        told = "expected true or false" if kind is bool else str(error)[:1].lower() + str(error)[1:]
        raise SettingsError(f"{name} (from {origin}): {told}; found {value!r:.80}") from error


def _urls(settings: Settings, origins: Mapping[str, str]) -> None:
    for name, schemes, example in (
        ("broker", r"amqps?://", "amqp://user:password@host:5672/vhost"),
        ("store", r"(?:sqlite|postgresql)(?:\+\w+)?://", "sqlite:///ledger.sqlite or postgresql://user@host/database"),
    ):
        url = getattr(settings, name)
        if url and not re.match(schemes, url, re.IGNORECASE):
            found = "another text, with a password perhaps" if "@" in url else repr(url[:80])
            raise SettingsError(f"{name} (from {origins[name]}): expected a URL such as {example}, found {found}")


def _networks(settings: Settings, origins: Mapping[str, str]) -> None:
    for network in settings.allow_network:
        try:
            ipaddress.ip_network(network)
        except ValueError as error:
            origin = origins["allow_network"]
            raise SettingsError(
                f"allow_network (from {origin}): expected a network such as {_meant(network)}, found: {error}"
            ) from error


def _meant(network: str) -> str:
    """The network that the address in *network* lies in; where there is none, an example."""
    try:
        return str(ipaddress.ip_network(network, strict=False))
    except ValueError:
        return "127.0.0.0/8"


def _auth_env(settings: Settings, origins: Mapping[str, str]) -> None:
    for entry in settings.auth_env:
        if not AUTH_ENV.fullmatch(entry):
            raise SettingsError(
                f"auth_env (from {origins['auth_env']}): expected the name of a variable and the host it is sent to, "
                f"such as WEATHER_TOKEN@api.example.com, or WEATHER_*; found {entry[:80]!r}"
            )


def _callbacks(settings: Settings, origins: Mapping[str, str]) -> None:
    for name in ("callback_url", "callback_internal_url"):
        url = getattr(settings, name)
        if url and not CALLBACK_URL.fullmatch(url):
            raise SettingsError(
                f"{name} (from {origins[name]}): expected http://HOST[:PORT][/PATH], found {redacted(url)[:80]!r}"
            )
    listen = settings.callback_listen
    host, _, port = listen.rpartition(":")
    if listen and not (host and port.isdecimal() and int(port) <= 65535):
        origin = origins["callback_listen"]
        raise SettingsError(f"callback_listen (from {origin}): expected HOST:PORT, found {listen!r}")
    if listen and settings.processes > 1:
        raise SettingsError("callback_listen: one process can listen there; expected --processes 1")
    if settings.callback_url and not listen:
        raise SettingsError("callback_url: expected --callback-listen HOST:PORT beside it, where the worker listens")
