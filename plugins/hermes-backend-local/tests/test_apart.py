"""What is for one program alone is not seen by the commands beside it, behind the wall of this machine."""

import asyncio
import os
from pathlib import Path

import pytest

from hermes_backend_local.backend import local
from hermes_backend_local.config import Config
from hermes_backend_wall.apart import Apart
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_core.types import ExecRequest

pytestmark = [pytest.mark.real, pytest.mark.timeout(60)]
SPY = "while :; do cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep ^CANARY >> spied; sleep 0.05; done"
SERVE = 'echo "$CANARY" > served; read -r line; echo "$line and $POISON"'
WORK = 'sleep 0.5; echo "$CANARY in $PWD" > made; env | grep -c -i _proxy'


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_no_command_beside_it_sees_its_variables(tmp_path, kind) -> None:
    (tmp_path / "work").mkdir()
    context = plugin_context(
        read_manifest(manifest_path("hermes_backend_local")), tmp_path / "home", config=Config(wall=kind)
    )
    workspace = await local(context).open(str(tmp_path / "work"))
    try:
        spy = await workspace.start(ExecRequest(argv=("bash", "-c", SPY)))
        here = await workspace.run(ExecRequest(argv=("sh", "-c", "env | grep -c -i _proxy")))
        there = await workspace.run(Apart(argv=("sh", "-c", WORK), env={"CANARY": "4711"}))
        await spy.kill()
    finally:
        await workspace.close()
    assert (tmp_path / "work" / "made").read_text() == f"4711 in {os.path.realpath(tmp_path / 'work')}\n"
    assert there.output == here.output, "it has the same way out"
    assert "4711" not in (tmp_path / "work" / "spied").read_text()


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_one_in_the_background_is_alone_too_and_its_sandbox_ends_with_it(tmp_path, kind) -> None:
    work = tmp_path / "work"
    work.mkdir()
    context = plugin_context(
        read_manifest(manifest_path("hermes_backend_local")), tmp_path / "home", config=Config(wall=kind)
    )
    workspace = await local(context).open(str(work))
    try:
        await workspace.run(ExecRequest(argv=("bash", "-c", "export POISON=x")))
        spy = await workspace.start(ExecRequest(argv=("bash", "-c", SPY), env={"CANARY": "its own"}))
        said: list[bytes] = []
        before = children()
        argv = ("bash", "-c", SERVE)
        served = await workspace.start(Apart(argv=argv, env={"CANARY": "4711"}, on_output=said.append))
        killed = await workspace.start(Apart(argv=("sleep", "100"), env={"CANARY": "4711"}))
        async with asyncio.timeout(30):
            while not (work / "served").exists():
                await asyncio.sleep(0.05)
            seen = (work / "spied").read_text().count("its own")
            while (work / "spied").read_text().count("its own") < seen + 20:  # it looks, more than once
                await asyncio.sleep(0.05)
            await served.write(b"heard\n")
            while await served.poll() is None:
                await asyncio.sleep(0.02)
            await served.kill()
            await killed.kill()
            assert children() == before, "nothing is left of either"
        await spy.kill()
    finally:
        await workspace.close()
    assert b"".join(said) == b"heard and \n", "what a shell exported is not for it"
    assert "4711" not in (work / "spied").read_text()


def children() -> set[str]:
    """The processes that this one started and that live."""
    lists = Path("/proc/self/task").glob("*/children")
    return {pid for one in lists for pid in one.read_text().split()}
