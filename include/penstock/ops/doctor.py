"""What a machine must have and whether it has it: one finding a line, each with the command that mends it."""

import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from penstock.collect.places import opened
from penstock.model.domain import domains
from penstock.ops.setup import jars, java
from penstock.ops.stack import database, orphans, ports
from penstock.ops.stack import home as homes
from penstock.ops.stack.parts import parts
from penstock.refusal import Refusal
from penstock.settings import SettingError, Settings

GB = 2**30
# Measured: 1 GB for broker and Airflow at rest, 1.5 GB for a streaming driver, and room for one build.
MEMORY = 4 * GB
# A day of a small site, logs and Kafka's segments.
DISK = 2 * GB
# File systems and clocks round.
CLOCK = 5.0


@dataclass(frozen=True)
class Finding:
    """`told` is what is there; `mend` the command that puts it right, empty when all is well."""

    check: str
    told: str
    mend: str = ""

    @property
    def well(self) -> bool:
        return not self.mend


def examine(settings: Settings, deep: bool = False) -> Iterator[Finding]:
    """Every check, in the order in which one would mend. `deep` reads every row of the lake."""
    for check in CHECKS:
        yield check(settings)
    yield from lake(settings, deep)


def lake(settings: Settings, deep: bool) -> Iterator[Finding]:
    """Tables that were dropped or damaged, with what it costs to rebuild them."""
    from penstock.engine.damage import damages
    from penstock.lake.layout import Layout

    found = list(damages(Layout(settings.lake), settings.kafka, deep))
    yield from (Finding("lake", f"{each.table} {each.told}; {each.cost}", each.mend) for each in found)
    if not found:
        yield Finding("lake", "nothing is missing" if deep else "nothing is missing; --deep reads every row too")


def checkpoints(settings: Settings) -> Iterator[Finding]:
    """Each stream's checkpoint, of every release that is kept up: whether it can be resumed from."""
    from penstock.engine.checkpoints import examine, places
    from penstock.lake.layout import Layout
    from penstock.lake.releases import kept

    layout = Layout(settings.lake)
    # The archive's is the same in every release: the oldest one has it.
    every = {
        place.checkpoint: (place, release)
        for domain in domains().values()
        for release in reversed(kept(layout, domain.name))
        for source in domain.sources
        for place in places(layout, source.name, release)
    }
    for place, release in every.values():
        wrong = examine(place)
        mend = f"penstock checkpoints rebuild --release {release}" if wrong else ""
        yield Finding("checkpoint", f"{place.job} of {release}: {wrong or 'well'}", mend)


def python(_settings: Settings) -> Finding:
    right = (3, 11) <= sys.version_info[:2] <= (3, 13)
    return Finding("python", platform.python_version(), "" if right else "make clean setup PENSTOCK_PYTHON=python3.12")


def java_version(_settings: Settings) -> Finding:
    found = java.installed()
    told = str(found) if found else "not on PATH"
    return Finding("java", told, "" if found >= java.NEEDED else "apt-get install openjdk-17-jre-headless")


def memory(_settings: Settings) -> Finding:
    total = psutil.virtual_memory().total
    # A machine of "4 GB" shows a little less.
    enough = total >= 0.9 * MEMORY
    told = f"{total / GB:.1f} GB, {psutil.virtual_memory().available / GB:.1f} GB of it free"
    return Finding("memory", told, "" if enough else "export PENSTOCK_SPARK_MASTER='local[1]' # or a machine of 4 GB")


def disk(settings: Settings) -> Finding:
    there = next(folder for folder in (settings.home, *settings.home.parents) if folder.is_dir())
    free = shutil.disk_usage(there).free
    mend = "" if free >= DISK else "export PENSTOCK_HOME=/a/folder/on/a/bigger/disk"
    return Finding("disk", f"{free / GB:.1f} GB free at {there}", mend)


def packages(_settings: Settings) -> Finding:
    """Both packages write the same files: with two versions one has overwritten the other."""
    try:
        told = {name: version(name) for name in ("pyspark", "pyspark-client")}
    except PackageNotFoundError as missing:
        return Finding("packages", f"{missing.name} is not installed", "make setup")
    same = len(set(told.values())) == 1
    return Finding(
        "packages", ", ".join(f"{name} {number}" for name, number in told.items()), "" if same else "make setup"
    )


def jar_hashes(_settings: Settings) -> Finding:
    wrong = jars.wrong(Path(sys.prefix, "share", "penstock", "jars"))
    told = (
        f"{wrong[0]} is missing or changed (and {len(wrong) - 1} more)" if wrong else f"{len(jars.pinned())} as pinned"
    )
    # The stamp must go, as it says that all was well.
    return Finding("jars", told, "rm -f .venv/.set-up && make setup" if wrong else "")


def home(settings: Settings) -> Finding:
    if not (settings.home / "home.json").is_file():
        return Finding("home", f"{settings.home} is made at the first start")
    try:
        homes.open_home(settings.home)
    except Refusal as refusal:
        return Finding("home", str(refusal), "export PENSTOCK_HOME=/another/folder")
    return Finding("home", str(settings.home))


def open_ports(settings: Settings) -> Finding:
    place = known(settings)
    if place and place.lives():
        return Finding("ports", "held by the stack of this home")
    taken = ports.taken(parts(settings))
    return Finding(
        "ports", " ".join(taken) or "free", "export PENSTOCK_<PART>_PORT=… # as named before" if taken else ""
    )


def airflows_database(settings: Settings) -> Finding:
    if not settings.database:
        return Finding("database", "SQLite in the home")
    why = database.wrong(settings.database)
    return Finding(
        "database", why or "PostgreSQL answers", f"export PENSTOCK_DATABASE='{database.EXAMPLE}'" if why else ""
    )


def places(settings: Settings) -> Finding:
    if not settings.places:
        return Finding("places", "countries are told by time zones")
    try:
        told = opened(settings.places).metadata()
    except SettingError as error:
        return Finding("places", str(error), "export PENSTOCK_PLACES=/a/GeoLite2-City.mmdb # or unset it")
    return Finding("places", f"{told.database_type} of {date.fromtimestamp(told.build_epoch)}")


def clock(settings: Settings) -> Finding:
    """A clock that was put back makes new events look late and tokens invalid."""
    newest = max((path.stat().st_mtime for path in settings.home.glob("*/*")), default=0.0)
    ahead = newest - time.time()
    told = f"{ahead:.0f} s behind the newest file of the home" if ahead > CLOCK else "not behind any file of the home"
    return Finding("clock", told, "timedatectl set-ntp true" if ahead > CLOCK else "")


def stray(settings: Settings) -> Finding:
    place = known(settings)
    if place is None or place.lives():
        return Finding("processes", "none astray")
    left = [each.pid for each in orphans.processes(place.stack)]
    told = f"{len(left)} without a supervisor: {left}" if left else "none astray"
    return Finding("processes", told, "penstock down" if left else "")


def known(settings: Settings) -> homes.Home | None:
    """The home, if there is one that can be read. A doctor makes none."""
    try:
        return homes.open_home(settings.home) if (settings.home / "home.json").is_file() else None
    except Refusal:
        return None


CHECKS: tuple[Callable[[Settings], Finding], ...] = (
    python, java_version, memory, disk, packages, jar_hashes, home, open_ports, airflows_database, places, clock, stray,
)  # fmt: skip
