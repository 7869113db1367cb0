"""Takes the pictures of README and docs from the console, over a month of the simulated site.

cd tests && python -m browser.pictures        writes docs/pictures/*.png
"""

from pathlib import Path

from browser.lake import Lake, history
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


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with served(Lake(history(days=60, total=60_000))) as address, chromium() as browser:
        for name in SHOTS:
            print(take(browser, name, address))  # noqa: T201


if __name__ == "__main__":
    main()
