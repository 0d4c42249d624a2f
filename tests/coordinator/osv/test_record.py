from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.catalog.rejection import Rejected
from coordinator.osv.record import Event, NoRecord, parse
from tests.coordinator.osv.dumps import record

YAML = b"""
id: PYSEC-1
modified: 2024-10-10T12:00:00.123456789Z
affected:
- package: {name: x, ecosystem: PyPI}
  ranges:
  - type: ECOSYSTEM
    events: [{introduced: 0}, {fixed: 1.10}]
  versions: [1.9, 1.0]
withdrawn: null
"""


def test_versions_in_yaml_are_texts() -> None:
    """1.10 without quotes is a version, and not the number 1.1."""
    found = parse(YAML, yaml=True)

    assert found.affected is not None
    assert found.affected[0].versions == ("1.9", "1.0")
    assert (found.affected[0].ranges or ())[0].events == (Event(introduced="0"), Event(fixed="1.10"))
    assert found.withdrawn is None


def test_unknown_members_are_left_alone() -> None:
    """The schema grows; what decides has stayed."""
    assert parse(json.dumps(record("A", upstream=["B"], credits=[{"name": "x"}])).encode()).id == "A"


@pytest.mark.parametrize("data", [b"{}", b'{"name": "package.json"}', b'{"id": "x"}'])
def test_another_document_is_told_from_a_bad_record(data: bytes) -> None:
    """A folder of records has other files too."""
    with pytest.raises(NoRecord):
        parse(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b'{"id": "A", "modified": "yesterday"}',
        b'{"id": 5, "modified": "2024-01-01T00:00:00Z"}',
        b'{"id": "A", "modified": "2024-01-01T00:00:00Z", "affected": [{"versions": [1.0]}]}',
        b'{"id": "A", "modified": "2024-01-01T00:00:00Z", "affected": [{"ranges": "all"}]}',
        b'{"id": "A", "modified": "2024-01-01T00:00:00Z", "database_specific": ' + b"[" * 100_000,
    ],
)
def test_a_bad_record_is_refused(data: bytes) -> None:
    """Strictly: a record that is half understood would read as clean."""
    with pytest.raises(Rejected):
        parse(data)


def test_yaml_aliases_are_refused() -> None:
    """Nine lines of aliases can stand for a billion versions."""
    with pytest.raises(Rejected, match="alias"):
        parse(b"id: A\nmodified: &x 2024-01-01T00:00:00Z\nwithdrawn: *x\n", yaml=True)


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_are_too_odd(data: bytes, yaml: bool) -> None:
    """Each is a record, no record, or refused."""
    try:
        parse(data, yaml=yaml)
    except (NoRecord, Rejected):
        return
