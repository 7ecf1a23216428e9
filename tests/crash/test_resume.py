"""What a resumed turn decides: policy is asked again, and chats get the answer before what is new."""

import pytest
from attrs import frozen

from hermes_core.kinds import tool
from hermes_core.store.validity import NO_RESULT
from hermes_core.testing import Call, Say
from hermes_core.testing.fakes import FakePlatform
from hermes_core.types import (
    Effect,
    Ended,
    Failed,
    Feature,
    Message,
    Principal,
    Returned,
    Started,
    Text,
    ToolCall,
    Usage,
    Verdict,
)

ME = Principal()


@frozen
class Words:
    text: str = ""


class Kit:
    """A session whose last turn died after a reply that calls a tool."""

    def __init__(self, bench, scripted) -> None:
        self.bench, self.ran = bench, []

        @tool(effects=[Effect.SCHEDULE], idempotent=True)
        async def again(words: Words) -> str:
            """Run it."""
            self.ran.append(words.text)
            return "ran"

        @tool(effects=[Effect.SCHEDULE])
        async def once(words: Words) -> str:
            """Run it once."""
            self.ran.append(words.text)
            return "ran"

        self.tools = [again, once]
        self.provider = scripted()
        bench.tmp_plugin(self.provider)
        bench.tmp_plugin(*self.tools)

    async def die(self, monkeypatch, name: str, *, started: bool) -> None:
        self.provider.add("hi")
        [event async for event in self.bench.turn("hi", session="s")]
        store = await self.bench.runtime.store()
        said = Message(role="user", parts=(Text(text="go"),))
        turn = await store.journal.open_turn("s", said, turn_id="t", holder="dead", provider="scripted", model="m")
        call = ToolCall(id="c", name=name, arguments={"text": "x"})
        await store.journal.add_reply(turn, Message(role="assistant", parts=(call,)), Usage(calls=1), "tools")
        if started:
            await store.journal.start_call(turn, "c")
        monkeypatch.setattr("hermes_atomic.processes.is_running", lambda pid: False)

    async def resume(self) -> tuple[str, str, str]:
        """What the tool gave, how that is stored, and the answer."""
        events = [event async for event in self.bench.resume("s")]
        [result] = [e.result for e in events if isinstance(e, Returned)]
        [entry] = await (await self.bench.runtime.store()).history.tool_calls(ME)
        assert isinstance(events[-1], Ended)
        return result.parts[0].text, entry.outcome, events[-1].answer


@pytest.fixture
def kit(hermes, scripted):
    return Kit(hermes, scripted)


async def test_a_pending_call_is_judged_again_and_run(kit, monkeypatch):
    questions = []

    async def yes(question):
        questions.append(question.subject)
        return Verdict(outcome="allow", choice="once")

    kit.bench._ask = yes
    await kit.die(monkeypatch, "once", started=False)
    kit.provider.add("done")
    assert await kit.resume() == ("ran", "ok", "done")
    assert questions == ["once(text=x)"]
    assert kit.ran == ["x"]


async def test_without_a_person_a_pending_call_that_would_ask_is_refused(kit, monkeypatch):
    await kit.die(monkeypatch, "once", started=False)
    kit.provider.add("done")
    said, outcome, _ = await kit.resume()
    assert (outcome, kit.ran) == ("refused", [])
    assert "was not run" in said


async def test_a_started_call_may_be_run_again_only_when_its_tool_says_so(kit, monkeypatch):
    kit.bench.configure({"policy.mode": "off"})
    await kit.die(monkeypatch, "again", started=True)
    kit.provider.add("done")
    assert await kit.resume() == ("ran", "ok", "done")


@pytest.mark.parametrize("name", ["again", "once", "gone"])
async def test_what_a_started_call_did_stays_unknown_when_it_is_not_run_again(kit, monkeypatch, name):
    await kit.die(monkeypatch, name, started=True)
    kit.provider.add("done")
    said, outcome, answer = await kit.resume()
    assert said.startswith(NO_RESULT)
    assert (outcome, answer, kit.ran) == ("unknown", "done", [])


async def test_a_new_message_of_a_program_gives_the_old_turn_up(kit, monkeypatch):
    await kit.die(monkeypatch, "once", started=True)
    kit.provider.add("new")
    assert [e async for e in kit.bench.turn("new", session="s")][-1].answer == "new"
    assert await kit.bench.interrupted() == []
    assert [e async for e in kit.bench.resume("s")] == []


