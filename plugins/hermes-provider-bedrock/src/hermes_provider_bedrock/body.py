"""A request as the body of a ``ConverseStream`` call.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from collections.abc import Sequence

from hermes_core.types import JSON, Request, ToolSpec
from hermes_provider_bedrock.known import caches, claude, plain, tools_cached
from hermes_provider_bedrock.line import Line
from hermes_provider_bedrock.thinking import thinking_fields
from hermes_provider_bedrock.turns import Turn, called_in, conversation

__all__ = ["converse_body"]

MORE = "additionalModelRequestFields"
POINT: dict[str, JSON] = {"cachePoint": {"type": "default"}}
POINTS = 2  # in the turns; with those behind the prompt and the tools they are the four that the protocol allows
ANSWER = 8192  # tokens for the answer beside a budget for thoughts, where nothing else is said


def converse_body(line: Line, request: Request, model: str) -> dict[str, JSON]:
    """Make the body of a call; the user's ``extra_body`` is laid over it, and a null in it takes a field away."""
    prompt = [message for message in request.messages if message.role == "system"]
    turns = conversation([one for one in request.messages if one.role != "system"], line.key, model)
    system: list[JSON] = [
        {"text": text} for message in prompt for part in message.parts if (text := getattr(part, "text", "")).strip()
    ]
    tools: list[JSON] = [_tool(spec) for spec in request.tools]
    if not tools:  # the service wants to know of every tool that was called before
        tools = [_gone(name) for name in called_in(turns)]
    if line.cache == "on" or (line.cache == "auto" and caches(model)):
        _mark(system, tools if tools_cached(model) else [], turns)
    body: dict[str, JSON] = {"messages": [{"role": role, "content": blocks} for role, blocks in turns]}
    if system:
        body["system"] = system
    if tools:
        body["toolConfig"] = {"tools": tools}
    settings, more = _settings(request, model, turns)
    if settings:
        body["inferenceConfig"] = settings
    if more:
        body[MORE] = more
    return line.laid_over(body)


def _settings(request: Request, model: str, turns: Sequence[Turn]) -> tuple[dict[str, JSON], dict[str, JSON]]:
    """Give the settings that all models know, and the fields of this one."""
    said = request.options.get("max_tokens")
    limit = said if isinstance(said, int) and not isinstance(said, bool) and said > 0 else 0
    more = thinking_fields(model, str(request.options.get("effort") or ""), limit)
    thinking = more.get("thinking")
    budget = thinking.get("budget_tokens", 0) if isinstance(thinking, dict) else 0
    if budget and _goes_on_without_thought(turns):
        more, budget = {}, 0
    made: dict[str, JSON] = {}
    if limit or budget:
        made["maxTokens"] = limit or budget + ANSWER
    warmth = request.options.get("temperature")
    refuses = bool(more) or claude(model) >= (4, 7) or plain(model).startswith("openai.gpt-5")
    if isinstance(warmth, int | float) and not isinstance(warmth, bool) and not refuses:
        made["temperature"] = min(max(warmth, 0), 1)
    if more.get("reasoningConfig", {}).get("maxReasoningEffort") == "high":
        made.pop("maxTokens", None)  # Nova's documentation: not at its highest effort
    return made, more


def _goes_on_without_thought(turns: Sequence[Turn]) -> bool:
    """Tell whether the calls that are answered now began without a thought: such a Claude refuses to think then."""
    if len(turns) < 2 or "toolResult" not in turns[-1][1][0]:
        return False
    return "reasoningContent" not in turns[-2][1][0]


def _tool(spec: ToolSpec) -> dict[str, JSON]:
    made: dict[str, JSON] = {"name": spec.name, "inputSchema": {"json": dict(spec.schema)}}
    return {"toolSpec": {**made, "description": spec.description} if spec.description.strip() else made}


def _gone(name: str) -> dict[str, JSON]:
    schema: dict[str, JSON] = {"json": {"type": "object", "properties": {}}}
    return {"toolSpec": {"name": name, "description": "Was used before. Not on offer now.", "inputSchema": schema}}


def _mark(system: list[JSON], tools: list[JSON], turns: Sequence[Turn]) -> None:
    """Set the points up to which the service keeps what it was sent: the tools, the prompt, the last turns heard."""
    for part in (system, tools):
        if part:
            part.append(POINT)
    for _, blocks in [turn for turn in turns if turn[0] == "user"][-POINTS:]:
        if not any("document" in block for block in blocks[-1:]):  # behind one it may not stand
            blocks.append(POINT)
