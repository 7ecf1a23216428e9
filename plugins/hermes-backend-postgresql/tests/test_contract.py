"""The promises of every plugin, and of every driver of stores, kept on a real server."""

from collections.abc import Iterator
from typing import Any

import pytest

from hermes_backend_postgresql.driver import PostgreSQL
from hermes_core.kinds import StoreDriver
from hermes_core.testing import PluginContract, StoreDriverContract


class TestPlugin(PluginContract):
    module = "hermes_backend_postgresql"
    kind = "backend"


@pytest.mark.real
class TestStore(StoreDriverContract):
    @pytest.fixture
    def driver(self) -> StoreDriver:
        return PostgreSQL()

    @pytest.fixture
    def url(self, cluster: Any) -> Iterator[str]:
        url = cluster.database()
        yield url
        cluster.drop(url)
