"""What the names of agents, referrers and time zones mean. Pure functions of one text, remembered while it recurs."""

from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from ua_parser import parse

# More different texts than a busy epoch has; what falls out is parsed again (30 microseconds for an agent).
REMEMBERED = 20_000


class Agent(NamedTuple):
    browser: str
    os: str
    device: str
    bot: bool


class Referrer(NamedTuple):
    source: str
    channel: str


class Place(NamedTuple):
    country: str | None
    region: str | None


NOBODY = Agent("Unknown", "Unknown", "Unknown", False)
NOWHERE = Place(None, None)
DIRECT = Referrer("Direct", "Direct")

# Words in which tools that are no browser name themselves; ua-parser knows the crawlers by name.
BOT_WORDS = (
    *("bot", "crawl", "spider", "slurp", "headless", "lighthouse", "pingdom", "uptime", "monitor", "preview"),
    *("facebookexternal", "curl/", "wget/", "python-", "python/", "go-http", "java/", "okhttp", "axios"),
    *("node-fetch", "httpclient", "libwww", "scrapy"),
)

DESKTOPS = {"Windows", "Mac OS X", "Linux", "Ubuntu", "Fedora", "Debian", "Chrome OS", "FreeBSD", "OpenBSD"}

# How people call a place, the kind of place it is, and the labels by which its hosts are known.
PLACES = (
    ("Search", "Google:google Bing:bing DuckDuckGo:duckduckgo Yahoo:yahoo Baidu:baidu Ecosia:ecosia Yandex:yandex"),
    ("Search", "Qwant:qwant Startpage:startpage Brave:brave Kagi:kagi Naver:naver"),
    ("Social", "Facebook:facebook Instagram:instagram X:twitter LinkedIn:linkedin,lnkd Reddit:reddit Bluesky:bsky"),
    ("Social", "YouTube:youtube,youtu Pinterest:pinterest TikTok:tiktok Threads:threads Hacker_News:ycombinator"),
    ("Social", "Lobsters:lobste WhatsApp:whatsapp Telegram:telegram Discord:discord Mastodon:mastodon Medium:medium"),
    ("Email", "Outlook:outlook Proton_Mail:proton"),
    ("Assistant", "ChatGPT:chatgpt,openai Claude:claude Perplexity:perplexity Gemini:gemini"),
    ("Referral", "GitHub:github GitLab:gitlab Stack_Overflow:stackoverflow Wikipedia:wikipedia"),
)
BY_LABEL = {
    label: Referrer(name.replace("_", " "), channel)
    for channel, places in PLACES
    for name, labels in (place.split(":") for place in places.split())
    for label in labels.split(",")
}
# Hosts whose labels say something else, or too little.
BY_HOST = {
    "t.co": BY_LABEL["twitter"],
    "x.com": BY_LABEL["twitter"],
    "mail.google.com": Referrer("Gmail", "Email"),
    "com.google.android.gm": Referrer("Gmail", "Email"),
    "mail.yahoo.com": Referrer("Yahoo Mail", "Email"),
}


@lru_cache(REMEMBERED)
def agent(text: str) -> Agent:
    """Browser, system and device of a user agent. A bot is marked; nothing is dropped for it."""
    if not text:
        return NOBODY
    known = parse(text)
    browser = known.user_agent.family if known.user_agent else "Unknown"
    system = known.os.family if known.os else "Unknown"
    if (known.device and known.device.family == "Spider") or any(word in text.lower() for word in BOT_WORDS):
        return Agent(browser, system, "Bot", True)
    return Agent(_plain(browser), system, _device(text, system), False)


@lru_cache(REMEMBERED)
def referrer(host: str) -> Referrer:
    """How people call the place that a visitor came from: a known name, else the host without `www.`.

    A utm_source is such a name as well, however it is written.
    """
    if not host:
        return DIRECT
    if "." not in host:
        return BY_LABEL.get(host.lower(), Referrer(host, "Campaign"))
    if host in BY_HOST:
        return BY_HOST[host]
    labels = host.removeprefix("www.").split(".")
    # google.co.uk, old.reddit.com, news.ycombinator.com: the known label that is nearest to the suffix.
    known = [BY_LABEL[label] for label in labels[:-1] if label in BY_LABEL]
    return known[-1] if known else Referrer(".".join(labels), "Referral")


@lru_cache(REMEMBERED)
def place(zone: str) -> Place:
    """Country and part of the world of a browser's time zone."""
    country = _countries().get(zone)
    return Place(country, zone.partition("/")[0]) if country else NOWHERE


def _plain(browser: str) -> str:
    """Chrome Mobile is Chrome: the device is a column of its own."""
    return browser.replace(" Mobile", "").replace("Mobile ", "").replace(" iOS", "").replace("/WKWebView", "")


def _device(text: str, system: str) -> str:
    if "iPad" in text or "Tablet" in text or (system == "Android" and "Mobile" not in text):
        return "Tablet"
    if system in ("iOS", "Android") or "Mobile" in text:
        return "Phone"
    return "Desktop" if system in DESKTOPS else "Unknown"


@cache
def _countries() -> dict[str, str]:
    """The time zone database's own table: zone -> its (most populous) country."""
    lines = (files("tzdata") / "zoneinfo" / "zone1970.tab").read_text(encoding="utf-8").splitlines()
    modern = {row[2]: row[0].split(",")[0] for row in (line.split("\t") for line in lines if not line.startswith("#"))}
    lines = (files("tzdata") / "zoneinfo" / "zone.tab").read_text(encoding="utf-8").splitlines()
    # zone.tab has one country a zone and knows the zones that are links today, Europe/Stockholm among them.
    return modern | {row[2]: row[0] for row in (line.split("\t") for line in lines if not line.startswith("#"))}
