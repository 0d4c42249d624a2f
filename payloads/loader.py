"""Reads the attack corpus: `corpus.yaml` and one file a probe.

One bad file fails the whole load: a skipped attack is a silently weaker certificate.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import rfc8785

from payloads import bounded_yaml, consistency
from payloads.payload import Confirm, Corpus, CorpusError, Payload

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
    _validate(about, meta, _CORPUS_SCHEMA)
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


@cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((_BUILT_IN / "schema.json").read_bytes())
    return schema


def _validate(file: Path, document: Any, schema: Mapping[str, Any]) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    error = min(validator.iter_errors(document), key=lambda error: [str(part) for part in error.path], default=None)
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
