"""kill -9 of `penstock send` in the middle of a file: run again, each line is one event on the log."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

import pytest
from confluent_kafka import Message

from penstock.ops.sending import Mark

SOURCE = "web.users"
SEND = [sys.executable, "-c", "from penstock.ops.cli import main; main()", "send", "--source", SOURCE, "--json"]
LINES = [b'{"user": "killed-%d", "plan": "gold"}\n' % number for number in range(20_000)]


@pytest.fixture
def sent(broker: str, log_of: Callable[..., Iterator[Message]]) -> Callable[[], set[str]]:
    """The ids that the log has."""
    return lambda: {dict(message.headers() or ())["event_id"].decode() for message in log_of(broker, SOURCE, 2)}


def test_each_line_is_one_event_although_its_sender_was_killed(collector, sent, tmp_path: Path) -> None:
    file, marks = tmp_path / "many.ndjson", collector.settings.home / "run" / "send"
    file.write_bytes(b"".join(LINES))
    mark = Mark(marks, str(file), SOURCE, restart=True)
    starts = accumulate(map(len, LINES), initial=0)
    expected = {mark.event_id(start, line) for start, line in zip(starts, LINES, strict=False)}
    before, environment = sent(), {**os.environ, **collector.settings.to_env()}
    sending = subprocess.Popen([*SEND, str(file)], env=environment, stdout=subprocess.DEVNULL)
    while mark.offset == 0:
        assert sending.poll() is None
        time.sleep(0.005)
        mark = Mark(marks, str(file), SOURCE, restart=False)
    sending.kill()
    sending.wait()
    assert 0 < Mark(marks, str(file), SOURCE, restart=False).offset < file.stat().st_size
    again = subprocess.run([*SEND, str(file)], env=environment, capture_output=True, timeout=90)
    assert (again.returncode, json.loads(again.stdout)["sent"] < len(LINES)) == (0, True)
    assert sent() - before == expected
