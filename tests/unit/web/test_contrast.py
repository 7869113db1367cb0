"""Every colour of text stands out from every ground that it is on: WCAG AA, 4.5 to 1, light and dark."""

import re
from itertools import product
from pathlib import Path

import pytest

import penstock.serve

STYLE = (Path(penstock.serve.__file__).parent / "console" / "style.css").read_text()
TEXTS, GROUNDS = ("ink", "ink-soft", "accent", "good", "bad"), ("ground", "card", "fill")


def colours(selector: str) -> dict[str, str]:
    block = STYLE.partition(selector)[2].partition("}")[0]
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6})", block))


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("selector", [":root {", ':root[data-theme="dark"] {'], ids=["light", "dark"])
def test_text_stands_out(selector: str) -> None:
    said = colours(selector)
    pairs = {pair: sorted(luminance(said[name]) for name in pair) for pair in product(TEXTS, GROUNDS)}
    weak = {pair: (light + 0.05) / (dark + 0.05) for pair, (dark, light) in pairs.items()}
    assert {pair: round(ratio, 2) for pair, ratio in weak.items() if ratio < 4.5} == {}


def test_dark_by_the_system_is_dark_by_choice() -> None:
    assert colours(':root:not([data-theme="light"]) {') == colours(':root[data-theme="dark"] {')
