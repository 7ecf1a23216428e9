"""The tool over a real folder of this machine, without a kernel."""

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import hermes_tool_python
from hermes_backend_local.workspace import Here
from hermes_core.agent.arguments import parse_arguments
from hermes_core.errors import ToolError
from hermes_core.kinds import Workspace
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing.fake_context import FakeToolContext, plugin_context
from hermes_core.types import Offer, ToolResult, ToolSpec
from hermes_tool_python.choice import why_not
from hermes_tool_python.config import Config

READ = {"type": "object", "properties": {"limit": {}, "path": {}}, "required": ["path"]}
SPECS = tuple(ToolSpec(name=name, description="", schema=READ) for name in ("read_file", "web_fetch"))


class Bench:
    """The tool, with settings; ``call`` gives what a call gives."""

    def __init__(self, folder: Path, workspace: Workspace, **settings: Any) -> None:
        manifest = read_manifest(Path(hermes_tool_python.__file__).with_name("hermes-plugin.toml"))
        self.ctx = plugin_context(manifest, folder / "home", config=Config(**settings))
        (self.tool,) = hermes_tool_python.register_tools(self.ctx)
        self.images: Sequence[Any] = ()
        self.failed = False
        self.answers: dict[str, ToolResult | str | ToolError] = {"read_file": "text of it"}
        self.context = FakeToolContext(
            workspace,
            tools=Offer(tools=SPECS),
            resources=[*hermes_tool_python.register_resources(self.ctx)],
            answers=self.answers,
        )

    async def call(self, code: str, *, keep: bool = False) -> str:
        """The text of a call, whether it failed or not."""
        self.images, self.failed = (), False
        try:
            output = await self.tool.run(self.context, parse_arguments(self.tool, {"code": code, "keep": keep}))
        except ToolError as error:
            self.failed = True
            return error.text
        text, *self.images = output
        return text.text


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Callable[..., Bench]]:
    """Makes the tool with settings; what it leaves open is closed."""
    (tmp_path / "work").mkdir()
    workspace, made = Here(str(tmp_path / "work")), list[Bench]()

    def make(**settings: Any) -> Bench:
        if settings.get("mode") == "fast" and (why := why_not()):
            pytest.skip(why)
        made.append(Bench(tmp_path, workspace, **settings))
        return made[-1]

    yield make
    for one in made:
        await one.context.close()
    await workspace.close()


@pytest.fixture(params=["fast", "full"])
def bench(request: pytest.FixtureRequest, make: Callable[..., Bench]) -> Bench:
    """The tool, with each Python."""
    return make(mode=request.param, seconds=20)


@pytest.fixture
def full(make: Callable[..., Bench]) -> Bench:
    """The tool, with the whole Python."""
    return make(mode="full", seconds=20)
