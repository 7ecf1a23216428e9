"""The gate: what the guard says of a tool call, in the words of the policy point."""

import asyncio
import os
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hermes_core.kinds import Workspace
from hermes_core.types import JSON, Effect, Feature, Protected, Session, ToolCall, Verdict

if TYPE_CHECKING:
    from hermes_tool_guard.losses import Losses

__all__ = ["command_of", "judge", "look"]

_LONG = 4096  # characters; longer commands are judged in a thread, so that nobody else waits
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "shell", "terminal"})
_HARMLESS = frozenset(
    {"command", "cmd", "script", "code", "workdir", "cwd", "language", "shell", "description", "timeout", "name"}
)


def command_of(call: ToolCall) -> str | None:
    """The shell command of a call, or None when it has none that the guard can read."""
    arguments = call.arguments
    for key in ("command", "cmd", "script"):
        value = arguments.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return shlex.join(value)
    code = arguments.get("code")
    language = arguments.get("language") or arguments.get("shell") or call.name
    return code if isinstance(code, str) and language in _SHELLS else None


async def look(call: ToolCall, place: Workspace, protected: Protected) -> Verdict:
    """Whether a call that runs something is never run, in whatever mode; else its parts, and whether a yes may last.

    An allow says nothing more than that. Every text of the call is looked at, whatever it is called.
    """
    if sum(map(len, _texts(call))) <= _LONG:
        return _looked(call, place, protected)
    return await asyncio.to_thread(_looked, call, place, protected)


def _looked(call: ToolCall, place: Workspace, protected: Protected) -> Verdict:
    from hermes_tool_guard.hardblocks import blocked_command
    from hermes_tool_guard.parts import Ground, for_grants, for_rules

    folder, command = _folder(call.arguments, place), command_of(call)
    if Feature.ISOLATED not in place.features:
        for text in _texts(call):
            if reason := blocked_command(text, folder, protected):
                return Verdict(outcome="deny", reason=reason, hard=True, commands=())
    covered, lasting = for_grants(command, Ground(folder, Feature.LOCAL in place.features)) if command else ([], False)
    named = {part.text for part in covered}
    lines = dict.fromkeys((_subject(call), command or ""))
    seen = [part for line in lines for part in for_rules(line) if part.text not in named]
    return Verdict(outcome="allow", commands=(*seen, *covered), lasting=lasting)


def _texts(call: ToolCall) -> list[str]:
    command = command_of(call)
    given = [value for value in call.arguments.values() if isinstance(value, str)]
    return given if command is None or command in given else [*given, command]


def _subject(call: ToolCall) -> str:
    """What a rule sees of a call: its first text argument, or all of them."""
    for key in ("command", "path", "url", "query"):
        if isinstance(value := call.arguments.get(key), str):
            return value
    return ", ".join(f"{k}={v}" for k, v in call.arguments.items())


async def judge(
    call: ToolCall,
    place: Workspace,
    home: str,
    protected: Protected,
    *,
    walled: bool = False,
    session: Session | None = None,
) -> Verdict | None:
    """The verdict on a call with the effect EXECUTE; None when its arguments hold no shell command.

    It says what the command does to the world, in ``Verdict.effects``.

    ``home`` is the folder of Hermes, whose files no command may touch, and ``protected`` says what only a person may
    do with it; ``walled`` whether the place's wall bounds it.
    With a ``session`` it is looked at what no snapshot of its folder has.
    """
    command = command_of(call)
    if command is None:
        return None
    losses = _losses(session, place, home) if session else None
    if _loaded() and len(command) <= _LONG:
        verdict = _judged(command, call.arguments, place, home, protected, walled, losses)
    else:
        verdict = await asyncio.to_thread(_judged, command, call.arguments, place, home, protected, walled, losses)
    return verdict


def _losses(session: Session, place: Workspace, home: str) -> "Losses | None":
    """What would be lost of a folder on this machine, where nothing else keeps it."""
    if Feature.LOCAL not in place.features or Feature.ISOLATED in place.features:
        return None
    from hermes_tool_guard.losses import Losses

    return Losses(place.cwd, since=session.created, turn=session.turn, home=home)


def _loaded() -> bool:
    import sys

    return "hermes_tool_guard.programs" in sys.modules


def _judged(
    command: str,
    arguments: Mapping[str, JSON],
    place: Workspace,
    home: str,
    protected: Protected,
    walled: bool,
    losses: "Losses | None",
) -> Verdict | None:
    from hermes_tool_guard.guard import check, guarded_paths
    from hermes_tool_guard.judgement import BEHIND_A_WALL, ISOLATED, OPEN, Class

    isolated = Feature.ISOLATED in place.features
    setting = ISOLATED if isolated else BEHIND_A_WALL if walled else OPEN
    guarded = () if isolated else guarded_paths(home)
    folder = _folder(arguments, place)
    found = check(
        command, root=place.cwd, folder=folder, guarded=guarded, protected=protected, setting=setting, losses=losses
    )
    if walled and not {Class.SEND, Class.CLOUD} & {*found.classes}:
        found = found._replace(effects=found.effects - {Effect.SEND})  # what it serves is reached from inside only
    if found.outcome == "deny":
        return Verdict(outcome="deny", reason=f"it {found.reason}. This is never allowed, in any mode.")
    # What else was given (an environment, standard input) might change what runs; then the kernel decides as ever.
    strange = any(k not in _HARMLESS and isinstance(v, (str, list, dict)) and v for k, v in arguments.items())
    if strange and not walled and Effect.NETWORK in found.effects:  # what it says comes from outside, in every mode
        outcome = found.outcome if isolated else "ask"
        reason = found.reason if found.outcome == "ask" else "uses the network"
        return Verdict(outcome=outcome, reason=reason, effects=found.effects | {Effect.EXECUTE})
    if found.outcome == "ask":
        return Verdict(outcome="ask", reason=found.reason, effects=None if strange else found.effects)
    return None if strange else Verdict(outcome="allow", reason=found.reason, effects=found.effects)


def _folder(arguments: Mapping[str, JSON], place: Workspace) -> str:
    for key in ("workdir", "cwd"):
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return os.path.join(place.cwd, os.path.expanduser(value))  # noqa: PTH111, PTH118 - kept as written
    return place.shell_cwd or place.cwd
