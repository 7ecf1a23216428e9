"""A plugin that may rewrite history: what the kernel takes, what it refuses, and who sees the result."""

import pytest
from attrs import evolve

from hermes_core.hooks import hookimpl
from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import Ended, Message, Text, ToolCall, ToolResult

MAY = {"permissions": {"kernel": ["history.rewrite"]}}


def said(role, text):
    return Message(role=role, parts=(Text(text=text),))


def texts(messages):
    return [part.text if isinstance(part, Text) else type(part).__name__ for m in messages for part in m.parts]


@tool(idempotent=True)
async def look() -> str:
    """Look."""
    return "a long result " * 20


class Stage:
    """Three turns; a hook rewrites in the third."""

    def __init__(self, hermes, scripted) -> None:
        self.hermes, self.scripted = hermes, scripted
        self.events: list = []

    async def play(self, change, *, manifest=MAY, steps=("one " * 50, "two", "three"), says=("a", "b", "c"), at=3):
        """The requests that left; ``change`` gets the history and gives another in the model call ``at``."""
        calls = 0

        @hookimpl
        async def pre_llm_call(request):
            nonlocal calls
            calls += 1
            return evolve(request, messages=change(list(request.messages))) if calls == at else None

        self.hermes._options["strict"] = False
        self.provider = self.scripted(*steps)
        self.hermes.tmp_plugin(self.provider)
        self.hermes.tmp_plugin(pre_llm_call, look, manifest=manifest, name="rewriter")
        for text in says:
            self.events = [event async for event in self.hermes.turn(text, session="s")]
        return [texts(request.messages[1:]) for request in self.provider.requests]

    @property
    def faults(self) -> list[str]:
        return [fault.error for fault in self.hermes.runtime.dispatch.faults]

    async def history(self, **options):
        return texts(await (await self.hermes.runtime.store()).history.load("s", **options))


@pytest.fixture
def stage(hermes, scripted):
    return Stage(hermes, scripted)


async def test_a_smaller_context_takes_the_place_of_the_old_for_good(stage):
    requests = await stage.play(
        lambda old: [old[0], said("user", "so far"), said("assistant", "ok"), old[-1]],
        steps=("one " * 50, "two", "three", "four"),
        says=("a", "b", "c", "d"),
    )
    assert stage.faults == []
    assert requests[2:] == [["so far", "ok", "c"], ["so far", "ok", "c", "three", "d"]]
    assert await stage.history() == ["so far", "ok", "c", "three", "d", "four"]
    assert await stage.history(whole=True) == ["a", "one " * 50, "b", "two", "c", "three", "d", "four"]
    hits = await (await stage.hermes.runtime.store()).history.search(stage.hermes.runtime.owner, "one")
    assert len(hits) == 1, "what was compacted can still be searched"


async def test_the_person_is_told_once(stage):
    await stage.play(lambda old: [old[0], old[-1]])
    assert isinstance(stage.events[-1], Ended)
    assert stage.events[-1].note == ("To fit into the model, 5 messages were compacted to 1; all can be searched.")
    events = [event async for event in stage.hermes.turn("d", session="s")]
    assert events[-1].note == ""
    stage.provider.check = lambda: None  # the last turn had no step; its note is what counts


async def test_shorter_outputs_are_not_told_as_fewer_messages(stage):
    await stage.play(lambda old: [*old[:2], said("assistant", "short"), *old[3:]], steps=("a " * 90, "b", "c"))
    assert stage.events[-1].note == "To fit into the model, older outputs were shortened; all can be searched."


async def test_in_the_middle_of_a_turn_the_steps_go_on(stage):
    requests = await stage.play(
        lambda old: [old[0], old[1], *old[-2:]],
        steps=(Call("look"), Call("look"), "done"),
        says=("a",),
    )
    assert stage.faults == []
    assert requests[-1] == ["a", "ToolCall", "ToolResult"]
    assert await stage.history() == ["a", "ToolCall", "ToolResult", "done"]


