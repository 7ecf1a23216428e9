"""/v1/responses: make one, read it again, delete it."""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from attrs import evolve
from starlette.requests import Request
from starlette.responses import Response

from hermes_core.types import PastTurn, Started
from hermes_platform_api.errors import ApiError
from hermes_platform_api.progress import progress
from hermes_platform_api.reading import Said, read_items
from hermes_platform_api.service import Service, TurnSummary, read_body, tokens
from hermes_platform_api.sse import EventStream, event, json_answer, unless_gone
from hermes_platform_api.turn_request import TurnRequest, event_of, turn_request, unkept

__all__ = ["create", "delete", "read"]

_PREFIX = "resp_"
_STATES = {"done": "completed", "failed": "failed", "interrupted": "incomplete", "cut": "incomplete"}


async def create(service: Service, request: Request) -> Response:
    """Answer an input, whole or as it comes."""
    body = await read_body(request, "ResponseRequest")
    said, instructions = read_items(body["input"]), body.get("instructions") or ""
    system = "\n\n".join(filter(None, (instructions, said.system)))
    wanted = turn_request(request, body, Said(message=said.message, history=said.history, system=system))
    wanted = service.answered_by(wanted, body.get("model"))
    if previous := body.get("previous_response_id"):
        if body.get("conversation"):
            text = "Give previous_response_id or conversation, not both."
            raise ApiError(400, "both_given", text, param="conversation")
        wanted = await service.after(wanted, previous, (_PREFIX, "run_"))
    elif conversation := body.get("conversation"):
        wanted = evolve(wanted, session=conversation if isinstance(conversation, str) else conversation["id"])
    if body.get("store") is False:
        wanted = unkept(wanted)
    shape = _Shape(wanted, body)
    if body.get("stream"):
        stream = _Stream(service, wanted, shape)
        silence = service.config.keep_alive_seconds
        return EventStream(stream.body(), silence=silence, failed=stream.failed, headers=stream.headers)
    answer = TurnSummary()
    async with aclosing(service.turns.play(wanted)) as turn:
        await unless_gone(request, answer.all(turn))
    status = "completed" if answer.reason == "done" else "incomplete"
    return json_answer(shape.whole(status, answer.final, answer), headers=answer.headers)


async def read(service: Service, request: Request) -> Response:
    """What came of one."""
    name, past = await _past(service, request)
    whole = _whole(name, int(past.started), service.config.model_name, _STATES.get(past.state, "in_progress"))
    if past.state in ("failed", "interrupted", "cut"):
        whole["error"] = {"code": "server_error", "message": past.error or "It was stopped."}
    if past.answer:
        whole["output"] = [_item(name, past.answer, "completed")]
    return json_answer(whole | {"usage": tokens(past.usage), "conversation": {"id": past.session_id}})


async def delete(service: Service, request: Request) -> Response:
    """Forget one; what was said stays in its session."""
    name, _ = await _past(service, request)
    await service.ctx.turns.forget(event_of(name, _PREFIX), owner=service.owner(request))
    return json_answer({"id": name, "object": "response", "deleted": True})


async def _past(service: Service, request: Request) -> tuple[str, PastTurn]:
    name = request.path_params["id"]
    event_id = event_of(name, _PREFIX)
    past = await service.ctx.turns.past(event_id, owner=service.owner(request)) if event_id else None
    if past is None:
        raise ApiError(404, "response_not_found", f"There is no response {name[:80]!r}.")
    return name, past


class _Shape:
    """How a response looks that belongs to this request."""

    def __init__(self, wanted: TurnRequest, body: dict[str, Any]) -> None:
        self.name, self.created = f"{_PREFIX}{wanted.event}", int(time.time())
        self._model = wanted.called
        self._said = {
            "instructions": body.get("instructions"),
            "metadata": body.get("metadata") or {},
            "previous_response_id": body.get("previous_response_id"),
            "store": body.get("store") is not False,
        }

    def whole(self, status: str, text: str = "", answer: TurnSummary | None = None) -> dict[str, Any]:
        """The response as it is now."""
        found = _whole(self.name, self.created, self._model, status) | self._said
        if text:
            found["output"] = [_item(self.name, text, "completed" if status == "completed" else "incomplete")]
        if answer and status != "in_progress":
            found |= {"usage": tokens(answer.usage), "conversation": {"id": answer.session}}
        return found


def _whole(name: str, created: int, model: str, status: str) -> dict[str, Any]:
    return {
        "id": name,
        "object": "response",
        "created_at": created,
        "status": status,
        "model": model,
        "output": [],
        "usage": None,
        "error": None,
        "incomplete_details": {"reason": "interrupted"} if status == "incomplete" else None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "store": True,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "truncation": "disabled",
    }


def _item(name: str, text: str, status: str) -> dict[str, Any]:
    content = [] if status == "in_progress" else [_part(text)]
    item = f"msg_{name.removeprefix(_PREFIX)}"
    return {"id": item, "type": "message", "role": "assistant", "status": status, "content": content}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


class _Stream:
    """One response in events."""

    def __init__(self, service: Service, wanted: TurnRequest, shape: _Shape) -> None:
        self._turn, self._shape, self._answer = service.turns.play(wanted), shape, TurnSummary()
        self._session, self._number = "", -1
        self._in = {"item_id": f"msg_{wanted.event}", "output_index": 0, "content_index": 0}

    def headers(self) -> dict[str, str]:
        """What is known when the stream begins."""
        return {"x-hermes-session-id": self._session} if self._session else {}

    async def body(self) -> AsyncGenerator[bytes, None]:
        """The events. Raises ApiError."""
        answer, begun = self._answer, False
        async with aclosing(self._turn) as turn:
            async for one in turn:
                if isinstance(one, Started):
                    self._session = one.session_id
                    now = self._shape.whole("in_progress")
                    yield self._event("response.created", response=now) + self._event(
                        "response.in_progress", response=now
                    )
                elif text := answer.add(one):
                    if not begun:
                        begun = True
                        yield self._opening()
                    yield self._event("response.output_text.delta", **self._in, delta=text, logprobs=[])
                elif told := progress(one):
                    yield self._event("hermes.tool.progress", **told)
        answer.check()
        text = answer.shown or answer.text
        if text and not begun:
            yield self._opening() + self._event("response.output_text.delta", **self._in, delta=text, logprobs=[])
        status = "completed" if answer.reason == "done" else "incomplete"
        whole = self._shape.whole(status, text, answer)
        if text:
            yield self._closing(whole["output"][0], text)
        yield self._event(f"response.{status}", response=whole)

    def failed(self, error: ApiError) -> bytes:
        """The last event of a response that failed."""
        whole = self._shape.whole("failed", self._answer.shown, self._answer)
        return self._event(
            "response.failed", response=whole | {"error": {"code": error.code, "message": error.message}}
        )

    def _opening(self) -> bytes:
        item = _item(self._shape.name, "", "in_progress")
        added = self._event("response.output_item.added", output_index=0, item=item)
        return added + self._event("response.content_part.added", **self._in, part=_part(""))

    def _closing(self, item: dict[str, Any], text: str) -> bytes:
        done = self._event("response.output_text.done", **self._in, text=text, logprobs=[])
        done += self._event("response.content_part.done", **self._in, part=_part(text))
        return done + self._event("response.output_item.done", output_index=0, item=item)

    def _event(self, name: str, **fields: Any) -> bytes:
        self._number += 1
        return event({"type": name, "sequence_number": self._number, **fields}, name)
