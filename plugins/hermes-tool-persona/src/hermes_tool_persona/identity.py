"""The prompt of a new session: SOUL.md in the place of the usual identity, and the usual personality."""

import asyncio
import os
import stat
from pathlib import Path

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.types import Prompt, PromptBlock, Session
from hermes_tool_persona.presets import personalities, told

NAME = "SOUL.md"
_MOST = 2_000_000  # bytes read


async def with_persona(ctx: PluginContext, session: Session, prompt: Prompt) -> Prompt | None:
    """The prompt with what the person wants the agent to be, or None."""
    soul = await asyncio.to_thread(_soul, ctx) if ctx.config.soul else ""
    manner = _manner(ctx, session)
    if not soul and not manner:
        return None
    blocks = [evolve(b, text=soul) if soul and b.name == "identity" else b for b in prompt.blocks]
    if manner:
        blocks.append(PromptBlock(name="personality", text=manner))
    return evolve(prompt, blocks=tuple(blocks))


def _manner(ctx: PluginContext, session: Session) -> str:
    """How to speak from the start. A child agent speaks to an agent, and plainly."""
    name = ctx.config.personality.strip().casefold()
    if not name or session.origin == "child":
        return ""
    one = personalities(ctx.config).get(name)
    if one is None:
        ctx.log.warning("tools.persona.personality is %r, and there is no such personality", name)
        ctx.tell(f"There is no personality {name!r}, which tools.persona.personality names; /personality lists them.")
        return ""
    return f"How you speak, as the person wants it:\n{told(one)}"


def _soul(ctx: PluginContext) -> str:
    """What SOUL.md says; nothing when it is not there, no text, or tries to take over the agent."""
    text = _read(ctx.paths.home / NAME)
    if not text:
        return ""
    if ctx.config.scan:
        from hermes_tool_kit import injection  # its patterns are compiled only where there is a file

        if why := injection.scan(text):
            ctx.log.warning("%s was left out of the prompt: %s", NAME, why)
            ctx.tell(f"{NAME} was left out: {why}. Correct it; the usual identity stands in for it.")
            return ""
    return _cut(text, ctx.config.max_chars)


def _read(path: Path) -> str:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would be waited for
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return ""
            return file.read(_MOST).decode("utf-8", errors="replace").removeprefix("\ufeff").strip()
    except OSError:
        return ""


def _cut(text: str, most: int) -> str:
    """A text of at most so many characters: the first 70 % and the last 20 %, with a line between them."""
    if len(text) <= most:
        return text
    head, tail = most * 7 // 10, most * 2 // 10
    left = len(text) - head - tail
    return f"{text[:head]}\n\n… {left:,} characters left out …\n\n{text[len(text) - tail :]}"
