"""A Hermes with its hands full, in a process that may be killed at any moment.

It has processes, one of them on a terminal, a Python that keeps its variables, a browser and a language server. Whoever
starts it adopts what loses its parent, so that nothing can leave its family unseen.
"""

import asyncio
import ctypes
from pathlib import Path

from hermes_core.testing import Call, ScriptedProvider
from hermes_core.testing.bench import Bench
from hermes_core.testing.forks import serve
from hermes_core.types import Returned, Text

_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_BEFORE, _AFTER = "int main(void) { return 0; }\n", "int main(void) { return zero; }\n"


def calls(url: str) -> list[Call]:
    """One of each, and each of them lives on after its call."""
    shell = "sleep 600 & setsid -f sleep 600; wait"
    return [
        Call("terminal", {"command": shell, "background": "yes"}),
        Call("write_file", {"path": "a.c", "content": _BEFORE}),
        Call("execute_code", {"code": "import subprocess\nkept = subprocess.Popen(['sleep', '600'])", "keep": True}),
        Call("browser_navigate", {"url": url}),
        Call("write_file", {"path": "a.c", "content": _AFTER}),
        Call("terminal", {"command": "python3 -q", "background": "tty"}),
    ]


async def work(home: str, url: str, wall: str, *, stays: bool) -> None:
    """Say what each call came to; then end in order, or stay until killed."""
    kernel = Bench(Path(home))
    kernel.tmp_plugin(ScriptedProvider([*calls(url), "done"]))
    for name in ("terminal", "files", "diagnostics", "python", "browser"):
        kernel.tmp_plugin(f"hermes_tool_{name}")
    kernel.tmp_plugin("hermes_backend_local")
    kernel.configure(
        {
            "terminal.backend": "local",
            "terminal.cwd": str(kernel.workspace.folder),
            "backends.local.wall": wall,
            "security.allow_private_urls": True,
            "tools.python.mode": "full",
            "policy.mode": "off",
        }
    )
    async with kernel:
        async for event in kernel.runtime.turns.run(f"Look at {url}", session="s"):
            if isinstance(event, Returned):
                said = "".join(part.text for part in event.result.parts if isinstance(part, Text))
                print(event.call.name, f"failed: {said}" if event.result.failed else "did", flush=True)
        print("all", flush=True)
        if stays:
            await asyncio.sleep(600)


def play(home: str, url: str, wall: str, *, stays: bool) -> None:
    """Play an order of the test."""
    asyncio.run(work(home, url, wall, stays=stays))


if __name__ == "__main__":
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    serve(play)
