"""The order of events: the stack stands up, traffic flows, numbers appear, and a verdict is given."""

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

from rich.console import Console
from rich.text import Text

from penstock.ops.demo.stages import Stage, look
from penstock.ops.demo.traffic import Traffic, flowing
from penstock.ops.stack import foreground, table
from penstock.ops.stack.run import Stack
from penstock.settings import Settings

# After the traffic the last epoch and the last build need a moment, on a busy machine a long one.
GRACE = 300.0
# How often the numbers are read and told.
EVERY = 10.0


@dataclass(frozen=True)
class Verdict:
    """What moved since the demo began. Well: every stage moved something, and nothing failed."""

    seconds: float
    stages: list[Stage]
    parts_well: bool

    @property
    def well(self) -> bool:
        return self.parts_well and all(each.moved > 0 and not each.wrong for each in self.stages)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "well": self.well}


def tour(stack: Stack, settings: Settings, screen: Console, traffic: Traffic) -> Verdict:
    """Runs until the time is over (`None`: until a signal) and every stage has moved data or the grace is over."""
    begun = time.monotonic()
    parts = foreground.until_well(stack, screen)
    screen.print(table.table(parts, stack.home, time.monotonic() - begun))
    verdict = Verdict(0, [], parts_well=True)
    before = look(settings)
    with flowing(settings, stack.home, traffic):
        flow = time.monotonic()
        while True:
            foreground.watch(stack, screen, lambda _told, spent: spent > EVERY, below=lines(verdict))
            verdict = judge(before, look(settings), stack, begun)
            if not screen.is_terminal:
                screen.print(lines(verdict))
            over = time.monotonic() - flow - (traffic.seconds or float("inf"))
            if not verdict.parts_well or (over > 0 and (verdict.well or over > GRACE)):
                return verdict


def judge(before: list[Stage], now: list[Stage], stack: Stack, begun: float) -> Verdict:
    moved = [
        # A stage that does not answer for a moment tells zero.
        replace(each, moved=max(0, each.moved - was.moved), wrong=max(0, each.wrong - was.wrong))
        for was, each in zip(before, now, strict=True)
    ]
    alive = stack.process.poll() is None
    return Verdict(round(time.monotonic() - begun, 1), moved, alive)


def lines(verdict: Verdict) -> Text:
    """One line a stage: what it moved in all, and since the demo began."""
    rows = [f"{verdict.seconds:6.0f} s  {each.name:<13} {each.told} (+{each.moved:,})" for each in verdict.stages]
    return Text("\n".join(rows))
