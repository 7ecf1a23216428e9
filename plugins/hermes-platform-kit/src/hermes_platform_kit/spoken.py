"""What a host and a console elsewhere say to each other, as JSON and back, and frames however long."""

import json
from asyncio import StreamReader
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

from attrs import asdict, evolve

from hermes_core.codec import message_from_json, message_to_json
from hermes_core.types import (
    Asked,
    Blob,
    Called,
    Choice,
    Ended,
    Event,
    Failed,
    Job,
    Message,
    Noticed,
    Principal,
    Progress,
    Question,
    Returned,
    Said,
    Session,
    Started,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    Used,
    Verdict,
    Wall,
)

__all__ = [
    "PROTOCOL",
    "choice_of_json",
    "event_of_json",
    "event_to_json",
    "heard",
    "job_of_json",
    "pieces",
    "question_of_json",
    "session_of_json",
    "session_to_json",
    "verdict_of_json",
    "verdict_to_json",
    "wall_of_json",
]

PROTOCOL = 1  # of consoles; that of frames is hermes_front's
_PLAIN = {one.__name__: one for one in (Started, Said, Thinking, Progress, Noticed, Failed, Used, Ended)}
_PIECE = 200_000  # characters of a piece; each may take six bytes, and a frame has at most a mebibyte
_MOST = 64 << 20  # characters of what comes in pieces
_LARGE = 2 << 20  # bytes of a picture in a result that are shown elsewhere

JSON = dict[str, Any]


def event_to_json(event: Event) -> JSON | None:
    """Return an event as JSON; None for one that is not known here."""
    name = type(event).__name__
    match event:
        case Called():
            return {"type": name, "call": _parts(event.call)}
        case Returned():
            return {"type": name, "call": _parts(event.call, _slim(event.result)), "seconds": event.seconds}
        case Asked():
            return {"type": name, "question": asdict(event.question), "verdict": verdict_to_json(event.verdict)}
        case _ if name in _PLAIN:
            return {"type": name, **asdict(event)}
    return None


def event_of_json(told: Mapping[str, Any]) -> Event | None:
    """Return the event; None for one that is not known here. Raises KeyError and TypeError for what is none."""
    kind = told["type"]
    fields = {name: value for name, value in told.items() if name != "type"}
    if kind == "Asked":
        return Asked(question=question_of_json(told["question"]), verdict=verdict_of_json(told["verdict"]))
    if kind in ("Called", "Returned"):
        call, *result = message_from_json(told["call"]).parts
        if kind == "Called":
            return Called(call=cast("ToolCall", call))
        return Returned(call=cast("ToolCall", call), result=cast("ToolResult", result[0]), seconds=told["seconds"])
    if kind not in _PLAIN:
        return None
    if "usage" in fields:
        fields["usage"] = Usage(**fields["usage"])
    return cast("Event", _PLAIN[kind](**fields))


def _parts(*parts: ToolCall | ToolResult) -> JSON:
    return message_to_json(Message(role="assistant", parts=parts))


def _slim(result: ToolResult) -> ToolResult:
    """Return a result without what is too large to be shown elsewhere."""
    shown = tuple(
        Text(text="(A picture that is too large to be shown here.)")
        if isinstance(part, Blob) and len(part.data or b"") > _LARGE
        else part
        for part in result.parts
    )
    return evolve(result, parts=shown)


def question_of_json(told: Mapping[str, Any]) -> Question:
    """Return a question; ``asdict`` made it JSON."""
    return Question(**{**told, "choices": tuple(told["choices"])})


def verdict_to_json(verdict: Verdict) -> JSON:
    """Return a person's answer as JSON."""
    return {name: getattr(verdict, name) for name in ("outcome", "reason", "by", "choice")}


def verdict_of_json(told: Mapping[str, Any]) -> Verdict:
    """Return a person's answer; nothing else of a verdict is heard from elsewhere."""
    outcome = "allow" if told.get("outcome") == "allow" else "deny"
    reason, by, choice = (str(told.get(name) or "") for name in ("reason", "by", "choice"))
    return Verdict(outcome=outcome, reason=reason, by=by, choice=choice)  # type: ignore[arg-type]  # one of both


def session_to_json(session: Session) -> JSON:
    """Return of a session what is shown of it."""
    names = ("id", "origin", "parent", "title", "cwd", "provider", "model", "created")
    return {name: getattr(session, name) for name in names}


def session_of_json(told: Mapping[str, Any], owner: Principal) -> Session:
    """Return what is shown of a session of an owner."""
    return Session(**told, owner=owner)


def choice_of_json(told: Mapping[str, Any]) -> Choice:
    """Return a way to go on with a line; ``asdict`` made it JSON."""
    return Choice(**told)


def job_of_json(told: Mapping[str, Any]) -> Job:
    """Return what runs beside a conversation; ``asdict`` made it JSON."""
    return Job(**{**told, "usage": Usage(**told["usage"])})


def wall_of_json(told: Mapping[str, Any] | None) -> Wall | None:
    """Return what bounds commands; ``asdict`` made it JSON."""
    return Wall(**told) if told else None


def pieces(told: Mapping[str, Any]) -> bytes:
    """Return a frame as it is sent, however long: in pieces, each of which is one."""
    text = json.dumps(told, separators=(",", ":"))
    if len(text) <= _PIECE:
        return text.encode() + b"\n"
    cut = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    framed = [{"piece": one, "last": number == len(cut)} for number, one in enumerate(cut, 1)]
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in framed)


async def heard(reader: StreamReader) -> AsyncIterator[Mapping[str, Any]]:
    """Yield the frames that come, whole, until the other side leaves or says what is no frame."""
    held: list[str] = []
    while True:
        try:
            line = await reader.readline()
            told = json.loads(line) if line.endswith(b"\n") else None
            if isinstance(told, dict) and isinstance(piece := told.get("piece"), str):
                held.append(piece)
                if sum(map(len, held)) > _MOST:
                    return
                if not told.get("last"):
                    continue
                told, held = json.loads("".join(held)), []
        except (OSError, ValueError, RecursionError):  # larger than a frame, or no JSON
            return
        if not isinstance(told, dict):
            return
        yield told
