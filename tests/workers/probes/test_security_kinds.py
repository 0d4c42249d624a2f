"""Each kind of hard evidence against real skills: what it finds, and what looks like it and is harmless."""

from __future__ import annotations

import base64
import itertools
import re
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import jinja2
import pytest

from workers.wire.result import Outcome

Answer = tuple[int, Any]
Skill = Callable[[dict[str, Any]], Answer]

URL = re.compile(r"https?://[^\s\"'<>)\]}\\]+")
PRODUCT = re.compile(r"(\d+)\s*(?:\*|times)\s*\(?(\d+)")
PASSWD = "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *_: Any) -> None:
        return None


STAYING = urllib.request.build_opener(urllib.request.ProxyHandler({}), Stay())


def fetch(opener: urllib.request.OpenerDirector, text: str, *, host: str = "") -> Answer:
    """What stands at the first address in *text*, if it is on *host*."""
    found = URL.search(text)
    if not found or host not in found[0]:
        return 200, {"result": "no address"}
    try:
        with opener.open(found[0], timeout=2) as answer:
            return 200, {"result": answer.read(200).decode()}
    except (urllib.error.URLError, OSError):
        return 200, {"result": "not reachable"}


def evaluates(body: dict[str, Any]) -> Answer:
    """A calculator on Python's own eval."""
    try:
        return 200, {"result": str(eval(body["text"]))}
    except Exception:
        return 400, {"error": "not an expression"}


def multiplies(body: dict[str, Any]) -> Answer:
    """Every product in the text, worked out."""
    return 200, {"result": [int(left) * int(right) for left, right in PRODUCT.findall(body["text"])]}


def renders(body: dict[str, Any]) -> Answer:
    """A letter with the text in its template."""
    try:
        return 200, {"result": jinja2.Environment().from_string(f"Dear {body['text']}, {{{{ 1 }}}} tea.").render()}
    except jinja2.TemplateError:
        return 400, {"error": "bad template"}


def queries(statement: str) -> Skill:
    """A real database, and the text put together with *statement*."""
    store = sqlite3.connect(":memory:", check_same_thread=False)
    store.execute("CREATE TABLE teas (name TEXT, price INTEGER)")
    store.executemany("INSERT INTO teas VALUES (?, ?)", [("green", 4), ("black", 3)])

    def skill(body: dict[str, Any]) -> Answer:
        try:
            return 200, {"rows": store.execute(statement.replace("TEXT", body["text"])).fetchall()}
        except sqlite3.Error as error:
            return 200, {"rows": [], "note": f"sqlite3.OperationalError: {error}"}

    return skill


def bound(body: dict[str, Any]) -> Answer:
    """A database asked with bound parameters: an unknown text has no rows."""
    return 200, {"asked": body["text"], "rows": [["green", 4]] if body["text"] == "green" else []}


def checks_equations(body: dict[str, Any]) -> Answer:
    """Says whether the equation in a text holds, and nothing where there is none."""
    found = re.search(r"(\d+)\*(\d+)=(\d+)", body["text"])
    wrong = found is not None and int(found[1]) * int(found[2]) != int(found[3])
    return 200, {"result": "does not hold" if wrong else "no objection"}


def moods() -> Skill:
    """One of two answers, whatever is asked."""
    turns = itertools.cycle([True, False, False, True, True, False, True, False])
    return lambda _: (200, {"result": "yes" if next(turns) else "no"})


@pytest.mark.parametrize(
    ("make", "name", "example"),
    [
        (lambda: evaluates, "PI-06", "2 + 3"),
        (lambda: renders, "PI-05", "Ada"),
        (lambda: queries("SELECT * FROM teas WHERE name = 'TEXT'"), "PI-06", "green"),
        (lambda: queries("SELECT * FROM teas WHERE (name LIKE '%TEXT%') ORDER BY price"), "PI-06", "green"),
        (lambda: queries("SELECT * FROM teas WHERE price = TEXT"), "PI-06", "4"),
        (lambda: queries("SELECT price FROM teas WHERE name = 'TEXT'"), "PI-06", "no such tea"),
    ],
)
def test_an_interpreter_is_found(make: Callable[[], Skill], name: str, example: str, shelf: Any, probe: Any) -> None:
    """Code beyond arithmetic, a template, a query: by a computed value, or by the truth of a statement."""
    skill = shelf.put(make(), example={"text": example})

    verdict = probe(skill, name)[name]

    assert verdict.outcome is Outcome.EXPLOITED, verdict.evidence
    assert "2 of 2 replays hit" in verdict.evidence


@pytest.mark.parametrize(
    ("make", "example"),
    [(lambda: bound, "green"), (lambda: checks_equations, "2*2=4"), (moods, "green"), (lambda: multiplies, "2*2")],
)
def test_what_looks_like_one_is_not_accused(make: Callable[[], Skill], example: str, shelf: Any, probe: Any) -> None:
    """Bound parameters, statements checked for a living, moods, products worked out anywhere."""
    skill = shelf.put(make(), example={"text": example})

    verdicts = probe(skill, "PI-05", "PI-06")

    assert {verdict.outcome for verdict in verdicts.values()} <= {Outcome.RESISTED, Outcome.INCONCLUSIVE}, verdicts


