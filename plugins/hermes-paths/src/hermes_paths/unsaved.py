"""What snapshots of a folder leave out, and which of that nobody misses.

Whoever takes snapshots and whoever says what a command destroys must agree on it, so it stands here once.
"""

import hashlib
import os
import re
import struct
import sys
from contextlib import suppress
from fnmatch import fnmatchcase, translate
from functools import cache
from pathlib import Path

__all__ = ["CACHES", "LARGEST_MB", "born", "forget", "is_rebuilt", "is_secret", "note_unsaved", "unsaved"]

LARGEST_MB = 10  # megabytes of a file that is kept
# Folders that are left out even where the project does not say so: large, and made again by one command.
CACHES = (
    "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache",
    ".gradle", ".next", ".nuxt", ".terraform",
)  # fmt: skip
# Besides those: where builds, tests and package managers put what they make.
_BUILT = (
    *CACHES, "build", "dist", "target", "out", "bin", "obj", "lib64", "_build", "cmake-build-*", "CMakeFiles",
    "bazel-*", "Debug", "Release", "*.egg-info", ".eggs", "bower_components", "jspm_packages", ".yarn", ".pnpm-store",
    ".parcel-cache", ".turbo", ".svelte-kit", ".angular", ".cache", ".hypothesis", ".nyc_output", ".sass-cache",
    ".dart_tool", ".stack-work", "dist-newstyle", ".bundle", "Pods", "DerivedData", ".build", "elm-stuff", "zig-cache",
    "zig-out", ".zig-cache", "_site", ".docusaurus", "htmlcov", "coverage", ".ipynb_checkpoints", "tmp", "temp", "logs",
)  # fmt: skip
_MADE = (
    "*.py[co]", "*.o", "*.obj", "*.a", "*.so", "*.so.*", "*.dylib", "*.class", "*.d", "*.gcda", "*.gcno", "*.profraw",
    "*.tsbuildinfo", "*.log", "*.log.*", "*.tmp", "*.temp", "*.swp", "*~", "*.pid", ".DS_Store", "Thumbs.db",
    ".coverage", ".coverage.*", "coverage.xml", "coverage.out", "lcov.info", ".eslintcache", ".stylelintcache", "a.out",
    "CMakeCache.txt", "*.aux", "*.bbl", "*.blg", "*.fls", "*.fdb_latexmk", "*.toc", "*.synctex.gz", "nohup.out", "core",
    "core.[0-9]*",
)  # fmt: skip
_SECRET = (
    ".env", ".env.*", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "id_rsa", "id_dsa",
    "id_ecdsa", "id_ed25519", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", "credentials",
    "credentials.json", "service-account*.json",
)  # fmt: skip
_SAMPLE = re.compile(r"\.(example|sample|template|dist|tpl|defaults?)$")
_STATX_BTIME, _NO_FOLLOW, _HERE = 0x800, 0x100, -100


def is_secret(name: str) -> bool:
    """Whether a file's name says that it holds credentials."""
    name = name.lower()
    return not _SAMPLE.search(name) and any(fnmatchcase(name, pattern) for pattern in _SECRET)


def is_rebuilt(path: str) -> bool:
    """Whether the parts of a path below a folder say that a build, a test or a package manager makes it again."""
    *folders, name = path.split("/")
    built, made = _patterns()
    return any(map(built.match, (*folders, name))) or bool(made.match(name))


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Names that are made again: of folders, and of files."""
    built, made = ("|".join(map(translate, names)) for names in (_BUILT, _MADE))
    return re.compile(built), re.compile(made)


def born(path: str) -> float | None:
    """When a file came to be, which no ``touch`` changes; None where the system does not say."""
    if sys.platform != "linux":
        with suppress(OSError):
            return getattr(os.lstat(path), "st_birthtime", None)
        return None
    import ctypes  # not before something is asked that needs it

    found = ctypes.create_string_buffer(256)
    try:
        failed = ctypes.CDLL(None).statx(_HERE, os.fsencode(path), _NO_FOLLOW, _STATX_BTIME, found)
    except (AttributeError, OSError, ValueError):  # an old system has no such call
        return None
    seconds, parts = struct.unpack_from("qI", found, 0x50)
    known = not failed and struct.unpack_from("I", found)[0] & _STATX_BTIME
    return float(seconds + parts / 1e9) if known else None


def note_unsaved(home: Path, turn: str, reason: str) -> None:
    """Let every process know that a turn has no snapshot, and why, before it deletes anything."""
    path = _note(home, turn)
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(reason, "utf-8")


def unsaved(home: Path, turn: str) -> str:
    """Why a turn has no snapshot; empty where it has one, or where nobody takes any."""
    try:
        return _note(home, turn).read_text("utf-8") if turn else ""
    except OSError:
        return ""


def forget(home: Path, turn: str) -> None:
    """Take back what ``note_unsaved`` wrote: the turn is over."""
    _note(home, turn).unlink(missing_ok=True)


def _note(home: Path, turn: str) -> Path:
    return home / "data" / "tool-checkpoints" / "unsaved" / hashlib.sha256(turn.encode()).hexdigest()[:16]
