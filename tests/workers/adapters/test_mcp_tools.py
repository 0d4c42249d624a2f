from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.adapters._json_rpc import Fault, Success
from workers.adapters._mcp_tools import PAGES, TOOLS, TOOLS_BYTES, BadTools, ToolList, reply
from workers.observation import Failed, Malformed, Refused, Value

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)
TEXT = {"type": "text", "text": "plain words"}


@pytest.mark.parametrize(
    ("result", "value"),
    [
        ({"content": [TEXT]}, "plain words"),
        ({"content": [{"type": "text", "text": '{"a": [1]}'}]}, {"a": [1]}),
        ({"content": [{"type": "text", "text": "42"}]}, 42),
        ({"content": [TEXT, {"type": "image", "data": ""}, TEXT]}, "plain words\nplain words"),
        ({"content": [TEXT], "structuredContent": {"sum": 3}}, {"sum": 3}),
        ({"content": [TEXT], "structuredContent": None}, "plain words"),
        ({"structuredContent": None}, None),
        ({"structuredContent": False, "isError": False}, False),
        ({"content": [{"type": "image", "data": "x"}]}, [{"type": "image", "data": "x"}]),
        ({"content": []}, []),
        ({"content": [{"type": "text", "text": "NaN"}]}, "NaN"),
    ],
)
def test_what_is_structured_counts_before_text_and_text_that_is_json_stands_for_its_value(
    result: dict[str, Any], value: Any
) -> None:
    """Content of other kinds is the value where there is no text."""
    assert reply(Success(result)) == Value(value)


def test_a_declared_error_is_a_refusal() -> None:
    """A tool declines with ``isError``, and its text says why; asking for a person's input is declining too."""
    declined = reply(Success({"isError": True, "content": [{"type": "text", "text": "no such city"}]}))

    assert declined == Refused("the tool reports an error: no such city")
    assert isinstance(reply(Success({"resultType": "input_required", "inputRequests": {}})), Refused)


@pytest.mark.parametrize(
    ("code", "kind"),
    [(-32602, Refused), (-32601, Refused), (-32021, Refused), (4, Refused), (-32603, Failed), (-32020, Failed)],
)
def test_an_error_declines_unless_the_server_broke(code: int, kind: type) -> None:
    """An internal error, or a fault found with the protocol, is no way to decline."""
    assert isinstance(reply(Fault(code, "why")), kind)


@pytest.mark.parametrize("result", [None, [], "x", {}, {"content": "x"}, {"content": ["x"]}])
def test_a_result_of_another_form_is_malformed(result: Any) -> None:
    """It claims success and answers nothing."""
    assert isinstance(reply(Success(result)), Malformed)


@given(ANYTHING)
def test_any_result_can_be_read(result: Any) -> None:
    """Whatever a server answers, it is read as something."""
    assert isinstance(reply(Success(result)), Value | Refused | Malformed)


def test_a_list_goes_from_page_to_page() -> None:
    """Each page says where the next one is; the last says nothing."""
    listed = ToolList()

    first = listed.add({"tools": [{"name": "a", "inputSchema": {"type": "object"}}], "nextCursor": "2"}, 10)
    second = listed.add({"tools": [{"name": "b", "title": "B", "description": 7}]}, 10)

    assert (first, second) == ("2", None)
    assert [(tool.name, tool.title, tool.description) for tool in listed.tools] == [("a", "", ""), ("b", "B", "")]


@pytest.mark.parametrize(
    ("pages", "sizes"),
    [
        ([{"tools": [], "nextCursor": "x"}] * 2, [1, 1]),
        ([{"tools": [{"name": "a"}] * (TOOLS + 1)}], [1]),
        ([{"tools": []}], [TOOLS_BYTES + 1]),
        ([{"tools": [], "nextCursor": str(page)} for page in range(PAGES)], [1] * PAGES),
        ([{"tools": [], "nextCursor": 7}], [1]),
        ([{"tools": [{}]}], [1]),
        ([{"tools": ["a"]}], [1]),
        ([{"tools": None}], [1]),
        ([[]], [1]),
    ],
)
def test_a_list_that_is_none_or_has_no_end_is_refused(pages: list[Any], sizes: list[int]) -> None:
    """Circles, floods and other forms are the server's mistake."""

    def read() -> None:
        listed = ToolList()
        for page, size in zip(pages, sizes, strict=True):
            listed.add(page, size)

    with pytest.raises(BadTools):
        read()
