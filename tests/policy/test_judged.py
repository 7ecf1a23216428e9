"""What a policy says of one call: each of its conditions by itself, without a turn around it."""

from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve

from hermes_core.agent.policy.grants import LastingOffer, Rule
from hermes_core.agent.policy.guests import Guests
from hermes_core.agent.policy.judge import Policy
from hermes_core.agent.policy.taint import Seen
from hermes_core.errors import OutOfReach, UserError
from hermes_core.kinds import Roles, Tool
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.testing import FakeWorkspace
from hermes_core.types import (
    Effect,
    Feature,
    Limits,
    Principal,
    Question,
    Rights,
    Session,
    Speaker,
    ToolCall,
    TurnBounds,
    Verdict,
)
from hermes_tool_guard.gate import look

YES, NO = Verdict(outcome="allow", by="person"), Verdict(outcome="deny", by="person", reason="no")
ME, ANNA = Principal(), Principal(person="anna")
RUNS, WRITES, READS, SENDS = Effect.EXECUTE, Effect.WRITE_FILES, Effect.READ_FILES, Effect.SEND
HERE = "runs a command on this machine"


async def _run(*_: object) -> str:
    return ""


class Given(Roles):
    """Everybody else has the same."""

    name = "given"

    def __init__(self, **given: Any) -> None:
        self.given = Rights(**{"role": "member", "bounds": TurnBounds(), **given})

    def rights(self, owner: Principal, speaker: Speaker | None) -> Rights:
        return self.given


class Odd(Given):
    """Says something that is none of it."""

    def rights(self, owner: Principal, speaker: Speaker | None) -> Any:
        return "everything"


class Gate(Dispatch):
    """Says one thing of every call, and keeps what it was told of it. What commands do is said by the guard."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__()
        self.verdict, self.told, self.advice = verdict, dict[str, Any](), ""
        self.advised: tuple[str, str, str] = ("", "", "")

    async def decide(self, name: str, **told: Any) -> Verdict:  # type: ignore[override]
        if name == "judge_command":
            return await look(told["call"], told["workspace"], told["protected"])
        if name == "second_opinion":
            self.advised = (told["command"], told["folder"], told["risk"])
            return Verdict(outcome=self.advice or "allow", by="tool/guard" if self.advice else "")
        self.told = {"hook": name, **told}
        return self.verdict


class Approvals:
    """Keeps grants as texts."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    async def granted(self, owner: Principal, session: str) -> list[str]:
        return self.kept if (owner, session) == (ME, "s") else []


class Court:
    """A policy, the folder it judges calls in, and the questions that came to a person."""

    def __init__(self, folder: Path, gate: Verdict | None = None, mode: str = "ask", **more: Any) -> None:
        self.gate, self.store = Gate(gate or Verdict(outcome="allow")), SimpleNamespace(approvals=Approvals())
        self.place = FakeWorkspace(folder=folder)
        self.asked: list[tuple[Question, LastingOffer]] = []
        given: dict[str, Any] = {"deny": (), "allow": (), "guarded": [folder / "closed"], **more}
        self.policy = Policy(self.gate, mode=mode, store=self.open, **given)

    async def open(self) -> SimpleNamespace:
        return self.store

    async def __call__(
        self,
        *effects: Effect,
        touches: Iterable[str] | None = None,
        answer: Verdict | None = YES,
        ask: bool = True,
        advice: str = "",
        session: Session | None = None,
        **arguments: Any,
    ) -> Verdict:
        def keys(_: object) -> Iterable[str]:
            return touches or ()

        tool = Tool(
            name="t", description="x", params=object, run=_run, toolset="t", effects=frozenset(effects),
            touches=None if touches is None else keys,
        )  # fmt: skip

        async def person(question: Question, lasting: LastingOffer) -> Verdict | None:
            self.asked.append((question, lasting))
            return answer

        async def left() -> Limits:
            return Limits()

        self.gate.advice = advice
        return await self.policy.judge(
            session or Session(id="s", origin="test"), ToolCall(id="1", name="t", arguments=arguments), tool, None,
            self.place, person if ask else None, left,
        )  # fmt: skip

    @property
    def risks(self) -> list[str]:
        return [question.risk for question, _ in self.asked]


@pytest.fixture
def court(tmp_path: Path) -> Callable[..., Court]:
    return lambda gate=None, **more: Court(tmp_path, gate, **more)


TAINTED = Session(id="s", origin="test", untrusted=True)


