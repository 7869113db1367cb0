"""A replay of one view: silver and all other views of the new release are the current one's, and only it is built.

That is right as long as its code makes the same facts of the same records, and asks the same in all other views:
docs/decisions/0092.
"""

import importlib
from collections.abc import Iterator
from pathlib import Path

from penstock.lake.code import folder_of
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import Refused, Row
from penstock.lake.shaping import meaning, unlike
from penstock.lake.taking import retake, whole
from penstock.model.domain import Domain, domains, load
from penstock.model.view import View, source_of


def anew(code: Domain, name: str) -> list[View]:
    """The view, and the tallies of its sessions."""
    return [view for view in code.views if name in (view.name, getattr(view.of, "name", ""))]


def must_be_all_that_changes(layout: Layout, home: Path, before: Row, folder: Path, name: str) -> None:
    """Refuses code that makes other facts than the release before, or asks something else in other views too."""
    old, new = _folder(layout, home, before), load(folder, before.domain)
    chosen = anew(new, name)
    if name not in [view.name for view in chosen]:
        listed = ", ".join(view.name for view in new.views)
        raise Refused(f"The code has no view {name!r}; there are: {listed}.")
    if different := unlike(old, folder, before.domain):
        raise Refused(
            f"The code may make other facts than {before.about} ({', '.join(different)}), and a view is replayed from "
            f"the facts of {before.about}. Replay its source or the domain, or leave these as they are."
        )
    if others := sorted(_others(load(old, before.domain) if before.hash else domains()[before.domain], new, chosen)):
        raise Refused(
            f"The code changes other views as well: {', '.join(others)}. Replay the domain, or leave these as "
            f"{before.about} has them."
        )
    if not any(open_table(layout.silver(before.about, source_of(view).name)) for view in chosen):
        raise Refused(f"{before.about} has no facts for {name} yet, so there is nothing to replay. Send events first.")


def take_over(layout: Layout, code: Domain, base: str, release: str, name: str) -> None:
    """All that is not built anew, once: views, then the facts of which they may lack the newest. What was cut short is
    begun anew as a whole, for something may have been stated since."""
    views = [(layout.gold(base, view.name), layout.gold(release, view.name)) for view in _left(code, name)]
    facts = [(layout.silver(base, each.name), layout.silver(release, each.name)) for each in code.sources]
    if not all(whole(ours) for theirs, ours in facts if open_table(theirs)):
        for theirs, ours in (*views, *facts):
            retake(theirs, ours)


def _left(code: Domain, name: str) -> list[View]:
    chosen = [view.name for view in anew(code, name)]
    return [view for view in code.views if view.name not in chosen]


def _folder(layout: Layout, home: Path, release: Row) -> Path:
    """Where the code of a release is."""
    if pinned := folder_of(layout, home, release.domain, release.about):
        return pinned
    return Path(importlib.import_module(f"domains.{release.domain}.model").__file__ or "").parents[2]


def _others(before: Domain, code: Domain, chosen: list[View]) -> Iterator[str]:
    """Views beside the chosen ones that are gone, new or otherwise defined."""
    old, new = ({view.name: view for view in domain.views} for domain in (before, code))
    for name in {*old, *new} - {view.name for view in chosen}:
        if name not in old or name not in new or meaning(old[name]) != meaning(new[name]):
            yield name
