"""The read API and the console, as one ASGI application."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from penstock.serve import pages
from penstock.serve.access.guard import Guard
from penstock.serve.access.identity import Access
from penstock.serve.access.routes import routes
from penstock.serve.answers import Answers
from penstock.serve.drawing import KINDS, picture
from penstock.serve.encode import document
from penstock.serve.engine import Stop
from penstock.serve.live import PIPELINE
from penstock.serve.problems import Problem, fault
from penstock.serve.texts import texts

# The tables are looked at this often, in a fifth of a millisecond; on a store each look is a request for each table.
REFRESH_SECONDS, STORE_SECONDS = 0.1, 0.2
# What the pipeline page shows asks the log how far it is.
PIPELINE_SECONDS = 2.0
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors {framed_by}",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
Handler = Callable[[Request], Awaitable[Response]]
log = logging.getLogger(__name__)


def create_app(answers: Answers, access: Access, framed_by: str = "'none'") -> Starlette:
    """The application over one lake, for those who may. `framed_by`: whose pages may show it inside."""

    def answering(make: Callable[[Request], object]) -> Handler:
        async def handler(request: Request) -> Response:
            return Response(document(await _until_gone(request, make)), media_type="application/json")

        return handler

    def doing(make: Callable[[Request, Mapping[str, str]], object]) -> Handler:
        async def handler(request: Request) -> Response:
            # To its end, also when the client goes: what was begun is in the audit.
            done = await asyncio.to_thread(make, request, await texts(request))
            return Response(document(done), 202, media_type="application/json")

        return handler

    async def live(socket: WebSocket) -> None:
        # A browser's page shows a ticket; a program, which names no origin, has none.
        if "origin" in socket.headers and access.tickets.spend(socket.query_params.get("ticket", "")) is None:
            await socket.close(1008, "no ticket")
            return
        await answers.live.subscribe(
            socket, tuple(sorted(pair for pair in socket.query_params.multi_items() if pair[0] != "ticket"))
        )

    async def chart(request: Request) -> Response:
        domain, kind = (request.path_params[name] for name in ("domain", "kind"))
        said = request.query_params.multi_items()
        drawn = await asyncio.to_thread(picture, answers, domain, kind, said)
        return Response(drawn, media_type=KINDS[kind])

    async def healthz(_: Request) -> Response:
        return Response(b'{"well": true}', media_type="application/json")

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(answers.metrics.registry), media_type=CONTENT_TYPE_LATEST)

    return Starlette(
        routes=[
            Route("/api/views", answering(answers.views)),
            Route("/api/views/{name}", answering(answers.view)),
            Route("/api/answers", answering(answers.several)),
            Route("/api/reports/{domain}/{name}", answering(answers.report)),
            Route("/api/charts/{domain}/{kind}", chart),
            Route("/api/facts/{source}", answering(answers.facts)),
            Route("/api/rejected/{source}", answering(answers.rejected)),
            Route("/api/rejected/{source}/groups", answering(answers.undoing.groups)),
            Route("/api/statements/{source}", answering(answers.undoing.statements)),
            Route("/api/restore_points", answering(answers.undoing.points)),
            Route("/api/alerts", answering(answers.alerts)),
            Route("/api/ledger", answering(answers.ledger)),
            Route("/api/status", answering(answers.status)),
            Route("/api/subscribers", answering(answers.subscribers)),
            Route("/api/releases", answering(answers.told.releases)),
            Route("/api/releases/{domain}/compared", answering(answers.told.compared)),
            Route("/api/audit", answering(answers.told.audit)),
            Route("/api/works", answering(answers.works.told)),
            Route("/api/operations", answering(answers.acts.under_way)),
            Route("/api/operations/{dag}", doing(answers.acts.start), methods=["POST"]),
            Route("/api/operations/{dag}/{run}", answering(answers.acts.told)),
            Route("/api/operations/{dag}/{run}", doing(answers.acts.answer), methods=["POST"]),
            Route("/api/openapi.json", answering(answers.openapi)),
            Route("/healthz", healthz),
            Route("/metrics", metrics),
            WebSocketRoute("/api/live", live),
            *pages.routes(),
            *routes(access, answers.live.end),
        ],
        middleware=[Middleware(Headers, framed_by), Middleware(Guard, access)],
        exception_handlers={
            Problem: _problem,
            HTTPException: _http_problem,
            Exception: partial(_unexpected, framed_by),
        },
        lifespan=lambda app: _following(answers),
    )


def careful(framed_by: str) -> dict[str, str]:
    return {name: value.format(framed_by=framed_by) for name, value in HEADERS.items()}


class Headers:
    """Adds the same careful headers to every answer."""

    def __init__(self, app: ASGIApp, framed_by: str) -> None:
        self._app = app
        self._added = [(name.encode(), value.encode()) for name, value in careful(framed_by).items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def added(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                message["headers"] += [header for header in self._added if header[0] not in own]
            await send(message)

        await self._app(scope, receive, added if scope["type"] == "http" else send)


async def _until_gone(request: Request, make: Callable[[Request], object]) -> object:
    """Makes an answer in a thread; stops the work when the client goes away."""
    request.state.stop = Stop()
    work = asyncio.create_task(asyncio.to_thread(make, request))
    gone = asyncio.create_task(_gone(request))
    await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
    gone.cancel()
    if not work.done():
        request.state.stop()
    return await work


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


@asynccontextmanager
async def _following(answers: Answers) -> AsyncIterator[None]:
    """Follows the tables in the background while the application runs."""

    pause = REFRESH_SECONDS if answers.at_hand else STORE_SECONDS

    async def follow() -> None:
        await answers.live.changed(await asyncio.to_thread(answers.refresh))

    async def judge() -> None:
        # Beside the looking: what thresholds ask must not keep numbers back.
        await asyncio.to_thread(answers.judges.look)

    async def tell() -> None:
        # Beside it as well: a log that is slow to answer must not keep numbers back.
        await answers.live.changed({PIPELINE})

    await asyncio.to_thread(answers.refresh)
    looks = ((follow, pause), (judge, pause), (tell, PIPELINE_SECONDS))
    background = [asyncio.create_task(_again(look, seconds)) for look, seconds in looks]
    yield
    for task in background:
        task.cancel()


async def _problem(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    return Response(document(problem.document()), problem.status, media_type="application/problem+json")


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return await _problem(
        request, Problem(error.status_code, str(error.detail), f"{request.method} {request.url.path}")
    )


async def _unexpected(framed_by: str, _: Request, error: Exception) -> Response:
    """Starlette gives this answer outside of all middleware."""
    problem = fault(error)
    return Response(document(problem.document()), problem.status, careful(framed_by), "application/problem+json")


async def _again(look: Callable[[], Awaitable[None]], seconds: float) -> None:
    while True:
        # Whatever goes wrong in one look must not end the looking: numbers would stand still and nobody know.
        try:
            await look()
        except Exception:
            log.exception("the lake could not be looked at; looking again in %s s", seconds)
        await asyncio.sleep(seconds)
