"""The tool in a plain place, without any other plugin."""

import sys
from pathlib import Path

import pytest

import hermes_tool_terminal
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing.fake_context import FakeToolContext, plugin_context

sys.path.insert(0, str(Path(__file__).parent))  # for terminal_place; pytest does not do it in this import mode

from terminal_place import Plain


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
    return next(iter(hermes_tool_terminal.register_tools(ctx)))
