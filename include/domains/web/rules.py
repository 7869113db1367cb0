"""What the people who run a site want to be told of at once."""

from domains.web.model import EVENTS
from domains.web.views import PAGEVIEWS
from penstock.model.rule import Rule, Threshold
from penstock.model.source import Facts

SLOW = Rule(
    "web.slow_page",
    Facts(EVENTS, "type = 'pageview' and not bot and load_ms > 10000"),
    shows=("site", "page", "load_ms", "country", "device"),
    armed=True,
    doc="A page took more than ten seconds to load.",
)
PROBED = Rule(
    "web.probed",
    Facts(EVENTS, "type = 'pageview' and regexp_like(page, '^/(wp-admin|wp-login|[.]env|[.]git)')"),
    shows=("site", "page", "browser"),
    doc="Somebody looks for what is not there. Not armed: scanners come daily.",
)

CROWD = Threshold(
    "web.crowd",
    PAGEVIEWS,
    every="5 minutes",
    by=("site", "page"),
    where="views >= 1000",
    shows=("site", "page", "views", "visitors"),
    doc="A page was loaded a thousand times or more in five minutes. Not armed: how many are a crowd, each site knows.",
)

RULES = (SLOW, PROBED, CROWD)
