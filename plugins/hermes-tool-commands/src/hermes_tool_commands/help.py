"""Which commands there are: listed, a page at a time, or one of them explained."""

from collections.abc import Mapping, Sequence

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.kinds import Conversation
from hermes_core.slash import named
from hermes_core.types import Session, SlashCommand

__all__ = ["commands", "help"]

_PAGE = 15  # commands that are listed at once in a chat
_SHORT = 16  # characters of usage from which on a list leaves it out
_API = "Each is a request of its own; what is said to a model is never taken for one."
_OF_USERS = {  # what only an admin may say behind it left out
    "model": "[[provider:]model|default] [--provider NAME] [--session|--once]",
    "reasoning": "[none|minimal|low|medium|high|xhigh|max|show|hide]",
    "permission": "[grants|forget N]",
    "tools": "",
}
_PLACES = {"terminal": "in a terminal", "chat": "in chats", "api": "over the API"}


async def help(ctx: PluginContext, session: Session, rest: str) -> str:  # noqa: A001 - it is called so
    """List the commands, or explain one."""
    here = ctx.conversation(session)
    mine = _theirs(here)
    if rest:
        command = named(mine, rest.split(maxsplit=1)[0].lstrip("/"))
        if command is None:
            raise UserError(f"There is no command /{rest.lstrip('/')}.", hint="/help lists all.")
        return _explained(command)
    if here.place == "chat":
        return _lines([*mine.values()])
    rest = _API if here.place == "api" else "What begins with two slashes is no command."
    return f"{_listing(mine)}\n\n/help COMMAND explains one. {rest}"


async def commands(ctx: PluginContext, session: Session, rest: str) -> str:
    """List the commands, a page at a time."""
    mine = [*_theirs(ctx.conversation(session)).values()]
    pages = -(-len(mine) // _PAGE)
    page = min(max(int(rest), 1), pages) if rest.isdecimal() else 1
    shown = _lines(mine[(page - 1) * _PAGE : page * _PAGE])
    more = f" /commands {page + 1} shows the next." if page < pages else ""
    return f"{shown}\n\nPage {page} of {pages}.{more}"


def _theirs(here: Conversation) -> dict[str, SlashCommand]:
    """The commands of somebody, without the words behind them that are refused to who is no admin."""
    mine = dict(here.commands())
    if here.role == "admin":
        return mine
    return {n: evolve(one, usage=_OF_USERS.get(n, one.usage) if one.usage else "") for n, one in mine.items()}


def _listing(commands: Mapping[str, SlashCommand]) -> str:
    """Help: one command a line. A long usage is told where the command is explained."""
    heads = {c.name: f"{c.name} {c.usage if len(c.usage) < _SHORT else '…'}" for c in commands.values()}
    width = max(map(len, heads.values()), default=0) + 2
    return "\n".join(f"    /{heads[c.name]:<{width}}{c.summary}" for c in commands.values())


def _lines(some: Sequence[SlashCommand]) -> str:
    return "\n".join(f"/{f'{one.name} {one.usage}'.strip()} – {one.summary}" for one in some)


def _explained(command: SlashCommand) -> str:
    also = ", ".join(f"/{name}" for name in command.aliases)
    who = {"everyone": "everyone", "person": "admins, and for no tool"}.get(command.who, "admins")
    lines = (
        command.summary,
        also and f"also: {also}",
        f"for {who}, {', '.join(_PLACES[place] for place in command.where)}",
        "works while a turn runs" if command.at_once else "",
        "asks before it takes something away; --once after it is the yes" if command.confirm else "",
        *(f"for example: {one}" for one in command.examples),
    )
    return "\n    ".join([f"/{command.name} {command.usage}".strip(), *filter(None, lines)])
