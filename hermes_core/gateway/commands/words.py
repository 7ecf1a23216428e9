"""Slash commands that tell something: what there is, how things are, what was spent."""

from collections.abc import Sequence

from hermes_core.agent.usage import add
from hermes_core.errors import UserError
from hermes_core.gateway.commands.deck import Room, named
from hermes_core.gateway.people.access import listing, usable
from hermes_core.types import Session, SlashCommand, Usage

__all__ = ["Words"]

_PAGE = 15  # commands that are listed at once in a chat
_PLACES = {"terminal": "in a terminal", "chat": "in chats", "api": "over the API"}


class Words(Room):
    """What people ask about."""

    async def help(self, _session: Session, rest: str) -> str:
        mine = usable(self._deck.table, self._deck.role(), self._deck.place)
        if rest:
            command = named(mine, rest.split(maxsplit=1)[0].lstrip("/"))
            if command is None:
                raise UserError(f"There is no command /{rest.lstrip('/')}.", hint="/help lists all.")
            return _explained(command)
        if self._deck.place == "chat":
            return _lines([*mine.values()])
        return f"{listing(mine)}\n\n/help COMMAND explains one. What begins with two slashes is no command."

    async def commands(self, _session: Session, rest: str) -> str:
        mine = [*usable(self._deck.table, self._deck.role(), self._deck.place).values()]
        pages = -(-len(mine) // _PAGE)
        page = min(max(int(rest), 1), pages) if rest.isdecimal() else 1
        shown = _lines(mine[(page - 1) * _PAGE : page * _PAGE])
        return f"{shown}\n\nPage {page} of {pages}." + (
            f" /commands {page + 1} shows the next." if page < pages else ""
        )

    async def status(self, session: Session, _rest: str) -> str:
        effort = self._runtime.router.effort or self._runtime.settings.config.model.effort
        lines = await self.state(session, await self._runtime.routed(), self._runtime.busy(session.id))
        return "\n".join([*lines, f"Effort: {effort or 'as the provider likes'}", f"Folder: {session.cwd}"])

    async def state(self, session: Session, route: object, busy: bool) -> Sequence[str]:
        waiting = await (await self._runtime.store()).waiting(session.id)
        return (
            f"Conversation: {session.id} {session.title}".rstrip(),
            f"Model: {getattr(route, 'model', '')} from {getattr(route, 'name', '')}",
            f"Mode: {self._runtime.policy.mode(session.id, session.owner)}",
            f"Now: {'working' if busy else 'idle'}, {len(waiting)} waiting",
        )

    async def whoami(self, session: Session, _rest: str) -> str:
        mode = self._runtime.policy.mode(session.id, session.owner)
        return f"You are {session.owner.person} of profile {session.owner.profile}. Permission mode: {mode}."

    async def why(self, session: Session, rest: str) -> str:
        from hermes_core.gateway.commands.why import told

        runtime = self._runtime
        found = await (await runtime.store()).paths(rest or "latest", session.owner)
        if not found:
            return f"No message of yours is named {rest!r}." if rest else "You have said nothing yet."
        return runtime.settings.masks.text(told(found[0], runtime.home.brand, lambda _: "somebody"))

    async def usage(self, session: Session, _rest: str) -> str:
        store = await self._runtime.store()
        rows = await store.list_sessions(session.owner, limit=1000)
        row = next((r for r in rows if r.session.id == session.id), None)
        if row is None:
            return "Nothing used yet."
        used = row.usage
        cached = f" ({100 * used.cache_read // used.input} % from the cache)" if used.input and used.cache_read else ""
        cost = f", ${used.cost:.4f}" if used.cost else ""
        left = await self._runtime.budgets.left(session, store)
        rest = "".join(f"\nLeft of budget.{name}: {amount:,.4g}" for name, amount in left.items())
        return f"{used.calls} model calls, {used.input:,} tokens in{cached}, {used.output:,} out{cost}.{rest}"

    async def insights(self, session: Session, rest: str) -> str:
        days = int(rest) if rest.isdecimal() and 0 < int(rest) < 4000 else 30
        used: dict[str, Usage] = {}
        for row in await (await self._runtime.store()).usage(session.owner, days=days):
            name = f"{row.model} from {row.provider}"
            used[name] = add(used.get(name, Usage()), row.usage)
        most = sorted(used.items(), key=lambda item: -item[1].cost)
        lines = [f"    {name}: {u.calls:,} calls, {u.input:,} in, {u.output:,} out, ${u.cost:.4f}" for name, u in most]
        return "\n".join([f"In the last {days} days:", *lines]) if lines else f"Nothing was used in {days} days."


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
