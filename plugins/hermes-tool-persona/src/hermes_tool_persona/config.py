"""The settings of persona."""

from typing import Any

from hermes_core.options import ge, option, settings
from hermes_core.types import JSON

FIELDS = ("description", "system_prompt", "tone", "style")


def _are_personalities(_instance: object, _field: object, value: dict[str, JSON]) -> None:
    for name, one in value.items():
        parts: dict[str, Any] = {"system_prompt": one} if isinstance(one, str) else one
        if not isinstance(parts, dict) or not all(isinstance(text, str) for text in parts.values()):
            raise ValueError(f"{name} must be a text, or a section of texts: {', '.join(FIELDS)}")
        if strange := sorted(set(parts) - set(FIELDS)):
            raise ValueError(f"{name} has {strange[0]}, which is none of {', '.join(FIELDS)}")
        if not any(parts.get(field, "").strip() for field in FIELDS[1:]):
            raise ValueError(f"{name} says nothing; write system_prompt, tone or style")
        if not name or name != name.strip().casefold() or any(c.isspace() for c in name) or name in ("off", "none"):
            raise ValueError(f"{name!r} is no name: one word in lower case, not off or none")


@settings
class Config:
    """Who the agent is, and how it speaks."""

    soul: bool = option("Let SOUL.md of the home say who the agent is.", default=True)
    max_chars: int = option("The most characters of SOUL.md in a prompt.", default=20_000, validator=ge(500))
    scan: bool = option("Leave SOUL.md out when it tries to take over the agent.", default=True)
    personality: str = option(
        "How the agent speaks in new sessions: the name of a personality.", default="", example="concise"
    )
    personalities: dict[str, JSON] = option(
        f"Your own, by name: a text, or a section of {', '.join(FIELDS)}.",
        factory=dict,
        validator=_are_personalities,
        example={"butler": "You are a butler of few, well-chosen words."},
    )
