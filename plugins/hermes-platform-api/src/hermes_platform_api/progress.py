"""What happens in a turn besides its words, as clients are told."""

from typing import Any

from hermes_core.types import JSON, Called, Noticed, Progress, Returned
from hermes_platform_api.kept import Told

__all__ = ["progress"]

_LABEL = 200


def progress(event: Told) -> dict[str, Any] | None:
    """A tool that runs, or a notice; None for events that say neither."""
    if isinstance(event, Called):
        return {
            "status": "running",
            "tool": event.call.name,
            "call_id": event.call.id,
            "label": _label(event.call.arguments),
        }
    if isinstance(event, Progress):
        return {"status": "output", "call_id": event.call_id, "label": event.text[-_LABEL:]}
    if isinstance(event, Returned):
        done = "failed" if event.result.failed else "completed"
        seconds = round(event.seconds, 3)
        return {"status": done, "tool": event.call.name, "call_id": event.call.id, "seconds": seconds}
    if isinstance(event, Noticed):
        return {"status": "notice", "label": event.text}
    return None


def _label(arguments: JSON) -> str:
    words = " ".join(f"{value}" for value in arguments.values() if isinstance(value, str | int | float))
    return " ".join(words.split())[:_LABEL]