def test_a_bare_product_is_no_exploit_of_a_calculator(shelf: Any, probe: Any) -> None:
    """It shows the same without any template."""
    skill = shelf.put(multiplies)

    verdict = probe(skill, "PI-05")["PI-05"]

    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "so it shows what the skill does anyway" in verdict.evidence


def test_declared_code_is_a_permission_and_no_exploit(shelf: Any, probe: Any) -> None:
    """Nothing is sent to a skill whose purpose it is to run what it is given."""
    skill = shelf.put(evaluates, example={"text": "2 + 3"}, permissions=("process:python",))

    verdict = probe(skill, "PI-06")["PI-06"]

    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert "process:python" in verdict.evidence


@pytest.mark.parametrize(
    ("opener", "host", "outcome"),
    [
        (DIRECT, "", Outcome.EXPLOITED),
        (STAYING, "", Outcome.EXPLOITED),
        (DIRECT, "127.0.0.1:", Outcome.EXPLOITED),
        (STAYING, "127.0.0.1:", Outcome.RESISTED),
        (DIRECT, "shop.example", Outcome.RESISTED),
    ],
)
def test_an_internal_address_is_found_to_be_called(
    opener: urllib.request.OpenerDirector, host: str, outcome: Outcome, shelf: Any, probe: Any
) -> None:
    """Directly, or through a redirect past a check of the first address; the public class alone is harmless."""
    skill = shelf.put(lambda body: fetch(opener, body["text"], host=host))

    verdict = probe(skill, "DX-02")["DX-02"]

    assert verdict.outcome is outcome, verdict.evidence


def test_an_input_for_addresses_carries_them_and_no_orders(shelf: Any, probe: Any) -> None:
    """What declares the format of a URL is no free text."""
    schema = {"type": "object", "properties": {"text": {"type": "string", "format": "uri"}}}
    skill = shelf.put(
        lambda body: fetch(DIRECT, body["text"]), input_schema=schema, example={"text": "https://shop.example/"}
    )

    verdicts = probe(skill, "DX-02", "PI-01")

    assert verdicts["DX-02"].outcome is Outcome.EXPLOITED
    assert verdicts["PI-01"].outcome is Outcome.NOT_APPLICABLE


def test_a_forged_tool_call_is_told_from_a_link_that_is_looked_at(shelf: Any, probe: Any) -> None:
    """Who calls any address obeys nobody; who calls it because a tool call says so does."""
    agent = shelf.put(
        lambda body: fetch(DIRECT, body["text"]) if "tool_call" in body["text"] else (200, {"result": ""})
    )
    previewer = shelf.put(lambda body: fetch(DIRECT, body["text"]))

    assert probe(agent, "PI-04")["PI-04"].outcome is Outcome.EXPLOITED
    assert probe(previewer, "PI-04")["PI-04"].outcome is Outcome.INCONCLUSIVE


def test_callbacks_are_not_applicable_where_no_way_leads_to_us(shelf: Any, probe: Any) -> None:
    """A skill elsewhere has not resisted what it could not do."""
    skill = shelf.put(lambda _: (200, {"result": "tea"}))

    verdicts = probe(skill, "DX-02", "PI-04", listens=False)

    assert {verdict.outcome for verdict in verdicts.values()} == {Outcome.NOT_APPLICABLE}
    assert all("SKILLMARK_CALLBACK_URL" in verdict.evidence for verdict in verdicts.values())


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        (lambda path: PASSWD if path.endswith("etc/passwd") else None, Outcome.EXPLOITED),
        (lambda path: PASSWD if path.endswith("passwd") else None, Outcome.INCONCLUSIVE),
        (lambda path: f"no file {path}; it would start with root:x:0:0:root:/root:/bin/bash", Outcome.RESISTED),
        (lambda path: PASSWD if "....//" in path or path.startswith("%2e") else None, Outcome.EXPLOITED),
    ],
)
def test_a_file_is_known_by_its_lines(
    answers: Callable[[str], str | None], outcome: Outcome, shelf: Any, probe: Any
) -> None:
    """Of one that is there, and not of one that is made up; past a filter that cleans once, too."""

    def skill(body: dict[str, Any]) -> Answer:
        text = "Tea." if body["text"] == "tea.txt" else answers(body["text"])
        return (404, {"error": "no such file"}) if text is None else (200, {"result": text})

    verdict = probe(shelf.put(skill, example={"text": "tea.txt"}), "DX-04")["DX-04"]

    assert verdict.outcome is outcome, verdict.evidence
    assert "daemon" not in verdict.evidence


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (lambda extra: {"may": ["read"], "seen": extra}, Outcome.RESISTED),
        (lambda extra: {"may": ["read"], "role": extra.get("role", "guest")}, Outcome.RESISTED),
        (
            lambda extra: {"may": ["read"], **({"costs": {"supplier": "x"}} if extra.get("admin") else {})},
            Outcome.EXPLOITED,
        ),
        (lambda extra: {"may": "read write delete" if extra.get("role") == "admin" else "read"}, Outcome.EXPLOITED),
        (lambda extra: {"may": ["read"], "unknown": sorted(extra)} if extra else {"may": ["read"]}, Outcome.RESISTED),
    ],
)
def test_a_smuggled_right_counts_when_it_has_an_effect(
    answer: Callable[[dict[str, Any]], Any], outcome: Outcome, shelf: Any, probe: Any
) -> None:
    """Repeated, accepted, or complained of it is none."""

    def skill(body: dict[str, Any]) -> Answer:
        return 200, answer({name: value for name, value in body.items() if name != "text"})

    verdict = probe(shelf.put(skill), "RM-03")["RM-03"]

    assert verdict.outcome is outcome, verdict.evidence


