"""Spark, delta-rs and ourselves write one table at once: all link their commits, so each sees who was first."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError

from penstock.engine.commit import Appender, create

ROUNDS = 1_000 if os.environ.get("PENSTOCK_FULL") else 100


# delta-rs gives up after 15 lost rounds; on a busy machine the other writer wins more of them in a row.
PATIENT = CommitProperties(max_commit_retries=10_000)


def append_by_delta_rs(table: Path) -> None:
    for number in range(ROUNDS):
        write_deltalake(table, pa.table({"id": [number]}), mode="append", commit_properties=PATIENT)


def append_by_ourselves(table: Path) -> None:
    appender, number = Appender(str(table)), 0
    while number < ROUNDS:
        # As a stream does: what lost too many rounds is tried again.
        with suppress(CommitFailedError):
            appender.append(pa.table({"id": [ROUNDS + number]}), "ourselves", number)
            number += 1


def append_by_the_log_store(commit, log: Path) -> set[int]:
    """The versions that the JVM was told are its own, each marked in the commit's own words."""
    mine: set[int] = set()
    version = 1
    while len(mine) < ROUNDS:
        action = {"commitInfo": {"timestamp": 0, "operation": "jvm", "operationParameters": {}}}
        if commit(log / f"{version:020}.json", json.dumps(action)):
            mine.add(version)
        version += 1
    return mine


def test_commits_of_spark_of_delta_rs_and_of_ourselves_never_replace_each_other(drivers, tmp_path: Path) -> None:
    create(str(tmp_path), pa.schema({"id": pa.int64()}), ("id",))
    log = tmp_path / "_delta_log"
    commit = drivers[0].commits("penstock.lake.LinkLogStore")
    with ThreadPoolExecutor(3) as pool:
        rows = [pool.submit(append, tmp_path) for append in (append_by_delta_rs, append_by_ourselves)]
        mine = pool.submit(append_by_the_log_store, commit, log).result()
        for each in rows:
            each.result()
    table = DeltaTable(tmp_path)
    assert table.version() == 3 * ROUNDS
    assert sorted(table.to_pyarrow_table()["id"].to_pylist()) == list(range(2 * ROUNDS))
    assert {int(each.stem) for each in log.glob("0*.json") if '"operation": "jvm"' in each.read_text()} == mine


def test_spark_and_delta_rs_append_to_one_table(spark, tmp_path: Path) -> None:
    rounds = 40 if os.environ.get("PENSTOCK_FULL") else 4
    table = str(tmp_path)
    write_deltalake(table, pa.table({"id": [-1]}))

    def by_spark() -> None:
        for number in range(rounds):
            spark.range(number, number + 1).write.format("delta").mode("append").save(table)

    def by_delta_rs() -> None:
        for number in range(rounds, 2 * rounds):
            write_deltalake(table, pa.table({"id": [number]}), mode="append", commit_properties=PATIENT)

    with ThreadPoolExecutor(2) as pool:
        for work in [pool.submit(by_spark), pool.submit(by_delta_rs)]:
            work.result()
    assert sorted(DeltaTable(table).to_pyarrow_table()["id"].to_pylist()) == list(range(-1, 2 * rounds))
