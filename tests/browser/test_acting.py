"""Who is on call undoes things from the console: the form reaches Airflow, its plan is read, answered and followed."""

import json
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from airflow_desk import Airflow, standing_in
from browser.lake import Lake
from browser.opening import Opened
from browser.server import served
from browser.test_console import pageview
from playwright.sync_api import Page, expect

from penstock.lake.layout import Layout
from penstock.lake.repairs import REPAIRS, Repair
from penstock.lake.restore_points import RestorePoint, keep
from penstock.lake.retractions import RETRACTIONS, Retraction

NOW = datetime.now(UTC)
ID = "20261119T010203-00ff"
REJECTED = [
    {"partition": 0, "offset": 7, "logged_at": NOW, "reason": "missing_site", "raw": b'{"site_name": "a.example"}'},
    {"partition": 0, "offset": 8, "logged_at": NOW, "reason": "malformed", "raw": b"{"},
]
Desk = tuple[type[Airflow], str, dict[str, str]]
BLAST = """2 of 9 facts, on 1 days, in 3 views.

| view | day | measure | before | after |
|---|---|---|---|---|
| web.pageviews | 2026-11-18 | views | 9 | 7 |"""


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    """An Airflow that remembers, a console before it, and who is on call there."""
    with standing_in(plan=BLAST) as (airflow, port):
        lake = Lake({"web.events": [pageview()]}, REJECTED, airflow=f"http://127.0.0.1:{port}")
        layout = Layout(str(lake.home / "lake"))
        keep(layout, RestorePoint(ID, NOW, "hand", "ann", "before the new shape"))
        RETRACTIONS.state(layout, Retraction("x1", "web.events", where="visitor = 'v7'", why="a robot", records=3))
        REPAIRS.state(layout, Repair("p1", "web.events", reason="missing_site", rename={"host": "site"}, why="renamed"))
        with served(lake) as address:
            yield airflow, address, on_call(lake)


def on_call(lake: Lake) -> dict[str, str]:
    """The header of who is."""
    password = json.loads((lake.home / "passwords.json").read_text())["oncall"]
    return {"Authorization": f"Basic {b64encode(f'oncall:{password}'.encode()).decode()}"}


FORMS = {
    "retract": (
        "rejected", "Retract facts of web.events",
        {"Which facts": "visitor like 'load-%'", "Happened from": "2026-11-18"},
        {"source": "web.events", "where": "visitor like 'load-%'", "from": "2026-11-18"},
    ),
    "restate": (
        "rejected", "Correct a field of web.events", {"What is right": "upper(region)", "Which facts": "site = 'a'"},
        {"source": "web.events", "field": "type", "value": "upper(region)", "where": "site = 'a'"},
    ),
    "repair": (
        "rejected", "Repair missing_site", {},
        {"source": "web.events", "reason": "missing_site", "rename": "site_name=site"},
    ),
    "retract, back": ("rejected", "Take x1 back", {}, {"source": "web.events", "revoke": "x1"}),
    "repair, back": ("rejected", "Take p1 back", {}, {"source": "web.events", "revoke": "p1"}),
    "rewind": ("releases", f"Rewind to {ID}", {"Whose tables": "web"}, {"domain": "web", "point": ID}),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_a_form_of_a_page_is_the_form_of_its_dag(opened: Opened, desk: Desk, name: str) -> None:
    airflow, address, oncall = desk
    where, button, filled, form = FORMS[name]
    page = opened(f"{address}/?page={where}", extra_http_headers=oncall)
    page.get_by_role("button", name=button).click()
    started(page, filled)
    _, path, told = next(one for one in reversed(airflow.heard) if one[1].endswith("/dagRuns"))
    assert path.split("/")[-2] == name.partition(",")[0]
    assert told["conf"] == {**form, "why": "a test of forms", "who": "oncall (console)"}


def started(page: Page, filled: dict[str, str]) -> None:
    dialog = page.get_by_role("dialog")
    for label, text in {**filled, "Why": "a test of forms"}.items():
        field = dialog.get_by_label(label)
        field.select_option(text) if field.evaluate("one => one.tagName") == "SELECT" else field.fill(text)
    dialog.locator("button.strong").click()
    expect(dialog.locator(".tasks")).to_be_visible()


def test_the_plan_is_read_as_a_table_approved_and_followed_to_its_end(opened: Opened, desk: Desk) -> None:
    airflow, address, oncall = desk
    page = opened(f"{address}/?page=rejected", extra_http_headers=oncall)
    airflow.asked_at = datetime.now(UTC) - timedelta(minutes=1)
    page.get_by_role("region", name="Under way").get_by_role("button", name="Look").click()
    plan = page.locator(".plan")
    expect(plan).to_contain_text("2 of 9 facts, on 1 days, in 3 views.")
    expect(plan.locator("tbody tr")).to_have_text("web.pageviews2026-11-18views97")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("dialog")).to_contain_text("Done. It is in the audit.")


def test_what_cannot_be_done_says_why_and_keeps_what_was_written(opened: Opened) -> None:
    with standing_in(error="there is no column colour") as (_, port):
        lake = Lake({"web.events": [pageview()]}, airflow=f"http://127.0.0.1:{port}")
        with served(lake) as address:
            page = opened(f"{address}/?page=rejected", extra_http_headers=on_call(lake))
            page.get_by_role("button", name="Retract facts of web.events").click()
            started(page, {"Which facts": "colour = 'red'"})
            expect(page.get_by_role("dialog")).to_contain_text("there is no column colour")
            page.get_by_role("button", name="Change what was asked").click()
            expect(page.get_by_label("Which facts")).to_have_value("colour = 'red'")
            page.close()


def test_who_only_reads_sees_what_was_said_and_no_button(opened: Opened, desk: Desk) -> None:
    _, address, _ = desk
    page = opened(f"{address}/?page=rejected")
    expect(page.get_by_role("region", name="web.events")).to_contain_text("retracted x1")
    assert page.get_by_role("button", name="Retract").or_(page.get_by_role("button", name="Repair")).count() == 0
