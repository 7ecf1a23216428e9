"""News of the account: every event of every room once, in order, without gaps."""

import asyncio
import json
import logging
import random
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field

from hermes_core.values import define
from hermes_platform_matrix.e2ee.machine import Machine
from hermes_platform_matrix.homeserver import Cut, Homeserver, Refused, path
from hermes_platform_matrix.rooms import Rooms
from hermes_platform_matrix.store import AccountStore

__all__ = ["Feed", "Marks", "News"]

Event = Mapping[str, Any]
_PATIENCE = 6  # failures in a row that are borne here; then the kernel opens the platform anew, later and later
_LONGEST_PAUSE = 15.0
_GAP_PAGES = 30
_PAGE = 100
_FILTER = {
    "presence": {"types": []},
    "account_data": {"types": []},
    "room": {
        "timeline": {"limit": 50, "not_types": ["m.reaction", "m.room.redaction"]},
        "state": {"lazy_load_members": True},
        "ephemeral": {"types": []},
        "account_data": {"types": []},
    },
}


@define
class News:
    """What one sync brought. ``token`` is where the next one starts; ``keys`` are room keys that came with it.

    ``put_out`` are rooms that somebody else put the account out of, each with the event that says so.
    """

    token: str
    events: list[tuple[str, Event]] = field(factory=list)
    keys: set[tuple[str, str]] = field(factory=set)
    invites: list[tuple[str, str]] = field(factory=list)
    joined: list[str] = field(factory=list)
    left: list[str] = field(factory=list)
    put_out: list[tuple[str, Event]] = field(factory=list)


class Feed:
    """Syncs. It goes on from ``since`` in memory; what is on the store is moved by Marks."""

    def __init__(
        self,
        server: Homeserver,
        store: AccountStore,
        rooms: Rooms,
        machine: Machine | None,
        me: str,
        log: logging.Logger,
        seconds: float,
    ) -> None:
        self._server, self._store, self._rooms, self._machine = server, store, rooms, machine
        self._me, self._log, self._seconds = me, log, seconds
        self._since: str | None = store.get("sync", "since")
        self._new: set[str] = set()

    async def next(self) -> News:
        """The next news, also after a cut. Raises Refused for what waiting does not mend, Cut when it lasts."""
        failures = 0
        while True:
            try:
                return await self._sync()
            except (Refused, Cut) as error:
                failures += 1
                lasting = isinstance(error, Refused) and not error.limited and error.status < 500
                if lasting or failures >= _PATIENCE:
                    raise
                asked = getattr(error, "retry_after", None)
                longest = min(_LONGEST_PAUSE, 2.0 ** (failures - 2))
                pause = asked or longest * random.uniform(0.5, 1.0)  # noqa: S311 - not all at once
                self._log.warning("%s; trying again in %.1f s.", error, pause)
                await asyncio.sleep(pause)

    async def _sync(self) -> News:
        query = {"filter": json.dumps(_FILTER), "timeout": "0"}
        if self._since is not None:
            query |= {"since": self._since, "timeout": str(int(self._seconds * 1000))}
        answer = await self._server.ask("GET", path("v3", "sync"), query=query, seconds=self._seconds + 30)
        news = News(str(answer["next_batch"]))
        if self._machine:
            news.keys = await self._machine.take(answer)
        rooms = answer.get("rooms", {})
        for room_id, told in rooms.get("invite", {}).items():
            news.invites.extend(self._invite(room_id, told))
        for room_id, told in rooms.get("leave", {}).items():
            news.put_out.extend(self._put_out(room_id, told))
            self._rooms.forget(room_id)
            self._new.discard(room_id)
            news.left.append(room_id)
        for room_id, told in rooms.get("join", {}).items():
            events = await self._events(room_id, told, news)
            self._rooms.apply(room_id, told)
            news.events.extend((room_id, event) for event in events)
        self._since = news.token
        return news

    async def _events(self, room_id: str, told: Mapping[str, Any], news: News) -> Sequence[Event]:
        """The events of a room that were not seen before."""
        timeline = told.get("timeline", {})
        events: list[Event] = list(timeline.get("events", ()))
        known = room_id in self._new or self._store.get("joined", room_id) is not None
        if not known:
            self._new.add(room_id)
            news.joined.append(room_id)
        if self._since is None:  # the first time ever: what was said before is not for us
            return []
        if not known:
            return _since_invited(events, self._me)
        if timeline.get("limited") and timeline.get("prev_batch"):
            return [*await self._gap(room_id, str(timeline["prev_batch"]), self._since), *events]
        return events

    async def _gap(self, room_id: str, start: str, end: str) -> list[Event]:
        """What happened between two syncs and was too much for one of them."""
        found: list[Event] = []
        where = path("v3", "rooms", room_id, "messages")
        for _ in range(_GAP_PAGES):
            query = {"dir": "b", "from": start, "to": end, "limit": str(_PAGE)}
            answer = await self._server.ask("GET", where, query=query)
            found.extend(answer.get("chunk", ()))
            start = str(answer.get("end", ""))
            if not start or not answer.get("chunk"):
                return found[::-1]
        self._log.warning("matrix: more than %d events were missed in %s; older ones are gone.", len(found), room_id)
        return found[::-1]

    def _put_out(self, room_id: str, told: Mapping[str, Any]) -> list[tuple[str, Event]]:
        """Who put the account out of a room that it was in."""
        if room_id not in self._new and self._store.get("joined", room_id) is None:
            return []  # an invitation that was taken back
        for event in (*told.get("timeline", {}).get("events", ()), *told.get("state", {}).get("events", ())):
            mine = event.get("type") == "m.room.member" and event.get("state_key") == self._me
            gone = event.get("content", {}).get("membership") in ("leave", "ban")
            if mine and gone and event.get("event_id") and event.get("sender") not in (None, self._me):
                return [(room_id, event)]
        return []

    def _invite(self, room_id: str, told: Mapping[str, Any]) -> list[tuple[str, str]]:
        for event in told.get("invite_state", {}).get("events", ()):
            mine = event.get("type") == "m.room.member" and event.get("state_key") == self._me
            if mine and event.get("content", {}).get("membership") == "invite":
                return [(room_id, str(event.get("sender", "")))]
        return []


