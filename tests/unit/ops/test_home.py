"""The home: made once, known again, and never harmed by what it cannot read."""

import json
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from penstock.ops.stack import home as homes
from penstock.ops.stack.home import LAYOUT, USERS, open_home, prepare
from penstock.refusal import Refusal


def test_a_home_keeps_its_identity_and_its_secrets(tmp_path: Path) -> None:
    first, again = open_home(tmp_path / "home"), open_home(tmp_path / "home")
    assert (first.stack, first.secret("jwt")) == (again.stack, again.secret("jwt"))


def test_two_homes_share_nothing(tmp_path: Path) -> None:
    one, other = open_home(tmp_path / "one"), open_home(tmp_path / "other")
    assert one.stack != other.stack and one.secret("jwt") != other.secret("jwt")


def test_passwords_are_random_kept_and_private(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home")
    prepare(home)
    first = json.loads(home.passwords.read_text())
    prepare(home)
    assert json.loads(home.passwords.read_text()) == first
    assert set(first) == set(USERS) and len(set(first.values())) == len(USERS)
    assert stat.S_IMODE(home.passwords.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("layout", "way"), [(LAYOUT + 1, "Update Penstock"), (LAYOUT - 1, "with the Penstock that made it")]
)
def test_a_home_of_another_version_is_refused_and_left_as_it_is(tmp_path: Path, layout: int, way: str) -> None:
    (tmp_path / "home.json").write_text(json.dumps({"layout": layout, "stack": "x"}))
    with pytest.raises(Refusal, match=way):
        open_home(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["home.json"]


def test_a_home_whose_mark_is_broken_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home.json").write_text("{half")
    with pytest.raises(Refusal, match=r"home\.json"):
        open_home(tmp_path)


def test_a_file_in_the_place_of_the_home_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(Refusal, match="cannot be written"):
        open_home(tmp_path / "home")


def test_a_path_too_long_for_a_socket_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="too long"):
        open_home(tmp_path / ("x" * 120))


def test_a_disk_without_room_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(homes, "ROOM", shutil.disk_usage(tmp_path).total + 1)
    with pytest.raises(Refusal, match="Free space"):
        open_home(tmp_path / "home")


def test_a_read_only_disk_is_refused(tmp_path: Path) -> None:
    """The kernel's own file system of processes: not even root can write there."""
    with pytest.raises(Refusal, match="Set PENSTOCK_HOME"):
        open_home(Path("/proc/penstock"))


def test_a_lock_is_free_when_its_holder_is_dead(tmp_path: Path) -> None:
    home = open_home(tmp_path / "home")
    # With -o only `flock` itself holds the lock; `cat` ends with its input.
    holder = subprocess.Popen(
        ["flock", "-o", home.lock, "sh", "-c", "echo held; cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
    assert home.lives()
    holder.kill()
    holder.communicate()
    assert not home.lives()
