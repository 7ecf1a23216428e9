"""How ssh is called, where its sockets live, and what its complaints mean."""

import os
import stat
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from hermes_backend_ssh.config import Config
from hermes_core.errors import UserError

# A control socket is this folder, 40 characters of hash and 17 that ssh adds while making it; 104 is the most on macOS.
LONGEST_FOLDER = 104 - 40 - 17 - 2

_PROBLEMS = (
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "the key of {host} is not the one that is known; somebody may be in between",
        "If you know why it changed, remove the old key: ssh-keygen -R {host}",
    ),
    (
        "Host key verification failed",
        "the key of {host} is not known, and unknown hosts are refused",
        "Log in once by hand with ssh, or set backends.ssh.known_hosts to accept-new.",
    ),
    ("No matching host key fingerprint", "the key of {host} does not match", "Check the host key."),
    (
        "Permission denied",
        "{host} did not accept the login",
        "Check backends.ssh.user and backends.ssh.key, or add the key to your agent: ssh-add FILE",
    ),
    (
        "Too many authentication failures",
        "{host} refused after too many keys",
        "Set backends.ssh.key and add IdentitiesOnly=yes to backends.ssh.options.",
    ),
    ("Could not resolve hostname", "there is no host named {host}", "Check backends.ssh.host."),
    ("Connection refused", "{host} refused the connection", "Check backends.ssh.port, and that sshd runs there."),
    ("timed out", "{host} did not answer in time", "Check the host, the network and any firewall."),
    ("No route to host", "there is no way to {host}", "Check the network."),
    ("Network is unreachable", "there is no way to {host}", "Check the network."),
    ("Bad configuration option", "ssh does not know an option", "Check backends.ssh.options and your ssh config."),
    ("Bad owner or permissions", "ssh does not trust a file of yours", "Make it writable by you only."),
    ("UNPROTECTED PRIVATE KEY FILE", "others can read the private key", "Run: chmod 600 on it."),
)


class Problem(Exception):
    """ssh itself failed, in plain words."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint


def explain(host: str, said: str) -> Problem:
    """The reason in what ssh wrote; its own last line when it is none we know."""
    for sign, text, hint in _PROBLEMS:
        if sign in said:
            return Problem(f"ssh: {text.format(host=host)}.", hint.format(host=host))
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return Problem(f"ssh: the connection to {host} failed: {lines[-1][:300] if lines else 'no reason was given'}.")


def socket_folder() -> str:
    """A private folder with a short name for the control sockets. Raises UserError when somebody else owns it."""
    name = f"hermes-ssh-{os.getuid()}"
    base = next((b for b in (tempfile.gettempdir(), "/tmp") if len(b) + len(name) < LONGEST_FOLDER), "/tmp")  # noqa: S108
    folder = Path(base, name)
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise UserError(f"{folder} is not private to you, so ssh sockets cannot be kept there.", hint="Remove it.")
    return str(folder)


def command(config: Config, sockets: str) -> Sequence[str]:
    """The ssh command up to the host. The user's options come first, because ssh takes the first it sees."""
    # %C knows host, port and user; another key or option must not come through the old connection.
    mark = f"{zlib.crc32(repr((config.key, config.options)).encode()):08x}"
    asked = {
        "BatchMode": "yes",
        "ConnectTimeout": "10",
        "ControlMaster": "auto",
        "ControlPath": f"{sockets}/%C{mark}",
        "ControlPersist": "300",
        "StrictHostKeyChecking": "accept-new" if config.known_hosts == "accept-new" else "yes",
        # A dead network ends the shared connection instead of hanging every command on it.
        "ServerAliveInterval": "15",
        "ServerAliveCountMax": "3",
        "LogLevel": "ERROR",
    }
    words = ["ssh", "-T"]
    for line in (*config.options, *(f"{name}={value}" for name, value in asked.items())):
        words += ["-o", line]
    words += ["-p", str(config.port)] if config.port else []
    words += ["-l", config.user] if config.user else []
    words += ["-i", os.path.expanduser(config.key)] if config.key else []  # noqa: PTH111 - a word of a command
    return [*words, "--", config.host]
