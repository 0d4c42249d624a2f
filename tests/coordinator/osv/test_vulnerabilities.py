from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coordinator.osv.advisory import Advisory
from coordinator.osv.affected import Status
from coordinator.osv.vulnerabilities import vulnerabilities


def advisory(name: str, *aliases: str, severity: str = "unknown") -> Advisory:
    return Advisory(name, aliases, severity, f"about {name}", frozenset(), ())


def test_one_vulnerability_under_three_names_counts_once() -> None:
    """PYSEC and GHSA records that name one CVE are one vulnerability, with the worst severity that is told."""
    told = [advisory("PYSEC-1", "CVE-1"), advisory("GHSA-1", "CVE-1", severity="high"), advisory("PYSEC-2")]

    found = vulnerabilities(told)

    assert [(one.ids, one.severity) for one in found] == [
        (("CVE-1", "GHSA-1", "PYSEC-1"), "high"),
        (("PYSEC-2",), "unknown"),
    ]


def test_databases_that_disagree_do_not_clear_a_version() -> None:
    """A version that one record calls affected is affected; one that a record cannot tell of is not clean."""
    told = [advisory("A", "C"), advisory("B", "C"), advisory("D"), advisory("E")]
    known = {"A": Status.UNAFFECTED, "B": Status.AFFECTED, "D": Status.UNKNOWN, "E": Status.UNAFFECTED}

    found = {one.ids[0]: one.status(lambda advisory: known[advisory.id]) for one in vulnerabilities(told)}

    assert found == {"A": Status.AFFECTED, "D": Status.UNKNOWN, "E": Status.UNAFFECTED}


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=20), st.randoms(use_true_random=False))
def test_merging_depends_on_no_order(pairs: list[tuple[int, int]], random: object) -> None:
    """Aliases are symmetric and transitive, in whatever order the records come."""
    told = [advisory(f"R{number}", f"N{a}", f"N{b}") for number, (a, b) in enumerate(pairs)]
    shuffled = list(told)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    found = vulnerabilities(told)

    assert found == vulnerabilities(shuffled)
    names = [name for one in found for name in one.ids]
    assert len(names) == len(set(names))
    assert all({one.id, *one.aliases} <= set(names) for one in told)
