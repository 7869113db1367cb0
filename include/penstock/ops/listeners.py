"""Whom a change of facts reaches: who looks at the source's views and rules now, and who reads its topics.

For the person who approves. Whoever cannot be asked is named; that holds nothing up.
"""

import json
from collections.abc import Iterator

from penstock.log.alerts import TOPIC
from penstock.log.groups import Group, groups
from penstock.log.topics import LogUnreachable
from penstock.model.domain import domains, source, views_of
from penstock.serve.asking import NotAnswered, fetched
from penstock.serve.matched import ALERTS
from penstock.settings import Settings


def listeners(settings: Settings, name: str) -> str:
    """Two sentences: who is told of the change as it is published, and who has to be told by people."""
    return "\n\n".join([_looking(settings, name), _reading(settings, name)])


def touched(name: str) -> list[str]:
    """What of a source somebody may subscribe to: its views, and rules about its facts or their numbers."""
    of = source(name)
    views = [view.name for view in views_of(of)]
    return [*views, *(rule.name for rule in domains()[of.domain].rules if rule.about in (name, *views)), ALERTS]


def _looking(settings: Settings, name: str) -> str:
    try:
        said = json.loads(fetched("subscribers", settings.serve_at, {}))["subscribers"]
    except NotAnswered as silent:
        return f"Who subscribes to its views now is not known: {silent}."
    there = [each for each in said if each["about"] in touched(name)]
    if not there:
        return "Nobody subscribes to its views or rules now."
    told = ", ".join(f"{each['about']} ({each['who']}: {each['subscribers']})" for each in there)
    return f"Who subscribes now sees the new numbers as they are published: {told}."


def _reading(settings: Settings, name: str) -> str:
    try:
        found = groups(settings.kafka, (name, TOPIC))
    except LogUnreachable as silent:
        return f"Who reads the topics {name} and {TOPIC} is not known: {silent}."
    if not found:
        return f"No consumer group reads the topics {name} and {TOPIC}."
    return f"Who reads the log keeps what it has read; tell them: {', '.join(_said(found))}."


def _said(found: list[Group]) -> Iterator[str]:
    for each in found:
        there = f"{each.members} there now" if each.members else "none there now"
        yield f"group {each.name} of {each.topic} ({there})"
