"""Notices on a desktop: a real bus, a real notify-send, and a daemon that shows what it is told."""

import shutil
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from hermes_core.errors import UserError
from hermes_tool_events.desktop import absent, command, show

NAME = "org.freedesktop.Notifications"
DESK = {"desk": {"kind": "desktop"}}


class Desktop:
    """Shows notices on a session bus of its own."""

    def __init__(self, bus: str) -> None:
        from jeepney.bus_messages import message_bus
        from jeepney.io.blocking import open_dbus_connection

        self.shown: list[tuple[str, str, dict[str, Any]]] = []
        self.bus = bus
        self._connection = open_dbus_connection(bus=bus)
        self._connection.send_and_get_reply(message_bus.RequestName(NAME))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        from jeepney import HeaderFields, MessageType, new_method_return

        while True:
            try:
                message = self._connection.receive()
            except (OSError, ConnectionError):
                return
            if message.header.message_type is not MessageType.method_call:
                continue
            called = message.header.fields[HeaderFields.member]
            if called == "Notify":
                _, _, _, title, body, _, hints, _ = message.body
                self.shown.append((title, body, {name: value for name, (_, value) in hints.items()}))
                self._connection.send(new_method_return(message, "u", (len(self.shown),)))
            elif called == "GetServerInformation":
                self._connection.send(new_method_return(message, "ssss", ("test", "hermes", "1", "1.2")))
            elif called == "GetCapabilities":
                self._connection.send(new_method_return(message, "as", (["body", "body-markup"],)))

    def close(self) -> None:
        """Leave the bus."""
        self._connection.close()


@pytest.fixture
def desktop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desktop]:
    """A desktop, for this process."""
    arguments = ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout
        address = daemon.stdout.readline().strip()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        monkeypatch.delenv("SSH_CONNECTION", raising=False)
        made = Desktop(address)
        yield made
        daemon.terminate()
        daemon.wait()
        made.close()


@pytest.mark.real
async def test_the_end_of_a_turn_is_shown_without_what_was_said(house: Any, scripted: Any, desktop: Desktop) -> None:
    made = house(scripted("The key is hunter2."), DESK)
    await made.say("Tell me.")
    await made.service.round()
    ((title, body, hints),) = desktop.shown
    assert (title, body) == ("Hermes is done", "Session s, telegram")
    assert "hunter2" not in str(desktop.shown)
    assert [one.state for one in await made.rows.log()] == ["done"]
    assert hints.get("urgency", 1) == 1


@pytest.mark.real
async def test_words_are_neither_options_nor_formatting(desktop: Desktop) -> None:
    await show("--help", "<b>bold</b> & \x1b[31mred\n\nnext", urgent=True)
    ((title, body, hints),) = desktop.shown
    assert (title, body) == ("--help", "&lt;b&gt;bold&lt;/b&gt; &amp; [31mred\nnext")
    assert hints["urgency"] == 2


@pytest.mark.real
async def test_what_nobody_shows_is_an_error_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
    with pytest.raises(UserError, match="notify-send says"):
        await show("Title", "Body")


async def test_where_there_is_no_desktop_nothing_is_written_and_a_trial_says_why(
    house: Any, scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    made = house(scripted("One."), DESK)
    await made.say("1")
    await made.service.round()
    assert await made.rows.log() == []
    with pytest.raises(UserError, match="over SSH"):
        await made.bench.command("events test", "desk")


async def test_without_the_program_it_is_said_how_to_get_it(
    house: Any, scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/tmp/bus")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    made = house(scripted(), DESK)
    with pytest.raises(UserError, match="notify-send") as raised:
        await made.bench.command("events test", "desk")
    assert "libnotify-bin" in str(raised.value.hint)


@pytest.mark.parametrize(
    ("environ", "platform", "there"),
    [
        ({"DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1/bus"}, "linux", True),
        ({"DBUS_SESSION_BUS_ADDRESS": "x", "SSH_CONNECTION": "a"}, "linux", False),
        ({"DBUS_SESSION_BUS_ADDRESS": "x", "SSH_CONNECTION": "a", "DISPLAY": ":10"}, "linux", True),
        ({"SSH_CONNECTION": "a", "DISPLAY": ""}, "darwin", False),
        ({}, "darwin", True),
    ],
)
def test_where_a_desktop_is(environ: dict[str, str], platform: str, there: bool) -> None:
    assert (absent(environ, platform) == "") is there


def test_on_a_mac_words_are_arguments_of_the_script() -> None:
    """Written by the manual of osascript: no Mac is here."""
    argv = command('--"; do shell script "id', "body", platform="darwin")
    assert argv[0] == "osascript"
    assert argv[-2:] == ('"; do shell script "id', "body"), "and none is taken for an option"
    assert sum("id" in one for one in argv) == 1
