"""Turns that a plugin orders: where they are, what they may do, what is sent of them, what survives."""

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa
from attrs import frozen

from hermes_core.brokers import Mailbox
from hermes_core.database import READ
from hermes_core.errors import NotPermitted, UnknownName, UserError
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider, tool
from hermes_core.testing import Call, Say
from hermes_core.types import (
    CallDelta,
    Called,
    Done,
    Effect,
    Ended,
    Failed,
    Message,
    Migration,
    Model,
    Noticed,
    Principal,
    Returned,
    Started,
    Target,
    Text,
    TurnBounds,
    TurnOrder,
    Usage,
    UsageDelta,
    Used,
    Verdict,
)


@frozen
class Words:
    text: str = ""


@tool(toolset="voice", touches=lambda _params: ())
async def shout(params: Words) -> str:
    """Shout."""
    return params.text.upper()


@tool(toolset="post", effects=[Effect.SEND])
async def post(params: Words) -> str:
    """Post it."""
    return f"posted {params.text}"


@hookimpl
async def on_session_start(ctx, session) -> None:
    ctx.state["seen"] = ctx.turns


@pytest.fixture
def turns(hermes, scripted):
    """The turns of a plugin that may order them, answered by a script."""

    def make(*steps, kernel=("turns.run",)):
        provider = scripted(*steps)
        hermes.tmp_plugin(provider)
        hermes.tmp_plugin(shout, post)
        label = hermes.tmp_plugin(on_session_start, name="nightly", manifest={"permissions": {"kernel": [*kernel]}})
        made = hermes.runtime.plugin_context(hermes.runtime.index.get(label)).turns
        made.provider = provider
        return made

    return make


async def played(turn):
    return [event async for event in turn]


def ended(events) -> Ended:
    assert isinstance(events[-1], Ended)
    return events[-1]


def failure(events) -> str:
    return next(e.text for e in events if isinstance(e, Failed))


def results(events):
    return ["".join(p.text for p in e.result.parts if isinstance(p, Text)) for e in events if isinstance(e, Returned)]


def offered(request):
    return {spec.name for spec in request.tools}


async def said(hermes, session, owner=None):
    store = await hermes.runtime.store()
    messages = await store.history.messages(owner or hermes.runtime.owner, session, window=50)
    return ["".join(p.text for p in m.parts if isinstance(p, Text)) for _, m in messages]


async def test_a_new_session_is_begun_by_the_plugin_and_gone_on_with_by_its_id(hermes, turns) -> None:
    broker = turns(Say("one"), Say("two"))
    first = ended(await played(broker.run("begin", order=TurnOrder(system="Be brief."))))
    assert (first.answer, first.reason) == ("one", "done")
    session = await (await hermes.runtime.store()).sessions.get(first.session_id, hermes.runtime.owner)
    assert session.origin == "nightly"
    second = ended(await played(broker.run("go on", order=TurnOrder(session=first.session_id))))
    assert (second.session_id, second.answer) == (first.session_id, "two")
    assert await said(hermes, first.session_id) == ["begin", "one", "go on", "two"]
    assert "Be brief." in broker.provider.requests[0].messages[0].parts[0].text


async def test_without_the_permission_nothing_is_ordered(hermes, turns) -> None:
    broker = turns(kernel=())
    with pytest.raises(NotPermitted):
        await played(broker.run("go"))
    for ask in (broker.queue("go"), broker.past("x"), broker.busy("s"), broker.interrupt("s"), broker.steer("s", "x")):
        with pytest.raises(NotPermitted):
            await ask
    for ask in (broker.interrupted(), broker.drop("s")):
        with pytest.raises(NotPermitted):
            await ask
    with pytest.raises(NotPermitted):
        await played(broker.resume("s"))
    assert not await (await hermes.runtime.store()).sessions.list(hermes.runtime.owner)


