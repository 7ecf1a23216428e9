"""Commands that the person wrote into the settings, and those that another command stands for."""

from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve

from hermes_core.agent.runtime import Runtime
from hermes_core.config.schema import QuickSettings
from hermes_core.errors import UserError, nearest
from hermes_core.gateway.commands.deck import Deck, named
from hermes_core.types import Choice, ExecRequest, Message, Session, SlashCommand

__all__ = ["find", "offered", "quick_commands"]

_MOST = 20_000  # bytes of output that are shown


def quick_commands(deck: Deck) -> Iterator[SlashCommand]:
    """Those under ``quick_commands``: a shell command, or another name for a slash command with its words."""
    for name, one in deck.runtime.settings.config.quick_commands.items():
        yield _shell(deck, name, one) if one.type == "exec" else _stand_in(deck, name, one)


def _shell(deck: Deck, name: str, one: QuickSettings) -> SlashCommand:
    async def run(session: Session, _rest: str) -> str:
        deck.need_owner(session)  # it is the owner's own command, written where no tool can write: that is the yes
        workspace = await deck.runtime.place(session)
        result = await workspace.run(ExecRequest(argv=("sh", "-c", one.command), cwd=session.cwd, limit=_MOST))
        text = deck.runtime.settings.masks.text(result.output.decode(errors="replace").rstrip())
        return f"{text}\n(exit status {result.status})".lstrip() if result.status or not text else text

    return SlashCommand(name=name, summary=f"run: {one.command[:60]}", run=run, where=("terminal", "chat"))


def _stand_in(deck: Deck, name: str, one: QuickSettings) -> SlashCommand:
    head, _, preset = one.command.lstrip("/").partition(" ")
    target = named(deck.table, head)

    async def run(session: Session, rest: str) -> str | Message:
        if target is None:
            raise UserError(f"quick_commands.{name} stands for /{head}, and there is no such command.")
        return await deck.table[target.name].run(session, f"{preset} {rest}".strip())

    command = SlashCommand(name=name, summary=f"as /{one.command.lstrip('/')}", run=run)
    if target is None:
        return command
    confirm = target.confirm
    asks = (lambda rest: confirm(f"{preset} {rest}".strip())) if confirm else None
    return evolve(command, who=target.who, where=target.where, at_once=target.at_once, confirm=asks)


async def find(deck: Deck, commands: Mapping[str, SlashCommand], session: Session, name: str) -> SlashCommand:
    """A command by its name, or by that of one of another's options: ``/NAME`` for ``/skill NAME``.

    Raises UserError when there is none.
    """
    if known := named(commands, name):
        return known
    for one in commands.values():
        if one.each and any(o.text.strip() == name for o in await offered(deck.runtime, one, session, name)):
            whole = one.run

            async def run(session: Session, rest: str) -> str | Message:
                return await whole(session, f"{name} {rest}".strip())  # noqa: B023 - it is returned at once

            return evolve(one, run=run)
    close = nearest(name, commands)
    raise UserError(f"There is no command /{name}." + (f" Did you mean /{close}?" if close else " /help lists all."))


async def offered(runtime: Runtime, command: SlashCommand, session: Session, rest: str) -> Sequence[Choice]:
    """What may follow a command; nothing where it fails to say."""
    options = command.options

    async def ask() -> Sequence[Choice]:
        return await options(session, rest) if options else ()

    return await runtime.dispatch.shielded(f"/{command.name}", "options", ask) or ()
