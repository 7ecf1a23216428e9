"""The program that installs into this Python, asked for one index and nothing else that a machine is set up with."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from hermes_core.errors import UserError

__all__ = ["installing", "kept_environment", "run_program", "upgrading"]

# Where else packages might come from, how they are built and where they go is not for a folder or a shell to say.
_NOT_KEPT = {
    "INDEX", "INDEX_URL", "EXTRA_INDEX_URL", "DEFAULT_INDEX", "FIND_LINKS", "NO_INDEX", "NO_BINARY", "ONLY_BINARY",
    "TRUSTED_HOST", "INSECURE_HOST", "INDEX_STRATEGY", "CONFIG_FILE", "CONSTRAINT", "BUILD_CONSTRAINT", "OVERRIDE",
    "EXCLUDE", "REQUIREMENT", "TARGET", "PREFIX", "ROOT", "USER", "PRE", "PRERELEASE", "NO_BUILD_ISOLATION", "PYTHON",
    "SYSTEM_PYTHON", "WORKING_DIRECTORY", "PROJECT",
}  # fmt: skip
Say = Callable[[str], None]


def run_program(
    action: str, arguments: Sequence[str], *, index: str = "", held: str = "", say: Say = lambda _text: None
) -> None:
    """Install or uninstall, with packages from ``index`` only. Raises UserError when that failed.

    ``held`` is a file of versions that nothing may change.
    """
    by, command = _program()
    yes = ["-y"] if action == "uninstall" and by != "uv" else []
    place = ["--python", sys.executable, "--no-config"] if by == "uv" else []
    where = ["--index-url", index] if index and action == "install" else []
    say(f"{action.title()}ing with {by} into {sys.prefix}.")
    # The installer's own words go to stderr as they come: stdout is for answers.
    words = [*command, action, *place, *where, *yes, *arguments]
    environ = _environment(os.environ)
    if held:
        environ |= {"UV_CONSTRAINT": held, "PIP_CONSTRAINT": held}
    status = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=2, env=environ, check=False).returncode
    if status:
        hint = "What it said stands above." + (" --allow-sdist also builds." if "--only-binary" in arguments else "")
        raise UserError(f"{by} could not {action} {arguments[-1]} (exit {status}).", hint=hint)


def installing(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """What would install into this Python, by name, and its command line. Raises UserError where there is none."""
    by, command = _program()
    place = ["--python", sys.executable, "--no-config"] if by == "uv" else []
    return by, [*command, "install", *place, *arguments]


def upgrading(names: Sequence[str]) -> list[str]:
    """Arguments that bring these to their newest version, and leave what they need alone where it will do."""
    if _program()[0] == "uv":  # whose --upgrade means everything
        return [*(word for name in names for word in ("--upgrade-package", name)), *names]
    return ["--upgrade", *names]


def kept_environment() -> dict[str, str]:
    """The environment in which an installer runs."""
    return _environment(os.environ)


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """The environment without what would add another source; proxies, certificates and caches stay."""
    kept = {
        name: value for name, value in given.items()
        if name.partition("_")[0] not in ("PIP", "UV") or name.partition("_")[2] not in _NOT_KEPT
    }  # fmt: skip
    return {**kept, "PIP_CONFIG_FILE": os.devnull}


def _program() -> tuple[str, list[str]]:
    """What installs into this Python, by name, and how it is begun: uv and pipx make environments without a pip.

    Raises UserError where there is none.
    """
    from importlib.util import find_spec

    beside = str(Path(sys.executable).parent)
    if uv := shutil.which("uv") or shutil.which("uv", path=beside):
        return "uv", [uv, "pip"]
    if find_spec("pip"):
        return "pip", [sys.executable, "-m", "pip"]
    for by, command in _from_outside():  # one may not fit: a system's pip without its parts, a pipx that used uv
        if not subprocess.run(
            [*command, "--version"], stdin=subprocess.DEVNULL, capture_output=True, check=False
        ).returncode:
            return by, command
    text = f"Nothing here can install into {sys.prefix}: there is no uv, and no pip or pipx that can."
    raise UserError(text, hint="Install uv (https://docs.astral.sh/uv), then do it again.")


def _from_outside() -> Iterator[tuple[str, list[str]]]:
    """Yield what lies elsewhere and may install into this Python."""
    if (pipx := shutil.which("pipx")) and Path(sys.prefix, "pipx_metadata.json").exists():
        yield "pipx", [pipx, "runpip", Path(sys.prefix).name]
    for pip in filter(None, map(shutil.which, ("pip", "pip3"))):
        yield "pip", [pip, "--python", sys.executable]
