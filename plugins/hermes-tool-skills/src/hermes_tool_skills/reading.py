"""Reading a skill for the model: the body, one of its files, and what has to be known beside them."""

import hashlib
import re
from collections.abc import Sequence

from hermes_core.errors import ToolError
from hermes_core.patterns import pattern
from hermes_core.types import Session
from hermes_tool_skills.catalogue import Catalogue, Skill
from hermes_tool_skills.frontmatter import BadSkill, parse
from hermes_tool_skills.offered import unfit, unset
from hermes_tool_skills.tree import MAIN, BadTree, read_file, text_of, walk

_LISTED = 60
PART = 16_000  # characters that are read in one go
_ABOUT = 1_500
_PART = pattern(r"(.*)#(\d{1,4})")
_HEADING = pattern(r"^#{1,3} +(.{1,200})$", re.MULTILINE)


def listed(catalogue: Catalogue, session: Session) -> str:
    """All skills that can be read, a line each."""
    off = set(catalogue.off(session.origin))
    ready = [s for s in catalogue.seen_by(session) if s.state == "ready" and s.name not in off]
    return "\n".join(f"- {s.name}: {s.description}" for s in ready) or "There is no skill."


def viewed(
    catalogue: Catalogue,
    name: str,
    path: str,
    session: Session,
    *,
    here: bool,
    given: Sequence[str] = (),
) -> str:
    """The body of a skill, or one file of it. ``here``: commands of the session run where its folder is.

    What is long comes in parts, as ``FILE#2``; ``given`` are the variables that its scripts get. Raises ToolError when
    it cannot be read or must not be used.
    """
    skill = usable(catalogue, name, session)
    path, part = _of_part(path)
    data = accepted(skill, path or MAIN)
    text = text_of(data)
    if text is None:
        at = f" It is at {skill.folder / path}." if here else ""
        raise ToolError(f"{path} of {name} is not text ({len(data):,} bytes).{at}")
    if path and path != MAIN:
        return parted(_filled(text, skill, session), path, part)
    try:
        head, body = parse(text, foreign=True)
    except BadSkill as error:
        raise ToolError(f"{name} cannot be read: {error.text}", retry=False) from None
    lines = [f"Skill {name}, in {skill.folder}"]
    if others := [p for p, _ in walk(skill.folder) if p != MAIN]:
        more = f" and {len(others) - _LISTED} more" if len(others) > _LISTED else ""
        lines.append(f"Files (skill_view with file): {', '.join(others[:_LISTED])}{more}")
        if not here:
            lines.append("Its folder is not where your commands run: copy what you need there.")
    if missing := unset(head, given):
        lines.append(f"Not set here: {'; '.join(missing)}. A person can: hermes skills secrets {name}")
    if given:
        lines.append(f"Its scripts get {', '.join(given)} when you run them with skill_run, not otherwise.")
    if reason := unfit(head):
        lines.append(f"Note: {reason}.")
    return "\n".join([*lines, "", parted(_filled(body, skill, session), MAIN, part)])


def _of_part(path: str) -> tuple[str, int]:
    """The path of a file, and which part of it is meant: ``references/all.md#3``."""
    found = _PART.fullmatch(path)
    return (found[1], int(found[2])) if found else (path, 1)


def parted(text: str, path: str, part: int) -> str:
    """One part of a long text, with what the others are about. Raises ToolError where there is no such part."""
    parts = cut_up(text)
    if not 1 <= part <= len(parts):
        raise ToolError(f"There is no part {part}; it has {len(parts)}.")
    if len(parts) == 1:
        return text
    about = "; ".join(f"{n}: {', '.join(titles(one)) or '…'}" for n, one in enumerate(parts, 1) if n != part)
    other = f"{path}#{2 if part == 1 else 1}"
    told = f"[Part {part} of {len(parts)}. Read the others as file {other} and so on. {about[:_ABOUT]}]"
    return f"{parts[part - 1].rstrip()}\n\n{told}"


def cut_up(text: str) -> list[str]:
    """A text in parts of at most ``PART`` characters, each ended where a section begins, or else a line."""
    parts: list[str] = []
    start = 0
    while len(text) - start > PART:
        piece = text[start : start + PART]
        headings = [found.start() for found in _HEADING.finditer(piece, PART // 2)]
        end = headings[-1] if headings else piece.rfind("\n", PART // 2) + 1 or PART
        parts.append(piece[:end])
        start += end
    return [*parts, text[start:]]


def titles(text: str) -> list[str]:
    """The headings of a part."""
    return [" ".join(found[1].split())[:60] for found in _HEADING.finditer(text)][:12]


def usable(catalogue: Catalogue, name: str, session: Session) -> Skill:
    """The skill of a name, if a session may use it. Raises ToolError."""
    skills = {s.name: s for s in catalogue.seen_by(session) if s.state != "shadowed"}
    skill = skills.get(name)
    if skill is None:
        from hermes_core.errors import nearest

        close = nearest(name, skills)
        hint = f"Did you mean {close}?" if close else "skill_view without a name lists them."
        raise ToolError(f"There is no skill {name[:80]!r}.", hint=hint)
    if skill.state != "ready":
        raise ToolError(f"{name} is not used: {skill.reason}.", retry=False, hint=f"A person can: {skill.fix}")
    if name in catalogue.off(session.origin):
        raise ToolError(f"{name} is switched off here.", retry=False)
    return skill


def accepted(skill: Skill, path: str) -> bytes:
    """The bytes of a file that were accepted, and no others: what is hashed here is what is shown. Raises ToolError."""
    try:
        data = read_file(skill.folder, path)
    except FileNotFoundError:
        there = ", ".join(p for p, _ in walk(skill.folder))[:1_000]
        raise ToolError(f"There is no file {path!r} in {skill.name}.", hint=f"It has: {there}") from None
    except (BadTree, OSError) as error:
        raise ToolError(f"{path!r} of {skill.name} cannot be read: {getattr(error, 'text', error)}") from None
    if skill.entry and hashlib.sha256(data).hexdigest() != skill.entry.files.get(path):
        fix = f"A person looks at it with: hermes skills diff {skill.name}"
        raise ToolError(f"{path} of {skill.name} is not what was accepted.", retry=False, hint=fix)
    return data


def _filled(text: str, skill: Skill, session: Session) -> str:
    """The two names that a skill may use. Nothing else is replaced, and nothing is run."""
    return text.replace("${HERMES_SKILL_DIR}", str(skill.folder)).replace("${HERMES_SESSION_ID}", session.id)
