"""What a command in a warm container costs: ``benchmarks/containers.py [--image NAME] [--rounds N]``.

Against the same command in the backend ``local``, and against ``docker exec``, which is the floor: most of the time is
the runtime's, entering the container's namespaces. Needs a daemon and an image that is there.
"""

import argparse
import asyncio
import logging
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from hermes_backend_docker.backend import Docker
from hermes_backend_docker.config import Config
from hermes_backend_local.backend import Local
from hermes_core.types import ExecRequest

BOUND = 1.3  # of `docker exec`


async def milliseconds(work: Callable[[], Awaitable[object]], rounds: int) -> float:
    """The median of a piece of work."""
    times = []
    for _ in range(rounds + 3):
        began = time.perf_counter()
        await work()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times[3:])


async def measure(image: str, rounds: int, home: Path) -> int:
    """Print the rows. Returns 1 when the bound is missed."""
    folder = home / "work"
    folder.mkdir()
    local = await Local().open(str(folder))
    began = time.perf_counter()
    docker = await Docker(Config(image=image, cpus=0.0), home / "hermes", logging.getLogger("bench")).open(str(folder))
    cold = (time.perf_counter() - began) * 1000
    name = docker._lease.plan.name
    request = ExecRequest(argv=("sh", "-c", "echo hello"))
    data = b"x" * 100_000

    async def floor() -> None:
        words = ("docker", "exec", name, "sh", "-c", "echo hello")
        process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.DEVNULL)
        await process.wait()

    async def eight() -> None:
        await asyncio.gather(*(docker.run(request) for _ in range(8)))

    try:
        ours = await milliseconds(lambda: docker.run(request), rounds)
        exec_cli = await milliseconds(floor, rounds)
        here = await milliseconds(lambda: local.run(request), rounds)
        rows = {
            "command, local": here,
            "command, warm container": ours,
            "command, docker exec": exec_cli,
            "eight at once, warm container": await milliseconds(eight, max(3, rounds // 4)),
            "write 100 kB, warm container": await milliseconds(lambda: docker.write("file", data), rounds),
            "open a new container (once)": cold,
        }
    finally:
        await docker.close()
        await local.close()
    for row, value in rows.items():
        print(f"{row:<34} {value:>8.1f} ms")
    kept = ours / exec_cli <= BOUND
    print(f"{'kept' if kept else 'MISSED'}  warm container / docker exec  {ours / exec_cli:.2f}  bound {BOUND}")
    print(f"      warm container / local        {ours / here:.1f}")
    return 0 if kept else 1


def main() -> int:
    """Measure."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--image", default=Config().image)
    options.add_argument("--rounds", type=int, default=40)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        try:
            return asyncio.run(measure(chosen.image, chosen.rounds, home))
        finally:
            label = f"label=hermes.home={home / 'hermes'}"
            for remove, found in (("rm -f", "ps -aq"), ("volume rm", "volume ls -q")):
                left = subprocess.run(
                    ["docker", *found.split(), "--filter", label], capture_output=True, text=True, check=False
                )
                subprocess.run(["docker", *remove.split(), *left.stdout.split()], capture_output=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
