"""The run of the screen on its terminal."""

import asyncio
from typing import TYPE_CHECKING, Any

from hermes_platform_tui.look.driver import ListeningDriver
from hermes_platform_tui.terminal.restore import run_safely

if TYPE_CHECKING:
    from hermes_core.types import Envelope
    from hermes_platform_tui.app import HermesApp
    from hermes_platform_tui.config import Config

__all__ = ["run"]


async def run(
    app: "HermesApp", config: "Config", incoming: "asyncio.Queue[Envelope | None]", **options: Any
) -> BaseException | None:
    """Run it to its end, which ``incoming`` is told by a None; what ended it, where that was a fault."""
    try:
        return await run_safely(app, mouse=config.mouse, on_leave=app.leave, driver=ListeningDriver, **options)
    finally:
        incoming.put_nowait(None)
