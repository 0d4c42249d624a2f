"""Reads all of its input, answers one request, and ends: how eval-skills programs are written."""

import ast
import json
import operator
import sys

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def value(node):
    if isinstance(node, ast.Expression):
        return value(node.body)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](value(node.left), value(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -value(node.operand)
    raise ValueError("only numbers and + - * /")


def invoke(params):
    expression = params.get("expression") if isinstance(params, dict) else None
    if not isinstance(expression, str) or len(expression) > 1000 or set(params) != {"expression"}:
        raise ValueError("expression: a text of at most 1000 characters")
    result = value(ast.parse(expression.strip(), mode="eval"))
    return {"result": str(int(result)) if result == int(result) else str(result)}


def main():
    request = json.loads(sys.stdin.read())
    answer = {"jsonrpc": "2.0", "id": request.get("id")}
    if request.get("method") != "invoke":
        answer["error"] = {"code": -32601, "message": "no such method"}
    else:
        try:
            answer["result"] = invoke(request.get("params"))
        except (ValueError, SyntaxError, ArithmeticError, RecursionError, MemoryError) as error:
            answer["error"] = {"code": -32602, "message": f"cannot work that out: {type(error).__name__}"}
    print("calculator ready")
    print(json.dumps(answer))


main()
