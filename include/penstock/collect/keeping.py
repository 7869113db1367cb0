"""Keeps records: on the log, or in the spool until the log has them. Whoever awaits `keep` may answer 2xx."""

from penstock.collect.metrics import Metrics
from penstock.log.producer import Log, LogDown, Record


class Unsafe(Exception):
    """Neither the log nor the spool can keep it now."""


class Keeping:
    def __init__(self, log: Log, metrics: Metrics) -> None:
        self.log = log
        self.metrics = metrics

    async def keep(self, records: list[Record]) -> str:
        """Returns where the records are safe."""
        try:
            await self.log.append(records)
        except LogDown as error:
            raise Unsafe(str(error)) from error
        return "log"

    def ready(self) -> bool:
        return True

    def state(self) -> str:
        return "up"

    async def close(self) -> None:
        await self.log.close()
