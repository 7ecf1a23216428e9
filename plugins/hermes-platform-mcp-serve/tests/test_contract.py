"""The promises of everything that is served, and of the plugin."""

from typing import ClassVar

from hermes_core.testing import RoutesContract


class TestStreamable(RoutesContract):
    module = "hermes_platform_mcp_serve"
    kind = "platform"
    asked: ClassVar = (("GET", "/"),)
