"""The promises of every plugin, and of a masker."""

from collections.abc import Sequence
from typing import ClassVar

from hermes_core.testing import MaskerContract


class TestRedaction(MaskerContract):
    module = "hermes_tool_redaction"
    kind = "tool"
    secrets_in: ClassVar[Sequence[tuple[str, str]]] = (
        ("deploy failed: password=swordfish77 for db", "swordfish77"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq3Zc0sWk1JfQ9x\n", "MIIEpAIBAAKCAQEA7bq3Zc0sWk1JfQ9x"),
    )
    harmless: ClassVar[Sequence[str]] = ("nothing to see here", "", "commit 3b4007b of main\n")
