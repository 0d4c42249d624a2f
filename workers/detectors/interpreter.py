"""Evidence: a value that only running the text as code brings about, or a query that goes by what the text states.

A *form* is code for one kind of interpreter; its witness, a product or a row of remainders, stands nowhere in what was
sent, and neither arithmetic in a text nor a model's head yields the latter. More than the first forms is sent only
where these move the answer by more than their echo, and pairs of statements (`workers.differential`) only where broken
code looks broken: it is declined, or two forms bring the same. So a skill that repeats or ignores its text costs
little. Nothing that is sent writes, deletes or waits.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import re2
from msgspec import Struct

from workers.canaries import Canaries
from workers.closure import Closure
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
from workers.differential import Differential, Pair, plain
from workers.faults import BadJob
from workers.likeness import members, signature
from workers.observation import Answered, Failed, Refused
from workers.wire.job import Attack

# What a database says of a broken statement, with its own name or code: who explains the error gives neither.
ERRORS = (
    r"sqlite3\.\w+Error: ",
    r"SQLITE_ERROR\b",
    r"You have an error in your SQL syntax; check the manual",
    r"psycopg2?\.errors\.\w+",
    r"PG::\w+Error",
    r"unterminated quoted string at or near",
    r"ORA-[0-9]{5}: ",
    r"SQLSTATE\[[0-9A-Z]{5}\]",
    r"Unclosed quotation mark after the character string",
)
_QUIET = re2.Options()
_QUIET.log_errors = False
_ERROR = re2.compile("|".join(f"(?:{error})" for error in ERRORS))


class Form(Struct, frozen=True, forbid_unknown_fields=True):
    """Code for one interpreter: the *text* that is sent, and what running it shows.

    *suits*, if any, is a pattern: the form is sent only where the field's valid value holds a match.
    """

    name: str
    text: str
    witness: str
    suits: str = ""


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """*forms* are sent to every skill, *more* where they moved its answer, *fallback* where it declined one of them.

    *unions* are sent where a database complained.

    *pairs* are statements inside a text, *plain* is their control. *by_design* are kinds of permission that declare
    such code as the skill's purpose.
    """

    forms: tuple[Form, ...]
    more: tuple[Form, ...] = ()
    fallback: tuple[Form, ...] = ()
    unions: tuple[Form, ...] = ()
    pairs: tuple[Pair, ...] = ()
    plain: Pair | None = None
    by_design: tuple[str, ...] = ()


class Interpreter(Detector):
    """Sends code and sees whether it ran."""

    commanded = "the result of code that stands in the text"
    independent = True

    def __init__(self, attack: Attack) -> None:
        self._options = options = parse_options(attack, Options)
        self._attack = attack
        self._forms = {form.name: form for form in (*options.forms, *options.more, *options.fallback, *options.unions)}
        self.by_design = options.by_design
        patterns = {*(form.suits for form in self._forms.values()), *(pair.suits for pair in options.pairs)}
        self._suits = {pattern: _compiled(attack, pattern) for pattern in patterns}
        lost = {pair.after for pair in options.pairs} - {"", *(pair.name for pair in options.pairs)}
        if lost:
            raise BadJob(f"attack {attack.id}: no pair called {min(lost)!r}")

    def steps(self, canaries: Canaries, control: str = "") -> tuple[Step, ...]:
        """The forms; as a control, the bare operation, and the plain pair where there is one."""
        texts = Texts(self._attack, canaries)
        if not control:
            return _steps(self._options.forms, texts)
        pair = self._options.plain
        bare = (Step(name="control", text=texts.attack(control)),)
        if pair is None:
            return bare
        both = (Step(name=pair.true, text=texts.of(pair.holds)), Step(name=pair.false, text=texts.of(pair.fails)))
        return (*bare, *both)

    def follow(
        self, answers: Sequence[Answer], canaries: Canaries, context: Context, control: str = ""
    ) -> tuple[Step, ...]:
        """What the forms leave open, one lot after the other, until something has hit."""
        texts = Texts(self._attack, canaries)
        if control or self._computed(answers, texts, context) is not None:
            return ()
        asked = {answer.step.name for answer in answers}
        fallback = self._left(self._options.fallback, asked, canaries)
        if fallback and any(_declined(answer, context) for answer in answers):
            return _steps(fallback, texts)
        more = self._left(self._options.more, asked, canaries)
        if more and self._moved(answers, canaries, context):
            return _steps(more, texts)
        if self._breaks(answers, canaries, context):
            for differential in self._differentials(answers, texts, canaries, context):
                if differential.read() is not None:
                    return ()
                if steps := differential.follow():
                    return steps
        unions = self._left(self._options.unions, asked, canaries)
        return _steps(unions, texts) if unions and _complaint(answers, context) is not None else ()

    def read(self, answers: Sequence[Answer], canaries: Canaries, context: Context) -> Reading:
        """A computed value, else a pair that was told apart, else what a database complained of."""
        texts = Texts(self._attack, canaries)
        computed = self._computed(answers, texts, context)
        if computed is not None:
            return computed
        if self._options.plain is not None and plain(self._options.plain, answers):
            return Reading(strength=Strength.FULL, what="true and false statements in plain words told apart")
        for differential in self._differentials(answers, texts, canaries, context):
            told_apart = differential.read()
            if told_apart is not None:
                return told_apart
        return _complaint(answers, context) or NOTHING

    def _computed(self, answers: Sequence[Answer], texts: Texts, context: Context) -> Reading | None:
        for answer in answers:
            own = self._forms.get(answer.step.name)
            for form in (own,) if own else (*self._options.forms, *self._options.more):
                witness = texts.of(form.witness)
                view = answer.scan.find(witness)
                if view is None or context.baseline.find(witness) or Closure([answer.sent]).yields(witness):
                    continue
                if any(witness in earlier.sent for earlier in answers):  # a skill may repeat what other calls said
                    continue
                what = f"what running it gives ({form.name})" if own else "the same result without any code"
                return Reading(strength=Strength.FULL, what=what, quote=view.quote(witness), where=view.where)
        return None

    def _moved(self, answers: Sequence[Answer], canaries: Canaries, context: Context) -> bool:
        """Whether any form brought more than the usual answer and an echo."""
        usual = signature(context.usual, canaries.example) if context.usual is not None else None
        return any(said != usual for said in self._said(answers, canaries))

    def _breaks(self, answers: Sequence[Answer], canaries: Canaries, context: Context) -> bool:
        """Whether unusual texts look like broken statements: declined, or alike in what they bring."""
        if any(_declined(answer, context) for answer in answers if answer.step.name in self._forms):
            return True
        usual = signature(context.usual, canaries.example) if context.usual is not None else None
        moved = [said for said in self._said(answers, canaries) if said != usual]
        return len(set(moved)) < len(moved)

    def _said(self, answers: Sequence[Answer], canaries: Canaries) -> list[str | None]:
        asked = [answer for answer in answers if answer.step.name in self._forms]
        return [signature(answer.observation, answer.sent, canaries.example) for answer in asked]

    def _differentials(
        self, answers: Sequence[Answer], texts: Texts, canaries: Canaries, context: Context
    ) -> list[Differential]:
        pairs = [pair for pair in self._options.pairs if self._suits[pair.suits].search(canaries.given)]
        return [Differential(pair, answers, texts, canaries, context) for pair in pairs]

    def _left(self, forms: Sequence[Form], asked: Container[str], canaries: Canaries) -> list[Form]:
        """Those of *forms* that suit the field and were not asked yet."""
        return [form for form in forms if form.name not in asked and self._suits[form.suits].search(canaries.given)]


def _compiled(attack: Attack, pattern: str) -> Any:
    try:
        return re2.compile(pattern, _QUIET)
    except re2.error as error:
        raise BadJob(f"attack {attack.id}, options: {pattern!r} is no pattern: {error}") from None


def _steps(forms: Sequence[Form], texts: Texts) -> tuple[Step, ...]:
    return tuple(Step(name=form.name, text=texts.of(form.text)) for form in forms)


def _declined(answer: Answer, context: Context) -> bool:
    """Whether the text was turned down: by its status, or by an object of other members than the usual one."""
    observation = answer.observation
    if isinstance(observation, Answered) and isinstance(observation.reply, Refused | Failed):
        return True
    said, usual = members(observation), members(context.usual)
    return said is not None and usual is not None and said != usual


def _complaint(answers: Sequence[Answer], context: Context) -> Reading | None:
    """A database's own error, said neither by the input nor without it: the text broke a statement."""
    for answer in answers:
        for view in answer.scan.texts():
            match = _ERROR.search(view.text)
            if (
                match
                and match[0] not in answer.sent
                and not any(match[0] in one.text for one in context.baseline.views)
            ):
                what = "a database's complaint about the statement"
                return Reading(strength=Strength.PARTIAL, what=what, quote=view.quote(match[0]), where=view.where)
    return None


def detector(attack: Attack) -> Interpreter:
    """The detector of *attack*.

    Raises:
        BadJob: If its options do not fit.
    """
    return Interpreter(attack)
