"""toy.sessions: what somebody did without 30 minutes of silence."""

from domains.toy.views import SESSIONS

from penstock.engine.suites import present, rows_of

SUITE = rows_of(SESSIONS, *present("who", "started", "ended"))
