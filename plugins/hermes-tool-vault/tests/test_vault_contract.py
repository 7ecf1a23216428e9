"""The contracts that the vault's tools and its masker keep."""

from typing import ClassVar

import pytest

from hermes_core.testing import FakeToolContext, MaskerContract, ToolContract
from hermes_core.types import Session, Verdict
from hermes_tool_vault.items import Binding

SECRET = "Tr0ub4dor&3-kX9!qZ"


class _Filled(ToolContract):
    module = "hermes_tool_vault"
    settings: ClassVar = {"key": "file"}

    @pytest.fixture
    def context(self, ctx, keep):
        keep(bindings=[Binding(kind="command", target="date", path="/bin/date")])
        return ctx

    @pytest.fixture
    def tool_context(self, workspace):
        return FakeToolContext(workspace, verdict=Verdict(outcome="allow", by="person", choice="once"))

    def chosen(self, contributed, name):
        (source,) = contributed["tool_sources"]
        return next(tool for tool in source.tools(Session(id="s", origin="embed")) if tool.name == name)


class TestList(_Filled):
    @pytest.fixture
    def tool(self, contributed):
        return self.chosen(contributed, "vault_list")


class TestRun(_Filled):
    arguments: ClassVar = {"command": "date", "environment": {"TOKEN": "{{vault:token}}"}}
    failing_arguments: ClassVar = {"command": "date", "environment": {"TOKEN": "{{vault:nothing}}"}}

    @pytest.fixture
    def tool(self, contributed):
        return self.chosen(contributed, "vault_run")


class TestMasker(MaskerContract):
    module = "hermes_tool_vault"
    settings: ClassVar = {"key": "file"}
    secrets_in: ClassVar = [
        (f"TOKEN={SECRET}\n", SECRET),
        ("https://x.example/?t=Tr0ub4dor%263-kX9%21qZ", "kX9%21qZ"),
        ("VHIwdWI0ZG9yJjMta1g5IXFa", "wdWI0ZG9yJjMta1g5IX"),
        ("Zq!9Xk-3&rod4bu0rT", "Zq!9Xk"),
    ]
    harmless: ClassVar = ["nothing here", "def main() -> None:\n    return\n", "1 2 3 4 5 6 7 8 9"]

    @pytest.fixture
    def context(self, ctx, keep):
        keep()
        return ctx
