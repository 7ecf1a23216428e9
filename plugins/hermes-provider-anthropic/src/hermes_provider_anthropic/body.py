"""A request as the body of a Messages call."""

import json
from collections.abc import Mapping

from hermes_core.types import JSON, Request, ToolSpec
from hermes_provider_anthropic.entry import Card
from hermes_provider_anthropic.line import Line
from hermes_provider_anthropic.messages import Conversion, to_messages, to_system
from hermes_provider_anthropic.thinking import thinking_fields
from hermes_provider_anthropic.thoughts import THINKING, seal_of

__all__ = ["encode", "messages_body", "seals_in"]

CACHE = "cache_control"  # in extra_body it says how long to keep (``ttl: 1h``), or with null not to
BREAKPOINTS = 3  # in the messages; with the one in the system prompt they are the four the protocol allows
_TOP_LEVEL = ("oneOf", "anyOf", "allOf")  # the protocol refuses these at the top of a schema


def messages_body(line: Line, request: Request, model: str) -> dict[str, JSON]:
    """The body of a streaming call; the user's ``extra_body`` is laid over it, and a null in it takes a field away."""
    card = line.entry.card(model)
    how = Conversion(key=line.key, unsigned=line.entry.unsigned, pictures=card.images, refused=line.state.refused)
    system, rest = to_system(request.messages)
    turns = to_messages(rest, how)
    limit = _output_limit(card, request)
    thinking = thinking_fields(card, str(request.options.get("effort") or ""), limit, turns)
    marker = line.extra_body.get(CACHE, {"type": "ephemeral"})
    if isinstance(marker, Mapping):
        _mark(system, turns, dict(marker))
    body: dict[str, JSON] = {"model": model, "max_tokens": limit, "stream": True}
    if system:
        body["system"] = system
    body["messages"] = turns
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
    body.update(thinking)
    temperature = request.options.get("temperature")
    off = thinking.get("thinking", {}).get("type") in (None, "disabled")
    if isinstance(temperature, int | float) and card.temperature and off:
        body["temperature"] = min(max(temperature, 0), 1)
    for name, value in line.extra_body.items():
        if value is None:
            body.pop(name, None)
        elif name != CACHE:
            body[name] = value
    return body


def encode(body: Mapping[str, JSON]) -> bytes:
    """The body's bytes; a lone surrogate becomes a question mark."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def seals_in(body: Mapping[str, JSON]) -> set[str]:
    """The signatures of all thoughts in a body."""
    blocks = [block for turn in body["messages"] for block in turn["content"]]
    return {seal for block in blocks if (seal := seal_of(block))}


def _output_limit(card: Card, request: Request) -> int:
    wanted = request.options.get("max_tokens")
    return min(wanted, card.output) if isinstance(wanted, int) and wanted > 0 else card.output


def _tool(spec: ToolSpec) -> dict[str, JSON]:
    schema = {"type": "object", **{k: v for k, v in spec.schema.items() if k not in _TOP_LEVEL}}
    made: dict[str, JSON] = {"name": spec.name, "input_schema": schema}
    return {**made, "description": spec.description} if spec.description else made


def _mark(system: list[dict[str, JSON]], turns: list[dict[str, JSON]], marker: Mapping[str, JSON]) -> None:
    """Set the breakpoints: the end of the system prompt, and of the last three messages where one can stand."""
    if system:
        system[-1][CACHE] = marker
    left = BREAKPOINTS
    for turn in reversed(turns):
        block = next((b for b in reversed(turn["content"]) if b["type"] not in THINKING), None)
        if block is not None and left:
            block[CACHE] = marker
            left -= 1
