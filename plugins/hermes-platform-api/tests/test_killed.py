"""``hermes api`` killed in the middle of a turn: the request that is repeated finishes it, once."""

import asyncio
import contextlib
import os
import re
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from hermes_core.testing.forks import Forks
from hermes_core.testing.model_service import http as whole
from hermes_core.testing.model_service import model_service
from hermes_core.testing.protocol_replies import Said, SaidCall, events_of, stream_of

pytestmark = pytest.mark.long

KEY = "owners-key-0123456789"


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Processes that are killed."""
    with Forks(Path(__file__).with_name("dying.py")) as made:
        yield made


async def started(forks: Forks, home: Path, **env: str) -> tuple[int, str]:
    """The number of a process that serves, and where."""
    said = home / "said"
    said.unlink(missing_ok=True)
    known = {"HERMES_HOME": str(home), "API_SERVER_KEY": KEY, "HERMES_TESTING": "1", "HERMES_DIE_AT": "", **env}
    process = forks.start(env=known, output=said, words=["api", "--port", "0"])
    async with asyncio.timeout(60):
        while not (found := re.search(r"listens on (http\S+)/v1\b", said.read_text() if said.exists() else "")):
            await asyncio.sleep(0.01)
    return process, found[1]


@pytest.mark.parametrize("point", ["journaled", "replied", "answered"])
async def test_a_repeat_finishes_what_a_kill_cut(tmp_path: Path, forks: Forks, point: str) -> None:
    (tmp_path / "config.yaml").write_text("model: {provider: offline}\n")
    headers = {"authorization": f"Bearer {KEY}", "idempotency-key": "once"}
    body = {"model": "hermes", "messages": [{"role": "user", "content": "hello"}]}
    _, url = await started(forks, tmp_path, HERMES_DIE_AT=point)
    async with openai.DefaultAsyncHttpxClient(timeout=60) as http:
        cut = await asyncio.gather(
            http.post(f"{url}/v1/chat/completions", json=body, headers=headers), return_exceptions=True
        )
        assert isinstance(cut[0], Exception)
        assert await asyncio.to_thread(forks.wait) == -signal.SIGKILL
        process, url = await started(forks, tmp_path)
        try:
            answer = await http.post(f"{url}/v1/chat/completions", json=body, headers=headers)
            again = await http.post(f"{url}/v1/chat/completions", json=body, headers=headers)
        finally:
            os.kill(process, signal.SIGTERM)
            status = await asyncio.to_thread(forks.wait)
    assert answer.status_code == 200, answer.text
    said = answer.json()["choices"][0]["message"]["content"]
    assert said == again.json()["choices"][0]["message"]["content"] != ""
    assert status == 0
    rows = sqlite3.connect(tmp_path / "state.db")
    assert rows.execute("select role from messages order by id").fetchall() == [("user",), ("assistant",)]
    assert rows.execute("select state from turns").fetchall() == [("done",)]


async def test_a_turn_that_waited_for_its_client_goes_on_after_a_kill(tmp_path: Path, forks: Forks) -> None:
    (tmp_path / "config.yaml").write_text("model: {provider: offline}\n")
    ask: Any = [{"role": "user", "content": "use the tool client_get_weather with city=Ulm"}]
    function: Any = {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
    tools: Any = [{"type": "function", "function": function}]
    process, url = await started(forks, tmp_path)
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        first = await client.chat.completions.create(model="hermes", messages=ask, tools=tools)
    message = first.choices[0].message
    assert message.tool_calls, message
    os.kill(process, signal.SIGKILL)
    assert await asyncio.to_thread(forks.wait) == -signal.SIGKILL
    process, url = await started(forks, tmp_path)
    more = [message.model_dump(exclude_none=True)]
    more.append({"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "Rain in Ulm."})
    try:
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
            last = await client.chat.completions.create(model="hermes", messages=[*ask, *more], tools=tools)
    finally:
        os.kill(process, signal.SIGTERM)
        await asyncio.to_thread(forks.wait)
    assert "Rain in Ulm." in (last.choices[0].message.content or "")
    rows = sqlite3.connect(tmp_path / "state.db")
    assert rows.execute("select role from messages order by id").fetchall() == [
        ("user",),
        ("assistant",),
        ("tool",),
        ("assistant",),
    ]
    assert rows.execute("select state from turns").fetchall() == [("done",)]


def says(said: Said) -> bytes:
    """A reply of the model's service, as a stream."""
    return whole(200, stream_of("chat", events_of("chat", said)), "text/event-stream")


