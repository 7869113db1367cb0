"""Who asks, and what they may."""

from dataclasses import dataclass

from penstock.serve.access.shares import Share

# Each may do what those before it may.
ROLES = ("analyst", "oncall", "admin")
READER = ROLES[0]


@dataclass(frozen=True)
class Who:
    """`way`: how we know them. A share's reader sees one page of one domain."""

    name: str
    role: str = ROLES[0]
    way: str = "session"
    share: Share | None = None

    def may(self, role: str) -> bool:
        return self.share is None and ROLES.index(self.role) >= ROLES.index(role)


# This machine's own programs and its user, who could as well read the lake's files.
LOCAL = Who("this machine", way="local")
