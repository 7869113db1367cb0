"""Records of the web become facts, or are rejected by name. Pure: the same records give the same rows, always.

Everything is built-in Spark SQL but the reading of agents, referrers and time zones, which goes through Arrow on the
different values of a batch (measured in docs/decisions/0071-reading-user-agents.md).
"""

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.functions import ArrowUDFType, arrow_udf
from pyspark.sql.pandas.types import to_arrow_type

from domains.web import addresses, known, reading
from domains.web.model import EVENTS, IDENTITIES, NUMBERS, OPTIONAL, REQUIRED, TYPES, USERS, UTM
from penstock.model.source import Source

KNOWN = T.StructType(
    [
        T.StructField(name, T.BooleanType() if name == "bot" else T.StringType())
        for name in (*known.Agent._fields, *known.Referrer._fields, *known.Place._fields)
    ]
)

EVENT_TEXTS = (*(field.name for field in (*REQUIRED, *OPTIONAL) if field.name not in NUMBERS), "timezone")
EVENT_NAMES = (*EVENT_TEXTS, *NUMBERS, "props")
ALLOWED_TYPES = ", ".join(f"'{name}'" for name in TYPES)

# What the collector says of the sender's address; topics may be written to by others as well.
PLACE = "^[A-Z]{2}(/.{1,100})?$"
# Whoever names an agent that is not the request's own, or imports, speaks for somebody who is elsewhere.
PLACED = "told.country is null and agent <=> user_agent and coalesce(told.imported, '') <> 'true'"

EVENT_STEPS = {
    "at_url": addresses.parts("told.url"),
    "at_referrer": addresses.parts("told.referrer"),
    "host": addresses.when_valid("at_url", addresses.host("at_url")),
    "referrer_host": addresses.when_valid("at_referrer", addresses.host("at_referrer")),
    "utm": addresses.tags("at_url", UTM),
    "agent": "coalesce(told.user_agent, user_agent)",
    "came_from": "coalesce(utm[0], referrer_host)",
    "place": f"if({PLACED} and client_place rlike '{PLACE}', client_place, null)",
}

CHANNEL = (
    "case when utm[1] rlike '(?i)^(cpc|ppc|cpm|cpv|paid.*|display|retargeting)$' then 'Paid'"
    " when utm[1] rlike '(?i)^(e-?mail|newsletter)' then 'Email' when utm[1] rlike '(?i)social' then 'Social'"
    " when utm[0] is not null or utm[2] is not null then 'Campaign'"
    " when referrer_host = host then 'Internal' else known.channel end"
)


def events(records: DataFrame) -> DataFrame:
    """Page views, engagement and custom events."""
    kinds = (EVENT_TEXTS, NUMBERS, ["props"])
    told = _told(records, EVENT_NAMES, reading.plain(*kinds), reading.wrong(*kinds), EVENT_STEPS)
    named = told.withColumn("known", known_by_name(F.col("agent"), F.col("came_from"), F.col("told.timezone")))
    rules = {
        "unknown_type": f"told.type not in ({ALLOWED_TYPES})",
        "missing_name": "told.type = 'event' and coalesce(told.name, '') = ''",
        "bad_url": "host is null",
    }
    return _facts(named, EVENTS, reading.reason([field.name for field in REQUIRED], rules), _event_columns())


def users(records: DataFrame) -> DataFrame:
    """Changes of profiles; properties that are absent did not change."""
    return _plain(records, USERS, ["user", "happened_at"], ["user", "region", "gender", "plan"])


def identities(records: DataFrame) -> DataFrame:
    """Two ids of one person."""
    return _plain(records, IDENTITIES, ["a", "b", "happened_at"], ["a", "b"])


SHAPES: dict[str, Callable[[DataFrame], DataFrame]] = {
    EVENTS.name: events,
    USERS.name: users,
    IDENTITIES.name: identities,
}


