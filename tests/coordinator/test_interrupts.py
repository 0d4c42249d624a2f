from __future__ import annotations

import os
import signal
import threading

import pytest

from coordinator.interrupts import NUMBERS, Interrupts


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_interrupts_between_steps(number: int) -> None:
    """SIGTERM ends work as Ctrl-C does, and who listened before listens again."""
    before = signal.getsignal(number)

    def work() -> None:
        with Interrupts():
            os.kill(os.getpid(), number)
            threading.Event().wait(60)

    with pytest.raises(KeyboardInterrupt):
        work()

    assert signal.getsignal(number) is before


@pytest.mark.parametrize("number", NUMBERS)
def test_a_step_that_is_held_is_finished_first(number: int) -> None:
    """The interrupt comes when the step has ended, not in it."""
    steps = []

    def work() -> None:
        with Interrupts() as interrupts:
            with interrupts.held():
                os.kill(os.getpid(), number)
                steps.append("finished")
            steps.append("never reached")

    with pytest.raises(KeyboardInterrupt):
        work()

    assert steps == ["finished"]


def test_another_thread_changes_nothing() -> None:
    """Only the main thread may listen to signals; elsewhere the work just runs."""
    seen = []

    def work() -> None:
        with Interrupts() as interrupts, interrupts.held():
            seen.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert seen == [before]
