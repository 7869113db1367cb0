"""What is read stands out from what it is on, light and dark: WCAG AA, 4.5 to 1 of text, 3 to 1 of lines."""

import re
from itertools import product
from pathlib import Path

import pytest

import penstock.serve
from domains.web.charts import PAGE

STYLE = (Path(penstock.serve.__file__).parent / "console" / "style.css").read_text()
TEXTS, GROUNDS = ("ink", "ink-soft", "accent", "good", "bad"), ("ground", "card", "fill")


def colours(selector: str) -> dict[str, str]:
    block = STYLE.partition(selector)[2].partition("}")[0]
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6})", block))


def parts_of(colour: str) -> list[float]:
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    return [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]


def contrast(one: str, other: str, opacity: float = 1) -> float:
    """Of a colour that lets so much of the other shine through."""
    under = parts_of(other)
    over = [top * opacity + below * (1 - opacity) for top, below in zip(parts_of(one), under, strict=True)]
    dark, light = sorted(luminance(parts) for parts in (over, under))
    return (light + 0.05) / (dark + 0.05)


def luminance(parts: list[float]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


SCHEMES = pytest.mark.parametrize("selector", [":root {", ':root[data-theme="dark"] {'], ids=["light", "dark"])


@SCHEMES
def test_text_stands_out(selector: str) -> None:
    said = colours(selector)
    pairs = {pair: contrast(*(said[name] for name in pair)) for pair in product(TEXTS, GROUNDS)}
    assert {pair: round(ratio, 2) for pair, ratio in pairs.items() if ratio < 4.5} == {}


@SCHEMES
def test_the_edge_of_a_field_and_the_lines_of_a_chart_stand_out(selector: str) -> None:
    said = colours(selector)
    assert min(contrast(said["edge"], said[ground]) for ground in ("ground", "card")) >= 3
    lines = [layer["mark"] for layer in PAGE.chart["layer"] if layer["mark"]["type"] == "line"]
    assert len(lines) == 3
    assert min(contrast(said["accent"], said["card"], line.get("opacity", 1)) for line in lines) >= 3


def test_dark_by_the_system_is_dark_by_choice() -> None:
    assert colours(':root:not([data-theme="light"]) {') == colours(':root[data-theme="dark"] {')
