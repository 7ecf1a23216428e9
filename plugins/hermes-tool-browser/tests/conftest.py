"""The tools over a real browser and a local server, without a kernel."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

import hermes_tool_browser
from hermes_core.agent.arguments import parse_arguments
from hermes_core.context import UrlRules
from hermes_core.errors import ToolError
from hermes_core.options import Secret
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing.fake_context import FakeToolContext, plugin_context
from hermes_core.testing.fakes import FakeWorkspace
from hermes_core.types import Blob, Text, ToolCall, Verdict
from hermes_tool_browser.config import Config
from hermes_tool_browser.effects import judged
from hermes_tool_browser.lasting import open_one

from .pages import Site


class Bench:
    """The tools of one session. ``call`` judges a call as a kernel does, makes it, and gives its text."""

    def __init__(
        self, folder: Path, *, urls: UrlRules | None = None, secrets: dict[str, str] | None = None, **settings: Any
    ) -> None:
        manifest = read_manifest(Path(hermes_tool_browser.__file__).with_name("hermes-plugin.toml"))
        urls = urls or UrlRules(allow_private=True)
        if "cdp_url" in settings:
            settings["cdp_url"] = Secret(settings["cdp_url"])
        config = Config(**settings)
        self.ctx = plugin_context(manifest, folder / "home", config=config, urls=urls, secrets=secrets)
        self.tools = {tool.name: tool for tool in hermes_tool_browser.register_tools(self.ctx)}
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        resources = [*hermes_tool_browser.register_resources(self.ctx)]
        self.context = FakeToolContext(FakeWorkspace(folder=self.work), resources=resources)
        self.verdict: Verdict | None = None
        self.blobs: list[Blob] = []
        self._calls = 0

    async def call(self, name: str, **arguments: Any) -> str:
        """The text of a call. Raises ToolError as it does."""
        tool = self.tools[f"browser_{name}"]
        self._calls += 1
        self.context.call_id = str(self._calls)
        given = ToolCall(id=str(self._calls), name=tool.name, arguments=arguments)
        self.verdict = judged(self.ctx, self.context.session, given)
        output = await tool.run(self.context, parse_arguments(tool, arguments))
        if isinstance(output, str):
            return output
        self.blobs = [part for part in output if isinstance(part, Blob)]
        return "\n".join(part.text for part in output if isinstance(part, Text))

    async def fails(self, name: str, **arguments: Any) -> str:
        """The text of a call that must fail."""
        with pytest.raises(ToolError) as failed:
            await self.call(name, **arguments)
        return f"{failed.value.text} {failed.value.hint}".strip()

    def ref(self, named: str) -> str:
        """The reference of the first element whose line holds this, in the last snapshot."""
        snapshot = self.browsing.tab.snapshot
        line = next(line for line in snapshot.lines if named in line and "[ref=" in line)
        return line.partition("[ref=")[2].partition("]")[0]

    @property
    def browsing(self) -> Any:
        return open_one(self.ctx, self.context.session.id)


@pytest.fixture(scope="session")
def site() -> Any:
    """The pages, served on loopback."""
    with Site() as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def make(tmp_path: Path) -> AsyncIterator[Callable[..., Bench]]:
    """Makes the tools with settings; what they leave open is closed."""
    made = list[Bench]()

    def make(**settings: Any) -> Bench:
        made.append(Bench(tmp_path, **settings))
        return made[-1]

    yield make
    for one in made:
        await one.context.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bench(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bench]:
    """The tools as they are, with one browser for a module."""
    made = Bench(tmp_path_factory.mktemp("bench"))
    yield made
    await made.context.close()


@pytest.fixture
def quiet(make: Callable[..., Bench]) -> Bench:
    """The tools as they are for somebody who opens no private addresses, and closed one site."""
    return make(urls=UrlRules(blocked=("closed.example",)))