async def test_a_fork_knows_what_was_said_and_leaves_its_source_as_it_was(hermes, turns) -> None:
    broker = turns(Say("one"), Say("two"))
    first = ended(await played(broker.run("begin")))
    second = ended(await played(broker.run("look back", order=TurnOrder(fork=first.session_id))))
    assert second.session_id != first.session_id
    assert await said(hermes, first.session_id) == ["begin", "one"]
    assert await said(hermes, second.session_id) == ["begin", "one", "look back", "two"]
    begun, forked = broker.provider.requests
    assert forked.messages[: len(begun.messages)] == begun.messages
    assert forked.tools == begun.tools


async def test_the_same_event_is_ordered_once(hermes, turns) -> None:
    broker = turns(Say("one"))
    first = await played(broker.run("tick", order=TurnOrder(event="job-1:08:00")))
    assert await played(broker.run("tick", order=TurnOrder(event="job-1:08:00"))) == []
    assert await broker.queue("tick", order=TurnOrder(event="job-1:08:00")) == ""
    past = await broker.past("job-1:08:00")
    assert (past.state, past.answer, past.session_id) == ("done", "one", ended(first).session_id)
    assert await broker.past("job-1:09:00") is None
    assert len(await (await hermes.runtime.store()).sessions.list(hermes.runtime.owner)) == 1


async def test_what_is_queued_waits_in_the_store_and_is_played_with_its_order(hermes, turns) -> None:
    broker = turns(Call("post", {"text": "x"}), Say("done"))
    order = TurnOrder(event="e", bounds=TurnBounds(tools=["voice"]))
    name = await broker.queue("later", order=order)
    assert (await broker.past("e")).state == "waiting"
    events = await played(broker.resume(name))
    assert ended(events).answer == "done"
    assert offered(broker.provider.requests[0]) == {"shout"}
    assert "posted" not in "".join(results(events))
    assert await played(broker.resume(name)) == []


@pytest.mark.parametrize(
    ("bounds", "there"),
    [
        (TurnBounds(never=[Effect.SEND]), {"shout"}),
        (TurnBounds(without=["voice"]), {"post"}),
        (TurnBounds(tools=["voice/shout", "voice/post"]), {"shout"}),
        (TurnBounds(tools=[]), set()),
        (TurnBounds(levels=0), {"shout", "post"}),
    ],
)
async def test_every_bound_on_tools_is_kept_in_the_store(turns, bounds, there) -> None:
    broker = turns(Say("done"))
    name = await broker.queue("later", order=TurnOrder(bounds=bounds))
    assert ended(await played(broker.resume(name))).answer == "done"
    assert offered(broker.provider.requests[0]) == there


async def test_what_waits_for_nobody_is_listed_and_given_up(turns) -> None:
    broker = turns()
    name = await broker.queue("later", order=TurnOrder(event="e"))
    assert list(await broker.interrupted()) == [name]
    assert await broker.interrupted(owner=Principal(person="someone")) == []
    assert await broker.drop(name) == ("", 1)
    assert await broker.interrupted() == []
    assert await played(broker.resume(name)) == []
    assert await broker.drop(name) == ("", 0)


async def test_a_turn_that_a_death_cut_off_is_given_up(hermes, turns, monkeypatch) -> None:
    broker = turns(Say("one"))
    name = ended(await played(broker.run("begin"))).session_id
    store = await hermes.runtime.store()
    asked = Message(role="user", parts=(Text(text="go"),))
    await store.journal.open_turn(name, asked, turn_id="t", holder="dead", provider="scripted", model="m")
    assert await broker.interrupted() == [], "who plays it may be alive"
    monkeypatch.setattr("hermes_atomic.processes.is_running", lambda pid: False)
    assert await broker.interrupted() == [name]
    assert await broker.drop(name) == ("t", 0)
    assert await broker.interrupted() == []
    assert (await store.journal.last_turn(name)).state == "interrupted"