def _since_invited(events: list[Event], me: str) -> list[Event]:
    """What was said in a new room since we were asked in: the words that came with the invitation are for us."""
    start = 0
    for number, event in enumerate(events):
        if event.get("type") == "m.room.member" and event.get("state_key") == me:
            membership = event.get("content", {}).get("membership")
            before = event.get("unsigned", {}).get("prev_content", {}).get("membership")
            if membership == "invite" or (membership == "join" and start == 0 and before != "join"):
                start = number + 1
    return events[start:]


@define
class _Mark:
    news: News
    open: set[str] = field(factory=set)
    whole: bool = False


class Marks:
    """Which news are dealt with. The place to go on from moves on the store only over what is acknowledged."""

    def __init__(self, store: AccountStore) -> None:
        self._store = store
        self._marks: list[_Mark] = []

    def begin(self, news: News) -> None:
        """These news are being read."""
        self._marks.append(_Mark(news))

    def expect(self, event_id: str) -> None:
        """An event of the last news is handed over, and will be acknowledged."""
        self._marks[-1].open.add(event_id)

    def end(self) -> None:
        """All of the last news is handed over."""
        self._marks[-1].whole = True
        self._move()

    def done(self, event_id: str) -> None:
        """An event is acknowledged."""
        for mark in self._marks:
            mark.open.discard(event_id)
        self._move()

    def _move(self) -> None:
        while self._marks and self._marks[0].whole and not self._marks[0].open:
            news = self._marks.pop(0).news
            with self._store.together():
                for room in news.left:
                    self._store.drop("joined", room)
                for room in news.joined:
                    self._store.put("joined", room, True)
                for room, inviter in news.invites:
                    self._store.put("invited", room, inviter)
                self._store.put("sync", "since", news.token)