def _known_by_name(agents: pa.Array, referrers: pa.Array, zones: pa.Array) -> pa.Array:
    columns = _looked_up(agents, known.agent) + _looked_up(referrers, known.referrer) + _looked_up(zones, known.place)
    typed = [pa.array(values, to_arrow_type(field.dataType)) for values, field in zip(columns, KNOWN, strict=True)]
    return pa.StructArray.from_arrays(typed, KNOWN.names)


known_by_name = arrow_udf(_known_by_name, KNOWN, ArrowUDFType.SCALAR)


def _looked_up(values: pa.Array, meaning: Callable[[str], tuple[object, ...]]) -> list[list[object]]:
    """The columns of `meaning` for each value; it is asked once for each different one."""
    codes = values.fill_null("").dictionary_encode()
    meanings = [meaning(text) for text in codes.dictionary.to_pylist()]
    rows = [meanings[index] for index in codes.indices.to_pylist()]
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in meaning("")]


def _event_columns() -> dict[str, str]:
    """The columns that are not simply what was told."""
    return {
        **{name: f"try_cast(try_cast(told.{name} as double) as bigint)" for name in NUMBERS},
        **{name: f"utm[{index}]" for index, name in enumerate(UTM)},
        **{name: f"known.{name}" for name in ("browser", "os", "device", "bot")},
        "url": addresses.when_valid("at_url", addresses.normalised("at_url")),
        "host": "host",
        "page": addresses.when_valid("at_url", addresses.path("at_url")),
        "referrer": addresses.when_valid("at_referrer", addresses.without_query("at_referrer")),
        "referrer_source": "if(utm[0] is null and referrer_host = host, 'Internal', known.source)",
        "channel": CHANNEL,
        "user_agent": "agent",
        "country": "coalesce(told.country, left(place, 2), known.country)",
        # A time zone's part of the world says nothing of another country.
        "region": (
            "coalesce(told.region, nullif(substr(place, 4), ''),"
            " if(place is null or left(place, 2) = known.country, known.region, null))"
        ),
        "props": reading.flat("try_variant_get(document, '$[0].props', 'map<string,variant>')"),
        "extra": reading.others(EVENT_NAMES),
    }


def _plain(records: DataFrame, source: Source, required: Sequence[str], texts: Sequence[str]) -> DataFrame:
    told = _told(records, texts, reading.plain(texts), reading.wrong(texts, {}))
    return _facts(told, source, reading.reason(required, {}), {"extra": reading.others(texts)})


def _told(
    records: DataFrame, names: Sequence[str], plain: str, wrong: str, steps: Mapping[str, str] | None = None
) -> DataFrame:
    """Adds what the sender told, by name, the first field of a wrong type or size, and when it happened.

    A column may use those before it: one select is analysed in two thirds of the time of five.
    """
    added = {
        "document": reading.DOCUMENT,
        "arrived": reading.ARRIVED,
        "plain": plain,
        "told": reading.told(names),
        "wrong": wrong,
        "told_at": reading.TOLD_AT,
        **(steps or {}),
    }
    return records.selectExpr("*", *(f"{text} as {name}" for name, text in added.items()))


def _facts(told: DataFrame, source: Source, reason: str, columns: Mapping[str, str]) -> DataFrame:
    """The declared columns in the declared order, each as told unless `columns` says how it is made."""
    made = {field.name: columns.get(field.name, f"told.`{field.name}`") for field in source.fields}
    return told.selectExpr(
        "partition",
        "offset",
        # The engine keeps what it needs of the record itself: when the log took it, and its bytes.
        "logged_at",
        "value",
        "coalesce(told.event_id, event_id) as event_id",
        f"{reading.HAPPENED_AT} as happened_at",
        "arrived as received_at",
        f"{reason} as reason",
        f"{reading.FLAGS} as flags",
        *(f"{text} as `{name}`" for name, text in made.items()),
    )
