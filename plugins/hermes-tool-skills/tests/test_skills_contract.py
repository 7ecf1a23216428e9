"""The promises of every tool, for both tools of this plugin."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from hermes_core.kinds import Tool
from hermes_core.testing import ToolContract

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
