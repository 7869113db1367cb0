"""The smallest, largest, earliest and latest. Ties in time are broken by value, so that order never matters."""

from penstock.model.measure import Measure, Part


def minimum(field: str) -> Measure:
    return _extreme("minimum", "min", field)


def maximum(field: str) -> Measure:
    return _extreme("maximum", "max", field)


def first(field: str) -> Measure:
    """The field's value at the earliest time that has one."""
    return _by_time("first", "min", field)


def last(field: str) -> Measure:
    """The field's value at the latest time that has one."""
    return _by_time("last", "max", field)


def _extreme(kind: str, aggregate: str, field: str) -> Measure:
    return Measure(kind, (Part("", f"{aggregate}({field})", aggregate + "({it})"),), "{it}", field)


def _by_time(kind: str, aggregate: str, field: str) -> Measure:
    part = Part(
        kind,
        f"{aggregate}(named_struct('at', {{at}}, 'value', {field})) filter (where {field} is not null)",
        aggregate + "({it})",
        local=f"{aggregate}(struct_pack(at := {{at}}, value := {field})) filter (where {field} is not null)",
    )
    return Measure(kind, (part,), "{" + kind + "}.value", field)
