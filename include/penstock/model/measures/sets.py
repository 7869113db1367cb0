"""Exact sets, for fields of few values: they are stored whole."""

from penstock.model.measure import Measure, Part


def exact_distinct(field: str) -> Measure:
    """How many different values, exactly. For small sets; `distinct` is for large ones."""
    part = Part(
        "set",
        f"array_sort(collect_set(cast({field} as string)))",
        "array_sort(array_distinct(flatten(collect_list({it}))))",
        fold="list_sort(list_distinct(flatten(list({it}))))",
        local=f"coalesce(list_sort(list_distinct(list(cast({field} as varchar)))), [])",
    )
    return Measure("exact_distinct", (part,), "len({set})", field)
