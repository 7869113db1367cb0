"""A log of the toy domain as a collector leaves it: every record sealed for whom it names."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toy_log import ToyLog

from penstock.keys.sealing import Sealers, agent_first, nonces, whom
from penstock.keys.store import Keys
from penstock.model.domain import source
from penstock.model.record import SUBJECTS


@dataclass
class SealedLog(ToyLog):
    """`agent`: the user agent that every record has."""

    home: Path = Path()
    agent: bytes = b"Mozilla/5.0"

    def _record(self, one: dict[str, Any]) -> dict[str, Any]:
        record = super()._record(one)
        sealers = Sealers(Keys.of_home(self.home))
        named = whom(source(self.source), json.loads(one["value"]))
        sealers.known()
        sealers.learn([named])
        sealer = sealers.known()[named]
        value = sealer.seal(agent_first(self.agent) + one["value"], next(iter(nonces(1))))
        headers = [*record["headers"], {"key": SUBJECTS, "value": sealer.subjects}]
        return {**record, "key": sealer.key, "value": value, "headers": headers}
