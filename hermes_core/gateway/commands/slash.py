"""Slash commands that every conversation understands; plugins add theirs. One registry for all surfaces."""

import os
from collections.abc import Callable
from typing import Literal

from attrs import evolve

from hermes_core.agent.policy.itself import run_by_tool
from hermes_core.agent.runtime import Runtime
from hermes_core.config.schema import EFFORTS
from hermes_core.errors import UserError
from hermes_core.gateway.commands.places import chat_slash_commands
from hermes_core.gateway.conversation import Conversation
from hermes_core.gateway.people.access import listing, usable
from hermes_core.types import Session, SlashCommand

__all__ = ["AT_ONCE", "BEHIND", "QUEUED", "STEERED", "WAITS", "slash_commands"]

# Commands that need not wait for the end of a turn, as they change nothing that it works with.
AT_ONCE = frozenset({"help", "permission", "queue", "search", "sessions", "steer", "stop", "tools", "usage", "why"})
_ADMIN = frozenset({"effort", "model"})  # they hold for everybody until the program ends
QUEUED = "Queued: it has its turn when this one ends. /steer says it now, /stop ends the turn."
STEERED = "Passed on: the model sees it with the next result, or as the next message."
WAITS = "This command waits for the end of the turn; /stop ends it."
BEHIND = "This comes after the command that waits."


def slash_commands(runtime: Runtime, conversation: Callable[[str], Conversation]) -> dict[str, SlashCommand]:
    """All commands by name: the kernel's own, then those of plugins (which cannot take a name that is taken)."""
    desk = _Commands(runtime, conversation)
    own = (
        ("help", "list the commands", desk.help, ""),
        ("new", "start a new session", desk.new, ""),
        ("resume", "go on in an earlier session", desk.resume, "ID|title|latest"),
        ("sessions", "list earlier sessions", desk.sessions, "[N]"),
        ("title", "name this session", desk.title, "TEXT"),
        ("search", "search all sessions", desk.search, "WORDS"),
        ("stop", "stop the running turn", desk.stop, ""),
        ("steer", "say something to the running turn", desk.steer, "TEXT"),
        ("queue", "say something after the running turn; show what waits, or give it up", desk.queue, "[TEXT|clear]"),
        ("retry", "ask the last question again", desk.retry, ""),
        ("model", "show or change the model", desk.model, "[[provider:]model]"),
        ("effort", "show or change how hard the model thinks", desk.effort, f"[{'|'.join(EFFORTS)}]"),
        ("tools", "list the tools", desk.tools, ""),
        ("why", "what became of your last message", desk.why, "[MESSAGE]"),
        ("usage", "tokens and cost of this session", desk.usage, ""),
        ("permission", "show or change what needs your yes", desk.permission, "[ask|smart|off|grants|forget N]"),
    )
    pair = SlashCommand(name="pair", summary="let somebody in", run=desk.pair, usage="CODE", where=("chat",))
    found = {n: SlashCommand(name=n, summary=s, run=run, usage=u, who=_who(n)) for n, s, run, u in own}
    found |= {command.name: command for command in (pair, *chat_slash_commands(runtime, conversation))}
    desk.table = found
    runtime.loader.load_contributing("slash")
    for _, command in runtime.dispatch.contributions("register_slash_commands"):
        if isinstance(command, SlashCommand):
            found.setdefault(command.name, command)
    return found


def _who(name: str) -> Literal["everyone", "admin"]:
    """Who may use one of the kernel's own: what changes more than a person's own conversations is for admins."""
    return "admin" if name in _ADMIN else "everyone"


