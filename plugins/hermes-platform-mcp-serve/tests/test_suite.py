"""The public suite against a server: through the host of the API, the manager of our route, and the SDK's server.

The tools, prompts and resources that it asks for are fixtures of ``suite_server``; Hermes has none of them. So what is
proved is the way there: both revisions, sessions, streams, headers, results that want more input, who may ask.
"""

import asyncio
import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]
HERE = Path(__file__).parent
CACHE = Path(pwd.getpwuid(os.getuid()).pw_dir, ".cache", "hermes-tests", "mcp")
THERE = Path(os.environ.get("HERMES_MCP", CACHE))  # as .ci/run installs them
NODE = str(THERE / "python" / "bin" / "node")
SUITE = THERE / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
BOTH = (
    *("completion-complete", "tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-audio"),
    *("tools-call-embedded-resource", "tools-call-mixed-content", "tools-call-error", "tools-call-with-progress"),
    *("server-sse-multiple-streams", "resources-list", "resources-read-text", "resources-read-binary"),
    *("resources-templates-read", "prompts-list", "prompts-get-simple", "prompts-get-with-args"),
    *("prompts-get-embedded-resource", "prompts-get-with-image", "dns-rebinding-protection"),
)
INPUT = (
    *("basic-elicitation", "basic-sampling", "basic-list-roots", "request-state", "multiple-input-requests"),
    *("multi-round", "missing-input-response", "non-tool-request", "result-type", "unsupported-methods"),
    *("tampered-state", "capability-check", "ignore-extra-params", "validate-input"),
)
SCENARIOS = {
    "2025-11-25": (
        *BOTH,
        *("server-initialize", "logging-set-level", "ping", "tools-call-with-logging", "tools-call-sampling"),
        *("tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"),
        *("resources-subscribe", "resources-unsubscribe"),
    ),
    "2026-07-28": (
        *BOTH,
        *("server-stateless", "sep-2164-resource-not-found", "caching"),
        *(f"input-required-result-{one}" for one in INPUT),
    ),
}
TASKS = (
    *("lifecycle", "capability-negotiation", "wire-fields", "request-state-removal", "mrtr-input", "request-headers"),
    *("dispatch-and-envelope", "required-task-error", "mrtr-composition"),  # the suite itself passes over notifications
)
# Not required, and kept all the same. Those of extensions are of no revision, and played only where that is forced.
MORE = {
    "2025-11-25": ("server-session-lifecycle", "json-schema-2020-12", "server-sse-polling"),
    "2026-07-28": (
        *("json-schema-2020-12", "http-header-validation", "http-custom-header-server-validation"),
        *(f"tasks-{one}" for one in TASKS),
        *(f"sep-2640-skills-{one}" for one in ("directory", "enumeration", "manifest")),
    ),
}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where the fixtures are served."""
    if not SUITE.exists():
        pytest.skip(f"{SUITE} is not there: see .ci/run")
    home = tmp_path_factory.mktemp("suite") / "home"
    env = {**os.environ, "API_SERVER_KEY": "owners-key-0123456789", "HERMES_HOME": str(home)}
    words = [sys.executable, str(HERE / "suite_host.py"), str(home)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True)
    yield process.stdout.readline().strip()
    process.communicate(timeout=30)
    assert process.returncode == 0


def test_all_that_is_required_is_here(tmp_path, address):
    """What the suite requires of a server, it says itself."""
    for revision, names in SCENARIOS.items():
        words = [NODE, str(SUITE), "list", "--server", "--requirements", revision]
        told = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=True).stdout
        lines = told.partition("Server scenarios")[2].partition("\n\n")[0].splitlines()
        assert {line.removeprefix("  - ") for line in lines if line.startswith("  - ")} == set(names)


@pytest.mark.parametrize(
    ("revision", "scenario"),
    [(revision, name) for table in (SCENARIOS, MORE) for revision, names in table.items() for name in names],
)
async def test_the_public_suite_is_content_with_the_server(tmp_path, address, revision, scenario):
    words = [
        NODE,
        str(SUITE),
        "server",
        "--url",
        address,
        "--scenario",
        scenario,
        "--spec-version",
        revision,
        "--force",
    ]
    process = await asyncio.create_subprocess_exec(
        *words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    output = (await process.communicate())[0].decode(errors="replace")
    assert process.returncode == 0, output[-3000:]
    assert ", 0 failed" in output, output[-3000:]
    assert "SKIPPED: scenario" not in output, output[-3000:]
