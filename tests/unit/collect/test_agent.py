"""Agents: lines become events or say why not; files are followed through rotation; streams come back by themselves."""

import asyncio
import os
import re
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import orjson
import pytest
from jsonschema import Draft202012Validator

from domains import web
from penstock.collect.agent.formats import FORMATS, parsed
from penstock.collect.agent.run import read, run
from penstock.collect.agent.sources import Tail
from penstock.collect.agent.streams import Connect, Message, Silent, Stream
from penstock.ops.stack.trial import free_port
from penstock.settings import SettingError

COMBINED = '1.2.3.4 - ann [10/Oct/2026:13:55:36 +0000] "GET /x HTTP/1.1" 200 2326 "http://a.example/" "browser/1"'


@pytest.mark.parametrize(
    ("format", "lines", "last"),
    [
        ("json", ['{"a": 1}'], {"a": 1}),
        ("json", ["[1]"], {"line": "[1]", "parse_hint": "not an object"}),
        ("text", ["hello"], {"line": "hello"}),
        ("csv", ["a,b", '1,"x,y"'], {"a": "1", "b": "x,y"}),
        ("csv", ["a,b", "1"], {"line": "1", "parse_hint": "1 values for 2 columns"}),
        ("w3c", ["#Fields: time cs-uri c-ip", "10:00 /x -"], {"time": "10:00", "cs-uri": "/x"}),
        ("w3c", ["#Fields: a", "1", "#Fields: b", "2"], {"b": "2"}),
        (
            "apache",
            ['1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "GET /x HTTP/1.1" 304 -'],
            {"host": "1.2.3.4", "time": "10/Oct/2026:13:55:36 +0000", "request": "GET /x HTTP/1.1", "status": "304"},
        ),
        ("apache", ["junk"], {"line": "junk", "parse_hint": "not Apache's common or combined format"}),
    ],
)
def test_a_line_is_an_event_or_says_why_not(format: str, lines: list[str], last: dict[str, object]) -> None:
    parse = FORMATS[format]()
    assert [parsed(parse, line) for line in lines][-1] == last


def test_apaches_combined_format_is_read() -> None:
    event = parsed(FORMATS["apache"](), COMBINED)
    assert event is not None
    assert (event["host"], event["user"], event["status"], event["user_agent"]) == (
        "1.2.3.4",
        "ann",
        "200",
        "browser/1",
    )


def test_broken_json_is_kept_with_a_hint() -> None:
    event = parsed(FORMATS["json"](), "{broken")
    assert event is not None and event["line"] == "{broken" and event["parse_hint"]


async def taken(tail: Tail, wanted: int, safe: bool = True) -> list[dict]:
    events: list[dict] = []
    async with asyncio.timeout(10):
        async for batch in tail.batches():
            events += batch
            if safe:
                tail.safe()
            if len(events) >= wanted:
                break
    return events


def test_a_file_is_followed_through_rotation_and_restart(tmp_path: Path) -> None:
    state, file = tmp_path / "state.json", tmp_path / "app.log"
    file.write_text("one\ntwo\n")
    assert [event["line"] for event in asyncio.run(taken(Tail(state, f"{file}*"), 2))] == ["one", "two"]
    with file.open("a") as more:
        more.write("three\nhalf")
    file.rename(tmp_path / "app.log.1")
    file.write_text("four\n")
    later = asyncio.run(taken(Tail(state, f"{file}*"), 2))
    assert [event["line"] for event in later] == ["three", "four"]


