"""Conversations have the slash commands they usually have, and people the roles."""

import pytest

from hermes_core.testing import Bench


@pytest.fixture
def hermes(hermes: Bench) -> Bench:
    """The same, with the plugins of most slash commands and of roles put in."""
    hermes.tmp_plugin("hermes_tool_commands")
    hermes.tmp_plugin("hermes_tool_roles")
    hermes.tmp_plugin("hermes_platform_gateway")
    return hermes
