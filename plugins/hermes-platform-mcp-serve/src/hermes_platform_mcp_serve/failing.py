"""What a client is told of a call that went wrong: an error of ours in its words, any other by where it stands."""

from collections.abc import Awaitable
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError

__all__ = ["failed", "told"]


async def told(ctx: PluginContext, name: str, work: Awaitable[Any]) -> Any:
    """Return what work gives, or the result that says why it failed. ``name`` is for the log."""
    from mcp.shared.exceptions import MCPError

    try:
        return await work
    except HermesError as error:
        return failed(ctx.masks.text(" ".join(word for word in (error.text, error.hint) if word)))
    except MCPError:
        raise
    except Exception:
        ctx.log.exception("%s failed", name)
        return failed("Something went wrong here. `hermes logs` says what.")


def failed(text: str) -> Any:
    """Return the result of a call that failed."""
    from mcp_types import CallToolResult, TextContent

    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
