"""A web server on loopback."""

import pytest

from .loopback import Loopback


@pytest.fixture
async def web():
    async with Loopback() as server:
        yield server
