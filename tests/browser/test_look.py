"""How the domain's page looks and answers: changes, comparison, certificates, files, colours, links."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from browser.lake import Lake
from browser.opening import Opened
from browser.server import served
from browser.test_console import pageview
from playwright.sync_api import Locator, Page, expect
from tending import until


def seen(visitor: str, minutes: float) -> dict[str, object]:
    return pageview(visitor=visitor, happened_at=(datetime.now(UTC) - timedelta(minutes=minutes)).isoformat())


@pytest.fixture(scope="module")
def half_hours() -> Iterator[str]:
    """Two visitors, one of whom read on; and half an hour later three, who all left at once."""
    lake = Lake()
    lake.add(seen("ann", 41), seen("ann", 40), seen("bob", 40), *(seen(name, 5) for name in ("cat", "dan", "eve")))
    with served(lake) as address:
        yield f"{address}/?range=live"


def change(page: Page, label: str) -> Locator:
    return page.locator(".number", has=page.get_by_text(label, exact=True)).locator(".change")


CHANGES = {
    "Unique visitors": ("▲ 50 %", "change good"),
    "Page views": ("no change", "change"),
    "Pages per visit": ("▼ 33.3 %", "change bad"),
    # Of a bounce rate less is better.
    "Bounce rate": ("▲ 100 %", "change bad"),
    "Visit duration": ("▼ 100 %", "change bad"),
}


def test_a_change_says_which_way_and_whether_that_is_good(opened: Opened, half_hours: str) -> None:
    page = opened(half_hours)
    expect(page.locator(".change")).to_have_count(6)
    told = {label: change(page, label) for label in CHANGES}
    assert {label: (one.inner_text(), one.get_attribute("class")) for label, one in told.items()} == CHANGES


def test_who_does_not_compare_sees_one_line_and_no_change(opened: Opened, half_hours: str) -> None:
    page = opened(half_hours)
    expect(page.locator(".chart-note")).to_contain_text("dashed: the period before")
    page.get_by_label("Compare").uncheck()
    expect(page).to_have_url(re.compile("compare=no"))
    expect(page.locator(".chart-note")).to_contain_text("Unique visitors")
    expect(page.locator(".chart-note")).not_to_contain_text("dashed")
    expect(page.locator(".change")).to_have_count(0)


def test_a_chart_of_nothing_lies_on_the_ground(opened: Opened, half_hours: str) -> None:
    page = opened(f"{half_hours}&f=page:/nowhere")
    expect(page.locator(".chart .mark-line path").first).to_have_attribute("d", re.compile("^M0,230"))
    expect(page.locator(".chart .role-axis-label text", has_text=re.compile("^0$"))).to_have_count(1)


def test_where_nobody_came_there_is_no_bounce_rate(opened: Opened, half_hours: str) -> None:
    page = opened(f"{half_hours}&measure=bounce_rate&compare=no")
    _, text = taken_away(page, "CSV")
    rates = re.findall(r'"now",(.*)$', text, re.MULTILINE)
    assert (rates.count("1"), rates.count('""')) == (1, 29)
    point = page.locator(".chart .mark-symbol path")
    expect(point).to_have_count(1)
    # Five minutes ago, of thirty.
    assert float(re.findall(r"translate\(([\d.]+)", point.get_attribute("transform") or "")[0]) > 700


def test_an_address_shows_the_site_that_it_names_also_where_fifty_are_seen_more_often(opened: Opened) -> None:
    lake = Lake()
    sites = [f"s{number}.example" for number in range(50)] * 2 + ["seldom.example"]
    lake.add(*(pageview(site=site) for site in sites))
    with served(lake) as address:
        page = opened(f"{address}/?range=live&scope=seldom.example")
        expect(page.locator("[data-key=site]")).to_have_value("seldom.example")
        expect(page.locator(".number", has_text="Page views").locator(".value")).to_have_text("1")
        page.close()


def pointed(page: Page) -> Locator:
    """The bubble of the chart's last point."""
    page.locator(".chart .mark-symbol path").last.hover(force=True)
    return page.locator(".bubble")


def test_a_number_and_a_point_are_final_once_they_are_built(opened: Opened) -> None:
    lake = Lake()
    lake.add(pageview())
    with served(lake) as address:
        page = opened(f"{address}/?range=live")
        expect(pointed(page)).to_contain_text("provisional · as of")
        expect(page.locator(".number").first).to_have_class(re.compile("provisional"))
        lake.build("web.pageviews")
        # Told, and not found by the look that the page takes each half minute.
        expect(page.locator(".number").first).to_have_class(re.compile("final"), timeout=20_000)
        page.locator(".number").first.hover()
        expect(page.locator("#tip")).to_contain_text("Final: every fact of this range has been built and gated.")
        expect(page.locator("#tip")).to_contain_text("cut: web.events to epoch 0")
        expect(page.locator(".chart-note")).not_to_contain_text("provisional")
        expect(pointed(page)).to_contain_text("final · as of")
        page.close()


