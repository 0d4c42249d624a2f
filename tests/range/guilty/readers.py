"""Skills that open whatever file they are told to, inside a temporary folder that plays the machine's root."""

from __future__ import annotations

import posixpath
import re
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.range.skill import Answer, Handler, Kind, RangeSkill, fields, holes, ok

HOME = "/srv/shop/docs"
FILES = {
    f"{HOME}/tea.txt": "Tea is steeped for two minutes.",
    "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n",
    "/etc/hosts": "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n",
    "/etc/hostname": "shop\n",
    "/etc/group": "root:x:0:\ndaemon:x:1:\nbin:x:2:\n",
    "/etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nID=debian\n',
    "/proc/self/environ": "PATH=/usr/bin:/bin\0HOME=/root\0LANG=C.UTF-8\0",
    "/proc/version": "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org)",
    "/windows/win.ini": "; for 16-bit app support\n[fonts]\n[extensions]\n[mci extensions]\n[files]\n[Mail]\nMAPI=1\n",
}


def opens(name_of: Callable[[str], str | None], field: str = "path") -> Callable[[Path], Handler]:
    """Reads the file that *name_of* finds in the input; no name leads out of the skill's own folder."""

    def make(folder: Path) -> Handler:
        for name, text in FILES.items():
            place = folder / name.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

        def handler(inputs: dict[str, Any]) -> Answer:
            name = name_of(inputs[field])
            if name is None:
                return ok("no file named")
            wanted = folder / posixpath.normpath("/" + name.replace("\0", "")).lstrip("/")
            try:
                return ok(wanted.read_text())
            except OSError:
                return Answer(404, {"error": "no such document"})

        return handler

    return make


def joined(name: str) -> str:
    """As `os.path.join` does it: an absolute name starts anew."""
    return posixpath.join(HOME, name)


def cleaned_once(name: str) -> str:
    """Takes "../" out once, and an absolute name's first slash."""
    return posixpath.join(HOME, name.replace("../", "").lstrip("/"))


def unquoted_late(name: str) -> str | None:
    """Declines "..", and undoes the URL's escapes afterwards."""
    return None if ".." in name else posixpath.join(HOME, urllib.parse.unquote(name).lstrip("/"))


def file_url(text: str) -> str | None:
    """What a file URL in *text* names."""
    found = re.search(r"(?i)file:(?://(?:localhost)?)?(/[^\s\"'<>)]*)", text)
    return urllib.parse.unquote(found[1]) if found else None


def mentioned(text: str) -> str | None:
    """The first thing in *text* that looks like a path."""
    found = re.search(r"(?:\.\.?)?(?:/[\w.-]+){2,}|(?:\.\.[\\/])+[\w./\\-]+", text)
    return joined(found[0].replace("\\", "/")) if found else None


READS = holes(Kind.FILE, "DX-04")

SKILLS = (
    RangeSkill(name="document reader", make=opens(joined), holes=READS, **fields(path="tea.txt")),
    RangeSkill(
        name="document reader below its folder",
        make=opens(lambda name: f"{HOME}/{name}"),
        holes=READS,
        **fields(path="tea.txt"),
    ),
    RangeSkill(
        name="reader of file URLs",
        make=opens(file_url, "url"),
        holes=READS,
        **fields(url="file:///srv/shop/docs/tea.txt"),
    ),
    RangeSkill(name="assistant that opens files", make=opens(mentioned, "text"), holes=READS),
    RangeSkill(name="reader that cleans once", make=opens(cleaned_once), holes=READS, **fields(path="tea.txt")),
)
