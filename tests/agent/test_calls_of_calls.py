"""A tool may call tools: judged, written down, counted and ended as calls of the model are."""

import asyncio
from typing import Any

import pytest
from attrs import frozen

from hermes_core.agent.turn_origin import TurnOrigin
from hermes_core.errors import ToolError
from hermes_core.hooks import hookimpl
from hermes_core.kinds import ToolContext, tool
from hermes_core.options import option, settings
from hermes_core.testing import Call
from hermes_core.types import Called, Effect, Progress, Returned, Text, TurnBounds, Verdict


@settings
class Steps:
    calls: list[dict[str, Any]] = option("Calls, one after another.", factory=list)


@frozen
class Words:
    text: str = ""


def text_of(result):
    return "".join(p.text for p in result.parts if isinstance(p, Text))


class Workshop:
    """Tools of which one calls the others; ``ran`` holds what they did."""

    def __init__(self) -> None:
        self.ran, self.results = [], []

    def tools(self):
        @tool(toolset="w")
        async def steps(context: ToolContext, wanted: Steps) -> str:
            """Make calls, and say what they came to."""
            for one in wanted.calls:
                self.results.append(await context.call(one["name"], one.get("with", {})))
            return " | ".join(map(text_of, self.results))

        @tool(toolset="w", effects={Effect.SEND})
        async def send(words: Words) -> str:
            """Send it."""
            self.ran.append(words.text)
            return f"sent {words.text}"

        @tool(toolset="w", idempotent=True, touches=lambda _: (), untrusted=True)
        async def page(words: Words) -> str:
            """Read a page."""
            self.ran.append(f"page {words.text}")
            return f"page {words.text}"

        @tool(toolset="w")
        async def for_ever(context: ToolContext) -> str:
            """Never end."""
            context.progress("waiting\n")
            try:
                await asyncio.sleep(600)
            finally:
                self.ran.append("ended")
            return ""

        @tool(toolset="w")
        async def deeper(context: ToolContext, words: Words) -> str:
            """Call itself."""
            return text_of(await context.call("deeper", {"text": words.text + "+"}))

        @tool(toolset="w", touches=lambda _: ())
        async def beside(context: ToolContext) -> str:
            """Call while others run beside it."""
            return text_of(await context.call("send", {"text": "x"}))

        @tool(toolset="w")
        async def left(context: ToolContext) -> str:
            """Leave a call behind."""
            self.task = asyncio.ensure_future(context.call("for_ever", {}))
            self.late = context
            await asyncio.sleep(0.05)
            return "done"

        return [steps, send, page, for_ever, deeper, beside, left]


@pytest.fixture
def shop():
    return Workshop()


def kit(hermes, scripted, shop, *steps, **settings):
    provider = scripted(*steps)
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(*shop.tools(), name="w")
    hermes.configure({"policy.mode": "off", **settings})
    hermes._options["strict"] = False
    return provider


def does(*calls):
    return Call("steps", {"calls": [{"name": name, "with": given} for name, given in calls]})


async def played(hermes, **more):
    return [event async for event in hermes.runtime.turns.run("go", session="s", **more)]


async def said(hermes, **more):
    await hermes.__aenter__()
    return [text_of(e.result) for e in await played(hermes, **more) if isinstance(e, Returned) and "/" not in e.call.id]


async def rows(hermes, name=""):
    store = await hermes.runtime.store()
    return [(e.name, e.outcome, e.output) for e in await store.history.tool_calls(hermes.runtime.owner, tool=name)][
        ::-1
    ]


async def test_a_call_of_a_call_is_made_and_written_down_below_it(hermes, scripted, shop):
    provider = kit(hermes, scripted, shop, does(("send", {"text": "a"}), ("send", {"text": "a"})), "done")
    assert await said(hermes) == ["sent a | sent a"]
    assert shop.ran == ["a", "a"]
    written = [("steps", "ok", "sent a | sent a"), ("send", "ok", "sent a"), ("send", "ok", "sent a")]
    assert await rows(hermes) == written
    store = await hermes.runtime.store()
    ids = [e.call_id for e in await store.history.tool_calls(hermes.runtime.owner)]
    assert ids[0].startswith(f"{ids[2]}/")
    assert len({*ids}) == 3
    names = [p.name for m in await store.history.load("s") for p in m.parts if hasattr(p, "call_id")]
    assert names == ["steps"], "the model is told of its own calls only"
    assert [len(r.messages) for r in provider.requests] == [2, 4]


