"""A lake in which people have worked: two months of a site, alerts, releases in every state, and the audit."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pyarrow as pa
from browser.lake import Lake, ada, crowd, history, refused
from deltalake import write_deltalake

from penstock.lake import alerts
from penstock.lake.audit import Entry, record
from penstock.lake.layout import Layout
from penstock.lake.releases import BUILDING, READY, Release, say
from penstock.lake.repairs import REPAIRS, Repair
from penstock.lake.replaying import Progress
from penstock.lake.restore_points import RestorePoint, keep
from penstock.lake.retractions import RETRACTIONS, Restatement, Retraction

DONE = (
    ("switch", "web", "ann", "tablets are no phones", "bob", {"release": "r1"}, {"release": "r2"}),
    ("retract", "web.events", "lina", "a load test went to the live site for an hour", "bob", {}, {"facts": 4210}),
    ("restore_point", "lake", "ann", "before the new shape", "", {}, {"point": "p-2026-11-12"}),
)
SLOW = {"site": "harbour.example", "load_ms": 14_210, "country": "NO", "device": "Phone"}


def lived_in() -> Lake:
    by_source = [history(days=60, total=30_000), ada(), {"web.events": crowd()}]
    lake = Lake({name: [one for told in by_source for one in told.get(name, [])] for name in by_source[0]}, refused())
    layout = Layout(str(lake.home / "lake"))
    _released(lake, layout)
    now = datetime.now(UTC)
    for number, (what, about, who, why, by, before, after) in enumerate(DONE):
        at = now - timedelta(days=3 + 6 * number)
        record(layout, Entry(f"op{number}", what, about, who, why, by, before, after, at))
    _stated(layout)
    for number in range(9):
        at = now - timedelta(hours=5 * number)
        kind, why = ("publish", "after a build") if number % 4 else ("daily", "each night, before upkeep")
        keep(layout, RestorePoint(f"{at:%Y%m%dT%H%M%S}-00{number:02}", at, kind, "airflow", why))
    write_deltalake(layout.alerts(), pa.Table.from_pylist([_alert(number, now) for number in range(24)], alerts.SCHEMA))
    lake.refresh()
    return lake


def _stated(layout: Layout) -> None:
    """A test that was retracted, a region that was misspelt, and a sender who had renamed a field and was wrong."""
    of, lina = "web.events", {"by": "lina", "records": 4210}
    told = {"where": "visitor like 'load-test-%'", "first": "2026-11-12T09:00:00Z", "last": "2026-11-12T10:00:00Z"}
    RETRACTIONS.state(layout, Retraction("x4f81c02e", of, why="a load test on the live site", **told, **lina))
    said = {"field": "region", "value": "'Troms'", "where": "region = 'Tromso'"}
    RETRACTIONS.state(layout, Restatement("x77b01dee", of, by="ann", why="misspelt by the shop", records=812, **said))
    renamed = {"reason": "missing_site", "rename": {"host": "site"}}
    REPAIRS.state(layout, Repair("p0c9a11f3", of, by="ann", why="renamed in the app", records=77, **renamed))
    REPAIRS.state(layout, Repair("p5d20b7a1", of, of="p0c9a11f3", by="ann", why="they were another site's", records=77))


def _released(lake: Lake, layout: Layout) -> None:
    """Beside the current release one that is ready, and one that is being built."""
    for tier in ("silver", "speed"):
        shutil.copytree(f"{layout.root}/{tier}/r1", f"{layout.root}/{tier}/r2")
    say(layout, Release("web", "r2", READY, code="git 4f2a91c", who="ann", why="tablets are no phones"))
    say(layout, Release("web", "r3", BUILDING, code="git 77b01de", who="lina", why="bots in disguise"))
    Progress("web", "r3", 30_000, sources={"web.events": {"done": 12_500}}).say("silver", lake.home)


def _alert(number: int, now: datetime) -> dict[str, object]:
    at = now - timedelta(minutes=17 * number)
    fact = json.dumps({**SLOW, "page": ("/boats/dinghy", "/blog/tides-explained")[number % 2]})
    said = {"id": str(number), "rule": "web.slow_page", "version": 1, "source": "web.events", "day": at.date()}
    return {**said, "fact": fact, "happened_at": at, "received_at": at}
