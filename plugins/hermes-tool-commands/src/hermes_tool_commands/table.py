"""Every command of the plugin: its names, what may follow, what it does, and the function that does it."""

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Literal, TypeAlias

from hermes_core.context import PluginContext
from hermes_core.types import Choice, Message, Session, SlashCommand

__all__ = ["EFFORTS", "commands"]

_Place: TypeAlias = Literal["terminal", "chat", "api"]

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_LEVELS = f"[{'|'.join(EFFORTS)}|show|hide] [--global]"
_MODEL = "[[provider:]model|default] [--provider NAME] [--global|--session|--once]"
# name and other names, what may follow, what it does, and where that is written
_ALL = (
    ("new reset", "", "start a new session; this one stays", "history:new"),
    ("stop", "", "stop the running turn", "turns:stop"),
    ("help start", "[COMMAND]", "list the commands, or explain one", "help:help"),
    ("commands", "[PAGE]", "list the commands, a page at a time", "help:commands"),
    ("resume", "ID|title|latest", "go on in an earlier session", "history:resume"),
    ("sessions", "[N]", "list earlier sessions", "history:sessions"),
    ("title", "TEXT", "name this session", "history:title"),
    ("history", "[N]", "show the last messages of this session", "history:history"),
    ("search", "WORDS", "search all sessions", "history:search"),
    ("undo", "[N]", "take back the last exchange, or N of them", "history:undo"),
    ("rewind", "[N]", "list your last messages; go on before one of them, in a copy", "history:rewind"),
    ("branch fork", "[TITLE]", "go on in a copy of this session", "history:branch"),
    ("save", "[FILE.md|FILE.json]", "write this session into a file", "history:save"),
    ("steer", "TEXT", "say something to the running turn", "turns:steer"),
    ("queue q", "[TEXT|clear]", "say something after the running turn; show what waits, or give it up", "turns:queue"),
    ("retry", "", "ask the last question again", "turns:retry"),
    ("background bg btw", "TEXT", "have something done beside this conversation", "turns:background"),
    ("jobs", "[stop ID]", "what runs or is open beside this conversation; stop it", "turns:jobs"),
    ("status", "", "this conversation, and how Hermes is", "state:status"),
    ("why", "[MESSAGE]", "what became of your last message", "state:why"),
    ("usage cost", "", "tokens and cost of this session", "state:usage"),
    ("insights", "[DAYS]", "tokens and cost of the last days, by model", "state:insights"),
    ("model", _MODEL, "show or change the model", "conduct:model"),
    ("reasoning effort", _LEVELS, "show or change how hard the model thinks, or is seen to", "conduct:reasoning"),
    ("permission", "[ask|smart|off|grants|forget N]", "show or change what needs your yes", "conduct:permission"),
    ("yolo", "", "ask nothing any more in this session, or ask again", "conduct:yolo"),
    ("busy", "[queue|steer|interrupt]", "what becomes of what you say during a turn", "conduct:busy"),
    ("tools", "[enable|disable NAME…]", "list the tools; switch some on or off on this platform", "program:tools"),
    ("toolsets", "", "list the groups of tools", "program:toolsets"),
    ("config", "[KEY [VALUE]]", "show or change settings", "program:config"),
    ("reload", "", "read the settings again, and say what needs a new start", "program:reload"),
    ("plugins", "", "list the plugins, and how each is", "program:plugins"),
    ("profile", "", "which profile this is, and where it lives", "program:profile"),
    ("whoami", "", "who you are here, and what you may do", "state:whoami"),
    ("version v", "", "which Hermes this is", "program:version"),
    ("debug", "", "versions, paths and who answers, to be passed on; no secrets", "program:debug"),
)  # fmt: skip
# Those that need not wait for the end of a turn, as they change nothing that it works with.
_AT_ONCE = {
    "background", "busy", "commands", "debug", "help", "history", "insights", "jobs", "permission", "plugins",
    "profile", "queue", "search", "sessions", "status", "steer", "stop", "tools", "toolsets", "usage", "version",
    "whoami", "why",
}  # fmt: skip
_ADMIN = {"config", "debug", "plugins", "profile", "reload"}
_HERE: Sequence[_Place] = ("terminal",)
_TALKS: Sequence[_Place] = ("terminal", "chat")  # a program that has a key says what others wrote, and queues by itself
_PLACES: dict[str, Sequence[_Place]] = {
    "save": _HERE, "busy": _HERE, "commands": ("chat",), "permission": _TALKS, "yolo": _TALKS, "queue": _TALKS,
}  # fmt: skip
_OPTIONS = {"busy", "config", "help", "model", "permission", "queue", "reasoning", "resume", "tools"}
_CONFIRM: dict[str, Callable[[str], str]] = {
    # What cannot simply be had back.
    "undo": lambda rest: (
        f"The last {'exchange' if rest in ('', '1') else f'{rest} exchanges'} of this session would be"
        " taken back: the model is not told of it any more."
    ),
    "queue": lambda rest: "What waits for its turn would be given up." if rest == "clear" else "",
}


def commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """All of them, in the order in which help lists them."""
    return [_command(ctx, *row) for row in _ALL]


def _command(ctx: PluginContext, names: str, usage: str, summary: str, where: str) -> SlashCommand:
    name, *aliases = names.split()
    return SlashCommand(
        name=name,
        aliases=tuple(aliases),
        usage=usage,
        summary=summary,
        run=partial(_do, ctx, where),
        at_once=name in _AT_ONCE,
        who="admin" if name in _ADMIN else "everyone",
        where=_PLACES.get(name, ("terminal", "chat", "api")),
        confirm=_CONFIRM.get(name),
        options=partial(_options, ctx, name) if name in _OPTIONS else None,
    )


async def _do(ctx: PluginContext, where: str, session: Session, rest: str) -> str | Message:
    """What a command does, imported when it does it."""
    module, _, name = where.partition(":")
    answer: str | Message = await getattr(import_module(f"hermes_tool_commands.{module}"), name)(ctx, session, rest)
    return answer


async def _options(ctx: PluginContext, name: str, session: Session, rest: str) -> Sequence[Choice]:
    from hermes_tool_commands.options import options_of

    return await options_of(ctx, name, session, rest)
