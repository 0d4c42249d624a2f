"""The judge: a language model behind an OpenAI-compatible endpoint, asked as an operator's own service is.

A failing judge is our failure. What may pass by itself (no connection, 429, 5xx, an answer that is not in form) is
tried again with a growing pause, or when the judge says; what cannot, a wrong key for one, is not. Requests are few and
slow, so each has a connection of its own: nothing to be closed when the worker's loop ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx
import msgspec
from msgspec import Struct

from workers import trust
from workers.faults import BadJob, Exhausted
from workers.secrets import Redactor

KEY, BASE_URL, MODEL = "EVAL_SKILLS_LLM_KEY", "SKILLMARK_LLM_BASE_URL", "SKILLMARK_LLM_MODEL"
DEFAULTS = {BASE_URL: "https://api.openai.com/v1", MODEL: "gpt-4o-mini"}

TRIES = 4
PAUSE_S = 1.0
LONGEST_PAUSE_S = 20.0
PATIENCE_S = 90.0
"""Over all tries; no try is begun after it."""
TRY_S = 45.0
ANSWER_BYTES = 256 << 10
QUOTED_CHARS = 200

_PASSING = frozenset({408, 409, 425, 429})
# Options that not every model takes; one that refuses the request is asked once more without them.
_OPTIONAL: dict[str, Any] = {"temperature": 0, "response_format": {"type": "json_object"}}


T = TypeVar("T")


class Unfit(Exception):
    """An answer of the judge that cannot be used; the message says why."""


class Judge(Struct, frozen=True, kw_only=True):
    """Where the judge is, which model, and the key to it."""

    base_url: str
    model: str
    key: str

    async def ask(self, messages: list[dict[str, str]]) -> str:
        """The judge's reply to *messages*, as text.

        Raises:
            Unfit: If there is no text in it.
            _Passing: If it may succeed another time.
            BadJob: If it cannot succeed.
        """
        body = {"model": self.model, "messages": messages}
        status, headers, answer = await self._post({**body, **_OPTIONAL})
        if status == 400:
            status, headers, answer = await self._post(body)
        if 200 <= status < 300:
            return _text(answer)
        said = Redactor(self.key).text(answer[: 4 * QUOTED_CHARS].decode("utf-8", "replace"))[:QUOTED_CHARS]
        if status in _PASSING or status >= 500:
            raise _Passing(f"the judge answers HTTP {status}: {said}", _retry_after_s(headers.get("retry-after", "")))
        hint = f"; check {KEY}" if status in (401, 403) else f"; check {BASE_URL} and {MODEL}"
        raise BadJob(f"the judge answers HTTP {status}: {said}{hint}")

    async def _post(self, body: dict[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        url = f"{self.base_url.rstrip('/')}/chat/completions"
        headers = {"Authorization": f"Bearer {self.key}"}
        try:
            async with (
                asyncio.timeout(TRY_S),
                httpx.AsyncClient(verify=trust.verifying(), timeout=TRY_S) as client,
                client.stream("POST", url, json=body, headers=headers) as response,
            ):
                answer = bytearray()
                async for chunk in response.aiter_bytes():
                    answer += chunk
                    if len(answer) > ANSWER_BYTES:
                        raise _Passing(f"the judge answers more than {ANSWER_BYTES} bytes")
                return response.status_code, response.headers, bytes(answer)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
            raise BadJob(f"{BASE_URL} is no http or https URL: {error}") from error
        except TimeoutError as error:
            raise _Passing(f"the judge is silent for {TRY_S:.0f} s") from error
        except httpx.HTTPError as error:
            raise _Passing(f"the judge cannot be reached: {type(error).__name__} {error}") from error


class _Passing(Exception):
    def __init__(self, reason: str, pause_s: float | None = None) -> None:
        super().__init__(reason)
        self.pause_s = pause_s


def missing() -> str:
    """The name of the variable without which this process cannot ask a judge; empty where it can."""
    return "" if os.environ.get(KEY, "").strip() else KEY


def of_environment() -> Judge:
    """The judge that the environment names.

    Raises:
        BadJob: If it names none.
    """
    if missing():
        raise BadJob(f"llm_judge needs a judge's key: set {KEY} where the worker runs")
    values = {name: os.environ.get(name, "").strip() or default for name, default in DEFAULTS.items()}
    return Judge(base_url=values[BASE_URL], model=values[MODEL], key=os.environ[KEY].strip())


async def answered(judge: Judge, messages: list[dict[str, str]], read: Callable[[str], T]) -> T:
    """What *read* makes of the judge's reply to *messages*; *read* raises `Unfit` at a reply that is not in form.

    Raises:
        Exhausted: If the judge failed again and again.
        BadJob: If it cannot be asked.
    """
    began = time.monotonic()
    reason = ""
    for number in range(TRIES):
        try:
            return read(await judge.ask(messages))
        except Unfit as error:
            reason, pause_s = f"the judge's answer is not in form: {error}", None
        except _Passing as error:
            reason, pause_s = str(error), error.pause_s
        if pause_s is None:
            # Spread, since all tasks of a benchmark meet the same judge at the same moment.
            pause_s = PAUSE_S * 2**number * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        if number == TRIES - 1 or time.monotonic() - began + pause_s > PATIENCE_S:
            break
        await asyncio.sleep(min(pause_s, LONGEST_PAUSE_S))
    raise Exhausted(f"no verdict of the judge after {number + 1} tries: {reason}")


def _text(answer: bytes) -> str:
    """The text of the first choice of a completion."""
    try:
        completion = msgspec.json.decode(answer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Unfit(f"no JSON ({error})") from error
    match completion:
        case {"choices": [{"message": {"content": str(text)}}, *_]}:
            return text
        case {"choices": [{"message": {"content": [*parts]}}, *_]}:
            texts = [part.get("text") for part in parts if isinstance(part, dict)]
            return "".join(text for text in texts if isinstance(text, str))
    raise Unfit(f"no choices[0].message.content in {json.dumps(completion)[:QUOTED_CHARS]}")


def _retry_after_s(text: str) -> float | None:
    text = text.strip()
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError, TypeError):
        return None
