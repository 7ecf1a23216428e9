"""The promises of every tool and of a source of tools, for boards."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from hermes_core.testing import RoutesContract, ToolContract, ToolSourceContract
from hermes_core.types import Session


def named(contributed, name):
    """The tool of that name, as who works on a task has it."""
    [source] = contributed["tool_sources"]
    return next(one for one in source.tools(Session(id="test", origin="kanban")) if one.name == name)


class TestSource(ToolSourceContract):
    module = "hermes_tool_kanban"

    @pytest.fixture
    def session(self):
        return Session(id="test", origin="kanban")


class TestTasks(RoutesContract):
    module = "hermes_tool_kanban"

    @pytest.fixture
    def route(self, contributed):
        return contributed["routes"][0]


class TestBoards(RoutesContract):
    module = "hermes_tool_kanban"

    @pytest.fixture
    def route(self, contributed):
        return contributed["routes"][1]


class TestList(ToolContract):
    module = "hermes_tool_kanban"
    failing_arguments: ClassVar[Mapping[str, Any]] = {"board": "nothing"}

    @pytest.fixture
    def tool(self, contributed):
        return named(contributed, "kanban_list")


class TestCreate(ToolContract):
    module = "hermes_tool_kanban"
    arguments: ClassVar[Mapping[str, Any]] = {"title": "Look at it."}
    failing_arguments: ClassVar[Mapping[str, Any]] = {"title": "x", "parents": ["t_none"]}

    @pytest.fixture
    def tool(self, contributed):
        return named(contributed, "kanban_create")


@pytest.mark.parametrize(
    ("session", "settings", "many"),
    [
        (Session(id="s", origin="cli"), {}, 0),
        (Session(id="s", origin="cli"), {"kanban.tools": True}, 8),
        (Session(id="s", origin="kanban"), {}, 13),
        (Session(id="s", origin="child"), {}, 0),
    ],
)
def test_only_who_works_on_a_task_or_was_given_them_has_the_tools(hermes, session, settings, many):
    hermes.tmp_plugin("hermes_tool_kanban")
    hermes.configure(settings)
    hermes.runtime.loader.load_contributing("tool_sources")
    [(_, source)] = hermes.runtime.dispatch.contributions("register_tool_sources")
    assert len(list(source.tools(session))) == many
