"""What a gateway keeps: the list of each server, for ever, and what is wrong with it."""

import asyncio

import pytest

from hermes_tool_mcp.service import Keeping

from .conftest import odd, running, until


@pytest.fixture
async def kept(servers):
    tasks = []

    def begin(**rows):
        there = servers(**rows)
        (name,) = rows
        service = Keeping(there.ctx, name, there.rows[name])
        tasks.append(asyncio.ensure_future(service.run()))
        return there, service

    yield begin
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_a_started_server_is_asked_and_ended_again(kept):
    there, service = kept(odd=odd(mark="kept-by-a-service"))
    await until(lambda: there.pool.lists.get("odd", there.rows["odd"]) is not None)
    await until(lambda: not running("kept-by-a-service"))
    assert service.health() == ""
    assert (await service.status()).startswith("11 tools")


async def test_a_server_at_an_address_stays_connected(kept, far):
    there, service = kept(far={"url": far("http")})
    await until(lambda: "far" in there.pool.held_by(f"service {service.name}"))
    connection = there.pool.held_by(f"service {service.name}")["far"]
    await until(lambda: connection.alive)
    assert "2 tools" in await service.status()


async def test_one_that_is_not_there_is_tried_again_and_said(kept, tmp_path):
    row = odd("--when", "start", "--do", "die", "--once", tmp_path / "once")
    there, service = kept(odd=row)
    await until(lambda: "odd is not there" in service.health())
    assert await service.status() == "nobody has asked it yet what it has"
    await until(lambda: service.health() == "")
    assert there.pool.lists.get("odd", there.rows["odd"]) is not None
