"""The one point that every tool call passes, whichever door it came through. It fails closed.

Order: hard blocks, the user's deny rules, gates of plugins, mode and remembered grants, a person.
Only a person, outside the agent, can widen it.
"""

import fnmatch
import os
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from hermes_core.agent.policy.hardblocks import blocked_command, guarded_path, pieces, program_words
from hermes_core.config.settings import Settings
from hermes_core.kinds import Tool, Workspace
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.types import Effect, Feature, Question, Session, ToolCall, Verdict

__all__ = ["AskPerson", "Policy", "guarded_paths", "subject_of"]

AskPerson = Callable[[Question], Awaitable[Verdict | None]]

_HARMLESS = frozenset(
    {Effect.READ_FILES, Effect.RECALL, Effect.REMEMBER, Effect.ASK, Effect.NETWORK, Effect.DELEGATE}
    # looking, its own notes, and children, whose calls are judged themselves
)
_RISKS = {
    Effect.EXECUTE: "runs a command on {place}",
    Effect.WRITE_FILES: "writes outside the session's folder",
    Effect.SEND: "sends something in your name",
    Effect.SCHEDULE: "plans work for later",
    Effect.CONFIGURE: "changes the settings of Hermes",
}


def subject_of(call: ToolCall) -> str:
    """What a person, a rule or a grant sees of a call: its first text argument, or all of them."""
    for key in ("command", "path", "url", "query"):
        if isinstance(value := call.arguments.get(key), str):
            return value
    return ", ".join(f"{k}={v}" for k, v in call.arguments.items())


