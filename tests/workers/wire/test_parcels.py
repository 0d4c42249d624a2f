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


def test_a_result_survives_the_journey() -> None:
    """What is encoded is decoded as it was."""
    result = Unjudged(job_id="j", run_id="r", skill_digest="d", pillar=Pillar.SECURITY, probe="p", reason="why")

    assert parcels.decode_result(parcels.encode_result(result)) == result


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
