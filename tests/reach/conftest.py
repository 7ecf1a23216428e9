"""Helpers of this folder can be imported by the names of their files."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
async def web():
    from loopback import Loopback

    async with Loopback() as server:
        yield server
