"""A real Synapse with a folder of its own, for everything that is marked ``real``."""

import hashlib
import hmac
import os
import pwd
import re
import secrets
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest
from attrs import frozen

sys.path.insert(0, str(Path(__file__).parent))  # for matrix_people; pytest does not do it in this import mode
HOME = pwd.getpwuid(os.getuid()).pw_dir  # of the person who tests; the tests have one of their own
PYTHON = Path(os.environ.get("HERMES_SYNAPSE", f"{HOME}/.cache/hermes-tests/synapse/bin/python"))
_FREELY = "{per_second: 1000, burst_count: 1000}"
SETTINGS = f"""
enable_registration: false
presence: {{enabled: false}}
rc_message: {_FREELY}
rc_login: {{address: {_FREELY}, account: {_FREELY}, failed_attempts: {_FREELY}}}
rc_joins: {{local: {_FREELY}, remote: {_FREELY}}}
rc_invites: {{per_room: {_FREELY}, per_user: {_FREELY}, per_issuer: {_FREELY}}}
rc_room_creation: {_FREELY}
"""


@frozen
class Synapse:
    """A running homeserver named ``localhost``."""

    folder: Path
    port: int
    secret: str
    process: list[subprocess.Popen]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        words = [PYTHON, "-m", "synapse.app.homeserver", "-c", self.folder / "hs.yaml"]
        with (self.folder / "out").open("ab") as log:
            self.process[:] = [subprocess.Popen(words, stdout=log, stderr=log, cwd=self.folder)]
        end = time.monotonic() + 90
        while True:
            assert self.process[0].poll() is None, (self.folder / "out").read_text()[-3000:]
            assert time.monotonic() < end, "Synapse does not answer"
            try:
                if httpx2.get(f"{self.url}/health", timeout=2).status_code == 200:
                    return
            except httpx2.HTTPError:
                time.sleep(0.1)

    def stop(self) -> None:
        self.process[0].terminate()
        self.process[0].wait()

    def register(self, name: str = "") -> str:
        """A new account with the password ``pw``; gives its full name."""
        name = f"{name}{secrets.token_hex(4)}"
        where = f"{self.url}/_synapse/admin/v1/register"
        nonce = httpx2.get(where).json()["nonce"]
        told = f"{nonce}\0{name}\0pw\0notadmin".encode()
        mac = hmac.new(self.secret.encode(), told, hashlib.sha1).hexdigest()
        body = {"nonce": nonce, "username": name, "password": "pw", "admin": False, "mac": mac}
        answer = httpx2.post(where, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()["user_id"]

    def login(self, user: str, device: str = "") -> dict:
        """A token of an account, of a new device or the one given."""
        body = {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": user}, "password": "pw"}
        return self.ask("POST", "login", "", body | ({"device_id": device} if device else {}))

    def ask(self, method: str, where: str, token: str, body: dict | None = None) -> dict:
        """One request of a person without a client."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = httpx2.request(method, f"{self.url}/_matrix/client/v3/{where}", json=body, headers=headers, timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="session")
def synapse(tmp_path_factory):
    """Synapse from PyPI, in a virtual environment of its own."""
    if not PYTHON.exists():
        hint = (
            f"uv venv {PYTHON.parents[1]} && uv pip install -p {PYTHON} matrix-synapse; or name one in HERMES_SYNAPSE"
        )
        if os.environ.get("CI"):
            pytest.fail(f"Synapse is missing. {hint}. In CI nothing real is skipped.")
        pytest.skip(f"Synapse is missing ({hint})")
    folder = tmp_path_factory.mktemp("synapse")
    words = ["--server-name", "localhost", "--config-path", "hs.yaml", "--generate-config", "--report-stats=no"]
    module = [PYTHON, "-m", "synapse.app.homeserver"]
    subprocess.run([*module, *words], cwd=folder, check=True, capture_output=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    text = (folder / "hs.yaml").read_text()
    secret = "only for tests"
    text = re.sub(r"registration_shared_secret:.*", f"registration_shared_secret: {secret!r}", text)
    text = re.sub(r"bind_addresses:\n    - ::1\n    - 127.0.0.1", "bind_addresses: ['127.0.0.1']", text)
    text = re.sub(r"trusted_key_servers:\n(  - .*\n)+", "trusted_key_servers: []\n", text)
    (folder / "hs.yaml").write_text(text.replace("port: 8008", f"port: {port}") + SETTINGS)
    running = Synapse(folder, port, secret, [])
    running.start()
    yield running
    running.stop()


@pytest.fixture
async def stage(synapse, tmp_path):
    from matrix_stage import Stage

    made = Stage(synapse, tmp_path)
    yield made
    await made.close()