def said(verdict: Verdict) -> tuple[str, str]:
    return verdict.outcome, verdict.by


async def test_what_each_mode_makes_of_a_call(court) -> None:
    allow, asks = Verdict(outcome="allow", by="gate"), Verdict(outcome="ask", reason="is odd")
    rows = [
        # mode, gate, effects, advice, what comes of it, what was asked
        ("off", None, [RUNS], "", ("allow", "mode off"), []),
        ("off", asks, [RUNS], "", ("allow", "mode off"), []),
        ("ask", None, [READS], "", ("allow", "harmless"), []),
        ("ask", None, [RUNS], "", ("allow", "person"), [HERE]),
        ("ask", None, [RUNS], "allow", ("allow", "person"), [HERE]),
        ("ask", allow, [RUNS], "", ("allow", "gate"), []),
        ("ask", asks, [RUNS], "", ("allow", "person"), ["is odd"]),
        ("ask", Verdict(outcome="ask"), [READS], "", ("allow", "person"), ["a plugin wants a person to decide"]),
        ("ask", evolve(NO, by="gate"), [READS], "", ("deny", "gate"), []),
        ("smart", None, [RUNS], "", ("allow", "person"), [HERE]),
        ("smart", None, [RUNS], "allow", ("allow", "second opinion"), []),
        ("smart", None, [RUNS], "deny", ("deny", "second opinion"), []),
        ("smart", None, [RUNS], "ask", ("allow", "person"), [HERE]),
        ("smart", None, [READS], "deny", ("allow", "harmless"), []),
        ("smart", None, [SENDS], "allow", ("allow", "person"), ["sends something in your name"]),
    ]
    wrong = []
    for mode, gate, effects, advice, outcome, asked in rows:
        made = court(gate, mode=mode)
        verdict = await made(*effects, advice=advice, command="make", touches=())
        if (said(verdict), made.risks) != (outcome, asked):
            wrong.append((mode, effects, advice, outcome, asked, said(verdict), made.risks))
    assert wrong == []
    smart = court(mode="smart")
    await smart(RUNS, advice="allow", command="make", workdir="/srv")
    assert smart.gate.advised == ("make", "/srv", HERE)


async def test_what_a_gate_is_told_and_what_it_says_of_effects_is_kept(court) -> None:
    made = court(Verdict(outcome="allow", effects=frozenset({SENDS})))
    verdict = await made(RUNS, command="mail")
    assert verdict.effects == frozenset({SENDS})
    assert made.risks == ["sends something in your name"]
    told = made.gate.told
    assert (told["hook"], told["session"].id, told["call"].arguments) == ("pre_tool_call", "s", {"command": "mail"})
    assert (told["effects"], told["workspace"]) == (frozenset({RUNS}), made.place)
    assert (await court()(RUNS, command="mail")).effects is None


async def test_rules_allow_and_forbid_a_call_or_each_of_its_commands(court) -> None:
    rows = [
        # deny, allow, command, what comes of it
        (["t(rm *)"], [], "rm x", ("deny", "policy.deny")),
        (["t(rm *)"], ["t"], "ls; sudo rm x", ("deny", "policy.deny")),
        (["t(ls*rm x)"], [], "ls; rm x", ("deny", "policy.deny")),
        (["x", "t(rm *)"], [], "rm x", ("deny", "policy.deny")),
        (["t(rm *)"], ["t(ls *)"], "ls -l", ("allow", "policy.allow")),
        ([], ["x", "t(ls *)"], "ls -l; ls -a", ("allow", "policy.allow")),
        ([], ["t(ls *)"], "ls -l; rm x", ("allow", "person")),
        ([], [], "ls -l", ("allow", "person")),
    ]
    wrong = []
    for deny, allow, command, outcome in rows:
        verdict = await court(deny=deny, allow=allow)(RUNS, command=command)
        wrong += [] if said(verdict) == outcome else [(deny, allow, command, said(verdict))]
    assert wrong == []
    forbidden = await court(deny=["t(rm *)"])(RUNS, command="rm x")
    assert forbidden.reason == "the rule 't(rm *)' in policy.deny forbids it"


