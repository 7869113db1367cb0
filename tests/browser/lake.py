"""A small lake without Spark for the console's tests: the real API app over answers that DuckDB gives from the feed.

Addresses and agents are read as the shapes read them; the numbers are exact where the product has sketches.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import duckdb
import pyarrow as pa
from starlette.requests import Request

from domains.web import known
from domains.web.model import EVENTS
from domains.web.simulation import Sent, events
from domains.web.views import VIEWS
from penstock.model.measure import Measure
from penstock.model.view import Sessions, Tally
from penstock.serve.described import described
from penstock.serve.encode import rows_of
from penstock.serve.live import Key, Live
from penstock.serve.metrics import Metrics
from penstock.serve.question import Question, ask

COLUMNS = ("happened_at", *(field.name for field in EVENTS.fields if not field.type.startswith("map")))
SESSIONS = """
with steps as (
    select *, happened_at - lag(happened_at) over w > interval 30 minutes as fresh from facts where not bot
    window w as (partition by site, visitor order by happened_at)
), numbered as (
    select *, sum(coalesce(fresh, true)::int) over (partition by site, visitor order by happened_at) as session
    from steps
)
select site, visitor, min(happened_at) as started, epoch(max(happened_at) - min(happened_at)) as seconds,
    count_if(type = 'pageview') as views, count_if(type = 'event') as events,
    arg_min(page, happened_at) as entry, arg_max(page, happened_at) as exit
