"""The night's upkeep as tasks. Each returns how much it did, for the run's record."""

import logging
from datetime import UTC, datetime, timedelta

from penstock.lake import maintain
from penstock.lake.days import Day, close
from penstock.lake.layout import Layout
from penstock.lake.releases import current
from penstock.lake.restore_points import forget, pinned, points
from penstock.model.domain import domains
from penstock.model.retention import BadRetention
from penstock.model.view import source_of
from penstock.ops.airflow.errors import DataRefused, LakeDamaged
from penstock.settings import Settings

log = logging.getLogger(__name__)


def compact() -> int:
    done = [one for path in maintain.tables(Settings.from_env().lake) if (one := maintain.compact(path))]
    for one in done:
        log.info("%s: %d files became %d", one.table, one.files_before, one.files_after)
    return len(done)


def pin() -> str:
    """The day's restore point, before anything old is deleted; expired ones go."""
    from penstock.engine.pinning import take

    layout = Layout(Settings.from_env().lake)
    point = take(layout, "daily", "airflow", "each night, before upkeep")
    log.info("restore point %s; %d expired ones are forgotten", point.id, forget(layout, point.at))
    return point.id


def retire() -> list[str]:
    """Ends the streams of releases that nobody went back to for as long as the setting says."""
    from penstock.lake.releases import retire as retired

    settings, now = Settings.from_env(), datetime.now(UTC)
    days, layout = settings.revert_days, Layout(settings.lake)
    return [f"{domain} {name}" for domain in domains() for name in retired(layout, domain, now, days)]


def vacuum() -> int:
    layout = Layout(Settings.from_env().lake)
    kept = points(layout)
    return sum(maintain.vacuum(path, spared=pinned(layout, kept, path)) for path in maintain.tables(layout.root))


def expire() -> list[str]:
    """Facts that the setting keeps no longer go, as far as this night can; what was done and what waits."""
    from penstock.ops import retaining

    try:
        told = retaining.night(Settings.from_env(), datetime.now(UTC))
    except BadRetention as bad:
        raise DataRefused(str(bad)) from bad
    for each in told:
        log.info(each)
    return told


def examine() -> str:
    """Whether tables, records and checkpoints are all there; fails with what is not, and what mends it."""
    from penstock.engine.damage import damages

    settings = Settings.from_env()
    found = [str(damage) for damage in damages(Layout(settings.lake), settings.kafka)]
    if found:
        raise LakeDamaged("\n".join(found))
    return "nothing is missing"


def drill() -> int:
    settings = Settings.from_env()
    table = maintain.smallest(settings.lake)
    if table is None:
        return 0
    rows = maintain.drill(table, settings.home / "tmp" / "drill")
    log.info("%s: restored to its last version but one and compared, %d rows", table, rows)
    return rows


def data_docs() -> list[str]:
    """Pages of what gates have said since the last time; the tables that got one."""
    from penstock.engine.datadocs import build
    from penstock.ops.airflow.pages import DATA_DOCS

    settings = Settings.from_env()
    return build(settings.lake, settings.home / DATA_DOCS)


def close_days() -> int:
    """Declares days final; fails with a sentence for each that cannot be."""
    from penstock.ops.watch.hours import balances, unbalanced

    settings, now = Settings.from_env(), datetime.now(UTC)
    layout, yesterday = Layout(settings.lake), now.date() - timedelta(days=1)
    judged: list[Day] = []
    said = balances(settings)
    for domain in domains().values():
        release = current(layout, domain.name)
        for source in domain.sources:
            views = [view.name for view in domain.views if source_of(view) == source]
            unbalanced_days = {each.hour.date() for each in said if each.source == source.name and not each.balanced}
            judged += close(layout, release, source.name, views, yesterday, unbalanced_days)
    wrong = [f"{day.source} {day.day}: {day.reason}" for day in judged if not day.final]
    wrong += [finding.text for finding in unbalanced(said, now)]
    if wrong:
        raise DataRefused("\n".join(wrong))
    return len(judged)
