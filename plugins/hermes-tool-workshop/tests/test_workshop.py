"""A tool's life: written, asked about, used, broken, set aside, rolled back; in one session and over many."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hermes_core.errors import ToolError
from hermes_core.testing import Call
from hermes_core.testing.bench import Bench as Kernel
from hermes_core.types import Effect, Feature, Principal, Returned, Session, Text, Verdict

ME = Session(id="20261120_101500_abc123", origin="cli")
COUNT = '''
def count_words(text: str, least: int = 1) -> int:
    """Count the words of a text that are long enough."""
    return sum(len(word) >= least for word in text.split())
'''
COUNTS = [{"arguments": {"text": "a bc def"}, "result": 3}]
HANA = Session(id=ME.id, origin="cli", owner=Principal(person="hana"))
FRAGILE = '''
def fragile(number: int) -> int:
    """Divide a hundred by a number."""
    return 100 // number
'''
DIVIDES = [{"arguments": {"number": 5}, "result": 20}]


async def test_a_tool_is_written_and_used(bench):
    assert "own_count_words version 1 is kept" in await bench.write()
    assert await bench.call("own_count_words", {"text": "a bb ccc", "least": 2}) == "2"
    assert await bench.call("own_versions") == (
        "own_count_words: version 1 of 1, on; may compute, and nothing else: no files, no network, no programs"
    )


async def test_an_example_that_does_not_pass_keeps_nothing(bench):
    with pytest.raises(ToolError) as refused:
        await bench.write(examples=[*COUNTS, {"arguments": {"text": "a"}, "result": 9}])
    assert "1 of 2 examples did not pass" in str(refused.value)
    assert "examples[1]: it should return 9, and returned 1" in str(refused.value)
    with pytest.raises(ToolError, match=r"examples\[0\]: ZeroDivisionError: .* \(line 3\)"):
        await bench.write(FRAGILE, "fragile", examples=[{"arguments": {"number": 0}}])
    code = 'def f() -> str:\n    """Read what it may not."""\n    return open("/etc/passwd").read()\n'
    with pytest.raises(ToolError, match="refused: read /etc/passwd"):
        await bench.write(code, "sneaky", reads=["."], examples=[{"arguments": {}}])
    assert await bench.call("own_versions") == "You have written no tool yet."
    assert not list(bench.data.glob("*/own_*"))


async def test_a_version_is_replaced_only_by_one_that_does_what_it_did(bench):
    await bench.write(examples=[*COUNTS, {"arguments": {"text": "a bc", "least": 2}, "result": 1}])
    worse = COUNT.replace(">= least", "> least")
    with pytest.raises(ToolError) as refused:
        await bench.write(worse, examples=[{"arguments": {"text": "abc"}, "result": 1}])
    assert "does not do what the version in force was kept for" in str(refused.value)
    assert '{"least": 2, "text": "a bc"}: it returned 1, and returns 0 now' in str(refused.value)
    other = COUNT.replace("least: int = 1", "most: int = 9").replace(">= least", "<= most")
    with pytest.raises(ToolError, match="takes no 'least'"):
        await bench.write(other)
    assert "version 1 of 1" in await bench.call("own_versions")
    better = COUNT.replace("long enough", "long")
    said = await bench.write(better, examples=[{"arguments": {"text": "abc"}, "result": 1}])
    assert "version 2 is kept; every example passed, and 2 of earlier versions" in said
    with pytest.raises(ToolError, match="kept for"):
        await bench.write(worse, examples=[{"arguments": {"text": "x"}}])
    meant = [{"arguments": {"text": "a bc", "least": 2}, "result": 0}, {"arguments": {"text": "a bc def"}, "result": 2},
             {"arguments": {"text": "abc"}, "result": 1}]  # fmt: skip
    assert "version 3 is kept" in await bench.write(worse, examples=meant)


async def test_writing_the_same_again_is_one_version(bench):
    await bench.write()
    assert "is just this already: version 1" in await bench.write()
    assert "version 2" in await bench.write(COUNT.replace("long enough", "long"))


async def test_two_people_have_tools_of_the_same_name_and_never_the_other_s(bench):
    await bench.write()
    assert "own_count_words" not in bench.offered(HANA)
    assert await bench.call("own_versions", session=HANA) == "You have written no tool yet."
    assert bench.asked("own_count_words", HANA, text="a") is None
    await bench.write(
        COUNT.replace("text.split()", "text"), examples=[{"arguments": {"text": "abc"}, "result": 3}], session=HANA
    )
    assert await bench.call("own_count_words", {"text": "a b"}, session=HANA) == "3"
    assert await bench.call("own_count_words", {"text": "a b"}) == "2"
    with pytest.raises(ToolError, match="has no version 2"):
        await bench.call("own_rollback", {"name": "count_words", "version": 2}, session=HANA)


async def test_the_next_process_finds_it(bench, make_bench):
    await bench.write()
    assert await make_bench().call("own_count_words", {"text": "a"}) == "1"


async def test_a_tool_of_another_process_appears_at_once(bench, make_bench):
    assert "own_count_words" not in bench.offered()
    await make_bench().write()
    assert "own_count_words" in bench.offered()


async def test_results_are_text_as_they_are_or_json(bench):
    code = 'def say(what: str) -> dict | str:\n    """Give back what was asked for."""\n    return {"x": "é"} if what == "json" else what\n'  # noqa: E501
    code = code.replace("what: str", 'what: Annotated[str, "json or words"]')
    await bench.write(code, "say", examples=[{"arguments": {"what": "json"}, "result": {"x": "é"}}])
    assert await bench.call("own_say", {"what": "json"}) == '{"x": "é"}'
    assert await bench.call("own_say", {"what": "plain"}) == "plain"
    assert await bench.call("own_say", {"what": ""}) == "(it returned an empty text)"


async def test_an_orderly_error_is_no_crash(make_bench):
    bench = make_bench(failures=1)
    code = 'def ask(what: str) -> str:\n    """Refuse what it does not know."""\n    if what == "no":\n        raise ToolError("I do not know that.")\n    return what\n'  # noqa: E501
    await bench.write(code, "ask", examples=[{"arguments": {"what": "yes"}}])
    for _ in range(3):
        with pytest.raises(ToolError, match=r"^I do not know that\.$"):
            await bench.call("own_ask", {"what": "no"})
    assert await bench.call("own_ask", {"what": "yes"}) == "yes"


# --- what it may do, and who is asked ------------------------------------------------------------------------------


async def test_effects_and_keys_say_what_was_declared(bench):
    code = 'def f() -> int:\n    """Do next to nothing at all."""\n    return 1\n'
    await bench.write(code, "bare", examples=[{"arguments": {}}])
    may = {"hosts": ["Example.org"], "programs": ["git"], "reads": ["."], "writes": ["out"]}
    await bench.write(code, "rich", examples=[{"arguments": {}}], may=may)
    bare, rich = bench.offered()["own_bare"], bench.offered()["own_rich"]
    assert bare.effects == {Effect.READ_FILES}
    assert not bare.untrusted
    assert list(bare.touches(None)) == []
    assert rich.effects == {Effect.EXECUTE, Effect.NETWORK, Effect.READ_FILES, Effect.WRITE_FILES}
    assert rich.untrusted
    assert list(rich.touches(None)) == ["host:example.org", "program:git", "file:.", "file:out"]
    assert [bench.asked(n).outcome for n in ("own_bare", "own_rich")] == ["allow", "allow"]


def test_a_person_is_asked_for_all_of_it(bench, snapshot):
    given = {"name": "count_words", "code": COUNT, "examples": COUNTS, "why": "I count often."}
    more = {"hosts": ["example.org"], "programs": ["git"], "reads": ["."], "writes": ["~/notes"]}
    asked = bench.asked("tool_write", **given, may=more)
    assert asked.outcome == "ask"
    assert asked.reason == snapshot
    assert bench.asked("tool_write", **given, **more) == asked, "as conversations call it that began before"
    parts = {"may": {name: more[name] for name in ("hosts", "reads")}, "programs": ["git"], "writes": ["~/notes"]}
    assert bench.asked("tool_write", **given, **parts) == asked


async def test_a_person_is_shown_what_changes(bench, snapshot):
    await bench.write()
    code = COUNT.replace(">=", ">")
    asked = bench.asked("tool_write", name="own_count_words", code=code, examples=COUNTS, hosts=["example.org"])
    assert asked.reason == snapshot(name="write")
    meant = [{"arguments": {"text": "a bc"}, "result": 1}, {**COUNTS[0], "result": 2}]
    await bench.write(code, examples=meant)
    assert bench.asked("own_rollback", name="count_words", version=1).reason == snapshot(name="rollback")


def test_the_gate_knows_what_trying_a_tool_does(bench):
    given = {"name": "count_words", "code": COUNT, "examples": COUNTS}
    assert bench.asked("tool_write", **given).effects == {Effect.CONFIGURE, Effect.READ_FILES}
    assert Effect.NETWORK in bench.asked("tool_write", **given, hosts=["example.org"]).effects
    assert bench.asked("tool_write", **given, programs=["git"]).effects is None, "nobody knows"


async def test_what_cannot_be_kept_asks_nobody(bench):
    refused = bench.asked("tool_write", name="../x", code="import ctypes", examples=[])
    assert refused.outcome == "deny"
    assert "cannot be the name of a tool" in refused.reason
    assert bench.asked("own_rollback", name="count_words", version=1).outcome == "deny"


async def test_code_changed_on_the_disk_is_denied_and_not_run(bench):
    await bench.write()
    (code,) = bench.data.glob("*/own_count_words/1/tool.py")
    code.write_text(COUNT.replace("sum", "print"))
    denied = bench.asked("own_count_words", text="a")
    assert denied.outcome == "deny"
    assert "hermes workshop accept own_count_words" in denied.reason
    with pytest.raises(ToolError, match="is not what was approved"):
        await bench.call("own_count_words", {"text": "a"})


async def test_a_tool_cannot_reach_where_it_is_kept(bench):
    await bench.write()
    (code,) = bench.data.glob("*/own_count_words/1/tool.py")
    ways = ("open({!r}).read()", "open({!r}, 'w')", "import os; os.rename({!r}, 'x')")
    bodies = [way.format(str(path)) for path in (code, code.parent.parent / "current", code.parent) for way in ways]
    tries = "".join(f"try:\n    {one}\nexcept OSError as error:\n    told.append(str(error))\n" for one in bodies)
    outcome = await bench.do(f"told = []\n{tries}return told", reads=(".",), writes=(".",))
    assert [told for told in outcome.value if "may not" not in told] == []
    assert len(outcome.value) == len(bodies), outcome
    with pytest.raises(ToolError, match="reaches what guards Hermes"):
        await bench.write(name="inside", writes=[str(bench.data)])
    assert await bench.call("own_count_words", {"text": "a"}) == "1"


# --- when it breaks ------------------------------------------------------------------------------------------------


async def crash(bench, times: int = 1) -> list[str]:
    said = []
    for _ in range(times):
        with pytest.raises(ToolError) as raised:
            await bench.call("own_fragile", {"number": 0})
        said.append(str(raised.value))
    return said


async def test_a_tool_that_crashes_again_and_again_is_set_aside(bench):
    await bench.write(FRAGILE, "fragile", examples=DIVIDES)
    one, two, three = await crash(bench, 3)
    assert "own_fragile (version 1) crashed: ZeroDivisionError: integer division or modulo by zero (line 3)" in one
    assert "1 in a row; after 3 it is set aside" in one
    assert "2 in a row" in two
    assert "it is set aside until it is written anew" in three
    assert "set aside" in bench.context.shown[-1], "who watches is told as well"
    with pytest.raises(ToolError, match="was not run: it was set aside, since version 1 crashed 3 times in a row"):
        await bench.call("own_fragile", {"number": 5})
    tool = bench.offered()["own_fragile"]
    assert tool.needs(ME) == "it was set aside, since version 1 crashed 3 times in a row"
    await bench.write(FRAGILE.replace("100 // number", "100 // (number or 1)"), "fragile", examples=DIVIDES)
    assert await bench.call("own_fragile", {"number": 0}) == "100"
    assert bench.offered()["own_fragile"].needs(ME) is None


async def test_one_that_worked_before_comes_back(bench):
    await bench.write(FRAGILE, "fragile", examples=DIVIDES)
    await bench.call("own_fragile", {"number": 5})
    await bench.write(FRAGILE.replace("100", "1000"), "fragile", examples=[{"arguments": {"number": 5}, "result": 200}])
    said = (await crash(bench, 3))[-1]
    assert "version 1, which worked, is in force again" in said
    assert await bench.call("own_fragile", {"number": 5}) == "20"


@pytest.mark.long
async def test_a_good_call_in_between_begins_the_count_anew(bench):
    await bench.write(FRAGILE, "fragile", examples=DIVIDES)
    for _ in range(3):
        await crash(bench, 2)
        assert await bench.call("own_fragile", {"number": 5}) == "20"


async def test_a_place_that_fails_is_not_the_tool_s_fault(make_bench):
    bench = make_bench(failures=1)
    await bench.write()
    bench.workspace.folder = None  # commands have no place to run any more
    bench.workspace.features = frozenset()
    with pytest.raises(ToolError):
        await bench.call("own_count_words", {"text": "a"})
    bench.workspace.folder = bench.work
    assert await bench.call("own_count_words", {"text": "a"}) == "1"


# --- with a kernel -------------------------------------------------------------------------------------------------


def put_in(kernel: Kernel, *plugins: Any, **settings: Any) -> None:
    for plugin in (*plugins, "hermes_tool_workshop"):
        kernel.tmp_plugin(plugin)
    kernel.configure(settings)


async def play(kernel: Kernel, session: str = "s", **more: Any) -> list[str]:
    await kernel.__aenter__()
    events = [event async for event in kernel.runtime.turns.run("go", session=session, **more)]
    return ["".join(p.text for p in e.result.parts if isinstance(p, Text)) for e in events if isinstance(e, Returned)]


def through(name: str, /, **arguments: Any) -> Call:
    return Call("tool_call", {"name": name, "arguments": arguments})


def writes(code: str = FRAGILE, name: str = "fragile", examples: Any = DIVIDES, **more: Any) -> Call:
    return Call("tool_write", {"name": name, "code": code, "examples": examples, **more})


class Person:
    """Says yes, and keeps what was asked."""

    def __init__(self, outcome: str = "allow") -> None:
        self.asked: list[Any] = []
        self.outcome = outcome

    async def __call__(self, question: Any) -> Verdict:
        self.asked.append(question)
        return Verdict(outcome=self.outcome, choice="once", by="person")  # type: ignore[arg-type]


async def test_a_session_writes_uses_breaks_rolls_back_and_uses(hermes, scripted):
    person = Person()
    better = FRAGILE.replace("100 // number", "100 // number - 1 + 1")
    provider = scripted(
        writes(),
        through("own_fragile", number=4),
        writes(better),
        *[through("own_fragile", number=0)] * 3,
        through("own_fragile", number=4),
        through("own_rollback", name="fragile", version=2),
        through("own_fragile", number=2),
        "done",
    )
    put_in(hermes, provider)
    said = await play(hermes, ask=person)
    assert said[1] == "25"
    assert "version 2 is kept" in said[2]
    assert "version 1, which worked, is in force again" in said[5]
    assert said[6:] == ["25", "Version 2 of own_fragile is in force.", "50"]
    assert [q.subject.partition("(")[0] for q in person.asked] == ["tool_write", "tool_write", "own_rollback"]
    assert "replaces version 1 of own_fragile" in person.asked[1].risk
    assert "+    return 100 // number - 1 + 1" in person.asked[1].risk
    names = [[s.name for s in r.tools] for r in provider.requests]
    assert names == [["tool_write", "tool_call"]] * 10
    history = await (await hermes.runtime.store()).history.tool_calls(hermes.runtime.owner, tool="own_fragile")
    assert sorted(e.outcome for e in history) == ["failed"] * 3 + ["ok"] * 3
    assert dict(history[0].arguments) == {"number": 2}


async def test_it_is_there_from_the_next_turn_on_without_a_restart_and_nothing_sent_moves(hermes, scripted, tmp_path):
    first = scripted(writes(), "done", Call("own_fragile", {"number": 5}), "one")
    put_in(hermes, first)
    await play(hermes, ask=Person())
    assert await play(hermes) == ["20"]
    await hermes.close()
    again = Kernel(tmp_path / "home")
    provider = scripted(Call("own_fragile", {"number": 5}), "two", Call("own_fragile", {"number": 5}), "three")
    put_in(again, provider)
    assert await play(again) == ["20"]
    assert await play(again, "later") == ["20"]
    await again.close()
    names = [[s.name for s in r.tools] for r in (*first.requests, *provider.requests)]
    there = ["own_fragile", "own_rollback", "own_versions"]
    assert names[:2] == [["tool_write", "tool_call"]] * 2
    assert names[2:6] == [["tool_write", "tool_call", *there]] * 4
    assert names[6:] == [["tool_write", *there, "tool_call"]] * 2


async def test_without_a_person_nothing_is_written_and_what_was_approved_runs(hermes, scripted):
    put_in(hermes, scripted(writes(), "one", writes(), through("own_fragile", number=5), "two"))
    (said,) = await play(hermes)
    assert "was not run" in said
    assert not list((Path(os.environ["HERMES_HOME"]) / "data").rglob("tool.py"))
    assert (await play(hermes, ask=Person()))[1] == "20"


async def test_a_no_is_a_no(hermes, scripted):
    person = Person("deny")
    put_in(hermes, scripted(writes(), through("own_fragile", number=5), "done"))
    written, called = await play(hermes, ask=person)
    assert "tool_write was not run" in written
    assert "no tool named 'own_fragile'" in called
    assert len(person.asked) == 1


async def test_bad_code_reaches_no_person(hermes, scripted):
    person = Person()
    put_in(hermes, scripted(writes("import ctypes\n" + FRAGILE), "done"))
    (said,) = await play(hermes, ask=person)
    assert "line 1: the module ctypes may not be used by a tool" in said
    assert person.asked == []


async def test_text_that_reads_like_a_command_is_text_to_a_tool_without_programs(hermes, scripted):
    say = 'def say(text: str) -> str:\n    """Give a text back as it is."""\n    return text\n'
    told = [{"arguments": {"text": "hi"}}]
    wipe = {"text": "rm -rf / --no-preserve-root"}
    both = [writes(say, "say", told), writes(say, "shell", told, programs=["sh"])]
    hermes.tmp_plugin("hermes_tool_guard")
    put_in(hermes, scripted(both, [through("own_say", **wipe), through("own_shell", **wipe)], "done"))
    *_, said, blocked = await play(hermes, ask=Person())
    assert said == wipe["text"]
    assert "This is never allowed, in any mode" in blocked


async def test_rules_are_about_the_tool_itself(hermes, scripted):
    put_in(
        hermes, scripted(writes(), through("own_fragile", number=5), "done"), **{"policy.deny": ["own_*"]},
    )  # fmt: skip
    assert "the rule 'own_*' in policy.deny forbids it" in (await play(hermes, ask=Person()))[1]


async def test_another_person_of_the_same_kernel_has_no_part_in_it(hermes, scripted):
    provider = scripted(writes(), "one", through("own_fragile", number=5), "two")
    put_in(hermes, provider)
    await play(hermes, ask=Person())
    (said,) = await play(hermes, "hers", owner=Principal(person="hana"))
    assert "no tool named 'own_fragile'" in said


@pytest.mark.parametrize("what", ["tool_write", "own_fragile"])
async def test_a_call_whose_process_died_is_taken_up(hermes, scripted, monkeypatch, what):
    """Killed after the call was started: writing is done again, once; what a written tool did stays unknown."""
    from hermes_core.types import Message, ToolCall, Usage

    put_in(hermes, scripted(writes(), "hello", "done"))
    person = Person()
    hermes._ask = person
    await play(hermes, ask=person)
    store = await hermes.runtime.store()
    said = Message(role="user", parts=(Text(text="go"),))
    turn = await store.journal.open_turn("s", said, turn_id="t", holder="dead", provider="scripted", model="m")
    arguments = writes(FRAGILE.replace("100", "1000"), examples=[{"arguments": {"number": 5}, "result": 200}]).arguments
    call = ToolCall(id="c", name=what, arguments=arguments if what == "tool_write" else {"number": 5})
    await store.journal.add_reply(turn, Message(role="assistant", parts=(call,)), Usage(calls=1), "tools")
    await store.journal.start_call(turn, "c")
    monkeypatch.setattr("hermes_atomic.processes.is_running", lambda pid: False)
    events = [event async for event in hermes.resume("s")]
    (result,) = [e.result.parts[0].text for e in events if isinstance(e, Returned)]
    if what == "tool_write":
        assert "version 2 is kept" in result
    else:
        assert "not known" in result or "unknown" in result


@pytest.mark.skipif(not Path("/usr/bin/bwrap").exists(), reason="needs bubblewrap")
async def test_it_runs_in_a_place_that_has_nothing_of_hermes(bench):
    """What runs in a workspace needs no file of Hermes there: the same in an empty root with only the system's Python."""  # noqa: E501
    from hermes_core.testing import FakeWorkspace

    class Walled(FakeWorkspace):
        async def run(self, request):
            from attrs import evolve

            wall = ["bwrap", "--ro-bind", "/usr", "/usr", "--ro-bind", "/lib", "/lib", "--ro-bind", "/lib64", "/lib64"]
            wall += [
                "--proc",
                "/proc",
                "--dev",
                "/dev",
                "--tmpfs",
                "/tmp",
                "--unshare-all",
                "--dir",
                "/w",
                "--chdir",
                "/w",
            ]
            return await super().run(evolve(request, argv=(*wall, *request.argv), cwd=""))

    bench.workspace = Walled(folder=bench.work)
    bench.workspace.features = frozenset({Feature.ISOLATED})
    probe = await bench.workspace.run(
        __import__("hermes_core.types", fromlist=["x"]).ExecRequest(argv=("python3", "-V"))
    )
    if probe.status:
        pytest.skip(f"no python3 behind the wall: {probe.output!r}")
    outcome = await bench.do(
        "import os\nreturn sorted(os.listdir('.')), open('/usr/bin/env', 'rb').read(4)[1:].decode()",
        reads=(".", "/usr/bin/env"),
    )
    assert outcome.value == [[], "ELF"], outcome
    assert json.dumps(outcome.value)


