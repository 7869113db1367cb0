"""Reads framed Avro as far as to know whom it names: records of sources with personal fields are sealed for them."""

import json
import time
from functools import lru_cache
from io import BytesIO
from typing import Any

import fastavro

from penstock.collect.registry.schemas import Registry

FRAME_BYTES = 5
# Whoever names schemas that there are not must not have the topic asked for each.
LOOK_SECONDS = 1.0


class Reading:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._looked = 0.0

    async def event(self, framed: bytes) -> dict[str, Any]:
        """The fields of an event; none where no schema can read it, which shapes call malformed."""
        number = int.from_bytes(framed[1:FRAME_BYTES], "big")
        texts = self._registry.known.texts
        if number not in texts and time.monotonic() - self._looked > LOOK_SECONDS:
            self._looked = time.monotonic()
            await self._registry.refresh()
        try:
            told = fastavro.schemaless_reader(BytesIO(framed[FRAME_BYTES:]), _parsed(texts[number]), None)
        except Exception:
            # fastavro raises whatever its bytes make it stumble over.
            return {}
        return told if isinstance(told, dict) else {}


@lru_cache(maxsize=256)
def _parsed(schema: str) -> Any:
    return fastavro.parse_schema(json.loads(schema))
