"""A lease is held by one process, and the kernel frees it however that process ends."""

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.engine.lease import LeaseTaken, take

HOLDER = "import sys; from pathlib import Path; from penstock.engine.lease import take; "
HOLDER += "lease = take(Path(sys.argv[1]), 'job'); print('held', flush=True); sys.stdin.read()"


def test_a_second_driver_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(LeaseTaken, match=f"process {holder.pid}"):
            take(tmp_path, "job")
        holder.kill()
    assert take(tmp_path, "job").writable()
