"""A plain place to run commands in, so that the tool is tested without any other plugin."""

import asyncio
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from pathlib import Path

import pytest

import hermes_tool_terminal
from hermes_core.errors import ToolError
from hermes_core.kinds import Workspace
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing.fake_context import FakeToolContext, plugin_context
from hermes_core.types import ExecRequest, ExecResult


class Plain(Workspace):
    """Runs real commands; remembers what it was asked."""

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        self.asked: list[ExecRequest] = []
        self.missing: set[str] = set()

    async def run(self, request: ExecRequest) -> ExecResult:
        self.asked.append(request)
        if request.argv[0] in self.missing:
            raise ToolError(f"Cannot run {request.argv[0]}: no such program.")
        argv = ("false",) if self.missing and "command -v" in request.argv[-1] else request.argv
        cwd = str(Path(self.cwd, request.cwd))
        process = await asyncio.create_subprocess_exec(*argv, cwd=cwd, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT)
        assert process.stdout
        output = b""
        try:
            async with asyncio.timeout(request.seconds):
                while data := await process.stdout.read(65536):
                    output += data
                    if request.on_output:
                        request.on_output(data)
                return ExecResult(status=await process.wait(), output=output)
        except TimeoutError:
            process.kill()
            await process.wait()
            return ExecResult(status=124, output=output)
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise


@pytest.fixture
def place(tmp_path):
    return Plain(str(tmp_path))


@pytest.fixture
def context(place, ctx):
    return FakeToolContext(place, resources=hermes_tool_terminal.register_resources(ctx))


@pytest.fixture
def ctx(tmp_path):
    """What the plugin is handed."""
    manifest = read_manifest(Path(hermes_tool_terminal.__file__).with_name("hermes-plugin.toml"))
    return plugin_context(manifest, tmp_path / "home")


@pytest.fixture
def terminal(ctx):
    """The tool."""
    (made,) = hermes_tool_terminal.register_tools(ctx)
    return made
