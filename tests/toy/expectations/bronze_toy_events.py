"""bronze.toy.events: what its sender sent, as it came."""

from domains.toy.model import EVENTS

from penstock.engine.suites import records_of

SUITE = records_of(EVENTS)
