"""Who is believed to be whom: `console.toml` in the home. Without one: this machine reads, others log in.

login = "always"                            # also for this machine; "elsewhere" if absent
identity_header = "X-Forwarded-User"        # believed from these proxies, and from nobody else
trusted_proxies = ["10.0.0.0/8"]

[roles]                                     # analyst, oncall and admin are those already; others read
alice = "admin"
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path

from penstock.serve.access.who import ROLES
from penstock.settings import SettingError

LOGINS = ("elsewhere", "always")


@dataclass(frozen=True)
class Rules:
    login: str = LOGINS[0]
    identity_header: str = ""
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, file: Path) -> "Rules":
        """Refuses what cannot be meant: a rule that is misread is a door left open."""
        if not file.is_file():
            return cls()
        try:
            told = tomllib.loads(file.read_text())
            proxies = tuple(ip_network(network) for network in told.pop("trusted_proxies", ()))
            rules = cls(**told, trusted_proxies=proxies)
        except (tomllib.TOMLDecodeError, ValueError, TypeError) as error:
            raise SettingError(f"{file} cannot be read: {error}") from error
        if rules.login not in LOGINS or any(role not in ROLES for role in rules.roles.values()):
            raise SettingError(f"{file}: login is one of {', '.join(LOGINS)}; a role one of {', '.join(ROLES)}.")
        if rules.identity_header and not proxies:
            raise SettingError(f"{file}: name the trusted_proxies that may say who somebody is.")
        return rules

    def role(self, user: str) -> str:
        return self.roles.get(user, user if user in ROLES else ROLES[0])

    def trusts(self, address: str) -> bool:
        """Whether this address is a proxy's that may say who asks."""
        return any(ip_address(address) in network for network in self.trusted_proxies)
