"""The promises of every plugin, for persona: a slash command and hooks."""

from hermes_core.testing import PluginContract


class TestPersona(PluginContract):
    module = "hermes_tool_persona"
    kind = "tool"
