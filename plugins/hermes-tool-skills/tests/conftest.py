"""A home with skills, and the commands as a person types them."""

import json
import time
from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from click.testing import CliRunner, Result

from hermes_core.brokers import MasksBroker, SecretsBroker
from hermes_core.context import PluginContext
from hermes_core.kinds import Tool
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeToolContext, FakeWorkspace, plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_core.types import Principal, Session, Verdict, Wall
from hermes_tool_skills.catalogue import catalogue_for
from hermes_tool_skills.commands import commands
from hermes_tool_skills.config import Config
from hermes_tool_skills.library import Library
from hermes_tool_skills.running import skill_sources
from hermes_tool_skills.slash import slash_commands
from hermes_tool_skills.tools import skill_tools

MANIFEST = read_manifest(manifest_path("hermes_tool_skills"))


def skill_text(
    name: str, body: str = "# Do it\n\n1. Look.\n", description: str = "Use it when it fits.", extra: str = ""
) -> str:
    return f"---\nname: {name}\ndescription: {description}\n{extra}---\n\n{body}"


class Masks(MasksBroker):
    """What the kernel's do with a secret that it knows."""

    def text(self, text: str) -> str:
        return text.replace("correct-horse", "[…]")


class Secrets(SecretsBroker):
    """A home's secrets, the same in every process; only those that the manifest declares."""

    def __init__(self, kept: dict[str, str]) -> None:
        self._kept = kept

    def get(self, name: str) -> str:
        assert any(fnmatch(name, one) for one in MANIFEST.secrets), name
        return self._kept.get(name, "")

    def set(self, name: str, value: str) -> None:
        assert any(fnmatch(name, one) for one in MANIFEST.secrets), name
        self._kept[name] = value

    def resolve(self, value: str) -> str:
        return value


class Rig:
    """One home. A fresh catalogue for every question, as in a new process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.work = folder / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self.shipped = False
        self.settings: dict[str, Any] = {}
        self.plugins: list[tuple[str, Path]] = []
        self.secrets: dict[str, str] = {}
        self.wall = Wall(name="none")
        self.process: PluginContext | None = None
        self.tty = False

    def made(self) -> PluginContext:
        ours = [("skills", manifest_path("hermes_tool_skills").parent / "skills")] if self.shipped else []
        made = plugin_context(MANIFEST, self.home, config=Config(**self.settings), skills=[*ours, *self.plugins])
        return evolve(made, masks=Masks(), secrets=Secrets(self.secrets))

    @property
    def context(self) -> PluginContext:
        """Of a new process, or of the one that goes on."""
        return self.process or self.made()

    @property
    def library(self) -> Library:
        return Library.of(self.context)

    def states(self) -> dict[str, str]:
        return {s.name: s.state for s in catalogue_for(self.context).all()}

    def skill(self, name: str) -> Any:
        return catalogue_for(self.context).get(name)

    def tool(self, name: str) -> Tool:
        (source,) = skill_sources(self.context)
        there = [*skill_tools(self.context), *source.tools(Session(id="s1", origin="cli"))]
        return next(t for t in there if t.name == name)

    async def call(self, which: str, /, verdict: str = "deny", person: str = "owner", **arguments: Any) -> str:
        from hermes_core.agent.arguments import parse_arguments

        tool = self.tool(which)
        session = Session(id="s1", origin="cli", owner=Principal(person=person), cwd=str(self.work))
        workspace = FakeWorkspace(folder=self.work)
        workspace.wall = self.wall
        self.tool_context = FakeToolContext(workspace, session=session, verdict=Verdict(outcome=verdict))
        output = await tool.run(self.tool_context, parse_arguments(tool, arguments))
        assert isinstance(output, str)
        return output

    async def create(self, name: str, body: str = "# Do it\n\n1. Look.\n", **more: Any) -> str:
        return await self.call("skill_manage", action="create", name=name, content=skill_text(name, body), **more)

    def run(self, *words: str, answers: str = "") -> Result:
        return self._run(f"skills {words[0]}", *words[1:], answers=answers)

    def curate(self, *words: str) -> Result:
        return self._run(f"curator {words[0]}", *words[1:])

    async def slash(self, name: str, rest: str, session: Session | None = None) -> Any:
        command = next(c for c in slash_commands(self.context) if c.name == name)
        return await command.run(session or Session(id="s1", origin="cli"), rest)

    def _run(self, name: str, *words: str, answers: str = "") -> Result:
        command = next(c for c in commands(self.context) if c.name == name)
        done = CliRunner().invoke(command.build(), words, input=answers, catch_exceptions=False, standalone_mode=False)
        done.exit_code = done.exit_code or done.return_value or 0  # as the kernel's command line takes it
        return done

    def put(self, where: Path, files: Mapping[str, str | bytes]) -> Path:
        for path, text in files.items():
            (where / path).parent.mkdir(parents=True, exist_ok=True)
            (where / path).write_bytes(text if isinstance(text, bytes) else text.encode())
        return where

    def source(self, name: str, body: str = "# Do it\n\n1. Look.\n", **files: str | bytes) -> Path:
        """A folder to install from."""
        more = {path.replace("__", "/"): text for path, text in files.items()}
        return self.put(self.folder / "sources" / name, {"SKILL.md": skill_text(name, body), **more})

    def audit(self) -> list[str]:
        return [f"{row['what']} {row['name']}" for row in self.library.audited()]

    def lock(self) -> Any:
        return json.loads(self.library.lock_file.read_text())


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rig:
    made = Rig(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("hermes_tool_skills.install.person", lambda: "hana")
    monkeypatch.setattr("hermes_tool_skills.library.time.time", lambda: 1_700_000_000.0)
    monkeypatch.setattr("hermes_tool_skills.screens.time.localtime", time.gmtime)
    return made


@pytest.fixture
def text() -> Callable[..., str]:
    return skill_text


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody sits at the terminal."""
    monkeypatch.setattr("hermes_tool_skills.asking.sits_here", lambda: True)
