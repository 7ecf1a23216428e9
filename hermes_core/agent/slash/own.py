"""The slash commands without which a person is lost. All others are plugins'."""

from collections.abc import Callable, Iterator, Sequence

from hermes_core.errors import UserError
from hermes_core.plugins.at_hand import at_hand
from hermes_core.slash import Place, listing, named, usable
from hermes_core.types import Choice, Session, SlashCommand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.slash.registry import Registry

__all__ = ["own_commands"]

_PAGE = 15  # commands that are listed at once in a chat
_PLACES = {"terminal": "in a terminal", "chat": "in chats", "api": "over the API"}
_CHAT: Sequence[Place] = ("chat",)
_EVERYWHERE: Sequence[Place] = ("terminal", "chat", "api")


# name and other names, what may follow, what it does, and where; those of a * are at once
_OWN: Sequence[tuple[str, str, str, str, Sequence[Place]]] = (
    ("help start", "[COMMAND]", "list the commands, or explain one", "*", _EVERYWHERE),
    ("commands", "[PAGE]", "list the commands, a page at a time", "*", _CHAT),
    ("new reset", "", "start a new session; this one stays", "", _EVERYWHERE),
    ("stop", "", "stop the running turn", "*", _EVERYWHERE),
    ("quit exit", "[--delete]", "leave; with --delete this session is deleted", "", ("terminal",)),
)


def own_commands(registry: "Registry") -> Iterator[SlashCommand]:
    """They list commands, begin anew, stop, and leave."""
    own = _Own(registry)
    for names, usage, summary, mark, where in _OWN:
        name, *aliases = names.split()
        yield SlashCommand(
            name=name,
            aliases=tuple(aliases),
            usage=usage,
            summary=summary,
            run=getattr(own, name, own.elsewhere),
            at_once=mark == "*",
            who="everyone",
            where=where,
            confirm=_deleting if name == "quit" else None,
            options={"help": own.names, "quit": own.leaving}.get(name),
        )


def _deleting(rest: str) -> str:
    return "This session would be deleted, with all that was said in it." if rest == "--delete" else ""


class _Own:
    """What they do."""

    def __init__(self, registry: "Registry") -> None:
        self._registry = registry

    def _mine(self, session: Session) -> dict[str, SlashCommand]:
        return usable(self._registry.table, at_hand(session).role, self._registry.place)

    async def help(self, session: Session, rest: str) -> str:
        mine = self._mine(session)
        if rest:
            command = named(mine, rest.split(maxsplit=1)[0].lstrip("/"))
            if command is None:
                raise UserError(f"There is no command /{rest.lstrip('/')}.", hint="/help lists all.")
            return _explained(command)
        if self._registry.place == "chat":
            return _lines([*mine.values()])
        return f"{listing(mine)}\n\n/help COMMAND explains one. What begins with two slashes is no command."

    async def names(self, _session: Session, rest: str) -> Sequence[Choice]:
        found = [Choice(one.name, one.summary, len(rest)) for one in self._registry.table.values()]
        wanted = rest.casefold()
        fits: Callable[[Choice], bool] = lambda one: one.text.startswith(wanted)  # noqa: E731
        return [*filter(fits, found), *(one for one in found if wanted in one.text and not fits(one))]

    async def commands(self, session: Session, rest: str) -> str:
        mine = [*self._mine(session).values()]
        pages = -(-len(mine) // _PAGE)
        page = min(max(int(rest), 1), pages) if rest.isdecimal() else 1
        shown = _lines(mine[(page - 1) * _PAGE : page * _PAGE])
        more = f" /commands {page + 1} shows the next." if page < pages else ""
        return f"{shown}\n\nPage {page} of {pages}.{more}"

    async def new(self, session: Session, _rest: str) -> str:
        return f"New session {(await at_hand(session).switch()).id}."

    async def stop(self, session: Session, _rest: str) -> str:
        here = at_hand(session)
        if not await here.interrupt():
            return "Nothing runs."
        return "Stopped." if here.place == "chat" else ""  # in a terminal the turn itself says so

    async def leaving(self, _session: Session, rest: str) -> Sequence[Choice]:
        return [Choice("--delete", "", len(rest))] if rest in "--delete" else ()

    async def elsewhere(self, _session: Session, _rest: str) -> str:
        raise UserError("This does not work here.")


def _lines(some: Sequence[SlashCommand]) -> str:
    return "\n".join(f"/{f'{one.name} {one.usage}'.strip()} – {one.summary}" for one in some)


def _explained(command: SlashCommand) -> str:
    also = ", ".join(f"/{name}" for name in command.aliases)
    who = "everyone" if command.who == "everyone" else "admins"
    lines = (
        command.summary,
        also and f"also: {also}",
        f"for {who}, {', '.join(_PLACES[place] for place in command.where)}",
        "works while a turn runs" if command.at_once else "",
        "asks before it takes something away; --once after it is the yes" if command.confirm else "",
    )
    return "\n    ".join([f"/{command.name} {command.usage}".strip(), *filter(None, lines)])
