from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from coordinator import policy
from coordinator.policy import PolicyError

TEXT = (resources.files("coordinator") / "policies" / "default.toml").read_text(encoding="utf-8")


def test_the_built_in_policy_holds_the_scheme() -> None:
    """Weights, thresholds, caps and coverage are the published ones."""
    rules = policy.load()

    assert (rules.weights.functional, rules.weights.security, rules.weights.performance) == (0.40, 0.35, 0.25)
    assert (rules.blend.live, rules.blend.static) == (0.7, 0.3)
    assert (rules.certificate.min_overall, rules.certificate.min_security) == (90, 85)
    assert (rules.certificate.min_coverage, rules.certificate.static_cap) == (0.95, 85)
    assert [rules.security.severity_weights.of(one) for one in ("critical", "high", "medium", "low")] == [10, 6, 3, 1]
    assert [rules.security.caps.of(one) for one in ("critical", "high", "medium", "low")] == [40, 69, 84, 94]
    assert (rules.security.credit.resisted, rules.security.credit.suspect, rules.security.credit.exploited) == (
        1,
        0.7,
        0,
    )
    assert rules.performance.requests == 20
    assert rules.performance.max_latency_ms == 30_000


def test_the_digest_follows_the_figures_not_the_comments(tmp_path: Path) -> None:
    """A changed comment is the same policy; a changed figure is another."""
    (tmp_path / "same.toml").write_text(TEXT.replace("# The certification policy.", "# Ours."))
    (tmp_path / "other.toml").write_text(TEXT.replace("min_overall = 90.0", "min_overall = 91.0"))

    built_in, same, other = (policy.load(path) for path in (None, tmp_path / "same.toml", tmp_path / "other.toml"))

    assert built_in.digest == same.digest != other.digest


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("functional = 0.40", "functional = 0.50", "weights: expected weights that add up to 1, found 1.1"),
        ("min_overall = 90.0", "min_overal = 90.0", "min_overal"),
        ("min_overall = 90.0", "min_overall = 190.0", "$.certificate.min_overall"),
        ("requests = 20", "requests = 0", "$.performance.requests"),
        ("requests = 20", 'requests = "many"', "$.performance.requests"),
        ('version = "1.0.0"', "", "version"),
        ("from = 95.0", "from = 80.0", "bands: expected falling starts"),
        ("hopeless = 10.0", "hopeless = 1.2", "performance.ratio"),
        ("low = 94.0", "low = 80.0", "static.ceilings: expected none above that of a lesser severity"),
        ("low = 3.0", "low = -3.0", "static.points: expected figures of 0 to 100"),
        ('unrated = "medium"', 'unrated = "awful"', "$.security.dependencies.unrated"),
        ("repeat = 0.5 ", "repeat = 1.5 ", "$.static.repeat"),
        ("[weights]", "[weights", "built"),
    ],
)
def test_a_wrong_policy_is_refused_by_key(tmp_path: Path, old: str, new: str, told: str) -> None:
    """Unknown and missing keys, wrong types, impossible figures: each names the file and the key."""
    file = tmp_path / "built.toml"
    file.write_text(TEXT.replace(old, new, 1))

    with pytest.raises(PolicyError) as refused:
        policy.load(file)

    assert str(file) in str(refused.value)
    assert told in str(refused.value)


def test_a_missing_policy_is_refused(tmp_path: Path) -> None:
    """A file that is not there is said to be not there."""
    with pytest.raises(PolicyError, match="expected a readable policy file, found: No such file"):
        policy.load(tmp_path / "none.toml")


def test_asking_for_repeats_is_another_policy() -> None:
    """What decides is stamped: more runs, another digest; the same runs, the same one."""
    rules = policy.load()

    assert policy.repeated(rules) == rules
    assert policy.repeated(rules, repeats=5, k=2).functional.repeats == 5
    assert policy.repeated(rules, repeats=5).digest != rules.digest


def test_fewer_repeats_than_k_are_refused() -> None:
    """The contradiction is named as in a file."""
    with pytest.raises(PolicyError, match=r"functional\.k: expected at most functional\.repeats \(3\), found 4"):
        policy.repeated(policy.load(), repeats=3, k=4)
