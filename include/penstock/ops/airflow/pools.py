"""The pools that keep two cores from being asked for ten."""

from penstock.model.group import REST, groups
from penstock.settings import Settings

DRIVER = "A streaming driver, for as long as its shift."
# Pool -> slots and why.
POOLS = {
    REST: (2, DRIVER),
    "builds": (1, "One build at a time: each takes every core there is."),
    "releases": (2, "Replays and switches: beside the live streams, with a share of their own."),
    "release_streams": (4, "Streams that keep other releases up to date."),
    "checks": (1, "Checks and upkeep wait for each other, never for a build."),
    "watch": (2, "A minute's look must not wait for anything."),
}


def wanted(settings: Settings) -> dict[str, tuple[int, str]]:
    """Each stream group has its own beside these."""
    return {**{each.name: POOLS[REST] for each in groups(settings.stream_groups)}, **POOLS}


def create(settings: Settings) -> None:
    """Makes what is missing; an operator's own number of slots stays."""
    from airflow.models.pool import Pool

    for name, (slots, why) in wanted(settings).items():
        if Pool.get_pool(name) is None:
            Pool.create_or_update_pool(name, slots, why, include_deferred=False)
