"""The library, imported when it is first used, and told to keep to itself."""

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Any

from hermes_core.types import JSON

__all__ = ["known", "library", "loaded"]


async def library() -> Any:
    """Import the library, in a thread, as that takes seconds."""
    return loaded() or await asyncio.to_thread(_import)


def loaded() -> Any | None:
    """Give the library if it was imported already: its list of models costs nothing then."""
    found = sys.modules.get("litellm")
    return found if hasattr(found, "acompletion") else None


def known(model: str) -> Mapping[str, JSON]:
    """Say what its list knows of a model, under the name with or without the service; empty before it was imported."""
    module = loaded()
    listed = module.model_cost if module else {}
    found = listed.get(model) or listed.get(model.partition("/")[2]) or {}
    return found if isinstance(found, Mapping) else {}


def _import() -> Any:
    # Without this it asks the network for a newer list of prices while it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True  # it prints advice otherwise
    litellm.telemetry = False
    return litellm
