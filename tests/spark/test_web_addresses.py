"""The laws of normalised addresses, over addresses of every kind; an example is a batch, which is what Spark takes."""

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings
from pyspark.sql import SparkSession

from domains.web import addresses

LABEL = st.text("aB9-ß", min_size=1, max_size=5)
PATH = st.text("aZ/.%20~é-", max_size=12)
PAIR = st.builds(
    "{}={}".format, st.sampled_from(["a", "b", "utm_source", "gclid", "q"]), st.text("x&=%+ é?", max_size=5)
)
ADDRESS = st.builds(
    "{}://{}{}{}/{}{}{}".format,
    st.sampled_from(["http", "HTTPS", "https"]),
    st.sampled_from(["", "u:p@"]),
    st.builds("{}.Example{}".format, LABEL, st.sampled_from(["", ".", "..."])),
    st.sampled_from(["", ":", ":80", ":443", ":8080"]),
    PATH,
    st.one_of(st.just(""), st.builds("?{}".format, st.lists(PAIR, max_size=4).map("&".join))),
    st.sampled_from(["", "#", "#top", "#/a?b"]),
)
BATCH = st.lists(ADDRESS, min_size=100, max_size=150)
FEW = settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))


def normalised(spark: SparkSession, batch: list[str]) -> list[str]:
    told = spark.createDataFrame([(one,) for one in batch], "told string")
    split = told.selectExpr(f"{addresses.parts('told')} as split")
    return [row[0] for row in split.selectExpr(addresses.when_valid("split", addresses.normalised("split"))).collect()]


@FEW
@given(BATCH)
def test_normalising_twice_changes_nothing(spark: SparkSession, batch: list[str]) -> None:
    once = normalised(spark, batch)
    assert normalised(spark, once) == once


@FEW
@given(BATCH)
def test_what_does_not_name_a_page_makes_no_difference(spark: SparkSession, batch: list[str]) -> None:
    # Spaces around an address are not part of it.
    bare = [one.partition("#")[0].strip() for one in batch]
    tracked = [f"{one}{'&' if '?' in one else '?'}utm_medium=m&fbclid=1#x" for one in bare]
    assert normalised(spark, tracked) == normalised(spark, bare)
