"""/v1/responses: make one, read it again, delete it."""

import base64
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from attrs import evolve
from starlette.requests import Request
from starlette.responses import Response

from hermes_core.types import Blob, Message, PastTurn, Text
from hermes_platform_api.client_tools import event_of_call
from hermes_platform_api.errors import ApiError
from hermes_platform_api.reading import read_items
from hermes_platform_api.response_shape import PREFIX, ResponseShape, items, whole_response
from hermes_platform_api.response_stream import PROGRESS, ResponseStream
from hermes_platform_api.service import Service, TurnSummary, read_body, tokens
from hermes_platform_api.sse import EventStream, json_answer, unless_gone
from hermes_platform_api.tool_params import response_tools
from hermes_platform_api.turn_request import TurnRequest, event_of, turn_request, unkept

__all__ = ["create", "delete", "input_items", "read"]

_STATES = {"done": "completed", "failed": "failed", "interrupted": "incomplete", "cut": "incomplete"}


async def create(service: Service, request: Request) -> Response:
    """Answer an input, whole or as it comes."""
    body = await read_body(request, "ResponseRequest")
    said, instructions = read_items(body["input"]), body.get("instructions") or ""
    system = "\n\n".join(filter(None, (instructions, said.system)))
    effort = (body.get("reasoning") or {}).get("effort") or ""
    wanted = turn_request(request, body, evolve(said, system=system), tools=response_tools(body), effort=effort)
    wanted = await _placed(service, service.answered_by(wanted, body["model"]), body)
    if body.get("store") is False:
        wanted = unkept(wanted)
    name = await service.turns.name(wanted)
    shape, owner = ResponseShape(name, wanted.called, body), service.owner(request)

    async def keep(whole: dict[str, Any], answer: TurnSummary) -> None:
        if body.get("store") is not False and (answer.calls or name != wanted.event):  # else the turn's row tells it
            await service.responses.put(owner, answer.session, whole, _given(shape.name, body["input"]))

    if body.get("stream"):
        progress = PROGRESS in (body.get("include") or ())
        stream = ResponseStream(service.turns.play(wanted), shape, keep, progress=progress)
        silence = service.config.keep_alive_seconds
        return EventStream(stream.body(), silence=silence, failed=stream.failed, headers=stream.headers)
    answer = TurnSummary()
    async with aclosing(service.turns.play(wanted)) as turn:
        await unless_gone(request, answer.all(turn))
    whole = shape.whole("completed" if answer.reason in ("done", "handed") else "incomplete", answer)
    await keep(whole, answer)
    return json_answer(whole, headers=answer.headers)


async def read(service: Service, request: Request) -> Response:
    """What came of one."""
    name, past, kept = await _past(service, request)
    if kept:
        return json_answer(kept[0])
    whole = whole_response(name, int(past.started), service.config.model_name, _STATES.get(past.state, "in_progress"))
    if past.state in ("failed", "interrupted", "cut"):
        whole["error"] = {"code": "server_error", "message": past.error or "It was stopped."}
    if past.answer:
        whole["output"] = items(name, past.answer)
    return json_answer(whole | {"usage": tokens(past.usage), "conversation": {"id": past.session_id}})


async def input_items(service: Service, request: Request) -> Response:
    """What one answers."""
    name, past, kept = await _past(service, request)
    data = kept[1] if kept else _given(name, [{"role": "user", "content": _content(past.message)}])
    ends = {"first_id": data[0]["id"] if data else None, "last_id": data[-1]["id"] if data else None}
    return json_answer({"object": "list", "data": data, **ends, "has_more": False})


async def delete(service: Service, request: Request) -> Response:
    """Forget one; what was said stays in its session."""
    name, past, kept = await _past(service, request)
    owner = service.owner(request)
    if kept:
        await service.responses.drop(owner, past.session_id, name)
    else:
        await service.ctx.turns.forget(event_of(name, PREFIX), owner=owner)
    return json_answer({"id": name, "object": "response", "deleted": True})


async def _placed(service: Service, wanted: TurnRequest, body: dict[str, Any]) -> TurnRequest:
    """The same turn, where the request says that it goes on. Raises ApiError."""
    previous, conversation = body.get("previous_response_id"), body.get("conversation")
    if previous and conversation:
        text = "Give previous_response_id or conversation, not both."
        raise ApiError(400, "both_given", text, param="conversation")
    its = previous and any(event_of_call(name) == event_of(previous, PREFIX) for name in wanted.results)
    if its and await service.turns.goes_on(wanted):
        return wanted
    if previous:
        return await service.after(wanted, previous, (PREFIX, "run_"))
    if conversation:
        return evolve(wanted, session=conversation if isinstance(conversation, str) else conversation["id"])
    return wanted


async def _past(service: Service, request: Request) -> tuple[str, PastTurn, tuple[dict[str, Any], list[Any]] | None]:
    """One by its id: the turn it belongs to, and what is kept of it besides."""
    name, owner = request.path_params["id"], service.owner(request)
    event_id = event_of(name, PREFIX)
    past = await service.ctx.turns.past(event_id, owner=owner) if event_id else None
    kept = await service.responses.get(owner, past.session_id, name) if past and past.session_id else None
    if past is None or not (kept or name == f"{PREFIX}{event_id}"):
        raise ApiError(404, "response_not_found", f"There is no response {name[:80]!r}.")
    return name, past, kept


def _given(name: str, given: str | Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Items that came in, each with an id."""
    found = [{"role": "user", "content": given}] if isinstance(given, str) else given
    whole = []
    for number, one in enumerate(found):
        item = {"type": "message", **one, "id": f"in_{name.removeprefix(PREFIX)}_{number}"}
        if isinstance(item.get("content"), str):
            kind = "output_text" if item.get("role") == "assistant" else "input_text"
            item["content"] = [{"type": kind, "text": item["content"]}]
        whole.append({"status": "completed", **item})
    return whole


def _content(message: Message) -> list[dict[str, Any]]:
    """What a person said, as it came in."""
    found: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, Text):
            found.append({"type": "input_text", "text": part.text})
        elif isinstance(part, Blob) and part.data is not None:
            url = f"data:{part.media_type};base64,{base64.b64encode(part.data).decode()}"
            found.append({"type": "input_image", "image_url": url})
    return found
