"""toy.impulses: who bought within five minutes of looking."""

from domains.toy.views import IMPULSES

from penstock.engine.suites import Suite, present

# Nobody need be in a hurry.
SUITE = Suite(IMPULSES.name, present("who", "happened_at", "seconds"), may_be_empty=True)