def test_a_folder_is_every_file_in_it_and_nothing_else(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    (logs / "older").mkdir(parents=True)
    (logs / "older" / "not.log").write_text("deeper\n")
    os.mkfifo(logs / "pipe")
    (logs / "gone.log").symlink_to(tmp_path / "nowhere")
    for name in ("a.log", "b.txt"):
        (logs / name).write_text(f"{name}\n")
    for number, path in enumerate((logs, f"{logs}/*")):
        events = asyncio.run(taken(Tail(tmp_path / f"{number}.json", str(path)), 2))
        assert sorted(event["line"] for event in events) == ["a.log", "b.txt"]


def test_lines_that_were_not_safe_come_again_with_the_same_ids(tmp_path: Path) -> None:
    state, file = tmp_path / "state.json", tmp_path / "app.log"
    file.write_text("one\ntwo\n")
    first = asyncio.run(taken(Tail(state, str(file)), 2, safe=False))
    assert asyncio.run(taken(Tail(state, str(file)), 2)) == first


def test_an_agent_brings_everything_through_its_spool(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(f"""
name: numbers
sources: {{ones: {{kind: sequence, count: 1200, rate: 100000}}}}
channel: {{kind: spool}}
interceptors:
  - {{kind: add, site: a.example}}
  - {{kind: drop, field: number, pattern: "^7$"}}
sinks: {{out: {{kind: file, path: {tmp_path}/out.ndjson}}}}
""")
    asyncio.run(asyncio.wait_for(run(read(tmp_path / "agent.yaml", tmp_path)), 30))
    events = [orjson.loads(line) for line in (tmp_path / "out.ndjson").read_bytes().splitlines()]
    assert [event["number"] for event in events] == [number for number in range(1200) if number != 7]
    assert len({event["event_id"] for event in events}) == 1199
    assert {event["site"] for event in events} == {"a.example"}


def test_agents_are_chained_and_the_first_waits_for_the_second(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "near.yaml").write_text(f"""
name: near
sources: {{ones: {{kind: sequence, count: 1200, rate: 100000}}}}
sinks: {{far: {{kind: http, url: "http://127.0.0.1:{port}", to: web.events}}}}
""")
    (tmp_path / "far.yaml").write_text(f"""
name: far
sources: {{near: {{kind: http, port: {port}}}}}
channel: {{kind: spool}}
sinks: {{out: {{kind: file, path: {tmp_path}/out.ndjson}}}}
""")

    async def chain() -> list[dict]:
        near = asyncio.create_task(run(read(tmp_path / "near.yaml", tmp_path)))
        await asyncio.sleep(0.5)
        assert not near.done()
        far = asyncio.create_task(run(read(tmp_path / "far.yaml", tmp_path)))
        await near
        # What is safe in the far one's spool is in its file a moment later.
        while not (tmp_path / "out.ndjson").exists():
            await asyncio.sleep(0.05)
        while len(lines := (tmp_path / "out.ndjson").read_bytes().splitlines()) < 1200:
            await asyncio.sleep(0.05)
        far.cancel()
        return [orjson.loads(line) for line in lines]

    events = asyncio.run(asyncio.wait_for(chain(), 60))
    assert sorted(event["number"] for event in events) == list(range(1200))
    assert len({event["event_id"] for event in events}) == 1200


@pytest.mark.parametrize(
    "mistake", ["name: x", "[]", "name: x\nsources: {a: {kind: nothing}}\nsinks: {}", "name: x\nsources: 3\nsinks: {}"]
)
def test_a_mistake_in_the_file_is_told(tmp_path: Path, mistake: str) -> None:
    (tmp_path / "agent.yaml").write_text(mistake)
    with pytest.raises(SettingError, match=r"agent\.yaml"):
        read(tmp_path / "agent.yaml", tmp_path)


async def first_events(stream: Stream, wanted: int) -> list[dict]:
    events: list[dict] = []
    async with asyncio.timeout(20):
        async for batch in stream.batches():
            events += batch
            if len(events) >= wanted:
                break
    return events


def test_a_connection_that_breaks_or_falls_silent_is_made_again_and_the_gap_is_an_event() -> None:
    attempts = count()

    async def moody(_: Stream) -> AsyncIterator[Message]:
        attempt = next(attempts)
        yield f'{{"n": {attempt}}}', False
        if attempt == 0:
            raise ConnectionResetError("reset")
        await asyncio.sleep(60)

    events = asyncio.run(first_events(Stream(moody, "ws://x", "json", 0.3), 5))
    assert [event.get("n", event.get("name")) for event in events[:5]] == [0, "gap", 1, "gap", 2]
    assert (events[1]["why"], events[1]["from"] <= events[1]["to"]) == ("reset", True)
    assert events[3]["why"] == str(Silent("nothing came for 0.3 s"))


ONE_GAP = """
name: feed
sources: {{far: {{kind: ndjson, url: "https://ann:secret@a.example:8443/feed?key=secret"{gaps}}}}}
sinks: {{out: {{kind: logger}}}}
"""


@pytest.mark.parametrize(
    ("gaps", "told"),
    [
        (
            "",
            {
                "type": "event",
                "name": "gap",
                "site": "a.example",
                "visitor": "penstock agent",
                "url": "https://a.example:8443/feed",
            },
        ),
        (", gaps: {kind: outage, feed: far}", {"kind": "outage", "feed": "far"}),
    ],
    ids=["web.events", "another contract"],
)
def test_a_gap_is_what_its_source_says_that_it_is(tmp_path: Path, gaps: str, told: dict[str, object]) -> None:
    (tmp_path / "agent.yaml").write_text(ONE_GAP.format(gaps=gaps))
    stream = read(tmp_path / "agent.yaml", tmp_path).sources["far"]
    assert isinstance(stream, Stream)
    stream._connect = broken_once()
    gap = asyncio.run(first_events(stream, 2))[1]
    assert {name: gap[name] for name in gap if name not in ("event_id", "from", "to", "why")} == told


def test_a_gap_is_what_web_events_takes() -> None:
    schema = orjson.loads((Path(web.__file__).parent / "schemas" / "web.events.schema.json").read_bytes())
    gap = asyncio.run(first_events(Stream(broken_once(), "wss://a.example/feed"), 2))[1]
    assert [error.message for error in Draft202012Validator(schema).iter_errors(gap)] == []
    assert gap["url"] == "https://a.example/feed"


def broken_once() -> Connect:
    async def speak(_: Stream) -> AsyncIterator[Message]:
        yield "{}", False

    return speak


def test_a_source_that_could_go_on_has_no_gap() -> None:
    async def resumable(stream: Stream) -> AsyncIterator[Message]:
        yield '{"n": 1}', bool(stream.cursor)
        stream.cursor = "1"

    events = asyncio.run(first_events(Stream(resumable, "http://x", "json", 5), 3))
    assert [event["n"] for event in events] == [1, 1, 1]


def test_the_documentations_examples_are_understood(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "agents.md").read_text()
    whole, one_source = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "agent.yaml").write_text(whole)
    assert list(read(tmp_path / "agent.yaml", tmp_path).sources) == ["access", "syslog", "prices"]
    (tmp_path / "agent.yaml").write_text(f"name: one\nsources:\n  {one_source}sinks: {{}}\n")
    assert list(read(tmp_path / "agent.yaml", tmp_path).sources) == ["prices"]
