"""What is done about each reason why a model could not answer."""

import random
from collections.abc import Callable, Sequence
from typing import Any

from attrs import evolve

from hermes_core.errors import ProviderError
from hermes_core.types import JSON, Blob, Message, Part, Reasoning, Request, Text, ToolResult
from hermes_core.values import frozen

LEFT_OUT = "(a picture was left out: the model did not take it)"
_LIMITS = ("rate_limit", "upstream_rate_limit", "billing")


@frozen
class Plan:
    """``wait``: ask again after a pause. ``rotate``: another key may help. ``onward``: another model may help."""

    wait: bool = False
    rotate: bool = False
    onward: bool = True


_PLANS = {
    "auth": Plan(rotate=True),
    "auth_permanent": Plan(rotate=True),
    "billing": Plan(rotate=True),
    "rate_limit": Plan(wait=True, rotate=True),
    "upstream_rate_limit": Plan(wait=True),
    "overloaded": Plan(wait=True),
    "server_error": Plan(wait=True),
    "timeout": Plan(wait=True),
    "invalid_output": Plan(wait=True, onward=False),  # the model's mistake: it may do better, another is not asked
    # what does not fit is made smaller by whoever asks
    "context_overflow": Plan(onward=False),
    "payload_too_large": Plan(onward=False),
    "long_context_tier": Plan(onward=False),
    "unknown": Plan(onward=False),
}


def plan(error: ProviderError) -> Plan:
    """What may help. A fault that says it lasts is not waited out."""
    found = _PLANS.get(error.reason, Plan())
    return found if getattr(error, "transient", True) else evolve(found, wait=False)


def is_limit(error: ProviderError) -> bool:
    """Whether an account met a limit."""
    return error.reason in _LIMITS


def passes(error: ProviderError) -> bool:
    """Whether it is a fault of the service that goes by: who was tried in vain is left alone for a while."""
    return _PLANS.get(error.reason, Plan()).wait and error.reason not in _LIMITS


def pause(error: ProviderError, attempt: int, base: float, cap: float) -> float:
    """Seconds until the next try: what the service asked for, else a random part of a growing pause."""
    asked: float | None = getattr(error, "retry_after", None)
    if asked is not None:
        return asked
    return random.uniform(0, min(cap, base * 2 ** (attempt - 1)))  # noqa: S311 - full jitter, not a secret


def simpler(reason: str, request: Request) -> Request | None:
    """The request without what the service choked on; None when that is not what it has."""
    change = _CHANGES.get(reason)
    changed = change(request) if change else request
    return None if changed == request else changed


def _without_pictures(request: Request) -> Request:
    def plain(parts: Sequence[Part]) -> tuple[Any, ...]:
        kept: list[Part] = []
        for part in parts:
            if isinstance(part, ToolResult):
                kept.append(evolve(part, parts=plain(part.parts)))
            else:
                kept.append(Text(text=LEFT_OUT) if isinstance(part, Blob) else part)
        return tuple(kept)

    return evolve(request, messages=tuple(evolve(m, parts=plain(m.parts)) for m in request.messages))


def _without_thoughts(request: Request) -> Request:
    def bare(message: Message) -> Message:
        parts = tuple(evolve(p, meta={}) if isinstance(p, Reasoning) else p for p in message.parts)
        return evolve(message, parts=parts, meta={})

    return evolve(request, messages=tuple(map(bare, request.messages)))


def _without_patterns(request: Request) -> Request:
    def plain(value: JSON) -> JSON:
        if isinstance(value, dict):
            texts = ("pattern", "format")  # as keywords; a property may have such a name
            return {k: plain(v) for k, v in value.items() if k not in texts or not isinstance(v, str)}
        return [plain(item) for item in value] if isinstance(value, list) else value

    return evolve(request, tools=tuple(evolve(t, schema=plain(dict(t.schema))) for t in request.tools))


_CHANGES: dict[str, Callable[[Request], Request]] = {
    "image_too_large": _without_pictures,
    "multimodal_unsupported": _without_pictures,
    "thinking_signature": _without_thoughts,
    "invalid_encrypted_content": _without_thoughts,
    "grammar_pattern": _without_patterns,
}
