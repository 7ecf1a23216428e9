"""What somebody may do in a conversation that all in its chat share, who is no admin.

They talk, look, stop, and answer what is put to them. What changes the conversation for everybody is for admins: of
this Hermes, or of the group. A command that is not known here is taken for one that changes it.
"""

from collections.abc import Mapping

from attrs import evolve

from hermes_core.types import SlashCommand

__all__ = ["REFUSED", "harmless", "left"]

REFUSED = (
    "All who are here share this conversation, and /{name} changes it for everybody: only an admin of the group can "
    "do that."
)

_FREE = frozenset({
    "help", "commands", "stop", "steer", "background", "status", "why", "usage", "insights", "whoami", "version",
    "sessions", "history", "search", "export", "forget", "approve", "deny", "answer", "toolsets", "skills", "skill",
    "agents", "todo",
})  # fmt: skip
_TO_LOOK = frozenset({"model", "reasoning", "permission", "jobs", "tools", "rewind", "personality"})  # with no word


def harmless(name: str, rest: str) -> bool:
    """Whether a command, by its first name, leaves the conversation to the others as it was."""
    word = rest.strip()
    if name == "queue":
        return word.partition(" ")[0] != "clear"
    if name == "permission" and word == "grants":
        return True
    if name == "quiet":
        return word.partition(" ")[0] != "here"
    return name in _FREE or (name in _TO_LOOK and not word)


def left(commands: Mapping[str, SlashCommand]) -> dict[str, SlashCommand]:
    """The commands that are left to them, as help shows them."""
    shown = {name: one for name, one in commands.items() if harmless(name, "")}
    return {name: evolve(one, usage="") if name in _TO_LOOK else one for name, one in shown.items()}
