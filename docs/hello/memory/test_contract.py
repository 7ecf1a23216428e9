"""The list keeps the contract of memories."""

from hermes_core.testing import MemoryContract


class TestList(MemoryContract):
    module = "hermes_memory_list"
