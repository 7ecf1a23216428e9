"""Slash commands about chats: which there are, which is home, going on in another one, and who is let in."""

import os
from collections.abc import Sequence

from hermes_core.errors import UserError
from hermes_core.types import Principal, Session, SlashCommand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_platform_gateway.rows.kept import Rows
    from hermes_platform_gateway.rows.values import KnownChat

__all__ = ["chat_slash_commands"]

_RECAP = 1500  # characters of the last answer that are said again in the chat


def chat_slash_commands(ctx: "PluginContext") -> Sequence[SlashCommand]:
    """What each does; the manifest says where. Who answers questions is known to the chat alone."""
    chats = _Chats(ctx)
    return (
        SlashCommand(name="platforms", run=chats.platforms),
        SlashCommand(name="sethome", run=chats.sethome),
        SlashCommand(name="handoff", run=chats.handoff),
        SlashCommand(name="approve", run=chats.elsewhere),
        SlashCommand(name="deny", run=chats.elsewhere),
        SlashCommand(name="answer", run=chats.elsewhere),
        SlashCommand(name="pair", run=chats.pair),
        SlashCommand(name="slow", run=chats.slow),
        SlashCommand(name="people", run=chats.people),
        SlashCommand(name="quiet", run=chats.quiet),
        SlashCommand(name="leave", run=chats.elsewhere, confirm=_leaving),
    )


def _leaving(_rest: str) -> str:
    """What is asked before a group is left."""
    return "I would leave this group, and hear nothing of it any more; what was said in it is kept."


class _Chats:
    """The commands. What they need is imported when one runs: a terminal starts without it."""

    def __init__(self, ctx: "PluginContext") -> None:
        self._ctx = ctx

    async def platforms(self, _session: Session, _rest: str) -> str:
        """Every account that was ever served, and how it is."""
        accounts = await self._rows().accounts.list()
        lines = []
        for one in accounts:
            state = one.state if one.served else "not served"
            lines.append(f"    {one.platform} {one.account}: {state}" + (f" ({one.error})" if one.error else ""))
        return "\n".join(lines) or f"No platform was served yet. See: {self._ctx.program} gateway run"

    async def sethome(self, session: Session, rest: str) -> str:
        """Make this chat home, or another one of the same person."""
        here = self._here(session)
        if not rest and here is None:
            raise UserError("Say which chat: /sethome TARGET")
        chat = await self._one(session.owner, rest) if rest else here
        assert chat
        await self._rows().chats.set_home(chat.owner, chat)
        return f"{_called(chat)} is home on {chat.platform} from now on."

    async def handoff(self, session: Session, rest: str) -> str:
        """Let a chat of the same person talk to this session from now on; here a new one begins."""
        from hermes_core.codec import plain_text
        from hermes_platform_gateway.config import mask_of
        from hermes_platform_gateway.conversations import Conversations
        from hermes_platform_gateway.outward.outgoing import answer_to, envelope_of, said
        from hermes_platform_gateway.people.access import Access

        if not rest:
            raise UserError("Say where to: /handoff PLATFORM, or a chat's name or address.")
        chat = await self._one(session.owner, rest)
        here = self._here(session)
        if here and (here.address, here.account) == (chat.address, chat.account):
            raise UserError("This conversation is in that chat already.")
        await self._ctx.host.turns.keep(session)
        envelope = envelope_of(chat)
        there = await Conversations(self._ctx).find(envelope, Access(outcome="in", principal=chat.owner))
        if there.owner != session.owner:
            raise UserError(f"{_called(chat)} is a chat that others share, and this conversation is yours.")
        past = await self._ctx.sessions.past(session.owner, session.id)
        said_before = (plain_text(m.parts) for m in reversed(past) if m.role == "assistant")
        recap = next(filter(None, said_before), "")
        title = f"{session.id} {session.title}".rstrip()
        text = mask_of(self._ctx)(f"The conversation {title} goes on here.\n\n{_short(recap)}".strip())
        key = f"handoff:{session.id}:{os.urandom(8).hex()}"
        notice = answer_to(envelope, session.owner, said(text), key=key, session_id=session.id)
        await self._rows().routes.hand_over(there.key, session.id, notice, there.overrides)
        fresh = await self._ctx.conversation(session).switch()
        return f"{_called(chat)} goes on with {session.id}. Here a new session begins: {fresh.id}."

    async def pair(self, session: Session, rest: str) -> str:
        """Let in who was given a code."""
        from hermes_platform_gateway.people.pairing import approve

        if not rest:
            raise UserError("Say the code that they were given: /pair CODE")
        owner, envelope = session.owner, self._ctx.conversation(session).envelope
        where = f"{envelope.platform}:{envelope.sender}" if envelope else session.origin
        known = await approve(self._rows(), rest, by=owner.person, where=where, profile=owner.profile)
        return f"{known.name or known.sender} on {known.platform} may talk to me now."

    async def slow(self, session: Session, rest: str) -> str:
        """Say how often a person may write in this chat, or change it."""
        from hermes_platform_gateway.limits import limits_of
        from hermes_platform_gateway.slow import slow_down

        envelope = self._ctx.conversation(session).envelope
        if envelope is None:
            raise UserError("There is no slow mode here.")
        told = await slow_down(self._ctx, envelope, rest.strip().casefold())
        limits_of(self._ctx).slow.forget()
        return told

    async def people(self, session: Session, rest: str) -> str:
        """Who there is, what they spend, and who is not heard."""
        from hermes_platform_gateway.commands.people import people

        return await people(self._ctx, session, rest)

    async def quiet(self, session: Session, rest: str) -> str:
        """When nothing comes that one did not ask for."""
        from hermes_platform_gateway.commands.people import quiet

        return await quiet(self._ctx, session, rest)

    async def elsewhere(self, _session: Session, _rest: str) -> str:
        raise UserError("This does not work here.")

    def _rows(self) -> "Rows":
        from hermes_platform_gateway.rows.kept import rows_of

        return rows_of(self._ctx)

    def _here(self, session: Session) -> "KnownChat | None":
        """The chat that a command was written in; None in a terminal."""
        from hermes_platform_gateway.rows.values import KnownChat

        envelope = self._ctx.conversation(session).envelope
        if envelope is None:
            return None
        known = {name: getattr(envelope, name) for name in ("platform", "account", "chat", "thread", "kind", "sender")}
        return KnownChat(owner=session.owner, name=envelope.chat_name, **known)

    async def _one(self, owner: Principal, target: str) -> "KnownChat":
        """The one chat that a target means. Raises UnknownName, UserError."""
        from hermes_platform_gateway.targets import resolve

        found = resolve(target, await self._rows().chats.list_chats(owner))
        if len(found) != 1:
            raise UserError(f"{target!r} is not one chat.", hint="Name a platform, or a chat.")
        return found[0]


def _called(chat: "KnownChat") -> str:
    return f"{chat.name} ({chat.address})" if chat.name else chat.address


def _short(text: str) -> str:
    return text if len(text) <= _RECAP else f"{text[:_RECAP]}…"
