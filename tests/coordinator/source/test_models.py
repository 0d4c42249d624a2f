from __future__ import annotations

import pytest

from coordinator.source.apis import PYTHON
from coordinator.source.python import program
from coordinator.source.uses import facts

HEAD = """
from typing import Annotated, ClassVar, Optional
from fastapi import Body, Depends, FastAPI
from pydantic import BaseModel, Field
app = FastAPI()
class Base(BaseModel):
    text: str
class Request(Base):
    kind: ClassVar[str] = "x"
    model_config = {}
    _kept: int = 0
    is_admin: bool = False
    longest: int = Field(5, alias="maxLength")
class Wrapped(BaseModel):
    version: str
    input: Request
class User(BaseModel):
    email: str
class Plain:
    colour: str
"""
FIELDS = {"text", "is_admin", "maxLength"}


def read(handler: str) -> set[str]:
    return {one.name for one in facts(program((HEAD + handler).encode()), PYTHON).reads}


@pytest.mark.parametrize(
    "parameters",
    [
        "body: Request",
        "body: 'Request'",
        "body: Request | None = None",
        "body: Optional[Request] = None",
        "body: Annotated[Request, Body()]",
        "body: Request = Body(...)",
        "body: Request, user: User = Depends(who)",
        "body: Request, user: Annotated[User, Depends(who)]",
        "*, limit: int = 3, body: Request",
    ],
)
def test_the_fields_of_a_handlers_model_are_inputs(parameters: str) -> None:
    """With those that it inherits, under the names by which they are sent; what is injected is none."""
    assert read(f"@app.post('/x')\nasync def count({parameters}): return body.text\n") == FIELDS


def test_the_fields_inside_an_envelope_are_inputs() -> None:
    """Where a member of the body holds them."""
    assert read("@app.post('/x')\ndef count(body: Wrapped): ...\n") == {"version", "input", *FIELDS}


@pytest.mark.parametrize(
    "handler",
    [
        "def count(body: Request): ...",
        "@app.post('/x')\ndef count(body: Plain): ...",
        "@app.post('/x')\ndef count(body: Elsewhere): ...",
        "@app.post('/x')\ndef count(body: Request, user: User): ...",
        "@app.post('/x')\ndef count(body): ...",
    ],
)
def test_what_cannot_be_told_from_the_file_is_not_guessed(handler: str) -> None:
    """No handler, no model, one that stands elsewhere, or several, whose fields lie one level deeper."""
    assert read(handler) == set()


def test_classes_that_build_on_each_other_end() -> None:
    """However they are written."""
    circle = "class A(B, BaseModel):\n    x: int\nclass B(A):\n    y: int\n@app.post('/x')\ndef f(body: A): ...\n"

    assert read(circle) == {"x", "y"}
