"""Records of a real log, as whoever has the keys of a home may read them."""

from pathlib import Path

from confluent_kafka import Message

from penstock.keys.sealing import Opener
from penstock.keys.store import Keys
from penstock.model.record import SUBJECTS


def plain(home: Path, message: Message) -> tuple[bytes, bytes]:
    """What was sent, and the user agent; nothing where this home cannot open it."""
    subjects = dict(message.headers() or ()).get(SUBJECTS) or b""
    assert isinstance(subjects, bytes)
    return Opener(Keys.of_home(home), [subjects]).opened(message.value() or b"", subjects) or (b"", b"")