SUM = '''
def total(paths: list[str]) -> int:
    """Add up the numbers in some files."""
    numbers = []
    for path in paths:
        try:
            numbers.append(int(call_tool("number", {"path": path})))
        except ToolError as error:
            numbers.append(0)
    return sum(numbers)
'''


async def test_its_code_calls_tools_which_are_judged_on_their_own(hermes, scripted):
    from attrs import frozen as plain

    from hermes_core.kinds import tool

    ran = []

    @plain
    class Where:
        path: str

    @tool(toolset="n", untrusted=True, touches=lambda _: ())
    async def number(where: Where) -> str:
        """Read a number."""
        ran.append(where.path)
        return str(len(where.path))

    given = {"name": "total", "code": SUM, "examples": [{"arguments": {"paths": ["ab"]}, "result": 2}]}
    provider = scripted(
        Call("tool_write", {**given, "calls": ["number"]}), "one",
        Call("own_total", {"paths": ["a", "no", "abc"]}), "two",
    )  # fmt: skip
    hermes.tmp_plugin(number, name="numbers")
    put_in(hermes, provider, **{"policy.deny": ["number(*no*)"]})
    person = Person()
    kept = (await play(hermes, ask=person))[-1]
    assert "version 1 is kept" in kept
    assert "call number, each call judged on its own" in person.asked[0].risk
    said = await play(hermes)
    assert "own_total" in [s.name for s in provider.requests[2].tools]
    assert ran == ["ab", "a", "abc"], "each is made once, however often the code is run"
    assert "<untrusted from='own_total'>\n4\n" in said[-1]
    history = await (await hermes.runtime.store()).history.tool_calls(hermes.runtime.owner, tool="number")
    assert [e.outcome for e in history] == ["ok", "refused", "ok", "ok"]


