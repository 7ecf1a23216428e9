"""``/trust`` in a conversation of a terminal."""

from hermes_core.types import Session, SlashCommand
from hermes_tool_kit.provenance.ledger import Ledger
from hermes_tool_provenance.commands import trusted


def trust_command(ledger: Ledger) -> SlashCommand:
    """The command; what it says holds for all sessions, the notes of the folder for new ones."""

    async def run(session: Session, rest: str) -> str:
        return trusted(ledger, rest.strip() or session.cwd)

    return SlashCommand(name="trust", run=run)