async def test_whoever_watches_sees_it(hermes, scripted, shop):
    kit(hermes, scripted, shop, does(("send", {"text": "a"})), "done")
    await hermes.__aenter__()
    seen = [(type(e).__name__, e.call.name) for e in await played(hermes) if isinstance(e, Called | Returned)]
    assert seen == [("Called", "steps"), ("Called", "send"), ("Returned", "send"), ("Returned", "steps")]


async def test_it_is_judged_as_one_of_the_model(hermes, scripted, shop):
    asked = []

    async def ask(question):
        asked.append(question.subject)
        return Verdict(outcome="allow" if "b" in question.subject else "deny", reason="not that")

    calls = does(("send", {"text": "a"}), ("send", {"text": "b"}), ("page", {"text": "c"}))
    kit(hermes, scripted, shop, calls, "done", **{"policy.mode": "ask", "policy.deny": ["page"]})
    (text,) = await said(hermes, turn_origin=TurnOrigin(ask=ask))
    no, yes, denied = text.split(" | ")
    assert "send was not run" in no
    assert yes == "sent b"
    assert "policy.deny" in denied
    assert len(asked) == 2
    assert [outcome for _, outcome, _ in await rows(hermes)] == ["ok", "refused", "ok", "refused"]


async def test_gates_and_bounds_see_it(hermes, scripted, shop):
    @hookimpl
    async def pre_tool_call(session, call):
        return Verdict(outcome="deny", reason="no a") if call.arguments.get("text") == "a" else None

    hermes.tmp_plugin(pre_tool_call, name="gate")
    kit(hermes, scripted, shop, does(("send", {"text": "a"}), ("page", {})), "done")
    (text,) = await said(hermes, turn_origin=TurnOrigin(bounds=TurnBounds(without=("page",))))
    assert "no a" in text
    assert shop.ran == []


async def test_what_is_wrong_is_a_result_that_failed(hermes, scripted, shop):
    kit(hermes, scripted, shop, does(("sned", {}), ("send", {"txt": 1}), ("send", {"text": "b"})), "done")
    (text,) = await said(hermes)
    assert "no tool named 'sned'. Did you mean send?" in text
    assert "txt: no such argument; did you mean text?" in text
    assert [r.failed for r in shop.results] == [True, True, False]


async def test_arguments_that_are_no_json_are_refused_as_nothing_of_them_would_be_known_again(hermes, scripted, shop):
    @tool(toolset="w")
    async def careless(context: ToolContext) -> str:
        """Give what cannot be written down."""
        return text_of(await context.call("send", {"text": object()}))

    kit(hermes, scripted, shop, Call("careless", {}), "done")
    hermes.tmp_plugin(careless, name="careless")
    (told,) = await said(hermes)
    assert told.startswith("send was not called: its arguments are no JSON object")
    assert shop.ran == []


async def test_what_it_brings_from_outside_taints_the_calls_after_it_and_its_own_result(hermes, scripted, shop):
    kit(hermes, scripted, shop, does(("send", {"text": "a"}), ("page", {"text": "p"}), ("send", {"text": "b"})), "done")
    (text,) = await said(hermes)
    assert shop.ran == ["a", "page p"]
    assert text_of(shop.results[1]) == "page p", "a tool reads it without the fence"
    assert "holds text from outside" in text_of(shop.results[2])
    assert text.startswith("<untrusted from='steps'>")
    assert (await (await hermes.runtime.store()).history.load("s"))[2].untrusted


async def test_calls_go_so_deep_and_are_so_many(hermes, scripted, shop):
    many = does(*(("page", {"text": str(n)}) for n in range(201)))
    kit(hermes, scripted, shop, Call("deeper", {"text": ""}), many, "done")
    deep, most = await said(hermes)
    assert "deeper was not called: 4 calls below another are the most" in deep
    assert "page was not called: 200 calls by tools are the most for one reply" in most
    assert len(shop.ran) == 200


