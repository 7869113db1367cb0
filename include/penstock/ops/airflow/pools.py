"""The pools that keep two cores from being asked for ten."""

# Pool -> slots and why.
POOLS = {
    "streams": (2, "Streaming drivers: one a group, for as long as its shift."),
    "builds": (1, "One build at a time: each takes every core there is."),
    "releases": (2, "Replays and switches: beside the live streams, with a share of their own."),
    "release_streams": (4, "Streams that keep other releases up to date."),
    "checks": (1, "Checks and upkeep wait for each other, never for a build."),
    "watch": (2, "A minute's look must not wait for anything."),
}


def create() -> None:
    """Makes what is missing; an operator's own number of slots stays."""
    from airflow.models.pool import Pool

    for name, (slots, why) in POOLS.items():
        if Pool.get_pool(name) is None:
            Pool.create_or_update_pool(name, slots, why, include_deferred=False)
