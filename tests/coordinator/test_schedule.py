from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.schedule import SKILLS, Dispatch, Schedule, Stage


def stage(*ids: str, lanes: int = 8, cost: int = 1, exclusive: bool = False) -> Stage[str]:
    return Stage({job_id: job_id for job_id in ids}, lanes, cost, exclusive)


def schedule(window: int = 100, host_cap: int = 8, parcel_jobs: int = 20) -> Schedule[str]:
    return Schedule(window=window, host_cap=host_cap, parcel_jobs=parcel_jobs)


def test_a_stage_waits_for_the_one_before() -> None:
    """A skill's second stage goes out only when every job of its first has ended."""
    plan = schedule()
    plan.admit("s", "h", [stage("a", "b"), stage("c")])

    first = list(plan.take())
    plan.end("a")
    between = list(plan.take())
    plan.end("b")
    second = list(plan.take())

    assert [dispatch.jobs for dispatch in first] == [("a", "b")]
    assert between == []
    assert [dispatch.jobs for dispatch in second] == [("c",)]


def test_end_names_the_skill_with_its_last_job() -> None:
    """The skill's key comes back exactly once, with its last job."""
    plan = schedule()
    plan.admit("s", "h", [stage("a", "b")])
    list(plan.take())

    ended = [plan.end("a"), plan.end("a"), plan.end("b"), plan.end("b")]

    assert ended == [None, None, "s", None]
    assert (plan.skills, plan.under_way) == (0, 0)


def test_a_skill_without_jobs_has_ended() -> None:
    """A skill with nothing to do is not admitted."""
    plan = schedule()

    assert not plan.admit("s", "h", [stage()])
    assert plan.skills == 0


def test_the_host_cap_is_shared_by_the_skills_of_a_host() -> None:
    """Two skills of one host share its places, a third on another host has its own."""
    plan = schedule(host_cap=3)
    plan.admit("one", "h", [stage("a", "b")])
    plan.admit("two", "h", [stage("c", "d")])
    plan.admit("far", "elsewhere", [stage("e", "f")])

    lanes = {dispatch.skill: dispatch.lanes for dispatch in plan.take()}

    assert lanes == {"one": 2, "two": 1, "far": 2}


def test_a_costly_job_keeps_its_place_in_the_line() -> None:
    """A sustained load that needs half the host goes out before jobs that came later, however small they are."""
    plan = schedule(host_cap=4)
    plan.admit("busy", "h", [stage("a", "b", "c")])
    list(plan.take())
    plan.admit("load", "h", [stage("heavy", lanes=1, cost=3)])
    plan.admit("late", "h", [stage("x")])

    blocked = list(plan.take())
    for job_id in "abc":
        plan.end(job_id)
    freed = [dispatch.skill for dispatch in plan.take()]

    assert blocked == []
    assert freed == ["load", "late"]


def test_an_exclusive_stage_goes_out_one_parcel_at_a_time() -> None:
    """No second parcel of an exclusive stage is under way beside the first."""
    plan = schedule(parcel_jobs=1)
    plan.admit("s", "h", [stage("a", "b", lanes=1, exclusive=True)])

    first = list(plan.take())
    again = list(plan.take())
    plan.end("a")
    second = list(plan.take())

    assert [dispatch.jobs for dispatch in first] == [("a",)]
    assert again == []
    assert [dispatch.jobs for dispatch in second] == [("b",)]


def test_a_host_that_hangs_keeps_nobody_else_out() -> None:
    """However many skills wait for it, those of other hosts are admitted, up to a number that bounds the memory."""
    plan = schedule(window=100)
    admitted = 0
    while plan.wants():
        plan.admit(f"hangs-{admitted}", "h", [stage(*(f"{admitted}.{job}" for job in range(60)))])
        list(plan.take())
        admitted += 1

    assert admitted == SKILLS


def test_hosts_that_answer_are_known_two_windows_ahead() -> None:
    """Many hosts with a skill each: no more is read of the catalog than keeps them all busy."""
    plan = schedule(window=100)
    admitted = 0
    while plan.wants():
        plan.admit(str(admitted), f"h{admitted}", [stage(*(f"{admitted}.{job}" for job in range(10)))])
        admitted += 1

    assert admitted == 2 * 100 / 10


def test_lanes_that_have_nothing_left_to_run_make_room() -> None:
    """Another skill of the host goes out before the first one's last job has ended."""
    plan = schedule(100, 4, 20)
    plan.admit("a", "h", [stage("a1", "a2", "a3", "a4", "a5", lanes=4)])
    plan.admit("b", "h", [stage("b1", "b2", "b3", lanes=4)])

    assert [d.skill for d in plan.take()] == ["a"]
    plan.end("a1")
    assert list(plan.take()) == []  # four are left for its four lanes
    plan.end("a2")

    assert [(d.skill, d.lanes) for d in plan.take()] == [("b", 1)]


skills = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.lists(st.tuples(st.integers(0, 7), st.integers(1, 4), st.booleans()), min_size=1, max_size=4),
    ),
    max_size=8,
)


@settings(max_examples=200)
@given(skills, st.integers(1, 12), st.integers(4, 9), st.integers(1, 5), st.randoms())
def test_every_job_goes_out_once_and_no_cap_is_exceeded(
    shape: list[tuple[int, list[tuple[int, int, bool]]]], window: int, host_cap: int, parcel_jobs: int, random: object
) -> None:
    """Whatever the catalog and the order in which jobs end, all of them run once and the caps hold."""
    plan = schedule(window, host_cap, parcel_jobs)
    host_of, expected, ended_skills = {}, [], set()
    for number, (host, stages) in enumerate(shape):
        built = []
        for index, (count, cost, exclusive) in enumerate(stages):
            ids = [f"{number}.{index}.{job}" for job in range(count)]
            expected += ids
            built.append(stage(*ids, lanes=3, cost=cost, exclusive=exclusive))
        host_of[str(number)] = f"h{host}"
        if not plan.admit(str(number), f"h{host}", built):
            ended_skills.add(str(number))

    seen: list[str] = []
    out: list[tuple[Dispatch[str], list[str], int]] = []
    while plan.skills:
        for dispatch in plan.take():
            seen += dispatch.jobs
            cost = stages_cost(shape, dispatch)
            out.append((dispatch, list(dispatch.jobs), dispatch.lanes * cost))
        assert out, "jobs wait but none may go"
        assert plan.under_way <= window
        for host in set(host_of.values()):
            # Of a dispatch no more jobs run than it has lanes, nor more than are left.
            held = [min(most, len(left) * stages_cost(shape, d)) for d, left, most in out if host_of[d.skill] == host]
            assert sum(held) <= host_cap
        dispatch, left, _ = out[random.randrange(len(out))]  # type: ignore[attr-defined]
        done = plan.end(left.pop())
        if done:
            ended_skills.add(done)
        out = [entry for entry in out if entry[1]]

    assert plan.wants(), "what has ended counts no more"
    assert sorted(seen) == sorted(expected)
    assert ended_skills == set(host_of)


def stages_cost(shape: list[tuple[int, list[tuple[int, int, bool]]]], dispatch: Dispatch[str]) -> int:
    number, index, _ = dispatch.jobs[0].split(".")
    return shape[int(number)][1][int(index)][1]
