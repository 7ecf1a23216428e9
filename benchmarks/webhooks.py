"""Webhooks accepted at 200 a second, against a bare handler in the same run. ``webhooks.py [--seconds N] [--json]``.

A service posts at a steady pace, whatever it waits for: each delivery signed, with a name and a body of its own. A
gateway verifies it, writes its row and answers; what is done about it goes on beside. The bare handler, on the same
server and parser, verifies the signature and answers: it keeps nothing. What is counted begins when a delivery was due;
the processor's time for each is told beside it, as that says most where others work on the same machine. The exit
status is 1 when the 99th percentile is above 5 ms more than the bare one's, or a delivery was not accepted.
"""

import argparse
import asyncio
import hashlib
import hmac
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from api import free_port, served
from run import HERMES, PYTHON

RATE, CONNECTIONS = 200, 16
MOST = 5.0  # milliseconds
SECRET = b"a secret of sixteen bytes or more"
SLICES = 3  # the two take turns, so that a machine whose speed drifts does not favour one
BARE = f"""
import hmac, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def take(request):
    made = "sha256=" + hmac.digest({SECRET!r}, await request.body(), "sha256").hex()
    right = hmac.compare_digest(made, request.headers.get("x-hub-signature-256", ""))
    return JSONResponse({{}}, status_code=202 if right else 401)

app = Starlette(routes=[Route("/take", take, methods=["POST"])])
uvicorn.run(app, port=PORT, http="httptools", ws="none", log_level="critical", access_log=False)
"""


def delivery(path: str, number: int) -> bytes:
    """A request as GitHub makes it, of about 4 kB."""
    commits = [{"id": hashlib.sha1(b"%d" % n).hexdigest(), "message": "Light", "added": ["lamp.py"]} for n in range(30)]
    body = json.dumps({"number": number, "ref": "refs/heads/main", "commits": commits}).encode()
    made = hmac.digest(SECRET, body, "sha256").hex()
    head = (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nx-github-event: push\r\n"
        f"x-github-delivery: {number}\r\nx-hub-signature-256: sha256={made}\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def load(port: int, requests: list[bytes]) -> list[float]:
    """How long each took, in milliseconds. Raises where one was not accepted."""
    pool: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    for _ in range(CONNECTIONS):
        pool.put_nowait(await asyncio.open_connection("127.0.0.1", port))
    began, took = time.perf_counter() + 0.1, []

    async def post(number: int, request: bytes) -> None:
        due = began + number / RATE
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        reader, writer = await pool.get()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        took.append(1000 * (time.perf_counter() - due))
        pool.put_nowait((reader, writer))
        if not head.startswith(b"HTTP/1.1 202"):
            raise RuntimeError(head.decode())

    await asyncio.gather(*(post(number, request) for number, request in enumerate(requests)))
    while not pool.empty():
        pool.get_nowait()[1].close()
    return took


def summary(took: list[float], spent: float) -> dict[str, float]:
    """The median, the 99th percentile, and the processor's time for each, in milliseconds."""
    p99 = statistics.quantiles(took, n=100)[98]
    return {"p50": round(statistics.median(took), 2), "p99": round(p99, 2), "cpu": round(spent / len(took), 2)}


def processor(pid: int) -> float:
    """How many milliseconds of the processor a process had, in all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(seconds: int) -> dict[str, dict[str, float]]:
    """Both, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        ours, bare = free_port(), free_port()
        env = {**os.environ, "HERMES_HOME": folder}
        config = {
            "model": {"provider": "offline"},
            "platforms": {"api": {"enabled": True, "port": ours}, "webhook": {"max_waiting": 1_000_000}},
        }
        Path(folder, "config.yaml").write_text(json.dumps(config))
        for words in (
            ["plugins", "enable", "webhook", "--yes"],
            ["webhook", "subscribe", "ci", "--kind", "github", "--prompt", "Say what changed.", "--secret-stdin"],
        ):
            subprocess.run([HERMES, *words], env=env, input=SECRET, check=True, stdout=subprocess.DEVNULL)
        path, number = "/platform/webhook/in/ci", 0
        found: dict[str, list[float]] = {"hermes": [], "bare": []}
        spent = {"hermes": 0.0, "bare": 0.0}
        program = [PYTHON, "-c", BARE.replace("PORT", str(bare))]
        with served([HERMES, "gateway", "run"], ours, env) as gateway, served(program, bare, env) as other:
            for turn in range(SLICES + 1):  # the first is to get warm
                for name, port, where, pid in (("hermes", ours, path, gateway), ("bare", bare, "/take", other)):
                    many = RATE * (seconds if turn else 2)
                    before = processor(pid)
                    took = asyncio.run(load(port, [delivery(where, number + n) for n in range(many)]))
                    number += many
                    found[name] += took if turn else []
                    spent[name] += (processor(pid) - before) if turn else 0
        return {name: summary(took, spent[name]) for name, took in found.items()}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    said = parser.parse_args()
    found = measured(said.seconds)
    more = found["hermes"]["p99"] - found["bare"]["p99"]
    if said.json:
        print(json.dumps(found))
    else:
        for name, one in found.items():
            print(f"{name:8} p50 {one['p50']:8.2f} ms   p99 {one['p99']:8.2f} ms   cpu {one['cpu']:5.2f} ms each")
        print(f"p99 is {more:.2f} ms above the bare handler's; the bound is {MOST} ms")
    return int(more > MOST)


if __name__ == "__main__":
    sys.exit(main())
