"""The web domain's page in the console: which numbers, which lists, and the chart, as an Altair specification."""

from typing import Any

import altair as alt

from domains.web import funnel
from penstock.model.page import Headline, Page, Report, TopList

SEEN = ("web.pageviews", "web.pageviews_by_region", "web.devices", "web.sources", "web.campaigns", "web.goals")
VISITS = ("web.visits",)


def over_time() -> dict[str, Any]:
    """The measure over time; the earlier period dashed, so that it reads without colour. Colours are the theme's.

    What was done to the lake stands as rules.
    """
    notes = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("bucket:T", title=None, axis=alt.Axis(tickCount=7, labelFlush=True, grid=False)),
        tooltip=[alt.Tooltip("said:N"), alt.Tooltip("shown:N"), alt.Tooltip("series:N")],
    )
    base = notes.encode(y=alt.Y("value:Q", title=None, stack=None, axis=alt.Axis(tickCount=4, labelExpr="datum.label")))
    now, over = alt.datum.series == "now", "datum.series === 'now' && !datum.open"
    layers = alt.layer(
        base.mark_area(interpolate="monotone", opacity=0.16).transform_filter(over),
        base.mark_line(interpolate="monotone", strokeWidth=2.2).transform_filter(over),
        base.mark_line(strokeWidth=2.2, strokeDash=[1, 4], strokeCap="round").transform_filter(
            alt.datum.series == "open"
        ),
        base.mark_line(interpolate="monotone", strokeWidth=1.4, strokeDash=[4, 4], opacity=0.75).transform_filter(
            alt.datum.series == "earlier"
        ),
        notes.mark_rule(strokeWidth=1.2, strokeDash=[5, 4]).transform_filter(alt.datum.series == "note"),
        base.mark_point(size=160, opacity=0).transform_filter(now),
    )
    return layers.properties(width="container", height=230).to_dict()


def users(name: str, title: str) -> Report:
    """Page views of users by one property of their profile."""
    return Report(
        name,
        title,
        "enriched",
        "web.views_by_user",
        f"Page views of users who were signed in, by the {name} that their profile named at the moment of the "
        "view: the last change up to then that says it. Late changes of a profile move the views after them. "
        "Exact.",
        {"views": "Page views", "users": "Users"},
        by=(name,),
        other="web.users",
    )


# Two stand side by side, so those that follow each other are about as tall.
REPORTS = (
    Report(
        "goals",
        "Conversions",
        "goals",
        "web.goals",
        "Custom events by name: how many, of how many visitors, and those visitors divided by all visitors who loaded "
        "a page in the range.",
        {"events": "Events", "visitors": "Visitors"},
        by=("name",),
        other="web.pageviews",
    ),
    Report(
        "funnel",
        "Funnel",
        "funnel",
        "web.funnel",
        f"{funnel.DOC} Each step with its share of all visits, and of the step before.",
        {"visits": "Visited", **dict(zip(funnel.NAMES, (words for words, _ in funnel.STEPS), strict=True))},
    ),
    Report(
        "experiments",
        "Experiments",
        "uplift",
        "web.experiments",
        "By how much a variant converts better than the first by name: the ratio of the two conversions less one, "
        "with its 95 % interval (Katz, of the ratio's logarithm). It is sure where the interval leaves out zero.",
        {"conversion": "Conversion"},
        by=("experiment", "variant"),
    ),
    Report(
        "retention",
        "Who comes back",
        "retention",
        "web.audience",
        "Visitors by the week, Monday to Sunday, in which a visit of theirs first started, of all the lake's time; and "
        "the share of them who visited in each week after. The eight weeks up to the end of the range; this week is "
        "not over.",
        {"visitors": "Visitors"},
    ),
    users("plan", "Plans of users"),
    Report(
        "people",
        "People",
        "people",
        "web.sessions",
        "Different visitor ids whose session started in the range, where ids that were ever said to be one person "
        "count once, also in chains. Exact. What is said today holds for the past too.",
        {},
        by=("a", "b"),
        other="web.same_person",
    ),
    users("region", "Regions of users"),
    Report(
        "unusual",
        "Unusual hours",
        "unusual",
        "web.pageviews",
        "Whole hours whose visitors are more than 3.5 usual spreads away from the median of the same hour, by the "
        "clock, of up to eight past weeks, at least three. The usual spread is 1.48 times the median absolute "
        "deviation, and at least the square root of the median.",
        {"visitors": "Visitors"},
    ),
)

PAGE = Page(
    title="Web",
    scope="site",
    headlines=(
        Headline("Unique visitors", "visitors", SEEN),
        Headline("Page views", "views", SEEN[:3]),
        Headline("Visits", "visits", VISITS),
        Headline("Pages per visit", "pages_per_visit", VISITS, "decimal"),
        Headline("Bounce rate", "bounce_rate", VISITS, "percent", "down"),
        Headline("Visit duration", "duration", VISITS, "seconds"),
    ),
    lists=(
        TopList("Pages", "Pages", "web.pageviews", "page", "visitors"),
        TopList("Pages", "Entry", "web.landings", "entry", "visits"),
        TopList("Pages", "Exit", "web.landings", "exit", "visits"),
        TopList("Sources", "Sources", "web.sources", "referrer_source", "visitors"),
        TopList("Sources", "Channels", "web.sources", "channel", "visitors"),
        TopList("Campaigns", "Campaigns", "web.campaigns", "utm_campaign", "visitors"),
        TopList("Campaigns", "Tagged sources", "web.campaigns", "utm_source", "visitors"),
        TopList("Campaigns", "Mediums", "web.campaigns", "utm_medium", "visitors"),
        TopList("Campaigns", "Contents", "web.campaigns", "utm_content", "visitors"),
        TopList("Campaigns", "Terms", "web.campaigns", "utm_term", "visitors"),
        TopList("Places", "Countries", "web.pageviews_by_region", "country", "visitors"),
        TopList("Places", "Regions", "web.pageviews_by_region", "region", "visitors"),
        TopList("Devices", "Devices", "web.devices", "device", "visitors"),
        TopList("Devices", "Browsers", "web.devices", "browser", "visitors"),
        TopList("Devices", "Systems", "web.devices", "os", "visitors"),
        TopList("Devices", "Screens", "web.screens", "screen", "visitors"),
        TopList("Places", "Languages", "web.screens", "language", "visitors"),
        TopList("Reading", "Scrolled", "web.engagement", "page", "scroll_pct", "decimal", "% of the page"),
        TopList("Reading", "Read for", "web.engagement", "page", "engaged_mean", "milliseconds", "a reading"),
        TopList(
            "Reading", "Usual load", "web.pageviews_by_region", "country", "load_p50", "milliseconds", "half load in"
        ),
        TopList("Reading", "Slowest", "web.pageviews_by_region", "country", "load_p95", "milliseconds", "95 % load in"),
        TopList("Reading", "Bots", "web.bots", "browser", "views"),
    ),
    chart=over_time(),
    live="web.pageviews",
    source="web.events",
    first_event={
        "type": "pageview",
        "site": "a.example",
        "visitor": "v1",
        "url": "https://a.example/",
    },
    reports=REPORTS,
)
