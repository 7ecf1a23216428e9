"""The contracts that the vault's tools and its masker keep."""

from typing import ClassVar

import pytest

from hermes_core.kinds import Resource
from hermes_core.testing import FakeToolContext, MaskerContract, ToolContract
from hermes_core.types import Session, Verdict
from hermes_tool_kit.fields import Field, Fields
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


class Page(Fields):
    """A page with one field; it keeps what is typed."""

    def __init__(self):
        self.typed = []

    async def find(self, refs):
        return [Field(ref=ref, origins=("https://shop.example:443",), hides=True, words="a field") for ref in refs]

    async def fill(self, values, guard, *, submit):
        self.typed += [value for _, value in values]
        return guard.hide(f"typed {values[0][1]}")


class Pages(Resource):
    name = "browser"

    async def open(self, session, workspace):
        return Page()

    async def close(self, thing):
        pass


class TestFill(_Filled):
    arguments: ClassVar = {"fields": {"e1": "{{vault:token}}"}}
    failing_arguments: ClassVar = {"fields": {"e1": "{{vault:nothing}}"}}

    @pytest.fixture
    def context(self, ctx, keep):
        keep(bindings=[Binding(kind="origin", target="https://shop.example:443")])
        return ctx

    @pytest.fixture
    def tool_context(self, workspace):
        yes = Verdict(outcome="allow", by="person", choice="once")
        return FakeToolContext(workspace, verdict=yes, resources=[Pages()])

    @pytest.fixture
    def tool(self, contributed):
        return self.chosen(contributed, "vault_fill")


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
