"""Reads the attack corpus: `corpus.yaml` and one file a probe.

One bad file fails the whole load: a skipped attack is a silently weaker certificate.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import msgspec
import rfc8785

from payloads import bounded_yaml, consistency
from payloads.payload import Confirm, Corpus, CorpusError, Payload

if TYPE_CHECKING:
    import jsonschema

__all__ = ["Confirm", "Corpus", "CorpusError", "Payload", "load"]

MAX_FILES = 2_000
CATEGORIES = (
    "prompt_injection",
    "data_exfiltration",
    "system_prompt_extraction",
    "role_manipulation",
    "encoding",
)
_BUILT_IN = Path(__file__).parent
_CORPUS_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "taxonomies"],
    "properties": {
        "version": {
            "type": "string",
            "pattern": r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$",
            "description": "a semantic version such as 1.2.3",
        },
        "taxonomies": {"type": "object", "maxProperties": 16, "additionalProperties": {"type": "string"}},
    },
}


def load(folder: Path | None = None) -> Corpus:
    """The corpus in *folder*, or the built-in one.

    Raises:
        CorpusError: If any file of it is missing, unreadable or wrong.
    """
    folder = folder or _BUILT_IN
    about = folder / "corpus.yaml"
    meta = _read(about)
    _validate(about, meta, _about_schema())
    documents: dict[str, Any] = {}
    payloads = []
    for file in _files(folder):
        document = _read(file)
        _validate(file, document, _schema())
        payload = msgspec.convert(document, Payload)
        consistency.check(file, payload)
        documents[payload.id] = document
        payloads.append(payload)
    if not payloads:
        raise CorpusError(folder, "", "at least one probe", "none")
    digest = hashlib.sha256(rfc8785.dumps({"corpus": meta, "payloads": documents})).hexdigest()
    return Corpus(
        version=meta["version"],
        digest=f"sha256:{digest}",
        taxonomies=meta["taxonomies"],
        payloads=tuple(sorted(payloads, key=lambda payload: payload.id)),
    )


def _files(folder: Path) -> list[Path]:
    """Every probe's file: the YAML files of the category folders. A stray one is an error, not an omission."""
    found: list[Path] = []
    try:
        for place, folders, names in os.walk(folder, onerror=_raise):
            folders.sort()
            found += [Path(place, name) for name in sorted(names) if name.endswith((".yaml", ".yml"))]
            if len(found) > MAX_FILES:
                break
    except OSError as error:
        raise CorpusError(folder, "", "a readable folder", error.strerror or type(error).__name__) from None
    found.remove(folder / "corpus.yaml")
    if len(found) > MAX_FILES:
        raise CorpusError(folder, "", f"at most {MAX_FILES} probes", str(len(found)))
    ids: dict[str, Path] = {}
    for file in found:
        if file.parent.parent != folder or file.parent.name not in CATEGORIES or file.suffix != ".yaml":
            raise CorpusError(file, "", "a file <category>/<ID>.yaml", str(file.relative_to(folder)))
        other = ids.setdefault(file.stem, file)
        if other != file:
            raise CorpusError(file, "/id", "an id used once", f"{file.stem}, also in {other.relative_to(folder)}")
    return found


def _raise(error: OSError) -> None:
    # os.walk would skip a folder that it may not read, and its attacks with it.
    raise error


def _read(file: Path) -> Any:
    try:
        with file.open("rb") as stream:
            data = stream.read(bounded_yaml.MAX_BYTES + 1)
    except OSError as error:
        raise CorpusError(file, "", "a readable file", error.strerror or type(error).__name__) from None
    try:
        return bounded_yaml.loads(data)
    except bounded_yaml.YamlError as error:
        raise CorpusError(file, error.pointer, error.expected, error.found) from None


class _Schema:
    """A schema of ours. Most files fit: jsonschema, slow to import and to run, is asked only for what does not."""

    def __init__(self, source: dict[str, Any]) -> None:
        self._source = source
        self._quick = jsonschema_rs.Draft202012Validator(source)

    def mistake(self, document: Any) -> jsonschema.ValidationError | None:
        """What is wrong with *document*, the first by its place in it; None if nothing is."""
        if self._quick.is_valid(document):
            return None
        import jsonschema

        errors = jsonschema.Draft202012Validator(self._source).iter_errors(document)
        return min(errors, key=lambda error: [str(part) for part in error.path], default=None)


@cache
def _about_schema() -> _Schema:
    return _Schema(_CORPUS_SCHEMA)


@cache
def _schema() -> _Schema:
    return _Schema(json.loads((_BUILT_IN / "schema.json").read_bytes()))


def _validate(file: Path, document: Any, schema: _Schema) -> None:
    error = schema.mistake(document)
    if error is None:
        return
    pointer = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in error.absolute_path)
    found = repr(error.instance)
    raise CorpusError(file, pointer, _expected(error), found if len(found) <= 80 else found[:77] + "...")


def _expected(error: jsonschema.ValidationError) -> str:
    wanted: Any = error.validator_value
    schema: Any = error.schema
    instance: Any = error.instance
    match error.validator:
        case "required":
            return f"a member {next(name for name in wanted if name not in instance)!r}"
        case "enum":
            return "one of " + ", ".join(map(str, wanted))
        case "type":
            return f"a value of type {wanted}"
        case "additionalProperties":
            return "only " + ", ".join(sorted(schema.get("properties", ())))
    return str(schema.get("description", f"{error.validator} {wanted}"))
