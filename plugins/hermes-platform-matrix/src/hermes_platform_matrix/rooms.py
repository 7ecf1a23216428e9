"""Who is in a room, what it is called, and whether it is encrypted."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import field

from hermes_core.values import define
from hermes_platform_matrix.homeserver import Homeserver, Refused, path
from hermes_platform_matrix.markup import sound
from hermes_platform_matrix.store import AccountStore

__all__ = ["Room", "Rooms"]

_KEPT = 200  # rooms in memory; others are asked for again


@define
class Room:
    """A room as it is now. ``people`` are those in it and those invited, each with a display name.

    ``encryption`` says how it is encrypted; None when it is not.
    """

    id: str
    people: dict[str, str] = field(factory=dict)
    name: str = ""
    encryption: Mapping[str, Any] | None = None

    @property
    def is_dm(self) -> bool:
        """Whether nobody reads along."""
        return len(self.people) <= 2

    def name_of(self, user: str) -> str:
        """What a person is called in it."""
        return self.people.get(user) or user


class Rooms:
    """Rooms, asked for when they are first needed and kept fresh by what a sync says."""

    def __init__(self, server: Homeserver, store: AccountStore) -> None:
        self._server, self._store = server, store
        self._rooms: dict[str, Room] = {}

    async def get(self, room_id: str) -> Room:
        """A room. Raises Refused when we are not in it, Cut."""
        if room := self._rooms.get(room_id):
            return room
        members, encryption, name = await asyncio.gather(
            self._server.ask("GET", path("v3", "rooms", room_id, "members"), query={"not_membership": "leave"}),
            self._state(room_id, "m.room.encryption"),
            self._state(room_id, "m.room.name"),
        )
        if encryption is not None:
            self._encrypted(room_id, encryption)
        room = Room(room_id, name=_text((name or {}).get("name")), encryption=self._store.get("encrypted", room_id))
        _apply(room, members.get("chunk", ()))
        while len(self._rooms) >= _KEPT:
            del self._rooms[next(iter(self._rooms))]
        self._rooms[room_id] = room
        return room

    async def _state(self, room_id: str, kind: str) -> dict[str, Any] | None:
        try:
            return await self._server.ask("GET", path("v3", "rooms", room_id, "state", kind) + "/")
        except Refused as refused:
            if refused.status == 404:
                return None
            raise

    async def admins(self, room_id: str) -> set[str]:
        """Who may change a room. Raises Refused, Cut."""
        levels = await self._state(room_id, "m.room.power_levels") or {}
        users, least = levels.get("users"), levels.get("state_default", 50)
        if not isinstance(users, Mapping) or not isinstance(least, int):
            return set()
        return {user for user, level in users.items() if isinstance(level, int) and level >= least}

    def _encrypted(self, room_id: str, rules: Mapping[str, Any]) -> None:
        """Once encrypted, a room is never taken for a plain one again, whatever it says later."""
        if "algorithm" in rules or self._store.get("encrypted", room_id) is None:
            self._store.put("encrypted", room_id, dict(rules))

    def apply(self, room_id: str, joined: Mapping[str, Any]) -> None:
        """What a sync says of a room we are in."""
        timeline = joined.get("timeline", {})
        events = [*joined.get("state", {}).get("events", ()), *timeline.get("events", ())]
        for event in events:
            if event.get("type") == "m.room.encryption" and event.get("state_key") == "":
                self._encrypted(room_id, event.get("content", {}))
        if timeline.get("limited"):  # who came and went in the gap is not told
            self.forget(room_id)
        elif room := self._rooms.get(room_id):
            _apply(room, events)
            room.encryption = self._store.get("encrypted", room_id)

    def forget(self, room_id: str) -> None:
        """Ask again when it is needed."""
        self._rooms.pop(room_id, None)


def _apply(room: Room, events: Iterable[Mapping[str, Any]]) -> None:
    for event in events:
        content = event.get("content")
        if not isinstance(content, Mapping) or not isinstance(key := event.get("state_key"), str):
            continue
        if event.get("type") == "m.room.name":
            room.name = _text(content.get("name"))
        elif event.get("type") == "m.room.member":
            if content.get("membership") in ("join", "invite"):
                room.people[key] = _text(content.get("displayname"))
            else:
                room.people.pop(key, None)


def _text(value: Any) -> str:
    return sound(value[:200]) if isinstance(value, str) else ""
