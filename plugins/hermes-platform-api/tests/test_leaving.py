"""``hermes api`` ended by SIGTERM: what runs longer than it waits goes on at the next start, and nothing is lost."""

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from hermes_core.testing.forks import Forks
from hermes_core.testing.model_service import model_service
from hermes_core.testing.protocol_replies import Said, SaidCall, events_of, stream_of

from .test_killed import KEY, rows, says, started, until_over

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks(Path(__file__).with_name("dying.py")) as made:
        yield made


@contextlib.asynccontextmanager
async def served(home: Path, **more: Any) -> AsyncIterator[Any]:
    """A model's service, and a home that asks it."""
    async with model_service("/v1") as model:
        api = json.dumps({"drain_seconds": 0.3, **more})
        settings = f"model: {{provider: custom, default: m, base_url: '{model.url}', api_key: none-is-needed}}\n"
        (home / "config.yaml").write_text(f"{settings}platforms: {{api: {api}}}\n")
        yield model


def half(words: str) -> Any:
    """A reply that says something, and then nothing for good."""

    async def reply(writer: asyncio.StreamWriter) -> bool:
        begun = stream_of("chat", events_of("chat", Said(pieces=[words])))
        writer.write(b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\n")
        writer.write(begun.partition(b'"finish_reason":"stop"')[0].rpartition(b"data: ")[0])
        await writer.drain()
        await asyncio.sleep(60)
        return False

    return reply


async def ended(forks: Forks, process: int) -> int:
    os.kill(process, signal.SIGTERM)
    async with asyncio.timeout(30):
        return await asyncio.to_thread(forks.wait)


async def test_a_run_goes_on_and_what_was_said_is_kept(tmp_path: Path, forks: Forks) -> None:
    heads = {"authorization": f"Bearer {KEY}"}
    async with served(tmp_path) as model, openai.DefaultAsyncHttpxClient(timeout=60, headers=heads) as client:
        model.script = [half("The first half. ")]
        model.always = says(Said(pieces=["All of it."]))
        process, url = await started(forks, tmp_path)
        run = (await client.post(f"{url}/v1/runs", json={"input": "say it"})).json()["run_id"]
        told: list[str] = []

        async def watch() -> None:
            async with client.stream("GET", f"{url}/v1/runs/{run}/events") as events:
                async for line in events.aiter_lines():
                    told.append(line)  # noqa: PERF401 - it is read meanwhile

        watching = asyncio.create_task(watch())
        async with asyncio.timeout(30):
            while not any("The first half" in line for line in told):
                await asyncio.sleep(0.02)
        assert await ended(forks, process) == 0
        await asyncio.wait({watching}, timeout=10)
        assert not any("run.cancelled" in line for line in told), "it is not over"
        assert any("goes on when it starts again" in line for line in told), told
        assert rows(tmp_path, "select state from turns") == [("open",)]
        [kept] = [body for (body,) in rows(tmp_path, "select body from messages") if "The first half." in body]
        process, url = await started(forks, tmp_path)
        try:
            over = await until_over(client, f"{url}/v1/runs/{run}")
            assert (over["status"], over["output"]) == ("completed", "All of it.")
        finally:
            assert await ended(forks, process) == 0
    assert "raceback" not in (tmp_path / "said").read_text() + (tmp_path / "logs" / "hermes.log").read_text()
    assert rows(tmp_path, "select state from turns") == [("done",)]
    assert kept in [body for (body,) in rows(tmp_path, "select body from messages")]


async def test_a_turn_that_waits_for_its_client_waits_on(tmp_path: Path, forks: Forks) -> None:
    function = {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}
    ask: Any = [{"role": "user", "content": "weather?"}]
    body: dict[str, Any] = {"model": "hermes", "messages": ask, "tools": [{"type": "function", "function": function}]}
    heads = {"authorization": f"Bearer {KEY}"}
    async with served(tmp_path) as model, openai.DefaultAsyncHttpxClient(timeout=60, headers=heads) as client:
        model.script = [says(Said(calls=[SaidCall("client_get_weather")]))]
        model.always = says(Said(pieces=["It rains."]))
        process, url = await started(forks, tmp_path)
        first = (await client.post(f"{url}/v1/chat/completions", json=body)).json()["choices"][0]["message"]
        assert await ended(forks, process) == 0
        assert rows(tmp_path, "select state from turns") == [("open",)]
        process, url = await started(forks, tmp_path)
        try:
            given = {"role": "tool", "tool_call_id": first["tool_calls"][0]["id"], "content": "Rain in Ulm."}
            more = {**body, "messages": [*ask, first, given]}
            answer = (await client.post(f"{url}/v1/chat/completions", json=more)).json()
        finally:
            assert await ended(forks, process) == 0
    assert answer["choices"][0]["message"]["content"] == "It rains."
    assert rows(tmp_path, "select state from turns") == [("done",)]
    assert rows(tmp_path, "select count(*) from messages") == [(4,)]


async def test_what_ends_in_time_is_waited_for(tmp_path: Path, forks: Forks) -> None:
    heads = {"authorization": f"Bearer {KEY}"}
    async with (
        served(tmp_path, drain_seconds=20) as model,
        openai.DefaultAsyncHttpxClient(timeout=60, headers=heads) as client,
    ):
        go = asyncio.Event()

        async def late(writer: asyncio.StreamWriter) -> bool:
            await go.wait()
            writer.write(says(Said(pieces=["Just in time."])))
            await writer.drain()
            return True

        model.always = late
        process, url = await started(forks, tmp_path)
        body = {"model": "hermes", "messages": [{"role": "user", "content": "wait"}]}
        asking = asyncio.create_task(client.post(f"{url}/v1/chat/completions", json=body))
        async with asyncio.timeout(30):
            while not model.asked:
                await asyncio.sleep(0.02)
        os.kill(process, signal.SIGTERM)
        await asyncio.sleep(0.2)
        go.set()
        answer = (await asking).json()
        assert await asyncio.to_thread(forks.wait) == 0
    assert answer["choices"][0]["message"]["content"] == "Just in time."
    with contextlib.closing(sqlite3.connect(tmp_path / "state.db")) as store:
        assert store.execute("select state from turns").fetchall() == [("done",)]
