"""Who cannot see the keys must not take everybody for erased."""

from pathlib import Path

import pyarrow as pa
import pytest

from penstock.engine.unsealing import _opened
from penstock.keys.store import Keys, NoKeys


def batch(subjects: bytes | None) -> pa.RecordBatch:
    columns = {"value": b"{}", "_subjects": subjects, "_agent": None}
    return pa.RecordBatch.from_pydict({name: pa.array([each], pa.binary()) for name, each in columns.items()})


def test_sealed_records_without_any_keys_stop_the_stream(tmp_path: Path) -> None:
    with pytest.raises(NoKeys, match="no keys at"):
        _opened(Keys.of_home(tmp_path), batch(bytes(16)))


def test_plain_records_need_no_keys(tmp_path: Path) -> None:
    assert _opened(Keys.of_home(tmp_path), batch(None))["value"].to_pylist() == [b"{}"]
