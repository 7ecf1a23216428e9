"""Traces as a collector receives them, and what a collector that is not there costs: nothing."""

import asyncio
import json
import logging
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from hermes_core import trace
from hermes_core.errors import Refused
from hermes_core.kinds import tool
from hermes_core.testing import Call, Fail
from hermes_core.types import Message, Session, Text, TurnEnd, Usage
from hermes_tool_otel.config import Config
from hermes_tool_otel.content import LONGEST, messages
from hermes_tool_otel.quiet import tell_quietly
from hermes_tool_otel.spans import open_spans

TRACE = "feedfacefeedface"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
KEY = "sk-ant-api03-" + "Zk3v9" * 18 + "AA"


@tool
async def look() -> str:
    """Look around."""
    return f"the key is {KEY}"


@tool
async def burn() -> str:
    """Burn."""
    raise ValueError("ow")


class Collector:
    """A receiver of OTLP over HTTP; parses what it gets, as a real one does."""

    def __init__(self) -> None:
        self.spans, self.headers, self.resources = [], [], []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                request = ExportTraceServiceRequest.FromString(body)
                for group in request.resource_spans:
                    collector.resources.append({a.key: a.value.string_value for a in group.resource.attributes})
                    for scope in group.scope_spans:
                        collector.spans.extend(scope.spans)
                collector.headers.append((self.path, self.headers.get("authorization")))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/traces"
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def named(self, name):
        [span] = [span for span in self.spans if span.name == name]
        return span


@pytest.fixture
def collector():
    made = Collector()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def sdk_log():
    log = logging.getLogger("opentelemetry")
    before = log.propagate, list(log.handlers)
    yield
    log.propagate, log.handlers[:] = before


@pytest.fixture(autouse=True)
def nothing_is_tried_on(monkeypatch):
    """An exporter tries again in a thread of its own, with pauses by lot; no later test should meet that."""
    made, real = [], OTLPSpanExporter.__init__

    def init(self, *given, **known) -> None:
        real(self, *given, **known)
        made.append(self)

    monkeypatch.setattr(OTLPSpanExporter, "__init__", init)
    yield
    for exporter in made:
        exporter.shutdown()
    for thread in threading.enumerate():
        if thread.name == "otel flush":
            thread.join(20)


def attributes(span):
    found = {}
    for one in span.attributes:
        kind = one.value.WhichOneof("value")
        value = getattr(one.value, kind)
        found[one.key] = [v.string_value for v in value.values] if kind == "array_value" else value
    return found


async def play(hermes, said="Hi.", **options):
    with trace.using(TRACE):
        events = [event async for event in hermes.turn(said, **options)]
    await hermes.close()  # what waits is sent when a session ends
    return events


async def test_a_turn_is_a_span_with_its_calls_below_it(hermes, scripted, collector) -> None:
    hermes.configure({"tools.otel.endpoint": collector.url, "tools.otel.service": "home"})
    hermes.tmp_plugin(scripted(Call("look"), Call("burn"), "Done."))
    hermes.tmp_plugin(look, burn)
    hermes.tmp_plugin("hermes_tool_otel")
    hermes._options["strict"] = False
    ended = (await play(hermes))[-1]
    turn, tool_span = collector.named("invoke_agent hermes"), collector.named("execute_tool look")
    chats = [span for span in collector.spans if span.name == "chat scripted-1"]
    assert (len(chats), len(collector.spans)) == (3, 6)
    assert {span.parent_span_id for span in collector.spans if span is not turn} == {turn.span_id}
    assert turn.parent_span_id == b""
    assert {span.trace_id.hex() for span in collector.spans} == {TRACE.rjust(32, "0")}
    assert all(turn.start_time_unix_nano <= span.start_time_unix_nano for span in collector.spans)
    assert all(span.end_time_unix_nano <= turn.end_time_unix_nano for span in collector.spans)
    common = {"gen_ai.conversation.id": ended.session_id, "hermes.turn": ended.turn_id, "hermes.trace": TRACE}
    assert all(attributes(span).items() >= common.items() for span in collector.spans)
    known = attributes(chats[0])
    assert known["gen_ai.operation.name"] == "chat"
    assert known["gen_ai.provider.name"] == "scripted"
    assert known["gen_ai.request.model"] == known["gen_ai.response.model"] == "scripted-1"
    assert known["gen_ai.response.finish_reasons"] == ["tools"]
    assert known["gen_ai.usage.output_tokens"] > 0
    assert attributes(tool_span).items() >= {"gen_ai.tool.name": "look", "hermes.outcome": "ok"}.items()
    assert (tool_span.status.code, collector.named("execute_tool burn").status.code) == (0, 2)
    assert attributes(collector.named("execute_tool burn"))["error.type"] == "failed"
    assert attributes(turn)["gen_ai.usage.output_tokens"] == ended.usage.output
    assert attributes(turn)["hermes.reason"] == "done"
    assert collector.resources[0]["service.name"] == "home"


