"""How much a skill asks for: narrow permissions beat broad ones.

A permission is what the skill may do by its own word; asking for much is no exploit, but whoever takes the skill over
has it too. Read are the kinds that `coordinator.source.permissions` knows; one of another kind costs nothing, since
nobody could say how broad it is. Whether the source keeps to them is the source check's question, and its findings set
the ceiling of the whole pillar: what the source shows outweighs what is claimed here.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from coordinator.catalog.index import lacks
from coordinator.catalog.rejection import child, shown
from coordinator.catalog.skill import Skill
from coordinator.source.facts import Kind
from coordinator.source.permissions import Grant, grants
from coordinator.static.evidence import Checked, Context, Examined, Inapplicable, diminishing, graded, unverified
from workers.wire.job import Pillar

PILLAR = Pillar.SECURITY
UNSTATED = "permissions/unstated"

EVERYTHING = re.compile(
    r"(?i)\W*(?:\*+|(?:all|any|full|unrestricted|unlimited|root|admin|administrator|sudo|superuser)"
    r"(?:[\s:._-]+(?:\*|access|permissions?|privileges?|rights?))?)\W*"
)
SHELLS = frozenset(
    {
        "sh", "bash", "zsh", "dash", "fish", "ksh", "csh", "cmd", "powershell", "pwsh", "python", "python3", "node",
        "deno", "bun", "perl", "ruby", "php", "lua", "env", "xargs", "sudo", "ssh", "eval",
    }
)  # fmt: skip
WHOLE = re.compile(
    r"(?i)(?:[/\\]+|~[/\\]?|\$\{?HOME\}?[/\\]?|%USERPROFILE%[/\\]?|[a-z]:[/\\]*|/(?:home|root|users)/?)?\*{0,2}"
)
ACCESS = re.compile(
    r"(?i)\b(?:read|write|readonly|readwrite|rw|ro|r|w|only|list|append|modify|create|delete)\b|[:,;\s+&-]"
)
TOOLS = frozenset({"read", "glob", "grep", "ls"})
ADDRESSES = re.compile(r"(?i)(?:(?:\d{1,3}\.){3}\d{1,3}|[\da-f:]*::[\da-f:]*)/\d{1,3}\Z")
METADATA = frozenset({"169.254.169.254", "fd00:ec2::254", "metadata.google.internal"})


def examine(skill: Skill, context: Context) -> Examined:
    """What the permissions of *skill* allow beyond the narrow."""
    policy = context.policy.static
    if not skill.permissions and "permissions" not in skill.stated:
        if "permissions" in lacks(skill):
            return Inapplicable("the format has no place for permissions")
        told = "no permissions are stated; an empty list says that none are needed"
        return Checked((unverified("/permissions", told, UNSTATED, policy),))
    found = [
        graded(child("/permissions", grant.place), f"{shown(grant.stated)} {reason}", rule, severity, policy)
        for grant in grants(skill.permissions)
        for rule, severity, reason in _broad(grant)
    ]
    return Checked(diminishing(found, policy))


def _broad(grant: Grant) -> Iterator[tuple[str, str, str]]:
    """What is broad about *grant*: rule, severity, reason."""
    target = grant.target.strip()
    if not grant.kinds:
        if EVERYTHING.fullmatch(grant.stated):
            yield "permissions/everything", "high", "allows everything: name what is needed"
    elif Kind.PROCESS in grant.kinds:
        yield _process(target)
    elif Kind.DYNAMIC in grant.kinds:
        yield "permissions/dynamic-code", "medium", "allows code that is made while it runs"
    elif Kind.WRITE in grant.kinds:
        if _is_whole(target):
            yield "permissions/whole-file-system", "high", "allows writing anywhere: name the folder"
    elif Kind.READ in grant.kinds:
        if _is_whole(target):
            # A tool of the agent's host works in the folder that the host gives it.
            severity = "low" if grant.stated.strip().lower() in TOOLS else "medium"
            yield "permissions/whole-file-system", severity, "allows reading anywhere: name the folder"
    elif Kind.NETWORK in grant.kinds:
        yield from _network(target, grant.stated)
    elif Kind.ENVIRONMENT in grant.kinds and (not target or "*" in target):
        yield "permissions/whole-environment", "medium", "allows reading any variable, secrets included: name them"


def _process(target: str) -> tuple[str, str, str]:
    program = re.split(r"[\s:]", target, maxsplit=1)[0].rpartition("/")[2].lower()
    if not program or "*" in program or program.removesuffix(".exe") in SHELLS:
        return "permissions/shell", "high", "allows any program to be started: name the one that is needed"
    return "permissions/process", "low", "allows a program to be started"


def _is_whole(target: str) -> bool:
    """Whether *target*, without the words that say what may be done there, is the whole file system or a home."""
    place = target if re.match(r"(?i)[a-z]:[/\\]", target) else ACCESS.sub("", target)
    return WHOLE.fullmatch(place) is not None


def _network(target: str, stated: str) -> Iterator[tuple[str, str, str]]:
    if not target or target in ("*.*", "0.0.0.0/0", "::/0"):
        yield "permissions/any-host", "medium", "allows any host to be called: name the hosts"
    elif target.startswith("*."):
        wide = "." not in target[2:]
        severity, reason = ("medium", "a whole top-level domain") if wide else ("low", "every host of a domain")
        yield "permissions/wildcard-host", severity, f"allows {reason}: name the hosts"
    elif target in METADATA:
        yield "permissions/cloud-metadata", "high", "reaches the address that gives a cloud machine its credentials"
    elif (size := _addresses(stated)) > 1:
        severity = "medium" if size > 65_536 else "low"
        yield "permissions/wildcard-host", severity, "allows a whole network: name the hosts"


def _addresses(stated: str) -> int:
    """How many addresses the network in *stated* has, such as ``network:10.0.0.0/8``; 0 if there is none in it."""
    match = ADDRESSES.search(stated)
    try:
        return ipaddress.ip_network(match[0], strict=False).num_addresses if match else 0
    except ValueError:
        return 0
