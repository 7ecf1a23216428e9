"""A place with the real backend of this machine, an X server that is the person's, and programs with windows."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import hermes_tool_computer
from hermes_core.agent.arguments import parse_arguments
from hermes_core.config.settings import structure
from hermes_core.kinds import Workspace
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, plugin_context
from hermes_core.types import Blob, Session, Text, Verdict
from hermes_tool_computer.config import Config
from hermes_tool_computer.tools import tools_of

YES = Verdict(outcome="allow", choice="once", by="Anna")
ALWAYS = Verdict(outcome="allow", choice="session", by="Anna")
# A window of Tk that writes what is done to it into a file, a line each.
WINDOW = """
import sys, tkinter
root = tkinter.Tk()
root.title(sys.argv[2])
root.geometry("400x300+100+100")
file = open(sys.argv[1], "a", buffering=1)
say = lambda *words: print(*words, file=file)
box = tkinter.Canvas(root, width=400, height=200, background="white")
box.place(x=0, y=0)
box.bind("<Button-1>", lambda e: (box.focus_set(), say("click", e.x, e.y)))
box.bind("<Double-Button-1>", lambda e: say("double", e.x, e.y))
box.bind("<Button-3>", lambda e: say("right", e.x, e.y))
box.bind("<Button-4>", lambda e: say("up"))
box.bind("<Button-5>", lambda e: say("down"))
box.bind("<ButtonRelease-1>", lambda e: say("let go", e.x, e.y))
box.bind("<Control-s>", lambda e: say("ctrl+s"))
entry = tkinter.Entry(root, width=40)
entry.place(x=10, y=220)
entry.bind("<Return>", lambda e: (say("entered", entry.get()), entry.delete(0, "end")))
root.after(50, lambda: say("ready"))
root.mainloop()
"""


class Bench:
    """The tools of one session."""

    def __init__(self, folder: Path, workspace: Workspace, verdict: Verdict | None = None, **settings: Any) -> None:
        config, problems = structure(Config, settings, "tools.computer")
        assert config, problems
        manifest = read_manifest(Path(hermes_tool_computer.__file__).with_name("hermes-plugin.toml"))
        self.ctx = plugin_context(manifest, folder, config=config)
        self.tools = {tool.name: tool for tool in tools_of(self.ctx)}
        self.workspace = workspace
        self.png = b""
        self.answer(verdict)

    def answer(self, verdict: Verdict | None, *, untrusted: bool = False) -> None:
        """Have somebody answer like this from now on, nobody for None."""
        opened = self.context.opened if hasattr(self, "context") else {}
        session = Session(id="test", origin="embed", cwd=self.workspace.cwd, untrusted=untrusted)
        self.context = FakeToolContext(
            self.workspace, session=session, verdict=verdict,
            resources=[*hermes_tool_computer.register_resources(self.ctx)],
        )  # fmt: skip
        self.context.opened = opened

    async def call(self, name: str, **arguments: Any) -> str:
        """The text of a call; its picture is kept. Raises ToolError."""
        tool = self.tools[f"computer_{name}"]
        parts = await tool.run(self.context, parse_arguments(tool, arguments))
        assert not isinstance(parts, str)
        self.png = next((part.data for part in parts if isinstance(part, Blob)), None) or b""
        return "\n".join(part.text for part in parts if isinstance(part, Text))

    async def look(self) -> str:
        return await self.call("screen")

    async def act(self, action: str, **more: Any) -> str:
        return await self.call("act", action=action, **more)

    @property
    def display(self) -> dict[str, str]:
        """The variables of a program that shows itself there."""
        return dict(self.context.opened["computer"].screen.environment)


class Program:
    """A program with a window, as long as it is entered; its file says what was done to it."""

    def __init__(self, folder: Path, title: str) -> None:
        self.said = folder / f"said-{time.monotonic_ns()}"
        self.said.touch()
        self.words = [sys.executable, "-c", WINDOW, str(self.said), title]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self.words)
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.kill()
        self._process.wait()

    def lines(self) -> list[str]:
        return self.said.read_text().splitlines()

    async def until(self, line: str) -> None:
        """Wait until it says this."""
        async with asyncio.timeout(30):
            while line not in self.lines():
                await asyncio.sleep(0.05)


@contextmanager
def x_server() -> Iterator[str]:
    """An X server as a person has one; gives its display."""
    read, write = os.pipe()
    words = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1000x700x24", "-nolisten", "tcp", "-noreset"]
    process = subprocess.Popen(words, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as said:
            yield f":{said.readline().strip()}"
    finally:
        process.kill()
        process.wait()
