"""Which release of a domain readers see: a pointer in the lake, read without a JVM."""

from deltalake import DeltaTable

from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.publication import open_table


def current(layout: Layout, domain: str) -> str:
    """The release that the newest row of `control/releases` names; the first one where nothing was switched."""
    return pointers(open_table(layout.control("releases"))).get(domain, FIRST_RELEASE)


def pointers(table: DeltaTable | None) -> dict[str, str]:
    """Domain -> release."""
    if table is None:
        return {}
    rows = table.to_pyarrow_table(columns=["domain", "release", "at"]).sort_by("at").to_pylist()
    return {row["domain"]: row["release"] for row in rows}
