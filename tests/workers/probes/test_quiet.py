from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workers.probes.quiet import GIVE_UP_AFTER, Quiet
from workers.probes.readings import Reading, Sample
from workers.wire.job import QuietJob

LATE, IN_TIME = 20.0, 1.0
ENDS = st.one_of(st.floats(0, 30), st.sampled_from(["failed", "timed out"]))


def job(requests: int = 3, *, warmup: int = 0, retakes: int = 2) -> QuietJob:
    return QuietJob(id="q", probe="latency/quiet", requests=requests, warmup=warmup, retakes=retakes, max_lag_ms=10.0)


def reading(order: int, end: float | str) -> Reading:
    """A sample with a lag of *end* ms, or a request that *end*."""
    if isinstance(end, str):
        return Reading(order=order, busy_ms=1.0, flaw=end, timed_out=end == "timed out")
    return Reading(order=order, busy_ms=2.0, sample=Sample(2.0, 2.0 + end, 1.0, True, end))


def run(quiet: Quiet, *ends: float | str) -> list[int]:
    """The numbers of the requests that were sent; the last of *ends* repeats."""
    sent: list[int] = []
    while (order := quiet.next()) is not None:
        sent.append(order)
        quiet.took(reading(order, ends[min(len(sent), len(ends)) - 1]))
    return sent


def lags(quiet: Quiet) -> list[float | None]:
    return [one.sample.lag_ms if one.sample else None for one in quiet.readings]


def test_a_sample_in_time_is_taken_once() -> None:
    """Where our machine is not in the way, each request is sent once, after the warm-up."""
    quiet = Quiet(job(warmup=2))

    sent = run(quiet, IN_TIME)

    assert sent == [-2, -1, 0, 1, 2]
    assert [one.order for one in quiet.readings] == [0, 1, 2]


def test_a_late_sample_is_taken_again_until_it_is_in_time() -> None:
    """The first try in time counts, and says how many it took."""
    quiet = Quiet(job())

    sent = run(quiet, LATE, IN_TIME)

    assert sent == [0, 0, 1, 2]
    assert (lags(quiet), [one.tries for one in quiet.readings]) == ([IN_TIME] * 3, [2, 1, 1])


def test_after_two_more_tries_the_least_late_counts() -> None:
    """Nobody is asked for ever: three tries, and the one during which our machine was least in the way stands."""
    quiet = Quiet(job(requests=1))

    sent = run(quiet, 30.0, 15.0, 20.0)

    assert (sent, lags(quiet), quiet.readings[0].tries) == ([0, 0, 0], [15.0], 3)


def test_a_warm_up_is_not_taken_again() -> None:
    """What is not measured need not be believed."""
    quiet = Quiet(job(requests=1, warmup=1))

    sent = run(quiet, LATE, IN_TIME)

    assert sent == [-1, 0]


def test_a_failure_is_never_taken_again() -> None:
    """A skill has no second chance by our lateness: what failed has failed."""
    quiet = Quiet(job(requests=1))

    sent = run(quiet, "failed", IN_TIME)

    assert (sent, lags(quiet)) == ([0], [None])


def test_a_second_try_that_fails_is_a_failure() -> None:
    """What the skill failed at counts, whichever try it was, and is not asked a third time."""
    quiet = Quiet(job(requests=1))

    sent = run(quiet, LATE, "failed", IN_TIME)

    assert (sent, lags(quiet)) == ([0, 0], [None])


@given(st.lists(st.sampled_from([LATE, IN_TIME]), min_size=60, max_size=60), st.integers(0, 9))
def test_no_failure_is_forgotten_by_asking_again(ends: list[float], offset: int) -> None:
    """A skill that drops every tenth request fails at two or more of twenty, however often they are taken again."""
    quiet = Quiet(job(requests=20))

    run(quiet, *("failed" if (at + offset) % 10 == 9 else end for at, end in enumerate(ends)))

    assert lags(quiet).count(None) >= 2


def test_which_try_counts_does_not_depend_on_the_skill() -> None:
    """Of two tries with the same lag the first counts, however quick the other was."""
    quiet = Quiet(job(requests=1, retakes=1))
    quiet.took(Reading(order=0, busy_ms=9.0, sample=Sample(9.0, 29.0, 1.0, True, LATE)))
    quiet.took(Reading(order=0, busy_ms=1.0, sample=Sample(1.0, 21.0, 1.0, True, LATE)))

    [found] = quiet.readings

    assert found.busy_ms == 9.0


@given(
    ends=st.lists(ENDS, min_size=1, max_size=80),
    requests=st.integers(1, 20),
    warmup=st.integers(0, 3),
    retakes=st.integers(0, 3),
)
def test_a_series_always_ends(ends: list[float | str], requests: int, warmup: int, retakes: int) -> None:
    """Whatever comes back, each request has one reading, in order, and no more than its tries are sent."""
    quiet = Quiet(job(requests, warmup=warmup, retakes=retakes))

    sent = run(quiet, *ends)

    assert len(sent) == quiet.requests <= warmup + requests * (1 + retakes)
    assert [one.order for one in quiet.readings] == list(range(len(quiet.readings)))
    assert len(quiet.readings) == requests or quiet.requests >= GIVE_UP_AFTER
