"""Sends events to a collector: in batches, compressed, with retries that keep the events' ids. And asks views.

    with Client("http://127.0.0.1:8090", "web.events") as client:
        event_id = client.send({"type": "pageview", …}).result()

`result()` returns the event's id once the event is safe, and raises what the collector had against it.

    told = query("web.pageviews", by="site", start="2026-11-01")
    told.rows, told.to_pandas(), told.certificate
"""

import gzip
import queue
import random
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import orjson

if TYPE_CHECKING:
    from penstock.serve.asking import Told

BATCH = 500
# A request holds one mebibyte, compressed or not; half of it leaves room for what does not compress.
BATCH_BYTES = 512 * 1024
# How long the first event of a batch waits for others.
LINGER = 0.02
RETRIES = 8
BACKOFF = 0.2
# So many events may wait before `send` makes its caller wait.
BACKLOG = 10_000


class Refused(ValueError):
    """The collector will never take this event; `reason` says why."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason


class NotSent(ConnectionError):
    """The collector could not be reached, or could not keep the event, in all attempts. Sending again is safe."""


class _Waiting(NamedTuple):
    event_id: str
    body: bytes
    future: "Future[str]"


class Client:
    """Thread-safe. One thread of its own sends; leaving the `with` waits until everything is sent."""

    def __init__(self, url: str, source: str, key: str | None = None, retries: int = RETRIES) -> None:
        headers = {"content-type": "application/x-ndjson"} | ({"authorization": f"Bearer {key}"} if key else {})
        self._http = httpx.Client(headers=headers, timeout=30)
        self._url = f"{url.rstrip('/')}/v1/{source}"
        self._retries = retries
        self._queue: queue.Queue[_Waiting | None] = queue.Queue(BACKLOG)
        self._thread = threading.Thread(target=self._work, name="penstock-client", daemon=True)
        self._thread.start()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, event: Mapping[str, Any]) -> "Future[str]":
        """Queues an event. One without an id gets one here, so that a retry is never a second event."""
        event_id = event.get("event_id") or str(uuid.uuid4())
        waiting = _Waiting(event_id, orjson.dumps({**event, "event_id": event_id}), Future())
        self._queue.put(waiting)
        return waiting.future

    def send_many(self, events: Iterable[Mapping[str, Any]]) -> list["Future[str]"]:
        return [self.send(event) for event in events]

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()
        self._http.close()

    def _work(self) -> None:
        more = True
        while more:
            batch, more = self._next()
            if batch:
                self._deliver(batch)

    def _next(self) -> tuple[list[_Waiting], bool]:
        """The next batch, and whether there may be another."""
        first = self._queue.get()
        if first is None:
            return [], False
        batch, size, deadline = [first], len(first.body), time.monotonic() + LINGER
        while len(batch) < BATCH and size < BATCH_BYTES:
            try:
                waiting = self._queue.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                break
            if waiting is None:
                return batch, False
            batch.append(waiting)
            size += len(waiting.body)
        return batch, True

    def _deliver(self, batch: list[_Waiting]) -> None:
        try:
            answer = self._post(gzip.compress(b"\n".join(waiting.body for waiting in batch), 3))
        except NotSent as error:
            for waiting in batch:
                waiting.future.set_exception(error)
            return
        refused = {one["index"]: one for one in answer.get("refused", ())}
        for index, waiting in enumerate(batch):
            told = refused.get(index) or (answer if "accepted" not in answer else None)
            if told is None:
                waiting.future.set_result(waiting.event_id)
            else:
                waiting.future.set_exception(Refused(told.get("reason", told.get("title", "")), told["detail"]))

    def _post(self, body: bytes) -> dict[str, Any]:
        """The collector's answer to a batch; waits and repeats while it says so, or says nothing."""
        for attempt in range(self._retries + 1):
            wait = BACKOFF * 2**attempt * (0.5 + random.random())  # noqa: S311 - jitter, not a secret
            try:
                answer = self._http.post(self._url, content=body, headers={"content-encoding": "gzip"})
            except httpx.TransportError as error:
                why = str(error)
            else:
                if answer.status_code not in (408, 429, 503):
                    told: dict[str, Any] = answer.json()
                    return told
                why = f"{answer.status_code} {answer.json().get('title', '')}"
                wait = max(wait, float(answer.headers.get("retry-after", 0)))
            if attempt < self._retries:
                time.sleep(wait)
        raise NotSent(f"{self._url} did not take the events in {self._retries + 1} attempts: {why}")


def query(view: str, address: str = "", **said: Any) -> "Told":
    """Asks a view, with the parameters of docs/api.md by their names (`start` and `end` for the range): an Arrow table,
    or a pandas frame, with its certificate. No address: this machine's stack."""
    # Who only sends needs no Arrow.
    from penstock.serve import asking
    from penstock.settings import Settings

    return asking.query(view, address or f"http://127.0.0.1:{Settings.from_env().serve_port}", **said)
