"""Who may read and do what, at the addresses themselves."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from penstock.lake.layout import Layout
from penstock.serve.access.identity import Access
from penstock.serve.access.passwords import ATTEMPTS, Passwords
from penstock.serve.access.rules import Rules
from penstock.serve.access.sessions import SECONDS, Sessions
from penstock.serve.access.who import ROLES
from penstock.serve.answers import Answers
from penstock.serve.app import create_app
from penstock.serve.reader import Reader
from penstock.settings import SettingError, Settings

HOST, ELSEWHERE = {"host": "127.0.0.1:8091"}, "203.0.113.7"
USERS = {"analyst": "reads", "oncall": "acts", "admin": "settles", "alice": "hers"}
Opened = Callable[..., TestClient]
WITHIN = "where=site:eq:a.example"


@pytest.fixture
def opened(settings: Settings) -> Iterator[Opened]:
    """A client at an address, after the home was given its rules."""
    with ExitStack() as stack:

        def client(
            address: str = ELSEWHERE, rules: str = "", headers: dict[str, str] = HOST, home: Path = settings.home
        ) -> TestClient:
            home.mkdir(parents=True, exist_ok=True)
            (home / "passwords.json").write_text(json.dumps(USERS))
            (home / "console.toml").write_text(rules)
            app = create_app(Answers(settings, Reader(Layout(settings.lake))), Access(home))
            return stack.enter_context(TestClient(app, client=(address, 1), headers=headers))

        yield client


def logged_in(client: TestClient, user: str) -> TestClient:
    assert client.post("/api/login", json={"user": user, "password": USERS[user]}).status_code == 200
    return client


def test_this_machine_reads_without_a_password(opened: Opened) -> None:
    assert opened("127.0.0.1").get("/api/views").status_code == 200


@pytest.mark.parametrize("path", ["/api/views", "/api/status", "/api/rejected/web.events", "/api/domains"])
def test_another_machine_logs_in_first(opened: Opened, path: str) -> None:
    client = opened()
    before = client.get(path)
    assert (before.status_code, before.json()["title"]) == (401, "Log in first")
    assert logged_in(client, "analyst").get(path).status_code == 200


@pytest.mark.parametrize(
    ("headers", "rules"),
    [
        ({**HOST, "x-forwarded-for": "203.0.113.7"}, ""),
        ({"host": "evil.example:8091"}, ""),
        (HOST, 'login = "always"'),
    ],
    ids=["a proxy forwarded it", "a page under another name", "the rules say so"],
)
def test_what_only_looks_like_this_machine_logs_in(opened: Opened, headers: dict[str, str], rules: str) -> None:
    assert opened("127.0.0.1", rules, headers).get("/api/views").status_code == 401


@pytest.mark.parametrize(("user", "expected"), [("analyst", 403), ("oncall", 403), ("admin", 201)])
def test_settings_take_an_admin(opened: Opened, user: str, expected: int) -> None:
    client = logged_in(opened(), user)
    assert client.post("/api/shares", json={"domain": "web", "scope": "a.example"}).status_code == expected


def test_two_penstocks_of_one_host_log_nobody_out_of_the_other(opened: Opened, tmp_path: Path) -> None:
    one, other = opened(), opened(home=tmp_path / "other")
    # A browser has one jar for a host, whatever the port.
    other.cookies.jar = one.cookies.jar
    logged_in(one, "oncall"), logged_in(other, "admin")
    assert [client.get("/api/me").json()["name"] for client in (one, other)] == ["oncall", "admin"]
    other.post("/api/logout")
    assert [client.get("/api/me").json()["name"] for client in (one, other)] == ["oncall", None]


def test_an_action_takes_somebody_on_call_and_a_name(opened: Opened) -> None:
    local = opened("127.0.0.1")
    assert local.post("/api/anything").status_code == 403
    assert logged_in(local, "oncall").post("/api/anything").status_code == 404


def test_guessing_is_slowed_down(opened: Opened) -> None:
    client = opened()
    wrong = [client.post("/api/login", json={"user": "admin", "password": "x"}).status_code for _ in range(ATTEMPTS)]
    assert set(wrong) == {401}
    assert client.post("/api/login", json={"user": "admin", "password": USERS["admin"]}).status_code == 429


def test_programs_elsewhere_send_user_and_password(opened: Opened) -> None:
    basic = b64encode(b"analyst:reads").decode()
    assert opened().get("/api/views", headers={"authorization": f"Basic {basic}"}).status_code == 200


PROXY = 'identity_header = "X-User"\ntrusted_proxies = ["10.0.0.0/8"]\n[roles]\nalice = "admin"\n'


def test_a_trusted_proxy_says_who_asks(opened: Opened) -> None:
    client = opened("10.1.2.3", PROXY)
    assert client.get("/api/me", headers={"x-user": "alice"}).json()["role"] == "admin"
    assert client.get("/api/me", headers={"x-user": "bob"}).json()["role"] == "analyst"
    assert client.get("/api/views").status_code == 401


def test_nobody_else_is_believed(opened: Opened) -> None:
    assert opened(rules=PROXY).get("/api/views", headers={"x-user": "alice"}).status_code == 401


def test_another_sites_page_can_do_nothing(opened: Opened) -> None:
    client = logged_in(opened(), "admin")
    evil = {"origin": "https://evil.example"}
    assert client.post("/api/shares", json={"domain": "web", "scope": "a"}, headers=evil).status_code == 403


def shared(opened: Opened) -> tuple[TestClient, TestClient, str]:
    admin = logged_in(opened(), "admin")
    made = admin.post("/api/shares", json={"domain": "web", "scope": "a.example"}).json()
    reader = opened("198.51.100.9")
    assert reader.get(made["path"], follow_redirects=False).status_code == 303
    return admin, reader, made["id"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"/api/views/web.pageviews?{WITHIN}", 200),
        (f"/api/reports/web/funnel?{WITHIN}", 200),
        ("/api/views/web.pageviews", 403),
        ("/api/views/web.pageviews?where=site:eq:b.example", 403),
        (f"/api/views/web.sessions?{WITHIN}", 403),
        (f"/api/views/web.views_by_user?{WITHIN}", 403),
        ("/api/rejected/web.events", 403),
        ("/api/facts/web.events", 403),
        ("/api/shares", 403),
        (f"/api/answers?ask={quote(f'web.visits?{WITHIN}')}", 200),
        (f"/api/answers?ask={quote(f'web.visits?{WITHIN}')}&ask=web.visits", 403),
        (f"/api/answers?ask={quote(f'web.sessions?{WITHIN}')}", 403),
        ("/api/ledger", 403),
    ],
)
def test_a_link_shows_one_scope_of_one_page(opened: Opened, path: str, expected: int) -> None:
    _, reader, _ = shared(opened)
    assert reader.get(path).status_code == expected


def test_a_revoked_link_shows_nothing(opened: Opened) -> None:
    admin, reader, name = shared(opened)
    assert admin.delete(f"/api/shares/{name}").status_code == 200
    assert reader.get(f"/api/views/web.pageviews?{WITHIN}").status_code == 401


def test_a_page_opens_one_socket_with_one_ticket(opened: Opened) -> None:
    client = opened("127.0.0.1")
    origin = {"origin": "http://127.0.0.1:8091"}
    ticket = client.post("/api/ticket").json()["ticket"]
    address = f"/api/live?view=web.pageviews&ticket={ticket}"
    with client.websocket_connect(address, headers={**HOST, **origin}) as socket:
        assert socket.receive_json()["view"] == "web.pageviews"
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(address, headers={**HOST, **origin}):
        pass


def test_a_ticket_is_worth_nothing_to_another_sites_page(opened: Opened) -> None:
    client = opened("127.0.0.1")
    ticket = client.post("/api/ticket").json()["ticket"]
    evil = {**HOST, "origin": "https://evil.example"}
    address = f"/api/live?view=web.pageviews&ticket={ticket}"
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(address, headers=evil):
        pass


@pytest.mark.parametrize(("headers", "secure"), [({}, False), ({"x-forwarded-proto": "https"}, True)])
def test_no_script_and_no_other_site_gets_at_the_sessions_cookie(
    opened: Opened, headers: dict[str, str], secure: bool
) -> None:
    answer = opened().post("/api/login", json={"user": "admin", "password": USERS["admin"]}, headers=headers)
    told = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")}
    assert {"httponly", "samesite=strict"} <= told
    assert ("secure" in told) == secure


def test_a_home_without_users_gets_them_with_passwords_of_their_own(tmp_path: Path) -> None:
    access, file = Access(tmp_path), tmp_path / "passwords.json"
    told = json.loads(file.read_text())
    assert (set(told), len(set(told.values())), file.stat().st_mode & 0o777) == ({*ROLES}, 3, 0o600)
    assert Access(tmp_path).passwords.right("admin", told["admin"]) and access.passwords.right("admin", told["admin"])


def passwords(folder: Path, **users: str) -> Passwords:
    (folder / "passwords.json").write_text(json.dumps(users))
    return Passwords(folder / "passwords.json")


def test_a_session_ends_with_its_time_or_its_password(tmp_path: Path) -> None:
    sessions = Sessions(b"key", passwords(tmp_path, ann="old"))
    token = sessions.token("ann")
    assert sessions.user(token) == "ann"
    assert sessions.user(sessions.token("ann", now=-SECONDS)) is None
    assert Sessions(b"other", passwords(tmp_path, ann="old")).user(token) is None
    passwords(tmp_path, ann="new")
    assert sessions.user(token) is None


@pytest.mark.parametrize("token", ["", ".", "x", "a.b", "....", "MTA6YW5u.", "é.é"])
def test_a_broken_session_is_nobodys(tmp_path: Path, token: str) -> None:
    assert Sessions(b"key", passwords(tmp_path, ann="old")).user(token) is None


@pytest.mark.parametrize(
    "text", ["login = 1", "login = 'never'", "[roles]\nx = 'root'", "identity_header = 'X-User'", "nonsense", "a = 1"]
)
def test_rules_that_cannot_be_meant_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "console.toml").write_text(text)
    with pytest.raises(SettingError):
        Rules.of(tmp_path / "console.toml")
