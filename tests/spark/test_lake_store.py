"""The stores that Delta and Spark really use in a session of ours."""

import pytest


@pytest.mark.parametrize(
    ("address", "store"),
    [("file:/lake/t", "LinkLogStore"), ("s3a://lake/t", "PutLogStore"), ("s3://lake/t", "PutLogStore")],
)
def test_delta_writes_its_log_through_our_store(spark, address: str, store: str) -> None:
    jvm = spark._jvm
    stores = jvm.org.apache.spark.sql.delta.storage.LogStore.apply(spark._jsparkSession)
    delegate = stores.getDelegate(jvm.org.apache.hadoop.fs.Path(address))
    assert delegate.logStoreImpl().getClass().getName() == f"penstock.lake.{store}"


def test_a_checkpoint_is_written_through_our_files(spark, tmp_path) -> None:
    jvm = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(f"file:{tmp_path}")
    files = jvm.org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.create(
        path, spark._jsparkSession.sessionState().newHadoopConf()
    )
    assert files.getClass().getName() == "penstock.lake.CheckpointFiles"
