"""``/learned``: what was learned, why, and how it is taken back, in a conversation."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Choice, Session, SlashCommand

__all__ = ["slash_commands"]

_VERBS = ("why", "diff", "approve", "reject", "add", "revert", "freeze", "thaw", "review", "report", "good", "bad")
_LISTED = 20


def slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """The command; the manifest says where, and for whom."""

    async def learned(session: Session, rest: str) -> str:
        return await _do(ctx, session, rest.strip())

    async def options(session: Session, rest: str) -> Sequence[Choice]:
        return [] if " " in rest.strip() else [Choice(text=one) for one in _VERBS]

    return [SlashCommand(name="learned", run=learned, options=options)]


async def _do(ctx: PluginContext, session: Session, rest: str) -> str:
    from hermes_tool_lessons.reporting import difference, listed, report, why
    from hermes_tool_lessons.shared import is_used, rows_of

    verb, _, words = rest.partition(" ")
    words, owner = words.strip(), session.owner
    if verb in ("", "list"):
        return await _listed(ctx, session)
    if verb in ("approve", "reject", "add", "revert", "freeze", "thaw", "review", "good", "bad"):
        _admit(ctx, session)
        return await _change(ctx, session, verb, words)
    if verb == "report":
        return await report(ctx, owner, 7) if is_used(ctx) else await _listed(ctx, session)
    if verb in ("why", "diff") and words:
        lesson = await rows_of(ctx).find(owner, words.split()[0])
        if verb == "diff":
            return ctx.masks.text(difference(await rows_of(ctx).versions(lesson.id))) or "It never was anything else."
        return await why(ctx, lesson)
    if verb in ("why", "diff"):
        return f"Say of which: /learned {verb} ID. {listed([])}".strip()
    return f"/learned {' | '.join(_VERBS)}"


def _admit(ctx: PluginContext, session: Session) -> None:
    """Let in who may change what this conversation is told. Raises UserError: where several speak, an admin may."""
    conversation = ctx.conversation(session)
    speaker = conversation.envelope.speaker if conversation.envelope else None
    shared = "#" in session.owner.person or (speaker is not None and speaker.person != session.owner.person)
    conversation.need_person(admin=shared)


async def _change(ctx: PluginContext, session: Session, verb: str, words: str) -> str:
    from hermes_tool_lessons import doing
    from hermes_tool_lessons.reporting import listed
    from hermes_tool_lessons.shared import reviewer_of, rows_of

    rows, owner = rows_of(ctx), session.owner
    if verb == "review":
        await doing.review(ctx, owner, session)
        reviewer_of(ctx).wake(session.id)
        return "This conversation is looked back on once it rests; /learned shows what it taught."
    if verb in ("good", "bad"):
        return await doing.thumb(ctx, owner, session.id, good=verb == "good", said=words)
    if verb in ("freeze", "thaw") and not words:
        await rows.freeze(owner, on=verb == "freeze")
        return (
            "Frozen: nothing changes by itself." if verb == "freeze" else "Lessons change again by what comes of them."
        )
    if not words:
        return f"/learned {verb} {'when WORDS: TEXT' if verb == 'add' else 'ID'}"
    if verb == "add":
        return listed([await doing.written(ctx, owner, words)])
    name, _, number = words.partition(" ")
    if verb == "revert":
        return listed([await rows.revert(owner, name, _number(number))])
    if verb in ("freeze", "thaw"):
        return listed([await rows.pin(owner, name, pinned=verb == "freeze")])
    if verb == "approve":
        return listed([await rows.settle(owner, one, "active", "a person let it in") for one in words.split()])
    return listed([await rows.settle(owner, one, "retired", "a person let go of it") for one in words.split()])


def _number(text: str) -> int:
    """Return the number of a version; 0 where none is named. Raises UserError for what is no number."""
    try:
        return int(text.strip() or "0")
    except ValueError:
        raise UserError(
            f"{text.strip()[:40]!r} is no number of a version.", hint="/learned why ID lists them."
        ) from None


async def _listed(ctx: PluginContext, session: Session) -> str:
    from hermes_tool_lessons.reporting import listed
    from hermes_tool_lessons.shared import is_on, is_used, rows_of

    there = await rows_of(ctx).list(session.owner) if is_used(ctx) else ()
    there = [one for one in there if one.state != "retired"]
    off = "" if is_on(ctx) else f"\nLearning is off: {ctx.program} config set learning.mode ask"
    if not there:
        return f"Nothing was learned yet.{off}"
    more = f"\n… and {len(there) - _LISTED} more: {ctx.program} learned list" if len(there) > _LISTED else ""
    waits = sum(one.state == "candidate" for one in there)
    asks = f"\n{waits} wait for your yes: /learned approve ID, /learned reject ID." if waits else ""
    return ctx.masks.text(f"{listed(there[:_LISTED])}{more}{asks}{off}")
