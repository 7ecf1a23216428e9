"""A kernel, and a client that is connected to what it serves."""

import contextlib

import pytest
from mcp import Client

from hermes_core.types import Principal
from hermes_platform_mcp_serve.chosen import chosen
from hermes_platform_mcp_serve.serving import made_server

MODULE = "hermes_platform_mcp_serve"


@pytest.fixture
def connected(hermes):
    """``async with connected(model, tools=("web",)) as client``, with whatever else the test put in."""

    @contextlib.asynccontextmanager
    async def connect(owner=None, tools=(), mode="auto", ctx=None, **more):
        ctx = ctx or hermes.context(MODULE)
        who = Principal(person=owner) if owner else ctx.owner
        found = await chosen(ctx, tools)
        async with Client(made_server(ctx, lambda _: who, found.tools), mode=mode, **more) as client:
            yield client

    return connect


async def called(client, tool, **given):
    """What a tool gives; its error as a text."""
    answer = await client.call_tool(tool, given)
    return answer.content[0].text if answer.is_error else answer.structured_content
