"""Which answers of commands everybody in a group may read."""

__all__ = ["for_all"]

# What is about the conversation in the group as it goes on there. All else is about the person who asks: what they
# said, spent, allowed and keep elsewhere. So is what a plugin's command says, which is not known here.
_OPEN = frozenset({
    "new", "stop", "help", "commands", "approve", "deny", "answer", "model", "reasoning", "steer", "queue", "retry",
    "background", "title", "undo", "branch", "resume", "version", "sethome", "busy", "yolo", "compress", "personality",
})  # fmt: skip


def for_all(name: str) -> bool:
    """Whether the answer of a command, by its first name, is for all who read the group."""
    return name in _OPEN
