"""What a gate costs beside one hand-written aggregation of the same metrics, in the same session over the same file."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.engine.counting import Framed
from penstock.engine.gate import judged
from penstock.engine.suites import Suite, present, vocabulary
from penstock.lake.session import open_session
from penstock.ops.bench import Figure
from penstock.settings import Settings

NUMBERS, TEXTS = ("views", "visits", "bounces", "load_ms"), ("site", "page", "country")
EXPECTATIONS = 30
ROUNDS = 3


def run(quick: bool) -> Iterator[Figure]:
    rows = 1_000_000 if quick else 10_000_000
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        settings = Settings(home=Path(folder), lake=f"{folder}/lake", kafka="")
        spark = open_session(settings, "bench gate")
        table = made(spark, rows, f"{folder}/rows")
        suite = thirty()
        ours, verdicts = fastest(lambda: judged(Framed(table), suite)[1])
        peer, failures = fastest(lambda: by_hand(table))
        sound = len(verdicts) == EXPECTATIONS and all(one.passed for one in verdicts) and failures == 0
        detail = {"rows": rows, "expectations": EXPECTATIONS, "rounds": ROUNDS}
        yield Figure("gate.scan", "seconds", ours, peer, goal="<= 1.5x", gate_ok=sound, detail=detail)
        spark.stop()


def made(spark: SparkSession, rows: int, path: str) -> DataFrame:
    """Rows like those of a view: few sites, many pages, counts."""
    number = F.col("id")
    columns = [(number % (97 + place) + 1).alias(name) for place, name in enumerate(NUMBERS)]
    texts = [F.concat(F.lit("/"), number % (13 * (place + 1) ** 3)).alias(name) for place, name in enumerate(TEXTS)]
    spark.range(rows).select(*columns, *texts).write.parquet(path)
    return spark.read.parquet(path)


def thirty() -> Suite:
    gxe = vocabulary()
    bounds = [gxe.ExpectColumnValuesToBeBetween(column=name, min_value=0) for name in NUMBERS]
    more = [gxe.ExpectColumnValuesToBeBetween(column=name, max_value=most) for name in NUMBERS for most in MOST]
    words = [gxe.ExpectColumnValuesToMatchRegex(column=name, regex="^/") for name in TEXTS]
    return Suite("bench.gate", (*present(*NUMBERS, *TEXTS), *bounds, *more, *words))


MOST = (1_000, 2_000, 3_000, 4_000)


def by_hand(rows: DataFrame) -> int:
    """The same thirty counts of failing rows in one aggregation: how many there were in all."""
    failing: list[Column] = [F.col(name).isNull() for name in (*NUMBERS, *TEXTS)]
    failing += [F.col(name) < 0 for name in NUMBERS]
    failing += [F.col(name) > most for name in NUMBERS for most in MOST]
    failing += [~F.col(name).rlike("^/") for name in TEXTS]
    told = rows.agg(F.count("*"), *(F.sum(each.cast("bigint")) for each in failing)).first()
    assert told is not None
    return sum(told[1:])


def fastest(work: Callable[[], Any]) -> tuple[float, Any]:
    """The best of some rounds: the least that other work on the machine can have added."""
    best, result = float("inf"), None
    for _ in range(ROUNDS):
        begun = perf_counter()
        result = work()
        best = min(best, perf_counter() - begun)
    return best, result
