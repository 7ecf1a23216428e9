"""What another way in, or another process, plays in a session is seen by a terminal that is attached, as it goes on."""

import asyncio
import json
import socket
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

KEY = "a-key-of-the-owner-that-is-long-enough"
ASK = "policy: {mode: ask}\nbackends: {local: {wall: none}}\n"


class Api:
    """The API of the gateway in which the host is."""

    def __init__(self, house: Any) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        house.configure(f"{ASK}platforms: {{api: {{port: {self.port}}}}}\n")
        (house.home / ".env").write_text(f"API_SERVER_KEY={KEY}\n")

    async def call(self, path: str, body: Any = None) -> Any:
        """Ask for something; what is answered."""

        def ask() -> Any:
            data = None if body is None else json.dumps(body).encode()
            heads = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
            with urlopen(Request(f"http://127.0.0.1:{self.port}{path}", data, heads), timeout=30) as answer:
                return json.load(answer)

        return await asyncio.to_thread(ask)

    async def until(self, path: str, status: str) -> Any:
        """Wait until a run has come so far."""
        async with asyncio.timeout(40):
            while (run := await self.call(path))["status"] != status:
                await asyncio.sleep(0.05)
        return run

    async def up(self) -> None:
        """Wait until it answers."""
        async with asyncio.timeout(40):
            while True:
                try:
                    await self.call("/v1/models")
                except HTTPError:
                    raise
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    return


@pytest.mark.timeout(180)
async def test_a_session_of_the_api_is_seen_and_answered_from_either(house: Any) -> None:
    api = Api(house)
    await house.open("gateway", "run")
    await api.up()
    house.model.script = [house.calls("sudo true"), house.says("It is gone.")]
    run = await api.call("/v1/runs", {"input": "take it away"})
    at = f"/v1/runs/{run['run_id']}"
    one = await house.attach(run["session_id"])
    await one.until("› take it away")
    await one.until("May this run?")
    await one.until("$ sudo true")
    one.write("deny")
    await one.until("It is gone.")
    assert (await api.until(at, "completed"))["output"] == "It is gone."
    assert one.shown.count("It is gone.") == 1

    two = await house.talk("-r", run["session_id"])
    two.write("/model")
    await two.until("Answering: m")
    house.model.script = [house.calls("sudo false"), house.says("It stays.")]
    run = await api.call("/v1/runs", {"input": "and the other?", "session_id": run["session_id"]})
    at = f"/v1/runs/{run['run_id']}"
    for terminal in (one, two):
        await terminal.until("› and the other?")
    await one.until("$ sudo false")
    await api.until(at, "waiting_for_approval")
    await api.call(f"{at}/approval", {"choice": "deny"})
    await one.until("It is asked no longer")
    for terminal in (one, two):
        await terminal.until("It stays.")
    one.write("when?")
    await one.until("Nine o'clock.")
    assert one.shown.count("It stays.") == 1
    assert (await one.leave(), await two.leave()) == (0, 0)


@pytest.mark.timeout(180)
async def test_another_process_is_seen_too(house: Any) -> None:
    house.configure(ASK)
    await house.open()
    assert (await house.hermes("-z", "when?"))[0] == 0
    one = await house.attach()
    await one.until("Nine o'clock.")
    house.model.script = [house.calls("sudo -n true; echo ran > there"), house.says("At ten.")]
    assert (await house.hermes("--yolo", "-c", "-z", "and now?"))[:2] == (0, "At ten.\n")
    await one.until("› and now?")
    await one.until("At ten.")
    assert (house.work / "there").exists()
    assert "May this run?" not in one.shown
    assert await one.leave() == 0
