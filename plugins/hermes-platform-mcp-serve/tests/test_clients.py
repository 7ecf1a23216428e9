"""Real clients of others: each is driven by a script in the place of its model, and reads a conversation of Hermes.

``HERMES_AGENTS`` names the folder in which ``.ci/run`` puts them.
"""

import json
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .script import served

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]
CACHE = Path(pwd.getpwuid(os.getuid()).pw_dir, ".cache", "hermes-tests", "acp", "agents")
THERE = Path(os.environ.get("HERMES_AGENTS", CACHE))
HERMES = str(Path(sys.executable).with_name("hermes"))
WORDS = "the harbour is closed on Mondays"


def claude(place, address, home):
    row = {"command": HERMES, "args": ["mcp-serve"], "env": {"HERMES_HOME": home}, "alwaysLoad": True}
    (place / "mcp.json").write_text(json.dumps({"mcpServers": {"hermes": row}}))
    env = {
        "CLAUDE_CONFIG_DIR": str(place),
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "sk-none",
        "MCP_TIMEOUT": "120000",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    words = ["-p", "Look.", "--model", "m", "--mcp-config", str(place / "mcp.json"), "--strict-mcp-config"]
    return ["claude", *words, "--allowedTools", "mcp__hermes__conversations_list"], env


def codex(place, address, home):
    rows = [
        *('model = "m"', 'model_provider = "script"', "[model_providers.script]", 'name = "script"'),
        *(f'base_url = "{address}/v1"', 'wire_api = "responses"', "[mcp_servers.hermes]", f'command = "{HERMES}"'),
        *(
            'args = ["mcp-serve"]',
            "required = true",
            "startup_timeout_sec = 120",
            f'env = {{ HERMES_HOME = "{home}" }}',
        ),
    ]
    (place / "config.toml").write_text("\n".join(rows))
    words = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "Look."]
    return ["codex", *words], {"CODEX_HOME": str(place)}


def opencode(place, address, home):
    model = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{address}/v1", "apiKey": "none"}}
    environment = {"HERMES_HOME": home}
    row = {"type": "local", "command": [HERMES, "mcp-serve"], "environment": environment, "timeout": 120_000}
    settings = {
        "model": "script/m",
        "provider": {"script": {**model, "models": {"m": {"name": "m"}}}},
        "mcp": {"hermes": row},
        "permission": {"*": "allow"},
        "autoupdate": False,
    }
    (place / "opencode.json").write_text(json.dumps(settings))
    return ["opencode", "run", "Look."], {
        "OPENCODE_CONFIG": str(place / "opencode.json"),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


@pytest.mark.parametrize("client", [claude, codex, opencode])
def test_a_real_client_reads_a_conversation_of_hermes(tmp_path, client):
    if not (THERE / "node_modules" / ".bin").is_dir():
        pytest.skip(f"{THERE} is not there: see .ci/run")
    home, place = tmp_path / "hermes", tmp_path / "place"
    place.mkdir()
    home.mkdir()
    (home / "config.yaml").write_text("model: {provider: offline}\n")
    bare = {name: value for name, value in os.environ.items() if "KEY" not in name and "HERMES" not in name}
    env = {**bare, "HERMES_HOME": str(home), "HOME": str(place), "TMPDIR": str(place)}
    run = {"env": env, "cwd": place, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    subprocess.run([HERMES, "plugins", "enable", "mcp-serve", "--yes"], check=True, **run)
    subprocess.run([HERMES, "-z", WORDS], check=True, **run)
    with served(WORDS) as (address, script):
        words, more = client(place, address, str(home))
        program = THERE / "node_modules" / ".bin" / words[0]
        node = Path(os.environ.get("HERMES_MCP", ""), "python", "bin")
        path = f"{node}:{env['PATH']}" if shutil.which(str(node / "node")) else env["PATH"]
        done = subprocess.run([program, *words[1:]], **{**run, "env": {**env, **more, "PATH": path}}, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    assert WORDS in script.heard[-1], done.stdout[-2000:] + done.stderr[-2000:]
    assert script.calls
