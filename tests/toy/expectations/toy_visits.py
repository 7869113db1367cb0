"""toy.visits: sessions by what they began with."""

from domains.toy.views import VISITS

from penstock.engine.suites import present, rows_of

SUITE = rows_of(VISITS, *present("entry"))
