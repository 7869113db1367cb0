"""The week's mail as its task sends it, from a server over a lake of the simulated site to a real receiver."""

import pytest
from airflow.sdk.exceptions import AirflowSkipException
from browser.lake import Lake, history
from browser.server import served
from receivers import http_hook

from penstock.ops.airflow.errors import RequestRefused
from penstock.ops.airflow.reports import mail
from penstock.settings import Settings


def test_each_week_is_mailed_to_those_who_are_named_for_it(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(Lake(history(days=9, total=500))) as address, http_hook() as (hook, heard):
        monkeypatch.setenv("PENSTOCK_HOME", str(settings.home))
        monkeypatch.setenv("PENSTOCK_SERVE_PORT", address.rpartition(":")[2])
        with pytest.raises(AirflowSkipException, match=r"alerts\.conf"):
            mail("web", "")
        (settings.home / "alerts.conf").write_text(f"report={hook}\n")
        sites = mail("web", "")
        assert sites == sorted(sites) == ["docs.harbour.example", "harbour.example"]
        with pytest.raises(RequestRefused, match=r"these had: docs\.harbour\.example"):
            mail("web", "nobody.example")
    assert [one["title"].partition(":")[0] for one in heard] == sites
