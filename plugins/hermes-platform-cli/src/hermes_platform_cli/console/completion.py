"""How a line that is being typed may go on: names of commands, what may follow them, words of plugins."""

from collections.abc import Iterable, Sequence

from attrs import evolve

from hermes_core.slash import SlashCommands, named
from hermes_core.types import Choice, SlashCommand
from hermes_platform_cli.console.conversation import Conversation

__all__ = ["completions"]

_MOST = 50  # more than anybody looks through


async def completions(
    slash: SlashCommands, commands: Iterable[SlashCommand], chat: Conversation, line: str
) -> Sequence[Choice]:
    """Ways to go on with a line, likeliest first. A plugin that fails to say adds none.

    The session is taken up where it is needed; for the names of commands it is not.
    """
    head, space, rest = line.partition(" ")
    if head.startswith("/") and not space:
        known = tuple(commands)
        more = [one for one in known if one.each] if len(head) > 1 else []
        spread = await _spread(slash, known, more, chat, head) if more else ()
        return [*_names(known, head), *spread][:_MOST]
    if head.startswith("/") and "\n" not in line:
        command = named({one.name: one for one in commands}, head[1:])
        found = await slash.options(chat, command.name, rest) if command else ()
        return [_replacing(one, rest) for one in found][:_MOST]
    word = line[max(line.rfind(" "), line.rfind("\n"), line.rfind("\t")) + 1 :]
    word = _quoted(line) or word
    return [_replacing(one, word) for one in await slash.words(chat, word)][:_MOST]


async def _spread(
    slash: SlashCommands, known: Sequence[SlashCommand], some: Sequence[SlashCommand], chat: Conversation, head: str
) -> Sequence[Choice]:
    """What follows some commands and is one itself: the skills."""
    taken = {name for one in known for name in (one.name, *one.aliases)}
    found = [one for command in some for one in await slash.options(chat, command.name, head[1:])]
    return [Choice(f"/{one.text}", one.summary, len(head)) for one in found if one.text.strip() not in taken]


def _names(commands: Iterable[SlashCommand], head: str) -> list[Choice]:
    """Commands whose name or other name begins so; then those that hold it."""
    wanted, first, second = head[1:].casefold(), [], []
    for command in sorted(commands, key=lambda one: one.name):
        name = next((n for n in (command.name, *command.aliases) if n.startswith(wanted)), "")
        choice = Choice(f"/{name or command.name}", command.summary, len(head))
        if name:
            first.append(choice)
        elif wanted and wanted in command.name:
            second.append(choice)
    return [*first, *second][:_MOST]


def _replacing(choice: Choice, word: str) -> Choice:
    return choice if choice.replaces else evolve(choice, replaces=len(word))


def _quoted(line: str) -> str:
    """The word at the end when a quote is open in it: ``@file:"my no``."""
    at = line.rfind('"')
    if at < 0 or line.count('"') % 2 == 0:
        return ""
    return line[max(line.rfind(" ", 0, at), line.rfind("\n", 0, at)) + 1 :]
