"""Sends the head of an answer together with what follows: uvicorn writes it alone, a system call and a packet more."""

import asyncio

CONTINUE = b"HTTP/1.1 100 "


class Answering:
    """What uvicorn takes for a connection's transport while it answers."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""
        self._headless = False

    def begun(self) -> "Answering":
        """Of the answer that follows, nothing is sent yet."""
        self._headless = True
        return self

    def write(self, data: bytes) -> None:
        if self._headless and not data.startswith(CONTINUE):
            self._head, self._headless = data, False
            # A stream may have nothing to say for long, and an answer to HEAD never has.
            self._loop.call_soon(self._flush)
        else:
            head, self._head = self._head, b""
            self._transport.write(head + data)

    def _flush(self) -> None:
        head, self._head = self._head, b""
        if head and not self._transport.is_closing():
            self._transport.write(head)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()
