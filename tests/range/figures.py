"""What the trials add up to: false accusations, and the share of the holes that were found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from tests.range.skill import EXACT, Hole, Kind, RangeSkill
from tests.range.trials import Trial, Trials
from tests.range.wilson import wilson
from workers.wire.result import Outcome

T = TypeVar("T")

ACCUSES = (Outcome.SUSPECT, Outcome.EXPLOITED)  # by weight
DECIDED = frozenset({Outcome.RESISTED, Outcome.NOT_APPLICABLE})


class Search(Struct, frozen=True, kw_only=True):
    """One known hole in one round, and whether its attack found it."""

    skill: str
    hole: Hole
    category: str
    round: int
    outcome: Outcome
    evidence: str

    @property
    def found(self) -> bool:
        wanted = ACCUSES[ACCUSES.index(self.hole.at_least) :]
        return self.outcome in wanted


class Figures(Struct, frozen=True, kw_only=True):
    """*accusations* are trials of harmless skills that ended in `exploited`, *doubts* those that end in doubt.

    *unaimed* are holes whose attack the corpus does not have; *calls* are the most that each harmless skill got in a
    round.
    """

    harmless: tuple[Trial, ...]
    accusations: tuple[Trial, ...]
    doubts: tuple[Trial, ...]
    searches: tuple[Search, ...]
    unaimed: tuple[tuple[str, str], ...]
    calls: dict[str, int]

    @property
    def most_calls(self) -> int:
        return max(self.calls.values(), default=0)


def add_up(found: Trials, harmless: Sequence[RangeSkill], guilty: Sequence[RangeSkill]) -> Figures:
    """The figures of *found*."""
    innocent = {skill.name for skill in harmless}
    own = tuple(trial for trial in found.trials if trial.skill in innocent)
    by_hole: dict[tuple[str, str], list[Trial]] = {}
    for trial in found.trials:
        by_hole.setdefault((trial.skill, trial.probe), []).append(trial)
    aimed = [(skill.name, hole) for skill in guilty for hole in skill.holes]
    return Figures(
        harmless=own,
        accusations=tuple(trial for trial in own if trial.outcome is Outcome.EXPLOITED),
        doubts=tuple(trial for trial in own if trial.outcome not in {*DECIDED, Outcome.EXPLOITED}),
        searches=tuple(
            Search(
                skill=skill,
                hole=hole,
                category=trial.category,
                round=trial.round,
                outcome=trial.outcome,
                evidence=trial.evidence,
            )
            for skill, hole in aimed
            for trial in _best(by_hole, skill, hole)
        ),
        unaimed=tuple((skill, hole.probe) for skill, hole in aimed if (skill, hole.probe) not in by_hole),
        calls={name: max(calls) for name, calls in found.calls.items() if name in innocent},
    )


def _best(by_hole: Mapping[tuple[str, str], Sequence[Trial]], skill: str, hole: Hole) -> list[Trial]:
    """In each round, the trial that says most of *hole*: of its own attack, or of another that may find it."""
    best: dict[int, Trial] = {}
    for probe in (hole.probe, *hole.others):
        for trial in by_hole.get((skill, probe), ()):
            known = best.get(trial.round)
            if known is None or _weight(trial) > _weight(known):
                best[trial.round] = trial
    return list(best.values())


def _weight(trial: Trial) -> int:
    return ACCUSES.index(trial.outcome) + 1 if trial.outcome in ACCUSES else 0


class Share(Struct, frozen=True, kw_only=True):
    """*hits* of *trials*, and the 95% interval of what stands behind it."""

    name: str
    hits: int
    trials: int
    low: float
    high: float


def share(name: str, hits: int, trials: int) -> Share:
    """How sure the share of *hits* is."""
    low, high = wilson(hits, trials)
    return Share(name=name, hits=hits, trials=trials, low=low, high=high)


def accusations_by_category(figures: Figures) -> list[Share]:
    """How many trials of harmless skills ended in an accusation, by category, and all together at the end."""
    return _shares(figures.harmless, lambda trial: trial.category, lambda trial: trial.outcome is Outcome.EXPLOITED)


def recall_by_category(figures: Figures) -> list[Share]:
    """How many holes were found, by the category of their attack."""
    return _shares(figures.searches, lambda search: search.category, lambda search: search.found)


def recall_by_kind(figures: Figures) -> list[Share]:
    """How many holes were found, by what proves them."""
    return _shares(figures.searches, lambda search: search.hole.kind.value, lambda search: search.found)


def exact_recall(figures: Figures) -> Share:
    """How many of the holes were found that no model's whims hide: interpreters and callbacks."""
    exact = [search for search in figures.searches if search.hole.kind in EXACT]
    return share("interpreter and callback", sum(search.found for search in exact), len(exact))


def never_found(figures: Figures) -> set[Kind]:
    """The kinds of which nothing was found though it was looked for."""
    sought = {search.hole.kind for search in figures.searches}
    return sought - {search.hole.kind for search in figures.searches if search.found}


def _shares(all_: Iterable[T], name: Callable[[T], str], hit: Callable[[T], bool]) -> list[Share]:
    counts: dict[str, list[int]] = {}
    for one in all_:
        counted = counts.setdefault(name(one), [0, 0])
        counted[0] += hit(one)
        counted[1] += 1
    rows = [share(key, hits, trials) for key, (hits, trials) in sorted(counts.items())]
    return [*rows, share("all", sum(row.hits for row in rows), sum(row.trials for row in rows))]
