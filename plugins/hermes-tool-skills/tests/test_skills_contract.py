"""The promises of every tool, for both tools of this plugin."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hermes_core.context import PluginContext
from hermes_core.kinds import Tool, ToolSource, Workspace
from hermes_core.testing import FakeWorkspace, ToolContract, ToolSourceContract
from hermes_core.types import Session, Wall
from hermes_tool_skills.catalogue import catalogue_for
from hermes_tool_skills.library import Change
from hermes_tool_skills.lock import Entry
from hermes_tool_skills.secret import grant

SKILL = "---\nname: tidy-up\ndescription: Tidying up a folder.\n---\n\n# Tidy up\n\n1. Look.\n"


class TestSkillView(ToolContract):
    module = "hermes_tool_skills"
    arguments: ClassVar[Mapping[str, Any]] = {"name": "write-a-skill"}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"name": "no-such-skill"}
    greedy_arguments: ClassVar[Mapping[str, Any]] = {"name": "write-a-hermes-plugin", "file": "references/kinds.md"}

    @pytest.fixture
    def tool(self, contributed: Mapping[str, list[Any]]) -> Tool:
        return next(t for t in contributed["tools"] if t.name == "skill_view")


class TestSkillManage(ToolContract):
    module = "hermes_tool_skills"
    settings: ClassVar[Mapping[str, Any]] = {"approve": True}
    arguments: ClassVar[Mapping[str, Any]] = {"action": "create", "name": "tidy-up", "content": SKILL}
    failing_arguments: ClassVar[Mapping[str, Any]] = {
        "action": "patch",
        "name": "write-a-skill",
        "old": "a",
        "new": "b",
    }

    @pytest.fixture
    def tool(self, contributed: Mapping[str, list[Any]]) -> Tool:
        return next(t for t in contributed["tools"] if t.name == "skill_manage")


class Given:
    """A home in which a skill was given something, with a wall around its commands."""

    @pytest.fixture(autouse=True)
    def given(self, context: PluginContext) -> None:
        catalogue = catalogue_for(context)
        tree = {"SKILL.md": SKILL.encode(), "scripts/tidy.py": b"print('tidy')\n"}
        catalogue.library.commit(
            Entry(name="tidy-up", origin="person", version=0, files={}), tree, Change(by="hana", why="")
        )
        grant(context, catalogue.get("tidy-up"), {"ACME_KEY": "s3cret-value"}, ())


class TestSource(Given, ToolSourceContract):
    module = "hermes_tool_skills"


class TestSkillRun(Given, ToolContract):
    module = "hermes_tool_skills"
    arguments: ClassVar[Mapping[str, Any]] = {"skill": "tidy-up", "script": "scripts/tidy.py"}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"skill": "tidy-up", "script": "scripts/none.py"}

    @pytest.fixture
    def tool(self, contributed: Mapping[str, list[Any]]) -> Tool:
        source: ToolSource = contributed["tool_sources"][0]
        return next(iter(source.tools(Session(id="test", origin="embed"))))

    @pytest.fixture
    def workspace(self, tmp_path: Path) -> Workspace:
        made = FakeWorkspace(folder=tmp_path)
        made.wall = Wall(name="test")
        return made
