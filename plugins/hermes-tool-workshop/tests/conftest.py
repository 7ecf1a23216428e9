"""A workshop over a throwaway folder, in whose tools real processes run."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_core.agent.arguments import parse_arguments
from hermes_core.kinds import Tool
from hermes_core.testing import FakeToolContext, FakeWorkspace
from hermes_core.types import Session, ToolCall, Verdict
from hermes_tool_workshop.config import Config
from hermes_tool_workshop.gate import verdict
from hermes_tool_workshop.made import Workshop
from hermes_tool_workshop.offer import make_source, make_tools

ME = Session(id="20261120_101500_abc123", origin="cli")
COUNT = '''
def count_words(text: str, least: int = 1) -> int:
    """Count the words of a text that are long enough."""
    return sum(len(word) >= least for word in text.split())
'''
COUNTS = [{"arguments": {"text": "a bc def"}, "result": 3}]


class Bench:
    """A workshop, as a kernel has one; a new one over the same folder is a new process."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder, self.work = folder, folder / "work"
        self.work.mkdir(exist_ok=True)
        self.data = folder / "home" / "data" / "tool-workshop"
        self.shop = Workshop(self.data, folder / "home", Config(**settings), logging.getLogger("test"))
        self.tools = {tool.name: tool for tool in make_tools(lambda: self.shop)}
        self.source = make_source(self.data, lambda: self.shop)
        self.workspace = FakeWorkspace(folder=self.work)
        self.context = FakeToolContext(self.workspace, session=ME)

    def offered(self, session: Session = ME) -> dict[str, Tool]:
        return {**self.tools, **{tool.name: tool for tool in self.source.tools(session)}}

    async def call(self, name: str, arguments: dict[str, Any] | None = None, *, session: Session = ME) -> str:
        """What a call gives, as the kernel would make it. Raises ToolError."""
        tool = self.offered(session)[name]
        self.context = FakeToolContext(self.workspace, session=session)
        return str(await tool.run(self.context, parse_arguments(tool, arguments or {})))

    async def write(self, code: str = COUNT, name: str = "count_words", *, session: Session = ME, **more: Any) -> str:
        given = {"name": name, "code": code, "examples": COUNTS, **more}
        return await self.call("tool_write", given, session=session)

    async def do(self, body: str, arguments: str = "", *, call: dict[str, Any] | None = None, **more: Any) -> str:
        """Run a function with this body once, through the code that is tried before it is kept; bare of the reader."""
        from hermes_tool_workshop.calls import Work
        from hermes_tool_workshop.permissions import Permissions

        lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
        code = f"def f({arguments}):\n{lines}\n"
        seconds = more.pop("seconds", 10)
        work = Work(name="own_f", entry="f", code=code, permissions=Permissions(**more), seconds=seconds)
        return await self.shop.play(self.context, work, call or {})

    def asked(self, tool: str, /, session: Session = ME, **arguments: Any) -> Verdict | None:
        """What the gate says to a call."""
        return verdict(self.shop, session, ToolCall(id="1", name=tool, arguments=arguments))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def make_bench(tmp_path: Path) -> Callable[..., Bench]:
    return lambda **settings: Bench(tmp_path, **settings)