@pytest.mark.parametrize("features", [(), (Feature.LIVE,)], ids=["sends", "is live"])
async def test_a_chat_gets_the_interrupted_answer_first(kit, monkeypatch, features):
    await kit.die(monkeypatch, "once", started=True)
    kit.provider.add("the old answer", Say("the new answer"))
    platform = FakePlatform(features=features)
    await platform.service.say("and now?")
    await platform.service.leave()
    await kit.bench.serve(platform, "s")
    answers = [e.answer for e in platform.events if isinstance(e, Ended)] if features else await platform.service.seen()
    assert list(answers) == ["the old answer", "the new answer"]


async def test_a_chat_that_goes_on_in_another_session_finishes_it_first(kit, monkeypatch):
    kit.bench.tmp_plugin("hermes_tool_commands")
    await kit.die(monkeypatch, "once", started=True)
    kit.provider.add("the old answer", Call("nosuch"), "the new answer")
    platform = FakePlatform(features=())
    for line in ("/resume s", "and now?"):
        await platform.service.say(line)
    await platform.service.leave()
    await kit.bench.serve(platform)
    assert list(await platform.service.seen())[1:] == ["the old answer", "the new answer"]


async def test_a_session_nobody_has_is_not_made_by_resuming_it(hermes, scripted):
    hermes.tmp_plugin(scripted())
    events = [event async for event in hermes.resume("nosuch")]
    assert [type(e).__name__ for e in events] == ["Failed", "Ended"]
    assert await (await hermes.runtime.store()).sessions.list(ME) == []


async def test_a_resumed_turn_can_be_interrupted_from_the_chat(kit, monkeypatch):
    class Impatient(FakePlatform):
        async def show(self, chat, event):
            await super().show(chat, event)
            if isinstance(event, Started):
                assert await self.console.interrupt("main")

    await kit.die(monkeypatch, "once", started=True)
    platform = Impatient(features=(Feature.LIVE,))
    await platform.service.leave()
    await kit.bench.serve(platform, "s")
    assert platform.events[-1].reason == "interrupted"
    assert await kit.bench.interrupted() == [], "a person ended it"


async def test_a_turn_that_kills_its_process_again_and_again_is_given_up(kit, monkeypatch):
    kit.bench.configure({"policy.mode": "off"})
    await kit.die(monkeypatch, "again", started=True)
    store = await kit.bench.runtime.store()
    for number in range(3):
        taken = await store.journal.resume_turn("s", holder=f"dead {number}".replace(" ", "-"))
        assert taken.resumes == number
    events = [event async for event in kit.bench.resume("s")]
    [failed] = [e for e in events if isinstance(e, Failed)]
    assert "given up: its process died 4 times while again ran" in failed.text
    assert (events[-1].reason, kit.ran) == ("failed", [])
    assert await store.journal.interrupted(ME) == []
    kit.provider.add("fine")
    assert (await kit.bench.run("and now", session="s")).text == "fine"


async def test_a_turn_goes_on_with_the_model_it_began_with(kit, monkeypatch):
    await kit.die(monkeypatch, "once", started=True)
    kit.provider.add("done")
    events = [event async for event in kit.bench.resume("s")]
    assert (events[0].provider, events[0].model) == ("scripted", "m")
    assert kit.provider.requests[-1].model == "m"
    assert events[-1].note == ""


async def test_a_model_that_is_gone_is_told(kit, monkeypatch):
    await kit.die(monkeypatch, "once", started=True)
    store = await kit.bench.runtime.store()
    store.database.connection.execute("UPDATE turns SET provider = 'gone' WHERE state = 'open'")
    kit.provider.add("done")
    events = [event async for event in kit.bench.resume("s")]
    assert events[-1].answer == "done"
    assert "gone:m, so scripted:scripted-1 went on" in events[-1].note


async def test_a_turn_keeps_the_tools_it_began_with(hermes, scripted, monkeypatch, tmp_path):
    from hermes_core.testing.bench import Bench

    kit = Kit(hermes, scripted)
    await kit.die(monkeypatch, "again", started=False)
    await hermes.close()

    class Narrow(Bench):
        def __init__(self, home):
            super().__init__(home)
            self._options["toolsets"] = ("narrow",)

    @tool(toolset="narrow")
    async def narrow() -> str:
        """Be the only one on offer."""
        return ""

    bench = Narrow(tmp_path / "home")
    kit = Kit(bench, scripted)
    bench.tmp_plugin(narrow)
    bench.configure({"policy.mode": "off"})
    kit.provider.add("done", "new")
    assert await kit.resume() == ("ran", "ok", "done")
    assert [s.name for s in kit.provider.requests[0].tools] == ["again", "once"]
    await bench.run("now", session="s")
    assert [s.name for s in kit.provider.requests[1].tools] == ["narrow"]
    await bench.close()
