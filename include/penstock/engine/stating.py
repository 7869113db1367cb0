"""A retraction or a restatement as a job does it: said, settled, marked, its days built, written into the audit."""

import argparse
from collections.abc import Callable
from functools import partial

from penstock.engine.conditions import BadCondition
from penstock.engine.gate import recorded
from penstock.engine.halting import halted, shapes_of
from penstock.engine.lease import LeaseTaken
from penstock.engine.lineage import kept_up
from penstock.engine.publish import Refused
from penstock.engine.retraction import Unconfirmed, retract, settled
from penstock.engine.signing import book, operated, signed
from penstock.lake.layout import Layout
from penstock.lake.retractions import Restatement, Retraction
from penstock.lake.session import open_session
from penstock.lake.statements import NoSuchStatement
from penstock.model.domain import domains, source
from penstock.model.source import Source
from penstock.settings import Settings

Say = Callable[[Layout, Source], Retraction]


def form(doc: str | None) -> argparse.ArgumentParser:
    """Which facts it is about, or which statement it takes back."""
    parser = signed(doc)
    parser.add_argument(
        "--source", required=True, choices=[each.name for one in domains().values() for each in one.sources]
    )
    parser.add_argument("--where", default="", help="a condition on facts; empty with --revoke: all of it")
    parser.add_argument("--from", dest="first", default="", help="a UTC day or a moment of happened_at")
    parser.add_argument("--to", dest="last", default="", help="a day, included, or a moment, excluded")
    parser.add_argument("--revoke", default="", help="what to take back, whole or where the condition holds")
    parser.add_argument(
        "--confirmed", default="no", choices=["yes", "no"], help="also if it is about all facts or none"
    )
    return parser


def run(verb: str, asked: argparse.Namespace, say: Say) -> int:
    """The job's exit status."""
    refusals = (BadCondition, LeaseTaken, Unconfirmed, NoSuchStatement, Refused)
    tables = partial(kept_up, names=[source(asked.source).domain])
    return operated(verb, tables, partial(stated, verb, asked, say), *refusals)


def stated(verb: str, asked: argparse.Namespace, say: Say) -> str:
    settings = Settings.from_env()
    layout, of = Layout(settings.lake), source(asked.source)
    said = settled(layout, of, say(layout, of), asked.confirmed == "yes")
    spark = open_session(settings, verb)
    quiet = partial(halted, settings.home, shapes_of(layout, of))
    built = retract(spark, layout, of, said, partial(recorded, layout), quiet)
    verb = "revoke" if said.of else verb
    before = {"where": said.where, "from": said.first, "to": said.last, "of": said.of}
    if isinstance(said, Restatement):
        before |= {"field": said.field, "value": said.value}
    views = sorted({one.view for one in built})
    after = {"id": said.id, "records": said.records, "days": list(said.days), "views": views}
    book(layout, asked, verb, of.name, before, after)
    return f"{verb} {said.id}: {said.records:,} records on {len(said.days)} days; {len(built)} views published"
