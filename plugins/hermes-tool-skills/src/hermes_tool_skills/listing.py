"""The list of skills in the prompt: bounded, and the same bytes as long as the session lives."""

import asyncio
from collections.abc import Sequence

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.patterns import pattern
from hermes_core.types import Prompt, PromptBlock, Session
from hermes_tool_skills.catalogue import Skill, catalogue_for
from hermes_tool_skills.offered import offered

HEAD = "Skills: when one fits, read it with skill_view first, and follow it."
_SHORTER = (300, 160, 80, 40)  # characters of a description, tried until all fit
_MARKS = pattern(r"<\|[^|>]{0,40}\|>|[<>`\[\]]")


async def with_skills(ctx: PluginContext, session: Session, prompt: Prompt) -> Prompt | None:
    """The prompt with the list in it, or None when there is nothing to list."""
    if prompt.tools and "skill_view" not in prompt.tools:
        return None
    skills = await asyncio.to_thread(catalogue_for(ctx).seen_by, session)
    there = offered(skills, prompt.tools, session.origin, ctx.config.platform_disabled)
    if not there:
        return None
    stale = await asyncio.to_thread(_stale, ctx)
    there.sort(key=lambda skill: skill.name in stale)
    block = PromptBlock(name="skills", text=listing(there, ctx.config.index_chars))
    return evolve(prompt, blocks=(*prompt.blocks, block))


def _stale(ctx: PluginContext) -> frozenset[str]:
    """The skills that the curator found unused: they are listed last, and so the first to be left out."""
    if not (ctx.paths.data / "curator.json").exists():
        return frozenset()
    from hermes_tool_skills.curator import last

    found = last(ctx.paths.data).get("stale")
    return frozenset(map(str, found)) if isinstance(found, list) else frozenset()


def listing(skills: Sequence[Skill], most: int) -> str:
    """The lines of all skills in so many characters: descriptions are cut first, then skills are left out by name.

    Those that ship are named only, by what they are about: nobody chose them, and their names say what they do.
    """
    named = _by_category([s for s in skills if s.source == "shipped"])
    told = [s for s in skills if s.source != "shipped"]
    for length in _SHORTER:
        text = "\n".join([HEAD, *(_line(s, length) for s in told), *named])
        if len(text) <= most:
            return text
    lines, left = [HEAD], len(skills)
    for skill in [*told, *(s for s in skills if s.source == "shipped")]:
        line, rest = _line(skill, _SHORTER[-1]), f"- and {left:,} more: skill_view without a name lists them"
        if sum(len(one) + 1 for one in (*lines, line, rest)) > most:
            return "\n".join([*lines, rest])
        lines.append(line)
        left -= 1
    return "\n".join(lines)


def _by_category(skills: Sequence[Skill]) -> list[str]:
    found: dict[str, list[str]] = {}
    for skill in skills:
        found.setdefault(skill.head.category if skill.head and skill.head.category else "other", []).append(skill.name)
    return [f"- {category}: {' '.join(names)}" for category, names in sorted(found.items())]


def _line(skill: Skill, length: int) -> str:
    """One line: what somebody else wrote as a description cannot look like anything but a description."""
    text = " ".join(_MARKS.sub("", skill.description).split())
    text = "".join(c for c in text if c.isprintable())
    return f"- {skill.name}: {text if len(text) <= length else text[: length - 1].rstrip() + '…'}"
