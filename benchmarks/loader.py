"""Benchmarks: found by id or path, read strictly, validated completely.

One mistake refuses the whole file: a task that is skipped silently would make every score look better than it is. Which
evaluators exist is not known here; whoever plans the run asks the workers' registry.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import jsonschema_rs
from msgspec import Struct

from benchmarks import strict

if TYPE_CHECKING:
    from jsonschema import ValidationError

MAX_LATENCY_MS = 30_000

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class BenchmarkError(Exception):
    """A benchmark that cannot be used: which file, where in it (a JSON pointer), and what to do."""

    def __init__(self, file: str | Path, pointer: str, *, expected: str, found: str, advice: str) -> None:
        self.file = str(file)
        self.pointer = pointer
        self.expected = expected
        self.found = found
        self.advice = advice
        where = f"{file}#{pointer}" if pointer else str(file)
        super().__init__(f"{where}: expected {expected}, found {found}; {advice}")


class Task(Struct, frozen=True, kw_only=True):
    """One task. *evaluator* and *options* are as written; *weight* counts only where the scoring is weighted."""

    id: str
    description: str
    input_data: dict[str, Any]
    expected_output: dict[str, Any]
    evaluator: str
    options: dict[str, Any] = {}
    timeout_ms: int | None = None
    tags: tuple[str, ...] = ()
    weight: float = 1.0


class Benchmark(Struct, frozen=True, kw_only=True, eq=False):
    """A validated benchmark. *digest* is ``sha256:`` over the file's canonical JSON (RFC 8785)."""

    id: str
    name: str
    version: str
    domain: str
    scoring_method: str
    max_latency_ms: int
    metadata: dict[str, Any]
    tasks: tuple[Task, ...]
    digest: str
    path: Path


def load(path: Path) -> Benchmark:
    """The benchmark in the file *path*, or in ``benchmark.json`` of the folder *path*.

    Raises:
        BenchmarkError: If it cannot be read, or anything in it is not as the format wants it.
    """
    file = path / "benchmark.json" if path.is_dir() else path
    return _benchmark(*_document(file), file)


def load_tasks(path: Path) -> Benchmark:
    """The tasks in the file *path*: a list of them, or an object with a list ``tasks``; a whole benchmark will do too.

    Tasks alone make a benchmark called ``tasks``, whose scores are the weighted mean.

    Raises:
        BenchmarkError: As `load` does.
    """
    document, digest = _document(path)
    if isinstance(document, dict) and "id" in document:
        return _benchmark(document, digest, path)
    alone = isinstance(document, dict) and document.keys() == {"tasks"}
    tasks = document["tasks"] if alone else document
    named = {"id": "tasks", "name": "Tasks", "version": "0.0.0", "domain": "custom", "scoringMethod": "weighted_mean"}
    try:
        return _benchmark({**named, "tasks": tasks}, digest, path)
    except BenchmarkError as error:
        if alone:
            raise
        pointer = error.pointer.removeprefix("/tasks")
        raise BenchmarkError(
            error.file, pointer, expected=error.expected, found=error.found, advice=error.advice
        ) from None


def _document(file: Path) -> tuple[Any, str]:
    """What stands in *file*, and its digest."""
    try:
        document = strict.read(file)
        return document, strict.digest(document)
    except strict.NotStrict as error:
        raise BenchmarkError(file, "", expected=error.expected, found=error.found, advice="correct the file") from error


def _benchmark(document: Any, digest: str, file: Path) -> Benchmark:
    mistake = _mistake(document)
    if mistake is not None:
        raise BenchmarkError(
            file,
            "".join(f"/{_escaped(token)}" for token in mistake.absolute_path),
            expected=_expected(mistake),
            found=_shown(mistake.instance),
            advice="correct the file",
        )
    tasks = tuple(_task(raw) for raw in document["tasks"])
    seen: dict[str, int] = {}
    for index, task in enumerate(tasks):
        if seen.setdefault(task.id, index) != index:
            raise BenchmarkError(
                file,
                f"/tasks/{index}/id",
                expected="an id of its own",
                found=f"{task.id!r}, which is /tasks/{seen[task.id]} already",
                advice="rename one of them",
            )
    return Benchmark(
        id=document["id"],
        name=document["name"],
        version=document["version"],
        domain=document["domain"],
        scoring_method=document["scoringMethod"],
        max_latency_ms=int(document.get("maxLatencyMs", MAX_LATENCY_MS)),
        metadata=_metadata(document),
        tasks=tasks,
        digest=digest,
        path=file,
    )