async def test_only_a_tool_whose_calls_run_alone_may_call(hermes, scripted, shop):
    kit(hermes, scripted, shop, Call("beside"), "done")
    (text,) = await said(hermes)
    assert text == "beside may not call a tool: it has touches, so its own calls do not run alone."
    assert [f.where for f in hermes.runtime.dispatch.faults] == ["beside"]
    assert shop.ran == []


async def test_it_ends_with_the_turn_and_with_the_call_it_was_made_for(hermes, scripted, shop):
    kit(hermes, scripted, shop, Call("left"), "one", does(("for_ever", {})))
    assert await said(hermes) == ["done"]
    assert shop.ran == ["ended"]
    assert shop.task.cancelled()
    with pytest.raises(ToolError, match="the call that wants it is over"):
        await shop.late.call("send", {"text": "late"})
    async for event in hermes.runtime.turns.run("go", session="s"):
        if isinstance(event, Progress):
            hermes.runtime.turns.interrupt("s")
    assert shop.ran == ["ended", "ended"]
    assert [outcome for _, outcome, _ in await rows(hermes, "for_ever")] == ["unknown", "unknown"]


async def test_a_budget_that_is_used_up_ends_it(hermes, scripted, shop):
    kit(hermes, scripted, shop, does(("send", {"text": "a"})))
    await hermes.__aenter__()
    async for event in hermes.runtime.turns.run("go", session="s", turn_origin=TurnOrigin(bounds=TurnBounds(tokens=1))):
        if isinstance(event, Returned) and event.call.name == "steps":
            assert "send was not called: no tokens is left" in text_of(event.result)
    assert shop.ran == []


# --- through the bridge ---------------------------------------------------------------------------------------------


def bridged(name, **given):
    return ("tool_call", {"name": name, "arguments": given})


async def test_a_call_through_tool_call_is_one_of_the_tool_itself(hermes, scripted, shop):
    """Judged, refused, bounded and written down under its own name; a bridge over a bridge leads nowhere."""

    @hookimpl
    async def pre_tool_call(call, effects):
        judged.append((call.name, sorted(effects)))
        return Verdict(outcome="deny", reason="no page") if call.name == "page" else None

    @tool(toolset="w", needs=lambda _: "there is no rope")
    async def deep(words: Words) -> str:
        """Go down."""
        shop.ran.append("deep")
        return "down"

    judged = []
    calls = [bridged(name, text="x") for name in ("send", "page", "deep", "for_ever", "denied", "no_such")]
    kit(
        hermes, scripted, shop, does(*calls, bridged("tool_call", text="send"), ("tool_call", {})), "done",
        **{"policy.deny": ["denied"], "agent.disabled_tools": ["for_ever"]},
    )  # fmt: skip
    hermes.tmp_plugin(deep, tool(name="denied", toolset="w")(deep_denied(shop)), name="more")
    hermes.tmp_plugin(pre_tool_call, name="gate")
    await played(hermes)
    told = [text_of(one) for one in shop.results]
    assert shop.ran == ["x"]
    assert told[0] == "sent x"
    assert "no page" in told[1]
    assert "there is no rope" in told[2]
    assert "no tool named 'for_ever'" in told[3]
    assert "policy.deny" in told[4]
    assert "no tool named 'no_such'" in told[5]
    assert all(one.failed for one in shop.results[1:])
    assert ("send", [Effect.SEND]) in judged
    assert "tool_call" not in {name for name, _ in judged}
    (row,) = await (await hermes.runtime.store()).history.tool_calls(hermes.runtime.owner, tool="send")
    assert row.outcome == "ok"


async def test_the_bridge_leads_past_no_bounds(hermes, scripted, shop):
    bounds = TurnBounds(without=("send",))
    kit(hermes, scripted, shop, does(bridged("send", text="x")), "done")
    await played(hermes, turn_origin=TurnOrigin(bounds=bounds))
    assert shop.ran == []
    assert "this turn may not use it" in text_of(shop.results[0])


def deep_denied(shop):
    async def denied(words: Words) -> str:
        """Is denied by a rule."""
        shop.ran.append("denied")
        return ""

    return denied
