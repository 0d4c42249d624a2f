"""How often a functional task is run, and what pass@k makes of it."""

from __future__ import annotations

import math
from typing import Any

from msgspec import Struct

from benchmarks.loader import Benchmark, BenchmarkError

MOST = 200
PASS_AT_K = "pass_at_k"  # noqa: S105 - a scoring method, not a password


class Repeats(Struct, frozen=True, kw_only=True):
    """*n* runs of each task; *k*, where it is given, takes the place of the benchmarks' own."""

    n: int = 1
    k: int | None = None


ONCE = Repeats()


def of_benchmark(benchmark: Benchmark, repeats: Repeats) -> Repeats:
    """How often the tasks of *benchmark* are run; *k* is None unless it is scored by pass@k.

    A benchmark that is scored by pass@k gives its k and n as ``metadata``: 1 and k where it does not. What was asked
    for, more than one run or another k, takes the place of what the benchmark says.

    Raises:
        BenchmarkError: If k or n is no number of runs, or there would be fewer runs than k.
    """
    if benchmark.scoring_method != PASS_AT_K:
        return Repeats(n=repeats.n)
    k = repeats.k or _count(benchmark, "k", 1)
    n = repeats.n if repeats.n > 1 else max(_count(benchmark, "n", k), repeats.k or 1)
    if n < k:
        raise BenchmarkError(
            benchmark.path,
            "/metadata",
            expected=f"at least k = {k} runs of each task",
            found=str(n),
            advice=f"repeat the tasks {k} times or more, or choose a smaller k",
        )
    return Repeats(n=n, k=k)


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that at least one of *k* runs passes, estimated from *c* passes in *n* runs; unbiased.

    1 - C(n-c, k) / C(n, k), as one quotient of whole numbers, so that nothing is lost near 0 or 1.

    Raises:
        ValueError: Unless 0 <= c <= n and 1 <= k <= n.

    Source: Chen et al. (2021), Evaluating Large Language Models Trained on Code, equation 1.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"no estimate from {c} passes in {n} runs for k = {k}")
    drawn = math.comb(n, k)
    return (drawn - math.comb(n - c, k)) / drawn


def _count(benchmark: Benchmark, name: str, default: int) -> int:
    value: Any = benchmark.metadata.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        raise BenchmarkError(
            benchmark.path,
            f"/metadata/{name}",
            expected=f"a whole number from 1 to {MOST}",
            found=repr(value)[:80],
            advice="correct the file",
        )
    return value
