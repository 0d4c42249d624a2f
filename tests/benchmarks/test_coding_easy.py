"""The built-in benchmark expects what independent code computes."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from benchmarks.loader import Task, find

TASKS = find("coding-easy").tasks
OPERATORS: dict[type, Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
OPERATIONS: dict[str, Callable[[str], Any]] = {
    "uppercase": str.upper,
    "lowercase": str.lower,
    "reverse": lambda text: text[::-1],
    "length": len,
    "word_count": lambda text: len(text.split()),
    "trim": str.strip,
    "title_case": str.title,
    "is_palindrome": lambda text: text == text[::-1],
    "count_vowels": lambda text: sum(text.count(vowel) for vowel in "aeiou"),
    "split_words": str.split,
}


def computed(node: ast.AST) -> Fraction:
    match node:
        case ast.Expression(body=body):
            return computed(body)
        case ast.Constant(value=value):
            return Fraction(str(value))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -computed(operand)
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](computed(left), computed(right))
    raise AssertionError(ast.dump(node))


def test_there_are_twenty_tasks_half_maths_half_strings() -> None:
    """The benchmark ships complete."""
    assert [task.tags for task in TASKS] == [("maths",)] * 10 + [("strings",)] * 10


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_expected_value_is_right(task: Task) -> None:
    """Exact fractions and Python's own string methods come to the same answer."""
    if "expression" in task.input_data:
        right: Any = computed(ast.parse(task.input_data["expression"], mode="eval"))
    else:
        right = OPERATIONS[task.input_data["operation"]](task.input_data["text"])

    expected = task.expected_output.get("keywords", task.expected_output.get("value"))

    assert expected == right
    assert isinstance(expected, bool) == isinstance(right, bool)
