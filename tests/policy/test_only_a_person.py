"""What only a person may do is refused to a tool, whatever starts the program and however it is named."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

SCRIPT = Path(sysconfig.get_path("scripts"), "hermes")
# What is installed for work on it is found by a file of this environment, which an interpreter elsewhere does not read.
SOURCES = sorted(str(path) for path in Path(__file__).parents[2].glob("plugins/*/src"))
FOUND = os.pathsep.join([str(Path(__file__).parents[2]), sysconfig.get_path("purelib"), *SOURCES])
WORDS = "config set policy.mode off"
IMPORTED = "import sys; sys.argv = ['x', *{words!r}]; from hermes_core.__main__ import main; main()"
WAYS = {
    "its script": f"{SCRIPT} {WORDS}",
    "its module": f"{sys.executable} -m hermes_core {WORDS}",
    "an import": f'{sys.executable} -c "{IMPORTED.format(words=WORDS.split())}"',
    "no environment": f"env -i HERMES_HOME=$HERMES_HOME {sys.executable} -m hermes_core {WORDS}; true",
    "without the mark": f"env -u HERMES_RUN sh -c '{sys.executable} -m hermes_core {WORDS}; true'",
    "a session of its own": f"setsid -w env -u HERMES_RUN {sys.executable} -m hermes_core {WORDS}",
    "nohup": f"nohup env -u HERMES_RUN {sys.executable} -m hermes_core {WORDS}; true",
    "in the background": f"(env -u HERMES_RUN {sys.executable} -m hermes_core {WORDS}) & wait",
    "a script": f"printf '%s\\n' '{sys.executable} -m hermes_core {WORDS}' > s.sh; env -u HERMES_RUN sh s.sh; true",
    "xargs": f"echo {WORDS} | env -u HERMES_RUN xargs {sys.executable} -m hermes_core; true",
    "another name": f"cp -L {sys.executable} s; env -u HERMES_RUN PYTHONPATH={FOUND} ./s -m hermes_core {WORDS}; true",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.few(3)
def test_no_way_of_starting_it_makes_a_person_of_a_tool(tmp_path: Path, way: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.yaml").write_text("policy: {mode: ask}\n")
    (tmp_path / "work").mkdir()
    environ = {**os.environ, "HERMES_HOME": str(home), "HERMES_RUN": "1"}
    done = subprocess.run(
        ["sh", "-c", f"{WAYS[way]}; true"],
        env=environ, cwd=tmp_path / "work", capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "started by a tool" in done.stdout + done.stderr + _said(tmp_path / "work" / "nohup.out")
    assert (home / "config.yaml").read_text() == "policy: {mode: ask}\n"


def _said(path: Path) -> str:
    return path.read_text() if path.exists() else ""
