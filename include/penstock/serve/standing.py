"""Which release of each domain readers see, with the views that its own code defines: taken once for each question."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.lake.code import unpacked
from penstock.lake.following import Registries
from penstock.lake.layout import FIRST_RELEASE, Layout
from penstock.lake.releases import Row
from penstock.model.domain import Domain, domains, load
from penstock.model.view import View


@dataclass(frozen=True)
class Standing:
    """Domain -> release, and every view by name."""

    releases: Mapping[str, str]
    views: Mapping[str, View]

    def release(self, domain: str) -> str:
        return self.releases.get(domain, FIRST_RELEASE)

    def moved(self, before: "Standing") -> set[str]:
        """The views of domains whose release was switched."""
        return {name for name in self.views if self.release(_domain(name)) != before.release(_domain(name))}


class Standings:
    """Looks up what stands now. A release's code is unpacked and loaded once."""

    def __init__(self, layout: Layout, home: Path | None, fixed: Mapping[str, str] | None) -> None:
        self._layout, self._fixed = layout, fixed or {}
        self._home = home
        self._loaded: dict[str, Domain] = {}
        self._registries = Registries(layout)

    def now(self) -> Standing:
        told = self._registries.now()
        releases: dict[str, str] = {}
        views: dict[str, View] = {}
        for name, deployed in domains().items():
            registry = told.get(name)
            releases[name] = self._fixed.get(name) or (registry.current if registry else FIRST_RELEASE)
            own = self._own(registry.get(releases[name])) if registry else deployed
            views |= {view.name: view for view in (own or deployed).views}
        return Standing(releases, views)

    def _own(self, release: Row) -> Domain | None:
        """The domain as the release's code has it; None where it runs what is deployed."""
        if release.hash and release.hash not in self._loaded:
            self._home = self._home or Path(tempfile.mkdtemp(prefix="penstock-"))
            folder = unpacked(self._layout, self._home, release.domain, release.hash)
            self._loaded[release.hash] = load(folder, release.domain)
        return self._loaded.get(release.hash)


def _domain(view: str) -> str:
    return view.partition(".")[0]
