"""/v1/runs: turns that go on without their client, watched, answered and stopped by their id."""

import time
from collections.abc import AsyncGenerator
from typing import Any

from attrs import asdict, evolve
from starlette.requests import Request
from starlette.responses import Response

from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Ended, Failed, PastTurn, Question, Said, Started, Thinking, Verdict
from hermes_platform_api.errors import ApiError
from hermes_platform_api.kept import Events, Kept, Told
from hermes_platform_api.progress import progress
from hermes_platform_api.reading import Said as Given
from hermes_platform_api.reading import read_chat, read_input
from hermes_platform_api.service import Service, TurnSummary, read_body, tokens
from hermes_platform_api.sse import EventStream, event, json_answer
from hermes_platform_api.turn_request import event_of, person_of, turn_request

__all__ = ["begin", "events", "one_event", "read", "settle", "stop"]

_PREFIX = "run_"
_STATES = {
    "done": "completed",
    "failed": "failed",
    "interrupted": "cancelled",
    "cut": "interrupted",
    "waiting": "queued",
    "open": "running",
}
_ENDS = {"done": "run.completed", "failed": "run.failed", "interrupted": "run.cancelled"}


async def begin(service: Service, request: Request) -> Response:
    """Begin one. When this answers, it is stored."""
    body = await read_body(request, "RunRequest")
    history = body.get("conversation_history") or []
    before = read_chat([*history, {"role": "user", "content": "."}]).history if history else ()
    said = Given(message=read_input(body["input"]), history=before, system=body.get("instructions") or "")
    wanted = service.answered_by(turn_request(request, body, said), body.get("model"))
    if previous := body.get("previous_response_id"):
        wanted = await service.after(wanted, previous, (_PREFIX, "resp_"))
    elif session := body.get("session_id"):
        wanted = evolve(wanted, session=session)
    await service.begun.add(wanted.event, wanted.person)
    try:
        kept = await service.turns.keep(wanted, service.config.run_seconds)
    except ApiError:
        await service.begun.remove(wanted.event)
        raise
    service.begun.watch(wanted.event, kept)
    await kept.stored
    if kept.over and not kept.session:
        await TurnSummary().all(_only(kept))  # it could not begin: say why
    started = {"run_id": f"{_PREFIX}{wanted.event}", "status": "started", "session_id": kept.session or None}
    return json_answer(started, 202, {"x-hermes-session-id": kept.session} if kept.session else {})


async def read(service: Service, request: Request) -> Response:
    """How far one is."""
    name, kept, past = await _found(service, request)
    asking = list(kept.asking.values()) if kept else []
    status = _STATES[past.state] if past else "queued"
    if status == "interrupted" and (kept or event_of(name, _PREFIX) in service.begun.left):
        status = "queued"  # it goes on in a moment
    if status == "running" and asking:
        status = "waiting_for_approval"
    stopped = past is not None and status in ("failed", "interrupted")
    return json_answer(
        {
            "object": "hermes.run",
            "run_id": name,
            "status": status,
            "created_at": past.started if past else service.began,
            "session_id": past.session_id if past else None,
            "model": past.model if past else "",
            "output": past.answer or None if past else None,
            "usage": tokens(past.usage) if past else None,
            "error": {"code": status, "message": past.error or "Its process died."} if past and stopped else None,
            "approvals": [_question(question) for question, _ in asking],
        }
    )


async def events(service: Service, request: Request) -> Response:
    """What happens in one, from its start."""
    name, kept, past = await _found(service, request)
    if kept is None:
        state = _STATES[past.state] if past else "gone"
        raise ApiError(410, "events_gone", f"The events of this run are no longer kept; it is {state}.")

    async def body() -> AsyncGenerator[bytes, None]:
        answer = TurnSummary()
        async for one in kept.read():
            if not isinstance(one, Question):
                answer.add(one)
            if told := one_event(one, answer):
                yield event({**told, "run_id": name, "timestamp": time.time()}, str(told["event"]))

    def failed(error: ApiError) -> bytes:
        return event({"event": "run.failed", "run_id": name, "error": error.body["error"]}, "run.failed")

    return EventStream(body(), silence=service.config.keep_alive_seconds, failed=failed)


async def settle(service: Service, request: Request) -> Response:
    """Answer what one asks."""
    body = await read_body(request, "ApprovalRequest")
    name, kept, _ = await _found(service, request)
    asking = kept.asking if kept else {}
    wanted = body.get("approval_id") or next(iter(asking), "")
    if kept is None or wanted not in asking:
        raise ApiError(404, "approval_not_found", "This run asks no such question now.")
    question, answer = asking[wanted]
    choice = body["choice"]
    if choice != "deny" and choice not in question.choices:
        raise ApiError(400, "invalid_value", f"Choose one of {', '.join(question.choices)}.", param="choice")
    allowed = Verdict(outcome="allow", choice=choice, reason=body.get("reason") or "", by="api")
    said = Verdict.refused("api", body.get("reason") or "") if choice == "deny" else allowed
    settled = True
    try:
        await service.ctx.approvals.settle(service.owner(request), wanted, said)
    except UnknownName:  # a question that is no approval is answered to who asks it only
        pass
    except UserError:  # somebody else was faster
        settled = False
    if not answer.done():
        answer.set_result(said)
    return json_answer({"run_id": name, "approval_id": wanted, "settled": settled})


async def stop(service: Service, request: Request) -> Response:
    """Stop one; quiet when it is over."""
    name, kept, past = await _found(service, request)
    if kept and not kept.over:
        await kept.stop()
        past = await service.ctx.turns.past(event_of(name, _PREFIX), owner=service.owner(request))
    status = _STATES[past.state] if past else "cancelled"
    return json_answer({"run_id": name, "status": status, "session_id": past.session_id if past else None})


async def _found(service: Service, request: Request) -> tuple[str, Kept | None, PastTurn | None]:
    name = request.path_params["id"]
    event_id, person = event_of(name, _PREFIX), person_of(request)
    kept = service.turns.kept(event_id, person) if event_id else None
    past = await service.ctx.turns.past(event_id, owner=service.owner(request)) if event_id else None
    if kept is None and past is None:
        raise ApiError(404, "run_not_found", f"There is no run {name[:80]!r}.")
    return name, kept, past


async def _only(kept: Kept) -> Events:
    async for one in kept.read():
        if not isinstance(one, Question):
            yield one


def one_event(one: Told | Question, answer: TurnSummary) -> dict[str, Any] | None:
    """An event of a turn as it is sent; None for one that is not."""
    match one:
        case Started():
            return {"event": "run.started", "session_id": one.session_id, "model": one.model}
        case Said():
            return {"event": "message.delta", "delta": one.text}
        case Thinking():
            return {"event": "reasoning.delta", "delta": one.text}
        case Question():
            return {"event": "approval.request", "approval": _question(one)}
        case Failed():
            return {"event": "error", "error": {"code": one.kind, "message": one.text, "hint": one.hint}}
        case Ended():
            return {
                "event": _ENDS[one.reason],
                "session_id": one.session_id,
                "output": answer.final,
                "usage": tokens(one.usage),
                "note": one.note,
            }
    if told := progress(one):
        names = {"running": "tool.started", "output": "tool.progress", "notice": "notice"}
        return {"event": names.get(told["status"], "tool.completed"), **told}
    return None


def _question(question: Question) -> dict[str, Any]:
    return {name: value for name, value in asdict(question).items() if value or name in ("id", "subject")}
