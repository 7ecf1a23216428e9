"""``apply_patch``: several files changed by one text, all of them or none."""

import asyncio
import posixpath
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import option, settings
from hermes_core.patterns import pattern
from hermes_core.types import Effect, ExecRequest, Session
from hermes_core.values import frozen
from hermes_tool_files.places import Places, key_of
from hermes_tool_files.seen import Seen
from hermes_tool_files.tools import diff_of, encoded

if TYPE_CHECKING:
    from hermes_tool_files.patches import FilePatch

_TRAINED = pattern(r"(?:^|[/:])(?:gpt-(?:4\.1|[5-9])|o[34](?:-|$)|codex)", re.IGNORECASE)
_PATHS = pattern(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
_QUICK = 30.0


@settings
class Patch:
    """What to change."""

    patch: str = option("*** Begin Patch … *** End Patch")


@frozen(kw_only=True)
class _Step:
    """One file's change, worked out but not made. ``before`` is None where there is no file, ``after`` none to be."""

    path: str
    full: str
    before: bytes | None
    after: bytes | None
    told: str


def keys_of(params: Patch) -> list[str]:
    """The resource keys of a patch: of every file it names. One that names none changes nothing, and is told so."""
    return [key_of(path.strip()) for path in _PATHS.findall(params.patch)] or [key_of(".")]


def patch_tool(places: Places, seen: Seen, offered: Literal["auto", "on", "off"]) -> Tool:
    """The tool, offered to models that know the format."""

    def needs(session: Session) -> str | None:
        if offered == "on" or (offered == "auto" and _TRAINED.search(session.model)):
            return None
        return "it is for models of OpenAI (tools.files.patches); edit_file and write_file do the same"

    @tool(toolset="files", effects={Effect.READ_FILES, Effect.WRITE_FILES}, touches=keys_of, needs=needs)
    async def apply_patch(context: ToolContext, params: Patch) -> str:
        """Change files by one patch in the V4A format, all or none."""
        from hermes_tool_files.patches import parse

        patches, judged = parse(params.patch), keys_of(params)
        if any(key_of(path) not in judged for one in patches for path in (one.path, one.move) if path):
            raise ToolError("Not patched: what it names is not what was judged.", hint="Write its headers plainly.")
        steps = [step for one in patches for step in await _worked_out(context, places, seen, one)]
        await _make(context, steps)
        for step in steps:
            if step.after is not None:
                seen.remember(context.session, step.full, step.after, wrote=True)
        return "\n".join(step.told for step in steps)

    return apply_patch


async def _worked_out(context: ToolContext, places: Places, seen: Seen, one: "FilePatch") -> Sequence[_Step]:
    """What becomes of a file, and of where it moves. Raises ToolError; nothing is written yet."""
    from hermes_tool_files.content import decode, is_binary
    from hermes_tool_files.patches import laid_on

    full = await places.resolve(context.workspace, one.path)
    if one.kind == "add":
        if await _there(context, full):
            raise ToolError(f"Not patched: {one.path} is there already.", hint="Use *** Update File: instead.")
        told = f"Added {one.path}: {one.text.count(chr(10)):,} lines."
        return [_Step(path=one.path, full=full, before=None, after=encoded(one.text), told=told)]
    data = await places.read(context.workspace, one.path)
    warning = seen.warning(context.session, full, data)
    if one.kind == "delete":
        return [_Step(path=one.path, full=full, before=data, after=None, told=f"Deleted {one.path}.{warning}")]
    if is_binary(data):
        raise ToolError(f"Not patched: {one.path} is not text.", retry=False)
    content = decode(data)
    text = laid_on(one, content.text)
    written = content.encode(text)
    if text == content.text and not one.move:
        raise ToolError(f"Not patched: {one.path} already says that.")
    diff = diff_of(content.text, text)
    if not one.move:
        told = f"Edited {one.path}{warning}\n{diff}"
        return [_Step(path=one.path, full=full, before=data, after=written, told=told)]
    target = await places.resolve(context.workspace, one.move)
    if await _there(context, target):
        raise ToolError(f"Not patched: {one.move}, to which {one.path} would move, is there already.")
    told = f"Moved {one.path} to {one.move}.{warning}\n{diff}".rstrip("\n")
    return [
        _Step(path=one.move, full=target, before=None, after=written, told=told),
        _Step(path=one.path, full=full, before=data, after=None, told=""),
    ]


async def _there(context: ToolContext, full: str) -> bool:
    asked = ExecRequest(argv=("sh", "-c", '[ -e "$1" ] || [ -L "$1" ]', "sh", full), seconds=_QUICK)
    return (await context.workspace.run(asked)).status == 0


async def _make(context: ToolContext, steps: Sequence[_Step]) -> None:
    """Make the changes: what is written first, what goes last. One that fails takes those before it back."""
    done: list[_Step] = []
    for step in sorted(steps, key=lambda one: one.after is None):
        try:
            await _set(context, step.full, step.after)
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.ensure_future(_take_back(context, [*done, step])))
            raise
        except ToolError as error:
            kept = await _take_back(context, done)
            left = f" These stay changed: {', '.join(kept)}." if kept else " Nothing is changed."
            raise ToolError(f"Not patched: {posixpath.basename(step.full)}: {error.text}{left}") from error
        done.append(step)


async def _take_back(context: ToolContext, done: Sequence[_Step]) -> Sequence[str]:
    """Make files what they were; those that cannot be."""
    kept = []
    for step in reversed(done):
        try:
            await _set(context, step.full, step.before)
        except ToolError:
            kept.append(step.path)
    return kept


async def _set(context: ToolContext, full: str, data: bytes | None) -> None:
    if data is not None:
        await context.workspace.write(full, data)
        return
    gone = await context.workspace.run(ExecRequest(argv=("rm", "-f", "--", full), seconds=_QUICK))
    if gone.status:
        raise ToolError(f"it cannot be deleted: {gone.output.decode(errors='replace').strip()[:300]}")