class Policy:
    """Judges calls of one process. ``guarded`` are files and folders that no tool may touch."""

    def __init__(
        self,
        dispatch: Dispatch,
        *,
        mode: str,
        deny: Sequence[str],
        allow: Sequence[str],
        guarded: Sequence[Path],
        remember: Callable[[str], None],
    ) -> None:
        self._dispatch = dispatch
        self.mode = mode
        self._deny = tuple(deny)
        self._allow = list(allow)
        self._guarded = tuple(guarded)
        self._remember = remember
        self._grants: dict[str, set[str]] = {}  # session id -> rules granted for its lifetime in this process

    async def judge(
        self, session: Session, call: ToolCall, tool: Tool, params: object, workspace: Workspace, ask: AskPerson | None
    ) -> Verdict:
        """May this call run? Never raises; what cannot be decided is denied."""
        try:
            return await self._judge(session, call, tool, params, workspace, ask)
        except Exception as error:  # noqa: BLE001 - a policy that fails must deny, whatever the reason
            return Verdict(outcome="deny", reason=f"the policy could not decide ({error})", by="policy")

    async def _judge(
        self, session: Session, call: ToolCall, tool: Tool, params: object, workspace: Workspace, ask: AskPerson | None
    ) -> Verdict:
        places = [key[5:] for key in (tool.touches(params) if tool.touches else ()) if key.startswith("file:")]
        if reason := self._hard_block(call, tool, places, workspace):
            return Verdict(outcome="deny", reason=f"{reason}. This is never allowed, in any mode.", by="hard block")
        subject = f"{tool.name}({subject_of(call)})"
        parts = _parts(tool, subject_of(call))
        for rule in self._deny:
            if _matches(rule, subject) or any(_matches(rule, part) for part in parts):
                return Verdict(outcome="deny", reason=f"the rule {rule!r} in policy.deny forbids it", by="policy.deny")
        verdict = await self._dispatch.decide(
            "pre_tool_call", session=session, call=call, effects=tool.effects, workspace=workspace
        )
        if verdict.outcome == "deny":
            return verdict
        if self.mode == "off":
            return Verdict(outcome="allow", by="mode off")
        risk = verdict.reason if verdict.outcome == "ask" else self._risk(tool, places, workspace)
        if not risk and verdict.outcome != "ask":
            return Verdict(outcome="allow", by="harmless")
        if any(_allows(rule, subject, parts) for rule in (*self._allow, *self._grants.get(session.id, ()))):
            return Verdict(outcome="allow", by="grant")
        if verdict.outcome == "allow" and verdict.by and risk:
            return verdict  # a gate knows this call better than the effect it belongs to
        return await self._ask_person(session, subject, risk or "a plugin wants a person to decide", ask)

    def _hard_block(self, call: ToolCall, tool: Tool, places: Sequence[str], workspace: Workspace) -> str:
        if Feature.ISOLATED in workspace.features:
            return ""
        for place in places:
            if reason := guarded_path(place, workspace.cwd, self._guarded):
                return reason
        if Effect.EXECUTE in tool.effects:
            folder = workspace.shell_cwd or workspace.cwd
            if isinstance(workdir := call.arguments.get("workdir"), str):
                folder = os.path.join(workspace.cwd, os.path.expanduser(workdir))  # noqa: PTH111, PTH118
            for value in call.arguments.values():
                if isinstance(value, str) and (reason := blocked_command(value, folder, self._guarded)):
                    return f"{subject_of(call)!r} was blocked because {reason}"
        return ""

    def _risk(self, tool: Tool, places: Sequence[str], workspace: Workspace) -> str:
        for effect in sorted(tool.effects - _HARMLESS, key=lambda e: e.value):
            if effect is Effect.EXECUTE and Feature.ISOLATED in workspace.features:
                continue
            if effect is Effect.WRITE_FILES and places and all(_inside(p, workspace.cwd) for p in places):
                continue
            return _RISKS[effect].format(place="this machine")
        return ""

    async def _ask_person(self, session: Session, subject: str, risk: str, ask: AskPerson | None) -> Verdict:
        question = Question(id=os.urandom(16).hex(), kind="approval", subject=subject, risk=risk)
        verdict = await ask(question) if ask else None
        if verdict is None:
            hint = "Nobody is here to ask. Run it in `hermes`, or allow it with --yolo or policy.allow"
            return Verdict(outcome="deny", reason=f"it {risk}, and that needs a person's yes. {hint}", by="policy")
        self._keep(session, subject, verdict)
        return verdict

    def _keep(self, session: Session, subject: str, verdict: Verdict) -> None:
        rule = _escape(subject)
        if verdict.outcome == "allow" and verdict.choice == "session":
            self._grants.setdefault(session.id, set()).add(rule)
        elif verdict.outcome == "allow" and verdict.choice == "always":
            self._allow.append(rule)
            self._remember(rule)

    def rules(self, session_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What is denied, and what is allowed in a session, by the rules and grants of this moment."""
        return self._deny, (*self._allow, *sorted(self._grants.get(session_id, ())))

    async def relay(self, session: Session, question: Question, ask: AskPerson) -> Verdict:
        """Put a child's question to the person of its parent's session; what that person grants, the parent keeps."""
        if question.kind == "approval" and _escape(question.subject) in self.rules(session.id)[1]:
            return Verdict(outcome="allow", by="grant")  # granted since the child was started
        verdict = await ask(question) or Verdict(outcome="deny", reason="Nobody is here to ask")
        if question.kind == "approval":
            self._keep(session, question.subject, verdict)
        return verdict


def _matches(rule: str, subject: str) -> bool:
    """Rules read ``tool`` or ``tool(pattern)``, with ``*`` and ``?`` in both."""
    name, _, pattern = rule.rstrip(")").partition("(")
    tool, _, rest = subject.removesuffix(")").partition("(")
    return fnmatch.fnmatchcase(tool, name) and (not pattern or fnmatch.fnmatchcase(rest, pattern))


def _parts(tool: Tool, text: str) -> list[str]:
    """The single commands of a shell command as rules see them: ``terminal(git push origin)``, however it was spelled.

    Wrappers, paths of programs and needless spaces are gone, and what hides in ``$(…)`` and ``sh -c`` stands by itself.
    """
    if Effect.EXECUTE not in tool.effects:
        return []
    commands = (program_words(piece) for piece in pieces(text))
    return [f"{tool.name}({' '.join([Path(w[0]).name, *w[1:]])})" for w in commands if w]


def _allows(rule: str, subject: str, parts: Sequence[str]) -> bool:
    """Whether a rule allows a call. With ``*`` every single command must match, and nothing may be redirected."""
    if not parts or rule == _escape(subject) or "(" not in rule:
        return _matches(rule, subject)
    plain = not re.search(r"[<>`\n]|\$\(", subject)
    return plain and _matches(rule, subject) and all(_matches(rule, part) for part in parts)


def _escape(subject: str) -> str:
    tool, _, rest = subject.removesuffix(")").partition("(")
    return f"{tool}({''.join(f'[{c}]' if c in '*?[' else c for c in rest)})"


def _inside(place: str, cwd: str) -> bool:
    if not cwd:
        return False
    root = Path(cwd).resolve()
    path = (root / Path(place).expanduser()).resolve()  # a link that leads out of the folder leads out of it here too
    return path == root or root in path.parents


def guarded_paths(settings: Settings) -> list[Path]:
    """The files that guard the agent, hold its secrets or its memory of what was done: closed to every tool."""
    home = settings.home
    database = [home.database.with_name(home.database.name + end) for end in ("", "-wal", "-shm")]
    data = home.root / "data"  # what plugins keep: among it what a person allowed, and the way back from changes
    own = [home.config_file, home.env_file, home.lock_file, home.plugins, data, *database, home.base / "active_profile"]
    if home.root == home.base:
        return [*own, home.base / "profiles"]
    others = [p for p in sorted((home.base / "profiles").glob("*")) if p != home.root]
    return [*own, *others, home.base / "config.yaml", home.base / ".env", home.base / "state.db"]
