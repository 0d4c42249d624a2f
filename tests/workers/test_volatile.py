from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.volatile import MAX_DEPTH, VOLATILE, steady

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "document",
    [
        {"took_ms": 12.5},
        {"elapsedTime": 3},
        {"created_at": 7},
        {"request_id": "req-000012"},
        {"requestId": 4711},
        {"trace_id": "a"},
        ["2026-09-01T10:00:00.123Z"],
        ["10:00:01"],
        ["0d9b1e62-7a4f-4c6e-9b55-2f4f9c6c1d11"],
        ["5f1c9a0b5f1c9a0b"],
        [1_760_000_000],
        [1_760_000_000_123],
        [1_760_000_000.5],
    ],
)
def test_what_is_volatile_is_replaced(document: Any) -> None:
    """A time by its name or its shape, a request by its number."""
    assert VOLATILE in json.dumps(steady(document), ensure_ascii=False)


@pytest.mark.parametrize(
    "document",
    [
        {"price": 4, "id": 12, "name": "green"},
        {"times": ["morning"], "customer_id": "c-1", "format": 3},
        [True, None, 1_024, "call 555-0100", "the sum is 144"],
        {"a": {"b": [{"c": 1.5}]}},
    ],
)
def test_what_is_said_stays(document: Any) -> None:
    """Prices, names, other people's numbers."""
    assert steady(document) == document


@given(JSON)
def test_any_document_has_a_steady_form(document: Any) -> None:
    """It is JSON again, and what is steady stays so."""
    once = steady(document)

    assert json.loads(json.dumps(once)) == once
    assert steady(once) == once


def test_depth_is_bounded() -> None:
    """However deep it is."""
    document: Any = "deep"
    for _ in range(200):
        document = [document]

    assert json.dumps(steady(document), ensure_ascii=False).count("[") == MAX_DEPTH + 1
