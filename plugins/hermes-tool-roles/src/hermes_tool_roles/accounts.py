"""Whom something is spent for: people for themselves, strangers in a group for who opened it, or for the group.

So nobody gets another day by another group, another name in it, or by speaking as a channel.
"""

import time
from collections.abc import Mapping, Sequence

from hermes_core.brokers import DocumentsBroker
from hermes_core.types import JSON, Envelope, Principal, Session
from hermes_core.values import frozen

__all__ = ["Account", "Accounts"]

_OPENED, _THROUGH, _OTHERS = "opened", "through", "others"  # of a group, of a stranger, of who pays for strangers
_LASTS = 2 * 86_400.0  # seconds for which a stranger is counted after they last spoke; a day is over by then
_MOST = 1_000


@frozen
class Account:
    """Who pays, and whose words count for them besides."""

    payer: Principal
    others: Sequence[Principal] = ()


class Accounts:
    """What is known of groups and of strangers, in documents of the people that it is about."""

    def __init__(self, documents: DocumentsBroker, host: Principal) -> None:
        self._documents, self._host = documents, host
        self._noted: dict[tuple[str, str], float] = {}  # what is written down already, and when

    async def heard(self, envelope: Envelope) -> None:
        """Take note of who speaks in a group, before anything is spent for it."""
        speaker = envelope.speaker
        if speaker is None or envelope.kind == "dm":
            return
        group = f"{envelope.platform}#{envelope.chat}"
        if speaker.named:
            if (group, "") not in self._noted:
                by = "" if speaker.person == self._host.person else speaker.person
                await self._documents.change(_OPENED, lambda old: old or {"by": by}, owner=self._person(group))
                self._note(group, "")
            return
        if time.time() - self._noted.get((group, speaker.person), 0) < _LASTS / 4:
            return
        opened = await self._documents.get(_OPENED, owner=self._person(group))
        payer = _word(opened.value if opened else None, "by") or group
        if payer != speaker.person:
            await self._through(self._person(speaker.person), payer)
            await self._documents.put(_THROUGH, {"by": payer}, owner=self._person(speaker.person))
        self._note(group, speaker.person)

    async def of(self, session: Session) -> Account:
        """Whom the turn of a session is paid by."""
        payer = session.asker
        if "#" in payer.person:  # a whole group, or who hides behind it
            opened = await self._documents.get(_OPENED, owner=payer)
            payer = await self._through(payer, _word(opened.value if opened else None, "by"))
        elif session.speaker and not session.speaker.named:
            through = await self._documents.get(_THROUGH, owner=payer)
            payer = self._person(_word(through.value if through else None, "by") or payer.person)
        others = await self._documents.get(_OTHERS, owner=payer)
        known = _recent(others.value if others else None)
        return Account(payer, tuple(self._person(name) for name in sorted(known)))

    async def _through(self, stranger: Principal, payer: str) -> Principal:
        """Let what is spent for a stranger count for who pays, and say who that is."""
        if not payer or payer == stranger.person:
            return stranger
        await self._documents.change(_OTHERS, lambda old: _with(old, stranger.person), owner=self._person(payer))
        return self._person(payer)

    def _person(self, name: str) -> Principal:
        return Principal(profile=self._host.profile, person=name)

    def _note(self, group: str, person: str) -> None:
        self._noted[group, person] = time.time()
        while len(self._noted) > 10 * _MOST:
            del self._noted[next(iter(self._noted))]


def _word(value: JSON | None, name: str) -> str:
    said = value.get(name) if isinstance(value, Mapping) else None
    return said if isinstance(said, str) else ""


def _recent(value: JSON | None) -> dict[str, float]:
    known = value.items() if isinstance(value, Mapping) else ()
    since = time.time() - _LASTS
    return {name: float(at) for name, at in known if isinstance(at, int | float) and at > since}


def _with(old: JSON | None, person: str) -> JSON:
    known = {**_recent(old), person: time.time()}
    return dict(sorted(known.items(), key=lambda pair: pair[1])[-_MOST:])