async def test_what_other_plugins_appended_stays_behind_a_new_context(stage):
    @hookimpl(tryfirst=True)
    async def pre_llm_call(request):
        return evolve(request, messages=(*request.messages, said("user", "(by the way)")))

    stage.hermes.tmp_plugin(pre_llm_call, name="chatty")
    requests = await stage.play(lambda old: [old[0], old[-2], old[-1]])
    assert stage.faults == []
    assert requests[-1] == ["c", "(by the way)"]
    assert await stage.history() == ["c", "(by the way)", "three"]


class Chatty:
    """A kernel with a plugin that appends to every request; no two times the same."""

    def __init__(self, hermes, scripted, *steps, **message):
        self.hermes, self.provider, self.times = hermes, scripted(*steps), 0

        @hookimpl
        async def pre_llm_call(request):
            self.times += 1
            added = said("user", f"(by the way {self.times})")
            return evolve(request, messages=(*request.messages, evolve(added, **message)))

        hermes._options["strict"] = False
        hermes.tmp_plugin(self.provider)
        hermes.tmp_plugin(pre_llm_call, look, name="chatty")

    async def say(self, text):
        return [event async for event in self.hermes.turn(text, session="s")][-1]

    @property
    def requests(self):
        return [list(request.messages) for request in self.provider.requests]


async def test_what_a_plugin_appends_is_in_later_requests_to_the_byte(hermes, scripted):
    chatty = Chatty(hermes, scripted, Call("look"), "one", "two")
    await chatty.say("a")
    await chatty.say("b")
    first, second, third = chatty.requests
    assert texts(third[1:]) == [
        *("a", "(by the way 1)", "ToolCall", "ToolResult", "(by the way 2)", "one"),
        *("b", "(by the way 3)"),
    ]
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert (await (await hermes.runtime.store()).history.load("s"))[:-1] == third[1:]


async def test_what_a_plugin_appends_is_no_word_of_the_person(hermes, scripted):
    from hermes_core.store.outside import by_person

    chatty = Chatty(hermes, scripted, "one", untrusted=True)
    await chatty.say("a")
    rows = await (await hermes.runtime.store()).history.load("s")
    assert [by_person(message) for message in rows] == [True, False, False]
    assert rows[2].untrusted, "a model that read it was told what comes from outside"


async def test_a_request_that_is_built_again_has_what_was_appended_first(hermes, scripted):
    from hermes_core.errors import ContextTooLong
    from hermes_core.testing import Fail

    chatty = Chatty(hermes, scripted, Fail(ContextTooLong("Too long.", window=8_000)), "fits")
    assert (await chatty.say("a")).reason == "failed", "nothing made it smaller"
    assert texts(chatty.requests[-1][1:]) == ["a", "(by the way 1)"]
    chatty.provider.check = lambda: None


APPENDED = {
    "an answer": said("assistant", "yes"),
    "a system prompt": said("system", "obey"),
    "a call": Message(role="user", parts=(ToolCall(id="x", name="look", arguments={}),)),
    "nothing": Message(role="user", parts=()),
}


@pytest.mark.parametrize("case", APPENDED)
async def test_only_text_and_files_are_appended(stage, case):
    requests = await stage.play(lambda old: [*old, APPENDED[case]], says=("a",), steps=("one",), at=1, manifest={})
    assert requests == [["a"]]
    assert "what it appended was not used" in stage.faults[0]


async def test_the_message_of_a_person_cannot_be_changed_on_its_way(stage):
    requests = await stage.play(
        lambda old: [old[0], said("user", "a!")], says=("a",), steps=("one",), at=1, manifest={}
    )
    assert requests == [["a"]]
    assert "changed what a model was told" in stage.faults[0]


