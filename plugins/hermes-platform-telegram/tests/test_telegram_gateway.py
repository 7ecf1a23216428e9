"""A whole gateway on a scripted Telegram, killed where it hurts: each message is answered, and seen once."""

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from telegram_service import TOKEN, Fault, refused

from hermes_core.testing.forks import Forks

PATIENCE = 60.0  # seconds; only a failure takes so long


@pytest.fixture(scope="module")
def forks():
    with Forks(Path(__file__).with_name("dying.py")) as made:
        yield made


class Gateway:
    def __init__(self, home, service, forks):
        self.home, self.service, self.forks = home, service, forks
        home.mkdir()
        section = f"{{base_url: '{service.url}', allow_all_users: true, seconds: 1, album_seconds: 0.2}}"
        (home / "config.yaml").write_text(f"platforms: {{telegram: {section}}}\n")

    @asynccontextmanager
    async def running(self, die_at=""):
        """A gateway in a process of its own; what is given is the status that it ends with."""
        env = {"HERMES_HOME": str(self.home), "TELEGRAM_BOT_TOKEN": TOKEN, "HERMES_TESTING": "1"}
        said = self.home.with_name("said")
        process = self.forks.start(env={**env, "HERMES_DIE_AT": die_at}, output=said, words=["gateway", "run"])
        status = asyncio.ensure_future(asyncio.to_thread(self.forks.wait))
        try:
            yield status
        finally:
            if not status.done():
                os.kill(process, signal.SIGTERM)
            done, _ = await asyncio.wait([status], timeout=PATIENCE)
            if not done:
                with suppress(ProcessLookupError):
                    os.killpg(process, signal.SIGKILL)
            await status
            assert done, "it did not end when it was told to"
            assert TOKEN.partition(":")[2] not in said.read_text()

    async def answers(self, number):
        """The texts that are seen, once there are so many besides placeholders."""
        async with asyncio.timeout(PATIENCE):
            while len(found := [t for t in await self.service.seen() if t != "…"]) < number or self.service.queue:
                await asyncio.sleep(0.02)
        return found


@pytest.fixture
def gateway(tmp_path, service, forks):
    return Gateway(tmp_path / "hermes", service, forks)


@pytest.mark.long
@pytest.mark.parametrize(
    "point",
    [
        "received",
        "journaled",
        "replied",
        "answered",
        *(f"{w}:{n}" for w in ("storing", "stored") for n in range(1, 10)),
    ],
)
async def test_a_kill_loses_nothing_and_shows_nothing_twice(gateway, service, point):
    await service.say("hello there")
    async with gateway.running(die_at=point) as status:
        assert await asyncio.wait_for(asyncio.shield(status), PATIENCE) == -signal.SIGKILL
    async with gateway.running():
        (answer,) = await gateway.answers(1)
        await service.say("what can you do?")
        first, second = await gateway.answers(2)
    assert answer == first
    assert answer.startswith("Hello!")
    assert second != first
    assert len(service.confirmed) == 2


@pytest.mark.long
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


@pytest.mark.long
async def test_no_placeholder_is_left_where_receipts_were_lost(gateway, service):
    service.script("sendMessage", Fault(cut=True, after=True), Fault(hang=True, after=True))
    async with gateway.running():
        await service.say("hello there")
        await gateway.answers(1)
        async with asyncio.timeout(PATIENCE):
            while "…" in await service.seen():
                await asyncio.sleep(0.02)
        assert len(await service.seen()) == 1
    assert len(service.made("sendMessage")) == 3


async def test_an_empty_section_is_served_or_says_why_not(gateway):
    (gateway.home / "config.yaml").write_text("platforms:\n  telegram:\n")
    said = gateway.home.with_name("said")
    said.touch()
    process = gateway.forks.start(
        env={"HERMES_HOME": str(gateway.home), "HERMES_TESTING": "1"}, output=said, words=["gateway", "run"]
    )
    ended = asyncio.ensure_future(asyncio.to_thread(gateway.forks.wait))
    async with asyncio.timeout(PATIENCE):
        while "parked" not in said.read_text():
            assert not ended.done()
            await asyncio.sleep(0.02)
    assert "TELEGRAM_BOT_TOKEN is not set" in said.read_text()
    os.kill(process, signal.SIGTERM)
    await ended


@pytest.mark.long
async def test_where_nobody_can_answer_it_says_so_in_each_place(gateway, service):
    done = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "hermes_core", "plugins", "disable", "offline",
        env={**os.environ, "HERMES_HOME": str(gateway.home)},
    )  # fmt: skip
    assert await done.wait() == 0
    async with gateway.running():
        await service.say("hello?")
        assert "No provider can answer" in (await gateway.answers(1))[0]
    assert "Nobody can answer: No provider can answer." in gateway.home.with_name("said").read_text()
    logs = "".join(path.read_text() for path in (gateway.home / "logs").glob("*.log"))
    assert "nobody can answer" in logs
    assert "was not taken" in logs
