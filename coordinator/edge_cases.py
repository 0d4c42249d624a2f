"""Declared inputs -> calls that are unusual: at the bounds, empty, in other scripts, incomplete, of the wrong type.

Pure: the same skill gives the same cases. Each starts from the manifest's example and changes one place in it. Whether
a call is right or wrong is decided by the declared input schema and nothing else, so a limit that is not declared
cannot be broken. What is demanded of the skill:

- A wrong call is to be refused cleanly. (One that is answered with the declared outputs all the same loses half: the
  manifest and the skill disagree, but nobody is harmed.)
- A right call is to be answered where the declaration leaves no reason to refuse: without its optional inputs, or with
  another declared value of its only input. With several inputs the values may not go together, and a text may mean
  nothing to the skill however long it is allowed to be: there, a clean refusal is as good.
- Either will do for an undeclared input that the schema does not forbid, for a number in the place of a text or the
  other way round (tolerant skills convert), where type and need of an input are not stated but
  assumed (`Parameter.assumed`), and for leaving out all inputs of a schema that never says which are required.
- Where a failure mode says that such a call is answered in its own way, either will do; where it names the status of
  the refusal, another one loses half (`failure_modes`).
- A skill that is talked to gets texts alone, and may answer or refuse each: it has no types to hold anybody to.

Not here: texts with an intent. Those are attacks, and the security pillar's.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, zip_longest
from typing import Any

import msgspec
from msgspec import Struct

from coordinator import edge_members, edge_values
from coordinator.catalog.schemas import problems
from coordinator.catalog.skill import Parameter, Skill
from coordinator.failure_modes import declared
from workers.wire.job import EdgeCaseJob, Wanted

EXTRA = "an_input_nobody_declared"
BROKEN_JSON = '{"an_input": "whose object never'
BASELINE_REQUESTS = 1
REQUESTS = {Wanted.REFUSED: 2, Wanted.ANSWERED: 1, Wanted.EITHER: 1}
CONSIDERED = 500
LABEL_CHARS = 100
INPUT_BYTES = 48 << 10


class EdgeCase(Struct, frozen=True, kw_only=True):
    """One unusual call; *about* describes it.

    *declared* is the failure mode that the manifest declares for it, *statuses* those of the refusal that it names.
    """

    name: str
    about: str
    wanted: Wanted
    input: dict[str, Any] = {}
    body: str | None = None
    declared: str = ""
    statuses: tuple[int, ...] = ()


class _Kind(Struct, frozen=True):
    """Values of one kind, and what is wanted where the declared schema takes them, and where not; None: not asked.

    *typed* where being wrong is a matter of the declared type.
    """

    name: str
    values: edge_values.Maker
    right: Wanted | None
    wrong: Wanted | None
    typed: bool = False


KINDS = (
    _Kind("wrong type", edge_values.wrong_type, None, Wanted.REFUSED, typed=True),
    _Kind("unicode", edge_values.scripts, Wanted.EITHER, None),
    _Kind("bound", edge_values.bounds, Wanted.ANSWERED, None),
    _Kind("beyond", edge_values.beyond, None, Wanted.REFUSED),
    _Kind("empty", edge_values.empty, Wanted.EITHER, Wanted.REFUSED),
    _Kind("undeclared", edge_values.undeclared, None, Wanted.REFUSED),
    _Kind("nested", edge_members.nested, Wanted.EITHER, Wanted.REFUSED),
    _Kind("choice", edge_values.choices, Wanted.ANSWERED, None),
    _Kind("coercible", edge_values.coercible, Wanted.EITHER, Wanted.EITHER),
    _Kind("unbounded", edge_values.unbounded, Wanted.EITHER, None),
)
SAID = frozenset({"unicode", "bound", "empty", "unbounded"})
"""The kinds that mean something to a skill that is talked to."""


def edge_cases(
    skill: Skill, *, max_requests: int, takes_body: bool = False, talks: bool = False
) -> tuple[EdgeCase, ...]:
    """The edge cases of *skill* that take at most *max_requests* together: of each kind in turn, input after input.

    *takes_body*: the skill is called with a JSON body that can be replaced. *talks*: its inputs reach it as one text.
    """
    maker = _Maker(skill, takes_body=takes_body, talks=talks)
    left = max_requests - BASELINE_REQUESTS
    chosen: dict[str, EdgeCase] = {}
    asked = {_key(skill.example)}
    for case in islice(chain.from_iterable(zip_longest(*maker.kinds())), CONSIDERED):
        if left <= 0:
            break
        if case is None or REQUESTS[case.wanted] > left or case.name in chosen:
            continue
        key = _key(case.input if case.body is None else case.body)
        if key is not None and key not in asked:
            asked.add(key)
            left -= REQUESTS[case.wanted]
            chosen[case.name] = case
    return tuple(chosen.values())


def requests_of(job: EdgeCaseJob) -> int:
    """How many requests *job* makes of a skill that does what is wanted, the example before the first not counted."""
    return REQUESTS[job.wanted]


class _Maker:
    def __init__(self, skill: Skill, *, takes_body: bool, talks: bool) -> None:
        self.skill = skill
        self.inputs = tuple(one for one in skill.inputs if one.name)
        self.problem = problems(skill.input_schema)
        self.takes_body = takes_body
        self.talks = talks

    def kinds(self) -> list[Iterator[EdgeCase]]:
        if self.talks:
            return [self._changed(kind) for kind in KINDS if kind.name in SAID]
        kinds: list[Iterator[EdgeCase]] = [self._malformed()] if self.takes_body else []
        if self.problem(self.skill.example) is None:  # else no change to it could be told from what is wrong already
            kinds += [self._missing(), self._required_only(), *map(self._changed, KINDS), self._extra()]
        return kinds

    def _malformed(self) -> Iterator[EdgeCase]:
        if any(one.required for one in self.inputs):
            yield self._case("malformed", "body", "a body that is no JSON", Wanted.REFUSED, body=BROKEN_JSON)

    def _missing(self) -> Iterator[EdgeCase]:
        for one in self.inputs:
            inputs = {name: value for name, value in self.skill.example.items() if name != one.name}
            if one.required and self.problem(inputs) is not None:
                wanted = Wanted.EITHER if one.assumed else Wanted.REFUSED
                yield self._case("missing", one.name, "without this required input", wanted, inputs)

    def _required_only(self) -> Iterator[EdgeCase]:
        required = {one.name for one in self.inputs if one.required}
        inputs = {name: value for name, value in self.skill.example.items() if name in required}
        wanted = Wanted.ANSWERED if "required" in self.skill.input_schema else Wanted.EITHER
        if inputs != self.skill.example and self.problem(inputs) is None:
            yield self._case("required only", "", "without any optional input", wanted, inputs)

    def _extra(self) -> Iterator[EdgeCase]:
        inputs = {**self.skill.example, EXTRA: "extra"}
        wanted = Wanted.EITHER if self.problem(inputs) is None else Wanted.REFUSED
        if EXTRA not in self.skill.example:
            yield self._case("extra", "", "with an input that is not declared", wanted, inputs)

    def _changed(self, kind: _Kind) -> Iterator[EdgeCase]:
        for one in self.inputs:
            usual = self.skill.example.get(one.name)
            for count, (about, value) in enumerate(kind.values(edge_values.plain(one.schema), usual)):
                inputs = {**self.skill.example, one.name: value}
                wanted = self._wanted(kind, one, inputs)
                if wanted is not None:
                    label = f"{one.name}#{count + 1}" if count else one.name
                    yield self._case(kind.name, label, about, wanted, inputs, value)

    def _wanted(self, kind: _Kind, one: Parameter, inputs: dict[str, Any]) -> Wanted | None:
        wanted = kind.right if self.problem(inputs) is None else kind.wrong
        if wanted is None or self.talks:
            return wanted and Wanted.EITHER
        if wanted is Wanted.ANSWERED and (len(self.inputs) > 1 or _is_free_text(one)):
            return Wanted.EITHER
        return Wanted.EITHER if kind.typed and one.assumed else wanted

    def _case(
        self,
        kind: str,
        label: str,
        about: str,
        wanted: Wanted,
        inputs: dict[str, Any] | None = None,
        value: Any = None,
        *,
        body: str | None = None,
    ) -> EdgeCase:
        name = f"{kind.replace(' ', '_')}/{label[:LABEL_CHARS]}" if label else kind.replace(" ", "_")
        mode = declared(kind, label.partition("#")[0], value, self.skill.failure_modes)
        if mode is not None and wanted is Wanted.REFUSED and not mode.refused:
            wanted = Wanted.EITHER
        return EdgeCase(
            name=name,
            about=about,
            wanted=wanted,
            input=inputs or {},
            body=body,
            declared=str(mode) if mode else "",
            statuses=mode.statuses if mode else (),
        )


def _is_free_text(parameter: Parameter) -> bool:
    schema = edge_values.plain(parameter.schema)
    return edge_values.kind_of(schema) == "string" and "enum" not in schema


def _key(inputs: Any) -> bytes | None:
    """What tells two calls apart; None for one that is too large to travel, or no JSON."""
    try:
        key = msgspec.json.encode(inputs, order="deterministic")
    except (UnicodeEncodeError, OverflowError, TypeError):
        return None
    return key if len(key) <= INPUT_BYTES else None
