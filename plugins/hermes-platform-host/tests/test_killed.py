"""kill -9 of the host at any moment, while terminals wait: each is told, and nothing is done twice."""

import asyncio
import json
import random
import re
import signal
from typing import Any

import pytest

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

ROUNDS, MANY = 12, 3
SESSION = re.compile(r"\d{8}_\d{6}_[0-9a-f]{8}")


async def test_no_effect_is_had_twice_and_nobody_waits_for_ever(house: Any) -> None:
    house.configure("policy: {mode: 'off'}\nbackends: {local: {wall: none}}\n")
    chance = random.Random(17)

    async def model(writer: asyncio.StreamWriter) -> None:
        messages = house.model.asked[-1].body["messages"]
        asked = next(one["content"] for one in reversed(messages) if one["role"] == "user")
        await asyncio.sleep(chance.random() / 5)
        ran = messages[-1]["role"] == "tool"
        writer.write(house.says("Done.") if ran else house.calls(f"echo {asked.split()[-1]} >> there"))
        await writer.drain()

    house.model.always = model
    told: list[tuple[int, str]] = []
    for number in range(ROUNDS):
        await house.open()
        asking = [await house.start("-z", f"note {number}-{one}") for one in range(MANY)]
        await asyncio.sleep(0.3 + chance.random() * 2)
        await house.close(signal.SIGKILL)
        for one in asking:
            out, err = await asyncio.wait_for(one.communicate(), 60)
            assert one.returncode is not None
            told.append((one.returncode, err.decode()))
            assert (one.returncode, out) == (0, b"Done.\n") or "The host ended" in err.decode()
    await house.hermes("resume")
    lines = (house.work / "there").read_text().splitlines()
    assert len(lines) == len(set(lines)), "no command ran twice"
    status, out, _ = await house.hermes("sessions", "list", "--json", "--limit", "100")
    assert status == 0
    assert {json.loads(line)["state"] for line in out.splitlines()} == {"idle"}, "nothing is left in the middle"
    assert {status for status, _ in told} == {0, 1}, "some came to their end, and some did not"
