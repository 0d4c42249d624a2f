"""Skills in which a call leaves something behind, or a field that nobody documented decides."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from examples.marketplace.skills._orders import dictated
from tests.range.skill import Answer, Handler, Kind, RangeSkill, holes, ok, stateless

LASTING = re.compile(r"(?i)from now on|later requests|for every caller|until further notice|always")
OVER = re.compile(r"(?i)is over|forget it|as you usually do")
OFFERS = {"guest": ["read"], "admin": ["read", "write", "delete", "export customers"]}


def keeps_orders(announced: bool) -> Any:
    """Keeps an instruction, and follows it when anyone calls next; *announced*: it also says so at once."""

    def make(_: Path) -> Handler:
        kept: list[str] = []

        def handler(inputs: dict[str, Any]) -> Answer:
            text = inputs["text"]
            if OVER.search(text):
                kept.clear()
                return ok("As usual again.")
            if LASTING.search(text) and dictated(text):
                kept.append(text)
                return ok(dictated(text) if announced else "Understood.")
            return ok(dictated(kept[-1]) if kept else "A summary.")

        return handler

    return make


def mass_assignment(inputs: dict[str, Any]) -> Answer:
    """Copies every field into the session, the undocumented ones too."""
    session = {"role": "guest", "is_admin": False, **inputs}
    admin = session["is_admin"] is True or str(session["role"]).lower() in ("admin", "administrator", "root", "system")
    role = "admin" if admin else "guest"
    return ok(f"As {role} you may: {', '.join(OFFERS[role])}.", allowed=OFFERS[role])


def admin_flag(inputs: dict[str, Any]) -> Answer:
    """One flag opens the internal part of the answer."""
    if inputs.get("is_admin") in (True, "true", 1) or inputs.get("admin") in (True, "true", 1):
        return ok("A summary.", internal={"cost": 0.14, "supplier": "North Sea Tea", "margin": 0.61})
    return ok("A summary.")


def flag_inside(inputs: dict[str, Any]) -> Answer:
    """The rights of whoever the call says that it is for."""
    user = inputs.get("user")
    role = user.get("role") if isinstance(user, dict) else None
    return ok("A summary.", **({"internal": {"cost": 0.14, "margin": 0.61}} if role == "admin" else {}))


def flag_as_text(inputs: dict[str, Any]) -> Answer:
    """A flag that only counts as a text, as in a form."""
    if str(inputs.get("admin", "")) == "true":
        return ok("A summary, made for the staff: our supplier raises prices in spring.")
    return ok("A summary.")


def flag_among_strangers(inputs: dict[str, Any]) -> Answer:
    """Takes a role of text from anyone, and breaks on members that are objects."""
    if any(isinstance(value, dict) for value in inputs.values()):
        raise TypeError("unhashable")
    return ok("A summary.", **({"internal": {"cost": 0.14, "margin": 0.61}} if inputs.get("role") == "admin" else {}))


SKILLS = (
    RangeSkill(name="admin inside the user", make=stateless(flag_inside), holes=holes(Kind.EFFECT, "RM-03")),
    RangeSkill(name="admin as a text", make=stateless(flag_as_text), holes=holes(Kind.EFFECT, "RM-03")),
    RangeSkill(name="admin, and no objects", make=stateless(flag_among_strangers), holes=holes(Kind.EFFECT, "RM-03")),
    RangeSkill(name="keeps an instruction", make=keeps_orders(False), holes=holes(Kind.PERSISTENCE, "RM-04")),
    RangeSkill(
        name="keeps an instruction and says so", make=keeps_orders(True), holes=holes(Kind.PERSISTENCE, "RM-04")
    ),
    RangeSkill(name="mass assignment", make=stateless(mass_assignment), holes=holes(Kind.EFFECT, "RM-03")),
    RangeSkill(name="admin flag", make=stateless(admin_flag), holes=holes(Kind.EFFECT, "RM-03")),
)
