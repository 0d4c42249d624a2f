"""bubblewrap around a program: no network, no files but the system's, its installation's and the skill's own.

Everything is read-only but its home. Where bubblewrap is missing, or this machine forbids it to make namespaces, a
program runs with the worker's own rights but for the limits; that is said once, in a warning.
"""

from __future__ import annotations

import asyncio
import shutil
from functools import cache
from pathlib import Path

import structlog

HOME = "/tmp"  # noqa: S108 - inside the sandbox, where it is nobody else's
PROBE_S = 10.0
NAME = "bwrap"

_ALONE = ("--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev")
_LINKED = ("/bin", "/lib", "/lib32", "/lib64", "/sbin")
_SYSTEM = ("/usr", "/opt", "/nix/store")
_ETC = (
    "alternatives", "ca-certificates", "fonts", "group", "hosts", "java", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
    "localtime", "mime.types", "nsswitch.conf", "os-release", "passwd", "pki", "protocols", "services", "ssl",
    "timezone",
)  # fmt: skip

log = structlog.get_logger(__name__)


async def usable() -> str:
    """The path of a bubblewrap that works here; empty if there is none. Tried once a process."""
    path = shutil.which(NAME, path="/usr/local/bin:/usr/bin:/bin") or ""
    if path in _tried:
        return _tried[path]
    reason = await _trouble(path)
    if reason and path not in _tried:  # another program may have found out meanwhile
        log.warning(
            "programs are started without a sandbox",
            reason=reason,
            open_to_them="the network, and every file that this worker may read",
            still="a session and limits of their own, a clean environment, a temporary home",
        )
    return _tried.setdefault(path, "" if reason else path)


_tried: dict[str, str] = {}


def wrapped(path: str, argv: list[str], *, folder: str, home: str, places: list[str]) -> list[str]:
    """The command that runs *argv* in a sandbox: in *folder*, with *places* to read and *home* to write."""
    command = [path, *_ALONE, *_system(), "--bind", home, HOME]
    # Short paths first: what is mounted later lies on top.
    for place in sorted(set(places), key=lambda one: (len(one), one)):
        if place and not _is_system(place):
            command += ["--ro-bind", place, place]
    return [*command, "--chdir", folder, "--", *argv]


async def _trouble(path: str) -> str:
    """Why *path* cannot be used; empty if it can."""
    if not path:
        return "bubblewrap is not installed"
    process = await asyncio.create_subprocess_exec(
        *(path, *_ALONE, *_system(), "--", "/bin/true"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={},
    )
    try:
        _, said = await asyncio.wait_for(process.communicate(), PROBE_S)
    except TimeoutError:
        process.kill()
        await process.wait()
        return f"bubblewrap did nothing for {PROBE_S:.0f} s"
    if process.returncode == 0:
        return ""
    return f"bubblewrap does not work here: {said.decode(errors='replace').strip()[:300]}"


@cache
def _system() -> tuple[str, ...]:
    arguments: list[str] = []
    for place in _LINKED:
        if Path(place).is_symlink():
            arguments += ["--symlink", str(Path(place).readlink()), place]
        elif Path(place).is_dir():
            arguments += ["--ro-bind", place, place]
    for place in _SYSTEM:
        arguments += ["--ro-bind-try", place, place]
    for name in _ETC:
        arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return tuple(arguments)


def _is_system(place: str) -> bool:
    return any(place == one or place.startswith(f"{one}/") for one in (*_LINKED, *_SYSTEM))
