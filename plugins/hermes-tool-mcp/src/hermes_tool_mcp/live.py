"""Servers that came or went while a Hermes runs: it hears of them by a file; settings say the same at its next start.

A row holds the words of the settings, with the names of secrets and not the secrets.
"""

import json
import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import JSON
from hermes_tool_mcp.config import ServerSettings

__all__ = ["began", "changed_since", "filled", "tell"]

_NAME = re.compile(r"\$\{([A-Za-z_]\w*)\}")
_KEPT = 30 * 86_400.0  # seconds: no process that should hear of it is older


def _path(ctx: PluginContext) -> Path:
    return ctx.paths.data / "changes.json"


def began(ctx: PluginContext) -> float:
    """Return the instant since when this kernel has its settings."""
    return float(ctx.state.setdefault("began", time.time()))


def tell(ctx: PluginContext, name: str, row: Mapping[str, JSON] | None) -> None:
    """Let running ones know of a server, or that it is gone; None. Its settings are written already."""
    from hermes_atomic.whole import held, replace

    ctx.paths.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with held(ctx.paths.data / "changes.lock", seconds=10.0):
        now = time.time()
        rows = {key: one for key, one in _rows(ctx).items() if now - one["at"] < _KEPT}
        rows[name] = {"at": now, "row": row}
        replace(_path(ctx), json.dumps(rows).encode(), mode=0o600)


def _rows(ctx: PluginContext) -> dict[str, dict[str, JSON]]:
    with suppress(OSError, ValueError):
        found = json.loads(_path(ctx).read_bytes())
        if isinstance(found, dict):
            return {str(name): one for name, one in found.items() if isinstance(one, dict) and "at" in one}
    return {}


def changed_since(ctx: PluginContext) -> Mapping[str, ServerSettings | None]:
    """Return the servers that came since this kernel began, and None for those that went; read when it changed."""
    path: str = ctx.state.get("changes at") or ctx.state.setdefault("changes at", str(_path(ctx)))
    try:
        status = os.stat(path)  # noqa: PTH116 - each call looks, and a Path takes as long again
    except OSError:
        return {}
    mark = (status.st_ino, status.st_mtime_ns)
    known: tuple[tuple[int, int], Mapping[str, ServerSettings | None]] | None = ctx.state.get("changes")
    if known is None or known[0] != mark:
        found: dict[str, ServerSettings | None] = {}
        for name, one in _rows(ctx).items():
            if one["at"] > began(ctx):
                with suppress(UserError, ValueError, TypeError):  # what cannot be read now is there at the next start
                    found[name] = None if one["row"] is None else ServerSettings(**filled(ctx, one["row"]))
        known = ctx.state["changes"] = (mark, found)
    return known[1]


def filled(ctx: PluginContext, value: JSON) -> JSON:
    """Return settings with the secrets that they name in them. Raises UserError for one that is not set."""
    if isinstance(value, dict):
        return {key: filled(ctx, one) for key, one in value.items()}
    if isinstance(value, list):
        return [filled(ctx, one) for one in value]
    return _NAME.sub(lambda match: _secret(ctx, match[1]), value) if isinstance(value, str) else value


def _secret(ctx: PluginContext, name: str) -> str:
    found = (ctx.secrets.get(name) if name.startswith("MCP_") else "") or os.environ.get(name, "")
    if not found:
        hint = f"Set it first: {ctx.program} config set {name} VALUE"
        raise UserError(f"The secret {name} is not set.", hint=hint)
    return found