async def test_what_was_granted_is_not_asked_again_and_a_tainted_conversation_asks_anew(court) -> None:
    made = court()
    assert said(await made(RUNS, command="npm i")) == ("allow", "person")
    [(question, lasting)] = made.asked
    assert (question.kind, question.subject, question.choices) == ("approval", "$ npm i", lasting.choices)
    assert question.covers == lasting.words == f"exactly `npm i` in {made.place.cwd}"
    assert len(question.id) == 32
    made.store.approvals.kept = ["not ours", *(rule.text() for rule, _, _ in lasting.rules)]
    assert said(await made(RUNS, command="npm i")) == ("allow", "grant")
    assert said(await made(RUNS, command="npm x")) == ("allow", "person")
    assert said(await made(RUNS, command="npm i", session=TAINTED)) == ("allow", "person")
    _, despite = made.asked[-1]
    assert [rule.kind for rule, _, _ in despite.rules] == ["despite"]
    assert not despite.always
    made.store.approvals.kept = [rule.text() for rule, _, _ in despite.rules]
    assert said(await made(RUNS, command="npm i", session=TAINTED)) == ("allow", "grant")
    assert said(await made(RUNS, command="npm x", session=TAINTED)) == ("allow", "person")
    other = evolve(TAINTED, id="other")
    assert said(await made(RUNS, command="npm i", session=other)) == ("allow", "person")
    unkept = court()
    unkept.policy = Policy(unkept.gate, mode="ask", deny=(), allow=(), guarded=())
    assert said(await unkept(RUNS, command="npm i")) == ("allow", "person")


async def test_a_grant_is_for_the_machine_that_the_session_is_on(court) -> None:
    made = court(machine="box")
    made.place.features = frozenset()
    await made(RUNS, command="npm i")
    await made(RUNS, command="npm i", session=Session(id="s", origin="test", backend="far"))
    assert [lasting.rules[0][0].machine for _, lasting in made.asked] == ["box", "far"]
    assert Rule.read(made.asked[0][1].rules[0][0].text()) == made.asked[0][1].rules[0][0]


async def test_a_tainted_conversation_asks_what_a_gate_does_not_understand(court) -> None:
    writes, looks = frozenset({WRITES}), frozenset({READS})
    rows = [
        # gate, what the person is told before "and this conversation holds text from outside"
        (None, f"{HERE}, "),
        (Verdict(outcome="allow"), f"{HERE}, "),
        (Verdict(outcome="allow", effects=writes), "changes files on this machine, "),
        (Verdict(outcome="allow", effects=looks), ""),
        (Verdict(outcome="ask", effects=writes, reason="is odd"), "changes files on this machine, "),
        (Verdict(outcome="ask", reason="is odd"), f"{HERE}, "),
    ]
    wrong = []
    for gate, risk in rows:
        for mode in ("ask", "off"):
            made = court(gate, mode=mode)
            await made(RUNS, command="make", session=TAINTED)
            told = made.risks[0] if made.risks else ""
            end = "; is odd" if gate and gate.reason else ""
            good = (
                told.startswith(risk) and told.endswith(end) and "from outside" in told if risk else "from" not in told
            )
            wrong += [] if good else [(gate, mode, told)]
    assert wrong == []
    untold = court(Verdict(outcome="allow", reason="is fine"))
    await untold(RUNS, command="make", session=TAINTED)
    assert untold.risks[0].endswith("which may have asked for it"), "only who wants to ask is heard"


async def test_with_nobody_there_or_no_answer_it_is_denied(court) -> None:
    for session, end in ((None, "or allow it with --yolo or policy.allow"), (TAINTED, "in an isolated workspace")):
        for ask in (True, False):
            made = court(brand="acme")
            verdict = await made(RUNS, command="make", answer=None, ask=ask, session=session)
            assert said(verdict) == ("deny", "policy")
            assert verdict.reason.startswith(f"it {HERE}")
            assert verdict.reason.endswith(end)
            assert ("`acme`" in verdict.reason) is (session is None)
            assert len(made.asked) == ask


async def test_who_is_asked_about_a_guests_call(court, tmp_path: Path) -> None:
    def guests(**more: Any) -> Guests:
        return Guests(host=ME, people=tmp_path / "people", roles=lambda: Given(**more))

    rows = [
        (guests(asks="admin"), ANNA, RUNS, "admin"), (guests(asks="admin"), ANNA, SENDS, "person"),
        (guests(asks="admin"), ME, RUNS, "person"), (guests(), ANNA, RUNS, "person"), (None, ANNA, RUNS, "person"),
        (None, ME, SENDS, "person"),
    ]  # fmt: skip
    wrong = []
    for of, owner, effect, to in rows:
        made = court(guests=of)
        await made(effect, command="make", session=Session(id="s", origin="test", owner=owner))
        wrong += [] if [q.to for q, _ in made.asked] == [to] else [(owner, effect, to, made.asked)]
    assert wrong == []


