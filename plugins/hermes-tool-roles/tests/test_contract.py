"""The promises of every plugin, and of a purse."""

from hermes_core.testing import PurseContract


class TestRoles(PurseContract):
    module = "hermes_tool_roles"
