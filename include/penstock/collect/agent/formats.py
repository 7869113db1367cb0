"""Line formats: each turns one line of text into an event, or into one that says why it could not.

A bad line is never a stop: it becomes `{"line": …, "parse_hint": …}`, which the source's shape will reject by name.
"""

import csv
import re
from collections.abc import Callable
from typing import Any

import orjson

Event = dict[str, Any]
Parse = Callable[[str], Event | None]

COMMON = re.compile(
    r"(?P<host>\S+) (?P<ident>\S+) (?P<user>\S+) \[(?P<time>[^\]]+)\] "
    r'"(?P<request>[^"]*)" (?P<status>\d{3}) (?P<bytes>\d+|-)'
    r'(?: "(?P<referrer>[^"]*)" "(?P<user_agent>[^"]*)")?'
)


def json_lines() -> Parse:
    def parse(line: str) -> Event:
        event = orjson.loads(line)
        return event if isinstance(event, dict) else hinted(line, "not an object")

    return parse


def text() -> Parse:
    return lambda line: {"line": line}


def apache() -> Parse:
    """Apache's common and combined formats."""

    def parse(line: str) -> Event:
        match = COMMON.fullmatch(line)
        if match is None:
            return hinted(line, "not Apache's common or combined format")
        return {name: value for name, value in match.groupdict().items() if value not in (None, "-")}

    return parse


def comma_separated() -> Parse:
    """CSV whose first line names the columns."""
    names: list[str] = []

    def parse(line: str) -> Event | None:
        values = next(csv.reader([line], strict=True))
        if not names:
            names.extend(values)
            return None
        if len(values) != len(names):
            return hinted(line, f"{len(values)} values for {len(names)} columns")
        return dict(zip(names, values, strict=True))

    return parse


def w3c() -> Parse:
    """W3C extended log format; `#Fields` may change on the way."""
    names: list[str] = []

    def parse(line: str) -> Event | None:
        if line.startswith("#"):
            directive, _, told = line.partition(":")
            if directive == "#Fields":
                names[:] = told.split()
            return None
        values = line.split()
        if len(values) != len(names):
            return hinted(line, f"{len(values)} values for {len(names)} fields")
        return {name: value for name, value in zip(names, values, strict=True) if value != "-"}

    return parse


FORMATS: dict[str, Callable[[], Parse]] = {
    "json": json_lines,
    "text": text,
    "apache": apache,
    "csv": comma_separated,
    "w3c": w3c,
}


def hinted(line: str, hint: str) -> Event:
    return {"line": line, "parse_hint": hint}


def parsed(parse: Parse, line: str) -> Event | None:
    """The event of a line; nothing for a line that only describes others."""
    try:
        return parse(line)
    except (ValueError, csv.Error) as error:
        return hinted(line, str(error))
