"""Every command of the plugin: the function that does it, what is asked before, and what may follow."""

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module

from hermes_core.context import PluginContext
from hermes_core.types import Choice, Message, Session, SlashCommand

__all__ = ["EFFORTS", "commands"]

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
# Where each is written; what people see of it stands in the manifest.
_ALL = (
    "history:new",
    "turns:stop",
    "help:help",
    "help:commands",
    "history:resume",
    "history:sessions",
    "history:title",
    "history:history",
    "history:search",
    "history:undo",
    "history:rewind",
    "history:branch",
    "history:save",
    "turns:steer",
    "turns:queue",
    "turns:retry",
    "turns:background",
    "turns:jobs",
    "state:status",
    "state:why",
    "state:usage",
    "state:insights",
    "conduct:model",
    "conduct:reasoning",
    "conduct:permission",
    "conduct:yolo",
    "conduct:busy",
    "program:tools",
    "program:toolsets",
    "program:config",
    "program:reload",
    "program:plugins",
    "program:profile",
    "state:whoami",
    "program:version",
    "program:debug",
)
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
    """All of them."""
    return [_command(ctx, where) for where in _ALL]


def _command(ctx: PluginContext, where: str) -> SlashCommand:
    name = where.partition(":")[2]
    return SlashCommand(
        name=name,
        run=partial(_do, ctx, where),
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