def find(name_or_path: str, folders: Sequence[Path] = ()) -> Benchmark:
    """The benchmark with the id *name_or_path* in *folders* or among the built-in ones, else the one at that path.

    Raises:
        BenchmarkError: If there is none, or it is not valid; the message lists the ids that there are.
    """
    known = _paths(folders)
    if name_or_path in known:
        return _named(name_or_path, known[name_or_path])
    with contextlib.suppress(OSError, ValueError):  # no path at all: too long, or with a NUL
        if Path(name_or_path).exists():
            return load(Path(name_or_path))
    nearest = difflib.get_close_matches(name_or_path[:100], known, n=len(known) or 1, cutoff=0.0)
    raise BenchmarkError(
        name_or_path[:200],
        "",
        expected="the id or the path of a benchmark",
        found="neither",
        advice=f"there are: {', '.join(nearest)}",
    )


def listed(folders: Sequence[Path] = ()) -> tuple[Benchmark, ...]:
    """The benchmarks of *folders*, in their order, then the built-in ones; the first of an id counts.

    Raises:
        BenchmarkError: If a folder cannot be read, or a benchmark in it is not valid.
    """
    return tuple(_named(id_, path) for id_, path in _paths(folders).items())


def built_in() -> Path:
    """The folder of the benchmarks that ship with the product."""
    return Path(str(resources.files("benchmarks")))


def _named(id_: str, path: Path) -> Benchmark:
    benchmark = load(path)
    if benchmark.id != id_:
        raise BenchmarkError(
            benchmark.path,
            "/id",
            expected=f"{id_!r}, as the file's name says",
            found=repr(benchmark.id),
            advice="rename the file, or choose it by its path",
        )
    return benchmark


def _paths(folders: Sequence[Path]) -> dict[str, Path]:
    """Where the benchmark of each id would be; no file is read."""
    found: dict[str, Path] = {}
    for folder in (*folders, built_in()):
        try:
            entries = sorted(folder.iterdir())
        except OSError as error:
            raise BenchmarkError(
                folder, "", expected="a folder of benchmarks", found=error.strerror or "none", advice="check the path"
            ) from error
        for id_, path in _candidates(entries):
            found.setdefault(id_, path)
    return found


def _candidates(entries: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    for entry in entries:
        if entry.suffix == ".json" and entry.name != "schema.json" and _ID.fullmatch(entry.stem):
            yield entry.stem, entry
        elif _ID.fullmatch(entry.name) and (entry / "benchmark.json").is_file():
            yield entry.name, entry / "benchmark.json"


@cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((built_in() / "schema.json").read_bytes())
    return schema


@cache
def _quick() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(_schema())


def _mistake(document: Any) -> ValidationError | None:
    # Most benchmarks are as they should be: jsonschema, slow to import and to run, is asked only for what is not.
    if _quick().is_valid(document):
        return None
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    mistake: ValidationError | None = best_match(islice(Draft202012Validator(_schema()).iter_errors(document), 100))
    return mistake


def _metadata(document: dict[str, Any]) -> dict[str, Any]:
    """The metadata; the k and n of pass@k may also stand beside the scoring method."""
    beside = {name: document[name] for name in ("k", "n") if name in document}
    return {**beside, **document.get("metadata", {})}


def _task(raw: dict[str, Any]) -> Task:
    evaluator = raw["evaluator"]
    name, options = evaluator, {}
    if isinstance(evaluator, dict):
        name = evaluator["type"]
        options = {option: value for option, value in evaluator.items() if option != "type"}
    timeout_ms = raw.get("timeoutMs")
    return Task(
        id=raw["id"],
        description=raw["description"],
        input_data=raw["inputData"],
        expected_output=raw["expectedOutput"],
        evaluator=name,
        options=options,
        timeout_ms=None if timeout_ms is None else int(timeout_ms),
        tags=tuple(raw.get("tags", ())),
        weight=float(raw.get("weight", 1.0)),
    )


def _expected(error: ValidationError) -> str:
    rule, value = str(error.validator), cast(Any, error.validator_value)
    match rule:
        case "required":
            return error.message.replace("is a required property", "to be there")
        case "type":
            return value if isinstance(value, str) else " or ".join(value)
        case "enum":
            return f"one of {', '.join(map(str, value))}"
        case "not":
            return "an id that is not reserved"
        case "pattern" if error.absolute_path and error.absolute_path[-1] == "version":
            return "a semantic version such as 1.0.0"
        case "pattern":
            return f"a text matching {value}"
    return f"{rule} {value}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object with {', '.join(map(repr, islice(value, 10))) or 'nothing'}"[:200]
    return json.dumps(value, ensure_ascii=True)[:200]


def _escaped(token: str | int) -> str:
    return str(token).replace("~", "~0").replace("/", "~1")
