"""Who cannot see the keys must not take everybody for erased."""

from pathlib import Path

import pyarrow as pa
import pytest

from penstock.engine.unsealing import unsealed
from penstock.keys.store import Keys, NoKeys
from penstock.model.record import SUBJECTS

HEADERS = pa.list_(pa.struct({"key": pa.string(), "value": pa.binary()}))


def record(subjects: bytes | None) -> pa.Table:
    headers = [{"key": SUBJECTS, "value": subjects}] if subjects else []
    return pa.table({"value": pa.array([b"{}"], pa.binary()), "headers": pa.array([headers], HEADERS)})


def test_sealed_records_without_any_keys_stop_the_stream(tmp_path: Path) -> None:
    with pytest.raises(NoKeys, match="no keys at"):
        unsealed(record(bytes(16)), Keys.of_home(tmp_path).folder)


def test_plain_records_need_no_keys(tmp_path: Path) -> None:
    values, agents = unsealed(record(None), Keys.of_home(tmp_path).folder)
    assert (values.to_pylist(), agents.to_pylist()) == ([b"{}"], [None])