@pytest.mark.parametrize(
    ("button", "name", "first", "says"),
    [
        ("CSV", "web-visitors-live.csv", '"bucket","series","visitors"', '"now",3$'),
        ("Pages as CSV", "Pages.csv", '"page","views","visitors"', '^"/",3,3'),
        ("Conversions as CSV", "goals.csv", "", "^$"),
    ],
)
def test_what_is_shown_is_taken_away_as_csv(
    opened: Opened, half_hours: str, button: str, name: str, first: str, says: str
) -> None:
    page = opened(half_hours)
    file, text = taken_away(page, button)
    assert (file, text.partition("\n")[0]) == (name, first)
    assert re.search(says, text, re.MULTILINE)


def taken_away(page: Page, button: str) -> tuple[str, str]:
    """The name of what a button gives, and what is in it."""
    page.wait_for_selector(".chart svg")
    with page.expect_download() as given:
        page.get_by_role("button", name=button, exact=True).click()
    return given.value.suggested_filename, Path(given.value.path()).read_text("utf-8-sig")


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "Europe/Stockholm"])
def test_each_view_is_in_an_hour_of_the_chart_wherever_it_is_read(opened: Opened, half_hours: str, zone: str) -> None:
    page = opened(half_hours.replace("live", "7d&measure=views&compare=no"), timezone_id=zone)
    _, text = taken_away(page, "CSV")
    assert sum(map(int, re.findall(r",(\d+)$", text, re.MULTILINE))) == 6


COLOURS = """() => {
  const style = (one) => getComputedStyle(document.querySelector(one));
  const line = document.querySelector(".chart .mark-line path").getAttribute("stroke");
  return [style("body").backgroundColor, style(".card").backgroundColor, style(".value").color, line];
}"""
LIGHT = ["rgb(246, 247, 249)", "rgb(255, 255, 255)", "rgb(22, 32, 44)", "#0b6bcb"]
DARK = ["rgb(16, 21, 28)", "rgb(25, 33, 43)", "rgb(233, 238, 244)", "#62aef5"]


def test_dark_is_as_the_system_says_until_the_reader_says_otherwise(opened: Opened, half_hours: str) -> None:
    page = opened(half_hours, color_scheme="dark")
    page.wait_for_selector(".chart .mark-line path")
    assert page.evaluate(COLOURS) == DARK
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator(".chart .mark-line path").first).to_have_attribute("stroke", LIGHT[3])
    assert page.evaluate(COLOURS) == LIGHT
    page.reload()
    page.wait_for_selector(".chart .mark-line path")
    assert page.evaluate(COLOURS) == LIGHT


def test_an_admin_makes_a_link_sees_who_made_it_and_revokes_it(opened: Opened) -> None:
    lake = Lake()
    lake.add(pageview())
    (lake.home / "console.toml").write_text('login = "always"')
    with served(lake) as address:
        page = opened(address, expected=["401"])
        page.get_by_label("Name").fill("admin")
        page.get_by_label("Password").fill(json.loads((lake.home / "passwords.json").read_text())["admin"])
        page.get_by_role("button", name="Log in").last.click()
        page.get_by_role("button", name="Share").click()
        dialog = page.get_by_role("dialog", name="Share harbour.example")
        expect(dialog).to_contain_text("There is no link yet.")
        dialog.get_by_role("button", name="Make a link").click()
        expect(dialog.locator("tbody tr")).to_contain_text("web: harbour.example")
        expect(dialog.locator("tbody tr")).to_contain_text("admin")
        link = dialog.locator("code").inner_text()
        assert link.startswith(f"{address}/share/")
        shown = opened(link, expected=["401"])
        expect(shown.locator(".number").first).to_contain_text("1")
        until(lambda: lake.live.subscribers == 2)
        dialog.get_by_role("button", name="Revoke").click()
        expect(dialog).to_contain_text("There is no link yet.")
        # Who looks just then hears nothing more, and meets the door.
        expect(shown.get_by_label("Password")).to_be_visible()
        assert lake.live.subscribers == 1
        shown.close()
        dialog.get_by_role("button", name="Close").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.close()
