"""What a Python handler is sent, by the Pydantic model that it declares: each field is an input, read or not.

Of ``def count(body: CountRequest)`` the members of the body are the fields of ``CountRequest`` and of the models that
it builds on, as far as they stand in the same file. A model that comes from elsewhere says nothing here; nor does a
second one, for then the names of the parameters are the members.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from coordinator.source.facts import InputRead

BASES = frozenset({"BaseModel", "SQLModel", "RootModel", "GenericModel"})
ALIASES = ("validation_alias", "alias")
BODIES = frozenset({"Body", "Form", "Json"})  # what a default may say of a parameter without making it something else
INSIDE = frozenset({"input", "inputs", "arguments", "params", "data", "body"})  # fields that hold the inputs
MAX_LINEAGE = 50  # classes that one builds on

Handler = ast.FunctionDef | ast.AsyncFunctionDef


def model_reads(tree: ast.Module, handles: Callable[[ast.expr], bool]) -> Iterator[InputRead]:
    """The fields of the models that the handlers in *tree* are sent; *handles* says which decorators make one."""
    models = _Models(tree)
    for node in ast.walk(tree):
        if isinstance(node, Handler) and any(handles(one) for one in node.decorator_list):
            sent = [found for one in _parameters(node.args) if (found := models.named(one)) is not None]
            if len(sent) == 1:
                yield from (InputRead(name, line, node.lineno) for name, line in models.fields(sent[0]))


def _parameters(given: ast.arguments) -> Iterator[ast.expr]:
    """The types of the parameters, without those that are handed in from elsewhere (``= Depends(...)``)."""
    plain = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(plain) - len(given.defaults)), *given.defaults, *given.kw_defaults]
    for parameter, default in zip((*plain, *given.kwonlyargs), defaults, strict=True):
        from_elsewhere = isinstance(default, ast.Call) and _name(default.func) not in BODIES
        if parameter.annotation is not None and not from_elsewhere:
            yield parameter.annotation


class _Models:
    """The classes of one file; those are models that lead to one of Pydantic's."""

    def __init__(self, tree: ast.Module) -> None:
        self._classes: dict[str, ast.ClassDef] = {}
        self._lines: dict[str, list[ast.ClassDef]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                self._classes.setdefault(node.name, node)

    def named(self, annotation: ast.expr) -> ast.ClassDef | None:
        """The model of *annotation*: itself, ``Model | None``, ``Optional[Model]``, ``Annotated[Model, Body()]``."""
        match annotation:
            case ast.Constant(value=str(name)) | ast.Name(id=name):
                found = self._classes.get(name)
                return found if found is not None and self._is_model(found) else None
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.named(left) or self.named(right)
            case ast.Subscript(value=value, slice=ast.Tuple(elts=[first, *rest])) if _name(value) == "Annotated":
                told = {_name(one.func if isinstance(one, ast.Call) else one) for one in rest}
                return None if "Depends" in told else self.named(first)
            case ast.Subscript(value=value, slice=inner) if _name(value) == "Optional":
                return self.named(inner)
        return None

    def fields(self, model: ast.ClassDef) -> Iterator[tuple[str, int]]:
        """The names and lines of what a message holds that *model* describes, its envelope's inside with it."""
        seen, waiting = set[str](), [model]
        while waiting:
            for one in self._lineage(waiting.pop()):
                if one.name in seen:
                    continue
                seen.add(one.name)
                for node in one.body:
                    if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
                        continue
                    name, kind = node.target.id, node.annotation
                    if name.startswith("_") or "ClassVar" in (_name(kind), _name(getattr(kind, "value", None))):
                        continue
                    if name in INSIDE and (inner := self.named(kind)) is not None:
                        waiting.append(inner)
                    yield _alias(node.value) or name, node.lineno

    def _is_model(self, one: ast.ClassDef) -> bool:
        return any(_name(base) in BASES for part in self._lineage(one) for base in part.bases)

    def _lineage(self, one: ast.ClassDef) -> list[ast.ClassDef]:
        """*one* and the classes of this file that it builds on."""
        if one.name not in self._lines:
            found, waiting = dict[str, ast.ClassDef](), [one]
            while waiting and len(found) < MAX_LINEAGE:
                part = waiting.pop()
                found[part.name] = part
                names = dict.fromkeys(map(_name, part.bases[:MAX_LINEAGE]))
                waiting += [self._classes[name] for name in names if name in self._classes and name not in found]
            self._lines[one.name] = list(found.values())
        return self._lines[one.name]


def _alias(value: ast.expr | None) -> str:
    """The name under which a field is sent, where ``Field(alias=...)`` gives it another."""
    for keyword in value.keywords if isinstance(value, ast.Call) else ():
        if keyword.arg in ALIASES and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
            return keyword.value.value
    return ""


def _name(node: ast.AST | None) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))
