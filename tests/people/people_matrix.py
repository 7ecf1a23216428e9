"""A Matrix homeserver with people in it, as far as a client of the gateway asks one: rooms, events, who is where.

It is called where the plugin would speak HTTP. It vouches for who wrote an event and what room it is in, as real ones
do; everything else in an event may say whatever its sender likes.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from hermes_platform_matrix.homeserver import Refused

__all__ = ["BOT", "CLUB", "Village", "home_of", "user_of"]

BOT = "@hermes:street"
CLUB = "!club:street"
_EMPTY: dict[str, Any] = {}


def user_of(who: str) -> str:
    """What somebody is called there."""
    return f"@{who}:street"


def home_of(who: str) -> str:
    """The room of somebody and the bot."""
    return f"!{who}:street"


class Village:
    """Everybody has a room with the bot, and one is for all. ``log`` is what happened, in order."""

    def __init__(self, people: tuple[str, ...]) -> None:
        self.names = {user_of(who): who.title() for who in people} | {BOT: "Hermes"}
        self.rooms: dict[str, set[str]] = {home_of(who): {user_of(who), BOT} for who in people}
        self.rooms[CLUB] = set(self.names)
        self.admins = {CLUB: {user_of("oli")}}
        self.log: list[dict[str, Any]] = []
        self.asked: dict[str, str] = {}  # by transaction: the event
        self.uploads = list[bytes]()
        self.waits = False  # whether all was told
        self._news = asyncio.Condition()

    # --- people -----------------------------------------------------------------------------------------------------

    async def put(self, who: str, room: str, kind: str, content: Mapping[str, Any], **more: Any) -> str:
        """Somebody sends an event into a room; its id."""
        async with self._news:
            self.waits = False
            event = {"event_id": f"$e{len(self.log)}", "type": kind, "sender": who, "content": dict(content), **more}
            self.log.append({**event, "room_id": room, "origin_server_ts": 1_760_000_000_000 + len(self.log)})
            self._news.notify_all()
        return str(event["event_id"])

    async def say(self, who: str, room: str, text: str, **more: Any) -> str:
        """Somebody writes to the bot; ``more`` are other fields of the content."""
        content = {"msgtype": "m.text", "body": text, "m.mentions": {"user_ids": [BOT]}, **more}
        return await self.put(user_of(who), room, "m.room.message", content)

    async def member(self, who: str, room: str, membership: str, name: str = "") -> None:
        """Somebody comes, goes, or is called something else."""
        user = user_of(who)
        (self.rooms[room].add if membership in ("join", "invite") else self.rooms[room].discard)(user)
        self.names[user] = name or self.names.get(user, who.title())
        content = {"membership": membership, "displayname": self.names[user]}
        await self.put(user, room, "m.room.member", content, state_key=user)

    def shown(self, room: str) -> list[dict[str, Any]]:
        """The messages of the bot in a room, as they finally stand."""
        said: dict[str, dict[str, Any]] = {}
        for event in list(self.log):
            if event["sender"] != BOT or event["room_id"] != room or event["type"] != "m.room.message":
                continue
            related = event["content"].get("m.relates_to") or {}
            if related.get("rel_type") == "m.replace":
                before = said.get(related["event_id"], event)
                said[related["event_id"]] = {**before, "text": event["content"]["m.new_content"]["body"]}
            else:
                said[event["event_id"]] = {**event, "text": event["content"].get("body", "")}
        return list(said.values())

    # --- the client API ---------------------------------------------------------------------------------------------

    async def answer(self, method: str, where: str, content: bytes | None, query: Mapping[str, str] | None) -> Any:
        """What the homeserver says to a request of the bot. Raises Refused."""
        if where.startswith("/_matrix/media/"):
            self.uploads.append(content or b"")
            return {"content_uri": f"mxc://street/{len(self.uploads)}"}
        words = [unquote(word) for word in where.removeprefix("/_matrix/client/v3/").strip("/").split("/")]
        body = json.loads(content) if content else {}
        found = await (self._read(words, query or {}) if method == "GET" else self._do(words, body))
        if found is None:
            raise Refused(404, "M_NOT_FOUND", f"{method} {where}", None, {})
        return found

    async def _read(self, words: list[str], query: Mapping[str, str]) -> Any:
        """What is asked for; None where it is not there."""
        match words:
            case ["account", "whoami"]:
                return {"user_id": BOT, "device_id": "DEVICE"}
            case ["profile", user, "displayname"]:
                return {"displayname": self.names[user]}
            case ["sync"]:
                return await self._sync(query)
            case ["rooms", room, "members"]:
                return {"chunk": [self._member(user) for user in sorted(self._there(room))]}
            case ["rooms", room, "state", "m.room.power_levels"]:
                return {"users": dict.fromkeys(self.admins.get(room, ()), 100)}
            case ["rooms", room, "state", "m.room.name"] if self._there(room) and room == CLUB:
                return {"name": "Club"}
            case ["rooms", room, "event", event] if self._there(room):
                return next((one for one in self.log if one["event_id"] == event and one["room_id"] == room), None)
        return None

    async def _do(self, words: list[str], body: dict[str, Any]) -> Any:
        """What the bot does; None where it cannot."""
        match words:
            case ["rooms", room, "send", kind, transaction] if self._there(room):
                if transaction not in self.asked:
                    self.asked[transaction] = await self.put(BOT, room, kind, body)
                return {"event_id": self.asked[transaction]}
            case ["rooms", _, "redact" | "typing" | "receipt", *_]:
                return _EMPTY
            case ["join", room]:
                self.rooms[room].add(BOT)
                return {"room_id": room}
            case ["rooms", room, "leave"]:
                self._there(room).discard(BOT)
                return _EMPTY
        return None

    async def _sync(self, query: Mapping[str, str]) -> dict[str, Any]:
        since = int(query.get("since", "0"))
        async with self._news:
            if "since" in query and len(self.log) <= since:
                self.waits = True
                try:
                    async with asyncio.timeout(int(query.get("timeout", "0")) / 1000):
                        await self._news.wait()
                except TimeoutError:
                    pass
                finally:
                    self.waits = False
            joined: dict[str, Any] = {
                room: {"timeline": {"events": []}} for room, there in self.rooms.items() if BOT in there
            }
            for event in self.log[since:]:
                if event["room_id"] in joined:
                    told = {name: value for name, value in event.items() if name != "room_id"}
                    joined[event["room_id"]]["timeline"]["events"].append(told)
            if "since" in query:
                joined = {room: told for room, told in joined.items() if told["timeline"]["events"]}
            return {"next_batch": str(len(self.log)), "rooms": {"join": joined}}

    def _there(self, room: str) -> set[str]:
        if BOT not in self.rooms.get(room, ()):
            raise Refused(403, "M_FORBIDDEN", "not in this room", None, {})
        return self.rooms[room]

    def _member(self, user: str) -> dict[str, Any]:
        content = {"membership": "join", "displayname": self.names[user]}
        return {"type": "m.room.member", "state_key": user, "sender": user, "content": content}
