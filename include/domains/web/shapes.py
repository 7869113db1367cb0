"""Records of the web become facts, or are rejected by name. Pure: the same records give the same rows, always.

One statement of DuckDB's a batch: docs/decisions/0093-shapes-in-duckdb.md.
"""

from collections.abc import Sequence

import pyarrow as pa

from domains.web import addresses, reading
from domains.web.asking import asked
from domains.web.model import EVENTS, IDENTITIES, NUMBERS, OPTIONAL, REQUIRED, TYPES, USERS, UTM
from penstock.engine.shapes import OfTables

TEXTS = (*(field.name for field in (*REQUIRED, *OPTIONAL) if field.name not in NUMBERS), "timezone")
ALLOWED_TYPES = ", ".join(f"'{name}'" for name in TYPES)

# What the collector says of the sender's address; topics may be written to by others as well.
PLACE = "[A-Z]{2}(/.{1,100})?"
# Whoever names an agent that is not the request's own, or imports, speaks for somebody who is elsewhere.
PLACED = "told.country is null and agent is not distinct from user_agent and told.imported is distinct from 'true'"

ADDRESS_STEPS = [
    {"url_parts": addresses.parts("told.url"), "referrer_parts": addresses.parts("told.referrer")},
    {"sent": addresses.valid("url_parts"), "came": addresses.valid("referrer_parts")},
    {"host": addresses.host("sent"), "referrer_host": addresses.host("came"), "utm": addresses.tags("sent", UTM)},
]
KNOWN_STEPS = [
    {
        "agent": "coalesce(told.user_agent, user_agent)",
        "came_from": "coalesce(utm.utm_source, referrer_host)",
        "zone": "told.timezone",
    },
    {"by_agent": "known_agent(agent)", "by_referrer": "known_referrer(came_from)", "by_zone": "known_place(zone)"},
    {"place": f"if({PLACED} and regexp_full_match(client_place, '{PLACE}'), client_place, null)"},
]
CHANNEL = (
    "case when regexp_full_match(utm.utm_medium, '(?i)cpc|ppc|cpm|cpv|paid.*|display|retargeting') then 'Paid'"
    " when regexp_matches(utm.utm_medium, '(?i)^(e-?mail|newsletter)') then 'Email'"
    " when regexp_matches(utm.utm_medium, '(?i)social') then 'Social'"
    " when utm.utm_source is not null or utm.utm_campaign is not null then 'Campaign'"
    " when referrer_host = host then 'Internal' else by_referrer.channel end"
)


EVENT_FIELDS = reading.Fields(TEXTS, NUMBERS, ["props"])
USER_FIELDS = reading.Fields(["user", "region", "gender", "plan"])
IDENTITY_FIELDS = reading.Fields(["a", "b"])


def events(records: pa.Table) -> pa.Table:
    """Page views, engagement and custom events."""
    rules = {
        "unknown_type": f"told.type not in ({ALLOWED_TYPES})",
        "missing_name": "told.type = 'event' and coalesce(told.name, '') = ''",
        "bad_url": "host is null",
    }
    reason = reading.reason([field.name for field in REQUIRED], rules)
    return asked(records, [*EVENT_FIELDS.steps(), *ADDRESS_STEPS, *KNOWN_STEPS], reason, _event_columns())


def users(records: pa.Table) -> pa.Table:
    """Changes of profiles; properties that are absent did not change."""
    return _plain(records, USER_FIELDS, ["user", "happened_at"])


def identities(records: pa.Table) -> pa.Table:
    """Two ids of one person."""
    return _plain(records, IDENTITY_FIELDS, ["a", "b", "happened_at"])


def _plain(records: pa.Table, fields: reading.Fields, required: Sequence[str]) -> pa.Table:
    return asked(records, fields.steps(), reading.reason(required, {}), {"extra": fields.others()})


def _event_columns() -> dict[str, str]:
    """The columns that are not simply what was told. Of `utm` and `by_agent` each field is a column."""
    return {
        **{name: f"try_cast(trunc(try_cast(told.{name} as double)) as bigint)" for name in NUMBERS},
        "utm": "utm",
        "by_agent": "by_agent",
        "url": addresses.normalised("sent"),
        "host": "host",
        "page": addresses.path("sent"),
        "referrer": addresses.without_query("came"),
        "referrer_source": "if(utm.utm_source is null and referrer_host = host, 'Internal', by_referrer.source)",
        "channel": CHANNEL,
        "user_agent": "agent",
        "country": "coalesce(told.country, left(place, 2), by_zone.country)",
        # A time zone's part of the world says nothing of another country.
        "region": (
            "coalesce(told.region, nullif(substr(place, 4), ''),"
            " if(place is null or left(place, 2) = by_zone.country, by_zone.region, null))"
        ),
        "props": EVENT_FIELDS.flat("props"),
        "extra": EVENT_FIELDS.others(),
    }


SHAPES = {EVENTS.name: OfTables(events), USERS.name: OfTables(users), IDENTITIES.name: OfTables(identities)}