async def test_what_was_said_stays_here(hermes, scripted, collector) -> None:
    hermes.configure({"tools.otel.endpoint": collector.url})
    hermes.tmp_plugin(scripted(Call("look"), "The answer."))
    hermes.tmp_plugin(look)
    hermes.tmp_plugin("hermes_tool_otel")
    await play(hermes, "The question.")
    sent = b"".join(span.SerializeToString() for span in collector.spans)
    assert len(collector.spans) == 4
    for word in (b"question", b"answer", b"the key is", KEY.encode()):
        assert word not in sent


async def test_what_was_said_is_sent_when_it_is_wished_but_no_secret(hermes, scripted, collector) -> None:
    hermes.configure({"tools.otel.endpoint": collector.url, "tools.otel.capture_content": True})
    hermes.tmp_plugin(scripted(Call("look"), f"It is {KEY}."))
    hermes.tmp_plugin(look)
    hermes.tmp_plugin("hermes_tool_otel")
    hermes.tmp_plugin("hermes_tool_redaction")
    await play(hermes, f"Is it {KEY}?")
    sent = b"".join(span.SerializeToString() for span in collector.spans)
    assert KEY.encode() not in sent
    [asked] = json.loads(attributes(collector.named("invoke_agent hermes"))["gen_ai.input.messages"])
    assert (asked["role"], asked["parts"][0]["type"]) == ("user", "text")
    assert asked["parts"][0]["content"].startswith("Is it ")
    known = attributes(collector.named("execute_tool look"))
    assert known["gen_ai.tool.call.result"].startswith("the key is ")
    assert known["gen_ai.tool.call.arguments"] == "{}"


async def test_a_failed_turn_is_an_error_with_its_reason(hermes, scripted, collector) -> None:
    hermes.configure({"tools.otel.endpoint": collector.url})
    hermes.tmp_plugin(scripted(Fail(Refused("no such model", reason="model_not_found"))))
    hermes.tmp_plugin("hermes_tool_otel")
    await play(hermes)
    [turn] = collector.spans
    assert (turn.status.code, attributes(turn)["error.type"]) == (2, "model_not_found")


async def test_a_trace_that_came_with_the_message_goes_on(hermes, scripted, collector) -> None:
    hermes.configure({"tools.otel.endpoint": collector.url})
    hermes.tmp_plugin(scripted("Done."))
    hermes.tmp_plugin("hermes_tool_otel")
    await play(hermes, Message(role="user", parts=(Text(text="Hi."),), meta={"traceparent": PARENT}))
    turn = collector.named("invoke_agent hermes")
    assert turn.trace_id.hex() == PARENT.split("-")[1]
    assert turn.parent_span_id.hex() == PARENT.split("-")[2]
    assert attributes(turn)["hermes.trace"] == TRACE


async def test_a_trace_of_the_process_goes_on(hermes, scripted, collector, monkeypatch) -> None:
    monkeypatch.setenv("TRACEPARENT", PARENT)
    hermes.configure({"tools.otel.endpoint": collector.url})
    hermes.tmp_plugin(scripted("Done."))
    hermes.tmp_plugin("hermes_tool_otel")
    await play(hermes)
    assert {span.trace_id.hex() for span in collector.spans} == {PARENT.split("-")[1]}


@pytest.mark.parametrize("given", ["nonsense", "00-0-0-01", 7, None])
async def test_a_trace_that_is_none_is_left_out(hermes, scripted, collector, given) -> None:
    hermes.configure({"tools.otel.endpoint": collector.url})
    hermes.tmp_plugin(scripted("Done."))
    hermes.tmp_plugin("hermes_tool_otel")
    await play(hermes, Message(role="user", parts=(Text(text="Hi."),), meta={"traceparent": given}))
    assert collector.named("invoke_agent hermes").trace_id.hex() == TRACE.rjust(32, "0")


