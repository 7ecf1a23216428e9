"""A request as the input of the Responses API."""

import json
from collections.abc import Mapping, Sequence

from hermes_core.codec import plain_text
from hermes_core.types import JSON, Blob, Message, Part, Request, Text, ToolCall, ToolResult
from hermes_openai_wire.body import clamp_effort, encode, held_to, is_reasoning_model, output_limit
from hermes_openai_wire.line import Line
from hermes_openai_wire.messages import function_name
from hermes_openai_wire.pictures import describe, picture_url
from hermes_provider_kit.shape import named

__all__ = ["ITEMS", "responses_arguments", "responses_body"]

ITEMS = "items"  # the key in meta under which reasoning items are kept for replay


def responses_arguments(line: Line, request: Request, model: str) -> dict[str, JSON]:
    """The keyword arguments of ``responses.create``. Nothing is stored on the server; reasoning comes back sealed."""
    thinks = is_reasoning_model(line.entry, model)
    effort = clamp_effort(line.entry, str(request.options.get("effort") or ""))
    messages, prompt = request.messages, ""
    if line.entry.instructions and messages and messages[0].role == "system":
        prompt, messages = plain_text(messages[0].parts), messages[1:]
    made: dict[str, JSON] = {
        "model": model,
        "input": _items(messages, line.key),
        "stream": True,
        "store": False,
    }
    if line.entry.instructions:
        made["instructions"] = prompt or "Answer the person."  # the service takes no request without them
    if thinks or effort:
        made["include"] = ["reasoning.encrypted_content"]
        made["reasoning"] = {"summary": "auto", **({"effort": effort} if effort else {})}
    if request.tools:
        made["tools"] = [
            {
                "type": "function",
                "name": t.name,
                "description": t.description,
                "parameters": dict(t.schema),
                "strict": False,
            }
            for t in request.tools
        ]
    if limit := output_limit(line.entry, request):
        made["max_output_tokens"] = limit
    if schema := held_to(line.entry, request, model):
        made["text"] = {"format": {"type": "json_schema", **named(schema)}}
    temperature = request.options.get("temperature")
    if temperature is not None and line.entry.temperature != "omit" and not thinks:
        made["temperature"] = temperature
    for name in line.entry.unset:
        made.pop(name, None)
    extra = {**line.entry.extra_body, **line.extra_body}
    for name in [name for name, value in extra.items() if value is None]:
        made.pop(name, None)
        del extra[name]
    if extra:
        made["extra_body"] = extra
    return made


def responses_body(line: Line, request: Request, model: str) -> bytes:
    """The bytes that the SDK makes of the arguments."""
    made = responses_arguments(line, request, model)
    return encode({**made, **made.pop("extra_body", {})})


def _items(messages: Sequence[Message], key: str) -> list[JSON]:
    made: list[JSON] = []
    for message in messages:
        if message.role == "assistant":
            made += _assistant(message, key)
        elif message.role == "tool":
            made += [_result(part) for part in message.parts if isinstance(part, ToolResult)]
        else:
            role = "developer" if message.role == "system" else "user"
            made.append({"role": role, "content": _content(message.parts) or [_text("(no text)")]})
    return made


def _content(parts: Sequence[Part]) -> list[JSON]:
    made = []
    for part in parts:
        if isinstance(part, Text) and part.text:
            made.append(_text(part.text))
        elif isinstance(part, Blob):
            made.append(_blob(part))
    return made


def _text(text: str) -> dict[str, JSON]:
    return {"type": "input_text", "text": text}


def _blob(blob: Blob) -> dict[str, JSON]:
    url = picture_url(blob)
    return {"type": "input_image", "image_url": url, "detail": "auto"} if url else _text(describe(blob))


def _assistant(message: Message, key: str) -> list[JSON]:
    own = message.meta.get(key)
    kept = own.get(ITEMS) if isinstance(own, Mapping) else None
    made: list[JSON] = list(kept) if isinstance(kept, Sequence) and not isinstance(kept, str) else []
    text = "\n".join(part.text for part in message.parts if isinstance(part, Text) and part.text)
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    if text or not (calls or made):
        made.append({"role": "assistant", "content": text or "(no text)"})
    made += [
        {
            "type": "function_call",
            "call_id": call.id,
            "name": function_name(call.name),
            "arguments": json.dumps(dict(call.arguments), ensure_ascii=False, separators=(",", ":")),
        }
        for call in calls
    ]
    return made


def _result(result: ToolResult) -> JSON:
    pictures = any(isinstance(part, Blob) for part in result.parts)
    output: JSON = "\n".join(part.text for part in result.parts if isinstance(part, Text)) or "(no output)"
    if pictures:
        output = _content(result.parts)
    return {"type": "function_call_output", "call_id": result.call_id, "output": output}
