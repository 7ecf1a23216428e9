"""A list is got within a time, whatever the service does."""

import asyncio

import httpx2
import pytest

from hermes_core.errors import Unavailable
from hermes_provider_kit.failures import Service
from hermes_provider_kit.listing import fetch_json


async def test_a_list_that_comes_byte_by_byte_is_given_up() -> None:
    async def drips():
        while True:
            yield b" "
            await asyncio.sleep(0)

    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=drips()))
    async with httpx2.AsyncClient(transport=transport) as client:
        with pytest.raises(Unavailable, match="did not send all of its answer") as told:
            await fetch_json(client, "http://x/models", headers={}, service=Service(title="X"), seconds=0.01)
    assert (told.value.reason, told.value.transient) == ("timeout", True)
