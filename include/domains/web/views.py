"""The questions that the web domain answers, each defined once. docs/metrics.md has the same words as `doc`."""

from dataclasses import replace

from domains.web import funnel
from domains.web.model import (
    ARRIVAL,
    BOTS,
    CAMPAIGN,
    CUSTOM,
    ENGAGEMENT,
    EXPERIMENT,
    PAGEVIEW,
    PROFILED,
    SAME_PERSON,
    SIGNED_IN,
    VISITS,
)
from penstock.model.measure import Measure
from penstock.model.measures import count, distinct, first, last, mean, quantile, ratio, theta, total
from penstock.model.view import Latest, Sessions, Tally, View


def said(doc: str, measure: Measure) -> Measure:
    """A measure with the words that people read."""
    return replace(measure, doc=doc)


VIEWS_SEEN = said("Pages that people loaded; known bots are not people.", count())
VISITORS = said(
    "Different visitor ids: exact while few, then by a sketch with 1.6 % standard error. Adds up over any range.",
    distinct("visitor"),
)

PAGEVIEWS = Tally(
    "web.pageviews",
    of=PAGEVIEW,
    by=("site", "page"),
    measures={"views": VIEWS_SEEN, "visitors": VISITORS},
    doc="Page views by site and page. A page is the path of its address, without query and trailing slash.",
)

PAGEVIEWS_BY_REGION = Tally(
    "web.pageviews_by_region",
    of=PAGEVIEW,
    by=("site", "country", "region"),
    measures={
        "views": VIEWS_SEEN,
        "visitors": VISITORS,
        "load_p50": said("Half of the page views loaded faster than this, in ms.", quantile("load_ms", 0.5)),
        "load_p95": said("19 of 20 page views loaded faster than this, in ms.", quantile("load_ms", 0.95)),
    },
    doc="Page views by where the visitor is: as the sender says, else by address or time zone.",
)

VIEWS_BY_USER = Tally(
    "web.views_by_user",
    of=SIGNED_IN,
    by=("site", "user"),
    measures={"views": VIEWS_SEEN, "last_page": said("The page that the user loaded last.", last("page"))},
    every="1 hour",
    doc="Page views of users who were signed in.",
)

VIEWS_BY_PROFILE = Tally(
    "web.views_by_profile",
    of=PROFILED,
    by=("site", "user_region", "user_plan"),
    measures={"views": VIEWS_SEEN, "users": said("Different users: as visitors are counted.", distinct("user"))},
    doc="Page views of users who were signed in, by what their profile had said when the view was taken in. A change "
    "that comes later counts for what comes after it.",
)

SESSIONS = Sessions(
    "web.sessions",
    of=VISITS,
    key=("site", "visitor"),
    measures={
        "views": said("Pages loaded in the session.", count("type = 'pageview'")),
        "events": said("Custom events in the session.", count("type = 'event'")),
        "entry": said("The first page of the session.", first("page")),
        "exit": said("The last page of the session.", last("page")),
        "referrer_source": said("Where the session came from.", first("referrer_source")),
        "channel": said("The kind of source the session came from.", first("channel")),
        "country": said("Where the visitor was.", first("country")),
        "device": said("What the visitor held.", first("device")),
        **funnel.moments(),
    },
    gap="30 minutes",
    doc="What one visitor did on one site without 30 minutes of silence. A late event corrects its session.",
)

VISIT_MEASURES = {
    "visits": said("Sessions that started.", count()),
    "bounces": said("Sessions with one page view and no custom event.", count("views = 1 and events = 0")),
    "bounce_rate": said("Bounces divided by visits.", ratio("bounces", "visits")),
    "duration": said("Mean seconds from a session's first to its last event.", mean("seconds")),
    "views": said("Page views in these sessions.", total("views")),
    "pages_per_visit": said("Page views divided by visits.", ratio("views", "visits")),
}

VISITS_BY_SITE = Tally(
    "web.visits",
    of=SESSIONS,
    by=("site",),
    measures=VISIT_MEASURES,
    at="started",
    doc="Sessions by site, counted at the time they started.",
)

LANDINGS = Tally(
    "web.landings",
    of=SESSIONS,
    by=("site", "entry", "exit"),
    measures=VISIT_MEASURES,
    at="started",
    every="1 hour",
    doc="Sessions by the page they began on and the page they ended on.",
)

