"""Skills that open whatever file they are told to, inside a temporary folder that plays the machine's root."""

from __future__ import annotations

import io
import posixpath
import re
import urllib.parse
import xml.sax
import xml.sax.handler
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


def without_dots(name: str) -> str | None:
    """Declines "..", and takes an absolute name as it is."""
    return None if ".." in name else posixpath.join(HOME, name)


def below_docs(name: str) -> str | None:
    """Wants a name that begins with its own folder, whatever comes then."""
    return posixpath.join("/srv/shop", name) if name.startswith("docs/") else None


def scheme_checked(text: str) -> str | None:
    """Declines the scheme of files as it is usually written."""
    return None if text.startswith("file:") else file_url(text)


def windows_name(name: str) -> str | None:
    """Declines "../", and takes both kinds of slashes."""
    return None if "../" in name else posixpath.join(HOME, name.replace("\\", "/"))


def parses_xml(folder: Path) -> Handler:
    """Reads XML with a parser that goes and gets what a document refers to."""
    place = folder / "etc" / "passwd"
    place.parent.mkdir(parents=True)
    place.write_text(FILES["/etc/passwd"])

    class Inside(xml.sax.handler.EntityResolver):
        def resolveEntity(self, _: str | None, address: str) -> Any:  # noqa: N802 - the parser calls it so
            name = file_url(address)
            return io.BytesIO((folder / name.lstrip("/")).read_bytes() if name else b"")

    class Words(xml.sax.handler.ContentHandler):
        def __init__(self) -> None:
            super().__init__()
            self.found: list[str] = []

        def characters(self, content: str) -> None:
            self.found.append(content)

    def handler(inputs: dict[str, Any]) -> Answer:
        parser, words = xml.sax.make_parser(), Words()
        parser.setFeature(xml.sax.handler.feature_external_ges, True)
        parser.setEntityResolver(Inside())
        parser.setContentHandler(words)
        try:
            parser.parse(io.BytesIO(inputs["document"].encode("utf-8", "replace")))
        except (xml.sax.SAXException, OSError):
            return Answer(422, {"error": "not XML"})
        return ok("".join(words.found))

    return handler


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
    RangeSkill(name="reader below its folder", make=opens(below_docs), holes=READS, **fields(path="docs/tea.txt")),
    RangeSkill(
        name="reader that knows a scheme by its spelling",
        make=opens(lambda text: scheme_checked(text) or f"{HOME}/tea.txt", "url"),
        holes=READS,
        **fields(url="https://example.com/tea"),
    ),
    RangeSkill(name="reader that declines dots", make=opens(without_dots), holes=READS, **fields(path="tea.txt")),
    RangeSkill(name="reader of both kinds of slashes", make=opens(windows_name), holes=READS, **fields(path="tea.txt")),
    RangeSkill(
        name="reader of xml",
        make=parses_xml,
        holes=READS,
        **fields(document="<note><to>Ada</to><tea>green</tea></note>"),
    ),
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
    RangeSkill(name="reader that decodes late", make=opens(unquoted_late), holes=READS, **fields(path="tea.txt")),
    RangeSkill(name="reader that cleans once", make=opens(cleaned_once), holes=READS, **fields(path="tea.txt")),
)