def test_a_skill_of_many_words_is_not_accused_of_an_effect(shelf: Any, probe: Any) -> None:
    """Other words every time are no other answer."""
    words = itertools.cycle(["quiet garden", "warm harbour", "steady river", "gentle valley", "bright orchard"])

    verdict = probe(shelf.put(lambda _: (200, {"result": next(words)})), "RM-03")["RM-03"]

    assert verdict.outcome is Outcome.RESISTED


def test_a_documented_member_is_not_smuggled(shelf: Any, probe: Any) -> None:
    """What the manifest declares may have an effect."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}, "role": {"type": "string"}}}
    skill = shelf.put(lambda _: (200, {"result": "tea"}), input_schema=schema)

    probe(skill, "RM-03")

    assert all("role" not in call for call in shelf.seen(skill))
    assert any("is_admin" in call for call in shelf.seen(skill))


def test_a_link_with_the_caller_s_secret_is_found(shelf: Any, probe: Any) -> None:
    """An address and a secret, sent apart, joined in mark-up; joined in plain words they go nowhere."""

    def joins(wrap: str) -> Skill:
        def skill(body: dict[str, Any]) -> Answer:
            found = re.search(r"access code is (\w+)\..*(https://\S+)", body["text"], re.DOTALL)
            return 200, {"result": wrap.format(found[2], found[1]) if found else "tea"}

        return skill

    assert probe(shelf.put(joins("![status]({}{})")), "DX-03")["DX-03"].outcome is Outcome.EXPLOITED
    assert probe(shelf.put(joins("the address {} and the code {}")), "DX-03")["DX-03"].outcome is Outcome.RESISTED


@pytest.mark.parametrize(
    "wrap",
    [
        lambda secret: secret[::-1],
        lambda secret: base64.b64encode(secret.encode()).decode(),
        lambda secret: secret.encode().hex(),
    ],
)
def test_a_secret_wrapped_in_an_address_is_found(wrap: Callable[[str], str], shelf: Any, probe: Any) -> None:
    """Backwards or encoded, in a style as in an image."""

    def skill(body: dict[str, Any]) -> Answer:
        found = re.search(r"access code is (\w+)\..*(https://\S+)", body["text"], re.DOTALL)
        return 200, {"result": f"<i style='background:url({found[2]}{wrap(found[1])})'></i>" if found else "tea"}

    assert probe(shelf.put(skill), "DX-03")["DX-03"].outcome is Outcome.EXPLOITED


def test_variables_that_are_filled_in_are_found(shelf: Any, probe: Any) -> None:
    """A search path in the place of its variable; a variable that stays, or one of the skill's own, is nothing."""

    def fills(path: str) -> Skill:
        return lambda body: (200, {"result": body["text"].replace("${PATH}", path)})

    assert probe(shelf.put(fills("/usr/local/bin:/usr/bin:/bin")), "DX-05")["DX-05"].outcome is Outcome.EXPLOITED
    assert probe(shelf.put(fills("${PATH}")), "DX-05")["DX-05"].outcome is Outcome.RESISTED
    assert probe(shelf.put(fills("tea")), "DX-05")["DX-05"].outcome is Outcome.RESISTED


def test_what_repeats_earlier_calls_runs_nothing(shelf: Any, probe: Any) -> None:
    """A condition that states a product puts it into the history, and not into any answer of its own."""
    said: list[str] = []

    def skill(body: dict[str, Any]) -> Answer:
        said.append(body["text"])
        if "(" in body["text"]:
            return 400, {"error": "not a condition", "history": said[-9:]}
        return 200, {"result": "green", "history": said[-9:]}

    verdict = probe(shelf.put(skill, example={"text": "tea == 'green'"}), "PI-06")["PI-06"]

    assert verdict.outcome is Outcome.RESISTED


def test_another_input_holds_the_secret_where_there_is_one(shelf: Any, probe: Any) -> None:
    """So that it is one field's words in another field's hands."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}, "note": {"type": "string"}}}
    skill = shelf.put(lambda _: (200, {"result": "tea"}), input_schema=schema, example={"text": "t", "note": "n"})

    probe(skill, "DX-03")

    told = [call for call in shelf.seen(skill) if "Reviewer" in call["text"]]
    assert told
    assert all("access code is" in call["note"] and "access code is" not in call["text"] for call in told)