async def test_a_bounded_turn_uses_no_other_tool_also_where_the_session_knows_it(hermes, turns) -> None:
    hermes.configure({"policy.mode": "off"})
    broker = turns(
        Say("hello"),
        Call("post", {"text": "x"}),
        Call("shout", {"text": "y"}),
        Say("end"),
        Call("post", {"text": "z"}),
        Say("."),
    )
    first = ended(await played(broker.run("begin")))
    bounds = TurnBounds(tools=["shout"])
    events = await played(broker.run("go", order=TurnOrder(session=first.session_id, bounds=bounds)))
    refused, done = results(events)
    assert "posted" not in refused
    assert "this turn may not use it" in refused
    assert done == "Y"
    assert offered(broker.provider.requests[1]) == offered(broker.provider.requests[0])  # the prefix stays
    free = await played(broker.run("again", order=TurnOrder(session=first.session_id)))
    assert results(free) == ["posted z"]  # bounds are of a turn, not of its session


@pytest.mark.parametrize(("mode", "bound", "asks"), [("off", "ask", True), ("ask", "off", True), ("off", "", False)])
async def test_a_bound_makes_the_mode_stricter_and_never_laxer(hermes, turns, mode, bound, asks) -> None:
    hermes.configure({"policy.mode": mode})
    broker = turns(Call("post", {"text": "x"}), Say("end"))
    put = []

    async def ask(question):
        put.append(question)
        return Verdict(outcome="deny", reason="no")

    order = TurnOrder(bounds=TurnBounds(mode=bound))
    events = await played(broker.run("go", order=order, ask=ask))
    assert bool(put) == asks
    assert ("posted x" in results(events)) != asks


async def test_a_denied_call_names_the_bound(hermes, turns) -> None:
    hermes.configure({"policy.mode": "off"})
    broker = turns(Call("post", {"text": "x"}), Say("end"))
    events = await played(broker.run("go", order=TurnOrder(bounds=TurnBounds(deny=["post"]))))
    assert "the rule 'post' in bounds forbids it" in results(events)[0]


async def test_calls_that_are_used_up_leave_a_last_word(hermes, turns) -> None:
    broker = turns(Call("shout", {"text": "a"}), Call("shout", {"text": "b"}), Say("that far"))
    events = await played(broker.run("go", order=TurnOrder(bounds=TurnBounds(calls=2))))
    assert (ended(events).answer, ended(events).reason) == ("that far", "done")
    assert broker.provider.requests[2].tools == ()


class Dear(Provider):
    """Calls a tool without end; each call costs ten tokens and a dollar."""

    name = "dear"
    asked = 0

    async def models(self):
        return [Model(name="dear-1")]

    async def ready(self) -> bool:
        return True

    async def stream(self, request):
        self.asked += 1
        yield CallDelta(index=0, id=f"c{self.asked}", name="shout", arguments="{}")
        yield UsageDelta(usage=Usage(input=8, output=2, cost=1.0, calls=1))
        yield Done(reason="tools")


@pytest.mark.parametrize("bounds", [TurnBounds(tokens=15), TurnBounds(money=1.5)])
async def test_tokens_and_money_end_a_turn_before_its_next_call(hermes, bounds) -> None:
    provider = Dear()
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(shout)
    label = hermes.tmp_plugin(on_session_start, name="nightly", manifest={"permissions": {"kernel": ["turns.run"]}})
    broker = hermes.runtime.plugin_context(hermes.runtime.index.get(label)).turns
    events = await played(broker.run("go", order=TurnOrder(bounds=bounds)))
    assert ended(events).reason == "failed"
    assert "that it was given" in failure(events)
    assert provider.asked == 2


async def test_its_seconds_end_a_turn_that_hangs(hermes, turns) -> None:
    @tool(name="hang", touches=lambda _params: ())
    async def hang(params: Words) -> str:
        """Hang."""
        await asyncio.Event().wait()
        return ""

    hermes.tmp_plugin(hang, name="hanging")
    broker = turns(Call("hang"), Say("next"))
    events = await played(broker.run("go", order=TurnOrder(bounds=TurnBounds(seconds=0.2))))
    assert ended(events).reason == "failed"
    assert "0.2 seconds" in failure(events)
    after = await played(broker.run("again", order=TurnOrder(session=ended(events).session_id)))
    assert ended(after).reason == "done"


