"""The promises of every plugin, for eval."""

from hermes_core.testing import PluginContract


class TestEval(PluginContract):
    module = "hermes_tool_eval"
