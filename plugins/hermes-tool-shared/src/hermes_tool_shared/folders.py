"""Which folders may be shared, and which a person reaches now."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.options import listed
from hermes_core.types import Effect, Principal, Rights, Session
from hermes_core.values import frozen
from hermes_tool_shared.config import Config
from hermes_tool_shared.people import is_known, shared_of
from hermes_tool_shared.values import Share

__all__ = ["Folder", "by_settings", "folders_of", "may_share", "named", "within"]

_SAID = 200  # characters of a name that are repeated
_NAME = re.compile(r"[\w.+@-]+(?:/[\w.+@-]+)*")  # a model is told it: nothing in it is a sentence


@frozen(kw_only=True)
class Folder:
    """A folder that somebody reaches: ``whose`` it is, whether they write there, and whether anybody else does."""

    path: str
    whose: str
    writes: bool = False
    others_write: bool = False


async def named(ctx: PluginContext, session: Session, words: str, *, writes: bool) -> tuple[str, str]:
    """Return the folder that somebody means to share, and below which it has to stay: of the owner any.

    Raises UserError where it is no folder, not theirs, or holds what nobody is to reach.
    """
    try:
        folder = os.path.realpath(Path(session.cwd or Path.cwd(), os.path.expanduser(words.strip())))  # noqa: PTH111
    except (OSError, ValueError) as error:
        raise UserError("That is no name of a folder.") from error
    guest = session.owner != ctx.owner
    if guest and (ctx.paths.home / "people" not in Path(session.cwd).parents or Path(folder) == Path(session.cwd)):
        raise UserError("You can share a folder below your own one, and not all of it.")
    if guest and not within(folder, session.cwd):
        # The path comes last: who is told no paths is told all that stands before it.
        raise UserError(f"This is outside of your own folder: {words[:_SAID]}")
    if not os.path.isdir(folder):  # noqa: PTH112 - of what can be no name it is False
        raise UserError(f"There is no folder {words[:_SAID]}.")
    if guest and not _NAME.fullmatch(os.path.relpath(folder, session.cwd)):
        raise UserError("That folder's name holds more than letters, digits and . _ + @ -.", hint="Give it another.")
    if not guest and (reason := _holds(ctx, folder)):
        raise UserError(f"{folder} cannot be shared: {reason}.", hint="Share a folder that holds nothing else.")
    if not folder.isprintable():
        raise UserError("That folder's name cannot be shown as it is.", hint="Give it another.")
    if reason := may_share(await ctx.host.rights(session.owner), writes=writes):
        raise UserError(reason)
    return folder, session.cwd if guest else ""


def may_share(rights: Rights, *, writes: bool) -> str:
    """Say why somebody's files are not theirs to share, or nothing."""
    never = rights.bounds.never if rights.bounds else ()
    if rights.silent or Effect.READ_FILES in never or (writes and Effect.WRITE_FILES in never):
        return "Your role does not let you share that: it takes files from you, too."
    return ""


def within(path: str, folder: str) -> bool:
    """Tell whether a real path is a folder, or in it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _holds(ctx: PluginContext, folder: str) -> str:
    """Say why the owner's folder is nothing for others, or nothing."""
    home = os.path.realpath(ctx.paths.home)
    if within(home, folder) or within(folder, home):
        return "Hermes keeps its own things there"
    if within(os.path.realpath(Path.home()), folder):
        return "it is a whole home folder, or more"
    if any(within(os.path.realpath(one), folder) or within(folder, os.path.realpath(one)) for one in ctx.paths.guarded):
        return "it holds what is closed to tools"
    return ""


async def folders_of(ctx: PluginContext, owner: Principal) -> Sequence[Folder]:
    """Return the folders that somebody reaches besides their own, and those of theirs in which others write.

    A folder that leads elsewhere by now is none, and of one whose person may have no files any more nobody has it.
    """
    if owner.profile != ctx.owner.profile:
        return ()
    found = [one for one in by_settings(ctx, owner) if _is_itself(one.path)]
    if await is_known(ctx, owner):
        for share in await shared_of(ctx).of(owner.person):
            if share.kind == "folder" and share.has(owner.person) and await _is_in_force(ctx, share):
                others = any(share.writes(person) for person in share.people if person != owner.person)
                writes = share.writes(owner.person)
                found.append(Folder(path=share.folder, whose=share.person, writes=writes, others_write=others))
    return found


def by_settings(ctx: PluginContext, owner: Principal) -> list[Folder]:
    """Return the folders that somebody has without an invitation; of the owner those in which others write."""
    config: Config = ctx.config or Config()
    found = []
    for one in config.folders.values():
        path, people = os.path.realpath(Path(one.folder).expanduser()), list(listed(one.people))
        if not one.folder or _holds(ctx, path):
            continue
        others = one.write and any(person != owner.person for person in people)
        if owner.person in people:
            found.append(Folder(path=path, whose=ctx.owner.person, writes=one.write, others_write=others))
        elif owner == ctx.owner and others:
            found.append(Folder(path=path, whose=owner.person, writes=True, others_write=True))
    return found


async def _is_in_force(ctx: PluginContext, share: Share) -> bool:
    if not _is_itself(share.folder) or (share.root and not within(share.folder, os.path.realpath(share.root))):
        return False
    whose = Principal(profile=ctx.owner.profile, person=share.person)
    return whose == ctx.owner or not may_share(await ctx.host.rights(whose), writes=False)


def _is_itself(folder: str) -> bool:
    """Tell whether a folder is there, and no link on the way leads elsewhere."""
    return Path(folder).is_dir() and os.path.realpath(folder) == folder