async def test_an_order_that_cannot_be_kept_is_refused_before_anything_is_stored(hermes, turns) -> None:
    broker = turns()
    for wrong in (
        TurnOrder(session="a", fork="b"),
        TurnOrder(session="a", folder="/tmp"),
        TurnOrder(deliver="telegram:1"),
        TurnOrder(deliver="local"),
    ):
        with pytest.raises(UserError):
            await played(broker.run("go", order=wrong))
    with pytest.raises(UnknownName):
        await played(broker.run("go", order=TurnOrder(fork="nothing")))
    assert not await (await hermes.runtime.store()).sessions.list(hermes.runtime.owner)


@pytest.mark.parametrize(
    "order",
    [
        TurnOrder(bounds=TurnBounds(mode="bogus")),
        TurnOrder(bounds=TurnBounds(deny="terminal")),
        TurnOrder(bounds=TurnBounds(tools="web")),
        TurnOrder(bounds=TurnBounds(money=float("nan"))),
        TurnOrder(bounds=TurnBounds(calls=-1)),
        TurnOrder(bounds=TurnBounds(calls="3")),
        TurnOrder(effort="enormous"),
        TurnOrder(folder="relative"),
        TurnOrder(folder="/\0"),
    ],
    ids=str,
)
async def test_nonsense_in_an_order_is_refused_and_never_taken_for_no_bound(hermes, turns, order) -> None:
    broker = turns()
    with pytest.raises(UserError, match="That order cannot be kept"):
        await broker.queue("hello", order=order)
    assert await (await hermes.runtime.store()).sessions.list(hermes.runtime.owner, limit=9) == []


async def test_an_event_is_of_one_person(turns) -> None:
    broker, bob = turns("mine", "his"), Principal(person="bob")
    order = TurnOrder(event="day")
    assert ended(await played(broker.run("hello", order=order))).answer == "mine"
    assert ended(await played(broker.run("hello", order=order, owner=bob))).answer == "his"
    assert (await broker.past("day")).session_id != (await broker.past("day", owner=bob)).session_id


async def test_an_event_that_came_before_leaves_no_fork(hermes, turns) -> None:
    broker = turns("one", "two")
    source = ended(await played(broker.run("hello"))).session_id
    order = TurnOrder(fork=source, event="e")
    await asyncio.gather(*(played(broker.run("hi", order=order)) for _ in range(10)))
    assert len(await (await hermes.runtime.store()).sessions.list(hermes.runtime.owner, limit=99)) == 2


async def test_a_session_of_somebody_else_is_unknown(turns) -> None:
    broker = turns("one")
    mine = ended(await played(broker.run("hello"))).session_id
    with pytest.raises(UnknownName):
        await played(broker.run("hi", order=TurnOrder(session=mine), owner=Principal(person="bob")))


async def test_the_sessions_of_one_person_are_not_there_for_another(hermes, turns) -> None:
    broker = turns(Say("one"))
    mine = ended(await played(broker.run("begin"))).session_id
    stranger = Principal(person="someone")
    for ask in (
        broker.busy(mine, owner=stranger),
        broker.interrupt(mine, owner=stranger),
        broker.drop(mine, owner=stranger),
    ):
        with pytest.raises(UnknownName):
            await ask
    with pytest.raises(UnknownName):
        await broker.steer(mine, "x", owner=stranger)
    with pytest.raises(UnknownName):
        await played(broker.resume(mine, owner=stranger))
    with pytest.raises(UnknownName):
        await played(broker.run("go", order=TurnOrder(fork=mine), owner=stranger))
    with pytest.raises(UserError):
        await played(broker.run("go", order=TurnOrder(session=mine), owner=stranger))
    assert await said(hermes, mine) == ["begin", "one"]


async def test_a_plugin_has_it_in_its_context_and_can_steer_and_stop(hermes, turns) -> None:
    @tool(name="wait", touches=lambda _params: ())
    async def wait(params: Words) -> str:
        """Wait."""
        await asyncio.Event().wait()
        return ""

    hermes.tmp_plugin(wait, name="waiting")
    broker = turns(Call("wait"))
    events = []
    async for event in broker.run("go", order=TurnOrder(session="s")):
        events.append(event)
        if isinstance(event, Started):
            assert await broker.busy("s")
            await broker.steer("s", "quicker")
        if isinstance(event, Called):
            assert await broker.interrupt("s")
    assert ended(events).reason == "interrupted"
    assert not await broker.busy("s")