from numbered group by site, visitor, session
"""


def history(days: float = 30, total: int = 30_000, seed: int = 1) -> list[dict[str, Any]]:
    """Facts of the past `days` up to now."""
    until = datetime.now(UTC)
    past = events(seed, until - timedelta(days=days), total / (days * 86400), until - timedelta(days=days / 3))
    sent: Iterable[Sent] = takewhile(lambda one: one.at < until, past)
    return [fact(one.event) for one in sent if one.source == "web.events"]


def fact(event: dict[str, Any]) -> dict[str, Any]:
    address = urlsplit(event["url"])
    tags = dict(parse_qsl(address.query))
    agent = known.agent(event.get("user_agent", ""))._asdict()
    came = urlsplit(event.get("referrer") or "").hostname or ""
    place, referrer = known.place(event.get("timezone", "")), known.referrer(tags.get("utm_source", came))
    inside = came == address.hostname and "utm_source" not in tags
    derived = {
        "page": address.path,
        "country": place.country,
        "region": event.get("region"),
        "referrer_source": "Internal" if inside else referrer.source,
        "channel": "Internal" if inside else referrer.channel,
    }
    return {name: {**event, **agent, **tags, **derived}.get(name) for name in COLUMNS}


class Lake:
    """What `Answers` is to the app: the answers of a lake that holds these facts."""

    def __init__(self, facts: list[dict[str, Any]], rejected: list[dict[str, Any]] | None = None) -> None:
        self._facts, self._rejected = facts, rejected or []
        self._changed: set[str] = set()
        self.metrics = Metrics()
        self.live = Live(self._live)
        self._load()

    def _load(self) -> None:
        duck = duckdb.connect()
        kinds = {"load_ms": pa.int64(), "engaged_ms": pa.int64(), "scroll_pct": pa.int64(), "bot": pa.bool_()}
        schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
        duck.register("told", pa.Table.from_pylist(self._facts, schema))
        duck.execute("create table facts as select * replace (happened_at::timestamptz as happened_at) from told")
        duck.execute(f"create table sessions as {SESSIONS}")
        # Only when it is whole: questions are answered meanwhile, in other threads.
        self._duck = duck

    def add(self, *events: dict[str, Any]) -> None:
        """New facts arrive; the live subscribers hear of them."""
        self._facts += [fact(event) for event in events]
        self._load()
        self._changed = {view.name for view in VIEWS}

    def refresh(self) -> set[str]:
        changed, self._changed = self._changed, set()
        return changed

    def views(self, _: Request) -> object:
        return {"views": [described(view) for view in VIEWS]}

    def view(self, request: Request) -> object:
        return self.answer(request.path_params["name"], request.query_params.multi_items())

    def answer(self, name: str, said: list[tuple[str, str]]) -> dict[str, Any]:
        view = next(view for view in VIEWS if view.name == name)
        assert isinstance(view, Tally)
        question = ask(view, said, datetime.now(UTC))
        text, parameters = sql(question, view)
        rows = self._duck.cursor().sql(text, params=parameters).to_arrow_table()
        certificate = {
            "as_of": datetime.now(UTC), "release": "r1", "cut": {"web.events": 4802}, "epoch": 4811, "final": False,
            "facts": len(self._facts), "complete_to": datetime.now(UTC) - timedelta(seconds=2), "provisional_rows": 37,
        }  # fmt: skip
        return {"view": name, "rows": rows_of(rows, question.zone), "certificate": certificate}

    def _live(self, key: Key) -> tuple[dict[str, Any], tuple[str, ...]]:
        return self.answer(dict(key)["view"], [pair for pair in key if pair[0] != "view"]), ("bucket",)

    def facts(self, _: Request) -> object:
        return {"rows": []}

    def rejected(self, request: Request) -> object:
        return {"source": request.path_params["source"], "release": "r1", "rows": self._rejected}

    def ledger(self, _: Request) -> object:
        now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        return {"hours": [_hour(now - timedelta(hours=back), back) for back in range(12)] if self._facts else []}

    def status(self, _: Request) -> object:
        lag = {"lag_records": 12, "lag_seconds": 0.8, "at": datetime.now(UTC)}
        job = {"release": "r1", "epoch": 4811, "rows": 214, "state": "running", **lag}
        jobs = [{"job": f"{kind}-web.events", **job} for kind in ("archive", "shape")] if self._facts else []
        return {"streams": jobs, "epochs": {view.name: 4811 for view in VIEWS}, "problems": {}}

    def releases(self, _: Request) -> object:
        return {"releases": [{"domain": "web", "release": "r1", "published": {view.name: None for view in VIEWS}}]}

    def openapi(self, _: Request) -> object:
        return {}


def sql(question: Question, view: Tally) -> tuple[str, list[Any]]:
    bucket = [f"date_trunc('{question.every.name.split()[-1]}', {view.at}) as bucket"] if question.every else []
    keys = [f'"{name}"' for name in question.by]
    measures = [f'{number(measure, view)} as "{name}"' for name, measure in view.measures.items()]
    table, true = ("sessions", "true") if isinstance(view.of, Sessions) else ("facts", view.of.where)
    filters = "".join(f' and "{one.column}" = ?' for one in question.where)
    order = ", ".join(f'"{name.lstrip("-")}" {"desc nulls last" if name[0] == "-" else ""}' for name in question.order)
    # Names are the views' own; what was asked is in parameters.
    text = (
        f"select {', '.join([*bucket, *keys, *measures])} from {table}"  # noqa: S608
        f" where {true} and {view.at} >= ? and {view.at} < ?{filters}"
        + (" group by all" if bucket or keys else "")
        + (f" order by {order}" if order else "")
        + f" limit {question.limit}"
    )
    return text, [question.start, question.end, *(one.values[0] for one in question.where)]


def number(measure: Measure, view: Tally) -> str:
    """The measure over facts, in one step."""
    match measure.kind:
        case "distinct" | "theta":
            where = " filter (where type = 'event')" if "event" in measure.parts[0].partial else ""
            return f"count(distinct visitor){where}"
        case "ratio":
            over, under = (number(view.measures[name], view) for name in measure.needs)
            return f"({over}) / nullif({under}, 0)"
        case "mean":
            return f"avg({'seconds' if 'seconds' in measure.parts[0].partial else 'scroll_pct'})"
        case "total":
            return f"sum({'views' if 'views' in measure.parts[0].partial else 'engaged_ms'})"
        case "quantile":
            return "quantile_cont(load_ms, 0.5)"
        case "last":
            return "arg_max(page, happened_at)"
    return measure.parts[0].partial


def _hour(hour: datetime, back: int) -> dict[str, Any]:
    accepted = 4000 + 37 * back
    return {
        "source": "web.events", "hour": hour.isoformat(), "accepted": accepted, "archived": accepted,
        "facts": accepted - 61, "rejected": 40, "duplicates": 21, "lost": 0, "open": back == 0, "unarchived": 0,
        "unshaped": 3 if back == 5 else 0, "balanced": back != 5, "reasons": {"bad_url": 31, "missing_site": 9},
    }  # fmt: skip
