"""Takes the pictures of README and docs from the console, over a month of the simulated site.

cd tests && python -m browser.pictures               writes docs/pictures/*.png
cd tests && python -m browser.pictures --all FOLDER  every page on every screen, light and dark, full, empty and broken
"""

import json
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from browser.lake import Broken, Lake, history
from browser.lived import lived_in
from browser.server import served
from playwright.sync_api import Browser, Page

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
# name: address, and what is done there
MOMENTS: dict[str, tuple[str, Callable[[Page], object]]] = {
    "certificate": ("/?range=30d", lambda page: page.locator(".number").nth(1).hover()),
    "point": ("/?range=30d", lambda page: page.locator(".chart .mark-symbol path").nth(12).hover(force=True)),
    "filtered": ("/?range=2026-10-20..2026-11-02&f=page:/boats&f=device:Phone", lambda page: None),
    "login": ("/", lambda page: page.get_by_role("button", name="Log in").click()),
    "share": ("/", lambda page: page.get_by_role("button", name="Share").click()),
    "replay": ("/?page=releases", lambda page: page.get_by_role("button", name="Replay…").click()),
    "retract": ("/?page=rejected", lambda page: page.get_by_role("button", name="Retract facts of web.events").click()),
    "repair": ("/?page=rejected", lambda page: page.get_by_role("button", name="Repair missing_site").click()),
    "rewind": ("/?page=releases", lambda page: page.get_by_role("button", name="Rewind to").first.click()),
    "compared": ("/?page=releases", lambda page: compared(page)),
    "focus": ("/?range=30d", lambda page: [page.keyboard.press("Tab") for _ in range(16)]),
}
# Milliseconds: two releases are compared in full.
PATIENCE = 120_000
# A repository's pictures stay small.
LARGEST = 200_000


def take(browser: Browser, name: str, address: str) -> Path:
    path, width, height, scheme = SHOTS[name]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    page.set_default_timeout(PATIENCE)
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


def views(size: tuple[int, int], scheme: str) -> dict[str, Any]:
    return {"viewport": dict(zip(("width", "height"), size, strict=True)), "color_scheme": scheme}


def compared(page: Page) -> None:
    page.get_by_role("button", name="Compare with").first.click()
    page.wait_for_selector("section[aria-label=Comparison] table")


def ready(page: Page) -> None:
    """Charts, reports and rates come after what people came for."""
    page.wait_for_selector("main:not([aria-busy]) :is(.card, .empty)")
    page.wait_for_timeout(2500) if "page=" in page.url and "page=web" not in page.url else page.wait_for_load_state(
        "networkidle"
    )


def take_all(browser: Browser, state: str, address: str, folder: Path) -> Iterator[Path]:
    """Each page of one lake as a whole, for people who look for what should be mended."""
    for (screen, size), scheme in product(SCREENS.items(), SCHEMES):
        page = browser.new_page(**views(size, scheme))
        page.set_default_timeout(PATIENCE)
        for name in PAGES:
            page.goto(f"{address}/?page={name}&range=30d")
            ready(page)
            picture = folder / f"{name}-{state}-{screen}-{scheme}.png"
            page.screenshot(path=picture, full_page=True)
            yield picture
        page.close()


def take_moments(browser: Browser, lake: Lake, address: str, folder: Path) -> Iterator[Path]:
    """What is seen only after a click, as an admin sees it."""
    password = json.loads((lake.home / "passwords.json").read_text())["admin"]
    admin = {"Authorization": f"Basic {b64encode(f'admin:{password}'.encode()).decode()}"}
    for screen, scheme, (name, (path, act)) in product(("phone", "laptop"), SCHEMES, MOMENTS.items()):
        page = browser.new_page(**views(SCREENS[screen], scheme), extra_http_headers=admin if name != "login" else {})
        page.set_default_timeout(PATIENCE)
        page.goto(address + path)
        ready(page)
        act(page)
        page.wait_for_timeout(700)
        picture = folder / f"moment-{name}-{screen}-{scheme}.png"
        page.screenshot(path=picture)
        page.close()
        yield picture


def every_page(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lakes = {"full": lived_in(), "empty": Lake(), "broken": Broken(history(days=2, total=500))}
    with chromium() as browser:
        for state, lake in lakes.items():
            with served(lake) as address:
                for picture in take_all(browser, state, address, folder):
                    print(picture)  # noqa: T201
                for picture in take_moments(browser, lake, address, folder) if state == "full" else ():
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