async def test_a_plugin_finds_them_in_its_context(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted(Say("hello"), Say("beside")))

    @hookimpl
    async def on_turn_end(ctx, session, end) -> None:
        if session.origin != "nightly":
            ctx.state["past"] = [event async for event in ctx.turns.run("and you?", order=TurnOrder(event=session.id))]
            found.extend(ctx.state["past"])

    found: list[object] = []
    hermes.tmp_plugin(on_turn_end, name="nightly", manifest={"permissions": {"kernel": ["turns.run"]}})
    await hermes.run("hi")
    assert ended(found).answer == "beside"


async def test_whoever_orders_is_told_the_session_once_it_is_written_down(turns) -> None:
    made, told = turns("Hello."), []

    async def stored(session: str) -> None:
        told.append((session, (await made.past("e1")).state))

    events = await played(made.run("Hi.", order=TurnOrder(event="e1"), stored=stored))
    assert told == [(ended(events).session_id, "waiting")]


async def test_what_became_of_an_event_can_be_asked_and_forgotten(hermes, turns) -> None:
    made, bob = turns("One.", kernel=("turns.run", "sessions.write")), Principal(person="bob")
    assert await made.past("e1") is None
    end = ended(await played(made.run("a", order=TurnOrder(event="e1"))))
    past = await made.past("e1")
    assert (past.state, past.answer, past.turn_id, past.last) == ("done", "One.", end.turn_id, True)
    assert past.usage.output == 1
    assert not await made.forget("e1", owner=bob)
    assert await made.forget("e1")
    assert await made.past("e1") is None
    assert await said(hermes, end.session_id) == ["a", "One."]


async def test_what_waits_and_is_forgotten_is_not_played(turns) -> None:
    made = turns(kernel=("turns.run", "sessions.write"))
    session = await made.queue("a", order=TurnOrder(event="e1"))
    assert await made.forget("e1")
    assert await played(made.resume(session)) == []


async def test_a_turn_that_runs_is_not_forgotten(hermes, turns) -> None:
    @tool(toolset="clock")
    async def wait() -> str:
        """Wait."""
        await asyncio.Event().wait()
        return ""

    hermes.tmp_plugin(wait)
    made = turns(Call("wait"), kernel=("turns.run", "sessions.write"))
    turn = made.run("a", order=TurnOrder(event="e1"))
    async for event in turn:
        if isinstance(event, Called):
            break
    with pytest.raises(UserError, match="not over"):
        await made.forget("e1")
    await turn.aclose()
    assert (await made.past("e1")).state == "interrupted"


async def test_forgetting_needs_the_permission_to_change_conversations(turns) -> None:
    with pytest.raises(NotPermitted):
        await turns().forget("e1")


async def test_a_callers_system_message_is_in_the_prompt_for_good(turns) -> None:
    made = turns("Arr.", "Oui.")
    first = ended(await played(made.run("a", order=TurnOrder(system="Talk like a pirate."))))
    await played(made.run("b", order=TurnOrder(session=first.session_id, system="Talk French.")))
    prompts = [request.messages[0].parts[0].text for request in made.provider.requests]
    assert "Talk like a pirate." in prompts[0]
    assert prompts[0] == prompts[1]
    told = "".join(part.text for part in made.provider.requests[1].messages[-1].parts)
    assert told == "<instructions>\nTalk French.\n</instructions>\n\nb"


async def test_each_model_call_says_what_it_used(turns) -> None:
    events = await played(turns("hello").run("hi"))
    (used,) = [event for event in events if isinstance(event, Used)]
    assert used.usage.calls == 1
    assert used.usage == ended(events).usage
    assert used.context == used.usage.input + used.usage.output


