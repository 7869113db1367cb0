"""How many members a set has that is made of other sets of the view: steps of funnels, who left, who stayed."""

import ast

from penstock.model.measure import Measure

ALLOWED = "names of the view's theta measures with and, or, and `and not`, such as 'seen and added and not bought'"


def members(of: str) -> Measure:
    """How many are in the set that `and`, `or` and `not` make of thetas of this view (exact while they are).

    `not` takes away from what stands beside it: "added and not bought". There is no set of everybody.
    """
    try:
        tree = ast.parse(of, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"members({of!r}) cannot be read: {error.msg}; it takes {ALLOWED}") from None
    needs = tuple(dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)))
    return Measure("members", (), f"theta_estimate({_set(tree, of)})", of, needs)


def _set(node: ast.expr, said: str) -> str:
    """DuckDB SQL of the sketch of a set."""
    match node:
        case ast.Name(id=name):
            return f"{name}__theta"
        case ast.BoolOp(op=ast.Or(), values=sets):
            return f"theta_union([{', '.join(_set(each, said) for each in sets)}])"
        case ast.BoolOp(op=ast.And(), values=sets):
            return _both(sets, said)
    raise ValueError(f"members({said!r}) takes {ALLOWED}")


def _both(sets: list[ast.expr], said: str) -> str:
    inside = [each for each in sets if not isinstance(each, ast.UnaryOp)]
    outside = [each.operand for each in sets if isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.Not)]
    if not inside or len(inside) + len(outside) < len(sets):
        raise ValueError(f"members({said!r}) takes from nothing; it takes {ALLOWED}")
    text = _set(inside[0], said)
    for each in inside[1:]:
        text = f"theta_and({text}, {_set(each, said)})"
    for each in outside:
        text = f"theta_not({text}, {_set(each, said)})"
    return text
