"""The description of the read API says what there is, and nothing else."""

from starlette.applications import Starlette
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient

# The console's own page, its parts, and the door of a link: for browsers.
PAGES = ("/", "/console/{name}", "/vendor/vega.js", "/share/{token}")


def test_its_addresses_are_those_of_the_app(app: Starlette, client: TestClient) -> None:
    described = client.get("/api/openapi.json").json()["paths"]
    said = {(path, method.upper()) for path, methods in described.items() for method in methods}
    served = {
        (route.path, method)
        for route in app.routes
        if isinstance(route, Route) and route.path not in PAGES
        for method in {*(route.methods or ())} - {"HEAD"}
    }
    assert said == served | {(route.path, "GET") for route in app.routes if isinstance(route, WebSocketRoute)}


def test_a_name_in_an_address_is_one_of_those_that_there_are(client: TestClient) -> None:
    paths = client.get("/api/openapi.json").json()["paths"]
    (name, *_) = paths["/api/views/{name}"]["get"]["parameters"]
    assert (name["in"], name["schema"]["enum"]) == (
        "path",
        [v["name"] for v in client.get("/api/views").json()["views"]],
    )
    assert "toy.events" in paths["/api/facts/{source}"]["get"]["parameters"][0]["schema"]["enum"]


def test_what_may_be_said_to_a_view_is_what_a_question_takes(client: TestClient) -> None:
    parameters = client.get("/api/openapi.json").json()["paths"]["/api/views/{name}"]["get"]["parameters"]
    asked = sorted(one["name"] for one in parameters if one["in"] == "query")
    assert asked == sorted(client.get("/api/views/toy.now?color=red").json()["allowed"])
