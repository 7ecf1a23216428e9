"""What is asked of a host, where it is looked for, and the frames between."""

import gc
import os
import socket
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_front.front import begin
from hermes_front.one_shot import asked, through_host, wants_host
from hermes_front.wire import Lines, connect, frame, home_of, place_of, reached

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda one: st.lists(one, max_size=4), max_leaves=8
)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["-z", "x"], {"text": "x"}),
        (["--oneshot=x=y"], {"text": "x=y"}),
        (["-c", "-z", "x", "--json"], {"text": "x", "latest": True, "json": True}),
        (["--resume", "that one", "--oneshot", "-"], {"text": "-", "session": "that one"}),
        (["-z", "x", "-z", "--json"], {"text": "--json"}),
    ],
)
def test_what_a_host_can_do_is_asked_of_it(words: list[str], wanted: dict[str, Any]) -> None:
    assert asked(words) == {"text": None, "session": "", "latest": False, "json": False} | wanted


@pytest.mark.parametrize(
    "words",
    [
        *([], ["-z"], ["-z", " "], ["-z", "x", "-r"], ["-zx"], ["-z", "x", "more"]),
        *(["-m", "m", "-z", "x"], ["--yolo", "-z", "x"], ["chat", "-z", "x"]),
    ],
)
def test_all_else_is_done_by_the_command(words: list[str]) -> None:
    assert asked(words) is None


def test_the_home_is_the_one_that_the_command_would_use(tmp_path: Path) -> None:
    env = {"HERMES_HOME": str(tmp_path)}
    assert home_of("hermes", env) == str(tmp_path)
    assert home_of("acme-bot", {"ACME_BOT_HOME": str(tmp_path)}) == str(tmp_path)
    assert home_of("hermes", {**env, "HERMES_PROFILE": "work"}) == f"{tmp_path}/profiles/work"
    assert home_of("hermes", {**env, "HERMES_PROFILE": "../../elsewhere"}) == ""
    (tmp_path / "active_profile").write_text("work\n")
    assert home_of("hermes", env) == f"{tmp_path}/profiles/work"
    assert home_of("hermes", {**env, "HERMES_PROFILE": "default"}) == str(tmp_path)


@given(st.lists(st.dictionaries(st.text(), JSON, max_size=3), max_size=5), st.integers(1, 7))
def test_frames_come_as_they_were_sent_in_whatever_pieces(told: list[dict[str, Any]], size: int) -> None:
    ours, theirs = socket.socketpair()
    data = b"".join(frame(**one) for one in told)
    with ours, theirs:
        lines, found = Lines(ours), list[Any]()
        for start in range(0, len(data), size):
            theirs.sendall(data[start : start + size])
            found += lines.at_hand()
        theirs.shutdown(socket.SHUT_WR)
        assert [*found, *lines] == told
        assert lines.over


def test_what_is_no_frame_is_said_to_be_none() -> None:
    for data in (b"[1]\n", b"no\n", b"\xff\n"):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.sendall(data)
            with pytest.raises(ValueError):  # noqa: PT011 - of several kinds
                list(Lines(ours).at_hand())


@pytest.mark.parametrize("depth", [1, 20])
def test_a_host_is_found_however_long_its_place_is(tmp_path: Path, depth: int) -> None:
    home = tmp_path.joinpath(*["a long folder"] * depth)
    place = place_of(str(home))
    Path(place).parent.mkdir(parents=True)
    assert connect(place, 1.0) is None
    with socket.socket(socket.AF_UNIX) as host:
        address, opened = reached(place)
        host.bind(address)
        if opened >= 0:
            os.close(opened)
        assert connect(place, 1.0) is None, "nobody listens"
        host.listen()
        found = connect(place, 1.0)
        assert found
        found.close()


def test_a_host_that_says_nothing_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.delenv("HERMES_RUN", raising=False)
    monkeypatch.setattr("hermes_front.one_shot._PATIENCE", 0.1)
    place = place_of(str(tmp_path))
    Path(place).parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as host:
        address, _ = reached(place)
        host.bind(address)
        host.listen()
        assert through_host("hermes", "1.0.0", ["-z", "x"]) is None
        monkeypatch.setenv("HERMES_RUN", "a tool's")
        assert through_host("hermes", "1.0.0", ["-z", "x"]) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("model: {default: m}\nhost:\n  # early\n\n  connections: 3\n  auto: true\n", True),
        ("host: {auto: true}\n", True),
        ("host: {auto: false}\nother: {auto: true}\n", False),
        ("host:\n  connections: 3\nother:\n  auto: true\n", False),
        ("host:\n  connections: 3 # auto: true\n", False),
        ("", False),
    ],
)
def test_a_host_is_begun_only_where_settings_want_one(tmp_path: Path, text: str, wanted: bool) -> None:
    assert not wants_host(str(tmp_path))
    (tmp_path / "config.yaml").write_text(text)
    assert wants_host(str(tmp_path)) == wanted


def test_what_no_host_is_asked_runs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    module = types.ModuleType("a_command_line")
    module.run = lambda: ran.append(gc.isenabled())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "a_command_line", module)
    monkeypatch.setattr(sys, "argv", ["hermes", "sessions", "list"])
    begin("hermes", "1.0.0", "a_command_line")
    gc.enable()
    assert ran == [False]


def test_it_costs_nothing_where_it_is_not_asked() -> None:
    code = "import sys; before = set(sys.modules); import hermes_front.front; print(len(set(sys.modules) - before))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(said) == 2
