"""tracker.js in a real browser on a small site: what a visitor does is on the log, once, whatever happens."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import orjson
import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from unsealed import plain

from penstock.ops.load.browser import chromium

PAGE = """<!doctype html><title>{name}</title><body style="height:3000px"><a id=out href="http://other.invalid/">out</a>
<a id=next href="{next}.html">next</a><script defer src="{url}/tracker.js" data-site="small.example" {more}></script>"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site(collector, tmp_path_factory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("site")
    consents = (("no", "a", 'data-consent="no"'), ("yes", "a", 'data-consent="yes"'))
    for name, following, more in (("a", "b", ""), ("b", "a", ""), *consents):
        (folder / f"{name}.html").write_text(PAGE.format(name=name, next=following, more=more, url=collector.url))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium(ignore_default_args=["--disable-back-forward-cache"]) as opened:
        yield opened


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A visitor whom nobody has seen before."""
    with browser.new_context() as fresh:
        yield fresh


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def seen(broker, collector, log_of) -> Callable[[str], list[dict]]:
    """The events of a visitor on the log, once each of them is there."""
    begun = time.time() * 1000

    def find(visitor: str, wanted: int) -> list[dict]:
        events: dict[str, dict] = {}
        deadline = time.monotonic() + 20
        while len(events) < wanted and time.monotonic() < deadline:
            # Others write to the log of the run as well, some of them Avro.
            messages = (message for message in log_of(broker, "web.events", 1) if message.timestamp()[1] >= begun)
            values = (plain(collector.settings.home, message)[0] for message in messages)
            told = (orjson.loads(value) for value in values if value.startswith(b"{"))
            events = {event["event_id"]: event for event in told if event.get("visitor") == visitor}
        return sorted(events.values(), key=lambda event: event["happened_at"])

    return find


def visitor(page: Page) -> str:
    page.wait_for_function("sessionStorage['penstock.visitor']")
    return str(page.evaluate("sessionStorage['penstock.visitor']"))


def test_the_tracker_is_small_and_cached_by_a_strong_etag(collector) -> None:
    with httpx.stream("GET", collector.url + "/tracker.js", headers={"accept-encoding": "gzip"}) as answer:
        assert len(b"".join(answer.iter_raw())) < 2048
    etag = answer.headers["etag"]
    assert etag.startswith('"')
    again = httpx.get(collector.url + "/tracker.js", headers={"accept-encoding": "gzip", "if-none-match": etag})
    assert (again.status_code, again.content) == (304, b"")


def test_a_visit_is_page_views_of_pages_and_routes_events_and_engagement(page, site, seen) -> None:
    page.goto(f"{site}/a.html")
    who = visitor(page)
    page.wait_for_timeout(300)
    page.evaluate("history.pushState({}, '', '/a.html?step=2'); penstock('signup', {plan: 'gold'})")
    page.evaluate("scrollTo(0, 1500)")
    page.wait_for_timeout(300)
    page.click("#next")
    page.wait_for_timeout(300)
    events = seen(who, 6)
    views = [event["url"].removeprefix(site) for event in events if event["type"] == "pageview"]
    assert views == ["/a.html", "/a.html?step=2", "/b.html"]
    engagements = [event for event in events if event["type"] == "engagement"]
    assert len(engagements) == 2 and all(event["engaged_ms"] > 100 for event in engagements)
    assert max(event["scroll_pct"] for event in engagements) > 50
    (custom,) = (event for event in events if event["type"] == "event")
    assert (custom["name"], custom["props"]) == ("signup", {"plan": "gold"})
    assert {event["site"] for event in events} == {"small.example"}


def test_an_outbound_click_is_an_event(page, site, seen) -> None:
    page.goto(f"{site}/a.html")
    who = visitor(page)
    page.evaluate("document.querySelector('#out').addEventListener('click', e => e.preventDefault())")
    page.click("#out")
    assert [event["props"]["url"] for event in seen(who, 2) if event["type"] == "event"] == ["http://other.invalid/"]


def test_what_happened_offline_arrives_later_with_the_same_ids(context, page, site, seen) -> None:
    page.goto(f"{site}/a.html")
    who = visitor(page)
    page.wait_for_function("localStorage['penstock.queue'] == '[]'")
    context.set_offline(True)
    page.evaluate("for (let i = 0; i < 3; i++) penstock('offline', {i})")
    queued = page.evaluate("JSON.parse(localStorage['penstock.queue']).map(e => e.event_id)")
    assert len(queued) == 3
    context.set_offline(False)
    page.wait_for_function("localStorage['penstock.queue'] == '[]'")
    assert [event["event_id"] for event in seen(who, 4) if event["type"] == "event"] == queued


def test_the_queue_of_somebody_who_stays_offline_keeps_the_newest_and_never_grows(context, page, site) -> None:
    page.goto(f"{site}/a.html")
    page.wait_for_function("localStorage['penstock.queue'] == '[]'")
    context.set_offline(True)
    page.evaluate("for (let i = 0; i < 250; i++) penstock('offline', {i})")
    queued = page.evaluate("JSON.parse(localStorage['penstock.queue']).map(e => e.props.i)")
    assert queued == list(range(50, 250))


def test_who_consents_is_the_same_visitor_in_the_next_tab_and_nobody_else_is(context, page, site) -> None:
    def met(name: str) -> dict[str, str | None]:
        tab = context.new_page()
        tab.goto(f"{site}/{name}.html")
        tab.wait_for_function("(localStorage['penstock.visitor'] || sessionStorage['penstock.visitor'])")
        return {where: tab.evaluate(f"{where}['penstock.visitor']") for where in ("localStorage", "sessionStorage")}

    assert met("a")["localStorage"] is None
    first, second = met("yes"), met("yes")
    assert first == second
    assert first["localStorage"] and first["sessionStorage"] is None
    assert not context.cookies()


def test_a_crashed_tabs_queue_is_sent_by_the_next_page(context, page, site, seen) -> None:
    page.goto(f"{site}/a.html")
    who = visitor(page)
    page.wait_for_function("localStorage['penstock.queue'] == '[]'")
    page.route("**/v1/**", lambda route: route.abort())
    page.evaluate("penstock('before the crash')")
    with pytest.raises(Exception, match="crash"):
        page.goto("chrome://crash")
    context.new_page().goto(f"{site}/b.html")
    assert "before the crash" in [event.get("name") for event in seen(who, 2)]


def test_a_page_out_of_the_back_forward_cache_is_viewed_again(page, site, seen) -> None:
    page.goto(f"{site}/a.html")
    who = visitor(page)
    page.evaluate("kept = true")
    page.click("#next")
    page.wait_for_url("**/b.html")
    # A page out of the cache does not load again, so there is no load to wait for.
    page.go_back(wait_until="commit")
    assert page.evaluate("window.kept"), "the browser did not use its cache"
    views = [event["url"].removeprefix(site) for event in seen(who, 5) if event["type"] == "pageview"]
    assert views == ["/a.html", "/b.html", "/a.html"]


def test_who_does_not_want_to_be_tracked_is_not(context, page, site) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'doNotTrack', {get: () => '1'})")
    posts: list[str] = []
    context.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    page.goto(f"{site}/a.html")
    page.evaluate("penstock('nothing')")
    other = context.new_page()
    other.goto(f"{site}/no.html")
    other.evaluate("penstock('nothing')")
    other.wait_for_timeout(500)
    assert not posts
    assert not context.cookies()
