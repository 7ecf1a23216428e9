"""What a real datagram socket gets told, and that a sign of life is one."""

import asyncio
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_core.errors import StoreError
from hermes_core.gateway.supervision.notify import Pulse, ServiceManager
from hermes_core.store.store import open_store


class Receiver:
    """The socket that systemd listens on."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.setblocking(False)

    def heard(self) -> list[list[str]]:
        """What came since the last time, message by message."""
        told = []
        while True:
            try:
                told.append(self.socket.recv(4096).decode().split("\n"))
            except BlockingIOError:
                return told

    async def next(self) -> list[str]:
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(30):
            return (await loop.sock_recv(self.socket, 4096)).decode().split("\n")


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[Receiver]:
    made = Receiver(str(tmp_path / "notify"))
    yield made
    made.socket.close()


def manager(tmp_path: Path, **more: str) -> ServiceManager:
    return ServiceManager({"NOTIFY_SOCKET": str(tmp_path / "notify"), **more})


def test_each_step_is_one_datagram_of_lines(tmp_path: Path, receiver: Receiver):
    service = manager(tmp_path)
    service.ready("2 platforms")
    service.status("telegram\nconnected")
    service.stopping("3 turns run")
    service.stopping(within=25.5)
    assert receiver.heard() == [
        ["READY=1", "STATUS=2 platforms"], ["STATUS=telegram connected"], ["STOPPING=1", "STATUS=3 turns run"],
        ["STOPPING=1", "EXTEND_TIMEOUT_USEC=25500000"],
    ]  # fmt: skip


@pytest.mark.skipif(not os.path.exists("/proc/net/unix"), reason="only Linux has abstract sockets")  # noqa: PTH110
def test_an_abstract_socket_is_spoken_to_as_well():
    name = f"hermes-test-{os.getpid()}"
    receiver = Receiver(f"\0{name}")
    try:
        ServiceManager({"NOTIFY_SOCKET": f"@{name}"}).ready()
        assert receiver.heard() == [["READY=1"]]
    finally:
        receiver.socket.close()


def test_nobody_else_learns_where_to_speak(tmp_path: Path, receiver: Receiver):
    environ = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "9", "WATCHDOG_PID": "", "HOME": "/"}
    ServiceManager(environ)
    assert environ == {"HOME": "/"}


@pytest.mark.parametrize("address", ["", "vsock:2:1", "relative"])
def test_without_a_socket_nothing_happens(address: str):
    service = ServiceManager({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "1000000"})
    service.ready()
    assert service.watchdog == 0


def test_a_socket_that_is_gone_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    manager(tmp_path).ready()
    assert "systemd cannot be told READY=1" in caplog.text


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ({"WATCHDOG_USEC": "30000000"}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, 0.0),
        ({"WATCHDOG_USEC": "soon"}, 0.0),
        ({}, 0.0),
    ],
)
def test_the_watchdog_is_ours_or_it_is_not(tmp_path: Path, given: dict[str, str], seconds: float):
    assert manager(tmp_path, **given).watchdog == seconds


async def test_there_are_signs_of_life_while_the_store_answers(tmp_path: Path, receiver: Receiver):
    store = open_store(tmp_path / "state.db")
    service = manager(tmp_path, WATCHDOG_USEC="30000")
    watching = asyncio.create_task(service.watch(Pulse(store.answers)))
    try:
        assert [await receiver.next() for _ in range(3)] == [["WATCHDOG=1"]] * 3
    finally:
        watching.cancel()
        store.close()


async def test_a_store_that_hangs_or_fails_gives_no_sign_and_one_that_is_back_does(
    tmp_path: Path, receiver: Receiver, caplog: pytest.LogCaptureFixture
):
    asked: list[str] = []
    hangs, trouble = asyncio.Event(), [True]

    async def answers() -> None:
        asked.append("asked")
        await hangs.wait()
        if trouble and trouble.pop():
            raise StoreError("The disk reports an error.")
        back.set()

    back = asyncio.Event()
    service = manager(tmp_path, WATCHDOG_USEC="3000")
    pulse = Pulse(answers)
    for _ in range(5):
        assert await pulse.beats(0.001) == "no answer in 0.001 s"
    assert asked == ["asked"]  # what hangs is not asked again and again
    watching = asyncio.create_task(service.watch(pulse))
    await asyncio.sleep(0.02)
    assert receiver.heard() == []
    hangs.set()
    await back.wait()
    assert await receiver.next() == ["WATCHDOG=1"]
    assert "does not answer: no answer in 0.001 s" in caplog.text
    watching.cancel()


async def test_a_failing_store_says_why():
    async def answers() -> None:
        raise StoreError("The disk reports an error.")

    assert await Pulse(answers).beats(1) == "The disk reports an error."


async def test_a_loop_that_hangs_gives_no_sign(tmp_path: Path, receiver: Receiver):
    """Blocking the loop, as a broken plugin would, is exactly what the watchdog is for."""

    async def answers() -> None:
        return

    watching = asyncio.create_task(manager(tmp_path, WATCHDOG_USEC="3000").watch(Pulse(answers)))
    assert await receiver.next() == ["WATCHDOG=1"]
    receiver.heard()
    deadline = asyncio.get_running_loop().time() + 0.05
    while asyncio.get_running_loop().time() < deadline:
        pass  # not one await
    assert receiver.heard() == []
    assert await receiver.next() == ["WATCHDOG=1"]
    watching.cancel()


async def test_nobody_waits_for_signs_then_watching_ends(tmp_path: Path):
    async def answers() -> None:
        raise AssertionError

    await manager(tmp_path).watch(Pulse(answers))
