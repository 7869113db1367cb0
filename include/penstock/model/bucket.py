"""Time buckets: their names, their widths, and how time falls into them. Buckets are UTC and start on Mondays."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
# The first Monday of Unix time: every width that divides four days starts where it would from 1970-01-01.
ORIGIN = datetime(1970, 1, 5, tzinfo=UTC)
DAY = 86_400


class UnknownBucket(ValueError):
    """A text that names no bucket; the message says what does."""


@dataclass(frozen=True)
class Bucket:
    """A width: so many seconds, or else so many months."""

    name: str
    seconds: int = 0
    months: int = 0

    @classmethod
    def of(cls, text: str) -> "Bucket":
        match = re.fullmatch(r"(?:(\d{1,4}) ?)?([a-z]+?)s?", text.strip())
        number = int(match[1] or 1) if match else 0
        unit = match[2] if match else ""
        if not number or unit not in {*SECONDS, *MONTHS}:
            raise UnknownBucket(f"{text!r} is not a bucket; say a number and one of: {', '.join([*SECONDS, *MONTHS])}")
        return cls(f"{number} {unit}", number * SECONDS.get(unit, 0), number * MONTHS.get(unit, 0))

    def floor(self, moment: datetime) -> datetime:
        """The start of the bucket that a moment falls in."""
        if self.months:
            month = (moment.year * 12 + moment.month - 1) // self.months * self.months
            return datetime(month // 12, month % 12 + 1, 1, tzinfo=moment.tzinfo)
        width = timedelta(seconds=self.seconds)
        return ORIGIN + (moment - ORIGIN) // width * width

    def ceiling(self, moment: datetime) -> datetime:
        """The first start of a bucket that is not before a moment. For widths in seconds."""
        return -(-(moment - ORIGIN) // timedelta(seconds=self.seconds)) * timedelta(seconds=self.seconds) + ORIGIN

    def divides(self, other: "Bucket") -> bool:
        """Whether every bucket of the other is made of whole buckets of this."""
        if self.months:
            return bool(other.months) and other.months % self.months == 0
        return (DAY if other.months else other.seconds) % self.seconds == 0

    def spark(self, at: str) -> str:
        """Spark SQL of the start of the bucket. For widths in seconds."""
        origin = int(ORIGIN.timestamp())
        return f"timestamp_seconds(floor((unix_seconds({at}) - {origin}) / {self.seconds}) * {self.seconds} + {origin})"

    def duckdb(self, moment: str) -> str:
        """DuckDB SQL of the start of the bucket, of a timestamp without zone."""
        if self.months:
            return f"time_bucket(interval '{self.months} months', {moment})"
        return f"time_bucket(interval '{self.seconds} seconds', {moment}, timestamp '1970-01-05')"


def widths(every: str) -> tuple[Bucket, ...]:
    """The widths that a tally is stored in: its own, then an hour and a day, so that long ranges read few rows."""
    own = Bucket.of(every)
    coarser = (Bucket.of(name) for name in ("1 hour", "1 day"))
    return own, *(wide for wide in coarser if own.seconds < wide.seconds)
