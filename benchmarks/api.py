"""The API under load, against a bare proxy to the same model in the same run. ``api.py [--seconds N] [--json]``.

1, 8 and 32 clients, each asking again as soon as it is answered, whole and streamed. The proxy (``bare_proxy.py``)
passes a request on and its answer back; Hermes runs a turn for each, every step of it committed to the store. The
exit status is 1 when a bound is missed: a tenth of the proxy's requests a second, ten times its 99th percentile.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from run import HERE, HERMES, PYTHON, model_server

KEY = "benchmark-key-0123456789"
CLIENTS = (1, 8, 32)
LEAST, MOST = 0.1, 10.0
SLICES = 3  # the two take turns, so that a machine whose speed drifts does not favour one


class Load(NamedTuple):
    """Requests a second, and the median and 99th percentile of how long one takes, in milliseconds."""

    rate: float
    p50: float
    p99: float


@contextmanager
def served(command: list[str], port: int, env: dict[str, str]) -> Iterator[int]:
    """A server until it is no longer needed; its process id."""
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            for _ in range(600):
                with socket.socket() as probe:
                    if not probe.connect_ex(("127.0.0.1", port)):
                        break
                if process.poll() is not None:
                    raise RuntimeError(process.stderr.read() if process.stderr else "")
                time.sleep(0.05)
            yield process.pid
        finally:
            process.terminate()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def load(port: int, clients: int, seconds: float, *, stream: bool) -> list[float]:
    """How long each request took."""
    ask = {"model": "hermes" if not stream else "stream", "messages": [{"role": "user", "content": "hello"}]}
    body = json.dumps({**ask, "stream": stream}).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {KEY}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    ).encode()
    took: list[float] = []
    end = time.perf_counter() + seconds

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (began := time.perf_counter()) < end:
            writer.write(head + body)
            await answer(reader)
            took.append(time.perf_counter() - began)
        writer.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    return took


async def answer(reader: asyncio.StreamReader) -> None:
    """Read one answer. Raises RuntimeError when it is none."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if b" 200 " not in head.split(b"\r\n")[0]:
        raise RuntimeError(head.decode() + (await reader.read(500)).decode())
    if b"content-length: " in head:
        await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
        return
    while size := int(await reader.readline(), 16):
        await reader.readexactly(size + 2)
    await reader.readline()


def measured(took: list[float], seconds: float) -> Load:
    cuts = statistics.quantiles(took, n=100)
    return Load(len(took) / seconds, cuts[49] * 1000, cuts[98] * 1000)


def memory(pid: int) -> float:
    """Resident memory in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="of load for each figure")
    parser.add_argument("--profile", help="write a profile of Hermes there")
    given = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as folder, model_server() as url:
        ours, bare = free_port(), free_port()
        env = {**os.environ, "HERMES_HOME": folder, "API_SERVER_KEY": KEY}
        Path(folder, "config.yaml").write_text(
            f"model: {{provider: custom, base_url: '{url}', api_key: x, default: echo}}\n"
            "platforms: {api: {max_turns: 64, models: {stream: 'custom:stream-20'}}}\n"
        )
        command = [HERMES, "api", "--port", str(ours)]
        if given.profile:
            command = [PYTHON, str(HERE / "profiled.py"), given.profile, "api", "--port", str(ours)]
        proxy = [PYTHON, str(HERE / "bare_proxy.py"), url, str(bare)]
        with served(command, ours, env) as pid, served(proxy, bare, env):
            asyncio.run(load(ours, 4, 1.0, stream=False))  # what is imported and opened once
            asyncio.run(load(bare, 4, 1.0, stream=False))
            print(f"idle after warm-up: {memory(pid):.0f} MB")
            print(f"{'':22} {'req/s':>8} {'p50 ms':>8} {'p99 ms':>8}   {'proxy':>8} {'p50':>8} {'p99':>8}   ratio  p99")
            for stream in (False, True):
                for clients in CLIENTS:
                    took: tuple[list[float], list[float]] = ([], [])
                    for _ in range(SLICES):
                        for at, port in enumerate((ours, bare)):
                            took[at].extend(asyncio.run(load(port, clients, given.seconds / SLICES, stream=stream)))
                    mine, theirs = (measured(one, given.seconds) for one in took)
                    rate, slow = mine.rate / theirs.rate, mine.p99 / theirs.p99
                    missed += rate < LEAST or slow > MOST
                    name = f"{clients:3} clients, {'streamed' if stream else 'whole'}"
                    figures = " ".join(f"{value:8.1f}" for value in mine), " ".join(f"{value:8.1f}" for value in theirs)
                    print(f"{name:22} {figures[0]}   {figures[1]}   {rate:5.3f} {slow:5.1f}", flush=True)
            print(f"after the load: {memory(pid):.0f} MB")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
