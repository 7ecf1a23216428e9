"""The witness sees what a plugin reaches for, and what it leaves behind."""

import asyncio
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from hermes_core.testing import Witness, off_the_record
from hermes_core.testing.leftovers import Traces


def try_to_write(path):
    with suppress(OSError):
        Path(path).write_bytes(b"")


def try_to_resolve(host):
    with suppress(OSError):
        socket.getaddrinfo(host, 1)


def test_undisclosed_programs_hosts_and_paths_are_found():
    with Witness() as witness:
        subprocess.run([sys.executable, "-c", ""], check=True)
        try_to_resolve("example.invalid")
        try_to_write("/nowhere/file")
    assert set(witness.programs) == {Path(sys.executable).name}  # 3.13 tells of one start twice
    assert witness.hosts == ["example.invalid"]
    assert witness.written == ["/nowhere/file"]
    assert len(witness.findings) == 3
    assert all("[permissions]" in finding for finding in witness.findings)


def test_what_is_disclosed_is_fine():
    with Witness(hosts=["*.invalid"], programs=["py*"], paths=["/nowhere"]) as witness:
        subprocess.run([sys.executable, "-c", ""], check=True)
        try_to_resolve("example.invalid")
        try_to_write("/nowhere/file")
    assert witness.findings == []


def test_loopback_and_temporary_files_need_no_disclosure(tmp_path):
    with Witness() as witness, socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
        try_to_resolve("localhost")
        (tmp_path / "file").write_text("x")
        Path(__file__).read_bytes()
    assert witness.findings == []


def test_files_of_the_person_are_found_when_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/nowhere/home")
    with Witness(paths=["~/.known"]) as witness:
        for name in (".known", ".ssh"):
            with suppress(OSError):
                Path("/nowhere/home", name).read_bytes()
    assert witness.read == ["/nowhere/home/.ssh"]


def test_a_strict_witness_sees_everything_that_is_not_reading(tmp_path):
    with Witness(strict=True, programs=["*"], hosts=["*"], paths=["/"]) as witness:
        subprocess.run([sys.executable, "-c", ""], check=True)
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname()).close()
        (tmp_path / "file").write_text("x")
        (tmp_path / "file").read_text()
    assert set(witness.programs) == {Path(sys.executable).name}  # 3.13 tells of one start twice
    assert set(witness.hosts) == {"127.0.0.1"}
    assert witness.written == [str(tmp_path / "file")]


def test_what_the_test_does_itself_is_off_the_record():
    with Witness() as witness:
        with off_the_record():
            try_to_write("/nowhere/one")
        try_to_write("/nowhere/two")
    try_to_write("/nowhere/three")
    assert witness.written == ["/nowhere/two"]


async def test_what_is_left_behind_is_found_and_then_gone():
    before = Traces.now()
    assert await before.left() == []
    task = asyncio.create_task(asyncio.Event().wait(), name="lost")
    release = threading.Event()
    thread = threading.Thread(target=release.wait, name="stray", daemon=True)
    thread.start()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)  # noqa: ASYNC220
    left_socket = socket.socket()
    found = "; ".join(await before.left(patience=0))
    for words in ("lost", "stray", "a child process still runs", "socket is still open"):
        assert words in found
    task.cancel()
    release.set()
    child.communicate(b"\n")
    left_socket.close()
    thread.join()
    assert await before.left() == []
