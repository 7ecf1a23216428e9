"""What runs on behind the wall, where its sandbox fails it."""

from collections.abc import Callable
from typing import Any

import pytest

from hermes_backend_wall.background import started
from hermes_core.errors import ToolError
from hermes_core.types import ExecRequest

REQUEST = ExecRequest(argv=("sleep", "9"), limit=1_000)
ASKED = {"argv": ["sleep", "9"], "cwd": "/", "env": {}}


class Gone:
    """A sandbox that takes nothing, or ends under what it took."""

    def __init__(self, *, takes: bool) -> None:
        self.takes = takes
        self.lose: Callable[[], None] = lambda: None

    async def submit(self, job: Any, asked: Any, fds: Any) -> int:
        if not self.takes:
            raise ToolError("The sandbox is gone.")
        self.lose = job.lost
        return 1


async def test_what_never_began_is_over_for_whoever_compares() -> None:
    over: list[str] = []
    with pytest.raises(ToolError, match="is gone"):
        await started(Gone(takes=False), ASKED, REQUEST, ended=lambda: over.append("over") or "")  # type: ignore[arg-type]
    assert over == ["over"]


async def test_the_end_of_the_sandbox_is_told_and_then_what_was_put_back() -> None:
    said: list[str] = []
    sandbox = Gone(takes=True)
    process = await started(sandbox, ASKED, REQUEST, ended=lambda: said.append("x") or "[put back: x]")  # type: ignore[arg-type]
    assert await process.poll() is None
    assert not said
    sandbox.lose()
    assert await process.poll() == 137
    text = (await process.read()).decode()
    assert text.index("The sandbox ended") < text.index("[put back: x]")
    assert await process.poll() == 137
    assert said == ["x"]
