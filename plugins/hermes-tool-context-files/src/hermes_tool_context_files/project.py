"""The notes that go into the prompt: the first kind that is found, and nothing of the others."""

import asyncio
from pathlib import Path

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.types import Prompt, PromptBlock, Session
from hermes_tool_context_files.files import Notes, read, relative
from hermes_tool_kit.provenance.ledger import Ledger
from hermes_tool_kit.provenance.notes import chosen, root_of

FLOOR, CEILING = 20_000, 500_000  # characters
_SHARE, _CHARACTERS = 0.06, 4  # of the model's window; characters in a token


def limit(window: int, configured: int) -> int:
    """The most characters of notes for a model with so many tokens."""
    return configured or min(CEILING, max(FLOOR, int(window * _SHARE * _CHARACTERS)))


def find(folder: Path, root: Path, *, scan: bool) -> list[Notes]:
    """The notes of a project, as seen from one of its folders: one file, or all rules of one editor."""
    return chosen(folder, root, lambda path: read(path, root, scan=scan))


async def with_notes(ctx: PluginContext, session: Session, prompt: Prompt) -> Prompt | None:
    """The prompt with the project's notes in it, or None. What comes from outside is no note of a project."""
    return await asyncio.to_thread(_with_notes, ctx, session, prompt)


def _with_notes(ctx: PluginContext, session: Session, prompt: Prompt) -> Prompt | None:
    folder = Path(session.cwd).resolve()
    root = root_of(folder, session.owner)
    ledger = Ledger(ctx.paths.home, session.cwd)
    try:
        found = [notes for notes in find(folder, root, scan=ctx.config.scan) if not ledger.outside(notes.path)]
    finally:
        ledger.close()
    for notes in found:
        if notes.blocked:
            ctx.log.warning("%s was left out of the prompt: %s", notes.path, notes.blocked)
    if not found:
        return None
    most = limit(prompt.context, ctx.config.max_chars) // len(found)
    texts = [f"Notes of this project, from {relative(n.path, root)}:\n\n{n.shown(root, most)}" for n in found]
    block = PromptBlock(name="project", text="\n\n".join(texts), tier="context")
    return evolve(prompt, blocks=(*prompt.blocks, block))
