"""The console's lake in tests: the product's own reader over facts of the simulated site, told without a log or Spark.

What streams and the ledger say of themselves is written here, since none of them runs.
"""

import json
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from deltalake import DeltaTable
from factories.web_lake import WebLake
from starlette.requests import Request

from domains.web.simulation import Sent, events
from penstock.engine import candidate
from penstock.engine.progress import Progress
from penstock.engine.publish import published
from penstock.lake.gates import Checked, record
from penstock.lake.layout import Layout
from penstock.lake.publication import Publication
from penstock.serve.answers import Answers
from penstock.serve.engine import Stop
from penstock.serve.problems import Problem
from penstock.serve.reader import Reader
from penstock.serve.works import Works
from penstock.settings import Settings

Events = Mapping[str, list[dict[str, Any]]]
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko Firefox/143.0"
PAGE = {"type": "pageview", "site": "harbour.example", "url": "https://harbour.example/", "user_agent": AGENT}


def history(days: float = 30, total: int = 30_000, seed: int = 1) -> Events:
    """Events of the past `days` up to now, by source."""
    until = datetime.now(UTC)
    past = events(seed, until - timedelta(days=days), total / (days * 86400), until - timedelta(days=days / 3))
    by_source: dict[str, list[dict[str, Any]]] = {}
    sent: Iterable[Sent] = takewhile(lambda one: one.at < until, past)
    for one in sent:
        by_source.setdefault(one.source, []).append(one.event)
    return by_source


def crowd(people: int = 60) -> list[dict[str, Any]]:
    """Many visitors in one hour of yesterday: as many as usually come in a day."""
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=26)
    at = [hour + timedelta(seconds=50 * number) for number in range(people)]
    return [{**PAGE, "visitor": f"crowd-{number}", "happened_at": one.isoformat()} for number, one in enumerate(at)]


def ada(views: int = 30) -> Events:
    """A user who said where they live, and then looked at pages."""
    said = datetime.now(UTC) - timedelta(days=20)
    profile = {"user": "ada", "happened_at": said.isoformat(), "region": "Lofoten", "plan": "captain"}
    at = [said + timedelta(hours=number) for number in range(1, views + 1)]
    seen = [{**PAGE, "visitor": "ada-1", "user": "ada", "happened_at": one.isoformat()} for one in at]
    return {"web.users": [profile], "web.events": seen}


class Busy(Works):
    """The real gates and tables, beside an Airflow that runs something."""

    def told(self, request: Request) -> object:
        run = {"dag": "streams", "run": "scheduled__2026-11-18", "state": "running", "began": datetime.now(UTC)}
        return {**super().told(request), "runs": [run]}  # type: ignore[dict-item]


class Lake(Answers):
    """The real answers; only what other processes would say is made up."""

    def __init__(
        self, told: Events | None = None, rejected: list[dict[str, Any]] | None = None, airflow: str = ""
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="penstock-")
        self.home, root = Path(self._folder.name), f"{self._folder.name}/lake"
        settings = Settings(home=self.home, lake=root, kafka="127.0.0.1:1", airflow_url=airflow)
        super().__init__(settings, Reader(Layout(root)))
        self._web = WebLake(Layout(root))
        if told:
            self.works = Busy(settings, self._reader)
            _gated(root)
        for source, sent in (told or {}).items():
            self._web.tell(sent, source)
        if rejected:
            self._web.reject(rejected)
        self.refresh()

    def add(self, *sent: dict[str, Any]) -> None:
        """New facts arrive."""
        self._web.tell(sent)

    def build(self, view: str) -> None:
        """Publishes what speed has of a tally, as a build does, in its smallest bucket; and its stream is at rest."""
        layout, release = self._web.layout, "r1"
        speed = DeltaTable(layout.speed(release, view)).to_pyarrow_table()
        made = candidate.fresh(layout, release, view)
        candidate.save(speed.drop_columns("epoch"), made)
        cut, now = {"web.events": pc.max(speed["epoch"]).as_py()}, datetime.now(UTC).isoformat()
        rest = {"state": "running", "lag_records": 0, "lag_seconds": 0.2, "rests": True}
        Progress("shape-web.events", release, **rest).write(self.home)  # type: ignore[arg-type]
        published(made, layout.gold(release, view), None, Publication(cut, release, built_at=now), -1)

    def hours(self, source: str | None = None) -> dict[str, Any]:
        now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        return {"hours": [_hour(now - timedelta(hours=back), back) for back in range(12)] if self._web.told else []}

    def standing(self) -> dict[str, Any]:
        lag = {"lag_records": 12, "lag_seconds": 0.8, "at": datetime.now(UTC)}
        total = int(datetime.now(UTC).timestamp() * 60)
        job = {
            "release": "r1",
            "group": "streams",
            "epoch": 4811,
            "rows": 214,
            "rows_total": total,
            "state": "running",
            **lag,
        }
        jobs = [{"job": f"{kind}-web.events", **job} for kind in ("archive", "shape")] if self._web.told else []
        return {**super().standing(), "streams": jobs}


class Broken(Lake):
    """Most of what pages ask cannot be read."""

    def answer(self, name: str, said: list[tuple[str, str]], stop: Stop | None = None) -> dict[str, Any]:
        if name in ("web.visits", "web.devices", "web.funnel"):
            raise Problem(503, "The view cannot be read", f"{name}: a file is gone")
        return super().answer(name, said, stop)

    def hours(self, source: str | None = None) -> dict[str, Any]:
        raise Problem(503, "The ledger cannot be read", "the log does not answer")

    def rejected(self, request: Request) -> object:
        raise Problem(503, "The records cannot be read", "silver has lost a file: penstock doctor says which")

    alerts = rejected

    def standing(self) -> dict[str, Any]:
        gone = {"web.visits": "part-00001.parquet is gone from gold: restore it, or build the view again"}
        return {**super().standing(), "problems": gone}


def refused(number: int = 60) -> list[dict[str, Any]]:
    """Records that are no facts."""
    reasons = ("bad_url", "missing_site", "unknown_type", "malformed")
    at = datetime.now(UTC)
    return [
        {
            "partition": one % 4, "offset": 81_204 + one, "logged_at": at - timedelta(minutes=7 * one),
            "reason": reasons[one % 3 or one % 4],
            "raw": json.dumps({"url": "nowhere", "title": "Boats " * (one % 30), "site_name": "a"}).encode(),
        }
        for one in range(number)
    ]  # fmt: skip


def _gated(lake: str) -> None:
    """Two gates have looked: one was content."""
    said = {"release": "r1", "severity": "critical", "candidate": "", "where": "", "failed": "[]", "sample": "[]"}
    at = datetime.now(UTC) - timedelta(minutes=20)
    for table, reason in (("web.pageviews", ""), ("web.sources", "views fell by half against the day before")):
        record(Layout(lake), Checked(at, table, passed=not reason, reason=reason, results="[]", seconds=0.7, **said))


def _hour(hour: datetime, back: int) -> dict[str, Any]:
    # Of the hour that is open, one more a second.
    accepted = 4000 + 37 * back + (0 if back else int((datetime.now(UTC) - hour).total_seconds()))
    return {
        "source": "web.events", "hour": hour.isoformat(), "accepted": accepted, "archived": accepted,
        "facts": accepted - 61, "rejected": 40, "duplicates": 21, "lost": 0, "open": back == 0, "unarchived": 0,
        "unshaped": 3 if back == 5 else 0, "balanced": back != 5, "reasons": {"bad_url": 31, "missing_site": 9},
    }  # fmt: skip
