"""The promises of every plugin, for lessons."""

from hermes_core.testing import PluginContract


class TestLessons(PluginContract):
    module = "hermes_tool_lessons"
