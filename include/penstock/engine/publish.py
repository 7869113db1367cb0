"""Write, audit, publish: a candidate where no reader looks, a gate, and one commit that carries the cut."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, is_dataclass
from datetime import date
from typing import Any, Protocol
from urllib.parse import unquote

from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction
from pyspark.sql import DataFrame, SparkSession

from penstock.engine.candidate import PARTITIONS
from penstock.engine.counting import Rows, Written
from penstock.lake.files import file_list
from penstock.lake.layout import Layout
from penstock.lake.place import Place, place
from penstock.lake.publication import PUBLISHING, Publication, open_table
from penstock.lake.versions import actions


class Verdict(Protocol):
    """What a gate answers; penstock.engine.gate.GateResult is one."""

    @property
    def passed(self) -> bool: ...

    @property
    def reason(self) -> str: ...


Gate = Callable[[DataFrame | Rows, str], Verdict]


class Refused(RuntimeError):
    """The gate did not pass: readers still see the last good numbers."""


class Overtaken(RuntimeError):
    """Another build published this view meanwhile: nothing was changed, and what readers see is newer."""


def audited(
    spark: SparkSession, layout: Layout, release: str, name: str, path: str, days: Sequence[date] | None, gate: Gate
) -> dict[str, Any]:
    """Has the gate look at the candidate at a path. What the gate said, or Refused."""
    # A gate refuses to judge nothing. But days that had no rows and have none now take nothing from any reader.
    if not file_list(DeltaTable(path)) and not _has_rows(layout.gold(release, name), days):
        return {"passed": True, "reason": "no rows, and none are replaced", "results": []}
    verdict = gate(Written(spark, path), name)
    if not verdict.passed:
        stays = layout.candidate(release, name)
        # For whoever looks into it, it stands where the verdict says, under the view's own name.
        place(path).moved(place(stays))
        raise Refused(
            f"the gate refused {name}: {verdict.reason}. Readers keep the last good numbers; the candidate is at "
            f"{stays}. Look at it, mend the cause, and build again."
        )
    return _said(verdict)


def _has_rows(gold: str, days: Sequence[date] | None) -> bool:
    table = open_table(gold)
    files = file_list(table) if table is not None else []
    return any(days is None or file.partition["day"] in days for file in files)


def published(candidate: str, gold: str, days: Sequence[date] | None, said: Publication, stands: int) -> None:
    """One atomic commit: exactly these days of gold become the candidate's. No days: all of them.

    The candidate's own files get a second name: on a disk nothing is written again. `stands` is the version of gold
    beside which the candidate was made (-1: there was none). If anybody has published since, the candidate may lack
    what they had: Overtaken, and nothing is changed.
    """
    judged = open_table(candidate)
    if judged is None:
        raise Overtaken(f"{candidate} was cleared by another build of {gold}; nothing was changed.")
    table = _standing(gold, judged, stands)
    try:
        table.create_write_transaction(
            list(_links(place(candidate), judged.version(), place(gold))),
            # No day at all (only bots came, say): nothing is replaced, and the cut goes on.
            "append" if days is not None and not days else "overwrite",
            judged.schema(),
            PARTITIONS,
            partition_filters=[("day", "in", [str(day) for day in days])] if days else None,
            commit_properties=CommitProperties(
                custom_metadata={"userMetadata": said.to_metadata()},
                # Of two commits of one application that stand on one version, Delta lets the first through.
                app_transactions=[Transaction(PUBLISHING, stands + 1)],
            ),
        )
    except CommitFailedError as lost:
        raise Overtaken(f"{gold} was published by another build since version {stands}; nothing was changed.") from lost
    place(candidate).remove()


def _standing(gold: str, judged: DeltaTable, stands: int) -> DeltaTable:
    if stands >= 0:
        return DeltaTable(gold, version=stands)
    try:
        return DeltaTable.create(gold, judged.schema(), mode="error", partition_by=PARTITIONS)
    except (DeltaError, FileExistsError) as there:
        raise Overtaken(f"{gold} was made by another build meanwhile; nothing was changed.") from there


def _links(candidate: Place, version: int, gold: Place) -> Iterator[AddAction]:
    for action in actions(candidate.below("_delta_log"), version):
        add = action.get("add")
        if add is None:
            continue
        name = unquote(add["path"])
        # A build that was killed between its links and its commit is repeated with other names.
        gold.have(name, candidate)
        changed, stats = int(add["modificationTime"]), add.get("stats", "{}")
        yield AddAction(name, add["size"], add["partitionValues"], changed, True, stats)


def _said(verdict: Verdict) -> dict[str, Any]:
    results = getattr(verdict, "results", ())
    told = [asdict(one) if is_dataclass(one) and not isinstance(one, type) else str(one) for one in results]
    return {"passed": verdict.passed, "reason": verdict.reason, "results": told}
