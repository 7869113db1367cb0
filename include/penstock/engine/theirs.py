"""Who is to be erased, and which rows of silver are theirs. No JVM, and changes nothing."""

import hashlib
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from penstock.engine import silver
from penstock.engine.naming import CannotErase, naming
from penstock.engine.pinning import releases
from penstock.keys.store import Keys
from penstock.lake.erasures import ERASED, Erasure
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import UNFINISHED, registry
from penstock.model.domain import domains
from penstock.model.source import Source
from penstock.settings import Settings

THEIRS = """
select rows.partition, rows."offset", rows.day, cast(happened_at as date) as happened, disposition
from rows join named on rows.partition = named.partition and rows."offset" = named."offset"
where reason is distinct from $erased
"""


@dataclass(frozen=True)
class Asked:
    """Who is to be erased, by the tokens that stand for them on records."""

    domain: str
    tokens: frozenset[bytes]
    operation: str
    by: str
    why: str

    def named(self, source: Source) -> Erasure:
        name = hashlib.sha256(f"{self.operation}/{source.name}".encode()).hexdigest()[:8]
        who = {"by": self.by, "why": self.why, "operation": self.operation, "subjects": len(self.tokens)}
        return Erasure(f"e{name}", source.name, **who)  # type: ignore[arg-type]


def asked(domain: str, subjects: str, operation: str = "", by: str = "", why: str = "") -> Asked:
    """What a form says: tokens as hexadecimal digits, with commas or white space between."""
    words = subjects.replace(",", " ").split()
    if domain not in domains():
        raise CannotErase(f"there is no domain {domain!r}; there are: {', '.join(domains())}")
    if not words or any(len(word) != 32 or not set(word) <= set("0123456789abcdef") for word in words):
        raise CannotErase(
            "subjects are given by their tokens of 32 hexadecimal digits, which `penstock erase --dry-run` tells: "
            "a name would stay in Airflow's history for ever"
        )
    return Asked(domain, frozenset(map(bytes.fromhex, words)), operation, by, why)


def checked(settings: Settings, wanted: Asked) -> None:
    """Refuses what cannot be done, before anything is destroyed."""
    keys = Keys.of_home(settings.home)
    unknown = wanted.tokens - keys.keys(wanted.tokens).keys() - keys.destroyed(wanted.tokens, wanted.operation)
    if unknown:
        shown = ", ".join(sorted(token.hex() for token in unknown)[:5])
        raise CannotErase(f"no key is known for {len(unknown)} of {len(wanted.tokens)} subjects: {shown}")
    now = registry(Layout(settings.lake), wanted.domain)
    building = [name for name, row in now.releases.items() if row.state in UNFINISHED]
    if building:
        raise CannotErase(
            f"{', '.join(building)} of {wanted.domain} is being built. Wait for its replay, or drop it; then ask again."
        )


def text(settings: Settings, wanted: Asked) -> str:
    """What would be erased, for the person who approves. Changes nothing."""
    checked(settings, wanted)
    layout, lines = Layout(settings.lake), []
    for source in sealed_sources(wanted.domain):
        for release, rows in found_of(layout, source, naming(settings, source, wanted.tokens)).items():
            days = len(pc.unique(rows["happened"].drop_null()))
            lines.append(f"| {source.name} | {release} | {rows.num_rows:,} | {facts_of(rows):,} | {days} |")
    table = "\n".join(["| source | release | records | facts | days |", "|---|---|---|---|---|", *lines])
    return (
        f"{len(wanted.tokens):,} subjects of {wanted.domain}.\n\n"
        f"{table if lines else 'Silver has no record of theirs.'}\n\n"
        "Their keys are destroyed: **nothing brings them back**, no replay and no rewind. Their facts become rejected "
        f"(`{ERASED}`), these days are built again, and older versions of views end. Streams wait meanwhile."
    )


def sealed_sources(domain: str) -> list[Source]:
    return [source for source in domains()[domain].sources if source.subjects]


def found_of(layout: Layout, source: Source, named: pa.Table) -> dict[str, pa.Table]:
    """By release, the rows of silver at these positions that still say anything."""
    paths = {each: layout.silver(each, source.name) for each in releases(layout, domains()[source.domain])}
    found = {release: theirs(path, named) for release, path in paths.items() if open_table(path)}
    return {release: rows for release, rows in found.items() if rows.num_rows}


def facts_of(rows: pa.Table) -> int:
    return int(pc.sum(pc.equal(rows["disposition"], silver.FACT)).as_py() or 0)


def theirs(path: str, named: pa.Table) -> pa.Table:
    """Rows of a silver table at these positions that were not erased before."""
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        memory.register("rows", DeltaTable(path).to_pyarrow_dataset())
        memory.register("named", named)
        return memory.sql(THEIRS, params={"erased": ERASED}).to_arrow_table()
