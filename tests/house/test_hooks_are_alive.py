"""No hook on paper only: each spec is called from exactly one place, and is in the reference.

What plugins contribute may also be asked for by a host, with ``ctx.host.contributed``.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

from hermes_core import hooks, modes

ROOT = Path(__file__).parents[2]
MODES = hooks.modes()
CALLS = {mode: "contributions" if mode == "contribute" else mode for mode in modes.DEADLINES}


@cache
def call_sites() -> dict[str, list[str]]:
    """Hook name -> the files of the kernel where it is called with its own mode, and those of hosts that ask for it."""
    found: dict[str, list[str]] = {name: [] for name in MODES}
    for path in [*(ROOT / "hermes_core").rglob("*.py"), *ROOT.glob("plugins/hermes-platform-*/src/**/*.py")]:
        if "testing" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            said = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            hosted = node.func.attr == "contributed" and f"register_{said}" in found
            if hosted or ("hermes_core" in path.parts and said in found and _calls(node.func.attr, said)):
                found[f"register_{said}" if hosted else said].append(path.name)
    return found


def _calls(method: str, name: str) -> bool:
    return method.startswith(CALLS[MODES[name]])


def test_the_house_has_its_hooks_in_five_modes() -> None:
    assert set(MODES.values()) == set(modes.DEADLINES)


@pytest.mark.parametrize("name", [n for n, mode in MODES.items() if mode != "contribute"])
def test_a_run_time_hook_has_one_call_site(name: str) -> None:
    assert len(call_sites()[name]) == 1


@pytest.mark.parametrize("name", [n for n, mode in MODES.items() if mode == "contribute"])
def test_a_contribution_is_asked_for(name: str) -> None:
    assert call_sites()[name]