async def test_the_key_of_the_collector_comes_from_the_environment(hermes, scripted, collector, monkeypatch) -> None:
    monkeypatch.setenv("OTEL_AUTHORIZATION", "Bearer s3cret")
    hermes.configure({"tools.otel.endpoint": collector.url, "tools.otel.authorization": "env:OTEL_AUTHORIZATION"})
    hermes.tmp_plugin(scripted("Done."))
    hermes.tmp_plugin("hermes_tool_otel")
    await play(hermes)
    assert collector.headers == [("/v1/traces", "Bearer s3cret")]


@pytest.mark.parametrize("silent", [False, True], ids=["refuses", "says nothing"])
async def test_a_dead_collector_costs_no_turn(hermes, scripted, capfd, silent) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:  # takes connections, and never answers
        port = deaf.getsockname()[1]
        if not silent:
            deaf.close()
        hermes.configure({"tools.otel.endpoint": f"http://127.0.0.1:{port}/v1/traces"})
        hermes.tmp_plugin(scripted(Call("look"), "Done."))
        hermes.tmp_plugin(look)
        hermes.tmp_plugin("hermes_tool_otel")
        hermes._options["strict"] = False
        ended = (await play(hermes))[-1]
    assert (ended.answer, ended.reason) == ("Done.", "done")
    assert hermes.runtime.dispatch.faults == []
    assert capfd.readouterr().err == ""


async def test_what_a_dead_collector_does_not_take_is_dropped_and_not_kept_for_ever() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1/traces"
        spans = open_spans(Config(endpoint=url, queue=64), str, logging.getLogger("test"), str)
        for number in range(5000):
            session = Session(id=f"s{number}", origin="cli", turn="t")
            spans.began(session, Message(role="user", parts=()))
            spans.ended(session, TurnEnd(reason="done", usage=Usage(), seconds=0.0))
        [processor] = spans._provider._active_span_processor._span_processors
        assert len(processor._batch_processor._queue) <= 64


async def test_turns_that_never_end_are_ended(collector) -> None:
    spans = open_spans(Config(endpoint=collector.url), str, logging.getLogger("test"), str)
    for number in range(1200):
        spans.began(Session(id=f"s{number}", origin="cli", turn="t"), Message(role="user", parts=()))
    assert len(spans._turns) == 1000
    await spans.flush()
    await asyncio.to_thread(spans.close)
    assert len(collector.spans) == 200


async def test_a_childs_turn_is_below_its_parents(collector) -> None:
    spans = open_spans(Config(endpoint=collector.url), str, logging.getLogger("test"), str)
    said, over = Message(role="user", parts=()), TurnEnd(reason="interrupted", usage=Usage(), seconds=0.0)
    spans.began(Session(id="a", origin="cli", turn="1"), said)
    spans.began(Session(id="b", origin="child", parent="a", turn="2"), said)
    spans.ended(Session(id="b", origin="child", parent="a", turn="2"), over)
    spans.ended(Session(id="a", origin="cli", turn="1"), over)
    await asyncio.to_thread(spans.close)
    child, parent = collector.spans
    assert child.parent_span_id == parent.span_id


async def test_no_turn_is_sent_when_none_is_wished(hermes, scripted, collector) -> None:
    hermes.configure({"tools.otel.endpoint": collector.url, "tools.otel.sample": 0.0})
    hermes.tmp_plugin(scripted("Done."))
    hermes.tmp_plugin("hermes_tool_otel")
    await play(hermes)
    assert collector.spans == []


def test_long_conversations_are_cut_to_their_end() -> None:
    said = [Message(role="user", parts=(Text(text=f"{n} {'x' * 3000}"),)) for n in range(20)]
    kept = json.loads(messages(said, str))
    assert kept[-1]["parts"][0]["content"].startswith("19 ")
    assert len(messages(said, str)) <= LONGEST
    assert len(messages([Message(role="user", parts=(Text(text="y" * 50_000),))], str)) == LONGEST + 1


def test_the_sdk_complains_seldom_and_into_our_log(caplog) -> None:
    now = [0.0]
    tell_quietly(logging.getLogger("hermes.otel"), lambda: now[0])
    for now[0] in (1.0, 2.0, 700.0):
        logging.getLogger("opentelemetry.exporter").error("gone at %s", now[0])
    told = [record.getMessage() for record in caplog.records if record.name == "hermes.otel"]
    assert told == [f"traces do not reach the collector: gone at {at}" for at in (1.0, 700.0)]
