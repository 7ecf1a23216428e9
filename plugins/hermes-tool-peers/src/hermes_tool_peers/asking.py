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
    there = [one for one in profiles(ctx) if one != here]
    if name not in there:
        raise UnknownName("agent", name, there, hint=f"{ctx.program} profile create {name}")
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
        raise UserError(f"{name} says: {_last(wrong, name)}", hint=_hint(ctx, wrong, name))
    try:
        found = json.loads(said[:_MOST])
    except ValueError:
        raise UserError(f"What {name} says cannot be read.") from None
    return found if isinstance(found, Mapping) else {}


def _last(wrong: bytes, name: str) -> str:
    text = wrong.decode("utf-8", "replace")
    if _ABSENT in text:
        return "it takes nothing, as its plugin peers is not enabled"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines)[-500:] or f"nothing ({name} ended with an error)"


def _hint(ctx: PluginContext, wrong: bytes, name: str) -> str:
    return f"{ctx.program} -p {name} plugins enable peers" if _ABSENT.encode() in wrong else ""
