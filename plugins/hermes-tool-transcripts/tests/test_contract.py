"""The promises of every plugin, for transcripts: it is nothing but hooks."""

from hermes_core.testing import PluginContract


class TestTranscripts(PluginContract):
    module = "hermes_tool_transcripts"
    kind = "tool"
