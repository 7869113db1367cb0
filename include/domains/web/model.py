"""What the web domain knows: page views, engagement and custom events; profiles; who is the same person.

Contract fields are what senders may say; derived fields are what the shape makes of them.
"""

from penstock.model.source import Enriched, Facts, Field, Source

TYPES = ("pageview", "engagement", "event")
# Number fields with the largest value that is believed (times: a day).
NUMBERS = {"load_ms": 86_400_000, "engaged_ms": 86_400_000, "scroll_pct": 100}
UTM = ("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content")

# What a sender may say of an event, with the longest text that is believed.
REQUIRED = (
    Field("type", doc="pageview, engagement or event"),
    Field("site", doc="the site that was visited"),
    Field("visitor", doc="an id that the site chose for a browser", personal=True, subject=True),
    Field("url", doc="the absolute address, normalised"),
)
OPTIONAL = (
    Field("user", doc="who was signed in", personal=True, subject=True),
    Field("referrer", doc="the address before this one, normalised", personal=True),
    Field("title", doc="the page's title"),
    Field("language", doc="the browser's first language"),
    Field("screen", doc="width x height"),
    Field("user_agent", doc="as sent, else the request's header", personal=True),
    Field("load_ms", "bigint", "milliseconds until the page had loaded"),
    Field("engaged_ms", "bigint", "milliseconds in which the page was looked at"),
    Field("scroll_pct", "bigint", "how far the page was scrolled, 0 to 100"),
    Field("experiment", doc="the A/B experiment the visitor is in"),
    Field("variant", doc="the variant that was shown"),
    Field("name", doc="the custom event's name"),
    Field("country", doc="where the visitor is: as sent, else by address or time zone"),
    Field("region", doc="part of the country or of the world: as sent, else by address or time zone"),
)
DERIVED = (
    Field("host", doc="of the url"),
    Field("page", doc="the url's path"),
    Field("referrer_source", doc="the referrer by name (Google, Hacker News, a host), or Direct"),
    Field("channel", doc="Direct, Search, Social, Email, Paid, Campaign, Internal or Referral"),
    *(Field(name, doc="of the url's query") for name in UTM),
    Field("browser", doc="family, of the user agent"),
    Field("os", doc="family, of the user agent"),
    Field("device", doc="Desktop, Phone, Tablet, Bot or Unknown"),
    Field("bot", "boolean", "a known bot; marked, never dropped"),
    Field("props", "map<string,string>", "the custom event's properties"),
    Field("extra", "map<string,string>", "fields that the contract does not know", personal=True),
)

# Reasons that any source may refuse a record for; the last three are the engine's to give.
TIME_REASONS = ("bad_happened_at", "too_old", "in_future")
ENGINE_REASONS = ("id_collision", "retracted", "erased")


def _reasons(required: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    missing = tuple(f"missing_{name}" for name in required)
    bad = tuple(f"bad_{name}" for name in (*required, *others, "event_id"))
    return ("malformed", *missing, *bad, *TIME_REASONS, *ENGINE_REASONS)


EVENTS = Source(
    "web.events",
    key="visitor",
    fields=(*REQUIRED, *OPTIONAL, *DERIVED),
    reasons=(
        "unknown_type",
        *_reasons(tuple(field.name for field in REQUIRED), (*(field.name for field in OPTIONAL), "timezone", "props")),
        "missing_name",
    ),
    doc="Page views, engagement and custom events, from tracker.js or from servers.",
)

USERS = Source(
    "web.users",
    key="user",
    fields=(
        Field("user", doc="whose profile changed", personal=True, subject=True),
        Field("region", doc="where the user says they live"),
        Field("gender", doc="as the user says", personal=True),
        Field("plan", doc="what the user pays for"),
        Field("extra", "map<string,string>", "other properties of the profile", personal=True),
    ),
    reasons=(*_reasons(("user",), ("region", "gender", "plan")), "missing_happened_at"),
    doc="Changes of users' profiles; a property that is absent did not change.",
)

IDENTITIES = Source(
    "web.identities",
    key="a",
    fields=(
        Field("a", doc="one id", personal=True, subject=True),
        Field("b", doc="another id of the same person", personal=True, subject=True),
        Field("extra", "map<string,string>", "fields that the contract does not know", personal=True),
    ),
    reasons=(*_reasons(("a", "b"), ()), "missing_happened_at"),
    doc="Statements that two ids are the same person.",
)

SOURCES = (EVENTS, USERS, IDENTITIES)

# Bots stay in silver, so that a later rule can judge them again; people are what views count.
_SEEN = "type = 'pageview' and not bot"
PAGEVIEW = Facts(EVENTS, _SEEN)
SIGNED_IN = Facts(EVENTS, f"{_SEEN} and user is not null")
PROFILED = Enriched(
    EVENTS,
    SIGNED_IN.where,
    said=Facts(USERS),
    key="user",
    on="user",
    columns={"user_region": "region", "user_plan": "plan"},
)
ARRIVAL = Facts(EVENTS, f"{_SEEN} and channel <> 'Internal'")
CAMPAIGN = Facts(EVENTS, f"{_SEEN} and utm_campaign is not null")
ENGAGEMENT = Facts(EVENTS, "type = 'engagement' and not bot")
CUSTOM = Facts(EVENTS, "type = 'event' and not bot")
VISITS = Facts(EVENTS, "not bot")
EXPERIMENT = Facts(EVENTS, "not bot and experiment is not null")
BOTS = Facts(EVENTS, "type = 'pageview' and bot")
SAME_PERSON = Facts(IDENTITIES)