async def test_a_plugin_says_one_line_to_the_person_of_the_turn(hermes, turns) -> None:
    @hookimpl
    async def transform_incoming(ctx, envelope, cwd, context) -> None:
        ctx.tell(f"too\nlong for {cwd or 'nowhere'} and {context}")

    hermes.tmp_plugin(transform_incoming, name="narrow")
    made = turns("hello")
    events = [event async for event in hermes.runtime.turns.run("hi")]
    assert "too long for" in next(event.text for event in events if isinstance(event, Noticed))
    assert made.provider.requests


# --- what a plugin stores with the end of a turn


NOTEBOOK = Path(__file__).parents[2] / "docs" / "hello" / "tables" / "src" / "hermes_tool_notebook" / "migrations"
NOTES = sa.Table("tool_notebook__notes", sa.MetaData(), *(sa.Column(name) for name in ("owner", "text", "pinned")))


@hookimpl
def register_migrations():
    return [Migration(folder=NOTEBOOK, head="0002")]


@pytest.fixture
def notebook(hermes, scripted):
    """The context of a plugin that orders turns, and keeps what they said in a table of its own."""

    def make(*steps):
        hermes.tmp_plugin(scripted(*steps))
        allowed = {"permissions": {"kernel": ["turns.run", "store.tables"]}}
        label = hermes.tmp_plugin(on_session_start, register_migrations, name="notebook", manifest=allowed)
        hermes.runtime.load_hooks()
        return hermes.runtime.plugin_context(hermes.runtime.index.get(label))

    return make


def noting(ctx, word=""):
    async def ends(result):
        note = sa.insert(NOTES).values(owner=result.state, text=result.answer, pinned=False)

        def work(tx):
            tx.execute(note)
            if word:
                raise UserError(word)

        return await ctx.store.prepare(work)

    return ends


async def notes(ctx):
    rows = await ctx.store.transact(lambda tx: tx.execute(sa.select(NOTES)), READ)
    return [(row["owner"], row["text"]) for row in rows]


async def test_what_a_plugin_stores_of_a_turn_is_stored_with_its_end(notebook) -> None:
    ctx = notebook("It rains.")
    assert ended(await played(ctx.turns.run("weather?", ends=noting(ctx)))).answer == "It rains."
    assert await notes(ctx) == [("done", "It rains.")]


async def test_a_turn_whose_end_cannot_be_stored_has_not_ended_and_goes_on(notebook) -> None:
    ctx = notebook("It rains.")
    order = TurnOrder(event="today")
    failed = await played(ctx.turns.run("weather?", order=order, ends=noting(ctx, "The notebook is full.")))
    assert ended(failed).reason == "failed"
    assert "The notebook is full." in failure(failed)
    assert await notes(ctx) == []
    past = await ctx.turns.past("today")
    assert past.state in ("open", "cut")
    again = await played(ctx.turns.resume(past.session_id, ends=noting(ctx)))
    assert ended(again).answer == "It rains."
    assert await notes(ctx) == [("done", "It rains.")]


async def listed(hermes, **more):
    rows = await (await hermes.runtime.store()).sessions.list(hermes.runtime.owner, **more)
    return {row.session.id for row in rows}


async def found(hermes, words, **more):
    hits = await (await hermes.runtime.store()).history.search(hermes.runtime.owner, words, **more)
    return {hit.session_id for hit in hits}


@pytest.mark.parametrize("how", ["new", "named", "fork"])
async def test_a_hidden_turn_stands_in_no_list_and_no_search_that_does_not_ask(hermes, turns, how) -> None:
    broker = turns("one", "two", "three")
    seen = ended(await played(broker.run("about herons"))).session_id
    order = {"new": {}, "named": {"session": "mine"}, "fork": {"fork": seen}}[how]
    hidden = ended(await played(broker.run("about egrets", order=TurnOrder(hidden=True, **order)))).session_id
    again = ended(await played(broker.run("more", order=TurnOrder(session=hidden, hidden=True)))).session_id
    assert (hidden, again) == ("mine" if how == "named" else hidden, hidden)
    assert await listed(hermes) == {seen}
    assert await listed(hermes, children=True) == await listed(hermes, origin="nightly") == {seen, hidden}
    assert await found(hermes, "egrets") == set()
    assert await found(hermes, "egrets", children=True) == {hidden}
    owner, store = hermes.runtime.owner, await hermes.runtime.store()
    assert (await store.sessions.find("latest", owner)).id == seen
    session = await store.sessions.get(hidden, owner)
    assert (session.origin, session.parent) == ("nightly", "tool/nightly")


