"""A home of a few lines that speaks the WebSocket API of Home Assistant as it is documented, and can misbehave."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Response

TOKEN = "a-long-lived-token"
SERVICES: dict[str, Any] = {
    "light": {
        "turn_on": {"description": "Turn on.", "fields": {"brightness": {"description": "0 to 255", "example": 120}}},
        "turn_off": {},
    },
    "lock": {"unlock": {"description": "Unlock."}},
    "scene": {"apply": {}},
    "weather": {"get_forecasts": {"response": {"optional": False}}},
    "shell_command": {"anything": {}},
}


class SmallHome:
    """What is in it, and ``calls``, what was done to it."""

    def __init__(self) -> None:
        self.states: dict[str, dict[str, Any]] = {}
        self.calls: list[dict[str, Any]] = []
        self.sockets: list[ServerConnection] = []
        self.listening: list[tuple[ServerConnection, int]] = []
        self.asked: list[str] = []
        self.url, self.answers, self.says = "", {}, None
        self._clock = 0
        self.put("light.desk", "off", friendly_name="Desk lamp")
        self.put("lock.front", "locked", friendly_name="Front door")
        self.put("sensor.warmth", "20", friendly_name="Warmth", unit_of_measurement="°C")

    def put(self, entity: str, state: str, **attributes: Any) -> dict[str, Any]:
        """Make an entity be something, and tell nobody."""
        old = self.states.get(entity)
        self._clock += old is None or old["state"] != state
        when = f"2026-01-01T00:00:{self._clock // 1000:02}.{self._clock % 1000:03}000+00:00"
        kept = old["attributes"] if old else {}
        self.states[entity] = {
            "entity_id": entity, "state": state, "attributes": {**kept, **attributes},
            "last_changed": old["last_changed"] if old and old["state"] == state else when,
        }  # fmt: skip
        return self.states[entity]

    async def become(self, entity: str, state: str, **attributes: Any) -> None:
        """The same, and tell whoever listens."""
        event = {"event_type": "state_changed", "data": {"new_state": self.put(entity, state, **attributes)}}
        for socket, number in [*self.listening]:
            await socket.send(json.dumps({"id": number, "type": "event", "event": event}))

    async def drop(self) -> None:
        """End all connections."""
        self.listening.clear()
        for socket in [*self.sockets]:
            await socket.close()

    async def _serve(self, socket: ServerConnection) -> None:
        self.sockets.append(socket)
        if self.says is not None:
            await socket.send(self.says)
            await socket.wait_closed()
            return
        await socket.send(json.dumps({"type": "auth_required", "ha_version": "2026.1"}))
        said = json.loads(await socket.recv())
        if said != {"type": "auth", "access_token": TOKEN}:
            await socket.send(json.dumps({"type": "auth_invalid", "message": "Invalid access token or password"}))
            return
        await socket.send(json.dumps({"type": "auth_ok", "ha_version": "2026.1"}))
        async for line in socket:
            asked = json.loads(line)
            self.asked.append(asked["type"])
            answer = await self._answer(socket, asked)
            if answer is not None:
                await socket.send(json.dumps({"id": asked["id"], "type": "result", **answer}))

    async def _answer(self, socket: ServerConnection, asked: dict[str, Any]) -> dict[str, Any] | None:
        what = asked["type"]
        if what in self.answers:
            given = self.answers[what]
            return given(socket) if callable(given) else given
        if what == "subscribe_events":
            self.listening.append((socket, asked["id"]))
            return {"success": True, "result": None}
        if what == "call_service":
            self.calls.append(asked)
            for entity in asked.get("target", {}).get("entity_id", ()):
                self.put(entity, "on" if asked["service"] == "turn_on" else asked["service"])
            return {
                "success": True,
                "result": {"context": {}, "response": {"sun": 7} if "return_response" in asked else None},
            }
        found: dict[str, Any] = {
            "get_states": [*self.states.values()],
            "get_services": SERVICES,
            "config/area_registry/list": [{"area_id": "kitchen", "name": "Küche"}],
            "config/device_registry/list": [{"id": "d1", "area_id": "kitchen"}],
            "config/entity_registry/list": [{"entity_id": "light.desk", "area_id": None, "device_id": "d1"}],
            "history/history_during_period": {
                "light.desk": [
                    {"s": "off", "lu": 1_767_225_600},
                    {"s": "off", "lu": 1_767_225_601},
                    {"s": "on", "lu": 1_767_225_660},
                ]
            },
        }
        if what in found:
            return {"success": True, "result": found[what]}
        return {"success": False, "error": {"code": "unknown_command", "message": "Unknown command."}}


@asynccontextmanager
async def small_home(redirect: str = "") -> AsyncIterator[SmallHome]:
    """Runs one."""
    home = SmallHome()

    def lead(socket: ServerConnection, request: Any) -> Response | None:
        if not redirect:
            return None
        response = socket.respond(307, "")
        response.headers["Location"] = redirect
        return response

    async with serve(home._serve, "127.0.0.1", 0, process_request=lead) as server:
        home.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield home


async def until(met: Any, seconds: float = 20.0) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(seconds):
        while not met():
            await asyncio.sleep(0.01)
