"""What Prometheus reads of a running gateway."""

import asyncio
import contextlib
import logging
import socket
import urllib.request
from contextlib import asynccontextmanager

import pytest
from click.testing import CliRunner
from gateway_house import context_of
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.parser import text_string_to_metric_families

from hermes_core.errors import HermesError, Refused, UserError
from hermes_core.kinds import tool
from hermes_core.testing import Call, Fail, FakePlatform
from hermes_core.types import Envelope, Fault, Message, Session, Text, ToolCall, TurnEnd, Usage
from hermes_platform_gateway.gateway import Gateway
from hermes_tool_metrics import endpoint
from hermes_tool_metrics.command import make_metrics
from hermes_tool_metrics.config import Config
from hermes_tool_metrics.measures import MOST, Measures


class Room(FakePlatform):
    """A chat with somebody whose name is nobody's business."""

    account = "bot"

    async def say(self, text: str, **_: str) -> None:
        message = Message(role="user", parts=(Text(text=text),))
        where = {"platform": self.name, "account": "bot", "chat": "chat-of-secret", "sender": "anna-the-secret"}
        self.service.bring(Envelope(**where, event_id=f"secret-{text}", message=message))


@tool
async def look() -> str:
    """Look around."""
    return "nothing here"


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture(autouse=True)
def closed(monkeypatch):
    """Every server that a test opened ends with it."""
    opened = []

    def start(*arguments, **options):
        opened.append(start_http_server(*arguments, **options))
        return opened[-1]

    monkeypatch.setattr(endpoint, "start_http_server", start)
    yield
    for server, thread in opened:
        server.shutdown()
        server.server_close()
        thread.join()


@asynccontextmanager
async def serving(hermes, room):
    stop = asyncio.Event()
    task = asyncio.create_task(Gateway(context_of(hermes), [room]).run(stop))
    try:
        yield
    finally:
        stop.set()
        await task


async def until(room, count):
    async with asyncio.timeout(20):
        while len(await room.service.seen()) < count:
            await asyncio.sleep(0.01)


def read(text):
    """Sample name and labels -> value."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name, *sorted(sample.labels.values())] = sample.value
    return found


def fetch(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        return answer.read().decode()


async def fetched(port):
    """The same, once somebody listens."""
    async with asyncio.timeout(20):
        while True:
            with contextlib.suppress(OSError):
                return await asyncio.to_thread(fetch, port)
            await asyncio.sleep(0.01)


async def test_a_gateway_counts_what_its_turns_did(hermes, scripted, port) -> None:
    hermes.configure({"tools.metrics.port": port, "gateway.allow_all_users": True, "roles.strangers": "member"})
    refused = Fail(Refused("no such model", reason="model_not_found"))
    hermes.tmp_plugin(scripted(Call("look"), "Done.", refused))
    hermes.tmp_plugin(look)
    hermes.tmp_plugin("hermes_tool_metrics")
    hermes.tmp_plugin("hermes_tool_roles")
    room = Room()
    async with serving(hermes, room):
        assert read(await fetched(port))["hermes_turns_running",] == 0
        await room.say("Hi.")
        await until(room, 1)
        await room.say("And now?")
        await until(room, 2)
        await hermes.runtime.dispatch.settle()
        text = await fetched(port)
    found = read(text)
    assert found["hermes_turns_total", "done", room.name] == 1
    assert found["hermes_turns_total", "failed", room.name] == 1
    assert found["hermes_turn_failures_total", "model_not_found"] == 1
    assert found["hermes_turn_seconds_count", room.name] == 2
    assert found["hermes_model_calls_total", "scripted", "scripted-1"] == 2
    assert found["hermes_model_reply_seconds_count", "scripted", "scripted-1"] == 2
    assert found["hermes_model_tokens_total", "output", "scripted", "scripted-1"] > 0
    assert found["hermes_tool_calls_total", "look", "ok"] == 1
    assert found["hermes_tool_call_seconds_count", "look"] == 1
    assert found["hermes_turns_running",] == 0
    assert found["process_resident_memory_bytes",] > 1_000_000
    assert "secret" not in text


async def test_a_single_question_counts_nothing_and_listens_nowhere(hermes, scripted, port) -> None:
    hermes.configure({"tools.metrics.port": port})
    hermes.tmp_plugin(scripted("Hello."))
    hermes.tmp_plugin("hermes_tool_metrics")
    await hermes.run("Hi.")
    with pytest.raises(OSError, match="refused"):
        fetch(port)


async def test_a_port_that_is_taken_costs_the_figures_only(hermes, scripted, port, caplog) -> None:
    hermes.configure({"tools.metrics.port": port, "gateway.allow_all_users": True})
    hermes.tmp_plugin(scripted("Hello."))
    hermes.tmp_plugin("hermes_tool_metrics")
    room = Room()
    with socket.create_server(("127.0.0.1", port)):
        async with serving(hermes, room):
            await room.say("Hi.")
            await until(room, 1)
    assert any("Set tools.metrics.port to a free port" in record.getMessage() for record in caplog.records)


def test_the_command_prints_what_prometheus_would_read(caplog) -> None:
    opened = endpoint.open_endpoint(Config(port=0), logging.getLogger("test"))
    assert opened
    opened.measures.failed(Fault(plugin="tool/odd", phase="call", where="x", error="y"))
    result = CliRunner().invoke(make_metrics(Config(port=opened.port)), standalone_mode=False)
    assert read(result.output)["hermes_plugin_faults_total", "tool/odd"] == 1


def test_the_command_says_when_nobody_counts(port) -> None:
    result = CliRunner().invoke(make_metrics(Config(port=port)), standalone_mode=False)
    assert isinstance(result.exception, UserError)
    assert "hermes gateway status" in str(result.exception)


def test_the_command_is_not_fooled_by_something_else() -> None:
    server, _ = start_http_server(0, "127.0.0.1", registry=CollectorRegistry())
    try:
        result = CliRunner().invoke(
            make_metrics(Config(host="0.0.0.0", port=server.server_port)), standalone_mode=False
        )
    finally:
        server.shutdown()
        server.server_close()
    assert isinstance(result.exception, HermesError)
    assert "Something else answers" in str(result.exception)


def test_no_label_grows_without_bound() -> None:
    measures = Measures()
    for number in range(3 * MOST):
        measures.ran(ToolCall(id="c", name=f"made up {number} {'x' * 200}", arguments={}), "failed", 0.1)
        session = Session(id=f"s{number}", origin=f"door {number}", turn=f"t{number}")
        measures.ended(session, TurnEnd(reason="failed", usage=Usage(), seconds=1.0, error=f"odd {number}"))
    found = read(measures.text())
    assert found["hermes_tool_calls_total", "failed", "other"] == 2 * MOST
    for name in ("hermes_tool_calls_total", "hermes_turns_total", "hermes_turn_failures_total"):
        assert len([key for key in found if key[0] == name]) == MOST + 1
    assert max(len(label) for key in found for label in key) <= 80


def test_turns_that_run_are_counted_once_however_often_they_begin() -> None:
    measures = Measures()
    one, two = (Session(id=name, origin="cli", turn=name) for name in "ab")
    for session in (one, one, two):
        measures.began(session)
    assert read(measures.text())["hermes_turns_running",] == 2
    for _ in range(2):
        measures.ended(one, TurnEnd(reason="done", usage=Usage(), seconds=1.0))
    assert read(measures.text())["hermes_turns_running",] == 1
