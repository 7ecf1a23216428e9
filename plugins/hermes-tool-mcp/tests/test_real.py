"""Real servers behind the real wall, the public suite, and what is left when something is killed."""

import asyncio
import os
import pwd
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest

from hermes_backend_wall.home import sweep
from hermes_core.errors import ToolError
from hermes_core.testing import Call
from hermes_core.types import Called, Ended, Returned, Text
from hermes_tool_mcp.results import result_of

from .conftest import odd, running, until

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]
HERE = Path(__file__).parent
PHASES = ("start", "initialize", "list", "call")
FAULTS = ("die", "hang", "slow", "garbage", "change")
CACHE = Path(pwd.getpwuid(os.getuid()).pw_dir, ".cache", "hermes-tests", "mcp")
THERE = Path(os.environ.get("HERMES_MCP", CACHE))  # as .ci/run installs them
NODE = str(THERE / "python" / "bin" / "node")
MODULES = THERE / "node_modules"
SCENARIOS = {
    "2025-11-25": (
        *("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", "auth/metadata-default"),
        *("auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3", "auth/basic-cimd"),
        *("auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined"),
        *("auth/scope-step-up", "auth/scope-retry-limit", "auth/token-endpoint-auth-basic"),
        *("auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none", "auth/pre-registration"),
    ),
    "2026-07-28": (
        *("tools_call", "request-metadata", "auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2"),
        *("auth/metadata-var3", "auth/basic-cimd", "auth/scope-from-www-authenticate"),
        *("auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined", "auth/scope-step-up"),
        *("auth/scope-retry-limit", "auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-post"),
        *("auth/token-endpoint-auth-none", "auth/pre-registration", "auth/resource-mismatch"),
        *("auth/offline-access-scope", "auth/offline-access-not-supported", "auth/authorization-server-migration"),
        *("auth/iss-supported", "auth/iss-not-advertised", "auth/iss-supported-missing", "auth/iss-wrong-issuer"),
        *("auth/iss-unexpected", "auth/iss-normalized", "auth/metadata-issuer-mismatch"),
        *("sep-2322-client-request-state", "http-standard-headers", "http-custom-headers"),
        *("http-invalid-tool-headers", "json-schema-ref-no-deref"),
    ),
}
# Not required, and kept all the same. Those of extensions are of no revision, and played only where that is forced.
MORE = {
    "2025-03-26": ("auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"),
    "2025-11-25": ("json-schema-2020-12-preservation", "auth/client-credentials-basic"),
    "2026-07-28": (
        *("json-schema-2020-12-preservation", "auth/client-credentials-basic", "sep-2640-client-no-prefetch"),
        *("sep-2640-client-verify-digest", "sep-2640-client-verify-size", "sep-2640-client-verify-frontmatter"),
    ),
}


def npm(name, *words, **more):
    """The settings of a server of npm."""
    if not MODULES.is_dir():
        pytest.skip(f"{MODULES} is not there: see .ci/run")
    script = MODULES / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
    return {"command": NODE, "args": [str(script), *words], "timeout": 30.0, **more}


async def said(there, server, tool, **given):
    context = there.context()
    answer = await there.connection(server).call(tool, given, context)
    return "".join(part.text for part in await result_of(answer, context) if isinstance(part, Text))


async def test_the_reference_server_has_everything(servers):
    there = servers(all=npm("everything"))
    assert "is 5" in await said(there, "all", "get-sum", a=2, b=3)
    assert there.folder.name in await said(there, "all", "get-roots-list")
    assert "temperature" in await said(there, "all", "get-structured-content", location="Chicago")
    listed = there.pool.lists.get("all", there.rows["all"])
    assert listed.protocol == "2025-11-25"
    assert listed.resources
    assert len(listed.prompts) >= 3


async def test_the_file_server_writes_in_its_folder_and_reads_no_other(servers, tmp_path):
    folder = tmp_path / "home" / "work"
    folder.mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("not for servers")
    there = servers(files=npm("filesystem", str(folder)))
    await said(there, "files", "write_file", path=str(folder / "a.txt"), content="hello")
    assert (folder / "a.txt").read_text() == "hello"
    with pytest.raises(ToolError):
        await said(there, "files", "read_text_file", path=str(tmp_path / "secret.txt"))


async def test_the_memory_server_remembers_from_one_start_to_the_next(servers, tmp_path):
    path = tmp_path / "home" / "work" / "memory.json"
    row = npm("memory", env={"MEMORY_FILE_PATH": str(path)})
    there = servers(memory=row)
    ada = {"name": "Ada", "entityType": "person", "observations": ["writes"]}
    await said(there, "memory", "create_entities", entities=[ada])
    await there.close()
    assert "Ada" in await said(there, "memory", "read_graph")


async def test_the_git_server_of_pypi_reads_a_repository(servers, tmp_path):
    folder = tmp_path / "home" / "work"
    folder.mkdir(parents=True)
    script = THERE / "python" / "bin" / "mcp-server-git"
    if not script.exists():
        pytest.skip(f"{script} is not there: see .ci/run")
    await (await asyncio.create_subprocess_exec("git", "init", "-q", str(folder))).wait()
    (folder / "new.txt").write_text("new")
    there = servers(git={"command": str(script), "args": ["--repository", str(folder)], "timeout": 30.0})
    assert "new.txt" in await said(there, "git", "git_status", repo_path=str(folder))


