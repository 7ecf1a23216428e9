"""Where a service is to keep what it read of a request, for models of Anthropic behind services of this protocol.

They keep nothing by themselves. The mark stands on a part of the content, and four at most are allowed:
https://openrouter.ai/docs/features/prompt-caching.
"""

from collections.abc import Mapping

from hermes_core.types import JSON
from hermes_openai_wire.entry import Entry

__all__ = ["FIELD", "marked", "wants_marks"]

FIELD = "cache_control"  # in extra_body it says how long to keep (``ttl: 1h``), or with null not to
_LAST = 3  # messages with a mark, beside the prompt


def wants_marks(entry: Entry, model: str, extra: Mapping[str, JSON]) -> bool:
    """Whether a request to this model is marked."""
    able = bool(entry.cache_marks) and model.rsplit("/", 1)[-1].lower().startswith(entry.cache_marks)
    return able and extra.get(FIELD, "usual") is not None


def marked(messages: list[JSON], extra: Mapping[str, JSON]) -> list[JSON]:
    """The messages with a mark on the prompt and on the last three that say something."""
    said = extra.get(FIELD)
    mark = dict(said) if isinstance(said, Mapping) else {"type": "ephemeral"}
    first = [at for at, one in enumerate(messages) if one["role"] == "system"][:1]
    rest = [at for at, one in enumerate(messages) if one["role"] != "system" and one.get("content")][-_LAST:]
    chosen = {*first, *rest}
    return [_with(one, mark) if at in chosen else one for at, one in enumerate(messages)]


def _with(message: JSON, mark: dict[str, JSON]) -> JSON:
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    return {**message, "content": [*parts[:-1], {**parts[-1], FIELD: mark}]}
