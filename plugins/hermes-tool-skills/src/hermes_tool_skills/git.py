"""A git repository read without a checkout: no hook, filter or submodule of it runs, and no link is made."""

import os
import subprocess
from pathlib import Path

from hermes_core.errors import UserError
from hermes_tool_skills.tree import MAIN, MOST_BYTES, MOST_FILE, MOST_FILES, BadTree, path_problem

_SECONDS = 120.0
_SAFE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "credential.helper=", "-c",
    "protocol.allow=never", "-c", "protocol.https.allow=always", "-c", "protocol.http.allow=always", "-c",
    "http.followRedirects=false", "-c", "submodule.recurse=false", "-c", "core.askPass=true",
)  # fmt: skip


def clone(address: str, folder: str, scratch: Path) -> tuple[dict[str, bytes], str]:
    """The files of a folder of a repository's newest commit, and that commit. Raises UserError, BadTree."""
    place, commit, inner, rows = _listed(address, folder, scratch)
    found: dict[str, bytes] = {}
    total = 0
    for row in rows:
        about, _, name = row.partition(b"\t")
        mode, kind, thing, size = about.decode().split()
        path = name.decode("utf-8", "replace")
        if any(part.startswith(".") and part != ".." for part in path.split("/")):
            continue  # .github, .gitignore and the like are no part of a skill
        if kind != "blob" or mode not in ("100644", "100755"):
            raise BadTree(f"{path!r} is a link or another repository; a skill holds plain files only.")
        if problem := path_problem(path):
            raise BadTree(f"The path {path!r} {problem}.")
        total += int(size)
        if int(size) > MOST_FILE or total > MOST_BYTES or len(found) >= MOST_FILES:
            raise BadTree("The folder is too large for a skill; name the folder of one skill with #FOLDER.")
        found[path] = _git("-C", str(place), "cat-file", "blob", thing)
    if not found:
        raise BadTree(f"There is nothing in {inner or 'the repository'}.")
    return found, commit


def mains(address: str, folder: str, scratch: Path) -> dict[str, bytes]:
    """Every SKILL.md of a repository below a folder, by the folder it lies in. Raises UserError, BadTree."""
    place, _, inner, rows = _listed(address, folder, scratch)
    found: dict[str, bytes] = {}
    for row in rows:
        about, _, name = row.partition(b"\t")
        mode, kind, thing, size = about.decode().split()
        path = name.decode("utf-8", "replace")
        if path != MAIN and not path.endswith(f"/{MAIN}"):
            continue
        if kind == "blob" and mode in ("100644", "100755") and int(size) <= MOST_FILE and not path_problem(path):
            where = "/".join(filter(None, (inner, path.removesuffix(MAIN).rstrip("/"))))
            found[where] = _git("-C", str(place), "cat-file", "blob", thing)
        if len(found) >= MOST_FILES:
            break
    return found


def _listed(address: str, folder: str, scratch: Path) -> tuple[Path, str, str, list[bytes]]:
    """A bare copy of a repository, its newest commit, the folder, and the rows of what lies below that."""
    place = scratch / "repository"
    words = ("--bare", "--single-branch", "--no-tags")
    try:
        _git("clone", *words, "--depth=1", "--", address, str(place))
    except UserError as error:
        if "shallow" not in error.text:  # a plain file server knows only whole histories
            raise
        _git("clone", *words, "--", address, str(place))
    commit = _git("-C", str(place), "rev-parse", "HEAD").decode().strip()
    inner = folder.strip("/")
    if inner and (problem := path_problem(inner)):
        raise BadTree(f"The folder {folder!r} {problem}.")
    rows = _git("-C", str(place), "ls-tree", "-r", "-l", "-z", f"{commit}:{inner}").split(b"\0")
    return place, commit, inner, list(filter(None, rows))


def _git(*words: str) -> bytes:
    environ = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environ |= {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    environ |= {"GIT_LFS_SKIP_SMUDGE": "1", "GIT_ALLOW_PROTOCOL": "https:http", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", *_SAFE, *words], capture_output=True, timeout=_SECONDS, env=environ, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except FileNotFoundError:
        raise UserError("git is not installed.", hint="Install it, or give the address of an archive.") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"git took longer than {_SECONDS:.0f} s.") from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UserError(f"git says: {lines[-1][:300] if lines else 'nothing'}", hint="Is the address right?")
    return done.stdout
