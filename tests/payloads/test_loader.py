"""The attack corpus and its loader."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from payloads import consistency, loader
from payloads.loader import CATEGORIES, CorpusError, load
from workers import canaries, carriers, encodings, registry

BUILT_IN = Path(loader.__file__).parent
PI_01 = Path("prompt_injection") / "PI-01.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus of one's own: a copy of the built-in one."""
    for file in BUILT_IN.rglob("*.yaml"):
        copy = tmp_path / file.relative_to(BUILT_IN)
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(file, copy)
    return tmp_path


def edit(file: Path, **members: Any) -> None:
    """Set *members* of the probe in *file*; None removes one."""
    document = yaml.safe_load(file.read_text()) | members
    file.write_text(yaml.safe_dump({name: value for name, value in document.items() if value is not None}))


def test_the_built_in_corpus_has_a_probe_in_every_category() -> None:
    """Sorted by id, each with references to both taxonomies."""
    corpus = load()

    ids = [payload.id for payload in corpus.payloads]
    assert ids == sorted(ids)
    assert {"PI-01", "PI-02", "DX-01", "SP-01", "RM-04", "EN-01"} <= set(ids)
    assert {payload.category for payload in corpus.payloads} == set(CATEGORIES)
    assert all(payload.refs["owasp_llm_2025"] and payload.refs["atlas"] for payload in corpus.payloads)


def test_every_name_in_the_built_in_corpus_exists_in_the_workers() -> None:
    """Detectors, carriers, placeholders and encodings: what the corpus may say, the workers can do."""
    corpus = load()

    assert {payload.detector for payload in corpus.payloads} <= set(registry.names("detectors"))
    assert consistency.PLACEHOLDERS | consistency.COMPUTED == canaries.NAMES
    assert frozenset(canaries.COMPUTED) == consistency.COMPUTED
    assert frozenset(canaries.NUMBERS) == consistency.OPERANDS
    assert frozenset(encodings.ENCODERS) == consistency.ENCODINGS
    schema = json.loads(Path(loader.__file__).with_name("schema.json").read_bytes())
    assert schema["properties"]["carriers"]["items"]["enum"] == list(carriers.CARRIERS)


def test_probes_that_change_what_others_are_told_are_marked() -> None:
    """The schedule runs them alone."""
    assert {payload.id for payload in load().payloads if payload.stateful} == {"DX-01", "RM-04"}


def test_the_digest_is_of_the_content_not_of_its_layout(folder: Path) -> None:
    """Comments and order change nothing; a word does."""
    before = load(folder).digest
    (folder / PI_01).write_text("# a comment\n" + (folder / PI_01).read_text())
    edit(folder / PI_01)
    same = load(folder).digest
    edit(folder / PI_01, title="Another title")

    assert before == load().digest == same
    assert load(folder).digest != before
    assert before.startswith("sha256:")
    assert len(before) == 71


def test_adding_an_attack_is_adding_one_file(folder: Path) -> None:
    """Nothing else lists it."""
    shutil.copy(folder / PI_01, folder / "encoding" / "ZZ-42.yaml")
    edit(folder / "encoding" / "ZZ-42.yaml", id="ZZ-42", category="encoding")

    assert "ZZ-42" in {payload.id for payload in load(folder).payloads}


