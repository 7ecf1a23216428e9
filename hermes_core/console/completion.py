"""How a line that is being typed may go on: names of commands, what may follow them, words of plugins."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from attrs import evolve

from hermes_core.agent.runtime import Runtime
from hermes_core.console.allowed import named
from hermes_core.console.registry import offered
from hermes_core.kinds import Completer
from hermes_core.types import Choice, Session, SlashCommand

__all__ = ["completions"]

_MOST = 50  # more than anybody looks through


async def completions(
    runtime: Runtime, commands: Iterable[SlashCommand], session: Callable[[], Awaitable[Session]], line: str
) -> Sequence[Choice]:
    """Ways to go on with a line, likeliest first. A plugin that fails to say adds none.

    ``session`` takes the session up, which the names of commands do not need.
    """
    head, space, rest = line.partition(" ")
    if head.startswith("/") and not space:
        known = tuple(commands)
        more = [one for one in known if one.each] if len(head) > 1 else []
        spread = await _spread(runtime, known, more, await session(), head) if more else ()
        return [*_names(known, head), *spread][:_MOST]
    if head.startswith("/") and "\n" not in line:
        command = named({one.name: one for one in commands}, head[1:])
        found = await offered(runtime, command, await session(), rest) if command else ()
        return [_replacing(one, rest) for one in found][:_MOST]
    word = line[max(line.rfind(" "), line.rfind("\n"), line.rfind("\t")) + 1 :]
    word = _quoted(line) or word
    runtime.loader.load_contributing("completers")
    choices: list[Choice] = []
    for label, one in runtime.dispatch.contributions("register_completers"):
        if isinstance(one, Completer) and one.trigger and word.startswith(one.trigger):
            call = partial(one.complete, await session(), word)
            choices += await runtime.dispatch.shielded(label, "register_completers", call) or ()
    return [_replacing(one, word) for one in choices][:_MOST]


async def _spread(
    runtime: Runtime, known: Sequence[SlashCommand], some: Sequence[SlashCommand], session: Session, head: str
) -> Sequence[Choice]:
    """What follows some commands and is one itself: the skills."""
    taken = {name for one in known for name in (one.name, *one.aliases)}
    found = [one for command in some for one in await offered(runtime, command, session, head[1:])]
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
