"""Who may run which slash commands, and how those are listed."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from hermes_core.types import SlashCommand

__all__ = ["Place", "Role", "listing", "may_use", "named", "usable"]

Role: TypeAlias = Literal["admin", "user"]
Place: TypeAlias = Literal["terminal", "chat", "api"]
_SHORT = 16  # characters of usage from which on a list leaves it out


def may_use(command: SlashCommand, role: Role, place: Place) -> bool:
    """Whether somebody may run a slash command at some place."""
    return place in command.where and (command.who == "everyone" or role == "admin")


def usable(commands: Mapping[str, SlashCommand], role: Role, place: Place) -> dict[str, SlashCommand]:
    """The commands that somebody may run; any other is answered as one that is not there."""
    return {name: command for name, command in commands.items() if may_use(command, role, place)}


def listing(commands: Mapping[str, SlashCommand]) -> str:
    """Help: one command a line. A long usage is told where the command is explained."""
    heads = {c.name: f"{c.name} {c.usage if len(c.usage) < _SHORT else '…'}" for c in commands.values()}
    width = max(map(len, heads.values()), default=0) + 2
    return "\n".join(f"    /{heads[c.name]:<{width}}{c.summary}" for c in commands.values())


def named(commands: Mapping[str, SlashCommand], name: str) -> SlashCommand | None:
    """The command of a name, or of another name of it."""
    return commands.get(name) or next((one for one in commands.values() if name in one.aliases), None)