async def test_hidden_ones_take_no_place_of_what_a_search_may_find(hermes, turns) -> None:
    broker = turns("one", "two", "three")
    seen = ended(await played(broker.run("about herons"))).session_id
    for _ in range(2):
        await played(broker.run("about herons", order=TurnOrder(hidden=True)))
    assert await found(hermes, "herons", limit=1) == {seen}


async def test_a_hidden_turn_that_a_death_cut_off_is_gone_on_with(hermes, turns) -> None:
    broker = turns("one")
    session = await broker.queue("later", order=TurnOrder(hidden=True))
    assert list(await broker.interrupted()) == [session]
    assert ended(await played(broker.resume(session))).answer == "one"
    assert await listed(hermes) == set()


async def test_hiding_a_turn_hides_no_session_that_was_there(hermes, turns) -> None:
    broker = turns("one", "two")
    seen = ended(await played(broker.run("hello"))).session_id
    await played(broker.run("more", order=TurnOrder(session=seen, hidden=True)))
    assert await listed(hermes) == {seen}


GRANTED = ("turns.run", "approvals.settle")
POST = [Call("post", {"text": "it"})]


async def test_what_a_turn_is_granted_holds_for_it_alone(turns) -> None:
    broker = turns(POST, "one", POST, "two", kernel=GRANTED)
    order = TurnOrder(session="s", bounds=TurnBounds(grants=["post(*)"]))
    assert results(await played(broker.run("go", order=order))) == ["posted it"]
    [no] = results(await played(broker.run("again", order=TurnOrder(session="s"))))
    assert "needs a person's yes" in no


async def test_a_grant_is_of_the_calls_that_it_names(turns) -> None:
    broker = turns([Call("post", {"text": "that"})], "one", kernel=GRANTED)
    [no] = results(await played(broker.run("go", order=TurnOrder(bounds=TurnBounds(grants=["post(text=it)"])))))
    assert "needs a person's yes" in no


@pytest.mark.parametrize("how", ["run", "queue"])
async def test_who_grants_something_may_settle_approvals(hermes, turns, how) -> None:
    broker, order = turns(), TurnOrder(bounds=TurnBounds(grants=["post"]))
    with pytest.raises(NotPermitted, match=r"approvals\.settle"):
        await (broker.queue("go", order=order) if how == "queue" else played(broker.run("go", order=order)))
    assert await listed(hermes) == set()


async def test_a_grant_survives_with_its_order(hermes, turns) -> None:
    broker = turns(POST, "one", kernel=GRANTED)
    name = await broker.queue("later", order=TurnOrder(bounds=TurnBounds(grants=["post"])))
    assert results(await played(hermes.runtime.turns.follow(name))) == ["posted it"]


async def test_a_grant_lifts_no_rule_that_denies(hermes, turns) -> None:
    hermes.configure({"policy.deny": ["post"]})
    broker = turns(POST, "one", kernel=GRANTED)
    [no] = results(await played(broker.run("go", order=TurnOrder(bounds=TurnBounds(grants=["*"])))))
    assert "policy.deny forbids it" in no


async def test_a_grant_opens_nothing_that_text_from_outside_closes(turns) -> None:
    broker = turns(POST, "one", kernel=GRANTED)
    outside = Message(role="user", parts=(Text(text="post it"),), untrusted=True)
    [no] = results(await played(broker.run(outside, order=TurnOrder(bounds=TurnBounds(grants=["post"])))))
    assert "text from outside" in no


async def test_a_guests_turn_is_granted_nothing(turns) -> None:
    broker, order = turns(kernel=GRANTED), TurnOrder(bounds=TurnBounds(grants=["post"]))
    with pytest.raises(UserError, match="guest"):
        await broker.queue("go", order=order, owner=Principal(person="bob"))


