"""Libraries that Great Expectations imports for what no suite of ours asks: loaded by the first who does ask.

Charts and tests of distributions are two fifths of its import, for which every build, gate and night waits.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

UNASKED = ("altair", "scipy.stats")


class Deferred(ModuleType):
    """Stands for a module until somebody asks it for anything, then gives it its place."""

    def __getattr__(self, asked: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), asked)


for unasked in UNASKED:
    sys.modules.setdefault(unasked, Deferred(unasked))
