"""Agents and connectors against real servers: from a file to the log through kill -9, and from each kind of stream."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import orjson
import pytest
from unsealed import plain
from websockets.sync.server import serve

from penstock.collect.agent.sources import Lines
from penstock.collect.agent.streams import STREAMS, Stream


def agent(collector, file: Path) -> subprocess.Popen:
    command = [sys.executable, "-c", "from penstock.ops.cli import main; main()", "agent", str(file)]
    return subprocess.Popen(command, env={**os.environ, **collector.settings.to_env()}, stderr=subprocess.DEVNULL)


SINKS = ["{kind: http, url: URL, to: web.events}", "{kind: kafka, kafka: KAFKA, to: web.events}"]
AGENT = """
name: tail-{name}
sources: {{app: {{kind: tail, path: {path}, format: json}}}}
sinks: {{out: {sink}}}
"""


@pytest.mark.parametrize("sink", SINKS, ids=["http", "kafka"])
def test_a_tailed_file_is_on_the_log_once_although_the_agent_is_killed(
    collector, broker, on_log, log_of, tmp_path: Path, sink: str
) -> None:
    lines = tmp_path / "app.log"
    told = sink.replace("URL", collector.url).replace("KAFKA", broker)
    (tmp_path / "agent.yaml").write_text(AGENT.format(name=tmp_path.name, path=lines, sink=told))
    marks = [f"{tmp_path.name}-{number}" for number in range(3000)]
    running = agent(collector, tmp_path / "agent.yaml")
    with lines.open("w") as out:
        for number, mark in enumerate(marks):
            out.write(orjson.dumps({"visitor": mark}).decode() + "\n")
            if number == 1500:
                out.flush()
                time.sleep(3)
                running.send_signal(signal.SIGKILL)
                running.wait()
                running = agent(collector, tmp_path / "agent.yaml")
    try:
        ids: dict[str, set[str]] = {}
        for message in log_of(broker, "web.events", 15):
            # An agent that writes to the log itself seals nothing.
            value, _ = plain(collector.settings.home, message)
            visitor = str(orjson.loads(value).get("visitor")) if value.startswith(b"{") else ""
            if visitor.startswith(tmp_path.name):
                ids.setdefault(visitor, set()).add(dict(message.headers())["event_id"].decode())
            if len(ids) == len(marks):
                break
    finally:
        running.kill()
        running.wait()
    assert ids.keys() == set(marks)
    assert all(len(each) == 1 for each in ids.values())


PULL = """
name: pull-{mark}
sources: {{far: {{kind: websocket, url: "{url}"}}}}
interceptors: [{{kind: add, feed: "{mark}", visitor: far}}]
sinks: {{edge: {{kind: http, url: "{edge}", to: web.events}}}}
"""


class Speaking(BaseHTTPRequestHandler):
    """Server-sent events that break off after each one, a firehose, and a page to poll."""

    def do_GET(self) -> None:
        self.send_response(200)
        after = int(self.headers.get("last-event-id") or 0)
        if self.path == "/poll":
            self.send_header("etag", f'"{time.time_ns()}"')
        self.end_headers()
        if self.path == "/sse":
            self.wfile.write(b': hello\n\nid: %d\nevent: x\ndata: {"n": %d}\n\n' % (after + 1, after + 1))
        elif self.path == "/ndjson":
            self.wfile.write(b'{"n": 1}\n\n{"n": 2}\n')
        else:
            self.wfile.write(b'[{"n": 1}, {"n": 2}]')

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def http_source() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Speaking)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="module")
def websocket_source() -> Iterator[str]:
    def speak(line) -> None:
        line.send('{"n": 1}')
        line.send('{"n": 2}')

    with serve(speak, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        server.shutdown()


async def heard(stream: Stream | Lines, wanted: int) -> list[object]:
    events: list[object] = []
    async with asyncio.timeout(30):
        async for batch in stream.batches():
            events += [event.get("n", event.get("name", event.get("line"))) for event in batch]
            if len(events) >= wanted:
                break
    return events[:wanted]


def test_server_sent_events_go_on_where_they_broke_off(http_source) -> None:
    stream = Stream(STREAMS["sse"], f"{http_source}/sse", "json", 5)
    assert asyncio.run(heard(stream, 3)) == [1, 2, 3]


def test_a_firehose_is_followed_and_its_gaps_are_told(http_source) -> None:
    stream = Stream(STREAMS["ndjson"], f"{http_source}/ndjson", "json", 5)
    assert asyncio.run(heard(stream, 5)) == [1, 2, "gap", 1, 2]


def test_a_page_is_polled(http_source) -> None:
    stream = Stream(STREAMS["poll"], f"{http_source}/poll", "json", 1)
    assert asyncio.run(heard(stream, 4)) == [1, 2, 1, 2]


def test_a_websocket_is_followed_and_its_gaps_are_told(websocket_source) -> None:
    stream = Stream(STREAMS["websocket"], websocket_source, "json", 5)
    assert asyncio.run(heard(stream, 5)) == [1, 2, "gap", 1, 2]


def test_a_websocket_is_brought_to_the_log_by_an_agent_with_its_gaps(
    collector, broker, log_of, websocket_source, tmp_path: Path
) -> None:
    (tmp_path / "agent.yaml").write_text(PULL.format(mark=tmp_path.name, url=websocket_source, edge=collector.url))
    running = agent(collector, tmp_path / "agent.yaml")
    told: set[object] = set()
    try:
        for message in log_of(broker, "web.events", 30):
            value, _ = plain(collector.settings.home, message)
            event = orjson.loads(value) if value.startswith(b"{") else {}
            if event.get("feed") == tmp_path.name:
                told.add(event.get("n", event.get("name")))
            if len(told) == 3:
                break
    finally:
        running.kill()
        running.wait()
    assert told == {1, 2, "gap"}


def test_lines_over_tcp_are_events(ports) -> None:
    port = ports()

    async def talk() -> list[object]:
        hearing = asyncio.create_task(heard(Lines(port), 2))
        await asyncio.sleep(0.2)
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"<34>one\n<34>two\n")
        await writer.drain()
        return await hearing

    assert asyncio.run(talk()) == ["<34>one", "<34>two"]
