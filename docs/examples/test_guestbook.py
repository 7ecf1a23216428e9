"""The contract of what is read, and that what is signed stands there."""

import guestbook
import pytest

from hermes_core.testing import PluginContract, RoutesContract, serve
from hermes_core.types import Principal


class TestPlugin(PluginContract):
    module = "guestbook"


class TestRead(RoutesContract):
    module = "guestbook"

    @pytest.fixture
    def route(self, contributed):
        return contributed["routes"][1]


class TestSign:
    async def test_who_signs_is_read(self, tmp_path):
        from hermes_core.plugins.manifest import read_manifest
        from hermes_core.testing import plugin_context

        ctx = plugin_context(read_manifest(guestbook.__file__), tmp_path)
        sign, read = guestbook.register_routes(ctx)
        assert (await serve(sign, "POST", body=b"Ada")).status == 201
        assert (await serve(read, owner=Principal())).body == b"For owner:\nAda\n"
