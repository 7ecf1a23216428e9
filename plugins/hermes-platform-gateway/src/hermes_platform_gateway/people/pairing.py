"""Strangers show a code to somebody who may let them in. No answer of a model takes part in it.

A code is 10 characters of 32, good for an hour. Who guesses has five tries an hour at each place, and spends nobody
else's: in a chat each admin has their own.
"""

import asyncio
import hashlib
import hmac
import os
import re
import secrets

from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Chat, Envelope, Principal
from hermes_platform_gateway.config import PERSON
from hermes_platform_gateway.outward.outgoing import said
from hermes_platform_gateway.people.access import OWNER
from hermes_platform_gateway.rows.people import MOST_FAILURES
from hermes_platform_gateway.rows.values import Outgoing, Pairing, Person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_platform_gateway.rows.kept import Rows

__all__ = ["ALPHABET", "approve", "code_for"]

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # nothing that is taken for another
_LENGTH = 10  # with a thousand waiting codes no easier to guess than 8 characters with three


async def code_for(rows: "Rows", envelope: Envelope, *, brand: str = "hermes") -> str:
    """What to answer a stranger whom ``admit`` gave "pair": a code and what to do with it, or nothing to say.

    To be sent at once and kept nowhere: the store has the code's hash only.
    """
    people = rows.people
    if await people.pairing_refused(envelope.platform, envelope.sender):
        return ""
    code = "".join(secrets.choice(ALPHABET) for _ in range(_LENGTH))
    salt = await people.salt() or os.urandom(16).hex()
    wanted = Pairing(
        platform=envelope.platform,
        sender=envelope.sender,
        account=envelope.account,
        chat=envelope.chat,
        name=envelope.sender_name[:100],
        salt=salt,
        hash=await asyncio.to_thread(_hash, code, salt),
    )
    if await people.ask_pairing(wanted):
        return ""
    return (
        f"I do not know you yet. Your code is `{code}`, good for an hour.\n"
        f"Who runs me lets you in with: `{brand} gateway pair approve {code}`"
    )


async def approve(
    rows: "Rows", code: str, *, by: str, where: str, person: str = "", admin: bool = False, profile: str = "default"
) -> Person:
    """Let the stranger in who was given a code, and tell them so.

    ``person`` is whom they are from now on; empty: somebody of their own. ``where`` the code is tried: ``terminal``, or
    the account of an admin, ``telegram:123``: the wrong ones of one lock nobody else out. Raises UserError for a wrong
    code, for a name that nobody can have, and after too many wrong ones.
    """
    if person and not PERSON.fullmatch(person):
        raise UserError(
            f"{person!r} cannot be a person's name.", hint="Use lower-case letters, digits, - _ and ., or owner."
        )
    people = rows.people
    if seconds := await people.pairing_locked(where):
        raise _locked(seconds)
    tried = re.sub(r"[^A-Z0-9]", "", code.upper())
    found = await asyncio.to_thread(_found, tried, await people.pairings())
    if not await people.pairing_tried(where, right=found is not None):
        raise _locked(await people.pairing_locked(where))
    if found is None:
        raise UnknownName("code", code, hint=f"It may be over. After {MOST_FAILURES} wrong ones nobody may try.")
    name = person or f"{found.platform}:{found.sender}"
    role = "admin" if admin or person == OWNER else "user"
    known = await people.let_in(found, name, role, by)
    if known is None:
        raise UserError(f"The code {code} has just been used, or its hour is over.")
    await rows.outbox.send_later(
        Outgoing(
            key=f"paired:{found.platform}:{found.salt}",
            owner=Principal(profile=profile, person=name),
            platform=found.platform,
            account=found.account,
            chat=Chat(found.chat),
            message=said("You may talk to me now. /help lists what you can ask of me."),
            kind="notice",
        )
    )
    return known


def _locked(seconds: float) -> UserError:
    return UserError(
        f"There were {MOST_FAILURES} wrong codes; none is taken here for {max(1, round(seconds / 60))} minutes."
    )


def _found(code: str, there: list[Pairing]) -> Pairing | None:
    """The stranger with this code; every one that waits is compared, so that time tells nothing."""
    hashes = {salt: _hash(code, salt) for salt in {one.salt for one in there}}
    right = [one for one in there if hmac.compare_digest(hashes[one.salt], one.hash)]
    return right[0] if right else None


def _hash(code: str, salt: str) -> str:
    return hashlib.scrypt(code.encode(), salt=bytes.fromhex(salt), n=2**14, r=8, p=1).hex()
