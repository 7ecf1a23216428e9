"""The promises of every plugin, for the compressor. It is no store, so those of a memory do not apply."""

from hermes_core.testing import PluginContract


class TestCompressor(PluginContract):
    module = "hermes_memory_compressor"
    kind = "memory"
