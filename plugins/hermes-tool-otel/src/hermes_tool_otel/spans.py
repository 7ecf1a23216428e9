"""Spans of turns, with the names of OpenTelemetry's conventions for generative AI."""

import asyncio
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from hermes_core import __version__, trace
from hermes_core.types import Message, Request, Response, Session, ToolCall, ToolResult, TurnEnd, Usage
from hermes_tool_otel import content
from hermes_tool_otel.config import Config
from hermes_tool_otel.quiet import Complaints, tell_quietly

__all__ = ["Spans", "open_spans"]

_MOST = 1000  # turns whose end is not seen yet; of more, the oldest is ended as it is
_PATIENCE = 1.0  # seconds a process that ends waits for the collector
_Attributes = dict[str, AttributeValue]


class _Ids(RandomIdGenerator):
    """A trace has the id of the message it is about, so that it is found by it; what else there is has any."""

    def generate_trace_id(self) -> int:
        known = trace.current()
        try:
            return int(known, 16) or super().generate_trace_id()
        except ValueError:
            return super().generate_trace_id()


def open_spans(
    config: Config | None, resolve: Callable[[str], str], log: logging.Logger, mask: content.Mask
) -> "Spans":
    """Spans that go to the collector, in a thread of their own."""
    config = config or Config()
    complaints = tell_quietly(log)
    secret = resolve(str(config.authorization))
    exporter = OTLPSpanExporter(
        endpoint=config.endpoint or None,
        headers={"authorization": secret} if secret else None,
        timeout=config.seconds,
    )
    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(config.sample)),
        resource=Resource.create({"service.name": config.service, "service.version": __version__}),
        id_generator=_Ids(),
        shutdown_on_exit=False,
    )
    batch = min(config.queue, 512)
    processor = BatchSpanProcessor(
        exporter, max_queue_size=config.queue, max_export_batch_size=batch, schedule_delay_millis=2000
    )
    provider.add_span_processor(processor)
    return Spans(provider, complaints, mask, contents=config.capture_content)


class Spans:
    """The spans of one process: a turn's is open while it runs, those below it are made when they are over."""

    def __init__(self, provider: TracerProvider, complaints: Complaints, mask: content.Mask, *, contents: bool) -> None:
        self._provider, self._complaints, self._mask, self._contents = provider, complaints, mask, contents
        self._tracer = provider.get_tracer("hermes", __version__)
        self._turns: dict[str, Span] = {}  # by session, in which one turn runs at a time

    def began(self, session: Session, message: Message, ago: float = 0.0) -> None:
        """A turn began, so many seconds ``ago``."""
        if left := self._turns.pop(session.id, None):
            left.end()
        attributes: _Attributes = {
            **_about(session),
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "hermes",
            "gen_ai.provider.name": session.provider,
            "gen_ai.request.model": session.model,
            "hermes.origin": session.origin,
        }
        if self._contents and message.parts:
            attributes["gen_ai.input.messages"] = content.messages([message], self._mask)
        self._turns[session.id] = self._tracer.start_span(
            "invoke_agent hermes",
            self._above(session, message),
            SpanKind.INTERNAL,
            attributes,
            start_time=_ago(ago),
        )
        while len(self._turns) > _MOST:
            self._turns.pop(next(iter(self._turns))).end()

    def replied(self, session: Session, request: Request, response: Response, seconds: float) -> None:
        """A model replied."""
        known = response.message.meta.get("hermes", {})
        model = str(known.get("model") or request.model)
        attributes: _Attributes = {
            **_about(session),
            **_usage(response.usage),
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": str(known.get("provider") or session.provider),
            "gen_ai.request.model": request.model,
            "gen_ai.response.model": model,
            "gen_ai.response.finish_reasons": [response.reason],
        }
        if self._contents:
            system, said = content.split(request.messages)
            attributes["gen_ai.system_instructions"] = content.messages(system, self._mask)
            attributes["gen_ai.input.messages"] = content.messages(said, self._mask)
            attributes["gen_ai.output.messages"] = content.messages([response.message], self._mask)
        self._below(session, f"chat {model}", SpanKind.CLIENT, attributes, seconds)

    def ran(self, session: Session, call: ToolCall, result: ToolResult, outcome: str, seconds: float) -> None:
        """A tool call is over."""
        attributes: _Attributes = {
            **_about(session),
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.type": "function",
            "hermes.outcome": outcome,
        }
        if self._contents:
            attributes["gen_ai.tool.call.arguments"] = content.arguments(call, self._mask)
            attributes["gen_ai.tool.call.result"] = content.text(result.parts, self._mask)
        wrong = "" if outcome == "ok" else outcome
        self._below(session, f"execute_tool {call.name}", SpanKind.INTERNAL, attributes, seconds, wrong)

    def ended(self, session: Session, end: TurnEnd) -> None:
        """A turn is over."""
        if session.id not in self._turns:
            self.began(session, Message(role="user", parts=()), end.seconds)
        span = self._turns.pop(session.id)
        span.set_attributes({**_usage(end.usage), "hermes.reason": end.reason})
        if end.reason == "failed":
            _wrong(span, end.error or "_OTHER")
        span.end()

    async def flush(self) -> None:
        """Send what waits, within a second; a collector that is slower gets the rest if the process lives.

        One that cannot be reached is not waited for.
        """
        loop, over = asyncio.get_running_loop(), asyncio.Event()

        def end() -> None:
            with contextlib.suppress(RuntimeError):  # the loop did not wait for it
                loop.call_soon_threadsafe(over.set)

        def send() -> None:
            self._provider.force_flush()
            end()

        self._complaints.heard = end
        threading.Thread(target=send, name="otel flush", daemon=True).start()  # nothing waits for it at the end
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await over.wait()

    def close(self) -> None:
        """Send no more."""
        self._provider.shutdown()

    def _above(self, session: Session, message: Message) -> Context | None:
        """What a turn is part of: its parent's turn, or the trace that came with the message or the process."""
        if parent := self._turns.get(session.parent):
            return set_span_in_context(parent, Context())
        carried = message.meta.get("traceparent") or os.environ.get("TRACEPARENT", "")
        return TraceContextTextMapPropagator().extract({"traceparent": str(carried)}, Context())

    def _below(
        self,
        session: Session,
        name: str,
        kind: SpanKind,
        attributes: Mapping[str, AttributeValue],
        seconds: float,
        wrong: str = "",
    ) -> None:
        turn = self._turns.get(session.id)
        above = set_span_in_context(turn, Context()) if turn else Context()
        span = self._tracer.start_span(name, above, kind, attributes, start_time=_ago(seconds))
        if wrong:
            _wrong(span, wrong)
        span.end()


def _about(session: Session) -> _Attributes:
    return {"gen_ai.conversation.id": session.id, "hermes.turn": session.turn, "hermes.trace": trace.current()}


def _usage(usage: Usage) -> _Attributes:
    return {
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
        "hermes.cost": usage.cost,
    }


def _wrong(span: Span, error: str) -> None:
    span.set_attribute("error.type", error)
    span.set_status(Status(StatusCode.ERROR, error))


def _ago(seconds: float) -> int:
    return time.time_ns() - int(max(seconds, 0.0) * 1e9)
