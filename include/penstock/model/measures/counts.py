"""Counts and sums, and the numbers that follow from them."""

from penstock.model.measure import Measure, Part

# Sums of floating point depend on their order; decimals do not, so that batch and speed agree to the last digit.
DECIMAL = "sum(try_cast({field} as decimal(28, 6)))"
SUM = "cast(sum({it}) as decimal(38, 6))"


def count(where: str | None = None) -> Measure:
    """How many facts, or how many for which a condition holds."""
    # A condition may be null, where DuckDB would say null and Spark nought.
    partial = f"cast(count_if(coalesce({where}, false)) as bigint)" if where else "count(1)"
    return Measure("count", (Part("", partial, "cast(sum({it}) as bigint)"),), "{it}", where or "all facts")


def total(field: str, where: str | None = None) -> Measure:
    """The sum of a field, to six decimals."""
    partial = DECIMAL.replace("{field}", field) + (f" filter (where {where})" if where else "")
    return Measure("total", (Part("", partial, SUM),), "cast({it} as double)", field)


def mean(field: str) -> Measure:
    """The mean of a field over the facts that have it."""
    parts = (
        Part("sum", DECIMAL.replace("{field}", field), SUM),
        Part("n", f"count({field})", "cast(sum({it}) as bigint)"),
    )
    return Measure("mean", parts, "cast({sum} as double) / nullif({n}, 0)", field)


def ratio(over: str, under: str) -> Measure:
    """One measure of the view divided by another; null where the second is zero."""
    show = f"cast({over} as double) / nullif(cast({under} as double), 0)"
    return Measure("ratio", (), show, f"{over} / {under}", (over, under))
