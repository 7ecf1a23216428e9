"""The one point that every tool call passes, whichever door it came through. It fails closed.

Order: hard blocks, the user's deny rules, gates of plugins, mode and remembered grants, a person.
Only a person, outside the agent, can widen it.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from hermes_core.agent.policy.hardblocks import blocked_command, guarded_path
from hermes_core.agent.policy.risks import risk_of
from hermes_core.agent.policy.rules import allows, escape, matches, parts_of, subject_of
from hermes_core.kinds import Tool, Workspace
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.types import Effect, Feature, Question, Session, ToolCall, Verdict

__all__ = ["AskPerson", "Policy"]

AskPerson = Callable[[Question], Awaitable[Verdict | None]]


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
        parts = parts_of(tool, subject_of(call))
        for rule in self._deny:
            if matches(rule, subject) or any(matches(rule, part) for part in parts):
                return Verdict(outcome="deny", reason=f"the rule {rule!r} in policy.deny forbids it", by="policy.deny")
        verdict = await self._dispatch.decide(
            "pre_tool_call", session=session, call=call, effects=tool.effects, workspace=workspace
        )
        if verdict.outcome == "deny":
            return verdict
        if self.mode == "off":
            return Verdict(outcome="allow", by="mode off")
        risk = verdict.reason if verdict.outcome == "ask" else risk_of(tool, places, workspace)
        if not risk and verdict.outcome != "ask":
            return Verdict(outcome="allow", by="harmless")
        if any(allows(rule, subject, parts) for rule in (*self._allow, *self._grants.get(session.id, ()))):
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

    async def _ask_person(self, session: Session, subject: str, risk: str, ask: AskPerson | None) -> Verdict:
        question = Question(id=os.urandom(16).hex(), kind="approval", subject=subject, risk=risk)
        verdict = await ask(question) if ask else None
        if verdict is None:
            hint = "Nobody is here to ask. Run it in `hermes`, or allow it with --yolo or policy.allow"
            return Verdict(outcome="deny", reason=f"it {risk}, and that needs a person's yes. {hint}", by="policy")
        self._keep(session, subject, verdict)
        return verdict

    def _keep(self, session: Session, subject: str, verdict: Verdict) -> None:
        rule = escape(subject)
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
        if question.kind == "approval" and escape(question.subject) in self.rules(session.id)[1]:
            return Verdict(outcome="allow", by="grant")  # granted since the child was started
        verdict = await ask(question) or Verdict(outcome="deny", reason="Nobody is here to ask")
        if question.kind == "approval":
            self._keep(session, question.subject, verdict)
        return verdict
