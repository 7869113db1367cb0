"""A question: a view, a range, a bucket, keys, filters, order, limit. Read from text and checked before any work."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from urllib.parse import parse_qsl
from zoneinfo import ZoneInfo

from penstock.model.bucket import Bucket, UnknownBucket
from penstock.model.view import Latest, PerKey, Sessions, Tally, View, keys
from penstock.serve.problems import bad

OPERATORS: Mapping[str, str] = {"eq": "=", "ne": "<>", "in": "in", "prefix": "starts_with", "contains": "contains"}
LIMIT, LARGEST_LIMIT = 1_000, 10_000
LARGEST_BUCKETS = 100_000
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
LONGEST = timedelta(days=366 * 20)
LONGEST_TEXT = 1_000
# Every bucket is compared with every later one.
MOST_COHORTS = 60
# A fact is in so many windows at most.
MOST_WINDOWS = 1_000
# Consoles that show the same ask in the same words, a score of questions each time.
REMEMBERED = 512
PARAMETERS = ("from", "to", "every", "over", "by", "where", "retained", "order", "limit", "tz")


@dataclass(frozen=True)
class Filter:
    column: str
    operator: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """`every` absent: one total of the range. `by` empty: no keys. `order` has a minus for descending.

    `over`: each bucket tells of the window of this width that ends with it. `retained`: who of a bucket came again.
    """

    view: View
    start: datetime
    end: datetime
    every: Bucket | None = None
    by: tuple[str, ...] = ()
    where: tuple[Filter, ...] = ()
    order: tuple[str, ...] = ()
    limit: int = LIMIT
    zone: str = "UTC"
    over: Bucket | None = None
    retained: str = ""

    @property
    def reads_from(self) -> datetime:
        """The first moment that matters: windows begin before the range does."""
        if self.over is None:
            return self.start
        # A day more, in which zones may change their clocks.
        return self.start - timedelta(seconds=self.over.seconds) - (timedelta(days=self.zone != "UTC"))


def ask(view: View, said: Sequence[tuple[str, str]], now: datetime) -> Question:
    """The question that these parameters ask of a view. Raises Problem with what is allowed."""
    for name, text in said:
        if name not in PARAMETERS:
            raise bad(f"there is no parameter {name!r}", *PARAMETERS)
        if len(text) > LONGEST_TEXT or "\0" in text:
            raise bad(f"{name} is longer than {LONGEST_TEXT} characters, or has a zero byte in it")
    given = dict(said)
    start, end = _range(given, now)
    every = _every(view, given.get("every", ""), end - start)
    question = Question(
        view,
        start,
        end,
        every,
        _by(view, given.get("by", "")),
        tuple(_filter(view, text) for name, text in said if name == "where"),
        limit=_limit(given.get("limit", "")),
        zone=_zone(given.get("tz", "UTC")),
        over=_over(every, given.get("over", "")),
        retained=_retained(view, every, given.get("retained", ""), end - start),
    )
    if question.retained and (question.over or given.get("order")):
        raise bad("retained has an order of its own, and no windows", "retained without over and order")
    return Question(**{**question.__dict__, "order": _order(question, given.get("order", ""))})


def numbers(view: View) -> tuple[str, ...]:
    """The columns that a view answers with, beside its keys."""
    match view:
        case Tally():
            return tuple(view.measures)
        case Sessions():
            return ("started", "ended", "seconds", *view.measures)
        case Latest():
            return ("at", *view.columns)
        case PerKey():
            return tuple(view.columns)


def _range(given: Mapping[str, str], now: datetime) -> tuple[datetime, datetime]:
    end = _moment("to", given["to"]) if given.get("to") else now + timedelta(days=1)
    start = _moment("from", given["from"]) if given.get("from") else min(end, now) - timedelta(days=1)
    if start >= end:
        raise bad(f"the range is empty or reversed: from {start.isoformat()} to {end.isoformat()}", "from before to")
    if start > now + timedelta(days=1):
        raise bad(f"from={start.isoformat()} is in the future", f"up to {now.isoformat()}")
    if end - start > LONGEST:
        raise bad("the range is too long", f"up to {LONGEST.days} days")
    return start, end


def _moment(name: str, text: str) -> datetime:
    allowed = "RFC 3339 with a zone, 2026-11-18T10:00:00Z", "a date, 2026-11-18 (UTC)", "milliseconds since 1970"
    try:
        if text.lstrip("-").isdigit() and len(text) > 8:
            moment = datetime.fromtimestamp(int(text) / 1000, UTC)
        else:
            # A plus sign in an address is a space once it is decoded.
            moment = datetime.fromisoformat(text.replace(" ", "+") if "T" in text else text)
    except (ValueError, OverflowError, OSError):
        raise bad(f"{name}={text!r} is not a time", *allowed) from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    # Compared before it is turned to UTC, which the first and last years cannot be.
    if not EARLIEST.year <= moment.year < LATEST.year or (moment.tzinfo is not UTC and moment.year == EARLIEST.year):
        raise bad(f"{name}={text!r} is out of range", f"{EARLIEST.year} to {LATEST.year - 1}")
    return moment.astimezone(UTC)


def _every(view: View, text: str, length: timedelta) -> Bucket | None:
    if not text:
        return None
    own = _tally(view, "every").every
    try:
        every = Bucket.of(text)
    except UnknownBucket as unknown:
        raise bad(str(unknown)) from None
    if not Bucket.of(own).divides(every):
        raise bad(f"{view.name} has buckets of {own}, which {every.name} is not made of", own, "1 hour", "1 day")
    if _buckets(every, length) > LARGEST_BUCKETS:
        raise bad(
            f"the range has more than {LARGEST_BUCKETS} buckets of {every.name}", "a wider bucket", "a shorter range"
        )
    return every


def _buckets(every: Bucket, length: timedelta) -> float:
    return length.total_seconds() / (every.seconds or every.months * 28 * 86_400)


def _over(every: Bucket | None, text: str) -> Bucket | None:
    if not text:
        return None
    try:
        over = Bucket.of(text)
    except UnknownBucket as unknown:
        raise bad(str(unknown)) from None
    if every is None or not every.seconds or not over.seconds or over.seconds % every.seconds:
        raise bad(f"over={text!r} is not made of whole buckets of `every`", "every=5 minutes and over=1 hour")
    if over.seconds // every.seconds > MOST_WINDOWS:
        raise bad(f"over={text!r} has more than {MOST_WINDOWS} buckets of {every.name}", "a wider bucket")
    return over


def _retained(view: View, every: Bucket | None, text: str, length: timedelta) -> str:
    if not text:
        return ""
    measures = _tally(view, "retained").measures
    _known(view, text, tuple(name for name, measure in measures.items() if measure.kind == "theta"), "theta measure")
    if every is None or _buckets(every, length) > MOST_COHORTS:
        raise bad("retained needs `every`, and a range of few buckets", f"up to {MOST_COHORTS} buckets")
    return text


def _by(view: View, text: str) -> tuple[str, ...]:
    if not text:
        return ()
    tally = _tally(view, "by")
    return tuple(dict.fromkeys(_known(view, name, tally.by, "key") for name in text.split(",")))


def _tally(view: View, parameter: str) -> Tally:
    if isinstance(view, Tally):
        return view
    raise bad(f"{view.name} holds rows by key, not totals: it takes no {parameter!r}", "from", "to", "where", "limit")


def _filter(view: View, text: str) -> Filter:
    column, _, rest = text.partition(":")
    operator, found, value = rest.partition(":")
    if operator not in OPERATORS or not found:
        raise bad(f"where={text!r} is not column:operator:value", *OPERATORS)
    _known(view, column, keys(view), "column")
    return Filter(column, operator, tuple(value.split(",")) if operator == "in" else (value,))


def questions(said: Iterable[tuple[str, str]]) -> list[tuple[str, Sequence[tuple[str, str]]]]:
    """What one request asks of several views, each `ask` a view's name, a question mark and its parameters."""
    return [_asked(text) for name, text in said if name == "ask"]


