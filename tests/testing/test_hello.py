"""The hello-world plugins of the docs are real: each passes its contract, and each stays small."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

HELLO = Path(__file__).parents[2] / "docs" / "hello"
# An author of plugins has none of the plugins of pytest that are left out; to load them takes longer than the tests.
LEFT_OUT = ("cacheprovider", "schemathesis", "hypothesispytest", "textual-snapshot", "syrupy", "xdist")
OPTIONS = ("-q", "--confcutdir=.", "-oasyncio_mode=auto", *(f"-pno:{name}" for name in LEFT_OUT))
# non-blank lines of the module
LINES = {"provider": 15, "tool": 14, "platform": 24, "memory": 20, "backend": 43, "tables": 28, "source": 17}


def test_each_hello_world_plugin_passes_its_contract():
    paths = os.pathsep.join(str(HELLO / kind / "src") for kind in LINES)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, *(f"{kind}/test_contract.py" for kind in LINES)],
        cwd=HELLO,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("kind", LINES)
def test_a_hello_world_plugin_is_small(kind):
    (module,) = (HELLO / kind).glob("src/*/__init__.py")
    (manifest,) = (HELLO / kind).glob("src/*/hermes-plugin.toml")
    assert sum(bool(line.strip()) for line in module.read_text().splitlines()) <= LINES[kind]
    assert sum(bool(line.strip()) for line in manifest.read_text().splitlines()) <= 8
    assert sum(bool(line.strip()) for line in (HELLO / kind / "pyproject.toml").read_text().splitlines()) <= 10
