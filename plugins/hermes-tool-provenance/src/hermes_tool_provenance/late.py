"""The ledger and the calls of a kernel, made and imported when each is first needed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.kinds import Opening
from hermes_core.types import Command, Session, SlashCommand

if TYPE_CHECKING:
    from hermes_tool_kit.provenance.ledger import Ledger
    from hermes_tool_provenance.calls import Calls


def ledger_of(ctx: PluginContext) -> "Ledger":
    """The one of this kernel."""
    if "ledger" not in ctx.state:
        from hermes_tool_kit.provenance.ledger import Ledger

        ctx.state["ledger"] = Ledger(ctx.paths.home)
    ledger: Ledger = ctx.state["ledger"]
    return ledger


def calls_of(ctx: PluginContext) -> "Calls":
    """The one of this kernel: it is there once a call began."""
    if "calls" not in ctx.state:
        from hermes_tool_provenance.calls import Calls

        ctx.state["calls"] = Calls(ledger_of(ctx))
    calls: Calls = ctx.state["calls"]
    return calls


def commands_of(ctx: PluginContext) -> Sequence[Command]:
    """``hermes trust …``."""
    from hermes_tool_provenance.commands import commands

    return commands(ledger_of(ctx))


def slash_of(ctx: PluginContext) -> SlashCommand:
    """``/trust``."""
    from hermes_tool_provenance.slash import trust_command

    return trust_command(ledger_of(ctx))


def opening_of(ctx: PluginContext) -> Opening:
    """What is asked before a conversation begins in a folder."""
    from hermes_tool_provenance.opening import Known

    return Known(lambda: ledger_of(ctx), asked_in(ctx))


async def unnamed(ctx: PluginContext, session: Session) -> None:
    """Take the name of a session that is gone out of the ledger."""
    from asyncio import to_thread

    from hermes_tool_provenance.unnamed import unname

    await to_thread(unname, ctx.paths.home, session.id)


def asked_in(ctx: PluginContext) -> list[str]:
    """The folders that the person was asked about in this kernel, and answered."""
    asked: list[str] = ctx.state.setdefault("asked", [])
    return asked


def notices_of(ctx: PluginContext, session: Session) -> Sequence[str]:
    """What to say to the person about the folder of a session that begins."""
    from hermes_tool_provenance.notes import notices

    return notices(ledger_of(ctx), session, asked_in(ctx))


def tell_notices(ctx: PluginContext, session: Session) -> None:
    """Say what is to be said of the folder where a conversation begins: to its person, or to the log."""
    if session.parent in ("", "(archived)"):
        tell = ctx.tell if session.origin in ("cli", "tui", "oneshot", "embed") else ctx.log.warning
        for line in notices_of(ctx, session):
            tell(line)
