"""Stands in for Hermes Agent where a program starts it by its modules, as the harness of verifiers does.

``python -m hermes_tool_migrate.stand_in`` is an install step: it lays modules of those names into the environment of
this Python. What they start is ``hermes acp``, in a home whose settings that program wrote. Nothing else uses this.
"""

import importlib.util
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from pathlib import Path

from hermes_atomic.whole import replace
from hermes_core.errors import HermesError, UserError

__all__ = ["acp", "detect_provider_for_model", "determine_api_mode", "install", "main", "taken_over"]

_FROM = "from hermes_tool_migrate.stand_in import"
_MODULES = {
    "hermes_cli/__init__.py": "",
    "hermes_cli/models.py": f"{_FROM} detect_provider_for_model as detect_provider_for_model\n",
    "hermes_cli/providers.py": f"{_FROM} determine_api_mode as determine_api_mode\n",
    "acp_adapter/__init__.py": "",
    "acp_adapter/entry.py": f"{_FROM} acp\n\n\ndef main() -> None:\n    acp({{enabled}})\n",
}
_HEAD = '"""Laid here by hermes_tool_migrate.stand_in."""\n'
_NO_SKILLS = ".no-bundled-skills"  # a file of a home: those that come with the program are not used


def install(folder: Path, enabled: Sequence[str] = ()) -> None:
    """Lay the modules into a folder of packages. ``enabled`` names plugins that homes are begun with.

    Raises UserError where another program has these names.
    """
    for name in _MODULES:
        path = folder / name
        if path.exists() and not path.read_text("utf-8", "replace").startswith(_HEAD):
            raise UserError(f"{path} is another program's.", hint="Use an environment of its own.")
    for name, text in _MODULES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        said = _HEAD + text.replace("{enabled}", repr(tuple(enabled)))
        replace(path, said.encode(), mode=0o644)  # whole or not at all, else it is taken for another program's


def detect_provider_for_model(_model: str, _current: str) -> tuple[str, str] | None:
    """Say whose a model is: nobody knows that by its name."""
    return None


def determine_api_mode(_provider: str, _base_url: str = "") -> str:
    """Say what a provider is spoken to in, where nothing else says so."""
    return "chat_completions"


def acp(enabled: Sequence[str] = ()) -> None:
    """Become ``hermes acp`` in the home that HERMES_HOME names. Ends with status 2 where that cannot be."""
    program = [sys.executable, "-P", "-m", "hermes_core"]
    try:
        taken_over(Path(os.environ.get("HERMES_HOME") or Path.home() / ".hermes"))
        for name in enabled:
            subprocess.run(
                [*program, "plugins", "enable", name, "--yes"], stdin=subprocess.DEVNULL, stdout=2, check=True
            )
    except HermesError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
    except (OSError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"Hermes cannot be begun: {error}\n")
        raise SystemExit(2) from None
    os.execv(sys.executable, [*program, "acp"])  # noqa: S606 - our own program


def taken_over(home: Path) -> None:
    """Write the settings of a home by our names; what was there lies in its ``data/tool-migrate``, written before.

    Where it is done already nothing is changed. Raises HermesError, OSError.
    """
    import yaml

    from hermes_tool_migrate.aliases import spelled_here

    path = home / "config.yaml"
    said = path.read_bytes() if path.is_file() else b""
    try:
        config = yaml.safe_load(said.decode())
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        return  # the program says what is wrong with it
    if not isinstance(config, dict) or (made := spelled_here(config, os.environ)) == config:
        return
    if (home / _NO_SKILLS).exists():
        tools = made.get("tools") or {}
        skills = (tools.get("skills") or {}) if isinstance(tools, dict) else None
        if isinstance(skills, dict):  # what is no section stays, and the check of settings says so
            made["tools"] = {**tools, "skills": {"disabled": sorted(_skills()), **skills}}
    aside = home / "data" / "tool-migrate" / "hermes-agent"
    aside.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace(aside / "config.yaml", said, mode=0o600)
    replace(path, yaml.safe_dump(made, sort_keys=False).encode(), mode=0o600)


def _skills() -> Iterator[str]:
    """Yield the names of skills that come with installed plugins."""
    for one in entry_points(group="hermes.plugins"):
        spec = importlib.util.find_spec(one.module)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            yield from (skill.parent.name for skill in Path(place).glob("skills/*/SKILL.md"))


def main(words: Sequence[str]) -> None:
    """Lay the modules into the environment of this Python; words are plugins that homes are begun with."""
    try:
        install(Path(sysconfig.get_path("purelib")), words)
    except (UserError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None


if __name__ == "__main__":
    main(sys.argv[1:])
