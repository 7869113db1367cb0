"""Answers that go beyond "accepted": `Prefer: wait=N`, `Prefer: respond-async`, and receipts."""

import re
from typing import Any

from penstock.collect.limits import Limits
from penstock.collect.receipts import Receipt, Receipts
from penstock.collect.refusal import Refusal
from penstock.collect.stages import Stages, settled

WAIT = re.compile(rb"(?:^|[,;\s])wait\s*=\s*(\d{1,6})(?:$|[,;\s])")
ASYNC = b"respond-async"
# A longer one would not fit into a request line again; its events are accepted all the same.
LONGEST = 12_000


class Answers:
    def __init__(self, receipts: Receipts, stages: Stages, limits: Limits) -> None:
        self._receipts = receipts
        self._stages = stages
        self._limits = limits

    async def prefer(
        self, prefer: bytes, receipt: Receipt, told: dict[str, Any], headers: list[tuple[bytes, bytes]]
    ) -> int:
        """Adds what was preferred to an answer and returns its status."""
        wait = WAIT.search(prefer.lower())
        if wait is not None:
            told["events"] = await self._stages.wait(receipt, min(int(wait[1]), self._limits.wait_seconds))
            headers.append((b"preference-applied", b"wait=%b" % wait[1]))
            if settled(told["events"]):
                return 200
        elif ASYNC not in prefer.lower():
            return 202
        token = self._receipts.write(receipt)
        if len(token) <= LONGEST:
            told["receipt"] = token
            headers.append((b"location", b"/v1/receipts/" + token.encode()))
            if wait is None:
                headers.append((b"preference-applied", ASYNC))
        return 202

    async def receipt(self, token: str) -> dict[str, Any]:
        """What has become of the events of a receipt so far."""
        if len(token) > LONGEST:
            raise Refusal("unknown_receipt")
        receipt = self._receipts.read(token)
        stages = await self._stages.of(receipt)
        return {"source": receipt.source, "settled": settled(stages), "events": stages}
