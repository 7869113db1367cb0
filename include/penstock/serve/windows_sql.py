# ruff: noqa: S608 - the text holds names of the view, and moments and widths that were checked
"""Answers that look at more than one bucket: windows that overlap, and who of one bucket came again in another."""

from collections.abc import Mapping

from penstock.lake.names import quoted
from penstock.model.bucket import DAY, Bucket
from penstock.model.view import Tally
from penstock.serve.question import Question

# A fact is in many windows, and one fact of the answer: it counts in the first that it is in.
ONCE = "coalesce(cast(sum({it}) filter (where step = 0 or bucket = _first) as bigint), 0)"
TOTALS = {name: ONCE.replace("{it}", name) for name in ("_facts", "_provisional")}


def bucket_sql(question: Question) -> str:
    """The start of the bucket that a row falls in."""
    zone = zone_of(question)
    local = f"timezone('{zone}', bucket)"
    return f"timezone('{zone}', {question.every.duckdb(local)})" if question.every else "null"


def zone_of(question: Question) -> str:
    """A day or longer is the reader's own; shorter buckets are the same in every zone."""
    every = question.every
    return question.zone if every and (every.months or every.seconds % DAY == 0) else "UTC"


def hopping_sql(question: Question, every: Bucket, over: Bucket, folds: Mapping[str, str]) -> str:
    """Rows like those of `folded`: to each bucket the parts of the window that ends with it."""
    zone, kept = zone_of(question), ["bucket", *map(quoted, question.by)]
    later = f"timezone('{zone}', timezone('{zone}', bucket) + step * interval '{every.seconds} seconds')"
    spread = f"select * replace ({later} as bucket) from folded, range({over.seconds // every.seconds}) steps(step)"
    numbers = [f"{sql} as {quoted(name)}" for name, sql in {**TOTALS, **folds}.items()]
    first = f"timestamptz '{question.start.isoformat()}' - interval '{every.seconds} seconds'"
    inside = f"bucket > {first} and bucket < timestamptz '{question.end.isoformat()}'"
    return (
        f"select {', '.join([*kept, *numbers])} "
        f"from (select *, min(bucket) over () as _first from ({spread}) where {inside}) group by {', '.join(kept)}"
    )


def retained_sql(question: Question, tally: Tally) -> str:
    """Of the members that a bucket saw first, in the range: how many came in it and in each bucket after it."""
    measure, keys = str(question.retained), [*map(quoted, question.by)]
    members = quoted(tally.measures[measure].columns(measure)[0])
    partition = f"partition by {', '.join(keys)} " if keys else ""
    earlier = f"list({members}) over ({partition}order by bucket rows between unbounded preceding and 1 preceding)"
    fresh = f"select *, theta_not({members}, theta_union({earlier})) as _fresh from folded"
    same = "".join(f" and a.{key} is not distinct from b.{key}" for key in keys)
    shown = ["a.bucket", "b.bucket as again", *(f"a.{key}" for key in keys)]
    again = f"theta_estimate(theta_and(a._fresh, b.{members})) as retained"
    counts = f"theta_estimate(a._fresh) as {quoted(measure)}, {again}"
    return (
        f"select {', '.join(shown)}, {counts}, b._facts * (a.bucket = b.bucket)::int as _facts, "
        "b._provisional * (a.bucket = b.bucket)::int as _provisional "
        f"from ({fresh}) a join folded b on b.bucket >= a.bucket{same}"
    )
