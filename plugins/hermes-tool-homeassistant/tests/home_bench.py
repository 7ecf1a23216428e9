"""The tools of one session, without a kernel."""

from pathlib import Path
from typing import Any

import pytest

import hermes_tool_homeassistant
from hermes_core.agent.arguments import parse_arguments
from hermes_core.config.settings import structure
from hermes_core.errors import ToolError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, plugin_context
from hermes_core.testing.fakes import FakeWorkspace
from hermes_core.types import ToolCall, Verdict
from hermes_tool_homeassistant.config import Config
from hermes_tool_homeassistant.judging import judged
from hermes_tool_homeassistant.tools import tools_of

from .small_home import TOKEN

YES = Verdict(outcome="allow", choice="once", by="Anna")


class Bench:
    """The tools of one session, as a turn would use them."""

    def __init__(self, folder: Path, url: str, verdict: Verdict | None = None, token: str = TOKEN, **more: Any) -> None:
        config, problems = structure(Config, {"url": url, **more}, "tools.homeassistant")
        assert config, problems
        manifest = read_manifest(Path(hermes_tool_homeassistant.__file__).with_name("hermes-plugin.toml"))
        self.ctx = plugin_context(manifest, folder, config=config, secrets={"HASS_TOKEN": token})
        self.tools = {tool.name: tool for tool in tools_of(self.ctx)}
        (folder / "work").mkdir(exist_ok=True)
        self.context = FakeToolContext(
            FakeWorkspace(folder=folder / "work"), verdict=verdict,
            resources=[*hermes_tool_homeassistant.register_resources(self.ctx)],
        )  # fmt: skip

    async def call(self, name: str, **arguments: Any) -> str:
        """The text of a call that was judged first. Raises ToolError."""
        tool = self.tools[f"ha_{name}"]
        verdict = self.judge(name, **arguments)
        if verdict.outcome == "deny":
            raise ToolError(verdict.reason)
        return str(await tool.run(self.context, parse_arguments(tool, arguments)))

    async def fails(self, name: str, **arguments: Any) -> str:
        """The text of a call that must fail."""
        with pytest.raises(ToolError) as failed:
            await self.call(name, **arguments)
        return f"{failed.value.text} {failed.value.hint}".strip()

    def judge(self, name: str, **arguments: Any) -> Verdict:
        """What the policy is told of a call."""
        return judged(self.ctx, ToolCall(id="1", name=f"ha_{name}", arguments=arguments))