FUNNEL = Tally(
    "web.funnel",
    of=SESSIONS,
    by=("site", "channel", "device"),
    measures={
        "visits": said("Sessions that started.", count()),
        **funnel.reached(),
        "conversion": said("Sessions that came to the last step, divided by visits.", ratio(funnel.LAST, "visits")),
    },
    at="started",
    every="1 hour",
    doc=funnel.DOC,
)

AUDIENCE = Tally(
    "web.audience",
    of=SESSIONS,
    by=("site",),
    measures={
        "visitors": said(
            "Different visitor ids whose session started: a theta sketch, exact up to 4,096, then 1.6 % error.",
            theta("visitor"),
        ),
    },
    at="started",
    every="1 hour",
    doc="Visitors by site as sets that can be compared: who came back, who is new.",
)

SAME = Latest(
    "web.same_person",
    of=SAME_PERSON,
    key=("a", "b"),
    columns=("event_id",),
    doc="Every pair of ids that was said to be one person, and when it was said last.",
)

SOURCES = Tally(
    "web.sources",
    of=ARRIVAL,
    by=("site", "referrer_source", "channel"),
    measures={
        "arrivals": said("Page views that came from outside the site, or from nowhere that is known.", count()),
        "visitors": VISITORS,
    },
    doc="Where visitors come from: utm_source, else the referrer, else Direct. Links within a site are left out.",
)

CAMPAIGNS = Tally(
    "web.campaigns",
    of=CAMPAIGN,
    by=("site", "utm_campaign", "utm_source", "utm_medium", "utm_term", "utm_content"),
    measures={"arrivals": said("Page views whose address names the campaign.", count()), "visitors": VISITORS},
    doc="Page views by the utm_ tags of their address.",
)

DEVICES = Tally(
    "web.devices",
    of=PAGEVIEW,
    by=("site", "device", "browser", "os"),
    measures={"views": VIEWS_SEEN, "visitors": VISITORS},
    doc="Page views by device, browser and system, as the user agent says.",
)

SCREENS = Tally(
    "web.screens",
    of=PAGEVIEW,
    by=("site", "screen", "language"),
    measures={"views": VIEWS_SEEN, "visitors": VISITORS},
    every="1 hour",
    doc="Page views by the screen's size and the browser's first language, as the tracker says them.",
)

GOALS = Tally(
    "web.goals",
    of=CUSTOM,
    by=("site", "name"),
    measures={"events": said("Custom events.", count()), "visitors": VISITORS},
    doc="Custom events by name. A conversion rate is the visitors of a goal divided by the visitors of the site.",
)

ENGAGED = Tally(
    "web.engagement",
    of=ENGAGEMENT,
    by=("site", "page"),
    measures={
        "reports": said("Engagement events: one or more for a page view.", count()),
        "engaged_ms": said("Milliseconds in which pages were in front and looked at.", total("engaged_ms")),
        "engaged_mean": said(
            "Milliseconds divided by reports: a reading of a page. Whoever leaves the tab and comes back reads twice.",
            ratio("engaged_ms", "reports"),
        ),
        "scroll_pct": said("Mean of how far pages were scrolled, in percent.", mean("scroll_pct")),
    },
    doc="How long and how far pages were read.",
)

EXPERIMENTS = Tally(
    "web.experiments",
    of=EXPERIMENT,
    by=("site", "experiment", "variant"),
    measures={
        "visitors": said("Different visitors who were shown the variant.", theta("visitor")),
        "converted": said("Those of them who sent a custom event.", theta("visitor", "type = 'event'")),
        "conversion": said("Converted divided by visitors.", ratio("converted", "visitors")),
    },
    every="1 hour",
    doc="Conversion by variant of an A/B experiment.",
)

BOTS_BY_NAME = Tally(
    "web.bots",
    of=BOTS,
    by=("site", "browser"),
    measures={"views": said("Pages that known bots loaded.", count())},
    doc="Page views of known bots, which no other view counts.",
)

VIEWS: tuple[View, ...] = (
    PAGEVIEWS,
    PAGEVIEWS_BY_REGION,
    VIEWS_BY_USER,
    VIEWS_BY_PROFILE,
    SESSIONS,
    VISITS_BY_SITE,
    LANDINGS,
    FUNNEL,
    AUDIENCE,
    SAME,
    SOURCES,
    CAMPAIGNS,
    DEVICES,
    SCREENS,
    GOALS,
    ENGAGED,
    EXPERIMENTS,
    BOTS_BY_NAME,
)
