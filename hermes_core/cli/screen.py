"""What doctor sees of the terminal, and of what would open in it."""

import locale
import os
import sys
from collections.abc import Iterator
from shutil import get_terminal_size

from hermes_core.cli.chat import fitting
from hermes_core.cli.scope import Scope
from hermes_core.errors import HermesError, UnknownName

__all__ = ["terminal_findings"]


def terminal_findings(scope: Scope) -> Iterator[tuple[str, str, str, str]]:
    """Level, who, text and mend of each."""
    yield _terminal()
    runtime = scope.hermes().runtime
    try:
        opens = fitting(scope, runtime, "").name
    except HermesError as error:
        # A product may be made for something else than talking on a terminal.
        named = scope.settings.config.display.interface != "auto"
        yield "fault" if named or not isinstance(error, UnknownName) else "warning", "interface", error.text, error.hint
        return
    there = {p.name: p for _, p in runtime.dispatch.contributions("register_platforms")}
    why = "" if opens == "tui" or "tui" not in there else there["tui"].unfit() or "display.interface says so"
    yield "ok", "interface", f"`{scope.name}` opens {opens}" + (f" and not tui: {why}" if why else ""), ""


def _terminal() -> tuple[str, str, str, str]:
    """The terminal itself: what it calls itself, its size, its characters and colours."""
    if not sys.stdout.isatty():
        return "ok", "terminal", "none here: output goes into a pipe or a file", ""
    name, size, coding = os.environ.get("TERM", ""), get_terminal_size(), locale.getpreferredencoding(False)
    rich = os.environ.get("COLORTERM", "") in ("truecolor", "24bit")
    colours = "no" if os.environ.get("NO_COLOR") else "16 million" if rich else "256" if "256" in name else "16"
    text, mend = f"{name or 'no TERM'}, {size.columns}x{size.lines}, {coding}, {colours} colours", ""
    if name in ("", "dumb"):
        mend = "export TERM=xterm-256color, if it can do that; else answers come line by line"
    elif coding.upper().replace("-", "") != "UTF8":
        mend = "export LANG=C.UTF-8: signs beyond ASCII are lost now"
    elif size.columns < 40 or size.lines < 12:
        mend = "make it 40x12 at least for the full screen"
    return "asks" if mend else "ok", "terminal", text, mend
