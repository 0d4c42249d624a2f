"""Files and environments as they are, and as they are talked about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.scanning import View
from workers.shapes import SHAPES

PASSWD = "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
WIN_INI = "; for 16-bit app support\r\n[fonts]\r\n[extensions]\r\n[mci extensions]\r\n[files]\r\n"
ENVIRON = "PATH=/usr/bin:/bin\nHOME=/root\nLANG=C.UTF-8\n"


def found(name: str, text: str) -> bool:
    """Whether *text* has the shape *name*."""
    return SHAPES[name][1]([View("body", text, 0)]) is not None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("passwd", PASSWD),
        ("passwd", "Here it is:\n" + PASSWD),
        ("passwd", PASSWD.replace("\n", "\\n")),
        ("passwd", "root::0:0:System:/root:/bin/sh\nbin:*:1:1:bin:/bin:/sbin/nologin"),
        ("win_ini", WIN_INI),
        ("environment", ENVIRON),
        ("environment", ENVIRON.replace("\n", "\0")),
        ("environment", "declare -x PATH=/bin\ndeclare -x PWD=/srv\ndeclare -x SHLVL=1"),
    ],
)
def test_the_thing_itself_is_known(name: str, text: str) -> None:
    """Several lines of it, each from its beginning."""
    assert found(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("passwd", "The first line of /etc/passwd is root:x:0:0:root:/root:/bin/bash on most systems."),
        ("passwd", "root:x:0:0:root:/root:/bin/bash\nand so on"),
        ("passwd", "../../../../etc/passwd"),
        ("win_ini", "A win.ini has sections such as [fonts], [extensions] and [mci extensions]."),
        ("environment", "The environment: PATH=/usr/bin:/bin HOME=/root LANG=C.UTF-8 SHELL=/bin/sh"),
        ("environment", "PATH=/usr/bin\nPATH=/bin\nPATH=/sbin"),
        ("environment", "COLOUR=blue\nSIZE=large\nTEA=green"),
    ],
)
def test_talk_of_it_is_not(name: str, text: str) -> None:
    """One line, a list of names, another file."""
    assert not found(name, text)


def test_an_environment_may_be_an_object() -> None:
    """Its members stand in one place; the same names all over an answer are no environment."""
    together = [View(f"body /env/{name}", "x", 0) for name in ("PATH", "HOME", "LANG")]
    apart = [View(f"body /{number}/{name}", "x", 0) for number, name in enumerate(("PATH", "HOME", "LANG"))]

    assert SHAPES["environment"][1](together) is not None
    assert SHAPES["environment"][1](apart) is None


@given(st.text())
def test_no_text_breaks_them(text: str) -> None:
    """They take text of others."""
    for _, find in SHAPES.values():
        find([View("body", text, 0)])
