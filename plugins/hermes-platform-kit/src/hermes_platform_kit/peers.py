"""Other agents of ours in a chat: bots that a person named in the settings, as ``platforms.NAME.peers``.

A platform gives an envelope of theirs the role ``PEER``, and only what names us: whoever hosts decides what becomes of
it. Other bots stay strangers, with the role ``BOT``: they are no persons either.
"""

import re
from collections.abc import Iterable

from hermes_core.options import option
from hermes_core.types import Envelope

__all__ = ["BOT", "PEER", "is_peer", "named_in", "peers_option"]

PEER, BOT = "hermes:peer", "hermes:bot"  # among ``Envelope.roles``; no service has roles of that form


def is_peer(envelope: Envelope) -> bool:
    """Tell whether another agent wrote a message."""
    return PEER in envelope.roles


def named_in(text: str, names: Iterable[str]) -> bool:
    """Tell whether a text names one of these, each as it is written with its ``@``, in any case."""
    words = "|".join(re.escape(name) for name in names if name.startswith("@"))
    return bool(words) and bool(re.search(rf"(?<![\w@./])(?:{words})(?![\w:]|\.\w)", text, re.IGNORECASE))


def peers_option(example: str) -> list[str]:
    """Return the setting ``peers`` of a platform."""
    made: list[str] = option(
        "Other agents of yours in groups, as they are named there. One is heard when it names the bot, and what it "
        "says is no order.",
        factory=list,
        example=[example],
    )
    return made
