"""The one point that every tool call passes, whichever way it came in. It fails closed.

Order: hard blocks, the user's deny rules, gates of plugins, taint, mode and remembered grants, a second opinion where
the mode wants one, a person. Only a person, outside the agent, can widen it. What a command does is said by guards, the
hook ``judge_command``: without their word it needs a person's yes each time.
"""

import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeAlias

from attrs import evolve

from hermes_core.agent.bounds import permits, reaches
from hermes_core.agent.policy.grants import Case, LastingOffer, Rule, covered, despite, offer
from hermes_core.agent.policy.guarded import guarded_place
from hermes_core.agent.policy.guests import Guests
from hermes_core.agent.policy.itself import widens
from hermes_core.agent.policy.risks import CROSSES, risk_of
from hermes_core.agent.policy.rules import allows, matches, subject_of, words_of
from hermes_core.agent.policy.taint import Seen, concern
from hermes_core.errors import OutOfReach, UserError
from hermes_core.kinds import Tool, Workspace
from hermes_core.plugins.dispatch import Dispatch, stricter
from hermes_core.records import KERNEL, Record
from hermes_core.types import (
    Effect,
    Feature,
    Limits,
    Principal,
    Protected,
    Question,
    Rights,
    Session,
    ToolCall,
    TurnBounds,
    Verdict,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.store import Store

__all__ = ["MODES", "AskPerson", "Left", "Permit", "Policy"]

MODES = ("ask", "smart", "off")
_NEVER = ". This is never allowed, in any mode."
AskPerson: TypeAlias = Callable[[Question], Awaitable[Verdict | None]]
Permit: TypeAlias = Callable[[Question, LastingOffer], Awaitable[Verdict | None]]  # the same, kept and settled once
Left: TypeAlias = Callable[[], Awaitable[Limits]]  # what the turn may still spend
P = ParamSpec("P")


def _decided(judge: Callable[P, Awaitable[Verdict]]) -> Callable[P, Awaitable[Verdict]]:
    """Have what cannot be decided denied, whatever the reason."""

    async def decided(*args: P.args, **known: P.kwargs) -> Verdict:
        try:
            return await judge(*args, **known)
        except Exception as error:  # noqa: BLE001 - a policy that fails must deny
            why = error.text if isinstance(error, OutOfReach) else f"the policy could not decide ({error})"
            return Verdict(outcome="deny", reason=why, by="policy")

    return decided


class Policy:
    """Judges calls of one process. ``guarded`` are files and folders that no tool may touch, ``readable`` the folders
    among them that the calls of a session may read. ``own`` tells of a path whether it is code that Hermes runs.

    ``brand`` is what the program is called, ``records`` are its commands, ``machine`` is the backend that its tools run
    on. ``store`` keeps what a person granted. A mode that is ``fixed`` cannot be changed in a conversation. ``guests``
    tells what holds for others than the owner.
    """

    def __init__(
        self,
        dispatch: Dispatch,
        *,
        mode: str,
        deny: Sequence[str],
        allow: Sequence[str],
        guarded: Sequence[Path],
        trusted: Sequence[str] = (),
        brand: str = "hermes",
        records: Iterable[Record] = KERNEL,
        machine: str = "local",
        store: "Callable[[], Awaitable[Store]] | None" = None,
        fixed: bool = False,
        readable: Callable[[Session], Sequence[str]] = lambda session: (),
        own: Callable[[str], bool] = lambda path: False,
        guests: Guests | None = None,
    ) -> None:
        self._dispatch = dispatch
        self._mode, self._modes, self._fixed = mode, dict[str, str](), fixed
        self.parents: dict[str, str] = {}  # of sessions that work for others now: a mode that is changed reaches them
        self.deny, self.allow = tuple(deny), tuple(allow)
        self._guarded, self._trusted = tuple(guarded), tuple(trusted)
        self._readable, self._own, self._guests = readable, own, guests
        self._brand, self._machine, self._store = brand, machine, store
        self._reserved = partial(widens, records=tuple(records))

    def mode(self, session_id: str = "", owner: Principal | None = None) -> str:
        """Return the mode a session is in, until the program ends; the one that was set up where nobody changed it.

        In one of a guest it is always ``ask``.
        """
        if owner and self._guests and self._guests.is_guest(owner):
            return "ask"
        while session_id in self.parents and session_id not in self._modes:
            session_id = self.parents[session_id]
        return self._modes.get(session_id, self._mode)

    def mode_of(self, session: Session) -> str:
        """Return the mode of the turn that runs in a session: the stricter one of the session's and its bounds'."""
        modes = (self.mode(session.id, session.owner), session.bounds.mode if session.bounds else "")
        return min(filter(None, modes), key=MODES.index)

    def set_mode(self, session_id: str, mode: str) -> None:
        """Change the mode of one session, as a person wants. Raises UserError for no mode, and where it is fixed."""
        if mode not in MODES:
            raise UserError(f"There is no mode {mode!r}: {', '.join(MODES)}.")
        if self._fixed and mode != self._mode:
            raise UserError(f"The mode is {self._mode}, and it is locked: it stays so.")
        self._modes[session_id] = mode

    @_decided
    async def judge(
        self,
        session: Session,
        call: ToolCall,
        tool: Tool,
        params: object,
        workspace: Workspace,
        ask: Permit | None,
        left: Left | None = None,
        seen: Seen = Seen(),  # noqa: B008 - it is frozen
    ) -> Verdict:
        """Decide whether this call may run. Never raises; what cannot be decided is denied.

        ``left`` is asked before somebody gives a second opinion, ``seen`` is what its model knows.
        """
        keys = tuple(tool.touches(params)) if tool.touches else ()
        places = [key[5:] for key in keys if key.startswith("file:")]
        guarded = (*self._guarded, *(self._guests.closed(session.owner) if self._guests else ()))
        opened, runs = self._readable(session), Effect.EXECUTE in tool.effects
        if reason := _closed(tool, places, workspace, guarded, opened):
            return Verdict(outcome="deny", reason=f"{reason}{_NEVER}", by="hard block")
        protected = Protected(closed=guarded, readable=opened, program=self._brand, reserved=self._reserved)
        word = await self._word(session, call, workspace, protected) if runs else Verdict(outcome="allow")
        if word.hard:
            return word
        known = keys if tool.touches else None
        rights = self._guests.of(session) if self._guests else Rights()
        if reason := rights.refused or _beyond(session.bounds, tool, known, "this turn"):
            return Verdict(outcome="deny", reason=reason, by="roles" if rights.refused else "bounds")
        if reason := _beyond(rights.bounds, tool, known, f"the role {rights.role}"):
            return Verdict(outcome="deny", reason=reason, by="roles")

        subject = f"{tool.name}({subject_of(call)})"
        deny = [*self.deny, *(rule for one in (session.bounds, rights.bounds) if one for rule in one.deny)]
        parts = [(f"{tool.name}({part.text})", part.literal) for part in word.commands or ()]
        for rule in deny:
            if matches(rule, subject) or any(matches(rule, part) for part, _ in parts):
                by = "policy.deny" if rule in self.deny else "bounds"
                return Verdict(outcome="deny", reason=f"the rule {rule!r} in {by} forbids it", by=by)

        guest = self._guests is not None and self._guests.is_guest(session.owner)
        wall = None if guest and not rights.walled else _wall(tool, params, workspace)
        verdict = await self._dispatch.decide(
            "pre_tool_call", session=session, call=call, effects=tool.effects, workspace=workspace,
            walled=wall is True, protected=protected, touches=known,
        )  # fmt: skip
        verdict = stricter(verdict, word)
        if verdict.outcome == "deny":
            return verdict
        effects = tool.effects if verdict.effects is None else verdict.effects
        machine = session.backend or self._machine
        case = Case(
            call=call, tool=tool, effects=effects, keys=keys, workspace=workspace, machine=machine, own=self._own,
            commands=word.commands or (), lasting=word.lasting, wall=wall,
        )  # fmt: skip

        understood = verdict.outcome == "allow" and verdict.effects is not None
        risk = concern(case, seen, understood=understood) if session.untrusted else ""
        if runs and word.commands is None:
            decided = await self._unread(session, case, risk or risk_of(case), word, ask)
        elif risk:
            told_more = f"; {verdict.reason}" if verdict.outcome == "ask" and verdict.reason else ""
            decided = await self._despite(session, case, f"{risk}{told_more}", ask)
        else:
            decided = await self._by_mode(session, case, verdict, parts, ask, left)
        return decided if decided.effects == verdict.effects else evolve(decided, effects=verdict.effects)

    def brings_in(self, session: Session, tool: Tool, params: object, workspace: Workspace, verdict: Verdict) -> bool:
        """Tell whether what an allowed call gives comes from outside. Of a command behind the wall its tool says so.

        Of one that no gate understands nobody can say that it does not; who switched all questions off does.
        """
        hosts = [key[5:] for key in (tool.touches(params) if tool.touches else ()) if key.startswith("host:")]
        if hosts and all(any(fnmatchcase(host, pattern.lower()) for pattern in self._trusted) for host in hosts):
            return False
        quiet = Effect.EXECUTE not in tool.effects or Feature.OFFLINE in workspace.features
        if tool.untrusted or quiet or _wall(tool, params, workspace):
            return tool.untrusted
        return self.mode_of(session) != "off" if verdict.effects is None else Effect.NETWORK in verdict.effects

    async def _unread(self, session: Session, case: Case, risk: str, word: Verdict, ask: Permit | None) -> Verdict:
        """Ask for a yes to a call that no guard looked at: it is for this once, and no rule, grant or mode gives it."""
        why = word.reason or f"no plugin says what commands do, see `{self._brand} doctor`"
        if self.mode_of(session) == "off":
            return Verdict(
                outcome="deny", reason=f"it runs a command that nobody is asked about, and {why}", by="policy"
            )
        here = f"Run it in `{self._brand}`"
        return await self._ask_person(session, case, f"{risk or 'runs a command'}; {why}", LastingOffer(), ask, here)

    async def _despite(self, session: Session, case: Case, risk: str, ask: Permit | None) -> Verdict:
        """Return the yes of a person who was told that the conversation holds text from outside; no older counts."""
        lasting = despite(case)
        granted = await self._granted(session)
        if any(rule in granted for rule, *_ in lasting.rules):
            return Verdict(outcome="allow", by="grant")
        here = "Answer it in a conversation, or run commands in an isolated workspace"
        return await self._ask_person(session, case, risk, lasting, ask, here)

    async def _by_mode(
        self,
        session: Session,
        case: Case,
        verdict: Verdict,
        parts: Sequence[tuple[str, bool]],
        ask: Permit | None,
        left: Left | None,
    ) -> Verdict:
        mode = self.mode_of(session)
        if mode == "off":
            return Verdict(outcome="allow", by="mode off")
        risk = verdict.reason if verdict.outcome == "ask" else risk_of(case)
        if not risk and verdict.outcome != "ask":
            return Verdict(outcome="allow", by="harmless")
        if known := await self._known(session, case, parts):
            return known
        if verdict.outcome == "allow" and verdict.by and risk != CROSSES:
            return verdict  # a gate knows this call better than the effect it belongs to

        risk = risk or "a plugin wants a person to decide"
        if mode == "smart" and (advised := await self._second_opinion(session, case, risk, left)):
            return advised
        here = f"Run it in `{self._brand}`, or allow it with --yolo or policy.allow"
        return await self._ask_person(session, case, risk, offer(case), ask, here)

    async def _second_opinion(self, session: Session, case: Case, risk: str, left: Left | None) -> Verdict | None:
        """Return what plugins think of a command; None leaves it to a person."""
        if case.command is None or left is None or (await left()).exhausted:
            return None
        asked = {"session": session, "command": case.command, "folder": case.folder, "risk": risk}
        word = await self._dispatch.decide("second_opinion", failing="ask", **asked)
        return evolve(word, by="second opinion") if word.by and word.outcome != "ask" else None

    async def _word(self, session: Session, call: ToolCall, workspace: Workspace, protected: Protected) -> Verdict:
        """Return what guards say of a call that runs something. Without ``commands`` none of them looked at it."""
        asked = {"session": session, "call": call, "workspace": workspace, "protected": protected}
        word = await self._dispatch.decide("judge_command", failing="ask", **asked)
        if word.hard:
            reason = f"{subject_of(call)!r} was blocked because {word.reason}{_NEVER}"
            return evolve(word, outcome="deny", reason=reason, by="hard block")
        opinion = word.outcome != "allow" or word.effects is not None
        return word if opinion else evolve(word, by="")

    async def _known(self, session: Session, case: Case, parts: Sequence[tuple[str, bool]]) -> Verdict | None:
        """Return the yes of a rule, or of something that a person granted and did not take back since."""
        subject = f"{case.tool.name}({subject_of(case.call)})"
        granted = session.bounds.grants if session.bounds else ()
        for by, rules in (("policy.allow", self.allow), ("bounds", granted)):
            if any(allows(rule, subject, parts) for rule in rules):
                return Verdict(outcome="allow", by=by)
        if (given := await self._granted(session)) and covered(case, given):
            return Verdict(outcome="allow", by="grant")
        return None

    async def _granted(self, session: Session) -> list[Rule]:
        rules = await (await self._store()).approvals.granted(session.owner, session.id) if self._store else ()
        return [rule for rule in map(Rule.read, rules) if rule]

    async def _ask_person(
        self, session: Session, case: Case, risk: str, lasting: LastingOffer, ask: Permit | None, here: str
    ) -> Verdict:
        """Ask for a yes. With nobody there the answer is no, at once, and ``here`` says what to do about it."""
        to = self._guests.of(session).asks if self._guests and Effect.EXECUTE in case.tool.effects else "person"
        question = Question(
            id=os.urandom(16).hex(),
            kind="approval",
            to=to,
            subject=words_of(case.call, runs=Effect.EXECUTE in case.tool.effects),
            risk=risk,
            choices=lasting.choices,
            covers=lasting.words,
        )
        verdict = await ask(question, lasting) if ask else None
        if verdict is not None:
            return verdict
        reason = f"it {risk}, and that needs a person's yes. Nobody is here to ask. {here}"
        return Verdict(outcome="deny", reason=reason, by="policy")


def _beyond(bounds: TurnBounds | None, tool: Tool, keys: Sequence[str] | None, what: str) -> str:
    """Say why a call is not within bounds, those of ``what``; or nothing."""
    if not permits(bounds, tool):
        return f"{what} may not use it"
    network = Effect.NETWORK in tool.effects or any(key.startswith("host:") for key in keys or ())
    return f"{what} may not reach that host" if network and not reaches(bounds, keys) else ""


def _wall(tool: Tool, params: object, workspace: Workspace) -> bool | None:
    """Tell whether a call stays behind the wall, as its argument ``wall`` says; None where none is, or no word."""
    if Feature.WALLED not in workspace.features or Effect.EXECUTE not in tool.effects:
        return None
    return None if (said := getattr(params, "wall", None)) is None else said is True


def _closed(
    tool: Tool, places: Sequence[str], workspace: Workspace, guarded: Sequence[Path], opened: Sequence[str]
) -> str:
    """Say why a call may not touch what it touches, or nothing."""
    if Feature.ISOLATED in workspace.features:
        return ""
    to_read = () if tool.effects & {Effect.WRITE_FILES, Effect.EXECUTE} else opened
    return next(filter(None, (guarded_place(place, workspace.cwd, guarded, to_read) for place in places)), "")
