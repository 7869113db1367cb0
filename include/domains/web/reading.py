"""How a JSON object becomes typed fields or a named reason, as DuckDB's SQL.

`document` is the record as JSON, null where it is no object; `told` its fields as text, `kinds` their JSON types.
"""

from collections.abc import Iterable, Mapping, Sequence

LONGEST = 300
LONGEST_ADDRESS = 4096
ADDRESSES = ("url", "referrer", "title", "user_agent")
MOST_PROPS = 50
# DuckDB reads a little more than JSON: a comma too many, numbers that are none, any depth. What looks so is looked at.
# Fields that we know, none of which may hold such a number, need no look for one: it takes as long as to read them.
NO_NUMBER = "contains(lower(said), 'nan') or contains(lower(said), 'inf')"
HOLDERS = ("DOUBLE", "OBJECT", "ARRAY")
MAY_HOLD_ONE = " or ".join(["not plain", *(f"list_contains(kinds, '{kind}')" for kind in HOLDERS)])
ODD = rf"regexp_matches(said, ',\s*[\]}}]') or contains(said, '[[[[[[[[[[') or if({MAY_HOLD_ONE}, {NO_NUMBER}, false)"
NAMED_ONCE = "plain or list_unique(names) = len(names)"
DOCUMENT = f"if(kind = 'OBJECT' and ({NAMED_ONCE}), if(({ODD}) and not is_json(said), null, read), null)"
ARRIVED = "coalesce(received_at, timestamp)"

RFC3339 = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?"
    r"([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
)
TOLD_AT = (
    "case when told.happened_at is null then arrived"
    r" when regexp_full_match(told.happened_at, '[0-9]{1,14}([.]0+)?')"
    " then make_timestamp(try_cast(split_part(told.happened_at, '.', 1) as bigint) * 1000)"
    f" when regexp_full_match(told.happened_at, '{RFC3339}')"
    " then make_timestamp(epoch_us(try_cast(upper(told.happened_at) as timestamptz))) end"
)
TIME_CASES = {
    "bad_happened_at": "told_at is null",
    "too_old": "told_at < arrived - interval 400 days and told.imported is distinct from 'true'",
    "in_future": "told_at > arrived + interval 24 hours",
}
HAPPENED_AT = "if(told_at > arrived, arrived, coalesce(told_at, arrived))"
# Lists that are made for each record, nearly always of nothing, take a tenth of all that is made of it.
FLAGS = (
    "case when told_at > arrived then if(told.imported = 'true', ['clamped', 'imported'], ['clamped'])"
    " when told.imported = 'true' then ['imported'] else []::varchar[] end"
)


class Fields:
    """The fields that a sender may give: texts, numbers with the largest value that is believed, and flat maps."""

    def __init__(self, texts: Sequence[str], numbers: Mapping[str, int] | None = None, maps: Sequence[str] = ()):
        self._texts, self._numbers, self._maps = [*texts, "event_id"], numbers or {}, maps
        self._names = list(dict.fromkeys([*self._texts, *self._numbers, *maps, "happened_at", "imported"]))

    def steps(self) -> list[dict[str, str]]:
        """What is read of a record; a step may use the columns of those before it."""
        paths = ", ".join(f"'$.{name}'" for name in self._names)
        told = ", ".join(f"'{name}': texts[{place}]" for place, name in enumerate(self._names, 1))
        return [
            {"said": "try(decode(value))", "arrived": ARRIVED},
            {"read": "try_cast(said as json)"},
            {"names": "json_keys(read)", "all_kinds": f"json_type(read, ['$', {paths}])"},
            {"kind": "all_kinds[1]", "kinds": "all_kinds[2:]"},
            # Who gives as many names as there are fields that we know gives no other, and none twice.
            {"plain": "len(names) = list_count(kinds)"},
            {"document": DOCUMENT},
            {"texts": f"json_extract_string(document, [{paths}])"},
            {"told": f"{{{told}}}"},
            {"told_at": TOLD_AT, "wrong": self._wrong()},
        ]

    def others(self) -> str:
        """The fields that the contract does not know, as text; null if there are none."""
        others = _flat("document", f"not list_contains({_listed(self._names)}, it.key)")
        return f"if(plain, null, {others})"

    def flat(self, name: str) -> str:
        entries = _flat(f"document -> '$.{name}'", "true")
        return f"if({self._kind(name)} = 'OBJECT', {entries}, null)"

    def _wrong(self) -> str:
        """The first field, by name, whose type or size is not what the contract says; null if all are."""
        # One condition for all texts: a hundred conditions take longer to plan than a thousand records to judge.
        longest = [str(LONGEST_ADDRESS if name in ADDRESSES else LONGEST) for name in self._texts]
        kind, text, most = "kinds[place]", "texts[place]", f"[{', '.join(longest)}][place]"
        wrong = f"{kind} not in ('VARCHAR', 'NULL') or length({text}) > {most}"
        others = {name: self._not_number(name, most) for name, most in self._numbers.items()}
        others |= {name: self._not_flat(name) for name in self._maps}
        named = ", ".join([f"if({condition}, '{name}', null)" for name, condition in others.items()])
        texts = f"list_filter({_listed(self._texts)}, lambda name, place: {wrong})"
        return f"list_min(list_concat({texts}, [{named}]::varchar[]))"

    def _not_number(self, name: str, most: int) -> str:
        believed = f"coalesce(try_cast(told.{name} as double) between 0 and {most}, false)"
        kind = self._kind(name)
        return f"{kind} <> 'NULL' and not ({kind} in ('BIGINT', 'UBIGINT', 'DOUBLE') and {believed})"

    def _not_flat(self, name: str) -> str:
        names = f"json_keys(document, '$.{name}')"
        few = f"len({names}) <= {MOST_PROPS} and list_unique({names}) = len({names})"
        nested = f"list_has_any(json_type(document, '$.{name}.*'), ['OBJECT', 'ARRAY'])"
        kind = self._kind(name)
        return f"{kind} not in ('OBJECT', 'NULL') or {kind} = 'OBJECT' and ({nested} or not ({few}))"

    def _kind(self, name: str) -> str:
        return f"kinds[{self._names.index(name) + 1}]"


def reason(required: Iterable[str], between: Mapping[str, str]) -> str:
    """The first rule that the record breaks, or null for a fact. `between` are rules of the source's own."""
    cases = {
        **{f"missing_{name}": f"coalesce(told.{name}, '') = ''" for name in required},
        **between,
        **TIME_CASES,
    }
    named = " ".join([f"when {condition} then '{name}'" for name, condition in cases.items()])
    return f"case when document is null then 'malformed' when wrong is not null then 'bad_' || wrong {named} end"


def _flat(entries: str, where: str) -> str:
    """Of a JSON object's fields, those for which it holds, as a map of texts."""
    # In order: releases are compared by what they say, and a map is what its entries are, one after the other.
    each = f"list_sort(map_entries(json_transform({entries}, '\"MAP(VARCHAR, VARCHAR)\"')))"
    cut = f"{{'key': it.key, 'value': left(it.value, {LONGEST_ADDRESS})}}"
    return f"map_from_entries(list_transform(list_filter({each}, lambda it: {where}), lambda it: {cut}))"


def _listed(names: Iterable[str]) -> str:
    texts = [f"'{name}'" for name in names]
    return f"[{', '.join(texts)}]"