async def test_what_a_role_does_not_have_is_refused_to_who_speaks(court, tmp_path: Path) -> None:
    hers = Session(id="s", origin="test", owner=ANNA)

    def guests(**more: Any) -> Guests:
        return Guests(host=ME, people=tmp_path / "people", roles=lambda: Given(role="child", **more))

    rows = [
        ({"refused": "It is late."}, [READS], (), "It is late."),
        ({"bounds": TurnBounds(tools=())}, [READS], (), "the role child may not use it"),
        ({"bounds": TurnBounds(never=[RUNS])}, [RUNS], (), "the role child may not use it"),
        ({"bounds": TurnBounds(deny=["*"])}, [READS], (), "the rule '*' in bounds forbids it"),
        ({"bounds": TurnBounds(hosts=["*.org"])}, [Effect.NETWORK], ["host:a.com"], "may not reach that host"),
        ({"bounds": TurnBounds(hosts=["*.org"])}, [Effect.NETWORK], ["host:A.org", "host:a.com"], "that host"),
        ({"bounds": TurnBounds(hosts=["*.org"])}, [Effect.NETWORK], ["host:A.org"], ""),
        ({"bounds": TurnBounds(hosts=["*.org"])}, [READS], ["file:a"], ""),
        ({}, [READS], (), ""),
    ]
    for given, effects, touches, why in rows:
        verdict = await court(guests=guests(**given))(*effects, touches=touches, session=hers)
        assert (verdict.outcome == "deny") is bool(why), given
        assert why in verdict.reason
        mine = await court(guests=guests(**given))(*effects, touches=touches)
        assert mine.outcome == "allow", "the owner has no role"


async def test_where_nobody_can_say_what_people_may_do_nobody_does_anything(court, tmp_path: Path) -> None:
    told: list[BaseException] = []

    def broken() -> Given:
        raise UserError("no such role")

    people = tmp_path / "people"
    nobody, fails = Guests(host=ME, people=people), Guests(host=ME, people=people, roles=broken, report=told.append)
    talks = nobody.rights(ANNA)
    assert (talks.refused, talks.bounds.tools) == ("", ()), "without a plugin they talk, and no more"
    lost = fails.rights(ANNA)
    assert "nobody but the owner" in lost.refused
    assert [str(one) for one in told] == ["no such role"]
    strange = Guests(host=ME, people=people, roles=lambda: Odd())
    assert strange.rights(ANNA).refused == lost.refused
    for guests in (nobody, fails, strange):
        verdict = await court(guests=guests)(READS, touches=(), session=Session(id="s", origin="test", owner=ANNA))
        assert verdict.outcome == "deny"
        assert guests.rights(ME) == Rights()
        assert guests.rights(ANNA, Speaker(person=ME.person)) == guests.rights(ANNA), "nor in a conversation of others"


async def test_modes_of_sessions_and_of_guests(court, tmp_path: Path) -> None:
    policy = court(mode="smart").policy
    assert [policy.mode(), policy.mode("s"), policy.mode("s", ANNA), policy.mode("s", ME)] == ["smart"] * 4
    policy.set_mode("s", "off")
    assert [policy.mode(), policy.mode("s"), policy.mode("t", ME), policy.mode("s", ME)] == [
        "smart",
        "off",
        "smart",
        "off",
    ]
    of = court(mode="off", guests=Guests(host=ME, people=tmp_path / "people")).policy
    assert [of.mode("s"), of.mode("s", ME), of.mode("s", ANNA)] == ["off", "off", "ask"]


