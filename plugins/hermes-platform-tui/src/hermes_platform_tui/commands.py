"""Slash commands of the screen itself. They are in the one registry, so that /help and completion know them.

They run in the kernel's time; what they do to the screen is done in its own, by ``call_later``.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hermes_core.errors import UserError
from hermes_core.types import Blob, Choice, Session, SlashCommand
from hermes_platform_tui.config import Fold

if TYPE_CHECKING:
    from hermes_platform_tui.app import HermesApp
    from hermes_platform_tui.look.statusbar import Detail
    from hermes_platform_tui.transcript.entries import Section

__all__ = ["own_commands"]

Run = Callable[["HermesApp", str], Awaitable[str]]
_FOLDS: Sequence[Fold] = ("hidden", "collapsed", "expanded")
_SECTIONS: "Sequence[Section]" = ("reasoning", "tools")
_BARS: "Sequence[Detail]" = ("auto", "full", "compact", "minimal", "off")


def own_commands(app: "Callable[[], HermesApp | None]") -> Sequence[SlashCommand]:
    """The commands, of whatever screen is open when one is run."""

    def command(
        name: str, summary: str, run: Run, *, usage: str = "", aliases: Sequence[str] = (), words: Sequence[str] = ()
    ) -> SlashCommand:
        async def carry_out(_session: Session, rest: str) -> str:
            screen = app()
            if screen is None:
                raise UserError("The screen is not open.")
            return await run(screen, rest.strip())

        async def options(_session: Session, rest: str) -> Sequence[Choice]:
            return [Choice(word) for word in words if word.startswith(rest)]

        return SlashCommand(
            name=name, summary=summary, run=carry_out, usage=usage, at_once=True, who="everyone", where=("terminal",),
            aliases=aliases, options=options if words else None,
        )  # fmt: skip

    return (
        command("clear", "clear the screen; nothing is forgotten", _clear),
        command("redraw", "draw the screen anew", _redraw),
        command("skin", "choose the colours", _skin, usage="[NAME]", aliases=("theme",)),
        command("statusbar", "what the status bar shows", _statusbar, usage=f"[{'|'.join(_BARS)}]", aliases=("sb",),
                words=_BARS),
        command("timestamps", "show when each message was said", _timestamps, usage="[on|off]", aliases=("ts",),
                words=("on", "off")),
        command("details", "how thoughts and tool calls are shown", _details,
                usage=f"[reasoning|tools] [{'|'.join(_FOLDS)}]", aliases=("verbose",), words=("reasoning", "tools")),
        command("copy", "copy the last answer, or a code block of it", _copy, usage="[code]", words=("code",)),
        command("image", "attach a picture", _image, usage="PATH"),
        command("paste", "attach the picture that is in the clipboard", _paste),
        command("settings", "see and change settings", _settings),
        command("setup", "set something up: a chat service, a provider", _setup, usage="[NAME]"),
        command("work", "child agents and processes beside this conversation", _work),
        command("screens", "screens that plugins bring: a board, a calendar", _screens),
        command("tab", "open another conversation beside this one", _tab, usage="[close]", words=("close",)),
        command("mouse", "take the mouse, or leave it to the terminal", _mouse, usage="[on|off]", words=("on", "off")),
    )  # fmt: skip


async def _clear(app: "HermesApp", _rest: str) -> str:
    app.call_later(app.view.transcript.clear)
    return ""


async def _redraw(app: "HermesApp", _rest: str) -> str:
    app.call_later(app.action_redraw)
    return ""


async def _skin(app: "HermesApp", rest: str) -> str:
    if not rest:
        app.call_later(partial(app.overlays.open, "skins"))
        return ""
    app.wardrobe.check(rest)
    app.call_later(partial(app.wardrobe.wear, rest))
    return ""


async def _statusbar(app: "HermesApp", rest: str) -> str:
    form = next((bar for bar in _BARS if bar == rest), None)
    if rest and form is None:
        raise UserError(f"The status bar knows: {', '.join(_BARS)}.")
    app.call_later(lambda: app.show_statusbar(form or ("off" if app.statusbar_shown else "auto")))
    return ""


async def _timestamps(app: "HermesApp", rest: str) -> str:
    transcript = app.view.transcript
    transcript.timestamps = rest == "on" if rest in ("on", "off") else not transcript.timestamps
    return ""


async def _details(app: "HermesApp", rest: str) -> str:
    words = rest.split()
    state: Fold | Literal[""] = next((fold for fold in _FOLDS if fold in words), "")
    sections: Sequence[Section] = [one for one in _SECTIONS if one in words] or _SECTIONS
    if set(words) - {state, *sections}:
        raise UserError(f"Write /details [reasoning|tools] [{'|'.join(_FOLDS)}].")
    for section in sections:
        app.call_later(partial(app.view.transcript.fold, section, state))
    return ""


async def _copy(app: "HermesApp", rest: str) -> str:
    copying = app.view.transcript.copying
    app.call_later(copying.code if rest == "code" else copying.message)
    return ""


async def _image(app: "HermesApp", rest: str) -> str:
    if not rest:
        raise UserError("Say which one: /image PATH")
    picture = await asyncio.to_thread(read_picture, rest)
    app.call_later(lambda: app.view.composer.attach(picture))
    return ""


def read_picture(path: str) -> Blob:
    """A picture by its path. Raises UserError."""
    from hermes_platform_tui.composer.pictures import Refused, picture

    file = Path(path).expanduser()
    try:
        return picture(file.read_bytes(), file.name)
    except (OSError, Refused) as error:
        raise UserError(f"{path} cannot be attached: {getattr(error, 'strerror', '') or error}.") from None


async def _paste(app: "HermesApp", _rest: str) -> str:
    app.call_later(app.view.paste_picture)
    return ""


async def _settings(app: "HermesApp", _rest: str) -> str:
    app.call_later(partial(app.overlays.open, "settings"))
    return ""


async def _setup(app: "HermesApp", rest: str) -> str:
    app.call_later(partial(app.overlays.open, "setup", rest))
    return ""


async def _work(app: "HermesApp", _rest: str) -> str:
    app.call_later(partial(app.overlays.open, "work"))
    return ""


async def _screens(app: "HermesApp", _rest: str) -> str:
    app.call_later(partial(app.overlays.open, "screens"))
    return ""


async def _tab(app: "HermesApp", rest: str) -> str:
    app.call_later(app.action_close_tab if rest == "close" else app.action_new_tab)
    return ""


async def _mouse(app: "HermesApp", rest: str) -> str:
    on = rest == "on" if rest in ("on", "off") else not app.terminal.mouse_taken
    app.call_later(lambda: app.terminal.take_mouse(on=on))
    return ""
