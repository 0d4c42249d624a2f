"""Benchmarks are found by id or path, and one mistake refuses the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks import strict
from benchmarks.loader import Benchmark, BenchmarkError, built_in, find, listed, load

FROM_FIXTURE = [HealthCheck.function_scoped_fixture]


def document(**changes: Any) -> dict[str, Any]:
    task = {
        "id": "t1",
        "description": "Add",
        "inputData": {"expression": "1+1"},
        "expectedOutput": {"type": "exact", "value": 2},
        "evaluator": "exact",
    }
    base = {
        "id": "mine",
        "name": "Mine",
        "version": "1.2.3",
        "domain": "maths",
        "scoringMethod": "mean",
        "tasks": [task, {**task, "id": "t2"}],
    }
    return base | changes


def task(**changes: Any) -> dict[str, Any]:
    return document()["tasks"][0] | changes


def written(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(json.dumps(content), encoding="utf-8")
    return path


def refused(path: Path) -> BenchmarkError:
    with pytest.raises(BenchmarkError) as caught:
        load(path)
    return caught.value


def test_a_file_is_read_with_its_defaults(tmp_path: Path) -> None:
    """What a benchmark leaves out has the documented default."""
    path = written(tmp_path / "mine.json", document())

    benchmark = load(path)

    assert (benchmark.id, benchmark.version, benchmark.scoring_method) == ("mine", "1.2.3", "mean")
    assert benchmark.max_latency_ms == 30_000
    assert [(one.id, one.timeout_ms, one.weight, one.tags) for one in benchmark.tasks] == [
        ("t1", None, 1.0, ()),
        ("t2", None, 1.0, ()),
    ]


def test_the_evaluator_may_be_an_object_with_its_options(tmp_path: Path) -> None:
    """The published shape with an object as evaluator gives its type and its options."""
    contains = task(
        evaluator={"type": "contains", "caseSensitive": False},
        expectedOutput={"type": "contains", "keywords": ["a"]},
        timeoutMs=500,
        tags=["x"],
        weight=2,
    )
    path = written(tmp_path / "mine.json", document(tasks=[contains]))

    read = load(path).tasks[0]

    assert (read.evaluator, read.options) == ("contains", {"caseSensitive": False})
    assert (read.timeout_ms, read.tags, read.weight) == (500, ("x",), 2.0)


def test_the_digest_does_not_depend_on_how_the_file_is_written(tmp_path: Path) -> None:
    """Order of members and white space leave the digest alone; content does not."""
    plain = load(written(tmp_path / "a.json", document()))
    shuffled = load(written(tmp_path / "b.json", json.dumps(dict(reversed(document().items())), indent=8).encode()))
    changed = load(written(tmp_path / "c.json", document(name="Other")))

    assert plain.digest == shuffled.digest
    assert plain.digest != changed.digest
    assert plain.digest.startswith("sha256:")


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"version": "1.0"}, "/version"),
        ({"version": "v1.0.0"}, "/version"),
        ({"scoringMethod": "median"}, "/scoringMethod"),
        ({"id": "../etc"}, "/id"),
        ({"id": "test_case"}, "/id"),
        ({"maxLatencyMs": 0}, "/maxLatencyMs"),
        ({"tasks": []}, "/tasks"),
        ({"tasks": [task(), task()]}, "/tasks/1/id"),
        ({"tasks": [task(), task(id="b", weight=0)]}, "/tasks/1/weight"),
        ({"tasks": [task(weight=True)]}, "/tasks/0/weight"),
        ({"tasks": [task(timeoutMs="5")]}, "/tasks/0/timeoutMs"),
        ({"tasks": [task(inputData="1+1")]}, "/tasks/0/inputData"),
        ({"tasks": [task(evaluator={"caseSensitive": True})]}, "/tasks/0/evaluator"),
        ({"tasks": [task(evaluator=7)]}, "/tasks/0/evaluator"),
        ({"tasks": [{"id": "a"}]}, "/tasks/0"),
    ],
)
def test_a_mistake_names_file_and_place(tmp_path: Path, changes: dict[str, Any], pointer: str) -> None:
    """Each mistake is refused with the file and the JSON pointer of what is wrong."""
    path = written(tmp_path / "mine.json", document(**changes))

    error = refused(path)

    assert error.file == str(path)
    assert error.pointer == pointer
    assert str(error).startswith(f"{path}#{pointer}: expected ")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "JSON"),
        (b"\xff\xfe{}", "UTF-8"),
        (b'{"id": "a", "id": "b"}', "once"),
        (b'{"weight": NaN}', "numbers that JSON has"),
        (b'{"weight": -Infinity}', "numbers that JSON has"),
        (b'{"weight": 1e999}', "1.8e308"),
        (b'{"n": ' + b"9" * 5000 + b"}", "digits"),
        (b'{"n": 9007199254740993}', "canonical"),
        (b'{"n": "\\ud800"}', "canonical"),
        (b"[" * 100_000, "nesting"),
        (b"[" * 80 + b"]" * 80, "nesting"),
        (b"[" + b" " * strict.BYTES + b"]", "bytes"),
        (b"[]", "object"),
    ],
)
def test_what_two_readers_would_read_differently_is_refused(tmp_path: Path, content: bytes, expected: str) -> None:
    """Rubbish, ambiguous JSON, and anything beyond the bounds is refused in words."""
    error = refused(written(tmp_path / "mine.json", content))

    assert expected in error.expected


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """A file that is not there is a benchmark's error, not a crash."""
    assert "No such file" in refused(tmp_path / "none.json").found


