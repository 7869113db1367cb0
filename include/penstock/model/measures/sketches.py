"""Apache DataSketches: small summaries that merge. Spark's own functions make them; the reader reads the same bytes.

The reader's functions (hll_*, theta_*, kll_*, top_*) are in penstock.lake.sketches.
"""

from penstock.model.measure import Measure, Part


def distinct(field: str) -> Measure:
    """How many different values (HLL, 2^12 registers: 1.6 % standard error)."""
    part = Part(
        "hll",
        f"hll_sketch_agg(cast({field} as string))",
        "hll_union_agg({it}, true)",
        fold="hll_union(list({it}))",
        local="hll_sketch(list({each}))",
        each=f"hll_coupon(cast({field} as varchar))",
    )
    return Measure("distinct", (part,), "hll_estimate({hll})", field)


def theta(field: str, where: str | None = None) -> Measure:
    """How many different values, as a set that other thetas of the view can be intersected with or taken from."""
    chosen = f" filter (where {where})" if where else ""
    part = Part(
        "theta",
        f"theta_sketch_agg(cast({field} as string)){chosen}",
        "theta_union_agg({it})",
        fold="theta_union(list({it}))",
        local=f"theta_sketch(list(cast({field} as varchar)){chosen})",
    )
    return Measure("theta", (part,), "theta_estimate({theta})", field if where is None else f"{field} where {where}")


def quantile(field: str, rank: float) -> Measure:
    """The value below which `rank` of the facts lie (KLL, k = 200: 1.33 % rank error)."""
    if not 0 <= rank <= 1:
        raise ValueError(f"quantile({field!r}, {rank}): a rank is from 0 to 1")
    part = Part(
        "kll",
        f"kll_sketch_agg_double(cast({field} as double))",
        "kll_merge_agg_double({it})",
        fold="kll_merge(list({it}))",
        local=f"kll_sketch(list(cast({field} as double)))",
    )
    return Measure("quantile", (part,), f"kll_quantile({{kll}}, {rank})", f"{field} at {rank}")


def top(field: str, k: int = 10) -> Measure:
    """The most frequent values with their counts (frequent items; exact while a group has few different values)."""
    part = Part(
        "top",
        f"approx_top_k_accumulate(cast({field} as string), 1024).sketch",
        # Only the sketch is stored; the rest of Spark's state is the same for every partial.
        "approx_top_k_combine(named_struct('sketch', {it}, 'maxItemsTracked', 1024, "
        "'itemDataType', cast(null as string), 'itemDataTypeDDL', 'item string')).sketch",
        fold="top_merge(list({it}))",
        local=f"top_sketch(list(cast({field} as varchar)))",
    )
    return Measure("top", (part,), f"top_items({{top}}, {k})", f"{k} of {field}")
