"""``/people``: what an admin does about people from a chat. ``/quiet``: when one wants to be left in peace."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Envelope, Session
from hermes_platform_gateway.people.invites import invite, links
from hermes_platform_gateway.people.moderation import let_back, open_doors, restrict, seconds_of
from hermes_platform_gateway.people.register import Entry, Register, spending
from hermes_platform_gateway.people.spoken import in_a_line, kept_in_words
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import QuietHours
from hermes_tool_kit.hours import parse_hours, zone_of

__all__ = ["people", "quiet"]

_USAGE = "/people [NAME], /people block|unblock|unmute NAME, /people mute NAME 1h, /people invite NAME [1d]"


async def people(ctx: PluginContext, session: Session, rest: str) -> str:
    """List people, show one, keep one from being heard, let one in by name."""
    conversation = ctx.conversation(session)
    conversation.need_person(admin=True)
    envelope, words = conversation.envelope, rest.split()
    known = await Register.of(ctx)
    verb = words[0].casefold() if words else ""
    if verb in ("block", "unblock", "mute", "unmute"):
        return await _moderated(ctx, known, verb, words[1:], envelope)
    if envelope and envelope.kind != "dm":
        raise UserError("What this says is not for everybody here. Ask me in our private chat.")
    if verb == "invite":
        return await _invited(ctx, known, words[1:], _actor(ctx, known, envelope))
    if len(words) > 1:
        raise UserError(f"I do not know what {rest!r} means.", hint=_USAGE)
    if words:
        return await _shown(ctx, known.find(words[0]))
    lines = [in_a_line(entry, await spending(ctx, entry.person)) for entry in known.entries]
    return "\n".join(lines)


async def _shown(ctx: PluginContext, entry: Entry) -> str:
    lines = [in_a_line(entry, await spending(ctx, entry.person))]
    if entry.accounts:
        lines.append(f"accounts: {', '.join(entry.accounts)}")
    doors = dict.fromkeys((*entry.let_in, *open_doors(ctx, entry)))
    lines.append(f"let in by: {', '.join(doors) or 'nothing'}")
    return "\n".join(lines)


async def _moderated(
    ctx: PluginContext, known: Register, verb: str, words: Sequence[str], envelope: Envelope | None
) -> str:
    """Keep somebody from being heard, or let them back in; in an answer to a message of theirs, they are meant."""
    span = words[-1] if verb == "mute" and words else ""
    named = words[:-1] if verb == "mute" else words
    entry = _meant(known, " ".join(named), envelope)
    if verb in ("unblock", "unmute"):
        was = await let_back(ctx, entry, kind="mute" if verb == "unmute" else "")
        return f"{entry.person} is heard again." if was else f"{entry.person} was heard all the time."
    if verb == "mute" and not span:
        raise UserError("Say for how long: /people mute NAME 1h")
    actor = _actor(ctx, known, envelope)
    kept = await restrict(ctx, entry, by=actor, actor=actor, seconds=seconds_of(span) if verb == "mute" else 0.0)
    return f"{entry.person}: {kept_in_words(kept)}."


def _meant(known: Register, name: str, envelope: Envelope | None) -> Entry:
    if name:
        return known.find(name)
    if envelope is None or not envelope.quote_by:
        raise UserError("Say who, or answer a message of theirs.", hint=_USAGE)
    if envelope.quote_by == envelope.account:
        raise UserError("That message is mine.")
    account = f"{envelope.platform}:{envelope.quote_by}"
    try:
        return known.find(account)
    except UnknownName:  # somebody in the group who never spoke to the bot
        return Entry(person=account, accounts=(account,))


def _actor(ctx: PluginContext, known: Register, envelope: Envelope | None) -> str:
    """Who asks, as the person they are; in a conversation that a group shares that is not whose it is."""
    if envelope is None:
        return ctx.owner.person
    account = f"{envelope.platform}:{envelope.sender}"
    try:
        return known.find(account).person
    except UnknownName:
        return account


async def _invited(ctx: PluginContext, known: Register, words: Sequence[str], actor: str) -> str:
    """Invite somebody new. Who is somebody already is invited at the terminal alone: it shows what is theirs."""
    if not 1 <= len(words) <= 2:
        raise UserError("Say whom you invite, and for how long: /people invite NAME 1d")
    name = words[0]
    if known.has(name):
        raise UserError(
            f"{name} is somebody here already, and what is theirs is not for whoever has a link.",
            hint=f"The owner can do it at the terminal: {ctx.program} people invite {name}",
        )
    seconds, rows = seconds_of(words[1] if len(words) > 1 else "1d"), rows_of(ctx)
    word, _ = await invite(rows, name, seconds=seconds, by=f"invited by {actor}", fresh=True)
    there = "\n".join(links(word, await rows_of(ctx).accounts.list()))
    return f"{there}\n`{word}`\nGood once: who sends me the word in private is {name} from then on.".strip()


async def quiet(ctx: PluginContext, session: Session, rest: str) -> str:
    """Say when nothing comes that one did not ask for: in all of one's chats, or ``here``."""
    conversation = ctx.conversation(session)
    envelope, owner, words = conversation.envelope, session.owner, rest.split()
    place = {"platform": "", "chat": ""}
    if words[:1] == ["here"]:
        if envelope is None:
            raise UserError("There is no chat here.")
        place, words = {"platform": envelope.platform, "chat": envelope.chat}, words[1:]
    if "#" in owner.person and words and conversation.role != "admin":
        raise UserError("Only an admin says when a conversation that all share is left in peace.")
    quiet_rows = rows_of(ctx).quiet
    if words == ["off"]:
        await quiet_rows.drop(owner, **place)
    elif words:
        zone = words.pop() if len(words) > 1 and words[-1][:1].isalpha() else ""
        zone_of(zone)
        begins, ends = parse_hours(" ".join(words))
        known = {"profile": owner.profile, "person": owner.person, **place}
        await quiet_rows.set(QuietHours(begins=begins, ends=ends, zone=zone, **known))
    there = await quiet_rows.of(owner)
    lines = [
        f"{one.begins}-{one.ends} {one.zone or 'on the clock of this machine'}"
        f"{f', in {one.platform}:{one.chat}' if one.platform else ''}"
        for one in there
    ]
    told = "Then nothing comes that you did not ask for; it waits until they are over."
    return (
        "\n".join([*lines, told]) if lines else "There are no quiet hours. Set them: /quiet 22:00-07:00 Europe/Berlin"
    )
