"""The questions of `penstock bench serve`, asked of published rows by Spark SQL that is warm.

    python spark_questions.py GOLD QUESTIONS

GOLD is the view's table; QUESTIONS a JSON file: how many rounds, and the questions about its `days` and `hours`.
Prints, as JSON, the mean milliseconds of a question and each answer's rows.
"""

import json
import sys
import time
from pathlib import Path

from penstock.lake.session import open_session
from penstock.settings import Settings


def main() -> int:
    gold, asked = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
    # The second compiler, and room for the rows: as somebody would have it who asks Spark all day.
    spark = open_session(Settings.from_env(), "questions", short=False, **{"spark.driver.memory": "3g"})
    for name, width in (("days", "1 day"), ("hours", "1 hour")):
        rows = spark.read.format("delta").load(gold).where(f"width = '{width}'")
        rows.cache().count()
        rows.createOrReplaceTempView(name)
    begun = 0.0
    for number in range(asked["warm"] + asked["rounds"]):
        begun = time.perf_counter() if number == asked["warm"] else begun
        told = [spark.sql(question).toArrow().to_pylist() for question in asked["questions"]]
    spent = (time.perf_counter() - begun) / asked["rounds"] / len(asked["questions"]) * 1000
    print(json.dumps({"ms": round(spent, 1), "rows": told}, default=str))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
