"""A setting as JSON can hold it."""

from typing import Any

import attrs

from hermes_core.options import Secret
from hermes_core.types.base import JSON

__all__ = ["plain"]


def plain(value: Any) -> JSON:
    """Return a setting as JSON can hold it; of a secret only where it is kept."""
    if isinstance(value, Secret):
        return str(value) if value.reference or not value else "[secret]"
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return plain(attrs.asdict(value, recurse=False)) if attrs.has(type(value)) else value
