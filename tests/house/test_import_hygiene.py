"""What each command may not import. Static graphs cannot see deferral, so this looks at ``sys.modules``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LIGHT = "pluggy attr attrs cattrs sqlalchemy alembic asyncio yaml stevedore sqlite3 httpx2 importlib.metadata tomllib"
WARM = "cattrs sqlalchemy alembic stevedore yaml tomllib importlib.metadata openai prompt_toolkit rich pytest"
PROBE = """
import os, sys
from hermes_core import __main__
os._exit = lambda status: (_ for _ in ()).throw(SystemExit(status))
sys.argv = ["hermes", *sys.argv[1:]]
try:
    __main__.main()
except SystemExit:
    pass
sys.stdout.flush()
print("\\nMODULES", *sorted(sys.modules))
"""


def modules_after(home: Path, *words: str) -> set[str]:
    """The modules a command leaves behind, in a home whose caches are warm."""
    env = {**os.environ, "HERMES_HOME": str(home), "HOME": str(home)}
    command = [sys.executable, "-c", PROBE, *words]
    for _ in range(2):  # the first run fills the caches
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, cwd=home)
    line = next(x for x in done.stdout.splitlines() if x.startswith("MODULES "))
    return set(line.split()[1:])


def forbidden(loaded: set[str], names: str) -> set[str]:
    return {m for m in loaded for name in names.split() if m == name or m.startswith(f"{name}.")}


LIGHT_COMMANDS = [["--version"], ["--help"], ["plugins", "list"], ["completion", "bash"]]


@pytest.mark.parametrize("words", LIGHT_COMMANDS, ids=" ".join)
def test_light_commands_import_next_to_nothing(tmp_path: Path, words: list[str]) -> None:
    loaded = modules_after(tmp_path, *words)
    assert not forbidden(loaded, LIGHT)
    assert not {m for m in loaded if m.startswith("hermes_") and not m.startswith("hermes_core")}


def test_the_version_needs_not_even_click(tmp_path: Path) -> None:
    assert not forbidden(modules_after(tmp_path, "--version"), "click re typing json")


def test_a_one_shot_imports_only_the_hot_path(tmp_path: Path) -> None:
    loaded = modules_after(tmp_path, "-z", "hello")
    assert not forbidden(loaded, WARM)
    assert "hermes_core.store.journal" in loaded  # the probe did see a whole turn


def test_a_one_shot_loads_no_platform(tmp_path: Path) -> None:
    loaded = modules_after(tmp_path, "-z", "hello")
    assert not {m for m in loaded if m.startswith("hermes_platform_")}


def test_settings_of_a_warm_home_need_no_yaml(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("agent: {max_calls: 5}\n")
    assert not forbidden(modules_after(tmp_path, "config", "get", "agent.max_calls"), "yaml cattrs sqlalchemy")
