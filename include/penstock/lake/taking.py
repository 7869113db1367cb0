"""A table of one release as another one's, with its history: its files get a second name, and no row is read.

On an object store they are copied by the store. From then on the two go their own ways.
"""

import pyarrow as pa
from deltalake import CommitProperties, Transaction, write_deltalake

from penstock.lake.place import place
from penstock.lake.publication import last_epoch, open_table

LOG = "_delta_log"
# The last word of a table that was taken: what was cut short lacks it, and is begun anew.
WHOLE = "penstock.taken"


def take(theirs: str, ours: str) -> bool:
    """Ours is theirs as it is by now. False: it was taken before, or there is nothing to take."""
    table = open_table(theirs)
    if table is None or whole(ours):
        return False
    source, target = place(theirs), place(ours)
    target.remove()
    names = source.everything()
    log = [name for name in names if name.startswith(f"{LOG}/") and _version(name) <= table.version()]
    # The log after the files that it names.
    for name in [*(name for name in names if not name.startswith(LOG)), *log]:
        target.have(name, source)
    done = CommitProperties(app_transactions=[Transaction(WHOLE, 0)])
    nothing = pa.schema(table.schema().to_arrow()).empty_table()
    write_deltalake(ours, nothing, mode="append", commit_properties=done)
    return True


def whole(ours: str) -> bool:
    """Whether a table was taken, and not cut short."""
    return last_epoch(open_table(ours), WHOLE) >= 0


def retake(theirs: str, ours: str) -> None:
    """The same, whatever was taken before."""
    place(ours).remove()
    take(theirs, ours)


def _version(name: str) -> float:
    """Of a file of the log; what has none is no version's, and is left where it is."""
    number = name.rpartition("/")[2][:20]
    return int(number) if number.isdigit() else float("inf")
