"""What a file or an environment looks like when it is printed, and never when it is talked about.

Each shape needs several lines of the thing itself, each from its beginning: a sentence about ``/etc/passwd`` quotes its
first line, and only the file has a second one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import re2

from workers.scanning import View

MIN_VARIABLES = 3

_START = r"(?:^|\n|\x00|\\n)"
_PASSWD = re2.compile(
    _START + r"root:[x*!]?:0:0:[^:\n]*:/[^:\n]*:[^:\n]*(?:\r?\n|\\n)[a-z_][a-z0-9_-]{0,31}:[x*!]?:[0-9]+:[0-9]+:"
)
_WIN_INI = re2.compile(r"(?is)" + _START + r"\[fonts\]\s.{0,400}\[extensions\]\s.{0,400}\[mci extensions\]")
# What nearly every process has; together they are an environment and no list of settings.
_NAMES = "PATH|HOME|PWD|LANG|USER|SHELL|HOSTNAME|LOGNAME|SHLVL|TERM|TMPDIR|LC_ALL|OLDPWD|SYSTEMROOT|WINDIR|USERPROFILE"
_VARIABLE = re2.compile(_START + rf"\s*(?:export |declare -x )?({_NAMES})=[^\s]")
_MEMBER = re2.compile(rf"/({_NAMES})$")


def passwd(views: Iterable[View]) -> View | None:
    """A list of accounts: the line of root and the next one."""
    return next((view for view in views if _PASSWD.search(view.text)), None)


def win_ini(views: Iterable[View]) -> View | None:
    """The sections that every Windows has in its ``win.ini``, in their order."""
    return next((view for view in views if _WIN_INI.search(view.text)), None)


def environment(views: Iterable[View]) -> View | None:
    """At least `MIN_VARIABLES` variables of a process: on lines of their own, or as members of one object."""
    members: dict[str, tuple[set[str], View]] = {}
    for view in views:
        if len({match[1] for match in _VARIABLE.finditer(view.text)}) >= MIN_VARIABLES:
            return view
        member = _MEMBER.search(view.where)
        if member:
            names, _ = members.setdefault(view.where[: member.start()], (set(), view))
            names.add(member[1])
    return next((view for names, view in members.values() if len(names) >= MIN_VARIABLES), None)


SHAPES: dict[str, tuple[str, Callable[[Iterable[View]], View | None]]] = {
    "passwd": ("the lines of a file with accounts", passwd),
    "win_ini": ("the sections of a Windows settings file", win_ini),
    "environment": ("variables of a process's environment", environment),
}
