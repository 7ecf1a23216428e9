"""Tools that people install into their home folder: readable, never writable; and where tools keep what they fetch.

The paths are those that the tools' own manuals give as defaults.
"""

import os
import sys
from collections.abc import Iterator, Mapping

from hermes_backend_wall.system import inside

__all__ = ["HOMES", "MOVED", "found"]

# Folders of a home that hold programs and libraries, and no keys.
_PLACES = (
    *(".asdf", ".bun", ".cargo/bin", ".cargo/env", ".deno", ".dotnet", ".fnm", ".ghcup", ".goenv", ".jenv", ".juliaup"),
    *(".julia/juliaup", ".local/bin", ".local/lib", ".local/pipx", ".local/share/fnm", ".local/share/mise"),
    *(".local/share/pipx", ".local/share/pnpm", ".local/share/uv", ".local/state/fnm_multishells", ".nodenv", ".nvm"),
    *(".opam", ".phpenv", ".pyenv", ".rbenv", ".rustup", ".rvm", ".sdkman", ".swiftly", ".volta", "anaconda3"),
    *("go/bin", "miniconda3", "miniforge3", ".npm-global", ".linuxbrew", ".fzf", ".elan", ".stack/programs", "sdk"),
)
# Variables by which tools find such a folder when the home is another one.
HOMES = {
    "ASDF_DATA_DIR": ".asdf",
    "FNM_DIR": ".local/share/fnm",
    "MISE_DATA_DIR": ".local/share/mise",
    "NVM_DIR": ".nvm",
    "PYENV_ROOT": ".pyenv",
    "RBENV_ROOT": ".rbenv",
    "RUSTUP_HOME": ".rustup",
    "SDKMAN_DIR": ".sdkman",
    "UV_PYTHON_INSTALL_DIR": ".local/share/uv/python",
    "VOLTA_HOME": ".volta",
}
# Variables that name places in the person's home: without them tools use the home they have, which is the commands'.
MOVED = (
    *("BUN_INSTALL_CACHE_DIR", "CARGO_HOME", "COMPOSER_CACHE_DIR", "COMPOSER_HOME", "CONDA_PKGS_DIRS", "DENO_DIR"),
    *("GEM_HOME", "GEM_SPEC_CACHE", "GOCACHE", "GOENV", "GOMODCACHE", "GOPATH", "GRADLE_USER_HOME", "HF_HOME"),
    *("MAVEN_USER_HOME", "NPM_CONFIG_CACHE", "NPM_CONFIG_PREFIX", "NPM_CONFIG_USERCONFIG", "npm_config_cache"),
    *("npm_config_prefix", "npm_config_userconfig", "NUGET_PACKAGES", "PIP_CACHE_DIR", "PIPENV_CACHE_DIR"),
    *("PNPM_HOME", "POETRY_CACHE_DIR", "PRE_COMMIT_HOME", "PUB_CACHE", "PYTHONUSERBASE", "RUFF_CACHE_DIR"),
    *("TORCH_HOME", "UV_CACHE_DIR", "UV_TOOL_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    *("XDG_STATE_HOME", "YARN_CACHE_FOLDER", "YARN_GLOBAL_FOLDER"),
    # Sockets of the person's session, which are closed; and other temporary folders.
    *("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "GPG_AGENT_INFO", "SSH_AGENT_PID", "SSH_AUTH_SOCK", "WAYLAND_DISPLAY"),
    *("XAUTHORITY", "XDG_RUNTIME_DIR", "DOCKER_HOST", "TMUX", "TMP", "TEMP"),
)


def found(person: str, environ: Mapping[str, str]) -> list[str]:
    """The tools of a home that are there, and the folders of programs that ``environ`` names."""
    wanted = {os.path.join(person, place) for place in _PLACES}  # noqa: PTH118
    wanted |= set(_of_path(person, environ.get("PATH", "")))
    wanted |= {os.path.realpath(sys.base_prefix), sys.prefix, environ.get("VIRTUAL_ENV", "")}
    there = sorted({path for path in wanted if path.startswith("/") and os.path.exists(path)})  # noqa: PTH110
    kept = [path for path in there if not inside(path, "/usr") and not _holds_keys(path, person)]
    return [path for path in kept if not any(path != other and inside(path, other) for other in kept)]


def _of_path(person: str, path: str) -> Iterator[str]:
    """Folders of programs; with the libraries beside them where they have a folder of their own."""
    for folder in path.split(":"):
        if not folder.startswith("/"):
            continue
        yield folder
        whole = os.path.dirname(folder.rstrip("/"))  # noqa: PTH120
        if folder.endswith("/bin") and os.path.isdir(f"{whole}/lib"):  # noqa: PTH112
            yield whole


def _holds_keys(path: str, person: str) -> bool:
    """Whether a folder is the home, holds it, or is one that tools keep secrets in."""
    kept = (".config", ".local", ".local/share", ".cargo", ".ssh", ".gnupg", ".aws", ".docker", ".kube", ".npm")
    return inside(person, path) or any(path == os.path.join(person, name) for name in kept)  # noqa: PTH118
