"""What every source of tools promises: tools that come and go while Hermes runs."""

from collections.abc import Mapping
from typing import Any

import pytest

from hermes_core.kinds import Tool, ToolSource
from hermes_core.testing.contract_base import PluginContract
from hermes_core.testing.witness import Witness
from hermes_core.types import Session

__all__ = ["ToolSourceContract"]


class ToolSourceContract(PluginContract):
    """Inherit, name your ``module``, and give a ``source`` that has tools where the first one has none by itself.

    A tool of it is held to the promises of every tool by a ToolContract, with a ``tool`` fixture that picks it.
    """

    kind = "tool"

    @pytest.fixture
    def source(self, contributed: Mapping[str, list[Any]]) -> ToolSource:
        """The source under test; by default the first one the plugin contributes."""
        assert contributed.get("tool_sources"), "the plugin contributes no source of tools; give a source fixture"
        source: ToolSource = contributed["tool_sources"][0]
        return source

    @pytest.fixture
    def session(self) -> Session:
        """Whose tools are asked for."""
        return Session(id="test", origin="embed")

    def test_what_it_has_are_tools_of_its_own(self, source: ToolSource, session: Session) -> None:
        """It gives tools of its toolset, each with a name that begins with its own and ``_``; none twice.

        If this fails: name them after the source, as ``own_count`` of ``own``, with letters, digits, _ and - (64 in
        all). No tool of another plugin is named so, and a person closes all of them with one rule.
        """
        tools = list(source.tools(session))
        odd = [tool for tool in tools if not isinstance(tool, Tool)]
        assert not odd, f"{source.name} gives what is no tool: {odd}"
        names = [tool.name for tool in tools]
        assert len({*names}) == len(names), f"{source.name} gives a name twice: {sorted(names)}"
        astray = [name for name in names if not name.startswith(f"{source.name}_")]
        assert not astray, f"these names do not begin with {source.name}_: {', '.join(astray)}"
        sets = {tool.toolset for tool in tools} - {source.toolset}
        assert not sets, f"{source.name} is of the toolset {source.toolset}, and its tools of {', '.join(sorted(sets))}"

    def test_asking_it_is_quick_and_changes_nothing(self, source: ToolSource, session: Session) -> None:
        """Asked twice in a row it gives the same, and it connects to nothing, starts nothing and writes nothing.

        If this fails: it is asked before each turn, and for a call of what is no installed tool. Keep ready what
        takes long, in a service or in the tool that changes it.
        """
        with Witness(strict=True) as witness:
            there, again = ([tool.name for tool in source.tools(session)] for _ in range(2))
        assert there == again, f"{source.name} gives {there}, and asked again {again}"
        done = [f"connects to {host}" for host in witness.hosts] + [f"starts {one}" for one in witness.programs]
        done += [f"changes {path}" for path in witness.written]
        assert not done, f"to say what it has, {source.name} {', '.join(done)}"
