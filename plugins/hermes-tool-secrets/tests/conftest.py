"""Programs that answer as the stores' own do, as far as their documentation says it."""

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_tool_secrets.config import Config
from hermes_tool_secrets.sources import sources_of

KEY = "kq7Zp2Xw9Rt4Lm6Vb1Nc"
OP = f"""
import json, os, sys
open(SEEN, "w").write(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd(), sys.stdin.read()]))
if "OP_SERVICE_ACCOUNT_TOKEN" not in os.environ:
    sys.exit("[ERROR] 2026/11/27 11:00:00 You are not currently signed in. Please run `op signin --help`")
place = sys.argv[-1]
if place != "op://Private/OpenAI/credential":
    sys.exit("[ERROR] 2026/11/27 11:00:00 could not read secret '" + place + "': \\"x\\" isn't an item in the vault")
sys.stdout.write({KEY!r})
"""
SECRETS = [
    {"object": "secret", "id": "4ea8c1f0-0000-4000-8000-b3c900000001", "organizationId": "o", "projectId": "p",
     "key": "OPENAI_API_KEY", "value": KEY, "note": "", "creationDate": "d", "revisionDate": "d"},
    {"object": "secret", "id": "4ea8c1f0-0000-4000-8000-b3c900000002", "organizationId": "o", "projectId": "p",
     "key": "LD_PRELOAD", "value": "/tmp/x.so", "note": "", "creationDate": "d", "revisionDate": "d"},
]  # fmt: skip
BWS = f"""
import json, os, sys
secrets = json.loads({json.dumps(SECRETS)!r})
if not os.environ.get("BWS_ACCESS_TOKEN"):
    sys.exit("Error: \\n   0: Missing access token")
words = [one for one in sys.argv[1:] if one not in ("--output", "json")]
if words[:2] == ["secret", "list"]:
    print(json.dumps(secrets, indent=2))
else:
    found = [one for one in secrets if one["id"] == words[2]]
    if not found:
        sys.exit("Error: \\n   0: Received error message from server: [404 Not Found] Resource not found.")
    print(json.dumps(found[0], indent=2))
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Puts a program in Python in front of the search path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def write(name: str, code: str) -> Path:
        path = folder / name
        path.write_text(f"#!{sys.executable} -IS\nSEEN = {str(tmp_path / 'seen')!r}\n{code}")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return write


@pytest.fixture
def sources(tmp_path: Path):
    """Makes the sources by name, with settings and secrets."""
    manifest = read_manifest(manifest_path("hermes_tool_secrets"))

    def make(secrets=None, **settings):
        ctx = plugin_context(manifest, tmp_path / "home", config=Config(**settings), secrets=secrets or {})
        return {one.name: one for one in sources_of(ctx)}

    return make


@pytest.fixture
def op(program) -> Path:
    """A fake ``op``."""
    return program("op", OP)


@pytest.fixture
def bws(program) -> Path:
    """A fake ``bws``."""
    return program("bws", BWS)
