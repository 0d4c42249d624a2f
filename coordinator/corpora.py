"""Which attacks a run uses: the built-in corpus or one's own, all of it or some."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coordinator.settings import SettingsError
from payloads import loader
from payloads.loader import CATEGORIES, Corpus, CorpusError
from workers import registry


def checked_corpus(folder: str = "") -> Corpus:
    """The attack corpus in *folder*, or the built-in one; each attack with a detector that exists.

    Raises:
        CorpusError: If any file of it is wrong.
    """
    place = Path(folder) if folder else None
    corpus = loader.load(place)
    detectors = registry.names("detectors")
    for payload in corpus.payloads:
        if payload.detector not in detectors:
            file = (place or Path()) / payload.category / f"{payload.id}.yaml"
            raise CorpusError(file, "/detector", "one of " + ", ".join(detectors), payload.detector)
    return corpus


def chosen_attacks(corpus: Corpus, only: Sequence[str], categories: Sequence[str]) -> frozenset[str] | None:
    """The ids of the attacks named by *only* or belonging to *categories*; None, for all, where neither is given.

    Raises:
        SettingsError: If there is no such attack or category.
    """
    if not only and not categories:
        return None
    ids = [payload.id for payload in corpus.payloads]
    for name in only:
        if name not in ids:
            raise SettingsError(f"only: expected one of {', '.join(ids)}, found {name[:80]!r}")
    for name in categories:
        if name not in CATEGORIES:
            raise SettingsError(f"category: expected one of {', '.join(CATEGORIES)}, found {name[:80]!r}")
    return frozenset(one.id for one in corpus.payloads if one.id in only or one.category in categories)
