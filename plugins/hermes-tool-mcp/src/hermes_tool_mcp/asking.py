"""What a server may ask while it works: a model call, something of the person, which folder it is for.

Each is for the call that it works on. Where calls of several conversations run, nobody knows for whom it asks, and the
answer is no. What it wants to know is put to the person in its own name, and what it wants of the model is bounded.
"""

import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.kinds import ToolContext
from hermes_core.types import Blob, Message, Question, Request, Text, Verdict

if TYPE_CHECKING:
    from hermes_tool_mcp.connection import Connection

__all__ = ["callbacks"]

_FIELDS = 8  # questions of one form
_TOKENS = 4096  # of one answer of the model
_WORDS = 60_000  # characters that a model is given of it
_NO = "decline"


def callbacks(ctx: PluginContext, connection: "Connection", folder: str) -> dict[str, Any]:
    """Return the callbacks of the protocol that the settings of a server leave open."""
    given: dict[str, Any] = {}
    if folder:
        given["list_roots_callback"] = _roots(folder)
    if connection.server.elicitation:
        given["elicitation_callback"] = _elicitation(connection)
    if connection.server.sampling:
        given["sampling_callback"] = _sampling(ctx, connection)
    return given


def _at_work(connection: "Connection") -> ToolContext | None:
    """Return the call that a question is for."""
    if len({context.session.id for context in connection.calls}) != 1:
        return None
    return connection.calls[-1]


def _roots(folder: str) -> Any:
    async def roots(_context: Any) -> Any:
        from mcp_types import ListRootsResult, Root

        return ListRootsResult(roots=[Root(uri=Path(folder).as_uri(), name=Path(folder).name)])  # type: ignore[arg-type]

    return roots


def _elicitation(connection: "Connection") -> Any:
    async def elicit(_context: Any, params: Any) -> Any:
        from mcp_types import ElicitResult

        call = _at_work(connection)
        if call is None:
            return ElicitResult(action="cancel")
        asks = f"The MCP server {connection.name} asks: {str(params.message)[:2000]}"
        if params.mode == "url":
            told = f"{asks}\nIt wants you to open {params.url}, and is told only that you agreed."
            verdict = await call.ask(_question("choice", told, ("done", _NO)))
            return ElicitResult(action="accept" if verdict.choice == "done" else _refused(verdict))
        return await _form(call, asks, params.requested_schema)

    return elicit


async def _form(call: ToolContext, asks: str, schema: Any) -> Any:
    """Ask for the fields of a form, one after the other."""
    from mcp_types import ElicitResult

    fields = dict(schema.get("properties") or {})
    required = set(schema.get("required") or ())
    if len(fields) > _FIELDS:
        return ElicitResult(action="cancel")
    if not fields:
        verdict = await call.ask(_question("choice", asks, ("yes", _NO)))
        return (
            ElicitResult(action="accept", content={})
            if verdict.choice == "yes"
            else ElicitResult(action=_refused(verdict))
        )
    content: dict[str, Any] = {}
    for name, field in fields.items():
        for _ in range(2):
            verdict = await call.ask(_asked(asks, name, field, name in required))
            if verdict.outcome != "allow" or verdict.choice == _NO:
                return ElicitResult(action=_refused(verdict))
            try:
                value = _value(verdict.choice, field)
            except ValueError:
                continue
            if value is not None or name not in required:
                break
        else:
            return ElicitResult(action="cancel")
        if value is not None:
            content[name] = value
    return ElicitResult(action="accept", content=content)


def _choices(field: Any) -> dict[str, Any]:
    """Return what may be chosen, by what is shown; empty where anything may be typed."""
    if field.get("type") == "boolean":
        return {"yes": True, "no": False}
    if isinstance(field.get("oneOf"), list):
        return {str(one.get("title") or one.get("const")): one.get("const") for one in field["oneOf"]}
    if isinstance(field.get("enum"), list):
        names = field.get("enumNames") or field["enum"]
        return {str(name): value for name, value in zip(names, field["enum"], strict=False)}
    return {}


