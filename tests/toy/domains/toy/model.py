"""What the toy domain knows: one source of small JSON events."""

from penstock.model.source import Field, Source

EVENTS = Source(
    "toy.events",
    key="who",
    fields=(
        Field("who", "string", "who did it", personal=True),
        Field("what", "string", "what was done"),
        Field("amount", "bigint", "how much of it"),
    ),
    reasons=("malformed", "missing_who", "bad_happened_at", "too_old", "in_future", "id_collision", "erased"),
    doc="Small events that tests send.",
    partitions=2,
)

SOURCES = (EVENTS,)
