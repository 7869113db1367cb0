"""The Python client and the commands over it: nothing is lost, nothing is sent as a second event."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.client import Client, NotSent, Refused

PENSTOCK = [sys.executable, "-c", "from penstock.ops.cli import main; main()"]


def penstock(collector, *words: str, stdin: bytes = b"", stderr: int = subprocess.PIPE) -> subprocess.CompletedProcess:
    environment = {**os.environ, **collector.settings.to_env()}
    told = {"input": stdin, "stdout": subprocess.PIPE, "stderr": stderr}
    return subprocess.run([*PENSTOCK, *words], env=environment, timeout=90, **told)


def test_futures_give_the_ids_of_events_that_are_safe(collector, on_log) -> None:
    with Client(collector.url, "web.events") as client:
        futures = client.send_many({"visitor": str(number)} for number in range(1200))
        ids = [future.result(30) for future in futures]
    assert len(set(ids)) == 1200
    assert on_log(ids).keys() == set(ids)


def test_only_the_refused_event_of_a_batch_fails(collector) -> None:
    with Client(collector.url, "web.events") as client:
        good, bad = client.send_many([{"visitor": "a"}, {"visitor": ["a"]}])
        assert good.result(30)
        with pytest.raises(Refused, match="bad_key"):
            bad.result(30)


def test_a_client_survives_the_collectors_restart(broker, collector_of, on_log) -> None:
    collector = collector_of(broker)
    with Client(collector.url, "web.events") as client:
        collector.kill()
        future = client.send({"visitor": "patient"})
        collector.start().ready()
        assert on_log([future.result(60)])


def test_a_client_gives_up_by_name(settings) -> None:
    with Client("http://127.0.0.1:9", "web.events", retries=0) as client, pytest.raises(NotSent, match="1 attempts"):
        client.send({"visitor": "a"}).result(30)


def test_send_goes_on_where_it_was_and_names_what_is_refused(collector, on_log, tmp_path: Path) -> None:
    file = tmp_path / "events.ndjson"
    lines = [json.dumps({"event_id": f"file-{number}", "visitor": "f"}) for number in range(1500)]
    file.write_text("\n".join([*lines[:700], "{broken", *lines[700:1000]]) + "\n")
    first = penstock(collector, "send", str(file), "--json")
    assert first.returncode == 1
    assert json.loads(first.stdout)["sent"] == 1000
    assert b"malformed" in first.stderr
    with file.open("a") as more:
        more.write("\n".join(lines[1000:]) + "\n")
    second = penstock(collector, "send", str(file), "--json")
    assert (second.returncode, json.loads(second.stdout)["sent"]) == (0, 500)
    assert len(on_log([f"file-{number}" for number in range(1500)])) == 1500


# Of each format what stands above the lines, and a line.
LOG = '203.0.113.{} - - [29/Mar/2026:03:30:00 +0200] "GET {} HTTP/1.1" 200 512 "-" "Mozilla/5.0"\n'
W3C = "2026-03-29 01:30:00 203.0.113.{} GET {} - 200 Mozilla/5.0+(X11)\n"
FIELDS = "#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status cs(User-Agent)\n"
TABLE = "v{},https://a.example{},2026-03-29T01:30:00Z,120\n"
COLUMNS = "visitor,url,happened_at,load_ms\n"


@pytest.mark.parametrize(
    ("format", "head", "line", "no_page", "wrong", "passed_over"),
    [
        ("combined", "", LOG, LOG.format(1, "/a.css"), "no log line\n", 1),
        ("w3c", FIELDS, W3C, W3C.format(1, "/a.css"), "2026-03-29 01:30:00 203.0.113.1\n", 3),
        ("csv", COLUMNS, TABLE, "", "v1,https://a.example/,2026-03-29T01:30:00Z,fast\n", 1),
    ],
    ids=["combined", "w3c", "csv"],
)
def test_history_is_imported_once_however_often_it_is_tried(
    collector, tmp_path: Path, format: str, head: str, line: str, no_page: str, wrong: str, passed_over: int
) -> None:
    file = tmp_path / f"history.{format}"
    file.write_text(head + "".join(line.format(number % 200, "/boats") for number in range(700)) + no_page)
    words = ("import", str(file), "--format", format, "--site", "a.example", "--json")
    first = json.loads(penstock(collector, *words).stdout)
    assert (first["sent"], first["refused"], first["passed_over"]) == (700, 0, passed_over)
    # What the head says of the lines is known again on going on.
    with file.open("a") as more:
        more.write(line.format(7, "/book") + wrong)
    again = penstock(collector, *words)
    assert (again.returncode, json.loads(again.stdout)["sent"]) == (1, 1), again.stderr
    assert b"malformed" in again.stderr


def test_whoever_watches_an_import_sees_how_far_it_is(collector, tmp_path: Path) -> None:
    file = tmp_path / "history.csv"
    file.write_text("visitor,url,happened_at\nv1,https://a.example/,2026-03-29T01:30:00Z\n")
    terminal, theirs = pty.openpty()
    words = ("import", str(file), "--format", "csv", "--site", "a.example")
    assert penstock(collector, *words, stderr=theirs).returncode == 0
    size = file.stat().st_size
    assert f"{size}/{size} bytes" in os.read(terminal, 65536).decode()


def test_tail_shows_what_send_sent(collector) -> None:
    sent = penstock(collector, "send", "-", stdin=b'{"visitor":"tailed"}\n')
    assert sent.stdout == b"1 events sent, 0 refused\n"
    shown = penstock(collector, "tail", "web.events", "--from", "beginning", "--limit", "1", "--json")
    assert json.loads(shown.stdout.splitlines()[0])["offset"] >= 0


def test_a_collector_that_is_not_there_is_said_so(collector, tmp_path: Path) -> None:
    gone = penstock(collector, "tail", "web.nothing")
    assert gone.returncode == 3
    assert b"unknown_source" in gone.stderr
