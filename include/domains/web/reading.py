"""How a JSON object becomes typed fields or a named reason, as Spark SQL text (one text costs one call into the JVM).

`document` is the record as a variant, `told` its fields as text, and `plain` says that it has only fields that the
contract knows, each of its type: so it is with nearly every record, and then nobody looks at one field after the other,
which Spark interprets (docs/decisions/0043-freshness-where-the-time-goes.md).
"""

from collections.abc import Iterable, Mapping

LONGEST = 300
LONGEST_ADDRESS = 4096
ADDRESSES = ("url", "referrer", "title", "user_agent")
MOST_PROPS = 50
# Of the text that says their types: 51 properties take at least 457 characters, a name of one and a type of four each.
SURELY_FEW = 440

# Brackets make text after the object malformed, where try_parse_json alone would not see it.
DOCUMENT = "try_parse_json(if(is_valid_utf8(value), concat('[', cast(value as string), ']'), null))"
GIVEN = "try_variant_get(document, '$[0]', 'map<string,variant>')"
ARRIVED = "coalesce(received_at, timestamp)"

RFC3339 = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})$"
MILLISECONDS = r"^[0-9]{1,14}$"
TOLD_AT = (
    "case when told.happened_at is null then arrived"
    f" when told.happened_at rlike r'{MILLISECONDS}' then timestamp_millis(cast(told.happened_at as bigint))"
    f" when told.happened_at rlike r'{RFC3339}' then try_cast(upper(told.happened_at) as timestamp) end"
)
TIME_CASES = {
    "bad_happened_at": "told_at is null",
    "too_old": "told_at < arrived - interval 400 days and coalesce(told.imported, '') <> 'true'",
    "in_future": "told_at > arrived + interval 24 hours",
}
HAPPENED_AT = "if(told_at > arrived, arrived, coalesce(told_at, arrived))"
FLAGS = (
    "case when told_at > arrived then if(told.imported = 'true', array('clamped', 'imported'), array('clamped'))"
    " when told.imported = 'true' then array('imported') else cast(array() as array<string>) end"
)


def told(fields: Iterable[str]) -> str:
    """All fields as text in one expression."""
    names = dict.fromkeys([*fields, "happened_at", "event_id", "imported"])
    columns = ", ".join(f"`{name}`: string" for name in names)
    return f"try_variant_get(document, '$[0]', 'struct<{columns}>')"


def plain(texts: Iterable[str], numbers: Iterable[str] = (), maps: Iterable[str] = ()) -> str:
    """Whether every field is one that the contract knows, and of its type.

    Spark puts any other name than a word in backticks, so no name can pass for a type; of two objects in one record it
    merges the types, to VARIANT where they differ.
    """
    kinds = {
        "STRING": [*texts, "event_id"],
        "BIGINT": [*numbers],
        f"OBJECT<((?!VARIANT)[^<>]){{0,{SURELY_FEW}}}>": [*maps],
        "(STRING|BIGINT)": ["happened_at"],
        "BOOLEAN": ["imported"],
    }
    fields = "|".join(f"({'|'.join(names)}): ({kind}|VOID)" for kind, names in kinds.items() if names)
    return f"schema_of_variant(document) rlike '^ARRAY<OBJECT<(({fields})(, |>>$))*$'"


def wrong(texts: Iterable[str], numbers: Mapping[str, int], maps: Iterable[str] = ()) -> str:
    """The first field, by name, whose type or size is not what the contract says; null if all are."""
    addresses = sorted({*texts} & {*ADDRESSES})
    bounds = [
        _within(addresses, LONGEST_ADDRESS),
        _within(sorted({*texts, "event_id"} - {*ADDRESSES}), LONGEST),
        *(f"coalesce(try_cast(told.`{name}` as double) between 0 and {most}, true)" for name, most in numbers.items()),
    ]
    return f"if(plain and {' and '.join(filter(None, bounds))}, null, {_first_wrong(texts, numbers, maps)})"


def _within(names: Iterable[str], longest: int) -> str:
    lengths = [f"length(told.`{name}`)" for name in names]
    return f"greatest({', '.join(lengths)}, 0) <= {longest}" if lengths else ""


def _first_wrong(texts: Iterable[str], numbers: Mapping[str, int], maps: Iterable[str]) -> str:
    kind = "schema_of_variant(entry.value)"
    text = "try_variant_get(entry.value, '$', 'string')"
    cases = [
        f"when {kind} = 'VOID' then false",
        f"when entry.key in ({_names({*texts} & {*ADDRESSES})})",
        f"then {kind} <> 'STRING' or length({text}) > {LONGEST_ADDRESS}",
        f"when entry.key in ({_names({*texts, 'event_id'} - {*ADDRESSES})})",
        f"then {kind} <> 'STRING' or length({text}) > {LONGEST}",
        *(f"when entry.key = '{name}' then {_not_number(kind, most)}" for name, most in numbers.items()),
        *(f"when entry.key = '{name}' then {_not_flat()}" for name in maps),
        "else false",
    ]
    return f"get(filter(map_entries({GIVEN}), entry -> case {' '.join(cases)} end), 0).key"


def reason(required: Iterable[str], between: Mapping[str, str]) -> str:
    """The first rule that the record breaks, or null for a fact. `between` are rules of the source's own."""
    cases = {
        "malformed": "told is null",
        **{f"missing_{name}": f"coalesce(told.`{name}`, '') = ''" for name in required},
        **between,
        **TIME_CASES,
    }
    last = "when wrong is not null then concat('bad_', wrong)"
    texts = [f"when {condition} then '{name}'" for name, condition in cases.items()]
    return f"case {texts[0]} {last} {' '.join(texts[1:])} end"


def others(known: Iterable[str]) -> str:
    """The fields that the contract does not know, as text; null if there are none."""
    names = _names({*known, "happened_at", "event_id", "imported"})
    left = f"map_filter({GIVEN}, (name, it) -> name not in ({names}))"
    return f"if(plain or coalesce(size({left}), 0) <= 0, null, {flat(left)})"


def flat(entries: str) -> str:
    return f"transform_values({entries}, (name, it) -> left(try_variant_get(it, '$', 'string'), {LONGEST_ADDRESS}))"


def _not_number(kind: str, most: int) -> str:
    number = "try_variant_get(entry.value, '$', 'double')"
    return f"not ({kind} rlike '^(BIGINT|DECIMAL|DOUBLE)' and {number} between 0 and {most})"


def _not_flat() -> str:
    entries = "try_variant_get(entry.value, '$', 'map<string,variant>')"
    nested = f"exists(map_values({entries}), it -> schema_of_variant(it) rlike '^(OBJECT|ARRAY)')"
    return f"{entries} is null or size({entries}) > {MOST_PROPS} or {nested}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names)) or "''"
