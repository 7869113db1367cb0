"""The one thing a machine must bring besides Python: Java 17 or newer."""

import re
import shutil
import subprocess

from penstock.ops.setup.failure import SetupFailure

NEEDED = 17
INSTALL = "Install it (Debian, Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17)"


def version(text: str) -> int:
    """The major version in what `java -version` prints; 0 when there is none."""
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else 0


def installed() -> int:
    """The major version of the `java` on PATH; 0 when there is none."""
    if shutil.which("java") is None:
        return 0
    told = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    return version(told.stderr + told.stdout)


def check() -> None:
    found = installed()
    if found < NEEDED:
        has = f"Java {found}" if found else "no Java"
        raise SetupFailure(
            f"Java {NEEDED} or newer is needed and {has} is on PATH. {INSTALL} and run `make setup` again."
        )
