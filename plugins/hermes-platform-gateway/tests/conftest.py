"""Conversations have the slash commands they usually have."""

import pytest

from hermes_core.testing import Bench


@pytest.fixture
def hermes(hermes: Bench) -> Bench:
    """The same, with the plugin of most slash commands put in."""
    hermes.tmp_plugin("hermes_tool_commands")
    hermes.tmp_plugin("hermes_platform_gateway")
    return hermes
