"""Which sources share a driver, as one setting says it."""

import pytest

from penstock.model.domain import domains
from penstock.model.group import BadGroups, group, groups

ALL = [source.name for domain in domains().values() for source in domain.sources]


def names(text: str) -> dict[str, list[str]]:
    return {each.name: [source.name for source in each.sources] for each in groups(text)}


def test_all_sources_share_one_driver_until_somebody_says_otherwise() -> None:
    assert names("") == {"streams": ALL}


def test_named_sources_have_a_driver_of_their_own_and_the_rest_share_one() -> None:
    rest = [name for name in ALL if name != "web.events"]
    assert names("clicks=web.events") == {"streams": rest, "streams_clicks": ["web.events"]}


def test_a_domain_stands_for_its_sources_and_nothing_is_left_to_an_empty_driver() -> None:
    told = names("  ".join(f"{name}={name}" for name in domains()))
    hosted = sorted(source for own in told.values() for source in own)
    assert (sorted(told), hosted) == (sorted(f"streams_{name}" for name in domains()), sorted(ALL))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("clicks", "'clicks' is no NAME=SOURCE"),
        ("Clicks=web.events", "small letters"),
        ("clicks=", "is no NAME=SOURCE"),
        ("clicks=web.clicks", "there is no source or domain 'web.clicks'; there are: .*web.events"),
        ("a=web.events b=web", "source web.events is named twice"),
        ("a=web.events a=web.users", "group streams_a is named twice"),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_followed_says_why_and_how_it_is_spelled(text: str, why: str) -> None:
    with pytest.raises(BadGroups, match=f"PENSTOCK_STREAM_GROUPS: .*{why}.*Example: clicks="):
        groups(text)


def test_a_driver_of_no_group_is_told_which_there_are() -> None:
    with pytest.raises(BadGroups, match="no stream group 'streams_b'; there are: streams, streams_a"):
        group("a=web.events", "streams_b")
