"""What each address of the read API answers with, as plain values."""

from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from time import perf_counter
from typing import Any

from confluent_kafka import KafkaException
from starlette.requests import Request

from penstock import __version__
from penstock.lake.ledger import balances
from penstock.lake.place import place
from penstock.log.alerts import Alerts
from penstock.model.view import Tally, keys
from penstock.serve.acting import Acts
from penstock.serve.beside import Beside
from penstock.serve.certificate import certificate, streams
from penstock.serve.declared import report
from penstock.serve.described import described
from penstock.serve.encode import rows_of
from penstock.serve.engine import Stop
from penstock.serve.files import Files
from penstock.serve.judging import Judges
from penstock.serve.live import AUDIT, PIPELINE, Key, Live
from penstock.serve.matched import ALERTS, ROWS, Matched, limited, rules
from penstock.serve.metrics import Metrics
from penstock.serve.openapi import openapi
from penstock.serve.problems import Problem, bad, or_problem
from penstock.serve.question import ask, questions
from penstock.serve.reader import Answer, Reader
from penstock.serve.records import latest
from penstock.serve.reports import KINDS
from penstock.serve.reports.kept import Reports
from penstock.serve.snapshot import Snapshot
from penstock.serve.told import Told
from penstock.serve.undoing import Undoing, named, source_of
from penstock.serve.works import Works
from penstock.settings import Settings

# Answers that are kept while their view does not change: a console asks a few dozen questions.
HELD = 256
# A page asks for its lists at once, which are some ten.
MOST_ASKED = 20
# A log that does not answer is asked for ten seconds and more: who looks at the pipeline then must see the rest.
LEDGER_SECONDS = 1.5


