"""``http``: one POST with a JSON body, one JSON answer: any 2xx with a JSON body, whatever its content type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from workers.adapters import _json
from workers.adapters._adapter import Adapter
from workers.adapters._post import Poster
from workers.adapters._target import Auth, Target, json_body, options_of, url_of
from workers.observation import Malformed, Reply, Value
from workers.wire.skill import Access, SkillRef

TAKES_BODY = True


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """*body* ``inputs`` sends the object of the inputs, ``envelope`` sends ``{skillId, version, input}``."""

    body: Literal["inputs", "envelope"] = "inputs"
    auth: Auth | None = None


def open() -> Adapter:  # noqa: A001 - the name that every adapter module has
    """The adapter of this process. Its connections are made when the first call needs them."""
    return Poster(Plain)


class Plain:
    """The body is JSON and so is the answer's."""

    def __init__(self, access: Access, agent: str) -> None:
        options = options_of(access, Options)
        self._envelope = options.body == "envelope"
        self.target = Target(url_of(access.endpoint), options.auth, agent)

    def body(self, skill: SkillRef, inputs: Mapping[str, Any]) -> bytes:
        """The object of the inputs, or the envelope around it."""
        content = dict(inputs)
        if self._envelope:
            content = {"skillId": skill.id, "version": skill.version, "input": content}
        return json_body(content)

    def read(self, body: bytes) -> Reply:
        """The JSON of *body*."""
        try:
            return Value(_json.decoded(body))
        except _json.NotJson as error:
            return Malformed(f"no JSON body: {error}" if body else "no body")
