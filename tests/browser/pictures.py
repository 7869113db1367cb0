"""Takes the pictures of README and docs from the console, over a month of the simulated site.

cd tests && python -m browser.pictures               writes docs/pictures/*.png
cd tests && python -m browser.pictures --all FOLDER  every page on every screen, light and dark, full, empty and broken
"""

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from browser.lake import Broken, Lake, crowd, history, refused
from browser.server import served
from playwright.sync_api import Browser

from penstock.ops.load.browser import chromium

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
# name: address, width, height, colour scheme
SHOTS = {
    "console": ("/?range=30d", 1280, 1000, "light"),
    "console-dark": ("/?range=30d&measure=views", 1280, 1000, "dark"),
    "console-phone": ("/?range=30d", 390, 844, "light"),
    "reports": ("/?range=30d", 1280, 1000, "light"),
    "pipeline": ("/?page=pipeline", 1280, 1000, "light"),
}
PAGES = ("web", "pipeline", "rejected", "rules", "releases", "audit")
SCREENS = {"phone": (390, 844), "laptop": (1280, 800), "wide": (1920, 1080)}
SCHEMES = ("light", "dark")
# A repository's pictures stay small.
LARGEST = 200_000


def take(browser: Browser, name: str, address: str) -> Path:
    path, width, height, scheme = SHOTS[name]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    page.set_default_timeout(120_000)
    page.goto(address + path)
    page.wait_for_selector(".tiers li" if "pipeline" in path else ".chart svg")
    page.wait_for_selector("main:not([aria-busy])")
    if name == "pipeline":
        page.wait_for_selector("section[aria-label=Storage] table")
        page.wait_for_selector(".tiers li:has-text('a second')")
    if name == "reports":
        page.locator(".report").first.evaluate("one => one.scrollIntoView()")
    picture = PICTURES / f"{name}.png"
    page.screenshot(path=picture)
    page.close()
    if picture.stat().st_size > LARGEST:
        raise ValueError(f"{picture} has {picture.stat().st_size} bytes, more than {LARGEST}: make the view smaller")
    return picture


def take_all(browser: Browser, state: str, address: str, folder: Path) -> Iterator[Path]:
    """Each page of one lake as a whole, for people who look for what should be mended."""
    for (screen, (width, height)), scheme in product(SCREENS.items(), SCHEMES):
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
        for name in PAGES:
            page.goto(f"{address}/?page={name}&range=30d")
            page.wait_for_selector("main:not([aria-busy]) :is(.card, .empty)")
            # Charts, reports and rates come after what people came for.
            page.wait_for_load_state("networkidle") if name == "web" else page.wait_for_timeout(2500)
            picture = folder / f"{name}-{state}-{screen}-{scheme}.png"
            page.screenshot(path=picture, full_page=True)
            yield picture
        page.close()


def every_page(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    told = history(days=60, total=30_000)
    told = {**told, "web.events": told["web.events"] + crowd()}
    lakes = {"full": Lake(told, refused()), "empty": Lake(), "broken": Broken(history(days=2, total=500))}
    with chromium() as browser:
        for state, lake in lakes.items():
            with served(lake) as address:
                for picture in take_all(browser, state, address, folder):
                    print(picture)  # noqa: T201


def main() -> None:
    if sys.argv[1:2] == ["--all"]:
        every_page(Path(sys.argv[2]))
        return
    PICTURES.mkdir(parents=True, exist_ok=True)
    with served(Lake(history(days=60, total=60_000))) as address, chromium() as browser:
        for name in SHOTS:
            print(take(browser, name, address))  # noqa: T201


if __name__ == "__main__":
    main()
