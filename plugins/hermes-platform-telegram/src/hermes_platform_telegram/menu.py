"""Slash commands as Telegram has them: up to 32 of a-z, 0-9 and _. Others are translated, there and back."""

import re
from collections.abc import Sequence

from hermes_core.types import JSON, SlashCommand

__all__ = ["Menu"]


class Menu:
    """The commands that the bot's menu shows."""

    def __init__(self, commands: Sequence[SlashCommand] = ()) -> None:
        self._known = {c.name for c in commands}
        self._shown: dict[str, SlashCommand] = {}
        for command in commands:
            name = re.sub(r"[^a-z0-9_]", "_", command.name.lower())
            if 1 <= len(name) <= 32:
                self._shown.setdefault(name, command)

    def entries(self, most: int) -> list[JSON]:
        """What ``setMyCommands`` takes."""
        shown = list(self._shown.items())[:most]
        return [{"command": name, "description": (c.summary or c.name)[:256]} for name, c in shown]

    def translated(self, text: str) -> str:
        """What a person wrote, with the command's own name. ``/start``, which opens every chat with a bot, is help."""
        match = re.match(r"/([a-z0-9_]+)(?=\s|\Z)", text)
        if not match or match[1] in self._known:
            return text
        if match[1] == "start" and "help" in self._known:
            return "/help"
        command = self._shown.get(match[1])
        return f"/{command.name}{text[match.end() :]}" if command else text
