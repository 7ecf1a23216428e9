"""What doctor says of the terminal, what opens in it, the memory, what was installed, and code run as Python starts."""

import locale
import os
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from shutil import get_terminal_size

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UnknownName
from hermes_core.types import Check, Finding
from hermes_platform_cli.commands.contents import RUN_AT_START, installed_contents
from hermes_platform_cli.commands.interfaces import fitting, interfaces
from hermes_platform_cli.commands.requests import wanted
from hermes_platform_cli.remembers import look_at_memory

__all__ = ["checks"]

_USUAL = ("_virtualenv", "distutils-precedence", "__editable__", "a1_coverage")


def checks(ctx: PluginContext) -> list[Check]:
    """All of them; none takes time."""
    return [
        Check(name="terminal", run=_terminal, cheap=True),
        Check(name="interface", run=partial(_opens, ctx), cheap=True),
        Check(name="memory", run=partial(look_at_memory, ctx), cheap=True),
        Check(name="environment", run=_environment, cheap=True),
        Check(name="installed", run=partial(_changed, ctx), cheap=True),
    ]


async def _terminal() -> Sequence[Finding]:
    """The terminal itself: what it calls itself, its size, its characters and colours."""
    if not sys.stdout.isatty():
        return [Finding(level="ok", text="none here: output goes into a pipe or a file")]
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
    return [Finding(level="warning" if mend else "ok", text=text, fix=mend)]


async def _opens(ctx: PluginContext) -> Sequence[Finding]:
    """The platform that a conversation opens on, and why it is not the full screen."""
    try:
        opens = fitting(ctx).name
        tui = next((one for one in interfaces(ctx)[0] if one.name == "tui"), None)
    except HermesError as error:
        # A product may be made for something else than talking on a terminal.
        named = ctx.host.section("display").interface != "auto"
        fault = named or not isinstance(error, UnknownName)
        return [Finding(level="fault" if fault else "warning", text=error.text, fix=error.hint)]
    why = "" if opens == "tui" or tui is None else tui.unfit() or "display.interface says so"
    return [Finding(level="ok", text=f"`{ctx.program}` opens {opens}" + (f" and not tui: {why}" if why else ""))]


async def _environment() -> Sequence[Finding]:
    """A ``.pth`` file that imports runs code at every start of Python: a favorite of malicious packages."""
    return [
        Finding(level="warning", text=f"{file} {does} at every start of Python", fix="look into it")
        for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        for file, does in _at_start(Path(folder))
    ]


async def _changed(ctx: PluginContext) -> Sequence[Finding]:
    """Whether files of what was installed by `plugins install` are other ones than they were then."""
    pinned = [one for one in wanted(ctx.plugins) if one.digest]
    there = [(one, installed_contents(one.distribution)) for one in pinned]
    return [
        Finding(
            level="fault",
            text=f"the files of {one.distribution} changed since it was installed",
            fix=f"hermes plugins remove {one.distribution}, then install it again",
        )
        for one, now in there
        if now and now.version == one.version and now.digest != one.digest
    ]


def _at_start(folder: Path) -> Iterator[tuple[Path, str]]:
    for file in sorted(folder.glob("*.pth")):
        text = file.read_text(encoding="utf-8", errors="replace")
        code = any(line.startswith(("import ", "import\t")) for line in text.splitlines())
        if code and not file.name.startswith(_USUAL):
            yield file, "runs code"
    yield from ((file, "is run") for name in RUN_AT_START if (file := folder / name).exists())