@pytest.mark.parametrize(
    ("members", "pointer", "expected"),
    [
        ({"id": "PI-03"}, "/id", "PI-01"),
        ({"category": "encoding"}, "/category", "prompt_injection"),
        ({"category": "jailbreak"}, "/category", "one of prompt_injection"),
        ({"severity": None}, "", "a member 'severity'"),
        ({"severty": "high"}, "", "only carriers"),
        ({"rev": 0}, "/rev", "minimum 1"),
        ({"rev": "1"}, "/rev", "type integer"),
        ({"carriers": ["plain", "pigeon"]}, "/carriers/1", "one of plain"),
        ({"refs": {"owasp_llm_2025": ["LLM11"], "atlas": ["AML.T0051"]}}, "/refs/owasp_llm_2025/0", "LLM01"),
        ({"template": "{no_such} {a} {b} {x} {y}"}, "/template", "benign_head"),
        ({"template": "{a} {b|rot26} {x} {y} {b}"}, "/template", "one of the encodings"),
        ({"template": "{a} {b} {x} {y} {x+y}"}, "/template", "no computed part"),
        ({"template": "{a} {x} {y}"}, "/witness", "only placeholders that the template names"),
        ({"witness": "{a}{b}"}, "/witness", "a computed part"),
        ({"witness": "{a}{x+a}"}, "/witness", "operands p and q and x and y"),
        ({"controls": {"quoted": "{atack}"}}, "/controls/quoted", "attack"),
        ({"controls": {"polite": "please"}}, "/controls", "only capability, declined, quoted"),
        ({"options": {"ask": "{no_such}"}}, "/options/ask", "one of"),
        ({"pieces": {"secret": "x"}}, "/pieces/secret", "a name of its own"),
        ({"confirm": {"replays": 1, "need": 2}}, "/confirm/need", "at most 1"),
    ],
)
def test_one_bad_file_fails_the_load(members: dict[str, Any], pointer: str, expected: str, folder: Path) -> None:
    """Naming file, JSON pointer, what was expected and what was found."""
    edit(folder / PI_01, **members)

    with pytest.raises(CorpusError) as caught:
        load(folder)

    assert caught.value.file == folder / PI_01
    assert caught.value.pointer == pointer
    assert expected in caught.value.expected
    assert str(folder / PI_01) in str(caught.value)
    assert caught.value.found


def test_an_id_used_twice_is_refused(folder: Path) -> None:
    """Also in another category's folder."""
    shutil.copy(folder / PI_01, folder / "encoding" / "PI-01.yaml")

    with pytest.raises(CorpusError, match="an id used once"):
        load(folder)


@pytest.mark.parametrize(
    "name", ["PI-09.yaml", "promt_injection/PI-09.yaml", "encoding/EN-02.yml", "encoding/x/EN-02.yaml"]
)
def test_a_probe_that_lies_where_none_is_looked_for_is_refused(name: str, folder: Path) -> None:
    """It would be an attack that is silently left out."""
    (folder / name).parent.mkdir(exist_ok=True)
    shutil.copy(folder / PI_01, folder / name)

    with pytest.raises(CorpusError, match="a file <category>/<ID>"):
        load(folder)


def test_a_missing_corpus_is_a_corpus_error(tmp_path: Path) -> None:
    """With the file that was looked for."""
    with pytest.raises(CorpusError, match=r"corpus\.yaml"):
        load(tmp_path / "nowhere")


def test_a_corpus_without_probes_is_a_corpus_error(folder: Path) -> None:
    """No attacks is not a clean skill."""
    for file in folder.glob("*/*.yaml"):
        file.unlink()

    with pytest.raises(CorpusError, match="at least one probe"):
        load(folder)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_may_not_be_read_is_a_corpus_error(folder: Path) -> None:
    """Its attacks would be skipped without a word."""
    (folder / "encoding").chmod(0)
    try:
        with pytest.raises(CorpusError):
            load(folder)
    finally:
        (folder / "encoding").chmod(0o755)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.sampled_from(sorted(yaml.safe_load((BUILT_IN / PI_01).read_text())))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.dictionaries(MEMBERS, JSON, min_size=1, max_size=3))
def test_rubbish_in_a_member_raises_nothing_but_a_corpus_error(folder: Path, members: dict[str, Any]) -> None:
    """Any value in any member either is a probe or is explained."""
    document = yaml.safe_load((BUILT_IN / PI_01).read_text()) | members
    (folder / PI_01).write_text(yaml.safe_dump(document))

    try:
        corpus = load(folder)
    except CorpusError:
        return

    assert len(corpus.payloads) == len(load().payloads)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(st.binary(max_size=200), st.sampled_from([Path("corpus.yaml"), PI_01]))
def test_rubbish_bytes_raise_nothing_but_a_corpus_error(folder: Path, data: bytes, name: Path) -> None:
    """In a probe's file and in the corpus's own."""
    before = (BUILT_IN / name).read_bytes()
    (folder / name).write_bytes(data)

    with pytest.raises(CorpusError):
        load(folder)

    (folder / name).write_bytes(before)
