"""Before every address: who asks, whether they may, and whether the page that asks is ours."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from penstock.serve import declared
from penstock.serve.access.identity import Access
from penstock.serve.access.shares import Share
from penstock.serve.access.who import LOCAL, Who
from penstock.serve.encode import document
from penstock.serve.problems import Problem
from penstock.serve.question import questions

# What holds nothing of anybody: the page itself, its parts, its door, and how the server does.
OPEN = ("/healthz", "/metrics", "/api/me", "/api/login", "/api/logout")
OPEN_BELOW = ("/console/", "/vendor/", "/share/")
# What writes, and who may. Reading takes an analyst, anything that is not here somebody on call.
WRITES = {"/api/ticket": "analyst", "/api/shares": "admin"}
READS = {"/api/shares": "admin"}
SAFE = ("GET", "HEAD")


class Guard:
    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        who = self._access.who(asked)
        scope.setdefault("state", {})["who"] = who
        problem = refusal(asked, who)
        if problem is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocket(scope, receive, send).close(1008, problem.title)
        else:
            answer = Response(document(problem.document()), problem.status, media_type="application/problem+json")
            await answer(scope, receive, send)


def refusal(asked: HTTPConnection, who: Who | None) -> Problem | None:
    """Why this is not answered; None if it is."""
    path, method = asked.scope["path"], asked.scope.get("method", "GET")
    if method not in SAFE and not same_origin(asked):
        return Problem(403, "Another site's page asked", "pages of other sites may not do anything here")
    if path == "/" or path in OPEN or path.startswith(OPEN_BELOW):
        return None
    if who is None:
        return Problem(401, "Log in first", "log in at / , or send user and password (HTTP Basic)")
    if who.share is not None:
        return None if shown(who.share, path, asked.query_params.multi_items()) else _not_shared()
    return None if who.may(needed(path, method)) else _too_little(who, needed(path, method))


def needed(path: str, method: str) -> str:
    """The least role that may."""
    kinds, usual = (READS, "analyst") if method in SAFE else (WRITES, "oncall")
    return next((role for start, role in kinds.items() if path == start or path.startswith(f"{start}/")), usual)


def shown(share: Share, path: str, said: Iterable[tuple[str, str]]) -> bool:
    """What a link shows: the views of one page, of one scope. Visitors' and users' own rows are on no page."""
    page = declared.pages().get(share.domain)
    if page is None or path in ("/api/domains", "/api/views", "/api/ticket"):
        return page is not None
    asked = [*said]
    within = ("where", f"{page.scope}:eq:{share.scope}") in asked
    views = {*(name for one in page.headlines for name in one.views), *(one.view for one in page.lists), page.live}
    reports = {f"/api/reports/{share.domain}/{one.name}" for one in page.reports}
    if path == "/api/answers":
        return all(shown(share, f"/api/views/{name}", parameters) for name, parameters in questions(asked))
    if path == "/api/live":
        return within and dict(asked).get("view") in views
    return within and (path in reports or path in {f"/api/views/{name}" for name in views})


def same_origin(asked: HTTPConnection) -> bool:
    """Browsers say which page asks; programs say nothing."""
    origin = asked.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == asked.headers.get("host")


def who_of(asked: HTTPConnection) -> Who:
    who: Who | None = asked.state.who
    return who or LOCAL


def _not_shared() -> Problem:
    return Problem(403, "The link does not show this", "it shows the views of one page")


def _too_little(who: Who, role: str) -> Problem:
    return Problem(403, "You may not do this", f"{who.name} is {who.role}; it takes {role}. Log in as one.")
