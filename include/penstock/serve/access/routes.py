"""Logging in and out, who one is, tickets for websockets, and links to share."""

from collections.abc import Awaitable, Callable
from typing import Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from penstock.serve import declared
from penstock.serve.access.guard import who_of
from penstock.serve.access.identity import Access, address_of
from penstock.serve.access.sessions import SECONDS
from penstock.serve.problems import Problem, bad, unknown
from penstock.serve.texts import texts


def routes(access: Access, end: Callable[[str], Awaitable[None]]) -> list[BaseRoute]:
    """`end` lets go who listens by a link."""

    async def login(request: Request) -> Response:
        told = await texts(request)
        user, address = told.get("user", ""), address_of(request)
        if waits := access.passwords.waits(address):
            raise Problem(429, "Too many attempts", f"try again in {waits} s")
        if not access.passwords.right(user, told.get("password", "")):
            access.passwords.failed(address)
            raise Problem(401, "Not known", "no user has this name and password; see passwords.json in the home")
        answer = JSONResponse({"name": user, "role": access.rules.role(user)})
        _keep(request, answer, access.cookie, access.sessions.token(user))
        return answer

    async def logout(_: Request) -> Response:
        answer = JSONResponse({})
        for cookie in (access.cookie, access.share_cookie):
            answer.delete_cookie(cookie)
        return answer

    async def me(request: Request) -> Response:
        who = request.state.who
        if who is None:
            return JSONResponse({"name": None, "role": None, "way": None})
        scope = {"domain": who.share.domain, "scope": who.share.scope} if who.share else None
        return JSONResponse({"name": who.name, "role": who.role, "way": who.way, "share": scope})

    async def ticket(request: Request) -> Response:
        return JSONResponse({"ticket": access.tickets.give(who_of(request))})

    async def shares(request: Request) -> Response:
        told = [{**vars(share), "digest": None} for share in access.shares.all()]
        return JSONResponse({"shares": told})

    async def share(request: Request) -> Response:
        told = await texts(request)
        if told.get("domain") not in declared.pages() or not told.get("scope"):
            raise bad("say the domain and the scope that the link is to show", *declared.pages())
        made, token = access.shares.make(told["domain"], told["scope"], who_of(request).name)
        return JSONResponse({"id": made.id, "path": f"/share/{token}"}, 201)

    async def revoke(request: Request) -> Response:
        link = request.path_params["id"]
        if not access.shares.revoke(link):
            raise unknown("link", link, tuple(one.id for one in access.shares.all()))
        await end(link)
        return JSONResponse({})

    async def follow(request: Request) -> Response:
        """A link: the token goes into a cookie, so that it is in no address that the page shows or sends."""
        token = request.path_params["token"]
        if access.shares.of(token) is None:
            raise Problem(404, "The link shows nothing", "it was revoked, or never was")
        answer = RedirectResponse("/", 303)
        # It is followed from other sites' pages, so the cookie must come along after the redirect.
        _keep(request, answer, access.share_cookie, token, "lax")
        return answer

    return [
        Route("/api/login", login, methods=["POST"]),
        Route("/api/logout", logout, methods=["POST"]),
        Route("/api/me", me),
        Route("/api/ticket", ticket, methods=["POST"]),
        Route("/api/shares", shares),
        Route("/api/shares", share, methods=["POST"]),
        Route("/api/shares/{id}", revoke, methods=["DELETE"]),
        Route("/share/{token}", follow),
    ]


def _keep(request: Request, answer: Response, name: str, value: str, same: Literal["lax", "strict"] = "strict") -> None:
    secure = request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https"
    answer.set_cookie(name, value, max_age=SECONDS, httponly=True, samesite=same, secure=secure)
