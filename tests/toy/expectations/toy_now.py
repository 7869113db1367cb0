"""toy.now: what everybody did last."""

from domains.toy.views import NOW

from penstock.engine.suites import Suite, present

SUITE = Suite(NOW.name, present("who"))
