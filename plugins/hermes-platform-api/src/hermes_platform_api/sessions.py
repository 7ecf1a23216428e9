"""/api/sessions: the conversations of a person."""

import base64
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from attrs import evolve
from starlette.requests import Request
from starlette.responses import Response

from hermes_core.types import Blob, Message, Principal, Reasoning, Session, SessionRow, Text, ToolCall, ToolResult
from hermes_platform_api.errors import ApiError
from hermes_platform_api.reading import Said, read_input
from hermes_platform_api.runs import one_event
from hermes_platform_api.service import Service, TurnSummary, read_body, tokens
from hermes_platform_api.sse import EventStream, event, json_answer, unless_gone
from hermes_platform_api.turn_request import TurnRequest, turn_request

__all__ = ["chat", "chat_stream", "create", "delete", "fork", "list_all", "messages", "read", "rename"]


async def list_all(service: Service, request: Request) -> Response:
    """The sessions last used."""
    limit = _number(request, "limit", 50, 1000)
    rows = await service.ctx.sessions.rows(service.owner(request), limit=limit)
    return json_answer({"object": "list", "data": [_row(row) for row in rows]})


async def create(service: Service, request: Request) -> Response:
    """A new one."""
    body = await read_body(request, "SessionRequest")
    owner, wanted = service.owner(request), body.get("id") or ""
    if wanted and await _there(service, wanted, owner):
        raise ApiError(409, "session_exists", f"There is a session {wanted} already.", param="id")
    title, system = body.get("title") or "", body.get("system") or ""
    made = await service.ctx.sessions.create(owner, wanted, title=title, system=system)
    return json_answer(_session(made), 201)


async def read(service: Service, request: Request) -> Response:
    """One."""
    return json_answer(_session(await service.ctx.sessions.get(service.owner(request), request.path_params["id"])))


async def rename(service: Service, request: Request) -> Response:
    """Give one a title."""
    body = await read_body(request, "SessionPatch")
    named = await service.ctx.sessions.rename(service.owner(request), request.path_params["id"], body["title"])
    return json_answer(_session(named))


async def delete(service: Service, request: Request) -> Response:
    """Delete one with all it holds."""
    session, owner = request.path_params["id"], service.owner(request)
    await service.ctx.sessions.get(owner, session)
    await service.turns.give_up(session)
    await service.ctx.sessions.delete(owner, session)
    return json_answer({"id": session, "object": "hermes.session", "deleted": True})


async def fork(service: Service, request: Request) -> Response:
    """A new one that goes on from here."""
    body = await read_body(request, "ForkRequest")
    title = body.get("title") or ""
    made = await service.ctx.sessions.fork(service.owner(request), request.path_params["id"], title=title)
    return json_answer(_session(made), 201)


async def messages(service: Service, request: Request) -> Response:
    """The last messages, or those around one."""
    around, window = _number(request, "around", 0, 2**53, 0), _number(request, "limit", 100, 1000)
    session = request.path_params["id"]
    found = await service.ctx.sessions.read(service.owner(request), session, around=around, window=window)
    return json_answer({"object": "list", "data": [_message(number, message) for number, message in found]})


async def chat(service: Service, request: Request) -> Response:
    """Say something in one, and wait for the answer."""
    wanted, answer = await _turn_request(service, request), TurnSummary()
    async with aclosing(service.turns.play(wanted)) as turn:
        await unless_gone(request, answer.all(turn))
    said = {"role": "assistant", "content": answer.final}
    whole = {"session_id": answer.session, "message": said, "usage": tokens(answer.usage), "note": answer.note}
    return json_answer(whole, headers=answer.headers)


async def chat_stream(service: Service, request: Request) -> Response:
    """Say something in one, and watch the answer come."""
    wanted = await _turn_request(service, request)
    turn = service.turns.play(wanted)

    async def body() -> AsyncGenerator[bytes, None]:
        answer = TurnSummary()
        async with aclosing(turn) as events:
            async for one in events:
                answer.add(one)
                if told := one_event(one, answer):
                    yield event({**told, "timestamp": time.time()}, str(told["event"]))

    def failed(error: ApiError) -> bytes:
        return event({"event": "run.failed", "error": error.body["error"]}, "run.failed")

    headers = {"x-hermes-session-id": wanted.session}
    silence = service.config.keep_alive_seconds
    return EventStream(body(), silence=silence, failed=failed, headers=lambda: headers)


async def _turn_request(service: Service, request: Request) -> TurnRequest:
    body = await read_body(request, "SessionChatRequest")
    session = request.path_params["id"]
    await service.ctx.sessions.get(service.owner(request), session)  # one that is not there is not made
    said = Said(message=read_input(body["input"]), system=body.get("system") or "")
    wanted = evolve(turn_request(request, body, said), session=session)
    return service.answered_by(wanted, body.get("model"))


async def _there(service: Service, session: str, owner: Principal) -> bool:
    from hermes_core.errors import UnknownName

    try:
        await service.ctx.sessions.get(owner, session)
    except UnknownName:
        return False
    return True


def _number(request: Request, name: str, usual: int, most: int, least: int = 1) -> int:
    given = request.query_params.get(name)
    if given is None:
        return usual
    if not (given.isascii() and given.isdigit() and len(given) < 17) or not least <= int(given) <= most:
        raise ApiError(400, "invalid_value", f"{name} must be a number from {least} to {most}.", param=name)
    return int(given)


def _session(session: Session) -> dict[str, Any]:
    return {
        "id": session.id,
        "object": "hermes.session",
        "title": session.title,
        "origin": session.origin,
        "created_at": session.created,
        "model": session.model,
    }


def _row(row: SessionRow) -> dict[str, Any]:
    more = {"updated_at": row.updated, "messages": row.messages, "preview": row.preview, "state": row.state}
    return _session(row.session) | more


def _message(number: int, message: Message) -> dict[str, Any]:
    parts = [part for one in message.parts if (part := _part(one))]
    return {"id": number, "role": message.role, "content": parts}


def _part(part: Any) -> dict[str, Any] | None:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Reasoning():
            return {"type": "reasoning", "text": part.text}
        case Blob():
            image: dict[str, Any] = {"type": "image", "media_type": part.media_type, "name": part.name}
            return image | ({"data": base64.b64encode(part.data).decode()} if part.data is not None else {})
        case ToolCall():
            return {"type": "tool_call", "id": part.id, "name": part.name, "arguments": dict(part.arguments)}
        case ToolResult():
            inner = [found for one in part.parts if (found := _part(one))]
            known = {"call_id": part.call_id, "name": part.name, "failed": part.failed}
            return {"type": "tool_result", **known, "content": inner}
    return None
