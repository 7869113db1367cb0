"""Benchmarks. Each module NAME.py here with `run(quick) -> Iterator[Figure]` is `penstock bench NAME`.

A figure says what was measured, against what, and how busy the machine was while it was measured.
"""

import os
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any

from penstock.refusal import Refusal


def machine() -> dict[str, Any]:
    """How big and how busy the machine is: without it a figure says nothing."""
    return {"cores": os.cpu_count(), "load_1m": round(os.getloadavg()[0], 2)}


@dataclass(frozen=True)
class Figure:
    """One measured number. `gate_ok`: the results were checked to be right; `met`: the goal is reached.

    Where lower is better the goal reads `<= 30`, else `>= 30`; `met` follows from it unless given."""

    name: str
    figure: str
    ours: float
    peer: float | None = None
    ratio: float | None = None
    goal: str | None = None
    met: bool | None = None
    gate_ok: bool = True
    load: dict[str, Any] = field(default_factory=machine)
    detail: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        ratio = self.ours / self.peer if self.ratio is None and self.peer else self.ratio
        return {**asdict(self), "ratio": ratio, "met": self.reached(ratio)}

    def reached(self, ratio: float | None = None) -> bool | None:
        """A goal that ends in `x` is about the ratio to the peer, else about our own number."""
        if self.met is not None or self.goal is None:
            return self.met
        sign, _, bound = self.goal.partition(" ")
        number = ratio if bound.endswith("x") else self.ours
        if number is None:
            return None
        limit = float(bound.split()[0].rstrip("x"))
        return number <= limit if sign == "<=" else number >= limit

    def line(self) -> str:
        told = self.as_dict()
        against = f" against {self.peer:g} ({told['ratio']:.2f}x)" if self.peer else ""
        goal = f", goal {self.goal}: {'met' if told['met'] else 'missed'}" if self.goal else ""
        wrong = "" if self.gate_ok else " RESULTS WRONG"
        return f"{self.name}: {self.figure} {self.ours:g}{against}{goal}{wrong} (load {self.load['load_1m']})"


def names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(name: str) -> Callable[[bool], Iterator[Figure]]:
    """The benchmark of this name, or a refusal that lists those there are."""
    if name not in names():
        raise Refusal(f"There is no benchmark {name!r}. Choose one of: {', '.join(names())}.")
    run: Callable[[bool], Iterator[Figure]] = import_module(f"{__name__}.{name}").run
    return run
