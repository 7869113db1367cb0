# ruff: noqa: S608 - the text is this module's own
"""Every web view as an analyst would write it in SQL over the facts: no partials, no sketches, no stitching."""

from collections.abc import Mapping

# Facts by name; the sessions in one pass over each visitor's facts.
SESSIONS = """
select site, visitor, min(happened_at) as started, max(happened_at) as ended,
    (epoch_us(max(happened_at)) // 1000000 - epoch_us(min(happened_at)) // 1000000)::bigint as seconds,
    count(*) filter (type = 'pageview') as views, count(*) filter (type = 'event') as events,
    arg_min(page, happened_at) as entry, arg_max(page, happened_at) as exit,
    arg_min(referrer_source, happened_at) as referrer_source, arg_min(channel, happened_at) as channel,
    arg_min(country, happened_at) as country, arg_min(device, happened_at) as device,
    min(happened_at) filter (type = 'pageview' and page like '/boats%') as step_1,
    min(happened_at) filter (type = 'pageview' and page = '/book') as step_2,
    min(happened_at) filter (type = 'event' and name = 'booking') as step_3
from (select *, count(*) filter (gap >= interval 30 minutes)
        over (partition by site, visitor order by happened_at rows unbounded preceding) as number
    from (select *, happened_at - lag(happened_at) over (partition by site, visitor order by happened_at) as gap
        from facts where not bot))
group by site, visitor, number
"""
# Changes of a profile that were told before the view: `turn` counts what was told, of whatever source.
PROFILED = """
select f.*, (select arg_max(u.region, (u.happened_at, u.event_id)) from users u
        where u."user" = f."user" and u.turn < f.turn and u.region is not null) as user_region,
    (select arg_max(u.plan, (u.happened_at, u.event_id)) from users u
        where u."user" = f."user" and u.turn < f.turn and u.plan is not null) as user_plan
from facts f
"""
VISITS = (
    "count(*) as visits, count(*) filter (views = 1 and events = 0) as bounces, bounces / visits as bounce_rate, "
    "avg(seconds) as duration, sum(views)::double as views, sum(views) / visits as pages_per_visit"
)
VIEWS, VISITORS = "count(*) as views", "count(distinct visitor)::double as visitors"
SEEN = "type = 'pageview' and not bot"
# View: what it is asked by, its numbers, and the rows that it counts.
TALLIES: Mapping[str, tuple[str, str, str]] = {
    "web.pageviews": ("site, page", f"{VIEWS}, {VISITORS}", f"facts where {SEEN}"),
    "web.pageviews_by_region": (
        "site, country, region",
        f"{VIEWS}, {VISITORS}",
        f"facts where {SEEN}",
    ),
    "web.views_by_user": (
        'site, "user"',
        f"{VIEWS}, arg_max(page, happened_at) as last_page",
        f'facts where {SEEN} and "user" is not null',
    ),
    "web.views_by_profile": (
        "site, user_region, user_plan",
        f'{VIEWS}, count(distinct "user")::double as users',
        f'profiled where {SEEN} and "user" is not null',
    ),
    "web.visits": ("site", VISITS, "sessions"),
    "web.landings": ("site, entry, exit", VISITS, "sessions"),
    "web.funnel": (
        "site, channel, device",
        "count(*) as visits, count(step_1) as step_1, count(*) filter (step_2 >= step_1) as step_2, "
        "count(*) filter (step_2 >= step_1 and step_3 >= step_2) as step_3, "
        "count(*) filter (step_2 >= step_1 and step_3 >= step_2) / count(*) as conversion",
        "sessions",
    ),
    "web.audience": ("site", VISITORS, "sessions"),
    "web.sources": (
        "site, referrer_source, channel",
        f"count(*) as arrivals, {VISITORS}",
        f"facts where {SEEN} and channel <> 'Internal'",
    ),
    "web.campaigns": (
        "site, utm_campaign, utm_source, utm_medium, utm_term, utm_content",
        f"count(*) as arrivals, {VISITORS}",
        f"facts where {SEEN} and utm_campaign is not null",
    ),
    "web.devices": ("site, device, browser, os", f"{VIEWS}, {VISITORS}", f"facts where {SEEN}"),
    "web.screens": ("site, screen, language", f"{VIEWS}, {VISITORS}", f"facts where {SEEN}"),
    "web.goals": ("site, name", f"count(*) as events, {VISITORS}", "facts where type = 'event' and not bot"),
    "web.engagement": (
        "site, page",
        "count(*) as reports, sum(engaged_ms)::double as engaged_ms, sum(engaged_ms) / count(*) as engaged_mean, "
        "avg(scroll_pct) as scroll_pct",
        "facts where type = 'engagement' and not bot",
    ),
    "web.experiments": (
        "site, experiment, variant",
        f"{VISITORS}, count(distinct visitor) filter (type = 'event')::double as converted, "
        "count(distinct visitor) filter (type = 'event') / count(distinct visitor) as conversion",
        "facts where not bot and experiment is not null",
    ),
    "web.bots": ("site, browser", VIEWS, "facts where type = 'pageview' and bot"),
}
ROWS: Mapping[str, str] = {
    "web.sessions": "select * from sessions",
    "web.same_person": "select a, b, max(happened_at) as at, arg_max(event_id, happened_at) as event_id "
    "from identities group by a, b",
}
# Quantiles of a sketch have an error of rank; the laws test them (tests/factories/laws.py).
NOT_EXACT = ("load_p50", "load_p95")


def tally(view: str, every: str = "") -> str:
    """The question of a view by all its keys; with `every`, of each such bucket of UTC as well."""
    keys, numbers, rows = TALLIES[view]
    moment = "started" if rows == "sessions" else "happened_at"
    bucket = f"date_trunc('{every}', {moment}) as bucket, " if every else ""
    tables = f"with sessions as ({SESSIONS}), profiled as ({PROFILED})"
    return f"{tables} select {bucket}{keys}, {numbers} from {rows} group by all order by all"


def by_key(view: str) -> str:
    return f"with sessions as ({SESSIONS}) {ROWS[view]} order by all"
