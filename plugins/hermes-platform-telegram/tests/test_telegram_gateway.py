"""A whole gateway on a scripted Telegram, killed where it hurts: each message is answered, and seen once."""

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager

import pytest
from telegram_service import TOKEN, Fault, refused

PATIENCE = 60.0  # seconds; only a failure takes so long


class Gateway:
    def __init__(self, home, service):
        self.home, self.service = home, service
        home.mkdir()
        section = f"{{base_url: '{service.url}', allow_all_users: true, seconds: 2, album_seconds: 0.2}}"
        (home / "config.yaml").write_text(f"platforms: {{telegram: {section}}}\n")

    @asynccontextmanager
    async def running(self, die_at=""):
        env = {**os.environ, "HERMES_HOME": str(self.home), "TELEGRAM_BOT_TOKEN": TOKEN, "HERMES_TESTING": "1"}
        env |= {"HERMES_DIE_AT": die_at} if die_at else {}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "hermes_core", "gateway", "run", env=env, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        said = asyncio.ensure_future(process.stdout.read())
        try:
            yield process
        finally:
            if process.returncode is None:
                process.terminate()
            try:
                async with asyncio.timeout(PATIENCE):
                    await process.wait()
            finally:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
            assert TOKEN.partition(":")[2].encode() not in await said

    async def answers(self, number):
        """The texts that are seen, once there are so many besides placeholders."""
        async with asyncio.timeout(PATIENCE):
            while len(found := [t for t in await self.service.seen() if t != "…"]) < number or self.service.queue:
                await asyncio.sleep(0.02)
        return found


@pytest.fixture
def gateway(tmp_path, service):
    return Gateway(tmp_path / "hermes", service)


@pytest.mark.parametrize(
    "point",
    ["received", "journaled", "replied", "answered", "outboxed", "sending", "accepted:1", "accepted:2", "receipted"],
)
async def test_a_kill_loses_nothing_and_shows_nothing_twice(gateway, service, point):
    await service.say("hello there")
    async with gateway.running(die_at=point) as process, asyncio.timeout(PATIENCE):
        assert await process.wait() == -signal.SIGKILL
    async with gateway.running():
        (answer,) = await gateway.answers(1)
        await service.say("what can you do?")
        first, second = await gateway.answers(2)
    assert answer == first
    assert answer.startswith("Hello!")
    assert second != first
    assert len(service.confirmed) == 2


async def test_an_unkind_service_changes_nothing(gateway, service):
    """Time-outs after accept, 429, 5xx, nonsense and redelivery: each message is answered once."""
    service.script("getUpdates", Fault(cut=True, after=True), Fault(body=b"{", after=True))
    service.script("sendMessage", refused(429, "Too Many Requests", retry_after=1), Fault(status=502, body=b"<html>"))
    service.script(
        "editMessageText", Fault(cut=True, after=True), Fault(hang=True, after=True), refused(429, "x", retry_after=1)
    )
    async with gateway.running():
        await service.say("hello there")
        await gateway.answers(1)
        again = {"update_id": service.update_id, "message": service.message(text="hello there")}
        again["message"]["message_id"] = service.message_id = 11
        service.message_id = 500
        service.queue.append(again)
        service._news.set()
        await service.say("what can you do?")
        first, second = await gateway.answers(2)
    assert first.startswith("Hello!")
    assert not second.startswith("Hello!")
