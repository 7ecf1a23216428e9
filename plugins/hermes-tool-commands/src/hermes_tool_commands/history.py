"""What was said: sessions, their messages, taking back, copies, files."""

import json
from collections.abc import Sequence
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.patterns import pattern
from hermes_core.types import Message, Session
from hermes_tool_commands.words import number, short, whole
from hermes_tool_kit.places import ToldHere

_DONE = "What commands did in files and elsewhere stays done."
_LOOKED_AT = 300  # sessions of a person among which those of a group are looked for
_LISTED = 15  # messages that can be gone back to, shown at once
_TAKEN_BACK = pattern(r"(?m)^\(The last (?:exchange|(\d+) exchanges) (?:was|were) taken back; the model is not told")


async def new(ctx: PluginContext, session: Session, _rest: str) -> str:
    """Go on in a new session."""
    return f"New session {(await ctx.conversation(session).switch()).id}."


async def resume(ctx: PluginContext, session: Session, rest: str) -> str:
    """Go on in an earlier session, and say how it ended."""
    found = await _found(ctx, session, rest or "latest")
    await ctx.conversation(session).switch(found.id)
    rows = await ctx.sessions.read(session.owner, found.id, window=3)
    recap = "\n".join(f"{m.role}: {short(m)}" for _, m in rows if m.role in ("user", "assistant") and short(m))
    return f"Resumed {found.id} {found.title}\n{recap}".strip()


async def _found(ctx: PluginContext, session: Session, words: str) -> Session:
    """The session that is meant, of those that may be told here. Raises UnknownName, UserError."""
    here = _told_here(ctx, session)
    if await here.all():
        return await ctx.sessions.find(session.owner, words)
    missing = UnknownName("session", words, hint="In a group there are those of the group: /sessions lists them.")
    recent = [one for one in await ctx.sessions.recent(session.owner, limit=_LOOKED_AT) if await here.shows(one.id)]
    if words == "latest" and recent:
        return recent[0]
    folded = words.casefold()
    for fits in (
        [one for one in recent if one.id == words],
        [one for one in recent if one.id.startswith(words)],
        [one for one in recent if one.title.casefold() == folded],
        [one for one in recent if one.title and one.title.casefold().startswith(folded)],
    ):
        if len(fits) > 1:
            raise UserError(f"{words!r} could be {len(fits)} sessions.", hint="Give more of the id or title.")
        if fits:
            return fits[0]
    raise missing


def _told_here(ctx: PluginContext, session: Session) -> ToldHere:
    return ToldHere(ctx.sessions, session, ctx.conversation(session).envelope)


async def sessions(ctx: PluginContext, session: Session, rest: str) -> str:
    """List earlier sessions."""
    many, here = min(int(rest), 1000) if rest.isdecimal() else 10, _told_here(ctx, session)
    rows = await ctx.sessions.rows(session.owner, limit=many if await here.all() else _LOOKED_AT)
    rows = [row for row in rows if await here.shows(row.session.id)][:many]
    return "\n".join(f"    {r.session.id}  {r.session.title or r.preview[:60]}" for r in rows) or "No session yet."


async def title(ctx: PluginContext, session: Session, rest: str) -> str:
    """Give the session another title."""
    if not rest:
        raise UserError("Say the title: /title TEXT")
    await ctx.conversation(session).rename(rest)
    return f"This session is now called {rest!r}."


async def history(ctx: PluginContext, session: Session, rest: str) -> str:
    """Show the last messages."""
    count = number(rest, 10)
    try:
        rows = await ctx.sessions.read(session.owner, session.id, window=min(4 * count, 400))
    except UnknownName:
        rows = []
    said = [f"{m.role}: {short(m)}" for _, m in rows if m.role in ("user", "assistant") and short(m)]
    return "\n".join(said[-count:]) or "Nothing was said yet."


async def search(ctx: PluginContext, session: Session, rest: str) -> str:
    """Find messages in all sessions."""
    if not rest:
        raise UserError("Say what to look for: /search WORDS")
    here = _told_here(ctx, session)
    found = await ctx.sessions.search(session.owner, rest, limit=10 if await here.all() else _LOOKED_AT)
    hits = [hit for hit in found if await here.shows(hit.session_id)][:10]
    return "\n".join(f"    {h.session_id}  {h.role}: {h.snippet}" for h in hits) or f"Nothing says {rest!r}."