class _Commands:
    """The kernel's own commands."""

    def __init__(self, runtime: Runtime, conversation: Callable[[str], Conversation]) -> None:
        self._runtime = runtime
        self._conversation = conversation
        self.table: dict[str, SlashCommand] = {}

    async def help(self, _session: Session, _rest: str) -> str:
        return listing(usable(self.table, "admin", "terminal"))

    async def new(self, session: Session, _rest: str) -> str:
        fresh = await self._conversation(session.id).switch()
        return f"New session {fresh.id}."

    async def resume(self, session: Session, rest: str) -> str:
        store = await self._runtime.store()
        found = await store.find_session(rest or "latest", session.owner)
        await self._conversation(session.id).switch(found.id)
        rows = await store.messages(session.owner, found.id, window=3)
        recap = "\n".join(f"{m.role}: {_short(m)}" for _, m in rows if m.role in ("user", "assistant") and _short(m))
        return f"Resumed {found.id} {found.title}\n{recap}".strip()

    async def sessions(self, session: Session, rest: str) -> str:
        store = await self._runtime.store()
        rows = await store.list_sessions(session.owner, limit=int(rest) if rest.isdigit() else 10)
        return "\n".join(f"    {r.session.id}  {r.session.title or r.preview[:60]}" for r in rows) or "No session yet."

    async def title(self, session: Session, rest: str) -> str:
        if not rest:
            raise UserError("Say the title: /title TEXT")
        conversation = self._conversation(session.id)
        conversation.session = await self._runtime.sessions.rename(session, rest)
        return f"This session is now called {rest!r}."

    async def search(self, session: Session, rest: str) -> str:
        if not rest:
            raise UserError("Say what to look for: /search WORDS")
        hits = await (await self._runtime.store()).search(session.owner, rest, limit=10)
        return "\n".join(f"    {h.session_id}  {h.role}: {h.snippet}" for h in hits) or f"Nothing says {rest!r}."

    async def stop(self, session: Session, _rest: str) -> str:
        return "" if self._runtime.interrupt(session.id) else "Nothing runs."

    async def steer(self, session: Session, rest: str) -> str:
        if not rest:
            raise UserError("Say what the model should hear: /steer TEXT")
        await self._runtime.steer(session.id, rest, owner=session.owner, origin=session.origin)
        return STEERED if self._runtime.busy(session.id) else ""

    async def queue(self, session: Session, rest: str) -> str:
        store = await self._runtime.store()
        if rest == "clear":
            return f"Given up: {await store.drop_waiting(session.id)} waiting."
        if rest:
            await self._runtime.queue(session.id, rest, owner=session.owner, origin=session.origin)
            return QUEUED if self._runtime.busy(session.id) else ""
        waiting = await store.waiting(session.id)
        return "\n".join(f"    {one.mode}: {_short(one.message)}" for one in waiting) or "Nothing waits."

    async def retry(self, session: Session, _rest: str) -> str:
        conversation = self._conversation(session.id)
        if conversation.last is None:
            return "There is no question to ask again."
        conversation.again = evolve(conversation.last, event_id=os.urandom(16).hex())
        return ""

    async def model(self, session: Session, rest: str) -> str:
        if rest:
            await self._runtime.use_model(rest)
        route = await self._runtime.routed()
        if rest:
            await (await self._runtime.store()).update_session(session.id, provider=route.name, model=route.model)
        return f"{'Now answering' if rest else 'Answering'}: {route.model} from {route.name}."

    async def effort(self, _session: Session, rest: str) -> str:
        router = self._runtime.router
        if rest and rest not in EFFORTS:
            raise UserError(f"There is no effort {rest!r}: {', '.join(EFFORTS)}.")
        router.effort = rest or router.effort
        now = router.effort or self._runtime.settings.config.model.effort
        return f"Effort: {now or 'as the provider likes'}, as far as the model knows it, until the program ends."

    async def tools(self, session: Session, _rest: str) -> str:
        offered = self._runtime.toolbox().offered(session).values()
        lines = (f"    {t.name:<16}{t.description.splitlines()[0]}" for t in offered)
        return "\n".join(lines) or "No tool is offered."

    async def usage(self, session: Session, _rest: str) -> str:
        rows = await (await self._runtime.store()).list_sessions(session.owner, limit=1000)
        row = next((r for r in rows if r.session.id == session.id), None)
        if row is None:
            return "Nothing used yet."
        used = row.usage
        cached = f" ({100 * used.cache_read // used.input} % from the cache)" if used.input and used.cache_read else ""
        cost = f", ${used.cost:.4f}" if used.cost else ""
        left = await self._runtime.budgets.left(session, await self._runtime.store())
        rest = "".join(f"\nLeft of budget.{name}: {amount:,.4g}" for name, amount in left.items())
        return f"{used.calls} model calls, {used.input:,} tokens in{cached}, {used.output:,} out{cost}.{rest}"

    async def why(self, session: Session, rest: str) -> str:
        from hermes_core.gateway.commands.why import told

        found = await (await self._runtime.store()).paths(rest or "latest", session.owner)
        if not found:
            return f"No message of yours is named {rest!r}." if rest else "You have said nothing yet."
        return self._runtime.settings.masks.text(told(found[0], self._runtime.home.brand, lambda _: "somebody"))

    async def pair(self, session: Session, rest: str) -> str:
        from hermes_core.gateway.people.pairing import approve

        if not rest:
            raise UserError("Say the code that they were given: /pair CODE")
        owner, store = session.owner, await self._runtime.store()
        known = await approve(store, rest, by=owner.person, where=session.origin, profile=owner.profile)
        return f"{known.name or known.sender} on {known.platform} may talk to me now."

    async def permission(self, session: Session, rest: str) -> str:
        words, _, number = rest.partition(" ")
        if rest not in ("", "grants") and run_by_tool(self._runtime.home.brand):
            raise UserError("Only a person changes what may be done, and a tool started this conversation.")
        if words == "forget":
            return await self._forget(session, number.strip())
        if rest not in ("", "grants"):
            if self._runtime.guests.is_guest(session.owner):
                raise UserError("Only the owner of this Hermes changes what needs a yes, and in their own sessions.")
            self._runtime.policy.set_mode(session.id, rest)
        mode = self._runtime.policy.mode(session.id, session.owner)
        said = "" if rest == "grants" else f"Mode: {mode}, {_MODES[mode]} In this session, until the program ends.\n"
        grants = await (await self._runtime.store()).grants(session.owner, session_id=session.id)
        if not grants:
            return f"{said}You granted nothing beyond single calls."
        lines = (f"    {g.id}  {g.words}  ({'this session' if g.session_id else 'always'})" for g in grants)
        return "\n".join((f"{said}You granted:", *lines, "/permission forget N takes one back."))

    async def _forget(self, session: Session, number: str) -> str:
        if not number.isdecimal():
            raise UserError("Say which one: /permission forget N. /permission grants lists them.")
        if not await (await self._runtime.store()).forget_grant(session.owner, int(number)):
            raise UserError(f"There is no grant {number}. /permission grants lists them.")
        return f"Grant {number} is taken back; it will be asked about again."


_MODES = {
    "ask": "a person decides what is risky.",
    "smart": "a model looks at risky commands first; you decide what it does not.",
    "off": "nothing is asked. Hard blocks, policy.deny and what a plugin refuses still hold.",
}


def _short(message: object) -> str:
    from hermes_core.agent.turn import text_of
    from hermes_core.types import Message

    text = " ".join(text_of(message).split()) if isinstance(message, Message) else ""
    return text if len(text) <= 200 else f"{text[:200]}…"
