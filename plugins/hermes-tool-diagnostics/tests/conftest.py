"""The watch over a real folder of this machine, without a kernel."""

import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve

from hermes_backend_local.workspace import Here
from hermes_core.kinds import Workspace
from hermes_core.types import Session, Text, ToolCall, ToolResult
from hermes_tool_diagnostics.config import Config, ServerRow
from hermes_tool_diagnostics.watching import Watch
from hermes_tool_kit.provenance.ledger import Ledger, Mark

SPEAKING = Path(__file__).with_name("speaking.py")


def speaking(how: str) -> dict[str, ServerRow]:
    command = [sys.executable, str(SPEAKING), how, str(os.getpid())]
    return {"speaking": ServerRow(command=command, files={".say": "say"}, roots=["say.toml"])}


class Bench:
    """Changes files by calls, one after the other; ``said`` is what stands below their results."""

    def __init__(self, workspace: Workspace, **settings: Any) -> None:
        self.lines: list[str] = []
        log = logging.getLogger("hermes_tool_diagnostics.tests")
        self.ledger = Ledger(Path(workspace.cwd).parent / "home")
        self.ledger.trust(workspace.cwd)
        paths = SimpleNamespace(home=self.ledger.home)
        self.ctx: Any = SimpleNamespace(config=Config(**settings), log=log, tell=self.lines.append, paths=paths)
        self.workspace, self.watch = workspace, Watch(self.ctx)
        self.session = Session(id="s", origin="cli", turn="t", cwd=workspace.cwd)
        self._calls = 0

    async def write(self, name: str, text: str | None, *, failed: bool = False, tool: str = "write_file") -> str:
        """What is said below the result of a call that changes a file, or fails to."""
        self._calls += 1
        call = ToolCall(id=str(self._calls), name=tool, arguments={})
        path = Path(self.workspace.cwd) / name
        await self.watch.before(self.session, call, self.workspace, [f"file:{name}"])
        if not failed:
            path.unlink() if text is None else path.write_text(text)
        return await self._after(call, failed=failed)

    async def other(self, *, runs: bool = False) -> str:
        """What is said below the result of a call that changes nothing we see, or of one that runs something."""
        self._calls += 1
        call = ToolCall(id=str(self._calls), name="other", arguments={})
        if runs:
            self.watch.runs(self.session, call)
        return await self._after(call, failed=False)

    async def _after(self, call: ToolCall, *, failed: bool) -> str:
        result = ToolResult(call_id=call.id, name=call.name, parts=(Text(text="done"),), failed=failed)
        told = await self.watch.after(self.session, call, result, self.workspace, twin=False)
        self.outside = bool(told and told.untrusted)
        return told.parts[-1].text.strip() if told else ""  # type: ignore[union-attr]

    def bring(self, name: str) -> None:
        """Let a file be from outside."""
        self.ledger.end(
            self.ledger.begin(self.workspace.cwd, "a download"), [Mark(str(Path(self.workspace.cwd, name)), "", 0)]
        )

    def next_turn(self) -> None:
        self.session = evolve(self.session, turn=self.session.turn + "t")


@pytest.fixture
async def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Callable[..., Bench]]:
    """Makes a bench; what it leaves open is closed. Of all servers only the one that speaks is there."""
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("PATH", os.defpath)
    workspace, made = Here(str(tmp_path / "work")), list[Bench]()

    def make(how: str = "push", place: Workspace = workspace, **settings: Any) -> Bench:
        known = {"servers": "always", "more": speaking(how), "seconds": 4.0}
        made.append(Bench(place, **{**known, **settings}))
        return made[-1]

    yield make
    for one in made:
        await one.watch.rest(one.session)
    await workspace.close()
