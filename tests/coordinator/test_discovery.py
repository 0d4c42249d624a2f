from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.catalog.skill import Rejection, Skill
from coordinator.discovery import DISCOVERY, TOOLS, entries, is_server
from coordinator.edge_cases import edge_cases
from tests.coordinator.skills import skill
from workers.wire.job import Pillar
from workers.wire.result import Discovered, Judged, Outcome, Tool, Unjudged, Verdict
from workers.wire.skill import Access

ACCESS = Access(adapter="mcp", endpoint="http://127.0.0.1:1/mcp", options={"headers": {"X": "y"}})
SERVER = skill(
    id="com.example/weather",
    version="2.0.0",
    format="mcp_registry",
    source="s.json",
    author="com.example",
    access=ACCESS,
)
CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "the town", "minLength": 2, "enum": ["Lisbon", "Porto"]},
        "days": {"type": "integer", "minimum": 1, "maximum": 7},
        "part": {"$ref": "#/$defs/part"},
    },
    "required": ["city", "days", "part"],
    "additionalProperties": False,
    "$defs": {"part": {"enum": ["day", "night"]}},
}
IDENTITY: dict[str, Any] = {
    "job_id": "j", "run_id": "r", "skill_digest": "d", "pillar": Pillar.FUNCTIONAL, "probe": DISCOVERY
}  # fmt: skip


def discovered(*tools: Tool) -> list[Discovered]:
    return [Discovered(**IDENTITY, tools=tools)]


def found(*tools: Tool) -> list[Skill | Rejection]:
    made = entries(SERVER, discovered(*tools))
    assert made is not None
    return made


def test_a_server_is_an_entry_that_names_no_tool() -> None:
    """With a tool it is that tool; other adapters have none."""
    assert is_server(SERVER)
    assert not is_server(skill(access=Access(adapter="mcp", endpoint="http://h/", options={"tool": "x"})))
    assert not is_server(skill())
    assert not is_server(skill(access=None))


def test_each_tool_is_a_skill_of_the_server() -> None:
    """With the server's way in, version and author, and its own inputs and outputs."""
    [tool] = found(Tool(name="forecast", title="Forecast", description="Says the weather.", input_schema=CITY,
                        output_schema={"type": "object", "properties": {"sky": {"type": "string"}}}))  # fmt: skip

    assert isinstance(tool, Skill)
    assert (tool.id, tool.name, tool.version, tool.author) == (
        "com.example/weather/forecast", "Forecast", "2.0.0", "com.example"
    )  # fmt: skip
    assert (tool.source, tool.pointer) == ("s.json", "/tools/forecast")
    assert tool.access == Access(
        adapter="mcp", endpoint="http://127.0.0.1:1/mcp", options={"headers": {"X": "y"}, "tool": "forecast"}
    )
    assert [(one.name, one.required) for one in tool.inputs] == [("city", True), ("days", True), ("part", True)]
    assert [one.name for one in tool.outputs] == ["sky"]
    assert tool.description == "Says the weather."


def test_all_that_the_schema_says_survives() -> None:
    """The example is valid by it, and edge cases know its limits."""
    [tool] = found(Tool(name="forecast", input_schema=CITY))

    assert isinstance(tool, Skill)
    assert tool.input_schema == CITY
    assert tool.example == {"city": "Lisbon", "days": 3, "part": "day"}
    names = " ".join(case.name for case in edge_cases(tool, max_requests=100, takes_body=False))
    assert "days" in names
    assert "missing/city" in names


def test_the_digest_is_of_the_server_and_the_tool() -> None:
    """What a tool says of itself decides its jobs, and the order in which it is listed does not."""
    one, other = Tool(name="a", input_schema={}), Tool(name="b", input_schema={})

    first, second = found(one, other), found(other, one)
    [changed] = found(Tool(name="a", input_schema={}, description="new"))

    assert isinstance(first[0], Skill)
    assert isinstance(second[1], Skill)
    assert isinstance(changed, Skill)
    assert first[0].digest == second[1].digest != changed.digest
    assert len({entry.digest for entry in first if isinstance(entry, Skill)}) == 2


@pytest.mark.parametrize(
    ("tool", "pointer", "said"),
    [
        (Tool(name="t"), "/tools/t/inputSchema", "null"),
        (Tool(name="t", input_schema={"type": "array"}), "/tools/t/inputSchema/type", "array"),
        (Tool(name="t", input_schema={"properties": 7}), "/tools/t/inputSchema/properties", "7"),
        (Tool(name="t", input_schema={"$ref": "https://example.com/s"}), "/tools/t/inputSchema/$ref", "example.com"),
        (Tool(name="t", input_schema={}, output_schema="x"), "/tools/t/outputSchema", "x"),
        (Tool(name="", input_schema={}), "/tools//name", "empty"),
    ],
)
def test_a_tool_that_cannot_be_certified_is_a_rejection_of_its_own(tool: Tool, pointer: str, said: str) -> None:
    """The other tools of the server go on."""
    bad, good = found(tool, Tool(name="fine", input_schema={}))

    assert isinstance(bad, Rejection)
    assert (bad.source, bad.pointer) == ("s.json", pointer)
    assert said in bad.found
    assert isinstance(good, Skill)


def test_a_name_is_taken_once() -> None:
    """The second tool of a name could not be called."""
    first, second = found(Tool(name="t", input_schema={}), Tool(name="t", input_schema={}))

    assert isinstance(first, Skill)
    assert isinstance(second, Rejection)
    assert "again" in second.found


def test_a_name_that_an_id_cannot_hold_is_made_into_one() -> None:
    """The call keeps the name that the server gave."""
    [tool] = found(Tool(name="Wetter heute\n", input_schema={}))

    assert isinstance(tool, Skill)
    assert tool.id == "com.example/weather/wetter-heute"
    assert tool.access is not None
    assert tool.access.options["tool"] == "Wetter heute\n"


def test_a_server_without_tools_is_a_rejection() -> None:
    """There is nothing to certify, and it is said."""
    [entry] = found()

    assert isinstance(entry, Rejection)
    assert entry.source == "s.json"


def test_a_server_that_does_not_tell_is_a_rejection_and_one_that_we_could_not_ask_is_not() -> None:
    """What it did instead is told; our own failure says nothing of it."""
    verdict = Verdict(outcome=Outcome.ERROR, score=0.0, evidence="connecting failed: refused\x1b[2J")

    told = entries(SERVER, [Judged(**IDENTITY, verdict=verdict)])
    unasked = entries(SERVER, [Unjudged(**IDENTITY, reason="lost")])

    assert told is not None
    assert isinstance(told[0], Rejection)
    assert told[0].found == r"connecting failed: refused\x1b[2J"
    assert unasked is None


def test_more_tools_than_a_server_may_have_are_left_out() -> None:
    """Results come from a queue: their length is checked again."""
    many = [Tool(name=f"t{number}", input_schema={}) for number in range(TOOLS + 5)]

    assert len(found(*many)) == TOOLS


WORDS = st.sampled_from(["type", "properties", "required", "$ref", "enum", "items", "a"])
SCHEMAS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
)


@given(SCHEMAS, SCHEMAS, st.text(max_size=20))
def test_whatever_a_server_says_becomes_a_skill_or_a_rejection(inputs: Any, outputs: Any, name: str) -> None:
    """Hostile descriptions end as explained rejections."""
    [entry] = found(Tool(name=name, input_schema=inputs, output_schema=outputs))

    assert isinstance(entry, Skill | Rejection)
