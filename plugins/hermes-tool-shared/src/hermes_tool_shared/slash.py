"""``/share``, ``/unshare`` and ``/shared``: what people do themselves about what they share."""

import re
from collections.abc import Sequence
from functools import partial

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Principal, Session, SlashCommand
from hermes_tool_shared.people import find, is_alone, note, plain, shared_of
from hermes_tool_shared.values import Share

__all__ = ["slash_commands"]

_MEMORY = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_SHARE = re.compile(
    r"(?:(?:shared\s+)?memory\s+(?P<memory>\S+)|(?P<folder>.+?))\s+with\s+(?P<who>\S+)(?P<write>\s+to\s+write)?",
    re.DOTALL,
)
_USAGE = "/share FOLDER with NAME [to write], /share memory NAME with NAME"


def slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """Return the commands; the manifest says all but what they do."""
    done = (("share", share), ("unshare", unshare), ("shared", shared))
    return [SlashCommand(name=name, run=partial(run, ctx)) for name, run in done]


async def _begin(ctx: PluginContext, session: Session) -> str:
    """Return whose words these are. Raises UserError where a tool types them, or others read the answer."""
    conversation = ctx.conversation(session)
    conversation.need_person()
    envelope = conversation.envelope
    if (envelope and envelope.kind != "dm") or session.asker != session.owner:
        raise UserError("What people share is between them. Say it in our private chat.")
    if envelope is None and not await is_alone(ctx, session):
        raise UserError("What people share is between them. Say it in our private chat.")
    return session.owner.person


async def share(ctx: PluginContext, session: Session, rest: str) -> str:
    """Offer a folder, or a memory, to somebody; they have it when they accept."""
    mine = await _begin(ctx, session)
    said = _SHARE.fullmatch(rest.strip())
    if said is None:
        raise UserError("I do not know what is to be shared with whom.", hint=_USAGE)
    writes = bool(said["write"]) or bool(said["memory"])
    if said["memory"]:
        name = said["memory"].casefold()
        if not _MEMORY.fullmatch(name):
            raise UserError("A memory is called by at most 32 small letters, digits and -.")
        wanted = Share(id="", person=mine, kind="memory", name=name)
    else:
        from hermes_tool_shared.folders import named

        folder, root = await named(ctx, session, said["folder"], writes=writes)
        name = folder.removeprefix(root).lstrip("/") if root else folder
        wanted = Share(id="", person=mine, kind="folder", name=name, folder=folder, root=root)
    who = await find(ctx, said["who"])
    if who == mine:
        raise UserError("That is you.")
    if who == ctx.owner.person and wanted.kind == "folder":
        raise UserError(
            "The owner's tools keep out of other people's folders, so a folder of yours cannot be shared with them.",
            hint="Send them the file, or share a memory.",
        )
    if not who and session.owner == ctx.owner:
        raise UserError(f"Nobody here is called {plain(said['who'])}.", hint=f"`{ctx.program} people` lists them.")
    if who:
        from hermes_tool_shared.telling import tell

        await note(ctx, mine)
        made, member = await shared_of(ctx).invite(wanted, who, writes=writes)
        if member.state == "in":
            return f"{plain(said['who'])} has it."
        if not member.told:
            await tell(ctx, made, member)
    return (
        f"{plain(said['who'])} is asked, if I know them. They have it when they accept. `/shared` says how it stands."
    )


async def unshare(ctx: PluginContext, session: Session, rest: str) -> str:
    """Take something back, from somebody or from all; or leave what another shares."""
    mine = await _begin(ctx, session)
    said = re.fullmatch(r"(?P<what>.+?)(?:\s+with\s+(?P<who>\S+))?", rest.strip(), re.DOTALL)
    if said is None:
        raise UserError("Say what: a name or an id of `/shared`.", hint="/unshare NAME [with PERSON]")
    found = _one(await shared_of(ctx).of(mine), said["what"], session)
    if found.person != mine:
        await shared_of(ctx).leave(found.id, mine)
        return "You have it no longer, and what you wrote in it is gone."
    from hermes_tool_shared.closing import close_lost

    if not said["who"]:
        await shared_of(ctx).end(found.id)
        await close_lost(ctx)
        return "Nobody has it any longer."
    who = await find(ctx, said["who"]) or said["who"]
    if not await shared_of(ctx).leave(found.id, who):
        raise UserError(f"It is not shared with {plain(said['who'])}.")
    await close_lost(ctx)
    return f"{plain(said['who'])} has it no longer."