async def test_it_calls_only_what_it_declares(bench):
    assert "call_tool needs the names of the tools in calls" in await refused(bench.write(SUM))
    both = {"calls": ["number"], "hosts": ["example.org"]}
    assert "so no hosts, programs or writes" in await refused(bench.write(SUM, **both))
    outcome = await bench.do("call_tool('other', {})", calls=("number",))
    assert outcome.crash == "it called other, and does not declare that"
    assert bench.context.called == []


async def test_a_call_cannot_be_swallowed_and_what_changes_its_mind_is_told(bench, monkeypatch):
    monkeypatch.setattr("hermes_tool_workshop.made._CALLS", 5)
    bench.context.answers = {"number": "7"}
    swallows = "try:\n    call_tool('number', {})\nexcept BaseException:\n    pass\nreturn 1"
    outcome = await bench.do(swallows, calls=("number",))
    assert (outcome.value, len(bench.context.called)) == (1, 1)
    fickle = "import time\nreturn call_tool('number', {'at': time.time_ns()})"
    assert "when it was run again" in (await bench.do(fickle, calls=("number",))).crash
    endless = "n = 0\nwhile True:\n    n += 1\n    call_tool('number', {'n': n})"
    assert (await bench.do(endless, calls=("number",))).crash == "it made more than 5 calls of tools"


async def refused(call):
    with pytest.raises(ToolError) as error:
        await call
    return error.value.text