@pytest.mark.parametrize("point", ["tool_done", "tool_stored", "replied:2", "answered"])
async def test_a_kill_after_a_client_gave_its_result_leaves_a_turn_that_uses_it_once(
    tmp_path: Path, forks: Forks, point: str
) -> None:
    """Once the result is stored the turn goes on by itself; before, when its client sends the same again."""
    function = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
    ask: Any = [{"role": "user", "content": "weather?"}]
    body: dict[str, Any] = {"model": "hermes", "messages": ask, "tools": [{"type": "function", "function": function}]}
    same, heads = {"idempotency-key": "result"}, {"authorization": f"Bearer {KEY}"}
    async with model_service("/v1") as model, openai.DefaultAsyncHttpxClient(timeout=60, headers=heads) as client:
        model.script = [says(Said(calls=[SaidCall("client_get_weather", '{"city": "Ulm"}')]))]
        model.always = says(Said(pieces=["It rains."]))
        settings = f"model: {{provider: custom, default: m, base_url: '{model.url}', api_key: none-is-needed}}\n"
        (tmp_path / "config.yaml").write_text(settings)
        _, url = await started(forks, tmp_path, HERMES_DIE_AT=point)
        first = (await client.post(f"{url}/v1/chat/completions", json=body)).json()["choices"][0]["message"]
        given = {"role": "tool", "tool_call_id": first["tool_calls"][0]["id"], "content": "Rain in Ulm."}
        more = {**body, "messages": [*ask, first, given]}
        cut = client.post(f"{url}/v1/chat/completions", json=more, headers=same)
        assert isinstance((await asyncio.gather(cut, return_exceptions=True))[0], Exception)
        assert await asyncio.to_thread(forks.wait) == -signal.SIGKILL
        process, url = await started(forks, tmp_path)
        try:
            if point != "tool_done":  # nobody asks, and it comes to its end
                async with asyncio.timeout(40):
                    while rows(tmp_path, "select state from turns") != [("done",)]:
                        await asyncio.sleep(0.05)
            answers = [await client.post(f"{url}/v1/chat/completions", json=more, headers=same) for _ in range(2)]
        finally:
            os.kill(process, signal.SIGTERM)
            await asyncio.to_thread(forks.wait)
    for answer in answers:
        assert answer.json()["choices"][0]["message"]["content"] == "It rains.", answer.text
    told = [[one["content"] for one in asked.body["messages"] if one["role"] == "tool"] for asked in model.asked]
    assert told[0] == []
    assert all(len(one) == 1 and "Rain in Ulm." in one[0] for one in told[1:]), "the result is there, once"
    # The request that tells of the result leaves while that is stored: a death just then may have it asked once more.
    assert len(told) == 2 or (point == "tool_stored" and len(told) == 3), "nothing is asked of the model again"
    said = [("user",), ("assistant",), ("tool",), ("assistant",)]
    assert rows(tmp_path, "select role from messages order by id") == said
    assert rows(tmp_path, "select state from turns") == [("done",)]


def rows(home: Path, query: str) -> list[Any]:
    """What the store says."""
    with contextlib.closing(sqlite3.connect(home / "state.db")) as store:
        return store.execute(query).fetchall()


RUN = "run `touch began; sleep 3; echo once >> effect`"


async def until_over(http: Any, url: str) -> dict[str, Any]:
    """How a run stands once it is over."""
    async with asyncio.timeout(40):
        while (told := (await http.get(url)).json())["status"] in ("queued", "running"):
            await asyncio.sleep(0.05)
    return told


@pytest.mark.parametrize("path", ["runs", "sessions"])
async def test_what_a_kill_cut_goes_on_by_itself(tmp_path: Path, forks: Forks, path: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    known = f"terminal: {{cwd: {work}}}\nbackends: {{local: {{wall: none}}}}\npolicy: {{mode: 'off'}}\n"
    (tmp_path / "config.yaml").write_text(f"model: {{provider: offline}}\n{known}")
    process, url = await started(forks, tmp_path)
    headers = {"authorization": f"Bearer {KEY}"}
    async with openai.DefaultAsyncHttpxClient(timeout=60, headers=headers) as http:
        if path == "runs":
            name = (await http.post(f"{url}/v1/runs", json={"input": RUN})).json()["run_id"]
        else:
            name = (await http.post(f"{url}/api/sessions", json={})).json()["id"]
            talking = asyncio.ensure_future(http.post(f"{url}/api/sessions/{name}/chat", json={"input": RUN}))
        async with asyncio.timeout(40):
            while not (work / "began").exists():
                await asyncio.sleep(0.02)
        os.kill(process, signal.SIGKILL)
        assert await asyncio.to_thread(forks.wait) == -signal.SIGKILL
        if path == "sessions":
            assert (await asyncio.gather(talking, return_exceptions=True))[0]
        process, url = await started(forks, tmp_path)
        try:
            if path == "runs":
                told = await until_over(http, f"{url}/v1/runs/{name}")
                assert (told["status"], told["error"]) == ("completed", None)
                assert "was waited for" in told["output"]
                said = (await http.get(f"{url}/v1/runs/{name}/events")).text
                assert "run.completed" in said, "its events can be read from where it went on"
            else:
                async with asyncio.timeout(40):
                    while len((await http.get(f"{url}/api/sessions/{name}/messages")).json()["data"]) < 4:
                        await asyncio.sleep(0.05)
        finally:
            os.kill(process, signal.SIGTERM)
            await asyncio.to_thread(forks.wait)
    assert (work / "effect").read_text() == "once\n"
    rows = sqlite3.connect(tmp_path / "state.db")
    assert rows.execute("select state from turns").fetchall() == [("done",)]
    assert not [body for (body,) in rows.execute("select body from documents") if name.removeprefix("run_") in body]
