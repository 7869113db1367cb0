"""Airflow's own pages in a real browser, as each role meets them."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from operators import SECONDS, Operator
from playwright.sync_api import Browser, Page, expect
from standing import eventually

from penstock.lake.audit import entries
from penstock.lake.releases import RETIRED, Release, say
from penstock.ops.airflow.notes import HEAD
from penstock.ops.load import browser

# Other tests may have the machine.
PATIENCE = 90_000
LogIn = Callable[[str], Page]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.chromium() as opened:
        yield opened


@pytest.fixture
def log_in(chromium: Browser, stack: Any) -> Iterator[LogIn]:
    """A page of Airflow for one of its users."""
    expect.set_options(timeout=PATIENCE)
    contexts = []

    def as_user(name: str) -> Page:
        contexts.append(
            chromium.new_context(base_url=stack.url("airflow", ""), viewport={"width": 1280, "height": 1400})
        )
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        page.goto("/")
        page.locator("input[name=username]").fill(name)
        page.locator("input[name=password]").fill(json.loads((stack.home / "passwords.json").read_text())[name])
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(lambda url: "login" not in url)
        return page

    yield as_user
    for context in contexts:
        context.close()


def form(page: Page, dag: str) -> Any:
    """The form of a DAG, opened as a person opens it."""
    page.goto(f"/dags/{dag}")
    page.get_by_role("button", name="Trigger Dag").click()
    return page.get_by_role("dialog").filter(has_text="Run Parameters")


def test_an_analyst_looks_and_is_told_that_he_may_not_press(log_in: LogIn) -> None:
    page = log_in("analyst")
    form(page, "build_views").get_by_role("button", name="Trigger").click()
    expect(page.get_by_text("You do not have permission")).to_be_visible()


def test_who_is_on_call_builds_a_day_from_the_form(log_in: LogIn, stack: Any) -> None:
    operator, today = Operator(stack), str(datetime.now(UTC).date())
    fields = form(log_in("oncall"), "build_views")
    fields.locator("input[name=element_from]").fill(today)
    fields.locator("input[name=element_to]").fill(today)
    fields.get_by_role("button", name="Trigger").click()

    def begun() -> list[str]:
        runs = operator.ask("GET", "/dags/build_views/dagRuns?run_type=manual")["dag_runs"]
        return [run["dag_run_id"] for run in runs if run["conf"].get("from") == today]

    assert eventually(lambda: bool(begun()), SECONDS)
    assert operator.ended(begun()[0]) == "success"


def test_who_is_on_call_starts_a_backfill_from_its_form(log_in: LogIn, stack: Any) -> None:
    operator, day = Operator(stack), datetime.now(UTC).date() - timedelta(days=5)
    operator.late(day)
    page = log_in("oncall")
    page.goto("/dags/build_views")
    page.get_by_role("button", name="Trigger Dag").click()
    page.get_by_text("Run this Dag for a range of dates").click()
    fields = page.get_by_role("dialog").filter(has_text="Date Range")
    for _ in ("from", "to"):
        # What is filled in asks no more.
        fields.get_by_text("Select date and time").first.click()
        page.get_by_placeholder("YYYY/MM/DD").last.fill(f"{day:%Y/%m/%d}")
        page.get_by_placeholder("HH:mm").last.fill("00:00")
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
    fields.get_by_role("button", name="Run Backfill").click()

    def over() -> bool:
        # Until Airflow has noticed, which looks twice a minute, it starts no other.
        return [bool(one["completed_at"]) for one in operator.ask("GET", every)["backfills"]] == [True]

    every = "/backfills?dag_id=build_views"
    assert eventually(over, SECONDS)
    (run,) = operator.ask("GET", "/dags/build_views/dagRuns?run_type=backfill")["dag_runs"]
    assert (run["state"], run["logical_date"][:10]) == ("success", str(day))


def test_who_is_on_call_approves_and_is_named_for_it_and_an_analyst_cannot(log_in: LogIn, stack: Any) -> None:
    operator = Operator(stack)
    # A release that has nothing: the operation needs no JVM and takes nothing from others.
    say(operator.layout, Release("web", "r9", RETIRED, code="git abc"))
    run = operator.start("drop_release", domain="web", release="r9", who="lina", why="to see who approves")
    task = f"/dags/drop_release/dagRuns/{quote(run)}/taskInstances/approve"

    def state() -> str:
        return str(operator.ask("GET", task)["state"])

    def press(user: str) -> Page:
        page = log_in(user)
        page.goto(f"/dags/drop_release/runs/{quote(run)}/tasks/approve/required_actions")
        page.get_by_role("button", name="Approve").click()
        return page

    assert eventually(lambda: state() in ("awaiting_input", "deferred"), SECONDS)
    expect(press("analyst").get_by_text("You do not have permission")).to_be_visible()
    press("oncall")
    assert eventually(lambda: state() == "success", SECONDS)
    assert operator.ended(run, "drop_release") == "success"
    (entry,) = [each for each in entries(operator.layout, "web") if each.operation == f"drop_release/{run}"]
    assert (entry.who, entry.approved_by) == ("lina", "oncall")
    note = str(operator.ask("GET", f"/dags/drop_release/dagRuns/{quote(run)}")["note"]).splitlines()
    assert note == [
        "Why: to see who approves",
        HEAD,
        note[2],
        "approve: Approve, by oncall",
        "drop: web r9 was dropped",
    ]
    assert note[2].startswith("plan: web r9 (retired; code: git abc) has 0 rows")


def test_who_is_on_call_drops_a_release_from_the_console(chromium: Browser, stack: Any) -> None:
    operator = Operator(stack)
    say(operator.layout, Release("web", "r8", RETIRED, code="git abc"))
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    page.goto(stack.url("serve", "/?page=releases"))
    row = page.locator("tr", has_text="git abc").filter(has_text="r8")
    expect(row).to_be_visible()
    # This machine reads without a log-in, and may press nothing.
    expect(page.get_by_role("button", name="Drop")).to_have_count(0)
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("Name").fill("oncall")
    page.get_by_label("Password").fill(json.loads((stack.home / "passwords.json").read_text())["oncall"])
    page.locator("form button").click()
    row.get_by_role("button", name="Drop").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Why, for the audit").fill("nobody goes back to it")
    dialog.get_by_role("button", name="Drop web r8").click()
    expect(dialog).to_contain_text("web r8 (retired; code: git abc) has 0 rows")
    dialog.get_by_role("button", name="Approve").click()
    expect(dialog.get_by_role("status")).to_have_text("Done. It is in the audit.")
    page.close()
    (entry,) = [each for each in entries(operator.layout, "web") if each.who == "oncall (console)"]
    assert (entry.operation.partition("/")[0], entry.why, entry.approved_by) == (
        "drop_release",
        "nobody goes back to it",
        "oncall",
    )


def test_the_console_is_one_of_airflow_s_pages(log_in: LogIn) -> None:
    page = log_in("admin")
    page.goto("/plugin/penstock-console")
    expect(page.frame_locator("iframe").get_by_role("main")).to_be_visible()


def test_what_gates_said_is_among_airflow_s_pages(log_in: LogIn) -> None:
    page = log_in("analyst")
    page.goto("/plugin/penstock-data-docs")
    expect(page.frame_locator("iframe").get_by_role("heading", name="Data Docs")).to_be_visible()


def test_the_link_of_an_alert_opens_its_runbook(log_in: LogIn) -> None:
    page = log_in("oncall")
    page.goto("/penstock/runbooks/build_views")
    expect(page.get_by_role("heading", name="build_views: a build did not publish")).to_be_visible()
