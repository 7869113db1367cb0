"""Who is to be erased, and which rows of silver are theirs: bronze's headers say it, by position. No JVM."""

import hashlib
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from penstock.engine import silver
from penstock.engine.pinning import releases
from penstock.keys.sealing import SUBJECTS
from penstock.keys.store import Keys
from penstock.lake.erasures import ERASED, Erasure
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import BUILDING, registry
from penstock.model.domain import domains
from penstock.model.source import Source
from penstock.settings import Settings

# How long the archive may take for what silver has already.
PATIENCE = 60.0
NAMING = """
select partition, "offset" from (
    select partition, "offset", hex(list_filter(headers, lambda one: one.key = '{header}')[1].value) as named
    from bronze
) where {any}
"""
NAMED = "substr(named, {start}, 32) in (select token from tokens)"
THEIRS = """
select rows.partition, rows."offset", rows.day, cast(happened_at as date) as happened, disposition
from rows join named on rows.partition = named.partition and rows."offset" = named."offset"
where reason is distinct from $erased
"""
BEHIND = """
select silver.partition from (select partition, max("offset") as last from silver group by partition) as silver
left join (select partition, max("offset") as last from bronze group by partition) as bronze
on silver.partition = bronze.partition where silver.last > coalesce(bronze.last, -1)
"""


class CannotErase(RuntimeError):
    """Nothing was erased; the message says what stands in the way."""


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
    building = [name for name, row in now.releases.items() if row.state == BUILDING]
    if building:
        raise CannotErase(
            f"{', '.join(building)} of {wanted.domain} is being built. Wait for its replay, or drop it; then ask again."
        )


def text(settings: Settings, wanted: Asked) -> str:
    """What would be erased, for the person who approves. Changes nothing."""
    checked(settings, wanted)
    layout, lines = Layout(settings.lake), []
    for source in sealed_sources(wanted.domain):
        for release, rows in found_of(layout, source, wanted).items():
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


def found_of(layout: Layout, source: Source, wanted: Asked) -> dict[str, pa.Table]:
    """By release, their rows of silver that still say anything."""
    named = naming(layout, source.name, wanted.tokens)
    paths = {each: layout.silver(each, source.name) for each in releases(layout, domains()[wanted.domain])}
    found = {release: theirs(path, named) for release, path in paths.items() if open_table(path)}
    return {release: rows for release, rows in found.items() if rows.num_rows}


def facts_of(rows: pa.Table) -> int:
    return int(pc.sum(pc.equal(rows["disposition"], silver.FACT)).as_py() or 0)


def naming(layout: Layout, source: str, tokens: Collection[bytes]) -> pa.Table:
    """The positions of all records that name any of these subjects, as bronze has them."""
    bronze = open_table(layout.bronze(source))
    most = max(len(each.subjects) for each in domains()[source.partition(".")[0]].sources)
    places = [NAMED.format(start=1 + 32 * place) for place in range(most)]
    with duckdb.connect() as memory:
        if bronze is None:
            return pa.table({"partition": pa.array([], pa.int32()), "offset": pa.array([], pa.int64())})
        memory.register("bronze", bronze.to_pyarrow_dataset())
        memory.register("tokens", pa.table({"token": [token.hex().upper() for token in tokens]}))
        return memory.sql(NAMING.format(header=SUBJECTS, any=" or ".join(places))).to_arrow_table()


def theirs(path: str, named: pa.Table) -> pa.Table:
    """Rows of a silver table at these positions that were not erased before."""
    with duckdb.connect() as memory:
        memory.execute("set timezone = 'UTC'")
        memory.register("rows", DeltaTable(path).to_pyarrow_dataset())
        memory.register("named", named)
        return memory.sql(THEIRS, params={"erased": ERASED}).to_arrow_table()


def archived(layout: Layout, source: Source) -> None:
    """Bronze says which records name a subject: it must have all that any silver was made of."""
    limit = time.monotonic() + PATIENCE
    for release in releases(layout, domains()[source.domain]):
        while late := list(_behind(layout, release, source)):
            if time.monotonic() > limit:
                raise CannotErase(
                    f"the archive of {source.name} lacks records of partitions {late} that {release} has. The keys are "
                    "destroyed. Start the streams, or rebuild bronze, and ask again: the erasure goes on."
                )
            time.sleep(1)


def _behind(layout: Layout, release: str, source: Source) -> Iterator[int]:
    tables = {"silver": layout.silver(release, source.name), "bronze": layout.bronze(source.name)}
    opened = {name: open_table(path) for name, path in tables.items()}
    if opened["silver"] is None or opened["bronze"] is None:
        return
    with duckdb.connect() as memory:
        for name, table in opened.items():
            memory.register(name, table.to_pyarrow_dataset() if table else None)
        yield from (row[0] for row in memory.execute(BEHIND).fetchall())
