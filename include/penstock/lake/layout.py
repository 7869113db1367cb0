"""Where each table of the lake is. Other programs rely on these paths; standard library only."""

from dataclasses import dataclass

FIRST_RELEASE = "r1"


@dataclass(frozen=True)
class Layout:
    """Paths under one root, which is a local folder or an object store's address."""

    root: str

    def bronze(self, source: str) -> str:
        return f"{self.root}/bronze/{source}"

    def silver(self, release: str, source: str) -> str:
        return f"{self.root}/silver/{release}/{source}"

    def gold(self, release: str, view: str) -> str:
        return f"{self.root}/gold/{release}/{view}"

    def candidate(self, release: str, view: str) -> str:
        """Where a build waits for its gate; readers never look here."""
        return f"{self.root}/candidate/{release}/{view}"

    def speed(self, release: str, view: str) -> str:
        return f"{self.root}/speed/{release}/{view}"

    def alerts(self) -> str:
        """What rules have found, of all releases."""
        return f"{self.root}/alerts"

    def ledger(self) -> str:
        return f"{self.root}/ledger"

    def control(self, table: str) -> str:
        return f"{self.root}/control/{table}"

    def checkpoint(self, job: str, release: str) -> str:
        return f"{self.root}/checkpoints/{job}/{release}"
