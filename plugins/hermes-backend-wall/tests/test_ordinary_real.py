"""The same walls around the commands of an ordinary user."""

# ruff: noqa: ASYNC221 - what happens as another user is waited for

import importlib
import os
import re
import subprocess
import textwrap
from importlib.metadata import requires
from pathlib import Path

import pytest

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]


def ours(distribution: str) -> set[str]:
    """The packages of a distribution of ours, and of those of ours that it needs."""
    needed = {re.match(r"[\w-]*", said).group() for said in requires(distribution) or () if "extra ==" not in said}
    below = [ours(one) for one in needed if one.startswith("hermes-")]
    return {distribution.replace("-", "_")}.union(*below)


ORDINARY = """
import asyncio, os, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534); os.umask(0o022)
kind, folder, person, lib = sys.argv[1:]
sys.path[:0] = [lib]
os.environ["HOME"] = person
from pathlib import Path
from hermes_backend_kit.proof import proved
from hermes_backend_local.backend import Local
from hermes_backend_local.workspace import Here
from hermes_backend_wall.plan import Plan
from hermes_backend_wall.walled import Walled
from hermes_core.types import ExecRequest

async def main():
    plan = Plan(kind=kind, homes=Path(person, ".cache/homes"), hidden=(Path(person, ".hermes"),))
    proof = await proved(Local(plan=plan), Path(person, ".hermes"))
    print(proof.wall.name, len(proof.tried) > 90, proof.through)
    place = Here(folder, walled=Walled(folder, plan))
    script = "id -u; echo x >f && chmod 700 f && touch -d @0 f && cat f; cat ~/.ssh/key /etc/shadow 2>/dev/null"
    print((await place.run(ExecRequest(argv=("bash", "-c", script)))).output.decode(), end="")
    script = "git init -q . && git config user.name a && git config user.email a@b && git add f && git commit -qm 1"
    print((await place.run(ExecRequest(argv=("bash", "-c", script)))).status)
    serve = "import http.server as h; h.test(h.SimpleHTTPRequestHandler, port=8732)"
    await place.start(ExecRequest(argv=("/usr/bin/python3", "-c", serve)))
    script = "for i in $(seq 100); do curl -sf http://127.0.0.1:8732/f && exit; sleep 0.2; done"
    print((await place.run(ExecRequest(argv=("bash", "-c", script)))).output.decode(), end="")
    await place.close()

asyncio.run(main())
"""


@pytest.mark.skipif(os.getuid() != 0, reason="does not claim to change users: every other test ran as an ordinary user")
async def test_an_ordinary_user_has_the_same_walls(kind):
    """As nobody, with the system's Python where this one lies in a folder that is closed to others."""
    base = Path(f"/var/tmp/hermes-walled-{os.getpid()}")
    try:
        for name in ("person/work", "person/.ssh", "person/.hermes", "lib"):
            (base / name).mkdir(parents=True)
        (base / "person/.ssh/key").write_text("PRIVATE-4c1f9")
        modules = [
            Path(importlib.import_module(name).__file__).parent
            for name in (*ours("hermes-backend-local"), "attr", "attrs")
        ]
        modules += [Path(importlib.import_module(name).__file__).parent for name in ("pluggy", "click", "cattrs")]
        subprocess.run(["cp", "-r", *modules, base / "lib"], check=True)
        subprocess.run(["chown", "-R", "65534:65534", base], check=True)
        person, work = base / "person", base / "person/work"
        result = subprocess.run(
            ["/usr/bin/python3", "-B", "-c", textwrap.dedent(ORDINARY), kind, work, person, base / "lib"],
            capture_output=True,
            text=True,
            timeout=150,
            cwd="/",
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": "/var/tmp"},
            check=False,
        )
        assert result.stdout.splitlines() == [f"{kind} True []", "65534", "x", "0", "x"], result.stderr[-2000:]
    finally:
        subprocess.run(["rm", "-rf", base], check=True)
