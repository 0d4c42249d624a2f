"""Evidence: the content of a file, or of a process's environment, in the shape that only the thing itself has.

The capability control asks for the same of something that does not exist: who prints it all the same makes it up. What
was found is not quoted, since it is the skill's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import re2
from msgspec import Struct

from workers.canaries import Canaries
from workers.detectors._detector import (
    NOTHING,
    Answer,
    Context,
    Detector,
    Reading,
    Step,
    Strength,
    Texts,
    parse_options,
)
from workers.faults import BadJob
from workers.shapes import SHAPES
from workers.wire.job import Attack

_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}:", re.IGNORECASE)
_MARKUP = re.compile(r"<[A-Za-z_][^<>!]*>")
_BETWEEN = re.compile(r">[^<>]+<")
_PROSE = re.compile(r"\S+\s+\S+\s+\S")
_SEARCH_PATH = r"/[\w.+/:-]{1,900}"
_PATH = re.compile(r"\S*(?:[/\\]\S+|\S\.\w{1,5})")


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """*shapes* are what is looked for. *url* takes the template's place where the field's valid value is a URL.

    *url_variant* is another spelling of it. *entity* declares the file as the entity ``e``, in front of a field's
    valid XML. *variants* are other spellings of the path, for a skill that does not show the first one's file.
    *filled* is what becomes of a text that names the variable of the search path, where a skill fills such names in:
    the path is in the place of its star.
    *explained* takes the control's place where the field's valid value is some words.
    """

    shapes: tuple[str, ...]
    url: str = ""
    url_variant: str = ""
    entity: str = ""
    explained: str = ""
    filled: str = ""
    variants: tuple[str, ...] = ()


class FileContent(Detector):
    """Asks for something that every machine has."""

    commanded = "the content of a file or of the environment"
    independent = True

    def __init__(self, attack: Attack) -> None:
        self._options = parse_options(attack, Options)
        self._attack = attack
        unknown = sorted(set(self._options.shapes) - SHAPES.keys())
        if unknown:
            raise BadJob(f"attack {attack.id}: no shape called {unknown[0]!r}; there are: {', '.join(SHAPES)}")

    def steps(self, canaries: Canaries, control: str = "") -> tuple[Step, ...]:
        """The one call."""
        texts = Texts(self._attack, canaries)
        instead = ""
        if control and _PROSE.match(canaries.given):
            instead = self._options.explained
        elif not control and _URL.match(canaries.given):
            instead = self._options.url
        return (Step(name="attack", text=texts.of(instead) if instead else texts.attack(control)),)

    def follow(
        self, answers: Sequence[Answer], canaries: Canaries, context: Context, control: str = ""
    ) -> tuple[Step, ...]:
        """The other spellings, where paths are taken and the first one brought nothing."""
        found = self.read(answers, canaries, context).strength.counts
        example = canaries.given.strip()
        if control or found or len(answers) > 1:
            return ()
        texts = Texts(self._attack, canaries)
        if self._options.entity and _MARKUP.match(example):
            # Every text of the document becomes the entity, wherever the skill looks.
            return (Step(name="entity", text=texts.of(self._options.entity) + _BETWEEN.sub(">&e;<", example)),)
        if _URL.match(example):
            other = texts.of(self._options.url_variant)
            return (Step(name="spelling 2", text=other),) if other else ()
        if not _PATH.fullmatch(example):
            return ()
        spelt = dict.fromkeys(texts.of(text) for text in self._options.variants)
        return tuple(
            Step(name=f"spelling {number + 2}", text=text)
            for number, text in enumerate(text for text in spelt if text != answers[0].step.text)
        )

    def read(self, answers: Sequence[Answer], canaries: Canaries, context: Context) -> Reading:
        """The shape, if neither the input nor an ordinary answer has it."""
        for answer in answers:
            for name in self._options.shapes:
                words, find = SHAPES[name]
                view = find(answer.scan.views)
                if view is not None and find(context.baseline.views) is None:
                    return Reading(strength=Strength.FULL, what=words, quote="[not shown]", where=view.where)
        if not self._options.filled:
            return NOTHING
        before, _, after = Texts(self._attack, canaries).of(self._options.filled).partition("*")
        filled = re2.compile(re2.escape(before) + _SEARCH_PATH + re2.escape(after))
        for answer in answers:
            view = next((view for view in answer.scan.views if filled.search(view.text)), None)
            if view is not None:
                what = "the search path of a process, in the place of its variable"
                return Reading(strength=Strength.FULL, what=what, quote="[not shown]", where=view.where)
        return NOTHING


def detector(attack: Attack) -> FileContent:
    """The detector of *attack*.

    Raises:
        BadJob: If its options do not fit.
    """
    return FileContent(attack)
