"""The night's upkeep as tasks. Each returns how much it did, for the run's record."""

import logging

from penstock.lake import maintain
from penstock.settings import Settings

log = logging.getLogger(__name__)


def compact() -> int:
    done = [one for path in maintain.tables(Settings.from_env().lake) if (one := maintain.compact(path))]
    for one in done:
        log.info("%s: %d files became %d", one.table, one.files_before, one.files_after)
    return len(done)


def vacuum() -> int:
    return sum(maintain.vacuum(path) for path in maintain.tables(Settings.from_env().lake))


def drill() -> int:
    settings = Settings.from_env()
    table = maintain.smallest(settings.lake)
    if table is None:
        return 0
    rows = maintain.drill(table, settings.home / "tmp" / "drill")
    log.info("%s: restored to its last version but one and compared, %d rows", table, rows)
    return rows
