from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.skill import EchoSkill
from workers.wire import parcels
from workers.wire.job import Pillar
from workers.wire.parcels import Undecodable
from workers.wire.result import Unjudged

SECRET = "hunter2-hunter2"


@pytest.fixture
def body(echo_skill: EchoSkill) -> bytes:
    return parcels.encode(echo_skill.parcel("r", ["a", "b"]), "skillmark.functional")


def test_a_parcel_survives_the_journey(echo_skill: EchoSkill) -> None:
    """What is encoded is decoded as it was."""
    parcel = echo_skill.parcel("r", ["a", "ü", "\u0000"])

    found = parcels.decode(parcels.encode(parcel, "skillmark.functional"))

    assert found.args == (parcel,)


@given(st.lists(st.text(max_size=40), max_size=8))
def test_results_survive_the_journey(reasons: list[str]) -> None:
    """What is encoded is decoded as it was, whatever line ends stand in it and however many messages it takes."""
    results = [
        Unjudged(job_id=str(number), run_id="r", skill_digest="d", pillar=Pillar.SECURITY, probe="p", reason=reason)
        for number, reason in enumerate(reasons)
    ]

    bodies = list(parcels.encode_results(results))

    assert [parcels.decode_result(line) for body in bodies for line in parcels.lines_of(body)] == results


def test_large_results_go_in_several_messages() -> None:
    """A message stays small, whatever its results quote; one that is large by itself goes alone."""
    large = Unjudged(job_id="j", run_id="r", skill_digest="d", pillar=Pillar.SECURITY, probe="p", reason="x" * 300_000)

    bodies = list(parcels.encode_results([large] * 3))

    assert [len(parcels.lines_of(body)) for body in bodies] == [1, 1, 1]


def test_more_lines_than_anybody_sends_are_one() -> None:
    """A message of a million empty lines is one mistake, not a million."""
    assert len(parcels.lines_of(b"\n" * 1_000_000)) == 1


@given(st.binary(max_size=200))
def test_rubbish_is_undecodable(body: bytes) -> None:
    """Bytes that are no message end in `Undecodable` and in nothing else."""
    with pytest.raises(Undecodable):
        parcels.decode(body)
    with pytest.raises(Undecodable):
        parcels.decode_result(body)


@pytest.mark.parametrize(
    "change",
    [
        {"args": []},
        {"args": [SECRET]},
        {"args": [{"id": SECRET}]},
        {"options": 5},
        {"queue_name": None},
        {SECRET: 1},
        {"message_timestamp": SECRET},
    ],
)
def test_what_is_not_a_parcel_is_undecodable_and_not_quoted(body: bytes, change: dict[str, object]) -> None:
    """A message of another shape is refused, and the reason shows nothing of its content."""
    message = msgspec.json.decode(body) | change

    with pytest.raises(Undecodable) as caught:
        parcels.decode(msgspec.json.encode(message))

    assert SECRET not in str(caught.value)


def test_results_go_to_results_queues_only(echo_skill: EchoSkill) -> None:
    """A parcel that would send its results into a job queue is refused."""
    parcel = msgspec.structs.replace(echo_skill.parcel("r", ["a"]), reply_to="skillmark.functional")

    with pytest.raises(Undecodable, match="reply_to"):
        parcels.decode(parcels.encode(parcel, "skillmark.functional"))


def test_a_huge_message_is_not_parsed() -> None:
    """A message above the limit is refused by its size."""
    with pytest.raises(Undecodable, match="bytes"):
        parcels.decode(b" " * (parcels.MAX_BYTES + 1))


def test_deep_nesting_is_undecodable() -> None:
    """A message nested a hundred thousand deep is refused, and breaks nothing."""
    with pytest.raises(Undecodable):
        parcels.decode(b'{"args":' + b"[" * 100_000)
