"""Declared permissions, read liberally: what each allows of the things that a source can be seen to reach for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from coordinator.source.facts import Kind
from coordinator.source.hosts import host_of

NONE = frozenset({"none", "no", "nothing", "false", "denied", "deny"})
ALL = frozenset({"", "*", "all", "any", "full", "true", "allow", "allowed", "yes", "outbound", "access", "external",
                 "**", "/", "public", "unrestricted", "egress", "internet"})  # fmt: skip
WORDS = {
    "network": (Kind.NETWORK,), "net": (Kind.NETWORK,), "internet": (Kind.NETWORK,), "http": (Kind.NETWORK,),
    "https": (Kind.NETWORK,), "web": (Kind.NETWORK,), "fetch": (Kind.NETWORK,), "outbound": (Kind.NETWORK,),
    "egress": (Kind.NETWORK,), "url": (Kind.NETWORK,), "host": (Kind.NETWORK,), "hosts": (Kind.NETWORK,),
    "webfetch": (Kind.NETWORK,), "websearch": (Kind.NETWORK,), "api": (Kind.NETWORK,), "dns": (Kind.NETWORK,),
    "socket": (Kind.NETWORK,), "tcp": (Kind.NETWORK,), "connect": (Kind.NETWORK,),
    "filesystem": (Kind.READ, Kind.WRITE), "fs": (Kind.READ, Kind.WRITE), "file": (Kind.READ, Kind.WRITE),
    "files": (Kind.READ, Kind.WRITE), "disk": (Kind.READ, Kind.WRITE), "storage": (Kind.READ, Kind.WRITE),
    "read": (Kind.READ,), "glob": (Kind.READ,), "grep": (Kind.READ,), "ls": (Kind.READ,),
    "write": (Kind.READ, Kind.WRITE), "edit": (Kind.READ, Kind.WRITE), "multiedit": (Kind.READ, Kind.WRITE),
    "process": (Kind.PROCESS,), "subprocess": (Kind.PROCESS,), "shell": (Kind.PROCESS,), "exec": (Kind.PROCESS,),
    "execute": (Kind.PROCESS,), "command": (Kind.PROCESS,), "commands": (Kind.PROCESS,), "bash": (Kind.PROCESS,),
    "spawn": (Kind.PROCESS,), "system": (Kind.PROCESS,), "run": (Kind.PROCESS,), "childprocess": (Kind.PROCESS,),
    "env": (Kind.ENVIRONMENT,), "environment": (Kind.ENVIRONMENT,), "environ": (Kind.ENVIRONMENT,),
    "secrets": (Kind.ENVIRONMENT,), "secret": (Kind.ENVIRONMENT,),
    "eval": (Kind.DYNAMIC,), "dynamic": (Kind.DYNAMIC,), "code": (Kind.DYNAMIC,), "codeexecution": (Kind.DYNAMIC,),
    "dynamiccode": (Kind.DYNAMIC,), "interpreter": (Kind.DYNAMIC,),
}  # fmt: skip
READING = frozenset({"read", "readonly", "ro", "r", "list"})
WRITING = frozenset({"write", "readwrite", "rw", "w", "modify", "append", "create", "delete"})
_SPLIT = re.compile(r"[:=(\s]", re.ASCII)


class Grant(Struct, frozen=True):
    """One declared permission: the *kinds* it allows, on *target*; an empty target is any. *stated* is as written.

    No kinds: a permission for something that no source is looked through for.
    """

    stated: str
    place: int
    kinds: tuple[Kind, ...] = ()
    target: str = ""

    def allows(self, kind: Kind, target: str, *, known: bool) -> bool:
        """Whether it allows a use of that *kind*; *known*: the target is, else only a grant for any target allows it.

        Of files, folders and commands the target is not weighed here, only of hosts and variables.
        """
        if kind not in self.kinds:
            return False
        if kind is Kind.NETWORK:
            return not self.target or (known and _covers(self.target, target))
        if kind is Kind.ENVIRONMENT:
            return not self.target or not known or target.upper() in re.split(r"[,\s]+", self.target.upper())
        return True


def grants(permissions: Iterable[str]) -> tuple[Grant, ...]:
    """What *permissions* allow, one grant for each, in their order."""
    return tuple(_grant(text, place) for place, text in enumerate(permissions))


def _grant(stated: str, place: int) -> Grant:
    text = stated.strip().rstrip(")")
    head, *rest = _SPLIT.split(text, maxsplit=1)
    target = rest[0].strip(" :") if rest else ""
    if "://" in text and host_of(text):
        return Grant(stated, place, (Kind.NETWORK,), host_of(text) or "")
    word = re.sub(r"[^a-z]", "", head.lower())
    kinds = WORDS.get(word)
    if kinds is None:
        parts = [part for part in re.split(r"[^a-z]+", head.lower()) if part]
        kinds = next((WORDS[part] for part in parts if part in WORDS), ())
        target = target or next((part for part in parts if part in READING | WRITING), "")
    if not kinds:
        return Grant(stated, place)
    if target.lower() in NONE or word in ("no", "none"):
        return Grant(stated, place)
    if kinds == (Kind.NETWORK,):
        return Grant(stated, place, kinds, _host(target))
    if kinds == (Kind.READ, Kind.WRITE):
        words = set(re.split(r"[^a-z]+", target.lower()))
        if words & READING and not words & WRITING:
            return Grant(stated, place, (Kind.READ,), target)
    return Grant(stated, place, kinds, "" if target.lower() in ALL else target)


def _host(target: str) -> str:
    target = target.strip().lower()
    if target in ALL:
        return ""
    wild = target.startswith(("*.", "."))
    name = host_of(target.lstrip("*."), whole=True) or target
    return f"*.{name}" if wild else name


def _covers(granted: str, host: str) -> bool:
    if granted.startswith("*."):
        return host.endswith(granted[1:]) or host == granted[2:]
    return host == granted or {granted, host} <= {"localhost", "127.0.0.1", "::1"}
