"""One address, one spelling: how a URL is split and normalised, as Spark SQL text.

Scheme and host in lower case, no default port, no user or password, no fragment, no trailing slash, no trackers'
parameters, the others in order. Normalising twice changes nothing (property-tested).
"""

from collections.abc import Sequence

# scheme, host, port, path, query; text cannot hold a space once spaces are %20, so a space parts the parts.
SPLIT = (
    r"^(?i:(https?|android-app))://(?:[^/?#@\s]*@)?((?![.])[^/?#:@\s\\<>\x22\x27\[\]]+|\[[0-9a-fA-F:.]+\])"
    r"(?::([0-9]{0,5}))?((?:/[^?#\s]*)?)(?:\?([^#\s]*))?(?:#[\s\S]*)?\z"
)
TRACKERS = (
    "utm_[a-z_]+|gclid|gbraid|wbraid|gclsrc|dclid|fbclid|msclkid|yclid|ttclid|twclid|igshid|li_fat_id|mc_cid|mc_eid"
    "|_ga|_gl|_hsenc|_hsmi|mkt_tok|srsltid"
)
PARTS = 5
DEFAULT_PORTS = "'http', 'https', 'android-app', 'http80', 'https443'"
LONGEST_TAG = 300


def parts(address: str) -> str:
    """[scheme, host, port, path, query] of an address as it was sent; one element if it is no absolute address."""
    return f"split(regexp_replace(replace(trim({address}), ' ', '%20'), r'{SPLIT}', '$1 $2 $3 $4 $5'), ' ')"


def when_valid(split: str, text: str) -> str:
    return f"if(size({split}) = {PARTS}, {text}, null)"


def host(split: str) -> str:
    return f"rtrim('.', lower({split}[1]))"


def path(split: str) -> str:
    return f"concat('/', trim(both '/' from {split}[3]))"


def without_query(split: str) -> str:
    scheme = f"lower({split}[0])"
    port = f"if(concat({scheme}, {split}[2]) in ({DEFAULT_PORTS}), '', concat(':', {split}[2]))"
    return f"concat({scheme}, '://', {host(split)}, {port}, {path(split)})"


def normalised(split: str) -> str:
    # By texts: a lambda over the parameters is interpreted, and takes as long as all the rest of an address.
    kept = f"regexp_replace(concat('&', {split}[4]), '&(({TRACKERS})(=[^&]*)?)?(?=&|$)', '')"
    ordered = f"array_join(sort_array(split({kept}, '&')), '&')"
    return f"concat({without_query(split)}, if({split}[4] = '', '', regexp_replace({ordered}, '^&', '?')))"


def tags(split: str, names: Sequence[str]) -> str:
    """The values of query parameters by name, null where absent. Most addresses have none, so one look decides."""
    told = [f"regexp_extract(concat('&', {split}[4]), '&{name}=([^&]*)', 1)" for name in names]
    values = [f"nullif(left(try_url_decode({text}), {LONGEST_TAG}), '')" for text in told]
    tagged = f"size({split}) = {PARTS} and contains({split}[4], 'utm_')"
    return f"if({tagged}, array({', '.join(values)}), null)"
