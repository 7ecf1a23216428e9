"""Git as it is asked here: no hook of a repository is run, and nothing is asked of a person."""

import asyncio
import os
from pathlib import Path

from hermes_core.errors import UserError

__all__ = ["git"]

_GIT = (
    "git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0",
    "-c", "transfer.fsckObjects=true", "-c", "fetch.recurseSubmodules=false", "-c", "maintenance.auto=false",
)  # fmt: skip
_SECONDS = 600.0


async def git(folder: Path, *words: str) -> str:
    """Return what git says in a folder. Raises UserError where it fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *_GIT, "-C", str(folder), *words, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe,
            env=environment,
        )  # fmt: skip
    except OSError as error:
        raise UserError(f"git cannot be started: {error.strerror}.", hint="Install git.") from None
    try:
        async with asyncio.timeout(_SECONDS):
            output, errors = await process.communicate()
    except TimeoutError:
        raise UserError(f"git {words[0]} in {folder} takes too long.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        said = errors.decode("utf-8", "replace").strip().splitlines() or ["it failed"]
        raise UserError(f"git {words[0]} in {folder}: {said[-1]}", hint="It must be a repository with a commit.")
    return output.decode("utf-8", "replace").strip()
