"""What a call in a shared folder may do, and whose words it brings."""

import json
import os
from collections.abc import Collection, Iterable

from attrs import evolve

from hermes_autorun.autorun import runs_by_itself
from hermes_core.context import PluginContext
from hermes_core.kinds import Workspace
from hermes_core.types import Effect, Feature, Session, Text, ToolCall, ToolResult, Verdict
from hermes_tool_shared.folders import Folder, folders_of, within
from hermes_tool_shared.people import is_known, plain

__all__ = ["judge", "marked"]

_FILES = frozenset({Effect.READ_FILES, Effect.WRITE_FILES})


async def _folders(ctx: PluginContext, session: Session) -> "Collection[Folder]":
    if not (ctx.config and ctx.config.folders) and not await is_known(ctx, session.owner):
        return ()
    return await folders_of(ctx, session.owner)


async def judge(
    ctx: PluginContext,
    session: Session,
    call: ToolCall,
    effects: frozenset[Effect],
    workspace: Workspace,
    *,
    walled: bool,
    touches: Iterable[str] | None,
) -> Verdict | None:
    """Say why a call does not reach a shared folder, or must not write there; what may is said by who guards people."""
    if effects.isdisjoint({*_FILES, Effect.EXECUTE}):
        return None
    there = [one for one in await _folders(ctx, session) if one.whose != session.owner.person]
    if not there:
        return None
    apart = Feature.ISOLATED in workspace.features
    given = {one.path for one in workspace.also}
    if Effect.EXECUTE in effects:
        said = json.dumps(call.arguments, ensure_ascii=False)
        closed = [one for one in there if one.path not in given]
        if session.owner != ctx.owner and (apart or walled) and any(one.path in said for one in closed):
            return _no("commands do not reach what others share here: their place holds your own folder only")
        return None
    for path in _paths(workspace, touches):
        found = next((one for one in there if within(path, one.path)), None)
        if found and apart and found.path not in given:
            return _no("your files lie in a place apart, which holds no folder that others share")
        if found and Effect.WRITE_FILES in effects:
            if not found.writes:
                return _no(f"{plain(found.whose)} shares this folder to read, not to write")
            if why := runs_by_itself(path):
                return _no(f"{why}, and in a folder of {plain(found.whose)} only they write such files")
    return None


async def marked(
    ctx: PluginContext,
    session: Session,
    call: ToolCall,
    result: ToolResult,
    workspace: Workspace,
    touches: Iterable[str],
) -> ToolResult | None:
    """Say of what a tool read where others write that it may be their words: then it comes from outside.

    Of a command its place says what it read; of other programs that run there it is so where they name the folder.
    """
    paths = _paths(workspace, touches) or _named(workspace, call)
    given = {one.path for one in workspace.also}
    if not paths or result.failed or (Feature.ISOLATED in workspace.features and not given):
        return None
    mine = session.owner.person
    for one in await _folders(ctx, session):
        if (one.whose != mine or one.others_write) and any(
            within(path, one.path) or within(one.path, path) for path in paths
        ):
            by = f"shared by {plain(one.whose)}" if one.whose != mine else "in which others write"
            head = Text(text=f"[From the folder {one.path}, {by}]\n")
            return evolve(result, parts=(head, *result.parts), untrusted=True)
    return None


def _no(reason: str) -> Verdict:
    return Verdict(outcome="deny", reason=reason, by="shared")


def _named(workspace: Workspace, call: ToolCall) -> list[str]:
    """The folders of others that a call names which does not say what it touches."""
    said = json.dumps(call.arguments, ensure_ascii=False) if workspace.also else ""
    return [one.path for one in workspace.also if one.path in said]


def _paths(workspace: Workspace, touches: Iterable[str] | None) -> list[str]:
    said = [key[5:] for key in touches or () if key.startswith("file:")]
    return [os.path.realpath(os.path.join(workspace.cwd, os.path.expanduser(one))) for one in said]  # noqa: PTH111, PTH118