async def shared(ctx: PluginContext, session: Session, rest: str) -> str:
    """List what is shared, show a memory, answer an invitation, take an item back."""
    mine = await _begin(ctx, session)
    words = rest.split()
    if len(words) == 2 and words[0] in ("accept", "decline"):
        return await _answer(ctx, mine, words[1], yes=words[0] == "accept")
    if len(words) == 3 and words[:2] == ["take", "back"] and words[2].lstrip("#").isdecimal():
        number = int(words[2].lstrip("#")[:18])
        if not await shared_of(ctx).take_back(number, mine, everything=session.owner == ctx.owner):
            raise UserError("There is no such item of yours.")
        return "It is taken back."
    known = await shared_of(ctx).of(mine)
    if words:
        return await _shown(ctx, _one([one for one in known if one.has(mine)], rest.strip(), session))
    lines = [line for one in known for line in _lines(one, mine)] + await _set(ctx, session.owner)
    return "\n".join(lines) or "Nothing is shared by you, or with you. To share something: /share FOLDER with NAME"


async def _answer(ctx: PluginContext, mine: str, share_id: str, *, yes: bool) -> str:
    from hermes_tool_shared.telling import words_of

    if yes:
        await note(ctx, mine)
    found = await shared_of(ctx).answer(share_id, mine, yes=yes)
    if found is None:
        raise UserError("Nothing is offered to you under this id, or no longer. `/shared` lists what is.")
    if not yes:
        return "Declined. It is not shared with you."
    what = words_of(found, writes=found.writes(mine), full=True)
    return f"You have {what}. `/unshare {found.id}` leaves it again."


async def _shown(ctx: PluginContext, found: Share) -> str:
    if found.kind != "memory":
        return "\n".join(_lines(found, ""))
    kept = await shared_of(ctx).items(found)
    lines = [f"#{one.id} {plain(one.person)}: {one.text}" for one in kept]
    return "\n".join([*lines, "`/shared take back NUMBER` takes one of yours out."]) if lines else "Nothing is in it."


def _one(known: Sequence[Share], words: str, session: Session) -> Share:
    """Return the share that is meant. Raises UserError where it is none, or could be several."""
    bare = words.strip().removeprefix("shared ").removeprefix("memory ").strip().rstrip("/")
    found = [one for one in known if bare in (one.id, one.name, one.folder)]
    if len(found) != 1:
        many = f"{len(found)} are called so: say its id." if found else "You share nothing of that name, and have none."
        raise UserError(many, hint="`/shared` lists all, with their ids.")
    return found[0]


def _lines(one: Share, mine: str) -> list[str]:
    from hermes_tool_shared.telling import words_of

    asked = next((m for m in one.members if m.person == mine and m.state == "asked"), None)
    if asked:
        what = words_of(one, writes=bool(asked.writes))
        return [f"{one.id}  {plain(one.person)} offers you {what}: `/shared accept {one.id}`"]
    what = words_of(one, writes=one.writes(mine), full=True)
    if one.person != mine:
        return [f"{one.id}  {what}, of {plain(one.person)}, with {', '.join(map(plain, one.people[1:]))}"]
    states = {"asked": " (asked)", "declined": " (declined)"}
    whom = [f"{plain(m.person)}{' to write' if m.writes and one.kind == 'folder' else ''}{states.get(m.state, '')}"
            for m in one.members]  # fmt: skip
    return [f"{one.id}  {words_of(one, full=True).partition(' (to ')[0]}, yours, with {', '.join(whom) or 'nobody'}"]


async def _set(ctx: PluginContext, owner: Principal) -> list[str]:
    """What somebody has by the settings, without an invitation."""
    if not (ctx.config and ctx.config.folders):
        return []
    from hermes_tool_shared.folders import by_settings

    return [
        f"settings  the folder {one.path}, {'to read and write' if one.writes else 'to read'}"
        for one in by_settings(ctx, owner)
        if one.whose != owner.person
    ]
