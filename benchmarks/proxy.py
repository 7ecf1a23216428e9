"""What the proxy of walled commands costs: ``benchmarks/proxy.py [--rounds N]``. Rounds go directly, then through it.

Client, server and proxy are processes of their own. A connection is everything from opening it to the server's answer.
The throughput is that of loopback, where the proxy's share is largest: on two cores three processes share them.
"""

import argparse
import asyncio
import multiprocessing
import socket
import ssl
import statistics
import sys
import time
from contextlib import suppress
from multiprocessing.queues import Queue

from hermes_backend_wall.proxy.rules import Rule, Rules
from hermes_backend_wall.proxy.server import Proxy

BOUND = 2.0  # milliseconds that a connection may take longer than directly
NAME = "one.localhost"
MUCH = 1 << 30


def hello() -> bytes:
    """The first bytes of a client of TLS."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname=NAME).do_handshake()
    return outgoing.read()


def serve(ports: "Queue[int]") -> None:
    """Answer with two bytes, or with much where the client's last byte is a one."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    ports.put(listener.getsockname()[1])
    block = bytes(1 << 20)
    while True:
        client, _ = listener.accept()
        with client:
            left = MUCH if client.recv(65_536).endswith(b"\x01") else 2
            while left:
                left -= client.send(block[:left])


def pass_on(ports: "Queue[int]", port: int) -> None:
    """Be the proxy."""

    async def look_up(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    async def main() -> None:
        proxy = Proxy(Rules([Rule.read(f"{NAME}:{port}", private=True)]), lookup=look_up)
        ports.put(await proxy.listen())
        await asyncio.Event().wait()

    asyncio.run(main())


def fetch(first: bytes, server: int, proxy: int = 0) -> float:
    """Milliseconds of one connection."""
    began = time.perf_counter()
    with socket.create_connection(("127.0.0.1", proxy or server)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if proxy:
            sock.sendall(f"CONNECT {NAME}:{server} HTTP/1.1\r\nHost: {NAME}:{server}\r\n\r\n".encode())
            assert b" 200 " in sock.recv(1_000)
        sock.sendall(first)
        room = bytearray(1 << 20)
        while sock.recv_into(room):
            pass
    return (time.perf_counter() - began) * 1000


def measure(rounds: int) -> bool:
    """Print the table; whether the bound was kept."""
    ports: Queue[int] = multiprocessing.Queue()
    multiprocessing.Process(target=serve, args=(ports,), daemon=True).start()
    server = ports.get()
    multiprocessing.Process(target=pass_on, args=(ports, server), daemon=True).start()
    proxy = ports.get()
    small = hello()
    pairs = [(fetch(small + b"\x00", server), fetch(small + b"\x00", server, proxy)) for _ in range(rounds)]
    direct, through = (statistics.median(side) for side in zip(*pairs, strict=True))
    print(f"a connection: {direct:.2f} ms directly, {through:.2f} ms through it: {through - direct:.2f} ms more")
    ratios = [fetch(small + b"\x01", server, proxy) / fetch(small + b"\x01", server) for _ in range(5)]
    print(f"1 GB on loopback: {statistics.median(ratios):.2f} times as long")
    return through - direct <= BOUND


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    sys.exit(0 if measure(parser.parse_args().rounds) else 1)
