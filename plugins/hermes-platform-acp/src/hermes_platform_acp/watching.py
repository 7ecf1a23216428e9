"""What is done at the calls of a session for the files that its editor has open: see ``buffers``."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.kinds import Workspace
from hermes_core.types import Effect, Effects, Feature, Text, ToolCall, ToolResult, Verdict
from hermes_platform_acp.cards import files_of

if TYPE_CHECKING:
    from hermes_platform_acp.conversation import Conversation

__all__ = ["after", "before"]


async def before(
    conversation: "Conversation", call: ToolCall, effects: Effects, workspace: Workspace
) -> Verdict | None:
    """Have saved what a call is about to change; a refusal where that cannot be."""
    if Effect.WRITE_FILES not in effects or not (paths := _paths(conversation, call, workspace)):
        return None
    return await conversation.buffers.begin(call.id, paths)


async def after(
    conversation: "Conversation",
    call: ToolCall,
    result: ToolResult,
    workspace: Workspace,
    *,
    looked: frozenset[str] | None,
) -> ToolResult | None:
    """Add what of the files of a call is to be known of the editor; ``looked`` are the keys of one that changed none.

    Only what policy judged is read here: a path among the words of any other tool opens no file.
    """
    if looked is None:
        told = await conversation.buffers.end(call.id, changed=not result.failed)
    elif result.failed or not (paths := _seen(conversation, call, looked, workspace)):
        return None
    elif told := await conversation.buffers.unsaved(paths):
        told = f"Not all of it is saved; in the person's editor it differs so:\n{told}"
    return evolve(result, parts=(*result.parts, Text(text=told))) if told else None


def _seen(conversation: "Conversation", call: ToolCall, keys: frozenset[str], workspace: Workspace) -> list[str]:
    """Return those of the files that a call names which it says it looks at; keys have them behind links."""
    looked = {os.path.realpath(Path(workspace.cwd, one[5:])) for one in keys if one.startswith("file:")}
    return [one for one in _paths(conversation, call, workspace) if os.path.realpath(one) in looked]


def _paths(conversation: "Conversation", call: ToolCall, workspace: Workspace) -> list[str]:
    """Return the files of this machine that a call names, where the editor tells of files."""
    if not conversation.buffers.offered or Feature.LOCAL not in workspace.features:
        return []
    return files_of(call, workspace.cwd)
