"""Commands that the person wrote into the settings, and those that another command stands for."""

from collections.abc import Iterator, Mapping

from attrs import evolve

from hermes_core.agent.kernel import Kernel
from hermes_core.config.schema import QuickSettings
from hermes_core.errors import UserError
from hermes_core.plugins.at_hand import at_hand
from hermes_core.slash import named
from hermes_core.types import ExecRequest, Message, Principal, Session, SlashCommand

__all__ = ["quick_commands"]

_MOST = 20_000  # bytes of output that are shown


def quick_commands(kernel: Kernel, table: Mapping[str, SlashCommand]) -> Iterator[SlashCommand]:
    """Yield those under ``quick_commands``: a shell command, or another name for one of the table with its words."""
    for name, one in kernel.settings.config.quick_commands.items():
        yield _shell(kernel, name, one) if one.type == "exec" else _alias(table, name, one)


def _shell(kernel: Kernel, name: str, one: QuickSettings) -> SlashCommand:
    async def run(session: Session, _rest: str) -> str:
        at_hand(session).need_person(admin=True)
        if session.owner.person != Principal().person:  # they wrote it, where no tool can write: that is the yes
            raise UserError("Only the owner of this Hermes does this, and in their own conversations.")
        workspace = await kernel.sessions.place(session)
        result = await workspace.run(ExecRequest(argv=("sh", "-c", one.command), cwd=session.cwd, limit=_MOST))
        text = kernel.settings.masks.text(result.output.decode(errors="replace").rstrip())
        return f"{text}\n(exit status {result.status})".lstrip() if result.status or not text else text

    return SlashCommand(name=name, summary=f"run: {one.command[:60]}", run=run, where=("terminal", "chat"))


def _alias(table: Mapping[str, SlashCommand], name: str, one: QuickSettings) -> SlashCommand:
    head, _, preset = one.command.lstrip("/").partition(" ")
    target = named(table, head)

    async def run(session: Session, rest: str) -> str | Message:
        if target is None:
            raise UserError(f"quick_commands.{name} stands for /{head}, and there is no such command.")
        return await table[target.name].run(session, f"{preset} {rest}".strip())

    command = SlashCommand(name=name, summary=f"as /{one.command.lstrip('/')}", run=run)
    if target is None:
        return command
    confirm = target.confirm
    asks = (lambda rest: confirm(f"{preset} {rest}".strip())) if confirm else None
    return evolve(command, who=target.who, where=target.where, at_once=target.at_once, confirm=asks)
