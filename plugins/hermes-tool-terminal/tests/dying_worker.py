"""A Hermes that begins three processes and waits to be killed: ``dying_worker.py HOME WALL SECONDS``.

With ``SECONDS -`` they end by themselves after so many, one after another, which begins turns.
"""

import asyncio
import sys
from pathlib import Path

from hermes_core.testing import Call
from hermes_core.testing.bench import Bench
from hermes_core.testing.scripted import ScriptedProvider

BACKENDS = {"none": "local", "bubblewrap": "bubblewrap"}


def bench(home: Path, wall: str, *steps: object) -> Bench:
    """A kernel whose commands run behind a wall, or behind none."""
    made = Bench(home)
    made.tmp_plugin(ScriptedProvider(steps))
    made.tmp_plugin("hermes_tool_terminal")
    made.tmp_plugin(f"hermes_backend_{BACKENDS[wall]}")
    walls = {"backends.local.wall": "none"} if wall == "none" else {}
    cwd = {"terminal.cwd": str(made.workspace.folder)}
    made.configure({"policy.mode": "off", "terminal.backend": BACKENDS[wall], **cwd, **walls})
    return made


async def main(home: str, wall: str, seconds: str, ends: str = "") -> None:
    """Begin them, and say so after each."""
    command = f"sleep {seconds}; exit 3" if ends else f"sleep {seconds} & setsid -f sleep {seconds}; wait"
    calls = [Call("terminal", {"command": command, "background": how}) for how in ("yes", "tty", "yes")]
    made = bench(Path(home), wall, *calls, "done")
    print("up", flush=True)
    async for _ in made.turn("go", session="s"):
        pass
    print("done", flush=True)
    await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
