from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coordinator.overdue import LONGEST_STEP_S, Due, Overdue, budget_s
from tests.skill import EchoSkill
from workers.wire.job import Parcel

SKILL = EchoSkill.described()


def parcel(*names: str) -> Parcel:
    return EchoSkill.parcel_of(SKILL, "r", names)


def ids(*names: str) -> tuple[str, ...]:
    return tuple(EchoSkill.job_id("r", name) for name in names)


def pass_time(overdue: Overdue, start: float, seconds: float, *, backlog: bool = False) -> list[Due]:
    """Tick once a second for *seconds*; what was due."""
    ticks = [overdue.tick(start + second, backlog=backlog) for second in range(int(seconds) + 1)]
    return [due for due in ticks if due.again or due.lost]


def test_a_job_is_sent_once_more_and_then_given_up() -> None:
    """A job that never comes back is published a second time after its budget, and given up after another."""
    overdue = Overdue()
    overdue.published(parcel("a"), 0.0)
    budget = budget_s(parcel("a"))

    found = pass_time(overdue, 0.0, 2 * budget + 2)

    assert found == [Due(again=ids("a"), lost=()), Due(again=(), lost=ids("a"))]
    assert len(overdue) == 0


def test_a_job_that_returned_is_never_due() -> None:
    """A result ends the wait, also after the second publishing; a second result changes nothing."""
    overdue = Overdue()
    overdue.published(parcel("a", "b"), 0.0)
    budget = budget_s(parcel("a", "b"))
    overdue.returned(*ids("a"))

    first = pass_time(overdue, 0.0, budget + 1)
    overdue.returned(*ids("b"))
    overdue.returned(*ids("b"))
    second = pass_time(overdue, budget + 1, 2 * budget)

    assert first == [Due(again=ids("b"), lost=())]
    assert second == []


def test_time_in_the_queue_does_not_count() -> None:
    """While parcels wait or nobody listens no job is overdue, however long that lasts."""
    overdue = Overdue()
    overdue.published(parcel("a"), 0.0)

    found = pass_time(overdue, 0.0, 5 * budget_s(parcel("a")), backlog=True)

    assert found == []


def test_a_machine_that_slept_ends_nothing() -> None:
    """A long gap between two ticks counts as a few seconds."""
    overdue = Overdue()
    overdue.published(parcel("a"), 0.0)

    found = overdue.tick(1e9, backlog=False)

    assert found == Due((), ())
    assert budget_s(parcel("a")) > LONGEST_STEP_S


def test_publishing_again_does_not_start_over() -> None:
    """A job that is out already keeps its due time when its parcel is published once more."""
    overdue = Overdue()
    overdue.published(parcel("a"), 0.0)
    budget = budget_s(parcel("a"))
    pass_time(overdue, 0.0, budget - 5)
    overdue.published(parcel("a"), budget - 5)

    found = pass_time(overdue, budget - 5, 6)

    assert found == [Due(again=ids("a"), lost=())]


@given(st.lists(st.tuples(st.sampled_from(["publish", "return", "tick"]), st.integers(0, 9)), max_size=200))
def test_no_job_is_forgotten_or_given_up_twice(steps: list[tuple[str, int]]) -> None:
    """Whatever the order of events: what is published either returned, was given up once, or is still waited for."""
    overdue, now = Overdue(), 0.0
    out: set[str] = set()
    for step, number in steps:
        job_id = EchoSkill.job_id("r", str(number))
        if step == "publish":
            overdue.published(parcel(str(number)), now)
            out.add(job_id)
        elif step == "return":
            overdue.returned(job_id)
            out.discard(job_id)
        else:
            now += number
            due = overdue.tick(now, backlog=number % 3 == 0)
            assert set(due.again) <= out
            assert set(due.lost) <= out
            out -= set(due.lost)
        assert len(overdue) == len(out)


def test_memory_does_not_grow_with_the_run() -> None:
    """A hundred thousand jobs that came back leave nothing behind."""
    overdue = Overdue()
    for number in range(100):
        names = [f"{number}-{job}" for job in range(1_000)]
        overdue.published(parcel(*names), float(number))
        for job_id in ids(*names):
            overdue.returned(job_id)
        overdue.tick(float(number), backlog=False)

    assert len(overdue) == 0
    assert len(overdue._due) <= 2_000
