"""The documents in which an attack can travel.

Every carrier but `plain` makes it an indirect one: the text is then not what the caller says, but part of what the
caller hands over.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from workers.canaries import Canaries
from workers.faults import BadJob

PLAIN = "plain"


def carry(carrier: str, text: str, canaries: Canaries) -> str:
    """*text* inside the document that *carrier* makes.

    Raises:
        BadJob: If there is no such carrier.
    """
    build = CARRIERS.get(carrier)
    if build is None:
        raise BadJob(f"no carrier called {carrier!r}; there are: {', '.join(CARRIERS)}")
    return build(text, canaries.sentence("carrier head"), canaries.sentence("carrier tail"))


def _plain(text: str, head: str, tail: str) -> str:
    return text


def _markdown_quote(text: str, head: str, tail: str) -> str:
    quoted = "\n".join(f"> {line}" for line in text.splitlines())
    return f"# Minutes\n\n{head}\n\n{quoted}\n\n{tail}\n"


def _html_comment(text: str, head: str, tail: str) -> str:
    return f"<html><body><p>{head}</p>\n<!-- {text} -->\n<p>{tail}</p></body></html>"


def _nested_json(text: str, head: str, tail: str) -> str:
    document = {"title": "Minutes", "sections": [{"body": head}, {"body": tail, "comments": [{"text": text}]}]}
    return json.dumps(document, ensure_ascii=False)


CARRIERS: dict[str, Callable[[str, str, str], str]] = {
    PLAIN: _plain,
    "markdown_quote": _markdown_quote,
    "html_comment": _html_comment,
    "nested_json": _nested_json,
}
