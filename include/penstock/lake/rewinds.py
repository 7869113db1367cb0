"""The journal of rewinds, in `control/rewinds`: one that was begun is ended before any stream of its domain starts."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

import pyarrow as pa

from penstock.lake.appending import append_once
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table

BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Rewind:
    """`point` is where it goes, `saved` the point that was taken of the present before; `epochs`: each silver table's
    number that marks it, higher than any that was used, so that no number ever means two epochs."""

    id: str
    domain: str
    point: str
    saved: str
    by: str
    why: str
    epochs: Mapping[str, int] = field(default_factory=dict)
    done: bool = False
    # When the point was taken, and when this was written down.
    point_at: datetime = BEGINNING
    at: datetime = BEGINNING


class Unfinished(RuntimeError):
    """A rewind was cut short. Nothing is lost; it must be ended before streams go on."""


COLUMNS = ("id", "domain", "point", "point_at", "at", "done", "document")
MOMENT = pa.timestamp("us", "UTC")
TYPES = {"at": MOMENT, "point_at": MOMENT, "done": pa.bool_()}
SCHEMA = pa.schema([(name, TYPES.get(name, pa.string())) for name in COLUMNS])


def note(layout: Layout, rewind: Rewind) -> None:
    """Writes down that a rewind was begun, or that it is done."""
    told = {**asdict(rewind), "at": datetime.now(UTC)}
    told["document"] = json.dumps({name: told.pop(name) for name in ("saved", "by", "why", "epochs")})
    step = "done" if rewind.done else "begun"
    append_once(layout.control("rewinds"), SCHEMA, [told], f"rewind/{rewind.id}/{step}")


def rewinds(layout: Layout) -> list[Rewind]:
    """Every rewind as it was last written down, oldest first."""
    table = open_table(layout.control("rewinds"))
    rows = table.to_pyarrow_table().sort_by("at").to_pylist() if table else []
    return list({row["id"]: Rewind(**json.loads(row.pop("document")), **row) for row in rows}.values())


def named(operation: str, domain: str) -> str:
    """The id of an operation's rewind of a domain; of its own where no operation is named."""
    return (uuid.uuid5(uuid.NAMESPACE_URL, f"{operation}/{domain}") if operation else uuid.uuid4()).hex


def ended(layout: Layout, name: str) -> Rewind | None:
    """The rewind of this id, if it is done."""
    return next((one for one in rewinds(layout) if one.done and one.id == name), None)


def unfinished(layout: Layout, domain: str) -> Rewind | None:
    """The rewind of a domain that was begun and not ended."""
    return next((one for one in rewinds(layout) if not one.done and one.domain == domain), None)


def refuse_unfinished(layout: Layout, domain: str) -> None:
    """Stops whoever would write between two tables of which one went back and the other did not yet."""
    if half := unfinished(layout, domain):
        raise Unfinished(
            f"a rewind of {domain} to {half.point} was cut short. No event is lost, and readers see the numbers of one "
            f"side or the other. End it with `penstock rewind {half.point} --domain {domain} --why '{half.why}'`."
        )
