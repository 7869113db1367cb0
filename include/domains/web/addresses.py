"""One address, one spelling: how a URL is split and normalised, as DuckDB's SQL.

Scheme and host in lower case, no default port, no user or password, no fragment, no trailing slash, no trackers'
parameters, the others in order. Normalising twice changes nothing (property-tested).
"""

from collections.abc import Sequence

PARTS = ("scheme", "host", "port", "path", "query")
_HOST = r"\s\x0b/?#:@\\<>\x22\x27\[\]"
SPLIT = (
    rf"^((?i:https?|android-app))://(?:[^\s\x0b/?#@]*@)?([^.{_HOST}][^{_HOST}]*|\[[0-9a-fA-F:.]+\])"
    r"(?::([0-9]{0,5}))?((?:/[^\s\x0b?#]*)?)(?:\?([^\s\x0b#]*))?(?:#(?s:.*))?\z"
)
TRACKER = (
    "(utm_[a-z_]+|gclid|gbraid|wbraid|gclsrc|dclid|fbclid|msclkid|yclid|ttclid|twclid|igshid|li_fat_id|mc_cid|mc_eid"
    "|_ga|_gl|_hsenc|_hsmi|mkt_tok|srsltid)(=.*)?"
)
DEFAULT_PORTS = "'http', 'https', 'android-app', 'http80', 'https443'"
LONGEST_TAG = 300


def parts(address: str) -> str:
    """The parts of an address as it was sent; each is empty if it is no absolute address."""
    names = ", ".join(f"'{name}'" for name in PARTS)
    return f"regexp_extract(replace(trim({address}), ' ', '%20'), '{SPLIT}', [{names}])"


def valid(at: str) -> str:
    """The parts; null if it is no absolute address, and then so is whatever is made of them."""
    return f"if({at}.scheme = '', null, {at})"


def host(at: str) -> str:
    return f"rtrim(lower({at}.host), '.')"


def path(at: str) -> str:
    return f"'/' || trim({at}.path, '/')"


def without_query(at: str) -> str:
    scheme = f"lower({at}.scheme)"
    port = f"if({scheme} || {at}.port in ({DEFAULT_PORTS}), '', ':' || {at}.port)"
    return f"{scheme} || '://' || {host(at)} || {port} || {path(at)}"


def normalised(at: str) -> str:
    tracker = f"regexp_full_match(it, '{TRACKER}', 's')"
    kept = f"list_sort(list_filter(string_split({at}.query, '&'), lambda it: it <> '' and not {tracker}))"
    query = f"if({at}.query = '' or len({kept}) = 0, '', '?' || array_to_string({kept}, '&'))"
    return f"{without_query(at)} || {query}"


def tags(at: str, names: Sequence[str]) -> str:
    """The values of query parameters by name, null where absent. Most addresses have none, so one look decides."""
    told = [f"regexp_extract('&' || {at}.query, '&{name}=([^&]*)', 1)" for name in names]
    values = [f"nullif(left(try(url_decode(replace({text}, '+', ' '))), {LONGEST_TAG}), '')" for text in told]
    tagged = ", ".join(f"'{name}': {value}" for name, value in zip(names, values, strict=True))
    return f"if(contains({at}.query, 'utm_'), {{{tagged}}}, null)"