class Answers:
    """Over one lake and one home."""

    def __init__(self, settings: Settings, reader: Reader) -> None:
        self._settings = settings
        self._reader = reader
        self._streams: list[dict[str, Any]] = []
        self._records = Files()
        self._held: dict[Hashable, tuple[Snapshot, Answer, list[dict[str, Any]]]] = {}
        self._reports = Reports(reader, KINDS)
        self._asking = [Lock() for _ in range(64)]
        self.metrics = Metrics()
        self.live = Live(self._live)
        self.matched = Matched(reader.layout)
        self.judges = Judges(reader, Alerts(settings.kafka).tell_if_there)
        self.told = Told(settings, reader)
        self.works = Works(settings, reader)
        self.acts = Acts(settings)
        self.undoing = Undoing(reader)
        self._ledger = Beside(self.hours, "ledger", LEDGER_SECONDS)

    @property
    def at_hand(self) -> bool:
        """Whether the lake is on a disk of this machine, where a look costs next to nothing."""
        return place(self._reader.layout.root).local

    def refresh(self) -> set[str]:
        self._streams = streams(self._settings.home)
        changed = self._reader.refresh()
        changed |= self._looked("alerts", self.matched.refresh)
        changed |= self._looked(AUDIT, self.told.refresh)
        changed |= self._looked("books", lambda: self._reader.books.refresh(self._reader.standing))
        self.metrics.refreshed(self._reader, self.live.subscribers, self._streams)
        return changed

    def _looked(self, what: str, look: Callable[[], set[str]]) -> set[str]:
        """A look beside the views: one that fails must not keep the views from being told."""
        try:
            changed = look()
            self._reader.problems.pop(what, None)
        except Exception as error:
            self._reader.problems[what] = f"{type(error).__name__}: {error}"
            return set()
        return changed

    def views(self, _: Request) -> object:
        return {"views": [described(view) for view in self._reader.views().values()]}

    def view(self, request: Request) -> object:
        return self.answer(request.path_params["name"], request.query_params.multi_items(), request.state.stop)

    def several(self, request: Request) -> object:
        """Questions of one page in one request; one that cannot be answered has its `problem` where its answer was."""
        found = questions(request.query_params.multi_items())
        if len(found) > MOST_ASKED:
            raise bad(f"ask at most {MOST_ASKED} questions in one request")
        return {"answers": [or_problem(partial(self.answer, *one, request.state.stop)) for one in found]}

    def answer(self, name: str, said: Sequence[tuple[str, str]], stop: Stop | None = None) -> dict[str, Any]:
        """The document of one question. Who asks again before anything changed gets the same rows."""
        begun = perf_counter()
        # Once a question: a switch meanwhile must not mix two releases.
        standing = self._reader.standing
        view = self._reader.view(name, standing)
        question = ask(view, said, datetime.now(UTC).replace(microsecond=0))
        snapshot = self._reader.snapshot(view, standing)
        key = name, question.start, question.end, tuple(sorted(said))
        # Eight dashboards ask the same when an epoch has come: one answer is made, and all have it.
        with self._asking[hash(key) % len(self._asking)]:
            held = self._held.get(key)
            if held is None or held[0] is not snapshot:
                answer = self._reader.answer(question, snapshot, stop)
                held = snapshot, answer, rows_of(answer.rows, question.zone)
                self._hold(key, held)
        told = certificate(held[1], self._reader.refreshed_at, self._streams, self._reader.books)
        self.metrics.answered(name, perf_counter() - begun)
        return {"view": name, "rows": held[2], "certificate": told}

    def report(self, request: Request) -> object:
        """A report of a domain's page: made of several questions, so it takes longer than a view."""
        declared = report(request.path_params["domain"], request.path_params["name"])
        return self._reports.document(declared, request.query_params.multi_items(), self._streams)

    def _hold(self, key: Hashable, held: tuple[Snapshot, Answer, list[dict[str, Any]]]) -> None:
        while len(self._held) >= HELD:
            self._held.pop(next(iter(self._held)), None)
        self._held[key] = held

    def facts(self, request: Request) -> object:
        return self._latest(request, "fact")

    def rejected(self, request: Request) -> object:
        return self._latest(request, "rejected")

    def alerts(self, request: Request) -> object:
        """The newest alerts, of one rule or of all."""
        return self.matched.answer(request.query_params.multi_items())

    def ledger(self, request: Request) -> object:
        name = request.query_params.get("source")
        return self.hours(named(name).name if name else None)

    def hours(self, source: str | None = None) -> dict[str, Any]:
        try:
            hours = balances(self._reader.layout, self._settings.kafka, source)
        except KafkaException as lost:
            why = f"the log does not answer ({lost.args[0].str()}); penstock status says how it is"
            raise Problem(503, "The ledger cannot be read", why) from lost
        return {"hours": [hour.as_dict() for hour in hours]}

    def subscribers(self, _: Request) -> object:
        return {"subscribers": self.live.told()}

    def status(self, _: Request) -> object:
        return self.standing()

    def standing(self) -> dict[str, Any]:
        behind = {name: self._reader.snapshot(view).epoch for name, view in self._reader.views().items()}
        return {
            "streams": self._streams,
            "epochs": behind,
            "problems": self._reader.problems,
            "collector_port": self._settings.collector_port,
        }

    def pipeline(self) -> dict[str, Any]:
        """Status and ledger at one moment; of a part that cannot be read its problem, so that the other is told."""
        return {"at": datetime.now(UTC), "status": or_problem(self.standing), "ledger": self._ledger.latest()}

    def openapi(self, _: Request) -> object:
        return openapi(list(self._reader.views().values()), __version__)

    def _latest(self, request: Request, disposition: str) -> object:
        asked = source_of(request)
        limit = limited(request.query_params.get("limit", str(ROWS)))
        release, reason = self._reader.release(asked.domain), request.query_params.get("reason", "")
        rows = latest(self._reader.layout, self._records, release, asked, disposition, limit, reason)
        return {"source": asked.name, "release": release, "rows": rows}

    def _live(self, key: Key) -> tuple[dict[str, Any], tuple[str, ...]]:
        said = dict(key)
        if said.get("about") == PIPELINE and len(key) == 1:
            return self.pipeline(), ()
        if said.get("about") == ALERTS and len(key) == 1:
            return self.matched.answer(()), ("id",)
        if said.get("about") == AUDIT and len(key) == 1:
            return self.told.done(), ()
        if "rule" in said and "view" not in said:
            return {"rule": said["rule"], **self.matched.answer(key)}, ("id",)
        if "view" not in said:
            known = (*self._reader.views(), *rules(), PIPELINE, ALERTS, AUDIT)
            raise bad("say which view: ?view=…, which rule: ?rule=…, or what: ?about=…", *known)
        view = self._reader.view(said["view"])
        names = ("bucket", "again", *view.by) if isinstance(view, Tally) else (*keys(view), "started")
        return self.answer(view.name, [pair for pair in key if pair[0] != "view"]), names
