"""What commands may change in a repository's settings: what runs nothing, and leads nobody elsewhere."""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from hermes_backend_wall.history import environment
from hermes_backend_wall.system import inside
from hermes_core.patterns import pattern

__all__ = ["Settings", "harmful", "named_files", "settings", "without"]

Settings = Mapping[str, Sequence[str]]
_SECONDS = 10
_NETWORK = pattern(r"(https?|ssh|git)://[^\s-].*|[\w.-]+@[\w.-]+:[^-].*")
_URL = pattern(r"remote\.(?P<remote>.*)\.(url|pushurl)")
_FOLLOWED = pattern(r"branch\..*\.(remote|pushremote)")
# Settings that honest work changes and that run nothing; the rest is put back.
_HARMLESS = {
    r"user\.(name|email)": r".*",
    r"branch\..*\.(merge|rebase|description|vscode-merge-base|gh-merge-base)": r"(?!.*::).*",
    r"remote\..*\.(fetch|tagopt|prune|gh-resolved)": r"(?!.*::).*",
    r"submodule\..*\.(url|active)": r"(https?|ssh|git)://[^\s-].*|true|false",
    r"core\.repositoryformatversion": r"[01]",
    r"core\.(filemode|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|sparsecheckout.*)": r"\w*",
    r"core\.bare": r"false|true",
    r"extensions\.(objectformat|refstorage|partialclone|worktreeconfig)": r"\w+",
    r"(pull|push|fetch|rebase|gc|merge)\.(rebase|default|prune|autosetupremote|autostash|auto|ff)": r"[\w/-]*",
    r"(merge\.conflictstyle|init\.defaultbranch|index\.sparse)": r"[\w/-]*",
}
_RULES = tuple((pattern(name), pattern(value)) for name, value in _HARMLESS.items())
_FILES = pattern(r"core\.(hookspath|attributesfile)|include\.path|includeif\..*\.path")


def _git(*words: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(
        ["git", *words], input=stdin, capture_output=True, check=False, timeout=_SECONDS, cwd="/", env=environment()
    )
    return done.stdout if done.returncode == 0 else b""


@lru_cache(maxsize=16)
def settings(data: bytes | None) -> Settings:
    """The settings in a file's bytes, which commands cannot change under us; one that cannot be read has its own."""
    found: dict[str, list[str]] = {}
    if not data or not data.strip():
        return found
    try:
        listed = _git("config", "--no-includes", "--file", "-", "--null", "--list", stdin=data)
    except (OSError, subprocess.SubprocessError):
        listed = b""
    if not listed and any(line.strip()[:1] not in (b"", b"[", b"#", b";") for line in data.splitlines()):
        return {"\0unreadable": [""]}
    for entry in listed.decode(errors="surrogateescape").split("\0")[:-1]:
        name, _, value = entry.partition("\n")
        found.setdefault(name, []).append(value)
    return found


def harmful(
    before: Settings, after: Settings, *, first: Settings | None = None, root: str = "/", reach: Sequence[str] = ()
) -> list[str]:
    """Names of settings that differ and may run something, or lead elsewhere.

    ``first`` are those that the person had when commands began: where their remotes lead stays. ``root`` is the folder
    that paths are relative to; a remote on this machine below it or in ``reach``, where commands write, has hooks.
    """
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    first = {} if first is None else first
    return sorted(name for name in changed if not _is_harmless(name, after, first, root, reach))


def _is_harmless(name: str, after: Settings, first: Settings, root: str, reach: Sequence[str]) -> bool:
    values = after.get(name, [])
    if match := _URL.fullmatch(name):
        theirs = f"remote.{match['remote']}.url" in first
        if values and theirs and values != first.get(name):
            return False
        return all(_leads_away(value, root, reach) for value in values)
    if _FOLLOWED.fullmatch(name):
        return all(value == "." or f"remote.{value}.url" in after for value in values)
    return any(rule.fullmatch(name) and all(allowed.fullmatch(value) for value in values) for rule, allowed in _RULES)


def _leads_away(value: str, root: str, reach: Sequence[str]) -> bool:
    """Whether an address is on a network, or a plain path where no command can have written."""
    if _NETWORK.fullmatch(value):
        return True
    if ":" in value or value.startswith(("-", "~")) or not value.isprintable():
        return False
    path = os.path.realpath(os.path.join(root, value))  # noqa: PTH118
    return not any(inside(path, place) for place in (root, *reach))


def without(data: bytes, names: Sequence[str]) -> bytes:
    """The settings of a file less some of them."""
    with tempfile.TemporaryDirectory(prefix="hermes-settings-") as folder:
        path = Path(folder, "config")
        path.write_bytes(data)
        for name in names:
            _git("config", "--no-includes", "--file", str(path), "--unset-all", name)
        return path.read_bytes()


def named_files(known: Settings, base: str) -> list[str]:
    """Folders of hooks, and files of settings and attributes, that settings name; ``base`` is where they lie."""
    values = [value for name, values in known.items() if _FILES.fullmatch(name) for value in values]
    return [os.path.normpath(os.path.join(base, value)) for value in values if value and value[0] != "~"]  # noqa: PTH118
