"""Invitations: a person lets somebody in by name, with a word that one account uses once, in a private chat.

The word is long enough that nobody guesses it, so it is found by its hash and no try is counted. It makes its account
the person that it names: somebody new where an admin invited in a chat, anybody where the owner did at the terminal.
"""

import hashlib
import re
import secrets
from collections.abc import Iterable

from hermes_core.errors import UserError
from hermes_core.types import Envelope, Text
from hermes_platform_gateway.config import PERSON
from hermes_platform_gateway.people.pairing import ALPHABET
from hermes_platform_gateway.rows.values import Account, Invite, Person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_platform_gateway.rows.kept import Rows

__all__ = ["invite", "links", "redeem", "word_in"]

_LENGTH = 20  # of 32 characters: 100 bits
_WORD = re.compile(rf"(?:[/!]start(?:@\S+)?\s+)?((?:[{ALPHABET}]-?){{{_LENGTH - 1}}}[{ALPHABET}])", re.IGNORECASE)
_LONGEST = 31 * 86_400.0  # seconds that one may be good


async def invite(
    rows: "Rows", person: str, *, seconds: float, by: str, role: str = "user", fresh: bool = False
) -> tuple[str, Invite]:
    """Make an invitation for a person; its word, which is kept nowhere. Raises UserError for a name nobody can have."""
    if not PERSON.fullmatch(person):
        raise UserError(f"{person!r} cannot be a person's name.", hint="Use lower-case letters, digits, - _ and .")
    if not 60 <= seconds <= _LONGEST:
        raise UserError("An invitation is good for a minute at least, and for 31 days at most.")
    word = "".join(secrets.choice(ALPHABET) for _ in range(_LENGTH))
    known = Invite(hash=_hash(word), person=person, role=role, by=by, fresh="1" if fresh else "")
    return word, await rows.invites.add(known, seconds)


def links(word: str, accounts: Iterable[Account]) -> list[str]:
    """How the one who is invited gets in: a link where a service has one, else the word, said in a private chat."""
    bots = sorted(
        {one.account for one in accounts if one.platform == "telegram" and re.fullmatch(r"@?\w+", one.account)}
    )
    return [f"https://t.me/{bot.removeprefix('@')}?start={word}" for bot in bots if not bot.isdecimal()]


def word_in(envelope: Envelope) -> str:
    """The word of an invitation, where a private message says one and nothing else; what is forwarded says none."""
    message = envelope.message
    if envelope.kind != "dm" or not envelope.sender or message.untrusted:
        return ""
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    found = _WORD.fullmatch(texts[0].strip()) if len(texts) == len(message.parts) == 1 else None
    return found[1].replace("-", "").upper() if found else ""


async def redeem(rows: "Rows", word: str, envelope: Envelope, *, again: bool = False) -> Person | None:
    """Let the account that says the word in; None where it is no good word, or no longer.

    With ``again`` only the account that it let in hears of it once more: a service may deliver a message twice.
    """
    name = " ".join(envelope.sender_name.split())[:100]
    known = {"platform": envelope.platform, "sender": envelope.sender, "name": name}
    return await rows.invites.redeem(_hash(word), again=again, **known)


def _hash(word: str) -> str:
    return hashlib.sha256(f"hermes invites\0{word}".encode()).hexdigest()