async def test_behind_the_wall_it_writes_nowhere_else_and_what_it_started_ends_with_it(servers, tmp_path):
    mark = uuid4().hex
    there = servers(odd=odd(mark=mark, wall=True))
    assert await said(there, "odd", "write", text=str(there.folder / "inside.txt")) == "written"
    outside = Path(pwd.getpwuid(os.getuid()).pw_dir) / f"written-{mark}"
    with suppress(ToolError):  # in the home that it sees, which is its own
        await said(there, "odd", "write", text=str(outside))
    assert not outside.exists()
    before = len(running(mark))
    await said(there, "odd", "do", text="child")
    assert len(running(mark)) > before
    await there.close()
    assert not running(mark)


async def test_the_wall_is_closed_to_hosts_that_no_setting_names(servers, far):
    reach = "import sys, urllib.request; sys.exit(print(urllib.request.urlopen(sys.argv[1], timeout=5)))"
    row = {"command": sys.executable, "args": ["-c", reach, "http://example.org/"], "connect_timeout": 15.0}
    there = servers(one=row)
    with pytest.raises(ToolError, match=r"403|refused|closed"):
        await there.connection("one").client()


@pytest.mark.parametrize("wall", [True, False])
async def test_killing_hermes_leaves_no_server_even_one_that_hangs(tmp_path, wall):
    mark = uuid4().hex
    code = (
        "import asyncio, sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "import importlib; tests = importlib.import_module('hermes_mcp_tests.conftest')\n"
        "async def main():\n"
        "    row = tests.odd(mark=sys.argv[3], wall=sys.argv[4] == 'True', timeout=900.0)\n"
        "    there = tests.Servers(Path(sys.argv[2]), {'odd': row})\n"
        "    connection = there.connection()\n"
        "    await connection.client()\n"
        "    asyncio.ensure_future(connection.call('do', {'text': 'hang'}, there.context()))\n"
        "    await asyncio.sleep(0.5)\n"
        "    print('up', flush=True)\n"
        "    await asyncio.sleep(1000)\n"
        "asyncio.run(main())\n"
    )
    (tmp_path / "hermes_mcp_tests").symlink_to(HERE)
    words = [sys.executable, "-c", code, str(tmp_path), str(tmp_path / "home"), mark, str(wall)]
    process = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"up\n"
    assert running(mark)
    process.send_signal(signal.SIGKILL)
    await process.wait()
    await until(lambda: not running(mark))
    sweep()  # as the next Hermes does


@pytest.mark.timeout(5000)
async def test_each_call_ends_and_tools_come_back_whatever_a_server_does(hermes, scripted, tmp_path, request):
    """Each fault is one in a conversation that goes on: no turn is lost. ``--rounds 25``: 500 of them.

    A call has ``timeout`` seconds once its server is there, for which ``connect_timeout`` is waited, and one that only
    looks may have both twice. How long each took is printed; the bounds are those of a machine that is at work.
    """
    mark, plan = uuid4().hex, tmp_path / "plan"
    provider = scripted()
    for thing in (provider, "hermes_tool_mcp"):
        hermes.tmp_plugin(thing)
    row = odd("--plan", plan, mark=mark, timeout=2.0, connect_timeout=4.0)
    hermes.configure({"mcp.servers": {"odd": row}})
    faults = [(when, what) for when in PHASES for what in FAULTS] * request.config.getoption("rounds")
    random.Random(11).shuffle(faults)
    calls, ways_back, left = [], [], []

    async def turn(number, text):
        """Play a turn with one call, and return how that began and ended, and whether it was answered."""
        provider.add(Call("mcp__odd__echo", {"text": text}), "done")
        began, called, answered, ended = time.monotonic(), 0.0, None, None
        async for event in hermes.turn("go", session=f"s{number // 20}"):
            if isinstance(event, Called):
                began = time.monotonic()
            if isinstance(event, Returned):
                called, answered = time.monotonic() - began, not event.result.failed
            if isinstance(event, Ended):
                ended = event
        assert ended is not None, "a turn was lost"
        assert (ended.reason, ended.answer, answered is not None) == ("done", "done", True)
        return called, answered

    for number, fault in enumerate([("never", "nothing"), *faults]):
        plan.write_text(" ".join(fault))
        if fault[0] in ("start", "initialize", "list"):  # so the next call has to start another one
            for pid in running(mark):
                os.kill(pid, signal.SIGKILL)
        took, _ = await turn(number, "one")
        calls.append((took, *fault))
        began, answered = time.monotonic(), False
        while not answered:
            took, answered = await turn(number, "two")
            calls.append((took, *fault))
            assert time.monotonic() - began < 60.0, f"no tool came back after {fault}"
        ways_back.append((time.monotonic() - began, *fault))
        left += [fault] if len(running(mark)) > 1 else []
    await hermes.close()
    print(f"{len(faults)} faults, {len(calls)} calls, the longest {sorted(calls)[-5:]}")
    print(f"back after at most {sorted(ways_back)[-5:]}")
    assert (max(calls)[0] < 12.0 + 8.0, left, running(mark)) == (True, [], [])


@pytest.mark.parametrize(
    ("revision", "scenario"),
    [(one, name) for table in (SCENARIOS, MORE) for one, names in table.items() for name in names],
)
async def test_the_public_suite_is_content_with_the_client(tmp_path, revision, scenario):
    suite = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    if not suite.exists():
        pytest.skip(f"{suite} is not there: see .ci/run")
    command = f"{sys.executable} {HERE / 'conformance_client.py'}"
    words = [NODE, str(suite), "client", "--command", command, "--scenario", scenario, "--timeout", "100000", "--force"]
    process = await asyncio.create_subprocess_exec(
        *words, "--spec-version", revision, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode(errors="replace")[-3000:]
    assert b"SKIPPED: scenario" not in output, output.decode(errors="replace")[-3000:]
