"""Asking before a command takes something away.

The question is kept nowhere: its buttons say the command once more, with the answer behind it. So a press is a message
like any other, and a death between question and answer loses nothing and does nothing twice.
"""

from hermes_core.gateway.commands.deck import Deck
from hermes_core.gateway.outward.outgoing import said
from hermes_core.types import Button, Buttons, Message, SlashCommand

__all__ = ["NOT_DONE", "answered", "as_message", "asks", "choices"]

NOT_DONE = "Nothing was done."
_ANSWERS = {"--once": "once", "--always": "always", "--cancel": "cancel"}
_LABELS = {"once": "Yes", "always": "Yes, and never ask again", "cancel": "No"}


def answered(command: SlashCommand, rest: str) -> tuple[str, str]:
    """The words behind a command without the answer to its question, and that answer."""
    head, _, last = rest.rpartition(" ")
    return (head.strip(), _ANSWERS[last]) if command.confirm and last in _ANSWERS else (rest, "")


def asks(deck: Deck, command: SlashCommand, rest: str) -> str:
    """The question that is put first; empty when none is."""
    wanted = deck.runtime.settings.config.display.confirm_commands
    return command.confirm(rest) if wanted and command.confirm else ""


def as_message(deck: Deck, name: str, rest: str, subject: str) -> Message:
    """The question for somebody who reads it later."""
    line = f"/{name} {rest}".strip()
    buttons = tuple(Button(label=_LABELS[one], says=f"{line} --{one}") for one in choices(deck))
    return said(f"{subject} Really? `{line} --once` is the yes.", Buttons(buttons=buttons))


def choices(deck: Deck) -> tuple[str, ...]:
    """What may be answered. Never to be asked again holds for everybody, so an admin says it."""
    return ("once", "always", "cancel") if deck.role() == "admin" else ("once", "cancel")
