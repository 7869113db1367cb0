"""Penstock: a streaming lakehouse that can be rewound."""

import os

# Arrow's allocator asks for pages of 2 MB, and the kernel clears each before its first byte is there: a fifth of what a
# replay took (docs/decisions/0081). Read when Arrow is loaded, which then asks for none, for this process and
# all that it starts. Whoever wants them says so.
os.environ.setdefault("MIMALLOC_ALLOW_THP", "0")
# It gives back what was free for 10 ms, and has it cleared again for the next epoch: a sixth of what a backlog took.
os.environ.setdefault("MIMALLOC_PURGE_DELAY", "1000")

__version__ = "0.1.0"
