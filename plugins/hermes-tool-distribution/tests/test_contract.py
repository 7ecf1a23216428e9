"""The promises of every plugin, for distribution."""

from hermes_core.testing import PluginContract


class TestDistribution(PluginContract):
    module = "hermes_tool_distribution"