class Box(Mailbox):
    """Chats that can be asked: what was put to them is kept."""

    name = "box"

    def __init__(self) -> None:
        self.put, self.trouble, self.told = [], [], asyncio.Event()

    async def targets(self, owner):
        return []

    async def find(self, owner, target, session=None):
        if target != "box:anna":
            raise UnknownName("target", target)
        return [Target(address=target)]

    async def send(self, owner, target, message, session=None, key=""):
        return []

    async def ending(self, owner, target, message, turn_id):
        return lambda tx: None

    async def ask(self, owner, target, question):
        if self.trouble:
            raise self.trouble.pop()
        self.put.append((target, question))
        self.told.set()

    async def named(self, word, owner):
        return []

    async def sent(self, trace, turn_id, owner):
        return []


@pytest.fixture
def box(hermes, monkeypatch):
    monkeypatch.setattr("hermes_core.agent.ordered._AGAIN", 0.01)
    hermes.configure({"policy.ask_seconds": 0.05})
    hermes.tmp_plugin(made := Box())
    return made


ASKS = TurnOrder(session="s", ask="box:anna")


async def test_a_question_is_put_to_the_target_and_waits_without_a_deadline(hermes, turns, box) -> None:
    broker = turns(POST, "one")
    box.trouble.append(UserError("Nothing can be delivered there."))  # it is tried again
    turn = asyncio.create_task(played(broker.run("go", order=ASKS)))
    await asyncio.wait_for(box.told.wait(), 20)
    await asyncio.wait([turn], timeout=0.2)  # longer than a person of the turn would have
    assert not turn.done()
    [(target, question)] = box.put
    store = await hermes.runtime.store()
    [row] = await store.approvals.list(hermes.runtime.owner)
    assert (target, row.id, row.session_id) == ("box:anna", question.id, "s")
    await store.approvals.settle(hermes.runtime.owner, row.id, Verdict(outcome="allow", by="elsewhere"))
    assert results(await asyncio.wait_for(turn, 20)) == ["posted it"]
    assert len(box.put) == 1


async def test_a_queued_turn_asks_where_its_order_says(hermes, turns, box) -> None:
    name = await turns(POST, "one").queue("later", order=ASKS)
    turn = asyncio.create_task(played(hermes.runtime.turns.follow(name)))
    await asyncio.wait_for(box.told.wait(), 20)
    store = await hermes.runtime.store()
    no = Verdict(outcome="deny", by="elsewhere", reason="not today")
    await store.approvals.settle(hermes.runtime.owner, box.put[0][1].id, no)
    [refused] = results(await asyncio.wait_for(turn, 20))
    assert "not today" in refused


async def test_a_person_who_is_there_is_asked_instead(turns, box) -> None:
    async def person(question):
        return Verdict(outcome="allow", choice="once")

    assert results(await played(turns(POST, "one").run("go", order=ASKS, ask=person))) == ["posted it"]
    assert box.put == []


async def test_a_person_who_left_leaves_it_to_the_target(hermes, turns, box) -> None:
    async def person(question):
        return None

    turn = asyncio.create_task(played(turns(POST, "one").run("go", order=ASKS, ask=person)))
    await asyncio.wait_for(box.told.wait(), 20)
    store = await hermes.runtime.store()
    await store.approvals.settle(hermes.runtime.owner, box.put[0][1].id, Verdict(outcome="allow"))
    assert results(await asyncio.wait_for(turn, 20)) == ["posted it"]


@pytest.mark.parametrize("target", ["box:nobody", "local"])
async def test_a_target_that_nobody_can_ask_is_refused_when_it_is_ordered(hermes, turns, box, target) -> None:
    with pytest.raises(UserError):
        await turns().queue("go", order=TurnOrder(ask=target))
    assert await listed(hermes) == set()


async def test_where_nobody_sends_a_target_is_refused_when_it_is_ordered(hermes, turns) -> None:
    with pytest.raises(UserError, match="no gateway"):
        await turns().queue("go", order=ASKS)
    assert await listed(hermes) == set()
