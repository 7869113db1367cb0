"""What a task that failed said last, from its log as Airflow keeps it."""

import json
from typing import Any

import pytest

from penstock import cockpit
from penstock.cockpit import APPROVE, LOOKS_BEFORE_AN_ANSWER, Cockpit, Run, last_words

HOOK = "airflow.task.hooks.airflow.providers.apache.spark.hooks.spark_submit.SparkSubmitHook"


def line(event: str, **more: Any) -> str:
    return json.dumps({"event": event, "level": "info", **more})


ERROR = line("Task failed", error_detail=[{"exc_type": "RequestRefused", "exc_value": "web has no release 'r9'"}])
SUBMITTED = line(
    "Task failed", error_detail=[{"exc_type": "DataRefused", "exc_value": "Cannot execute: spark-submit …"}]
)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ([line("begun"), ERROR, line("::endgroup::")], "RequestRefused: web has no release 'r9'"),
        (
            [
                line("The code makes no fact.", logger=HOOK),
                line("2026-11-18T18:28:28Z WARN hooks", logger=HOOK),
                SUBMITTED,
            ],
            "The code makes no fact.",
        ),
        ([line("begun"), line("killed")], "killed"),
        (["not a line of JSON"], "no log was kept"),
    ],
    ids=["a task of Python", "a Spark job", "no error was recorded", "no log"],
)
def test_the_last_words_are_a_sentence(log: list[str], words: str) -> None:
    assert last_words("\n".join(log)) == words


class Waiting(Cockpit):
    """A run that waits for an answer, and is over once it has one."""

    def __init__(self) -> None:
        self.looks, self.answered = 0, False

    def state(self, run: Run) -> Run:
        return Run(run.dag, run.id, "success" if self.answered else "running")

    def tasks(self, run: Run) -> dict[str, str | None]:
        self.looks += 1
        return {APPROVE: "awaiting_input"}

    def approve(self, run: Run) -> None:
        self.answered = True


def test_who_approves_at_once_waits_until_the_scheduler_knows_that_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cockpit, "LOOK_SECONDS", 0.0)
    waiting = Waiting()
    list(waiting.follow(Run("rebuild", "now", "running"), approve=True))
    assert waiting.looks == LOOKS_BEFORE_AN_ANSWER + 1
