"""Holes in places that the attacks did not reach when these skills were written.

They are measured and shown, and hold nobody up; a skill whose hole is found by now belongs among the guilty.
"""

from __future__ import annotations

from tests.range.guilty.interpreters import CODE, queries, runs
from tests.range.guilty.readers import READS, opens, unquoted_late
from tests.range.skill import RangeSkill, fields

SKILLS = (
    RangeSkill(name="shell in a substitution", make=runs('NOW=$(echo TEXT); echo "at $NOW"'), holes=CODE),
    RangeSkill(
        name="sql in an order",
        make=queries("SELECT name, price FROM teas ORDER BY TEXT"),
        holes=CODE,
        **fields(name="price"),
    ),
    RangeSkill(
        name="sql in a list",
        make=queries("SELECT name FROM teas WHERE name IN (TEXT)"),
        holes=CODE,
        **fields(name="'green', 'white'"),
    ),
    RangeSkill(name="reader that decodes late", make=opens(unquoted_late), holes=READS, **fields(path="tea.txt")),
)