async def test_what_is_guarded_is_never_touched(court, tmp_path: Path) -> None:
    (tmp_path / "closed/open").mkdir(parents=True)
    open_, key = f"{tmp_path}/closed/open", "file:closed/open/x"
    rows = [
        # effects, touches, arguments, whether it is blocked
        ([READS], ["file:closed/x"], {}, True),
        ([READS], ["file:a", "file:closed/x"], {}, True),
        ([READS], ["host:closed"], {}, False),
        ([READS], [key], {}, False),
        ([WRITES], [key], {}, True),
        ([READS, RUNS], [key], {}, True),
        ([RUNS], [], {"command": "cat closed/x"}, True),
        ([RUNS], [], {"command": f"cat {open_}/x"}, False),
        ([RUNS], [], {"command": "rm -rf *", "workdir": "/"}, True),
        ([RUNS], [], {"command": "rm -rf *", "workdir": "~"}, True),
        ([RUNS], [], {"command": "rm -rf *", "workdir": "sub"}, False),
        ([RUNS], [], {"command": "rm -rf x", "workdir": 5}, False),
        ([RUNS], [], {"n": 5, "m": [], "command": "rm -rf /"}, True),
        ([RUNS], [], {"other": "rm -rf /"}, True),
        ([SENDS], [], {"command": "rm -rf /"}, False),
    ]
    wrong = []
    for effects, touches, arguments, blocked in rows:
        made = court(readable=lambda session: (open_,), mode="off")
        verdict = await made(*effects, touches=touches, **arguments)
        wrong += [] if (verdict.by == "hard block") is blocked else [(effects, touches, arguments, verdict)]
        made.place.features |= {Feature.ISOLATED}
        assert said(await made(*effects, touches=touches, **arguments)) == ("allow", "mode off")
    assert wrong == []
    verdict = await court()(RUNS, command="rm -rf /", touches=[])
    assert verdict.reason == (
        "'rm -rf /' was blocked because rm would change the root folder as a whole. This is never allowed, in any mode."
    )
    people = Guests(host=ME, people=tmp_path / "people")
    assert (await court(guests=people)(READS, touches=["file:people/x"])).by == "hard block"


async def test_a_command_is_judged_where_the_shell_is(court, tmp_path: Path) -> None:
    class Wandering(FakeWorkspace):
        shell_cwd = "/"

    made = court()
    made.place = Wandering(folder=tmp_path)
    assert (await made(RUNS, command="rm -rf *")).by == "hard block"
    assert (await made(RUNS, command="rm -rf *", workdir="sub")).by == "person", (
        "that is named from where the session is"
    )


async def test_what_breaks_denies(court) -> None:
    def touches(error: Exception) -> Callable[[], Any]:
        class Bad(list):  # type: ignore[type-arg]
            def __iter__(self) -> Any:
                raise error

        return Bad([1])

    verdict = await court(mode="off")(READS, touches=touches(OSError("broken")))
    assert (said(verdict), verdict.reason) == (("deny", "policy"), "the policy could not decide (broken)")
    verdict = await court(mode="off")(READS, touches=touches(OutOfReach("too far")))
    assert (said(verdict), verdict.reason) == (("deny", "policy"), "too far")


def test_what_brings_text_in_from_outside(court, tmp_path: Path) -> None:
    def tool(*effects: Effect, keys: Iterable[str] | None = None, untrusted: bool = False) -> Tool:
        touches = None if keys is None else lambda _: keys
        return Tool(
            name="t", description="x", params=object, run=_run, toolset="t", effects=frozenset(effects),
            touches=touches, untrusted=untrusted,
        )  # fmt: skip

    net = frozenset({Effect.NETWORK})
    fetch = tool(Effect.NETWORK, keys=["host:good.org"], untrusted=True)
    both = tool(Effect.NETWORK, keys=["host:good.org", "host:b.org"], untrusted=True)
    rows = [
        # tool, what a gate says of its effects, mode, trusted, whether it brings something in
        (fetch, None, "ask", (), True), (fetch, None, "off", (), True), (fetch, None, "ask", ("good.org",), False),
        (fetch, None, "ask", ("*.org",), False), (fetch, None, "ask", ("GOOD.org", "x"), False),
        (both, None, "ask", ("good.org",), True), (both, None, "ask", ("b.org", "good.org"), False),
        (tool(Effect.NETWORK, untrusted=True), None, "ask", ("*",), True),
        (tool(READS), None, "ask", (), False), (tool(RUNS), None, "ask", (), True),
        (tool(RUNS), None, "off", (), False),
        (tool(RUNS), net, "off", (), True), (tool(RUNS), frozenset({READS}), "ask", (), False),
        (tool(READS), net, "ask", (), False),
    ]  # fmt: skip
    session, wrong = Session(id="s", origin="test"), []
    for one, effects, mode, trusted, brings in rows:
        made = court(mode=mode, trusted=trusted)
        verdict = Verdict(outcome="allow", effects=effects)
        if made.policy.brings_in(session, one, None, made.place, verdict) is not brings:
            wrong.append((one, effects, mode, trusted, brings))
    assert wrong == []
    made = court()
    made.place.features |= {Feature.OFFLINE}
    assert not made.policy.brings_in(session, tool(RUNS), None, made.place, Verdict(outcome="allow"))
    assert made.policy.brings_in(session, fetch, None, made.place, Verdict(outcome="allow"))
    assert not Seen().untrusted
