"""The Agent Skills standard to the letter: what a skill that is given to others has to hold to.

Reading is more patient (``frontmatter``). https://agentskills.io/specification
"""

import re
from collections.abc import Mapping
from typing import Any

from hermes_tool_skills.frontmatter import MOST_DESCRIPTION, MOST_NAME, BadSkill, fields

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
MOST_COMPATIBILITY = 500
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def breaches(text: str, *, folder: str = "") -> list[str]:
    """What in a SKILL.md is not as the standard wants it, each in one line; ``folder`` is the name of its folder."""
    try:
        data = fields(text)
    except BadSkill as error:
        return list(error.problems)
    found = [f"{key}: not a field of the standard; ours go under metadata" for key in data if key not in FIELDS]
    found += _name(data.get("name"), folder)
    found += _text(data, "description", MOST_DESCRIPTION, needed=True)
    found += _text(data, "compatibility", MOST_COMPATIBILITY)
    found += _text(data, "license", 500)
    found += _text(data, "allowed-tools", 2_000)
    about = data.get("metadata", {})
    if not isinstance(about, Mapping):
        return [*found, "metadata: must be a table of texts"]
    odd = [key for key, value in about.items() if not (isinstance(key, str) and isinstance(value, str))]
    return found + [f"metadata.{key}: must be a text; put it into quotes" for key in odd]


def _name(value: Any, folder: str) -> list[str]:
    if not isinstance(value, str) or not value:
        return ["name: is missing"]
    if len(value) > MOST_NAME or not _NAME.fullmatch(value):
        return [f"name: needs 1 to {MOST_NAME} lower-case letters, digits and single hyphens between them"]
    return [f"name: is {value}, but its folder is called {folder}"] if folder and folder != value else []


def _text(data: Mapping[str, Any], key: str, most: int, *, needed: bool = False) -> list[str]:
    value = data.get(key)
    if value is None:
        return [f"{key}: is missing"] if needed else []
    if not isinstance(value, str) or not value.strip():
        return [f"{key}: must be a text"]
    return [f"{key}: has {len(value):,} characters; {most:,} is the most"] if len(value) > most else []
