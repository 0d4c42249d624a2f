"""``chat``: an assistant behind the OpenAI-compatible ``POST {base}/chat/completions``.

The inputs become one user message (`_message`); each call is a conversation of its own. No temperature is asked for:
some models take none, and the skill is to be met as its users meet it. The answer is a text, whatever is in it. Only
where the manifest declares more outputs than one text is the text itself read as JSON (*answer* ``json``), with or
without a Markdown fence around it.

Source: OpenAI API reference, "Create chat completion".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from workers.adapters import _completion, _json
from workers.adapters._adapter import Adapter
from workers.adapters._message import message
from workers.adapters._post import Poster
from workers.adapters._target import Auth, Target, json_body, options_of, url_of
from workers.observation import Malformed, Reply, Value
from workers.wire.skill import Access, SkillRef

AS_TEXT = True
PATH = "/chat/completions"

_FENCE = re.compile(r"\s*```[a-zA-Z]*[ \t]*\n(.*)\n[ \t]*```\s*", re.DOTALL)


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """*model* is the name under which the endpoint knows the assistant."""

    model: str
    answer: Literal["text", "json"] = "text"
    auth: Auth | None = None


def open() -> Adapter:  # noqa: A001 - the name that every adapter module has
    """The adapter of this process. Its connections are made when the first call needs them."""
    return Poster(Conversation)


class Conversation:
    """One question, one answer."""

    def __init__(self, access: Access, agent: str) -> None:
        options = options_of(access, Options)
        self._model = options.model
        self._as_json = options.answer == "json"
        base = url_of(access.endpoint)
        path, separator, query = base.raw_path.decode("ascii").partition("?")
        path = path.rstrip("/").removesuffix(PATH) + PATH
        self.target = Target(base.copy_with(raw_path=f"{path}{separator}{query}".encode()), options.auth, agent)

    def body(self, skill: SkillRef, inputs: Mapping[str, Any]) -> bytes:
        """The completion that is asked for."""
        said = {"role": "user", "content": message(inputs)}
        return json_body({"model": self._model, "messages": [said], "stream": False})

    def read(self, body: bytes) -> Reply:
        """The answer in *body*."""
        reply = _completion.read(body)
        if not self._as_json or not isinstance(reply, Value) or not isinstance(reply.value, str):
            return reply
        fenced = _FENCE.fullmatch(reply.value)
        try:
            return Value(_json.decoded((fenced[1] if fenced else reply.value).encode()))
        except (_json.NotJson, UnicodeEncodeError):
            return Malformed("a text that is not the JSON of the declared outputs")
