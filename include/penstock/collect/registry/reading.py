"""Reads framed Avro as far as to know whom it names: records of sources with personal fields are sealed for them."""

import asyncio
import json
import time
from functools import lru_cache
from io import BytesIO
from typing import Any

import fastavro
from confluent_kafka import KafkaException

from penstock.collect.registry.schemas import Registry
from penstock.log.producer import PATIENCE, LogDown

FRAME_BYTES = 5
# Whoever names schemas that there are not must not have the topic asked for each; two looks fit into PATIENCE.
LOOK_SECONDS = 0.5


class Reading:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._looked = 0.0
        self._look: asyncio.Task[None] | None = None

    async def event(self, framed: bytes) -> dict[str, Any]:
        """The fields of an event; none where no schema can read it, which shapes call malformed.

        Raises LogDown where it is not known whether there is a schema: then nothing can be said of the event yet.
        """
        number = int.from_bytes(framed[1:FRAME_BYTES], "big")
        texts = self._registry.known.texts
        if number not in texts:
            await self._look_for(number)
        try:
            told = fastavro.schemaless_reader(BytesIO(framed[FRAME_BYTES:]), _parsed(texts[number]), None)
        except Exception:
            # fastavro raises whatever its bytes make it stumble over.
            return {}
        return told if isinstance(told, dict) else {}

    async def _look_for(self, number: int) -> None:
        """Until it is there, or a look that began after it was asked for has not found it."""
        asked = time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE):
                while number not in self._registry.known.texts and self._looked < asked:
                    if self._look is None:
                        self._look = asyncio.create_task(self._looking())
                        # Whoever waited may have lost patience before it fails.
                        self._look.add_done_callback(lambda look: look.cancelled() or look.exception())
                    await asyncio.shield(self._look)
        except (ConnectionError, TimeoutError, KafkaException) as error:
            raise LogDown(f"nobody says what schema {number} is: {str(error) or 'no answer in time'}") from error

    async def _looking(self) -> None:
        """One look at the topic, shared by all who wait."""
        try:
            await asyncio.sleep(self._looked + LOOK_SECONDS - time.monotonic())
            self._looked = time.monotonic()
            await self._registry.refresh()
        finally:
            self._look = None


@lru_cache(maxsize=256)
def _parsed(schema: str) -> Any:
    return fastavro.parse_schema(json.loads(schema))
