"""A real sshd on 127.0.0.1 with its own keys, for everything that is marked ``real``."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from attrs import evolve

from hermes_backend_ssh.config import Config
from hermes_backend_ssh.connection import command, socket_folder

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A running sshd: its configuration for us, its folder, and how to stop it."""
    if not Path(SSHD).exists():
        if os.environ.get("CI"):
            pytest.fail("sshd is missing; install openssh-server. In CI nothing real is skipped.")
        pytest.skip("sshd is missing (apt install openssh-server)")
    folder = tmp_path_factory.mktemp("sshd")
    for name in ("host", "me"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "config").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host\nPidFile {folder}/pid\nStrictModes no\nUsePAM no\n"
        f"AuthorizedKeysFile {folder}/me.pub\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
        "PermitRootLogin prohibit-password\nMaxStartups 100\n"
    )
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    process = subprocess.Popen([SSHD, "-D", "-f", folder / "config", "-E", folder / "log"])
    config = Config(
        host="127.0.0.1",
        port=port,
        key=str(folder / "me"),
        options=[
            f"UserKnownHostsFile={folder}/known_hosts",
            "GlobalKnownHostsFile=/dev/null",
            "IdentitiesOnly=yes",
            "IdentityAgent=none",
            "ConnectionAttempts=20",
        ],
    )
    yield config
    disconnect(config)
    process.terminate()
    process.wait()


def disconnect(config: Config) -> None:
    """Close the shared connection, as a network would."""
    *words, dashes, host = command(config, socket_folder())
    subprocess.run([*words, "-O", "exit", dashes, host], capture_output=True, check=False)


@pytest.fixture
def fresh(server, tmp_path):
    """The same server for somebody who has never been there: no known hosts, no shared connection."""
    options = [line for line in server.options if not line.startswith("UserKnownHostsFile")]
    alone = [f"UserKnownHostsFile={tmp_path}/known", "ControlMaster=no", "ControlPath=none"]
    return evolve(server, options=[*alone, *options])
