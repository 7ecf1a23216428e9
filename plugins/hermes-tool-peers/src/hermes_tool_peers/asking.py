"""Asking the agent of another profile: this program again, with that profile, which takes what it is told."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_tool_peers.config import Config

__all__ = ["ask", "config_of", "me", "profiles"]

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_LONGEST = 20_000  # characters that are said
_MORE = 30.0  # seconds beyond those of its turn that a process has
_ABSENT = "which is not enabled"  # what is said of a command whose plugin is not
_MOST = 1_000_000  # bytes that one says


def config_of(ctx: PluginContext) -> Config:
    """Return the settings."""
    found: Config = ctx.config or Config()
    return found


def _base(home: Path) -> Path:
    return home.parent.parent if home.parent.name == "profiles" else home


def me(ctx: PluginContext) -> str:
    """Return the name of this profile."""
    home = ctx.paths.home
    return home.name if home.parent.name == "profiles" else "default"


def profiles(ctx: PluginContext) -> Sequence[str]:
    """Return the profiles of this machine's person, this one among them."""
    folder = _base(ctx.paths.home) / "profiles"
    named = sorted(path.name for path in folder.glob("*") if path.is_dir() and _NAME.fullmatch(path.name))
    return ["default", *named]


async def ask(
    ctx: PluginContext, name: str, text: str, key: str, *, chain: Sequence[str] = (), later: bool = False
) -> Mapping[str, Any]:
    """Tell the agent of a profile something; its answer and session, or the session alone where it answers ``later``.

    ``key`` names it: what is told twice under one is told once. ``chain`` are the agents through which it came here.
    Raises UnknownName, UserError with what that profile says.
    """
    config, here = config_of(ctx), me(ctx)
    _check(ctx, name, here)
    if not text.strip() or len(text) > _LONGEST:
        raise UserError("There is nothing to say." if not text.strip() else f"{_LONGEST:,} characters are the most.")
    chain = [*chain, here]
    if name in chain or len(chain) > config.hops:
        way = " → ".join((*chain, name))
        raise UserError(f"This question went through too many agents, or back to one: {way}.")
    told = json.dumps({"from": here, "chain": chain, "text": text, "key": key, "later": later})
    words = [sys.executable, "-P", "-m", "hermes_core", "-p", name, "peer", "take"]
    environment = {**os.environ, "HERMES_HOME": str(_base(ctx.paths.home))}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)
    try:
        async with asyncio.timeout(config.seconds + _MORE):
            said, wrong = await process.communicate(told.encode())
    except TimeoutError:
        raise UserError(f"{name} did not answer within {config.seconds + _MORE:.0f} seconds.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise _refusal(ctx, wrong.decode("utf-8", "replace"), name)
    try:
        found = json.loads(said[:_MOST])
    except ValueError:
        raise UserError(f"What {name} says cannot be read.") from None
    return found if isinstance(found, Mapping) else {}


def _check(ctx: PluginContext, name: str, here: str) -> None:
    """Refuse a name that is no other agent's, with what can be done about it. Raises UserError, UnknownName."""
    there = [one for one in profiles(ctx) if one != here]
    if name in there:
        return
    if name == here:
        raise UserError(f"{name} is this profile itself.", hint=f"There is: {', '.join(there) or 'no other one'}.")
    if not _NAME.fullmatch(name):
        raise UnknownName("agent", name[:80], there, hint="A profile has small letters, digits, - and _ in its name.")
    raise UnknownName("agent", name, there, hint=f"Make it with: {ctx.program} profile create {name}")


def _refusal(ctx: PluginContext, wrong: str, name: str) -> UserError:
    """Return what a process said was wrong, as an error of ours."""
    if _ABSENT in wrong:
        text = f"{name} takes nothing: its plugin peers is not enabled."
        return UserError(text, hint=f"{ctx.program} -p {name} plugins enable peers")
    lines = [line.strip()[:500] for line in wrong.splitlines() if line.strip()][-3:]
    if not lines:
        return UserError(f"{name} ended with an error, and said nothing.", hint=f"{ctx.program} -p {name} logs")
    return UserError(f"{name} says: {lines[0]}", hint="\n".join(lines[1:]))
