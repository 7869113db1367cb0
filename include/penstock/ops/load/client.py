"""Sends one request again and again over kept connections; run as a program, so that it has a core of its own.

    client.py PORT SECONDS CONNECTIONS RATE < body      RATE 0: as fast as answers come

Prints JSON: answers, those that were not 2xx, and the 50th and 99th percentile of milliseconds.
"""

import asyncio
import json
import sys
import time

HEAD = b"POST /v1/web.events HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"


async def sender(port: int, request: bytes, until: float, pause: float, took: list[float], bad: list[int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    due = time.perf_counter()
    while (now := time.perf_counter()) < until:
        # An answer that came late does not excuse the next request from being on time.
        if due > now:
            await asyncio.sleep(due - now)
        begun = due if pause else now
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))
        took.append(time.perf_counter() - begun)
        if not head.startswith(b"HTTP/1.1 2"):
            bad.append(1)
        due = due + pause if pause else 0.0
    writer.close()


async def main(port: int, seconds: float, connections: int, rate: float) -> None:
    body = sys.stdin.buffer.read()
    request = HEAD % len(body) + body
    took: list[float] = []
    bad: list[int] = []
    until = time.perf_counter() + seconds
    pause = connections / rate if rate else 0.0
    await asyncio.gather(*(sender(port, request, until, pause, took, bad) for _ in range(connections)))
    took.sort()
    told = {"answers": len(took), "bad": len(bad), "p50": took[len(took) // 2] * 1000}
    sys.stdout.write(json.dumps({**told, "p99": took[len(took) * 99 // 100] * 1000}))


if __name__ == "__main__":
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
