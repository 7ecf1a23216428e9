"""What doctor sees of the terminal, and of what would open in it."""

import locale
import os
import sys
from collections.abc import Iterator
from shutil import get_terminal_size

from hermes_core.cli.chat import fitting
from hermes_core.cli.scope import Scope
from hermes_core.errors import HermesError
from hermes_core.kinds import Platform

__all__ = ["terminal_findings"]

_LEAST = (40, 12)  # columns and rows of the full screen


def terminal_findings(scope: Scope) -> Iterator[tuple[str, str, str, str]]:
    """Level, who, text and mend of each."""
    yield _terminal()
    runtime = scope.hermes().runtime
    try:
        platform = fitting(scope, runtime, "")
        yield "ok", "interface", f"`{scope.name}` opens {platform.name}{_why_not_tui(runtime, platform)}", ""
    except HermesError as error:
        yield "fault", "interface", error.text, error.hint
    for fault in runtime.dispatch.faults:
        if fault.plugin in ("platform/tui", "platform/cli"):
            yield "asks", fault.plugin, f"{fault.phase}: {fault.error}", fault.hint or "hermes doctor --deep"


def _why_not_tui(runtime: object, platform: Platform) -> str:
    """Why the full screen is not what opens, where it is installed."""
    runtime.loader.load_contributing("platforms", ["tui"])  # type: ignore[attr-defined]
    found = {p.name: p for _, p in runtime.dispatch.contributions("register_platforms")}  # type: ignore[attr-defined]
    if platform.name == "tui" or "tui" not in found:
        return ""
    return f"; tui: {found['tui'].unfit() or 'display.interface says otherwise'}"


def _terminal() -> tuple[str, str, str, str]:
    """The terminal itself: what it calls itself, its size, its characters and colours."""
    if not sys.stdout.isatty():
        return "ok", "terminal", "none here: output goes into a pipe or a file", ""
    name, size, coding = os.environ.get("TERM", ""), get_terminal_size(), locale.getpreferredencoding(False)
    rich = os.environ.get("COLORTERM", "") in ("truecolor", "24bit")
    colours = "none" if os.environ.get("NO_COLOR") else "16 million" if rich else "256" if "256" in name else "16"
    text = f"{name or 'no TERM'}, {size.columns}x{size.lines}, {coding}, colours: {colours}"
    if name in ("", "dumb"):
        return "asks", "terminal", text, "export TERM=xterm-256color, if the terminal can do it; else lines are plain"
    if coding.upper().replace("-", "") != "UTF8":
        return "asks", "terminal", text, "export LANG=C.UTF-8: signs beyond ASCII are lost now"
    if (size.columns, size.lines) < _LEAST or size.lines < _LEAST[1]:
        return "asks", "terminal", text, f"make it {_LEAST[0]}x{_LEAST[1]} at least for the full screen"
    return "ok", "terminal", text, ""
