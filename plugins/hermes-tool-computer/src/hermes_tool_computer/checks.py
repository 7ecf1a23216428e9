"""What doctor may ask: whether there is a screen, and what reaches it."""

import os
import shutil
from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.types import Check, Finding
from hermes_tool_computer.config import Config
from hermes_tool_computer.x11 import INSTALL

__all__ = ["checks"]


def checks(ctx: PluginContext) -> Sequence[Check]:
    """One check."""

    async def run() -> Sequence[Finding]:
        config: Config = ctx.config or Config()
        if config.display == "own":
            absent = [name for name in ("Xvfb", "xdotool", "xmodmap") if not shutil.which(name)]
            if absent:
                return [Finding(level="fault", text=f"{' and '.join(absent)} is not installed here", fix=INSTALL)]
            return [Finding(level="ok", text="a screen of its own can be opened, where its commands run")]
        from hermes_tool_computer.person import missing

        why, fix = missing(os.environ)
        if why:
            return [Finding(level="fault", text=why.rstrip("."), fix=fix)]
        return [Finding(level="ok", text="your screen is in reach; each click and key asks you")]

    return [Check(name="computer", run=run)]
