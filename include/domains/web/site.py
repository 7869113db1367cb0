"""A believable site: its pages, where people come from, what they hold. Invented; weights are relative."""

SITES = {"harbour.example": 8, "docs.harbour.example": 2}

# Most visited first: the n-th is visited 1/n as often (Zipf).
PAGES = (
    ("/", "Harbour: boats for a day"),
    ("/boats", "Boats"),
    ("/boats/dinghy", "The dinghy"),
    ("/prices", "Prices"),
    ("/blog/tides-explained", "Tides, explained"),
    ("/boats/sloop", "The sloop"),
    ("/book", "Book a boat"),
    ("/blog/first-time-sailing", "Sailing for the first time"),
    ("/about", "About us"),
    ("/blog/reading-clouds", "Reading clouds"),
    ("/boats/catamaran", "The catamaran"),
    ("/courses", "Courses"),
    ("/contact", "Contact"),
    ("/blog/knots-in-ten-minutes", "Knots in ten minutes"),
    ("/weather", "Weather at the harbour"),
    ("/faq", "Questions"),
    ("/blog/night-sailing", "Night sailing"),
    ("/jobs", "Work with us"),
    ("/imprint", "Imprint"),
    ("/boats/rowing-boat", "The rowing boat"),
)

# time zone, language, weight, and the region that a server with a location database would add
PLACES = (
    ("Europe/Stockholm", "sv-SE", 22, "Västra Götaland"),
    ("Europe/Stockholm", "sv-SE", 14, "Stockholm"),
    ("Europe/Berlin", "de-DE", 16, "Hamburg"),
    ("Europe/Berlin", "de-DE", 7, "Schleswig-Holstein"),
    ("Europe/London", "en-GB", 12, "England"),
    ("Europe/Copenhagen", "da-DK", 9, "Hovedstaden"),
    ("America/New_York", "en-US", 9, "New York"),
    ("America/Los_Angeles", "en-US", 6, "California"),
    ("Europe/Paris", "fr-FR", 6, "Bretagne"),
    ("Asia/Tokyo", "ja-JP", 3, "Tokyo"),
    ("Australia/Sydney", "en-AU", 2, "New South Wales"),
)

# referrer, query of the landing page, weight
WAYS_IN = (
    (None, "", 36),
    ("https://www.google.com/", "", 26),
    ("https://www.bing.com/", "", 4),
    ("https://duckduckgo.com/", "", 5),
    ("https://www.reddit.com/r/sailing/", "", 5),
    ("https://t.co/a1b2c3", "", 3),
    ("https://sailing-club.example/links", "", 4),
    ("https://en.wikipedia.org/wiki/Dinghy", "", 2),
    ("https://chatgpt.com/", "", 3),
    (None, "utm_source=newsletter&utm_medium=email&utm_campaign=spring-fleet", 6),
    ("https://www.google.com/", "utm_source=google&utm_medium=cpc&utm_campaign=weekend-boats&gclid=x", 4),
    ("https://www.instagram.com/", "utm_source=instagram&utm_medium=social&utm_campaign=summer-reels", 3),
)
LAUNCH = ("https://news.ycombinator.com/", "")

_MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)"
_WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"
_CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0"
_SAFARI = "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0"
DEVICES = (
    (f"{_WINDOWS} {_CHROME} Safari/537.36", "1920x1080", 26),
    (f"{_WINDOWS} {_CHROME} Safari/537.36 Edg/141.0.0.0", "1536x864", 8),
    ("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0", "1920x1080", 6),
    (f"{_MAC} {_SAFARI} Safari/605.1.15", "1440x900", 9),
    (f"{_MAC} {_CHROME} Safari/537.36", "1728x1117", 7),
    ("Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", "2560x1440", 3),
    (f"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) {_SAFARI} Mobile/15E148 Safari/604.1", "390x844", 22),
    (f"Mozilla/5.0 (Linux; Android 14; Pixel 8) {_CHROME} Mobile Safari/537.36", "412x915", 16),
    (f"Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) {_SAFARI} Mobile/15E148 Safari/604.1", "820x1180", 3),
)
BOTS = (
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "GPTBot/1.2 (+https://openai.com/gptbot)",
    "curl/8.5.0",
)

# What people do besides looking: the page it happens on, its name, and how likely it is there.
GOALS = {
    "/book": ("booking", 0.35),
    "/prices": ("price list opened", 0.2),
    "/contact": ("message sent", 0.3),
    "/courses": ("course signup", 0.15),
}
PLANS = ("free", "crew", "captain")
