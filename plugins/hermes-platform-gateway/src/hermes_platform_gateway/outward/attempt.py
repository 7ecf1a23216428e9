"""How one piece of a message is sent, so that it is seen once: decided from its row alone, after a restart too.

=============== ================================================= ================================================
the service     how                                               what a lost receipt leads to
=============== ================================================= ================================================
takes a key     sent with its key                                 the same key again: seen once
can edit        a placeholder, its id stored, the text edited in  the same edit again: seen once
neither         sent                                              once more, marked: seen twice at most
=============== ================================================= ================================================
"""

from typing import Literal

from hermes_core.kinds import Platform
from hermes_core.types import Chat, Feature, Message
from hermes_core.values import frozen
from hermes_platform_gateway.outward.pieces import is_text, marked
from hermes_platform_gateway.rows.values import OutboxRow

__all__ = ["GIVEN_UP", "Attempt", "attempt"]

GIVEN_UP = 86400.0  # seconds after which a message that cannot be sent is given up: nobody waits for it any more
KEY_LIFE = 1200.0  # seconds; services forget keys, Synapse after half an hour
_PLACEHOLDERS = 6  # tries whose placeholder may have been left behind
_LAST_PAUSE = 30.0  # seconds before what may be there already is sent for the last time: an outage should be over


@frozen(kw_only=True)
class Attempt:
    """What is to be done now for the next piece of a row: ``how`` to send ``message`` with ``key`` to ``chat``.

    ``edit`` goes into the first placeholder, ``place`` makes one first. ``repeated``: it may be there already.
    When nobody knows whether it arrived, the next try is ``pause`` seconds later at least. With ``hopeless``, which
    says why, nothing is to be done any more.
    """

    how: Literal["send", "place", "edit"]
    message: Message
    chat: Chat
    key: str
    repeated: bool = False
    pause: float = 0.0
    hopeless: str = ""


def attempt(row: OutboxRow, piece: Message, platform: Platform, now: float, *, fresh: bool = False) -> Attempt:
    """Decide how the next piece of a row is sent; ``fresh``: somebody hears it who does not hear of edits."""
    number, chat, how = len(row.receipts), row.outgoing.chat, _how(row, piece, platform, fresh=fresh)
    keyed = Feature.IDEMPOTENT in platform.features and now - (row.sent or now) <= KEY_LIFE
    repeated = how == "send" and row.tries > 0 and not keyed
    lost = (repeated and row.repeated == number + 1) or (how == "place" and row.tries >= _PLACEHOLDERS)
    return Attempt(
        how=how,
        message=marked(piece, platform) if repeated else piece,
        chat=Chat(chat.id, chat.thread) if number else chat,
        key=f"{row.outgoing.key}:{number}" + (f":{row.tries}" if how == "place" else ""),
        repeated=repeated,
        pause=_LAST_PAUSE if how == "send" and not keyed else 0.0,
        hopeless=_hopeless(row, now, lost=lost),
    )


def _how(row: OutboxRow, piece: Message, platform: Platform, *, fresh: bool) -> Literal["send", "place", "edit"]:
    if Feature.EDIT not in platform.features or not is_text(piece):
        return "send"
    if row.placeholders:
        return "edit" if row.placeholders[0] else "send"  # an empty one: what was there cannot be edited
    return "send" if fresh or Feature.IDEMPOTENT in platform.features else "place"


def _hopeless(row: OutboxRow, now: float, *, lost: bool) -> str:
    why = f" ({row.error})" if row.error else ""
    if lost:
        return f"No receipt came; it may have arrived{why}."
    if now - max(row.created, row.held) > GIVEN_UP:
        return f"It could not be sent for a day{why}."
    return ""