def _asked(asks: str, name: str, field: Any, required: bool) -> Question:
    default = "" if field.get("default") is None else f" (empty: {field['default']})"
    words = [str(field.get("title") or name), str(field.get("description") or "")]
    told = f"{asks}\n{': '.join(word for word in words if word)[:500]}{default}"
    if chosen := _choices(field):
        return _question("choice", told, (*chosen, _NO))
    kind = {"integer": " A whole number.", "number": " A number.", "array": " Several, with commas between."}
    note = "" if required or default else " May be left empty."
    return _question("text", f"{told}{kind.get(field.get('type'), '')}{note}", ())


def _value(text: str, field: Any) -> Any:
    """Read what a person answered; None is nothing. Raises ValueError."""
    text = text.strip()
    if not text:
        return field.get("default")
    if chosen := _choices(field):
        if text not in chosen:
            raise ValueError(text)
        return chosen[text]
    kind = field.get("type")
    if kind == "array":
        return [one.strip() for one in text.split(",") if one.strip()]
    return int(text) if kind == "integer" else float(text) if kind == "number" else text


def _question(kind: Any, subject: str, choices: tuple[str, ...]) -> Question:
    return Question(id=uuid4().hex, kind=kind, subject=subject, choices=choices)


def _refused(verdict: Verdict) -> Any:
    """Return what a no is: of a person, or because nobody was there."""
    return "decline" if verdict.by or verdict.outcome == "allow" else "cancel"


def _sampling(ctx: PluginContext, connection: "Connection") -> Any:
    made: deque[float] = deque()

    async def sample(_context: Any, params: Any) -> Any:
        from mcp_types import CreateMessageResult, ErrorData, TextContent

        def no(why: str) -> Any:
            return ErrorData(code=-1, message=why)

        call = _at_work(connection)
        now = time.monotonic()
        while made and now - made[0] > 60:
            made.popleft()
        if call is None:
            return no("no single call is at work that this could be for")
        if len(made) >= connection.server.sampling:
            return no(f"no more than {connection.server.sampling} model calls are made in a minute")
        if getattr(params, "tools", None):
            return no("the model is given no tools here")
        made.append(now)
        messages = _messages(params)
        if sum(len(part.text) for one in messages for part in one.parts if isinstance(part, Text)) > _WORDS:
            return no("that is more text than the model is given here")
        options: dict[str, Any] = {"max_tokens": min(params.max_tokens, _TOKENS)}
        if params.temperature is not None:
            options["temperature"] = params.temperature
        try:
            request = Request(model="", messages=messages, options=options)
            response = await ctx.llm.complete(request, task="mcp", session=call.session)
        except HermesError as error:
            return no(error.text)
        text = "".join(part.text for part in response.message.parts if isinstance(part, Text))
        stop = "maxTokens" if response.reason == "length" else "endTurn"
        return CreateMessageResult(
            role="assistant",
            content=TextContent(type="text", text=text),
            model="the model of the person",
            stop_reason=stop,
        )

    return sample


def _messages(params: Any) -> list[Message]:
    """Return what the server wants to be said, as text from outside that the prompt says it is."""
    prompt = "You answer a tool server that a person connected. Give only what is asked; you have no tools."
    wanted = f"{prompt}\n\n{params.system_prompt}" if params.system_prompt else prompt
    found = [Message(role="system", parts=(Text(text=wanted),))]
    for one in params.messages:
        parts: list[Text | Blob] = []
        for content in one.content if isinstance(one.content, list) else [one.content]:
            if content.type == "text":
                parts.append(Text(text=content.text))
            elif content.type == "image":
                import base64

                parts.append(Blob(media_type=content.mime_type, data=base64.b64decode(content.data)))
        if parts:
            found.append(Message(role=one.role, parts=tuple(parts), untrusted=True))
    return found
