"""The web domain's page in the console: which numbers, which lists, and the chart, as an Altair specification."""

from typing import Any

import altair as alt

from penstock.model.page import Headline, Page, TopList

SEEN = ("web.pageviews", "web.pageviews_by_region", "web.devices", "web.sources", "web.campaigns", "web.goals")
VISITS = ("web.visits",)


def over_time() -> dict[str, Any]:
    """The measure over time; the earlier period dashed, so that it reads without colour. Colours are the theme's."""
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("bucket:T", title=None, axis=alt.Axis(tickCount=7, labelFlush=True, grid=False)),
        y=alt.Y("value:Q", title=None, stack=None, axis=alt.Axis(tickCount=4, labelExpr="datum.label")),
        tooltip=[alt.Tooltip("said:N"), alt.Tooltip("shown:N")],
    )
    now = alt.datum.series == "now"
    layers = alt.layer(
        base.mark_area(interpolate="monotone", opacity=0.16).transform_filter(now),
        base.mark_line(interpolate="monotone", strokeWidth=2.2).transform_filter(now),
        base.mark_line(interpolate="monotone", strokeWidth=1.4, strokeDash=[4, 4], opacity=0.6).transform_filter(
            alt.datum.series == "earlier"
        ),
        base.mark_point(size=160, opacity=0).transform_filter(now),
    )
    return layers.properties(width="container", height=230).to_dict()


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
        TopList("Sources", "Campaigns", "web.campaigns", "utm_campaign", "visitors"),
        TopList("Places", "Countries", "web.pageviews_by_region", "country", "visitors"),
        TopList("Places", "Regions", "web.pageviews_by_region", "region", "visitors"),
        TopList("Devices", "Devices", "web.devices", "device", "visitors"),
        TopList("Devices", "Browsers", "web.devices", "browser", "visitors"),
        TopList("Devices", "Systems", "web.devices", "os", "visitors"),
        TopList("Goals", "Goals", "web.goals", "name", "visitors"),
        TopList("Goals", "Experiments", "web.experiments", "variant", "conversion", "percent"),
        TopList("Reading", "Scrolled", "web.engagement", "page", "scroll_pct", "decimal"),
        TopList("Reading", "Slowest", "web.pageviews_by_region", "country", "load_p95", "milliseconds"),
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
)
