"""What doctor may ask: whether the small Python runs."""

from collections.abc import Sequence
from pathlib import Path

from hermes_core.errors import ToolError
from hermes_core.types import Check, Finding
from hermes_tool_python.choice import why_not
from hermes_tool_python.config import Config

__all__ = ["checks"]


def checks(data: Path, config: Config) -> Sequence[Check]:
    """One check."""

    async def run() -> Sequence[Finding]:
        return [await _found(data, config)]

    return [Check(name="the small Python of scripts", run=run)]


async def _found(data: Path, config: Config) -> Finding:
    if config.mode == "full":
        return Finding(level="ok", text="not used: tools.python.mode is full")
    wanted = config.mode == "fast"
    if why := why_not():
        fix = "hermes config set tools.python.mode full"
        return Finding(level="fault" if wanted else "ok", text=f"not there: {why}", fix=fix if wanted else "")
    from hermes_tool_python.fast import Fast
    from hermes_tool_python.script import Script

    python = Fast(data, config)
    try:
        await python.start()
        ended = await python.run(Script(code="6 * 7", tools={}, seconds=5.0), _none, lambda _: None)
    except ToolError as error:
        fix = "hermes config set tools.python.mode full"
        return Finding(level="fault" if wanted else "warning", text=error.text, fix=fix)
    finally:
        await python.close()
    return Finding(level="ok" if ended.value == "42" else "warning", text="runs, behind a wall of its own")


async def _none(_calls: Sequence[object]) -> list[tuple[str, bool]]:
    return []
