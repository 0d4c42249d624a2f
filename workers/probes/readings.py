"""One request of a latency series to a `Reading`: did it succeed, how long did it take, was our machine in the way."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import Struct

from workers.adapters import _body, _json
from workers.observation import Broke, Failed, Refused, Reply, TimedOut, Value
from workers.stopwatch import Exchange, Timed

NAP_S = 0.001


class Sample(Struct, frozen=True):
    """One successful request, in milliseconds; *kernel* says whose clock read it.

    *lag_ms* is how far our machine was in the way: by how much the application read more than the kernel, or how long
    its thread waited for a core, whichever is more; without the kernel, by how much a nap right afterwards took
    too long.
    """

    elapsed_ms: float
    app_ms: float
    first_byte_ms: float
    kernel: bool
    lag_ms: float = 0.0


class Reading(Struct, frozen=True, kw_only=True):
    """What one request of a series came to: a sample, or a *flaw* instead of one.

    *busy_ms* is how long the skill kept the connection. *queued_ns* is our wait for a core (see `Timed`), and
    *overslept_ns* by how much a nap after an application's reading took too long. *tries*: how often it was taken.
    """

    order: int
    busy_ms: float
    sample: Sample | None = None
    flaw: str = ""
    timed_out: bool = False
    queued_ns: int = 0
    overslept_ns: int = 0
    tries: int = 1


def read(
    order: int, exchange: Exchange, *, app_late_ns: int = 0, body_of: Callable[[bytes], Reply] | None = None
) -> Reading:
    """The reading of *exchange*, which took place in this thread just now, *app_late_ns* after it was due.

    *body_of* is how the adapter reads the body of a 2xx answer; without it any JSON is an answer.
    """
    match exchange:
        case TimedOut(elapsed_ms=elapsed_ms):
            return Reading(order=order, busy_ms=elapsed_ms, flaw="timed out", timed_out=True)
        case Broke(reason=reason, elapsed_ms=elapsed_ms):
            return Reading(order=order, busy_ms=elapsed_ms, flaw=reason)
    elapsed_ms = exchange.elapsed_ns / 1e6
    if wrong := flaw(exchange, body_of):
        return Reading(order=order, busy_ms=elapsed_ms, flaw=wrong)
    app_ns = app_late_ns + exchange.app_ns
    overslept_ns = 0 if exchange.kernel else _overslept_ns()
    return Reading(
        order=order,
        busy_ms=elapsed_ms,
        sample=Sample(
            elapsed_ms=elapsed_ms,
            app_ms=app_ns / 1e6,
            first_byte_ms=exchange.first_byte_ns / 1e6,
            kernel=exchange.kernel,
            lag_ms=max(app_ns - exchange.elapsed_ns, exchange.queued_ns, overslept_ns) / 1e6,
        ),
        queued_ns=exchange.queued_ns,
        overslept_ns=overslept_ns,
    )


def flaw(answer: Timed, body_of: Callable[[bytes], Reply] | None = None) -> str:
    """Why *answer* is no success, or nothing: any 2xx with a JSON body is, unless *body_of* finds no answer in it.

    Quotes nothing that the skill wrote.
    """
    if not 200 <= answer.status < 300:
        return f"HTTP {answer.status}"
    encoding = b", ".join(value for name, value in answer.headers if name.lower() == b"content-encoding")
    try:
        body = _body.decompressed(answer.body, encoding.decode("latin-1"))
        if body_of is not None:
            return _no_value(answer.status, body_of(body))
        _json.decoded(body)
    except _body.BadBody:
        return f"HTTP {answer.status} with a body that cannot be decompressed"
    except _json.NotJson:
        return f"HTTP {answer.status} without a JSON body"
    return ""


def _no_value(status: int, reply: Reply) -> str:
    match reply:
        case Value():
            return ""
        case Refused():
            return f"HTTP {status} with a refusal"
        case Failed():
            return f"HTTP {status} with an error"
    return f"HTTP {status} without an answer of the protocol"


def _overslept_ns() -> int:
    begun_ns = time.perf_counter_ns()
    time.sleep(NAP_S)
    return max(time.perf_counter_ns() - begun_ns - int(NAP_S * 1e9), 0)
