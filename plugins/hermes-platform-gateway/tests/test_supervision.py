"""The gateway as a service, seen from outside: a process, its datagrams, its probes, its end."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_core.errors import UserError
from hermes_platform_gateway.config import HealthSettings
from hermes_platform_gateway.supervision.supervised import probes_at


class Gateway:
    """``hermes gateway work`` in a process of its own, started as systemd would: it needs no platform."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.home.mkdir()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        config = {"model": {"provider": "offline"}}
        (self.home / "config.yaml").write_text(json.dumps(config))
        self.receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.receiver.bind(str(root / "notify"))
        self.receiver.settimeout(60)
        environ = {"PATH": os.environ["PATH"], "HOME": str(root), "HERMES_HOME": str(self.home)}
        environ |= {"NOTIFY_SOCKET": str(root / "notify"), "WATCHDOG_USEC": "300000"}
        command = [sys.executable, "-m", "hermes_core", "gateway", "work", "--health", f"127.0.0.1:{self.port}"]
        self.log = (root / "log").open("w+b")
        self.process = subprocess.Popen(command, env=environ, cwd=root, stdout=self.log, stderr=self.log)

    def told(self) -> list[str]:
        return self.receiver.recv(4096).decode().split("\n")

    def until(self, wanted: str) -> list[str]:
        """Everything that was told until this was."""
        lines: list[str] = []
        while wanted not in lines:
            lines += self.told()
        return lines

    def asks(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
                return answer.status, json.load(answer)["status"]
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)["status"]

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read().decode()


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    made = Gateway(tmp_path)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.wait()
        made.receiver.close()
        made.log.close()


def test_it_says_ready_and_lives_until_it_is_told_to_stop(gateway: Gateway):
    assert gateway.told() == ["READY=1"], gateway.said()
    assert gateway.asks("/healthz") == (200, "ok")
    assert gateway.asks("/readyz") == (200, "ok")
    assert [gateway.until("WATCHDOG=1")[-1] for _ in range(3)] == ["WATCHDOG=1"] * 3
    gateway.process.send_signal(signal.SIGTERM)
    said = gateway.until("STOPPING=1") + gateway.told()
    assert {"EXTEND_TIMEOUT_USEC=26000000", "STATUS=turns that run are given time to end"} <= set(said)
    assert gateway.process.wait(60) == 0, gateway.said()


def test_a_process_that_is_stopped_gives_no_sign(gateway: Gateway):
    gateway.until("WATCHDOG=1")
    gateway.process.send_signal(signal.SIGSTOP)
    while True:  # what was on its way when it stopped
        gateway.receiver.settimeout(0.5)
        try:
            gateway.told()
        except TimeoutError:
            break
    gateway.process.send_signal(signal.SIGCONT)
    gateway.receiver.settimeout(60)
    assert "WATCHDOG=1" in gateway.until("WATCHDOG=1")


@pytest.mark.long
def test_a_port_that_is_taken_is_told_and_ends_it(tmp_path: Path, gateway: Gateway):
    gateway.until("READY=1")
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.yaml").write_text(json.dumps({"gateway": {"health": {"port": gateway.port}}}))
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HERMES_HOME": str(other)}
    command = [sys.executable, "-m", "hermes_core", "gateway", "work"]
    done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"cannot listen for probes at 127.0.0.1:{gateway.port}" in done.stderr


@pytest.mark.parametrize("place", ["8644", ":8644", "here:", "here:port", "here:0", "here:65536"])
def test_a_place_that_is_none_is_refused(place: str):
    with pytest.raises(UserError, match="is no place to listen at"):
        probes_at(place, HealthSettings())


def test_a_place_goes_before_the_settings():
    assert probes_at("[::1]:8644", HealthSettings(port=1)) == HealthSettings(host="::1", port=8644)
    assert probes_at("", HealthSettings(port=1)) == HealthSettings(port=1)
