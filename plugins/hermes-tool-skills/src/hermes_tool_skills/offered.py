"""Which skills a session is told of: those that fit the machine, the way in and the tools on offer."""

import os
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from hermes_tool_skills.catalogue import Skill
from hermes_tool_skills.frontmatter import PLATFORMS, Head

_SIGNS: Mapping[str, tuple[str, ...]] = {
    "docker": ("/.dockerenv", "/run/.containerenv"),
    "s6": ("/run/s6", "/run/s6-rc"),
    "kanban": (),  # a session of the board has its tools
}


def unfit(head: Head, tools: Mapping[str, str] | None = None) -> str:
    """Why a skill is of no use here; empty when it is. ``tools`` maps tools on offer to toolsets; None: not known."""
    if head.platforms and not any(sys.platform == PLATFORMS[p] for p in head.platforms):
        return f"it is for {', '.join(head.platforms)}"
    on_board = tools is not None and "kanban" in tools.values()
    if head.environments and not any(_inside(e) or (e == "kanban" and on_board) for e in head.environments):
        return f"it is for work inside of {', '.join(head.environments)}"
    if tools is None:
        return ""
    toolsets = set(tools.values())
    missing = [*_absent(head.requires_tools, tools), *_absent(head.requires_toolsets, toolsets)]
    if missing:
        return f"it needs {', '.join(missing)}"
    present = [*_present(head.fallback_for_tools, tools), *_present(head.fallback_for_toolsets, toolsets)]
    return f"it stands in for {', '.join(present)}, which is there" if present else ""


def offered(
    skills: Iterable[Skill], tools: Mapping[str, str] | None, origin: str, disabled: Mapping[str, Iterable[str]]
) -> list[Skill]:
    """The skills that a session which came in by ``origin`` may use."""
    off = set(disabled.get(origin, ()))
    return [s for s in skills if s.state == "ready" and s.head and s.name not in off and not unfit(s.head, tools)]


def unset(head: Head, given: Collection[str] = ()) -> list[str]:
    """The environment variables it needs that are not set, each with what it is for."""
    return [f"{v.name} ({v.required_for or v.help or v.prompt or 'required'})" for v in head.variables if v.name not in os.environ and v.name not in given]  # fmt: skip # noqa: E501


def _inside(environment: str) -> bool:
    return any(Path(sign).exists() for sign in _SIGNS[environment])


def _absent(names: Iterable[str], there: Collection[str]) -> list[str]:
    return [name for name in names if name not in there]


def _present(names: Iterable[str], there: Collection[str]) -> list[str]:
    return [name for name in names if name in there]
