"""Several agents in one group: what another agent writes is answered for the person who began, and not for ever.

An agent is heard when it names this one. It speaks for nobody: whose turn that is, and who pays for it, is the person
whose message it answers, else who spoke to this agent last, in the thread or in the chat. What it writes is text from
outside, and the turn of it does nothing but look and answer. After so many answers a person has to speak; that is
written down before each.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.types import JSON, Effect, Envelope, Principal, TurnBounds
from hermes_platform_gateway.config import gateway_settings
from hermes_platform_gateway.limits import Over
from hermes_platform_gateway.people.access import Access
from hermes_platform_kit.peers import BOT

__all__ = ["ANSWERS", "Peers", "peers_of"]

_KEPT = "peers"  # the document
_PLACES, _EVENTS, _THREADS = 500, 20, 50  # that are known
_DOES = (Effect.WRITE_FILES, Effect.EXECUTE, Effect.SEND, Effect.REMEMBER, Effect.SCHEDULE, Effect.CONFIGURE)
ANSWERS = TurnBounds(never=(*_DOES, Effect.DELEGATE))  # what a turn is that another agent asked for


def peers_of(ctx: PluginContext, platform: str) -> Sequence[str]:
    """The other agents of a platform, as its settings name them."""
    written: Mapping[str, Any] = ctx.host.section("platforms")
    here = written.get(platform)
    named = here.get("peers") if isinstance(here, Mapping) else None
    return tuple(map(str, named)) if isinstance(named, list) else ()


class Peers:
    """Says who began what other agents take part in, and when it is enough. ``access`` is what is known of a person."""

    def __init__(self, ctx: PluginContext, access: Callable[[Envelope], Awaitable[Access]]) -> None:
        self._ctx, self._access, self._config = ctx, access, gateway_settings(ctx).peers

    async def began(self, envelope: Envelope) -> tuple[str, Access]:
        """The account of the person who began, and what they may; silent where nobody did who may talk here.

        Of what waited it is the same person as when it came, whoever spoke since.
        """
        place = _place(await self._places(), envelope)
        spoke = str(place.get("threads", {}).get(envelope.thread) or place.get("sender", ""))
        answered = envelope.quote_by if envelope.quote_by not in (envelope.account, envelope.sender) else ""
        known = envelope.speaker.person if envelope.speaker else ""
        people = (answered, spoke, *(place.get("people", ()) if known else ()))
        for sender in dict.fromkeys(filter(None, people)):
            person = evolve(envelope, sender=sender, sender_name="", roles=(), addressed=True)
            found = await self._access(person)
            if found.outcome == "in" and known in ("", found.principal.person):
                return sender, evolve(found, role="user")  # what an agent says is never an admin's word
        profile = self._ctx.owner.profile
        nobody = Principal(profile=profile, person=f"{envelope.platform}:{envelope.sender}")
        return "", Access(outcome="silent", principal=nobody, by="no person who may talk here began")

    async def spoke(self, envelope: Envelope) -> None:
        """A person was heard: other agents may be answered again, for them."""
        if envelope.kind == "dm" or not envelope.sender or BOT in envelope.roles:
            return
        if not peers_of(self._ctx, envelope.platform):
            return

        def begin(place: dict[str, Any]) -> dict[str, Any]:
            threads = {**place.get("threads", {}), envelope.thread: envelope.sender}
            people = [*(one for one in place.get("people", []) if one != envelope.sender), envelope.sender]
            known = {"sender": envelope.sender, "threads": dict(list(threads.items())[-_THREADS:])}
            known["people"] = people[-_THREADS:]
            return {**known, "hops": 0, "events": place.get("events", [])}

        await self._change(envelope, begin)

    async def take(self, envelope: Envelope, began: str) -> None:
        """Count what another agent wrote, before it is answered; waits where that was too soon. Raises Over."""
        outcome: dict[str, Any] = {}
        quoted = hashlib.sha256(f"{envelope.quote_by} {envelope.quote}".encode()).hexdigest()[:16]
        by_person = bool(envelope.quote_by) and envelope.quote_by == began

        def count(place: dict[str, Any]) -> dict[str, Any]:
            events, hops = list(place.get("events", [])), int(place.get("hops", 0))
            if by_person and place.get("quoted") != quoted:
                hops = 0  # it answers something else that a person wrote, who spoke to that agent, and not to this one
            outcome.clear()
            outcome.update(again=envelope.event_id in events, hops=hops, wait=place.get("at", 0.0), told=False)
            if outcome["again"]:
                return place
            told = hops >= self._config.hops
            outcome["told"] = told and bool(place.get("told"))
            more = {"quoted": quoted} if by_person else {}
            known = {**place, **more, "sender": began, "events": [*events, envelope.event_id][-_EVENTS:], "told": told}
            return {**known, "hops": hops + (not told), "at": place.get("at", 0.0) if told else time.time()}

        await self._change(envelope, count)
        if not outcome["again"] and outcome["hops"] >= self._config.hops:
            text = f"I answered other agents {self._config.hops} times. A person has to speak before I go on."
            raise Over("" if outcome["told"] or not self._config.hops else text)
        if not outcome["again"] and (left := float(outcome["wait"]) + self._config.seconds - time.time()) > 0:
            await asyncio.sleep(min(left, self._config.seconds))

    async def _places(self) -> dict[str, Any]:
        kept = await self._ctx.documents.get(_KEPT)
        return dict(kept.value) if kept and isinstance(kept.value, Mapping) else {}

    async def _change(self, envelope: Envelope, edit: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        key = _key(envelope)

        def changed(kept: JSON | None) -> JSON:
            places: dict[str, Any] = dict(kept) if isinstance(kept, Mapping) else {}
            place = edit(dict(places.pop(key, {})))
            return {**dict(list(places.items())[-_PLACES:]), key: place}  # the last used one is the last

        await self._ctx.documents.change(_KEPT, changed)


def _key(envelope: Envelope) -> str:
    return f"{envelope.platform} {envelope.account} {envelope.chat}"


def _place(places: Mapping[str, Any], envelope: Envelope) -> Mapping[str, Any]:
    found = places.get(_key(envelope))
    return found if isinstance(found, Mapping) else {}
