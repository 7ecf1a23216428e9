"""What the routes work with: the settings, the kernel's brokers, the turns that run."""

import json
import time
from collections.abc import Sequence
from typing import Any

from attrs import evolve
from starlette.requests import Request

from hermes_core.context import PluginContext
from hermes_core.types import Ended, Failed, Noticed, Principal, Returned, Said, Thinking, ToolCall, Usage
from hermes_platform_api.config import Config
from hermes_platform_api.errors import ApiError, of_failure
from hermes_platform_api.going_on import Begun
from hermes_platform_api.kept import Events, Handed, Told
from hermes_platform_api.past import owner_of
from hermes_platform_api.reading import refuse_files
from hermes_platform_api.schema import check
from hermes_platform_api.shapes import BODIES, LIMITS
from hermes_platform_api.stored import StoredResponses
from hermes_platform_api.turn_request import TurnRequest, event_of, person_of
from hermes_platform_api.turns import Turns

__all__ = ["Service", "TurnSummary", "read_body", "tokens"]

_APART = "\n\n"  # between what was said, or thought, before a call or a notice and after it


class Service:
    """One running server."""

    def __init__(self, config: Config, ctx: PluginContext) -> None:
        self.config, self.ctx = config, ctx
        self.turns = Turns(ctx, config.max_turns, config.client_tool_seconds, shared=bool(config.keys))
        self.begun = Begun(ctx)
        self.responses = StoredResponses(ctx.documents)
        self.began = time.time()

    def owner(self, request: Request) -> Principal:
        """Whose sessions a request is about. Raises ApiError."""
        return owner_of(self.ctx, person_of(request))

    def model(self, asked: str | None) -> tuple[str, str]:
        """What a model is called, and who answers as the kernel names it. Raises ApiError for one that is not there."""
        called = asked or self.config.model_name
        if called == self.config.model_name:
            return called, ""
        if called in self.config.models:
            return called, self.config.models[called]
        there = ", ".join([self.config.model_name, *self.config.models])
        raise ApiError(404, "model_not_found", f"There is no model {called!r}. There is: {there}.", param="model")

    def answered_by(self, wanted: TurnRequest, asked: str | None) -> TurnRequest:
        """The same turn, answered by the model that was asked for. Raises ApiError."""
        called, model = self.model(asked)
        return evolve(wanted, called=called, model=model)

    async def after(self, wanted: TurnRequest, name: str, prefixes: tuple[str, ...]) -> TurnRequest:
        """The same turn, to be played after an earlier one, by the id that that was given. Raises ApiError.

        Where the conversation went on since, or still goes on, a branch is begun at that point. One that waits for
        what is sent now goes on itself.
        """
        event = next((e for prefix in prefixes if (e := event_of(name, prefix))), "")
        owner = owner_of(self.ctx, wanted.person)
        past = await self.ctx.turns.past(event, owner=owner) if event else None
        if past and wanted.results and past.state != "done":
            return evolve(wanted, session=past.session_id)
        if past and (call := self.turns.waits(past.session_id)):
            text = f"No tool output found for function call {call}."
            raise ApiError(400, "tool_result_missing", text, param="input")
        if past is None or past.state != "done":
            text = f"There is nothing finished with the id {name[:80]!r}."
            raise ApiError(404, "previous_response_not_found", text, param="previous_response_id")
        if past.last and not self.turns.busy(past.session_id):
            return evolve(wanted, session=past.session_id)
        fork = await self.ctx.sessions.fork(owner, past.session_id, upto=past.turn_id)
        return evolve(wanted, session=fork.id)


class TurnSummary:
    """What the events of a turn come to. ``shown`` is all that was said, ``text`` the final answer.

    ``thoughts`` are what the model thought, each without a break. ``calls`` are of the client's own tools: it has the
    word, and the turn waits for their results.
    """

    def __init__(self) -> None:
        self.shown = self.text = self.note = self.session = self.reason = ""
        self.usage = Usage()
        self.calls: Sequence[ToolCall] = ()
        self.thoughts: list[str] = []
        self.failure: Failed | None = None
        self._apart = self._thinks = False

    def add(self, event: Told) -> str:
        """Take up an event; what is to be shown: a piece of the answer, or of what the model thought."""
        goes_on, self._thinks = self._thinks, isinstance(event, Thinking)
        if isinstance(event, Thinking) and goes_on:
            self.thoughts[-1] += event.text
            return event.text
        if isinstance(event, Thinking):
            self.thoughts.append(event.text)
            return f"{_APART}{event.text}" if len(self.thoughts) > 1 else event.text
        if isinstance(event, Said):
            piece = f"{_APART}{event.text}" if self._apart and self.shown else event.text
            self._apart = False
            self.shown += piece
            return piece
        if isinstance(event, Returned | Noticed):
            self._apart = True
        elif isinstance(event, Failed):
            self.failure = event
        elif isinstance(event, Handed):
            self.session, self.calls, self.usage, self.reason = event.session_id, event.calls, event.usage, "handed"
        elif isinstance(event, Ended):
            self.session, self.text, self.note = event.session_id, event.answer, event.note
            self.usage, self.reason = event.usage, event.reason
        return ""

    async def all(self, events: Events) -> "TurnSummary":
        """Take up all of them. Raises ApiError when the turn failed."""
        async for event in events:
            self.add(event)
        self.check()
        return self

    def check(self) -> None:
        """Raises ApiError when the turn failed, or was stopped before it said anything."""
        if self.failure:
            error = of_failure(self.failure)
            error.headers |= {"x-hermes-partial": "true"} if self.shown else {}
            raise error
        if self.reason == "interrupted" and not self.shown:
            raise ApiError(409, "interrupted", "This turn was stopped.", headers={"x-should-retry": "false"})

    @property
    def headers(self) -> dict[str, str]:
        """What the answer's headers say of it."""
        whole = self.reason == "done"
        found = {"x-hermes-session-id": self.session, "x-hermes-completed": str(whole).lower()}
        return found | ({} if whole or self.calls else {"x-hermes-partial": "true", "x-hermes-error": "interrupted"})

    @property
    def thought(self) -> str:
        """All that the model thought, as one text."""
        return _APART.join(self.thoughts)

    @property
    def final(self) -> str:
        """The answer; of a turn that was stopped, what it had said."""
        return self.text if self.reason == "done" else self.shown


def tokens(usage: Usage, *, chat: bool = False) -> dict[str, Any]:
    """Tokens as OpenAI's clients read them: of a chat completion, or of anything else."""
    into, out = ("prompt_tokens", "completion_tokens") if chat else ("input_tokens", "output_tokens")
    return {
        into: usage.input,
        out: usage.output,
        "total_tokens": usage.input + usage.output,
        f"{into}_details": {"cached_tokens": usage.cache_read},
        f"{out}_details": {"reasoning_tokens": usage.reasoning},
    }


async def read_body(request: Request, shape: str) -> dict[str, Any]:
    """The JSON of a request, checked. Raises ApiError."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ApiError(415, "unsupported_media_type", "Send JSON, with Content-Type: application/json.")
    data, most = bytearray(), LIMITS["body_bytes"]
    async for piece in request.stream():
        data += piece
        if len(data) > most:
            raise ApiError(413, "body_too_large", f"A request has at most {most:,} bytes.")
    try:
        body = json.loads(data or b"{}", parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise ApiError(400, "invalid_json", "The body is no valid JSON.") from None
    refuse_files(body)
    check(body, BODIES[shape])
    return dict(body)


def _no_number(name: str) -> None:
    raise ValueError(name)