async def undo(ctx: PluginContext, session: Session, rest: str) -> str:
    """Take exchanges back."""
    gone = await ctx.conversation(session).undo(number(rest, 1))
    if not gone:
        return "There is nothing to take back since it began or was compacted; see /rewind."
    what = "the last exchange" if len(gone) == 1 else f"the last {len(gone)} exchanges"
    more = "" if len(gone) == number(rest, 1) else " There are no more since it began or was compacted; see /rewind."
    return f"Taken back: {what}, from {short(gone[0], 80)!r} on. {_DONE}{more}"


async def rewind(ctx: PluginContext, session: Session, rest: str) -> str:
    """Go on before an earlier message of the person, in a copy of what was said until then."""
    try:
        exchanges = _exchanges(await ctx.sessions.past(session.owner, session.id))
    except UnknownName:
        exchanges = []
    if not exchanges:
        return "There is nothing to go back to."
    if not rest:
        newest = [f"    {at}  {short(one[0], 80)}" for at, one in enumerate(exchanges[: -_LISTED - 1 : -1], 1)]
        return "\n".join(["Your last messages. /rewind N goes on before one, in a copy:", *newest])
    back = number(rest, 1)
    if back > len(exchanges):
        raise UserError(f"You have said {len(exchanges)} messages here.", hint="/rewind lists the last ones.")
    kept = [message for one in exchanges[:-back] for message in one]
    copy = await ctx.sessions.create(session.owner, history=kept)
    await ctx.conversation(session).switch(copy.id)
    return (
        f"This is before {short(exchanges[-back][0], 80)!r} now, in a copy, {copy.id}. /resume {session.id} goes back; "
        f"its pins and its plan stay there. {_DONE}"
    )


def _exchanges(messages: Sequence[Message]) -> list[list[Message]]:
    """What the person said, each with all that followed; without what was taken back."""
    found: list[list[Message]] = []
    for message in messages:
        if message.role == "user" and not message.meta.get("hermes"):
            found.append([message])
        elif message.role == "assistant" and (gone := _TAKEN_BACK.findall(whole(message))):
            del found[max(0, len(found) - sum(int(one or 1) for one in gone)) :]
        elif found:
            found[-1].append(message)
    return found


async def branch(ctx: PluginContext, session: Session, rest: str) -> str:
    """Go on in a copy."""
    try:
        copy = await ctx.conversation(session).branch(rest)
    except UnknownName:
        raise UserError("There is nothing to branch off from yet.") from None
    return f"This is a copy now, {copy.id} {rest}".rstrip() + f". /resume {session.id} goes back."


async def save(ctx: PluginContext, session: Session, rest: str) -> str:
    """Write the session into a new file, without secrets."""
    ctx.conversation(session).need_person()
    path = Path(session.cwd, Path(rest).expanduser()) if rest else Path(session.cwd, f"{session.id}.md")
    try:
        messages = await ctx.sessions.past(session.owner, session.id)
    except UnknownName:
        messages = ()
    if not messages:
        raise UserError("Nothing was said yet.")
    if path.suffix == ".json":
        from hermes_openai_shape.write import shapes

        rows = [shape for message in messages for shape in shapes(message)]
        told = {"id": session.id, "title": session.title, "messages": _masked(ctx, rows)}
        text = json.dumps(told, ensure_ascii=False, indent=2)
    else:
        said = [f"## {m.role}\n\n{whole(m)}" for m in messages if whole(m)]
        text = ctx.masks.text("\n\n".join([f"# {session.title or session.id}", *said]))
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text + "\n")
    except FileExistsError:
        raise UserError(f"{path} is there already.", hint="Say another name: /save FILE") from None
    except OSError as error:
        why = error.strerror or str(error)
        raise UserError(f"Cannot write {path}: {why}.", hint="Check the folder and the disk.") from error
    return f"Saved: {path}"


def _masked(ctx: PluginContext, value: object) -> object:
    """A JSON value with the secrets out of its texts."""
    if isinstance(value, str):
        return ctx.masks.text(value)
    if isinstance(value, dict):
        return {key: _masked(ctx, one) for key, one in value.items()}
    return [_masked(ctx, one) for one in value] if isinstance(value, list) else value
