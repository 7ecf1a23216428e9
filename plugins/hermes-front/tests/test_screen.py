"""Which command lines are a conversation on this terminal, and what becomes of one at a host of another version."""

import os
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hermes_front.screen import FRONTS, through_host, wanted
from hermes_front.wire import Lines, frame, place_of


@pytest.mark.parametrize(
    ("words", "order"),
    [
        ([], {}),
        (["chat"], {}),
        (["--tui", "-c"], {"talk": "tui", "latest": True}),
        (["--cli", "-r", "that one"], {"talk": "cli", "session": "that one"}),
        (["chat", "--resume=x=y", "--interface", "tui"], {"talk": "tui", "session": "x=y"}),
        (["attach"], {"talk": "attach"}),
        (["attach", "2026"], {"talk": "attach", "session": "2026"}),
    ],
)
def test_a_conversation_is_asked_for(words: list[str], order: dict[str, Any]) -> None:
    assert wanted(words) == {"talk": "", "session": "", "latest": False} | order


@pytest.mark.parametrize(
    "words",
    [
        *(["-z", "x"], ["--yolo"], ["-m", "m"], ["-p", "work"], ["--trust"], ["-w"], ["sessions"], ["chat", "-q", "x"]),
        *(
            ["-r"],
            ["--resume="],
            ["--interface=attach"],
            ["attach", "--help"],
            ["attach", "a", "b"],
            ["--help"],
            ["-cr"],
        ),
    ],
)
def test_all_else_is_done_by_the_command(words: list[str]) -> None:
    assert wanted(words) is None


class Terminal:
    """A stream that is one, or says so."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return os.write(2, text.encode())

    def flush(self) -> None:
        """There is nothing to."""


@pytest.fixture
def said_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int | None, dict[str, Any]]]:
    """Ask a host that says these frames; what came of it, and what it was told."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.delenv("HERMES_RUN", raising=False)
    monkeypatch.setattr("hermes_front.screen._PATIENCE", 5.0)
    monkeypatch.setattr("hermes_front.wire.why_refused", lambda _: "")
    place = Path(place_of(str(tmp_path)))
    place.parent.mkdir(parents=True)

    def ask(answers: Sequence[dict[str, Any]], words: Sequence[str] = (), stdin: Any = None) -> Any:
        told: dict[str, Any] = {}
        for name in ("stdin", "stdout"):
            monkeypatch.setattr(f"sys.{name}", stdin if name == "stdin" and stdin else Terminal())
        with socket.socket(socket.AF_UNIX) as host:
            monkeypatch.chdir(place.parent)
            host.bind(place.name)
            monkeypatch.chdir(tmp_path)
            host.listen()

            def serve() -> None:
                try:
                    connection, _ = host.accept()
                except OSError:  # nobody came
                    return
                with connection:
                    told.update(next(iter(Lines(connection))))
                    connection.sendall(b"".join(frame(**one) for one in answers))

            serving = threading.Thread(target=serve, daemon=True)
            serving.start()
            status = through_host("hermes", "1.0.0", list(words))
            if told or status is not None:
                serving.join(5)
        place.unlink()
        return status, told

    return ask


CARRY = f"{__name__}:carried"


def carried(program: str, home: str, connection: socket.socket, offer: dict[str, Any]) -> int:
    connection.close()
    return int(offer["status"])


def test_what_a_host_offers_is_carried(said_by: Any) -> None:
    status, told = said_by([{"ok": 1, "fronts": FRONTS}, {"carry": CARRY, "status": 7}], ["--tui", "-c"])
    assert status == 7
    assert (told["do"], told["talk"], told["latest"], told["fronts"]) == ("front", "tui", True, FRONTS)


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ([{"ok": 1, "version": "1.0.0"}], True),
        ([{"ok": 1, "fronts": FRONTS + 1}, {"carry": CARRY, "status": 7}], True),
        ([{"ok": 1, "fronts": FRONTS}, {"carry": "hermes_front.nothing:carry"}], True),
        ([{"ok": 1, "fronts": FRONTS}, {"carry": "hermes_front.screen:nothing"}], True),
        ([{"ok": 1, "fronts": FRONTS}, {"carry": ""}], False),
        (
            [
                {"ok": 1, "fronts": FRONTS, "anew": "another version"},
                {"carry": "hermes_platform_cli.console.front:carry", "owner": {}, "platforms": [{"front": "x:y"}]},
            ],
            True,
        ),
        ([{"no": "version", "version": "0.9"}], False),  # the command says so
        ([{"ok": 1, "fronts": FRONTS}, {"no": "There is no session named 'x'."}], False),
        ([{"ok": 1, "fronts": FRONTS}], False),
        ([], False),
    ],
)
def test_where_there_is_none_the_command_does_it(
    said_by: Any, capfd: pytest.CaptureFixture[str], answers: list[dict[str, Any]], says: bool
) -> None:
    assert said_by(answers)[0] is None
    assert ("another version" in capfd.readouterr().err) == says


def test_a_pipe_is_no_screen(said_by: Any) -> None:
    with open(os.devnull) as pipe:  # noqa: PTH123
        assert said_by([{"ok": 1, "fronts": FRONTS}, {"carry": CARRY, "status": 7}], stdin=pipe) == (None, {})
