"""The console's routes: one page, its modules and style, the chart library, and what the domains want shown.

The read API's app mounts `routes()` and adds its careful headers (no script or style but our own files).
"""

from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from penstock.serve import declared
from penstock.serve.assets import vega

CONSOLE = Path(__file__).with_name("console")
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}

# Modules are small and change with the release: asked for again, answered 304. The library has its version's name.
MODULES = {"Cache-Control": "no-cache"}
LIBRARY = {"Cache-Control": "max-age=86400", "Content-Encoding": "gzip"}


def routes() -> list[BaseRoute]:
    return [
        Route("/", index),
        Route("/console/{name}", module),
        Route("/vendor/vega.js", library),
        Route("/api/domains", pages),
    ]


async def library(_: Request) -> Response:
    return Response(await run_in_threadpool(vega), media_type="text/javascript", headers=LIBRARY)


async def index(_: Request) -> Response:
    return _file(CONSOLE / "index.html")


async def module(request: Request) -> Response:
    name = request.path_params["name"]
    path = CONSOLE / name
    if path.parent != CONSOLE or path.suffix not in TYPES or not path.is_file():
        return JSONResponse({"status": 404, "title": f"the console has no file {name!r}"}, 404)
    return _file(path)


async def pages(_: Request) -> Response:
    return JSONResponse(await run_in_threadpool(declared.document))


def _file(path: Path) -> Response:
    return FileResponse(path, media_type=TYPES[path.suffix], headers=MODULES)
