"""Records of the web become facts, or are rejected by name. Pure: the same records give the same rows, always.

A statement of DuckDB's for a batch, and one for its addresses: docs/decisions/0093-shapes-in-duckdb.md.
"""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from domains.web import addresses, reading
from domains.web.asking import asked, asked_once, with_agents
from domains.web.model import EVENTS, IDENTITIES, NUMBERS, OPTIONAL, REQUIRED, TIME_REASONS, TYPES, USERS, UTM
from penstock.engine.shapes import OfTables

TEXTS = (*(field.name for field in (*REQUIRED, *OPTIONAL) if field.name not in NUMBERS), "timezone")
ALLOWED_TYPES = ", ".join(f"'{name}'" for name in TYPES)

# What the collector says of the sender's address; topics may be written to by others as well.
PLACE = "[A-Z]{2}(/.{1,100})?"
# Whoever names an agent that is not the request's own, or imports, speaks for somebody who is elsewhere.
PLACED = "told.country is null and agent is not distinct from user_agent and told.imported is distinct from 'true'"

ADDRESSES = ("url", "referrer")
ADDRESS_STEPS = [
    {"url_parts": addresses.parts("url"), "referrer_parts": addresses.parts("referrer")},
    {"sent": addresses.valid("url_parts"), "came": addresses.valid("referrer_parts")},
    {"host": addresses.host("sent"), "referrer_host": addresses.host("came"), "utm": addresses.tags("sent", UTM)},
    {"by_referrer": "known_referrer(coalesce(utm.utm_source, referrer_host))"},
]
KNOWN_STEPS = [
    {"agent": "coalesce(told.user_agent, user_agent)", "zone": "told.timezone"},
    {"by_zone": "known_place(zone)"},
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
# The columns that are not simply what was told. Of `utm` each field is a column.
EVENT_COLUMNS = {
    **{name: f"try_cast(trunc(try_cast(told.{name} as double)) as bigint)" for name in NUMBERS},
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
ADDRESS_COLUMNS = {
    "utm": "utm",
    "url": addresses.normalised("sent"),
    "host": "host",
    "page": addresses.path("sent"),
    "referrer": addresses.without_query("came"),
    "referrer_source": "if(utm.utm_source is null and referrer_host = host, 'Internal', by_referrer.source)",
    "channel": CHANNEL,
    # A rule, not a column of the facts.
    "bad_url": "host is null",
}
USER_FIELDS = reading.Fields(["user", "region", "gender", "plan"])
IDENTITY_FIELDS = reading.Fields(["a", "b"])


def events(records: pa.Table) -> pa.Table:
    """Page views, engagement and custom events."""
    rules = {
        "unknown_type": f"told.type not in ({ALLOWED_TYPES})",
        "missing_name": "told.type = 'event' and coalesce(told.name, '') = ''",
    }
    reason = reading.reason([field.name for field in REQUIRED], rules)
    rows = asked(records, [*EVENT_FIELDS.steps(), *KNOWN_STEPS], reason, EVENT_COLUMNS)
    # Addresses recur, and to look at one takes as long as to judge all else.
    return _placed(asked_once(with_agents(rows), ADDRESSES, ADDRESS_STEPS, ADDRESS_COLUMNS))


def _placed(rows: pa.Table) -> pa.Table:
    """An event is of a page, whose address is looked at before its time."""
    before_it = pc.invert(pc.or_(pc.is_null(rows["reason"]), pc.is_in(rows["reason"], pa.array(TIME_REASONS))))
    reason = pc.if_else(pc.and_not(rows["bad_url"], before_it), "bad_url", rows["reason"])
    return rows.set_column(rows.column_names.index("reason"), "reason", reason)


def users(records: pa.Table) -> pa.Table:
    """Changes of profiles; properties that are absent did not change."""
    return _plain(records, USER_FIELDS, ["user", "happened_at"])


def identities(records: pa.Table) -> pa.Table:
    """Two ids of one person."""
    return _plain(records, IDENTITY_FIELDS, ["a", "b", "happened_at"])


def _plain(records: pa.Table, fields: reading.Fields, required: Sequence[str]) -> pa.Table:
    return asked(records, fields.steps(), reading.reason(required, {}), {"extra": fields.others()})


SHAPES = {EVENTS.name: OfTables(events), USERS.name: OfTables(users), IDENTITIES.name: OfTables(identities)}