@settings(max_examples=200, suppress_health_check=FROM_FIXTURE, deadline=None)
@given(content=st.binary(max_size=200))
def test_only_benchmark_errors_come_out_of_rubbish(tmp_path: Path, content: bytes) -> None:
    """No bytes whatever make the loader raise anything else."""
    assert isinstance(refused(written(tmp_path / "mine.json", content)), BenchmarkError)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, suppress_health_check=FROM_FIXTURE, deadline=None)
@given(
    name=st.sampled_from(["id", "version", "scoringMethod", "maxLatencyMs", "metadata", "tasks", "task"]),
    member=st.sampled_from(sorted(task())),
    value=JSON_VALUES,
)
def test_a_spoilt_benchmark_is_refused_or_read(tmp_path: Path, name: str, member: str, value: Any) -> None:
    """Any value in any place gives a benchmark or a benchmark's error."""
    spoilt = document(tasks=[task(**{member: value})]) if name == "task" else document(**{name: value})
    path = written(tmp_path / "mine.json", spoilt)

    try:
        outcome: Any = load(path)
    except BenchmarkError as error:
        outcome = error

    assert isinstance(outcome, Benchmark | BenchmarkError)


def test_a_benchmark_is_found_by_id_in_both_layouts(tmp_path: Path) -> None:
    """A file of its own and a folder with benchmark.json both count, and a path does too."""
    written(tmp_path / "one.json", document(id="one"))
    folder = written(tmp_path / "two" / "benchmark.json", document(id="two")).parent

    found = [find("one", [tmp_path]), find("two", [tmp_path]), find(str(folder)), find(str(tmp_path / "one.json"))]

    assert [benchmark.id for benchmark in found] == ["one", "two", "two", "one"]


def test_ones_own_folder_comes_before_the_built_in_one(tmp_path: Path) -> None:
    """A benchmark of one's own may take the place of a built-in one."""
    own = written(tmp_path / "coding-easy.json", document(id="coding-easy"))

    assert find("coding-easy", [tmp_path]).path == own
    assert find("coding-easy").path == built_in() / "coding-easy.json"


def test_an_unknown_id_lists_the_others_nearest_first(tmp_path: Path) -> None:
    """A misspelt id is answered with the ids that there are."""
    written(tmp_path / "zzz.json", document(id="zzz"))

    with pytest.raises(BenchmarkError) as caught:
        find("coding-eazy", [tmp_path])

    assert caught.value.advice == "there are: coding-easy, skill-quality, web-search-basic, zzz"


@pytest.mark.parametrize("name", ["", "a\x00b", "x" * 5000, "../../etc/passwd\x00"])
def test_an_impossible_name_is_no_crash(name: str) -> None:
    """What can be neither id nor path is refused like any other unknown name."""
    with pytest.raises(BenchmarkError):
        find(name)


def test_a_file_whose_id_is_not_its_name_is_refused(tmp_path: Path) -> None:
    """The stamp of a run must name what was chosen."""
    written(tmp_path / "one.json", document(id="other"))

    with pytest.raises(BenchmarkError) as caught:
        find("one", [tmp_path])

    assert caught.value.pointer == "/id"


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """A wrong --benchmarks-dir is not read as an empty one."""
    with pytest.raises(BenchmarkError):
        listed([tmp_path / "none"])


def test_all_benchmarks_are_listed_the_built_in_ones_last(tmp_path: Path) -> None:
    """One's own folders come first; each id is listed once."""
    written(tmp_path / "zzz.json", document(id="zzz"))
    written(tmp_path / "a" / "benchmark.json", document(id="a"))
    written(tmp_path / "README.md", b"no benchmark")

    assert [benchmark.id for benchmark in listed([tmp_path])][:2] == ["a", "zzz"]
    assert [benchmark.id for benchmark in listed()] == ["coding-easy", "skill-quality", "web-search-basic"]


def test_a_faulty_neighbour_does_not_hide_a_good_benchmark(tmp_path: Path) -> None:
    """Choosing one benchmark reads no other."""
    written(tmp_path / "bad.json", b"{")
    written(tmp_path / "good.json", document(id="good"))

    assert find("good", [tmp_path]).id == "good"
    with pytest.raises(BenchmarkError):
        listed([tmp_path])