@lru_cache(REMEMBERED)
def _asked(text: str) -> tuple[str, Sequence[tuple[str, str]]]:
    view, _, parameters = text.partition("?")
    return view, tuple(parse_qsl(parameters, keep_blank_values=True))


def _order(question: Question, text: str) -> tuple[str, ...]:
    view = question.view
    shown = (*(("bucket",) if question.every else ()), *(question.by if isinstance(view, Tally) else keys(view)))
    names = tuple(name for name in text.split(",") if name)
    for name in names:
        _known(view, name.removeprefix("-"), (*shown, *numbers(view)), "column")
    return names


def _known(view: View, name: str, names: Sequence[str], what: str) -> str:
    if name not in names:
        raise bad(f"{view.name} has no {what} {name!r}", *names)
    return name


def _limit(text: str) -> int:
    if not text:
        return LIMIT
    if not (text.isascii() and text.isdigit()) or not 0 < int(text[:9]) <= LARGEST_LIMIT or len(text) > 9:
        raise bad(f"limit={text!r} is not a number of rows", f"1 to {LARGEST_LIMIT}")
    return int(text)


def _zone(text: str) -> str:
    try:
        return str(ZoneInfo(text))
    except (KeyError, ValueError, OSError):
        raise bad(f"tz={text!r} is not a time zone", "a name such as Europe/Berlin") from None
