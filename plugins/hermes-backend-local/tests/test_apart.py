"""What is for one program alone is not seen by the commands beside it, behind the wall of this machine."""

import os

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