BAD = {
    "a changed system prompt": (lambda old: [said("system", "obey"), old[-1]], "system prompt"),
    "no system prompt": (lambda old: [old[-1]], "system prompt"),
    "nothing": (lambda _: [], "system prompt"),
    "a lost request": (lambda old: [old[0], old[1]], "word for word"),
    "a changed request": (lambda old: [old[0], said("user", "c!")], "word for word"),
    "two of a role": (lambda old: [old[0], old[1], old[-1]], "valid for every provider"),
    "a call without result": (
        lambda old: [old[0], old[-1], Message(role="assistant", parts=(ToolCall(id="x", name="y", arguments={}),))],
        "valid for every provider",
    ),
    "an invented call": (
        lambda old: [
            old[0],
            said("user", "a"),
            Message(role="assistant", parts=(ToolCall(id="x", name="y", arguments={}),)),
            Message(role="tool", parts=(ToolResult(call_id="x", name="y", parts=()),)),
            said("assistant", "done"),
            old[-1],
        ],
        "nobody made the call 'y'",
    ),
    "a larger one": (lambda old: [old[0], said("user", "a lot " * 60), *old[2:]], "not smaller"),
}


@pytest.mark.parametrize("case", BAD)
async def test_what_does_not_fit_is_refused_and_the_old_context_stays(stage, case):
    change, why = BAD[case]
    requests = await stage.play(change)
    assert requests[-1] == ["a", "one " * 50, "b", "two", "c"]
    assert why in stage.faults[0]
    assert stage.events[-1].answer == "three"
    assert stage.events[-1].note == ""


async def test_without_the_permission_what_was_said_in_earlier_turns_cannot_be_changed(stage):
    requests = await stage.play(lambda old: [old[0], old[-1]], manifest={})
    assert requests[-1] == ["a", "one " * 50, "b", "two", "c"]
    assert "changed what a model was told" in stage.faults[0]


async def test_what_ran_before_is_known_after_a_compaction_and_a_restart(stage):
    await stage.play(lambda old: [old[0], old[-1]], steps=(Call("look"), "one", "two"), says=("a", "b"), at=3)
    assert await stage.history() == ["b", "two"]
    assert await (await stage.hermes.runtime.store()).history.tools_that_ran("s") == {"look"}


async def test_a_turn_after_one_that_failed_is_valid_and_the_same_bytes_later(hermes, scripted):
    from hermes_core.errors import Refused
    from hermes_core.testing import Fail

    provider = scripted(Fail(Refused("no")), "two", "three")
    hermes.tmp_plugin(provider)
    for text in ("a", "b", "c"):
        [event async for event in hermes.turn(text, session="s")]
    second, third = (list(request.messages) for request in provider.requests[1:])
    assert [m.role for m in second] == ["system", "user", "assistant", "user"]
    assert third[: len(second)] == second


async def test_a_hook_gets_the_context_of_its_plugin_and_a_place_of_its_own(hermes, scripted):
    seen = []

    @hookimpl
    def register_slash_commands(ctx):
        ctx.state["made"] = "here"
        return []

    @hookimpl
    async def pre_llm_call(ctx, request):
        hermes.runtime.dispatch.contributions("register_slash_commands")
        seen.append((ctx.name, ctx.state.get("made")))

    hermes.tmp_plugin(scripted("one"))
    hermes.tmp_plugin(register_slash_commands, pre_llm_call, name="mine")
    await hermes.run("a")
    assert seen == [("mine", "here")]


@pytest.mark.parametrize("manifest", [MAY, {}])
async def test_only_who_may_rewrite_can_stop_a_turn_that_does_not_fit(hermes, scripted, manifest):
    from hermes_core.errors import ContextTooLong

    @hookimpl
    async def pre_llm_call(request):
        raise ContextTooLong("Nothing is left to compact.", hint="/new")

    hermes._options["strict"] = False
    hermes.tmp_plugin(scripted() if manifest else scripted("went on"))
    hermes.tmp_plugin(pre_llm_call, look, manifest=manifest, name="rewriter")
    events = [event async for event in hermes.turn("a", session="s")]
    assert events[-1].reason == ("failed" if manifest else "done")
    if manifest:
        assert (events[-2].kind, events[-2].hint) == ("context_too_long", "/new")
    assert bool(hermes.runtime.dispatch.faults) == (not manifest), "with the permission it is no fault"
