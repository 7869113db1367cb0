"""Where a request comes from: cut always, looked up where there is a database, and never a reason to stop."""

from collections.abc import Callable
from pathlib import Path

import pytest
from places import COUNTRY, WORLD, database

from penstock.collect.places import Places, opened
from penstock.settings import SettingError

CUT = {
    "198.51.100.77": b"198.51.100.0",
    "::ffff:198.51.100.77": b"198.51.100.0",
    "2001:db8:7:8::1": b"2001:db8:7::",
    "nobody": b"",
}


@pytest.mark.parametrize("address", CUT)
def test_an_address_is_cut_to_its_network(address: str) -> None:
    assert Places().of(address) == {"client_address": CUT[address]}


PLACES = {
    "198.51.100.77": b"SE/Sk\xc3\xa5ne",
    "::ffff:198.51.100.77": b"SE/Sk\xc3\xa5ne",
    "203.0.113.9": b"JP",
    "2001:db8:7:8::1": b"JP",
    "127.0.0.1": None,
    "nobody": None,
}


@pytest.mark.parametrize("address", PLACES)
def test_a_database_says_country_and_region(tmp_path: Path, address: str) -> None:
    said = Places(str(database(tmp_path / "world.mmdb"))).of(address)
    assert (said.get("client_place"), said["client_address"]) == (
        PLACES[address],
        Places().of(address)["client_address"],
    )


STRANGE = {
    "no map": ["SE"],
    "no code": {"country": "Sweden"},
    "a long code": {"country": {"iso_code": "SWE"}},
    "parts that are none": {"country": {"iso_code": "SE"}, "subdivisions": {"names": "Skåne"}},
    "a name of two lines": {"country": {"iso_code": "SE"}, "subdivisions": [{"iso_code": "M\nX"}]},
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_strange_in_a_database_is_left_out(tmp_path: Path, name: str) -> None:
    file = database(tmp_path / "world.mmdb", {"192.0.2.0/24": STRANGE[name], "203.0.113.0/24": COUNTRY})
    assert Places(str(file)).of("192.0.2.1").get("client_place", b"SE") == b"SE"


def torn(file: Path) -> None:
    file.write_bytes(database(file).read_bytes()[:-40])


UNUSABLE: dict[str, Callable[[Path], object]] = {
    "that is not there": lambda file: None,
    "that is empty": lambda file: file.write_bytes(b""),
    "of something else": lambda file: file.write_bytes(b"country,region\n" * 5000),
    "that is torn": torn,
    "that is a folder": Path.mkdir,
    "without countries": lambda file: database(file, {"192.0.2.0/24": {"asn": 1}}, "Test-ASN"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_database_that_is_no_use_says_what_to_do_and_stops_nobody(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "world.mmdb"
    UNUSABLE[name](file)
    with pytest.raises(SettingError, match="Give PENSTOCK_PLACES a database in MaxMind's format"):
        opened(str(file))
    assert Places(str(file)).of("198.51.100.77") == {"client_address": b"198.51.100.0"}
    assert "Events are taken" in caplog.text


def test_a_database_that_is_written_over_is_still_the_one_that_was_opened(tmp_path: Path) -> None:
    file = database(tmp_path / "world.mmdb")
    places = Places(str(file))
    file.write_bytes(b"")
    assert [places.of(network.split("/")[0]).get("client_place") for network in WORLD] == [
        b"SE/Sk\xc3\xa5ne",
        b"JP",
        b"JP",
    ]
