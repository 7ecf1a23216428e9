"""A request as the body of a ``streamGenerateContent`` call.

Source: https://ai.google.dev/api/generate-content, and "Thought signatures" there for what goes back with a call.
"""

from collections.abc import Iterable, Mapping, Sequence

from hermes_core.types import JSON, Blob, Message, Part, Reasoning, Request, Text, ToolCall, ToolResult, ToolSpec
from hermes_provider_gemini.line import Line, spelled
from hermes_provider_gemini.thinking import generation, thinking_config
from hermes_provider_kit.blobs import blob_bytes, blob_words
from hermes_provider_kit.shape import wanted

__all__ = ["SIGNATURE", "content_body"]

SIGNATURE = "signature"  # the key below the provider's in ``meta``
UNSIGNED = "skip_thought_signature_validator"  # what Google's page names for calls that another model made
CARRIED = ("image/", "audio/", "video/")
DOCUMENTS = ("application/pdf",)
GO_ON = "Go on."
EMPTY = "(no text)"


def content_body(line: Line, request: Request, model: str) -> dict[str, JSON]:
    """Make the body of a call; the user's ``extra_body`` is laid over it, and a null in it takes a field away."""
    name = spelled(model)
    system = [part.text for message in request.messages if message.role == "system" for part in _texts(message)]
    settings: dict[str, JSON] = {}
    if isinstance(limit := request.options.get("max_tokens"), int) and limit > 0:
        settings["maxOutputTokens"] = limit
    if isinstance(warmth := request.options.get("temperature"), int | float):
        settings["temperature"] = min(max(warmth, 0), 2)
    if thinking := thinking_config(name, str(request.options.get("effort") or "")):
        settings["thinkingConfig"] = thinking
    if (schema := wanted(request)) and not request.tools:  # most models take one or the other
        settings |= {"responseMimeType": "application/json", "responseJsonSchema": schema}
    body: dict[str, JSON] = {"contents": _contents(request.messages, line.key, signed=generation(name) >= (3, 0))}
    if system:
        body["systemInstruction"] = {"parts": [{"text": text} for text in system]}
    if request.tools:
        body["tools"] = [{"functionDeclarations": [_declared(spec) for spec in request.tools]}]
    if settings:
        body["generationConfig"] = settings
    return line.laid_over(body)


def _declared(spec: ToolSpec) -> dict[str, JSON]:
    made: dict[str, JSON] = {"name": spec.name, "parametersJsonSchema": dict(spec.schema)}
    return {**made, "description": spec.description} if spec.description else made


def _contents(messages: Sequence[Message], key: str, *, signed: bool) -> list[JSON]:
    """Give the turns: user and model alternate, a user begins, all results of one reply stand together."""
    turns: list[tuple[str, list[JSON]]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "model" if message.role == "assistant" else "user"
        parts = _said(message, key, signed=signed) if role == "model" else _heard(message.parts)
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(parts)
        else:
            turns.append((role, parts))
    if not turns or turns[0][0] != "user":
        turns.insert(0, ("user", [{"text": GO_ON}]))
    if turns[-1][0] != "user":
        turns.append(("user", [{"text": GO_ON}]))
    return [{"role": role, "parts": parts or [{"text": EMPTY}]} for role, parts in turns]


def _said(message: Message, key: str, *, signed: bool) -> list[JSON]:
    """Give what a model said: its text and its calls, each with the signature that came with it."""
    made: list[dict[str, JSON]] = [{"text": part.text} for part in _texts(message)]
    seals = [_seal(part, key) for part in message.parts if isinstance(part, Reasoning)]
    if made and any(seals):
        made[-1]["thoughtSignature"] = next(seal for seal in reversed(seals) if seal)
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    for at, call in enumerate(calls):
        one: dict[str, JSON] = {"functionCall": {"name": call.name, "args": dict(call.arguments)}}
        # Of calls that were made together only the first is signed, and only that of a newer model must be.
        if seal := _seal(call, key) or (UNSIGNED if signed and at == 0 else ""):
            one["thoughtSignature"] = seal
        made.append(one)
    return list(made)


def _heard(parts: Sequence[Part]) -> list[JSON]:
    results = [part for part in parts if isinstance(part, ToolResult)]
    made: list[JSON] = []
    for result in results:
        said = "\n".join(part.text for part in result.parts if isinstance(part, Text))
        response = {"error" if result.failed else "output": said or "(no output)"}
        made.append({"functionResponse": {"name": result.name, "response": response}})
    for result in results:
        made += [_blob(part) for part in result.parts if isinstance(part, Blob)]
    for part in parts:
        if isinstance(part, Text) and part.text.strip():
            made.append({"text": part.text})
        elif isinstance(part, Blob):
            made.append(_blob(part))
    return made


def _blob(blob: Blob) -> JSON:
    """Give a file as the protocol carries it; one that it cannot carry is named instead."""
    carried = blob.media_type.startswith(CARRIED) or blob.media_type in DOCUMENTS
    data = blob_bytes(blob) if carried else b""
    if not data:
        return {"text": blob_words(blob, unreadable=carried)}
    from base64 import b64encode

    return {"inlineData": {"mimeType": blob.media_type, "data": b64encode(data).decode()}}


def _texts(message: Message) -> Iterable[Text]:
    return (part for part in message.parts if isinstance(part, Text) and part.text.strip())


def _seal(part: Reasoning | ToolCall, key: str) -> str:
    own = part.meta.get(key)
    return str(own.get(SIGNATURE) or "") if isinstance(own, Mapping) else ""
