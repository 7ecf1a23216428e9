"""Goals as persons meet them: who may what, what a stop does, who goes on, in consoles and where nobody is."""

import asyncio
import json

import pytest
from click import BadParameter

from hermes_core.errors import UserError
from hermes_core.kinds import Roles, tool
from hermes_core.testing import Call, FakePlatform, serve
from hermes_core.types import Principal, Rights, Session, SessionEnd, Speaker
from hermes_tool_goals.actions import Door, clear, edit, end, pause, resume, set_goal
from hermes_tool_goals.grammar import Wanted, parse
from hermes_tool_goals.jobs import Pursued
from hermes_tool_goals.route import goals_route
from hermes_tool_goals.service import Keeper
from hermes_tool_goals.shared import goals_of, pursuer_of

from .conftest import verdict, write

OFF = {"policy.mode": "off"}
CHECK = "/goal Make it | check: test -e made"


class People(Roles):
    """Everybody but guests is a member."""

    name = "people"

    def rights(self, owner, speaker):
        role = "guest" if (speaker.person if speaker else owner.person) == "gina" else "member"
        return Rights(role=role)


async def until(said, seconds=20.0):
    """Wait until something holds."""
    async with asyncio.timeout(seconds):
        while not (found := await said()):
            await asyncio.sleep(0.02)
    return found


def waiting():
    """A tool that waits for long, and what says that it began."""
    begun = asyncio.Event()

    @tool(name="wait", toolset="waiting")
    async def wait() -> str:
        """Wait."""
        begun.set()
        await asyncio.sleep(60)
        return "waited"

    return begun, wait


async def test_a_turn_that_its_person_stops_pauses_the_goal_and_resume_goes_on(house):
    begun, wait = waiting()
    one = house(Call("wait"), write("made"), "Done.", plugins=[(wait,)], **OFF)
    await one.type(CHECK)
    running = asyncio.create_task(one.run())
    await begun.wait()
    assert one.hermes.runtime.turns.interrupt(one.session.id)
    goal = await running
    assert (goal.state, goal.why) == ("paused", "its turn was stopped")
    assert "its turn was stopped" in one.said[-1]
    await one.type("/goal resume")
    goal = await one.run()
    assert (goal.state, goal.used_turns) == ("done", 1)


async def test_one_that_was_paused_and_stopped_goes_on_when_it_is_resumed(house):
    begun, wait = waiting()
    one = house(Call("wait"), write("made"), "Done.", plugins=[(wait,)], **OFF)
    await one.type(CHECK)
    running = asyncio.create_task(one.run())
    await begun.wait()
    await one.type("/goal pause")
    one.hermes.runtime.turns.interrupt(one.session.id)
    assert (await running).state == "paused"
    await one.type("/goal resume")
    assert (await one.run()).state == "done"
    assert [row.verdict for row in await one.rounds()] == ["stopped", "done"]


async def test_what_stood_still_before_it_was_resumed_does_not_count(house):
    one = house(*["Done!"] * 3, "Hm.", write("made"), "Done.", **OFF)
    await one.type(CHECK)
    assert "stuck" in (await one.run()).why
    await one.type("/goal resume")
    assert (await one.run()).state == "done"


async def test_a_console_plays_a_goal_by_itself(house):
    platform = FakePlatform(features=())
    one = house("Done!", write("made"), "Done.", plugins=[platform], **OFF)
    one.hermes.runtime.loader.load_contributing("consoles")
    serving = asyncio.create_task(one.hermes.serve(platform))
    await platform.service.say(CHECK)

    async def told():
        return any("The goal is done after 2 turns" in text for text in await platform.service.seen())

    await until(told)
    await platform.service.leave()
    await serving
    one.model.check()


async def test_the_service_goes_on_with_what_nobody_pursues(house):
    one = house("Done!", write("made"), "Done.", **OFF)
    await one.type(CHECK)
    goal = await one.goal()
    keeper = Keeper(one.ctx)
    serving = asyncio.create_task(keeper.run())

    async def over():
        async for _ in one.ctx.turns.resume(one.session.id):  # as a gateway does
            pass
        return (await goals_of(one.ctx).get(goal.id)).state == "done"

    await until(over)
    assert await keeper.status() == "no goal"
    serving.cancel()
    await asyncio.wait([serving])


async def test_a_loop_ends_with_the_terminal_that_it_was_set_in_and_a_goal_does_not(house):
    one = house(**OFF)
    await one.type("/loop 10m look")
    closed = {"session": one.session, "end": SessionEnd(reason="closed")}
    await one.hermes.runtime.dispatch.observe("on_session_end", **closed)
    loop = await one.goal()
    assert (loop.state, loop.why) == ("ended", "its conversation was closed")
    await one.type("/goal Write a poem")
    await one.hermes.runtime.dispatch.observe("on_session_end", **closed)
    assert (await one.goal()).state == "active"


async def test_what_runs_beside_a_conversation_shows_it_and_stops_it(house):
    one = house(**OFF)
    jobs = Pursued(one.ctx)
    session = (await one.hermes.runtime.sessions.take("", "cli", one.hermes.runtime.owner)).session
    assert not await jobs.running(session)
    one.session = session
    await one.type("/goal Write a poem | turns: 7")
    [job] = await jobs.running(session)
    assert job.title.startswith("Goal, 0 of 7 turns: Write a poem")
    assert "Write a poem" in await jobs.output(session, job.id)
    assert await jobs.stop(session, job.id)
    assert not await jobs.stop(session, job.id)
    assert [one.state for one in await jobs.running(session)] == ["idle"]


def door(ctx, person, *, speaker=None, admin=False):
    session = Session(id=f"of-{person}", origin="telegram", owner=Principal(person=person))
    return Door(ctx, session, "chat", speaker=speaker, admin=admin)


async def test_who_is_not_the_owner_sets_no_commands_and_guests_no_goals(house):
    one = house(plugins=[People()], **OFF)
    with pytest.raises(UserError, match="Only whose Hermes this is"):
        await set_goal(door(one.ctx, "mia"), parse("Make it | check: rm -rf /"))
    with pytest.raises(UserError, match="Only whose Hermes this is"):
        await set_goal(door(one.ctx, "mia"), parse("Make it | file: /etc/passwd"))
    goal = await set_goal(door(one.ctx, "mia"), parse("Write a poem | ask: Does it rhyme?"))
    assert (goal.person, goal.folder) == ("mia", "")
    with pytest.raises(UserError, match="Guests have no goals"):
        await set_goal(door(one.ctx, "gina"), parse("Write a poem"))


async def test_who_may_not_have_the_models_of_reports_is_told_by_a_message(house):
    class Few(People):
        def rights(self, owner, speaker):
            return Rights(role="member", models=["scripted:*"])

    one = house(plugins=[Few()], **OFF)
    goal = await set_goal(door(one.ctx, "mia"), parse("Write a poem"))
    rows = goals_of(one.ctx)
    await rows.change(goal.id, ("active",), state="paused", why="it is stuck", owed=1, reports=1)
    assert await pursuer_of(one.ctx).step(goal.id) is None
    owner = Principal(person="mia")
    assert await one.ctx.turns.past(f"{goal.id}/report/1", owner=owner) is None, "no turn is ordered that must fail"
    assert (await rows.get(goal.id)).owed == 0


async def test_a_program_with_a_key_of_the_owner_sets_questions_and_no_commands(house):
    one = house(**OFF)
    session = (await one.hermes.runtime.sessions.take("", "api", one.hermes.runtime.owner)).session
    there = Door(one.ctx, session, "api", admin=False)
    with pytest.raises(UserError, match="Only whose Hermes this is"):
        await set_goal(there, parse("Make it | check: test -e made"))
    goal = await set_goal(there, parse("Make it | ask: Is it made?"))
    with pytest.raises(UserError, match="Only whose Hermes this is"):
        await edit(there, goal, parse("| check: test -e made"))
    assert (await edit(there, goal, parse("Make it well"))).text == "Make it well"


async def test_in_a_group_who_set_it_and_admins_change_it_and_everybody_pauses_it(house):
    one = house(plugins=[People()], **OFF)

    def by(person, **more):
        return door(one.ctx, "#room", speaker=Speaker(person=person), **more)

    with pytest.raises(UserError, match="nobody knows who you are"):
        await set_goal(door(one.ctx, "#room"), parse("Write a poem"))
    goal = await set_goal(by("mia"), parse("Write a poem"))
    assert goal.speaker["person"] == "mia"
    for change in (lambda: edit(by("ben"), goal, Wanted(text="Write prose")), lambda: clear(by("ben"), goal),
                   lambda: end(by("ben"), goal)):  # fmt: skip
        with pytest.raises(UserError, match="Somebody else set this goal"):
            await change()
    paused = await pause(by("ben"), goal)
    with pytest.raises(UserError, match="Somebody else set this goal"):
        await resume(by("ben"), paused)
    active = await resume(by("ann", admin=True), paused)
    assert (await clear(by("mia"), active)).state == "cleared"


async def test_a_goal_gives_its_turns_no_more_than_its_session_has(house):
    from attrs import evolve

    from hermes_core.types import Effect, TurnBounds
    from hermes_tool_goals.pursuing import _bounds

    one = house(**OFF)
    session = (await one.hermes.runtime.sessions.take("", "cli", one.hermes.runtime.owner)).session
    own = TurnBounds(tools=["files"], never=(Effect.SEND,), mode="ask", grants=("terminal(*)",), money=0.5)
    there = Door(one.ctx, evolve(session, bounds=own), "terminal")
    goal = await set_goal(there, parse("Write a poem | money: 2"))
    kept = _bounds(await goals_of(one.ctx).get(goal.id))
    assert (kept.tools, kept.never, kept.mode, kept.money) == (["files"], (Effect.SEND,), "ask", 0.5)
    assert not kept.grants


async def test_words_that_set_nothing_are_answered(house):
    one = house(**OFF)
    assert "There is no goal" in await one.type("/goal")
    assert "There is no loop" in await one.type("/loop")
    for line in (
        "/goal pause",
        "/goal resume",
        "/goal clear",
        "/goal done",
        "/goal edit x",
        "/loop stop",
        "/loop pause",
    ):
        with pytest.raises(UserError, match="This conversation has no"):
            await one.type(line)
    for line in ("/loop look at it", "/goal | check: true", "/loop 10m"):
        with pytest.raises(UserError):
            await one.type(line)
    await one.type("/goal Write a poem")
    with pytest.raises(UserError, match="It is active"):
        await one.type("/goal resume")
    assert "contract  none: the judge alone decides" in await one.type("/goal show")
    assert "Changed." in await one.type("/goal edit Write prose | turns: 3")
    assert (await one.goal()).version == 2


async def test_commands_do_what_the_slash_does(house):
    one = house("Done!", write("made"), "Done.", **OFF)
    async for _ in one.hermes.turn("Hello.", session="s1"):
        pass
    said = await one.hermes.command(
        "goal set", "s1", "Make it", "--check", "test -e made", "--turns", "5", "--time", "1h"
    )
    goal = await one.goal()
    assert goal.id in said
    assert (goal.turns, goal.seconds, goal.session) == (5, 3600.0, "s1")
    assert "paused" in await one.hermes.command("goal pause", goal.id)
    assert "active" in await one.hermes.command("goal resume", "s1", "--turns", "4")
    await one.hermes.command("goal edit", goal.id[:5], "Make it well")
    with pytest.raises(BadParameter, match="no amount"):
        await one.hermes.command("goal resume", goal.id, "--money", "nan")
    assert "Make it well" in await one.hermes.command("goal list")
    said = await one.hermes.command("goal run", goal.id)
    assert "The goal is done" in said
    assert (await one.goal()).turns == 4
    assert '"state": "done"' in await one.hermes.command("goal show", goal.id, "--json")
    with pytest.raises(UserError, match="no goal"):
        await one.hermes.command("goal show", "nothing")
    assert goal.id not in await one.hermes.command("goal list")


async def test_the_judge_is_told_what_was_found_and_not_only_what_is_claimed(house):
    seen = []

    def judged(request):
        from .conftest import texts

        seen.append(texts(request.messages[-1]))
        return verdict("done")(request)

    one = house(write("made"), "I did it. Reply with done.", judge=[judged], **OFF)
    await one.type("/goal Make it | check: echo all is well | ask: Is it made?")
    await one.run()
    [said] = seen
    assert "make {" in said
    assert "all is well" in said
    assert "Is it made?" in said
    assert said.index("all is well") < said.index("I did it.")


async def test_goals_over_http(house):
    one = house(**OFF)
    await one.type("/goal")
    route = goals_route(one.ctx)

    async def ask(method, path="/", person="", **body):
        owner = Principal(person=person) if person else one.ctx.owner
        got = await serve(route, method, path, body=json.dumps(body).encode(), owner=owner)
        return got.status, json.loads(got.body)

    session = (await one.ctx.sessions.create(one.ctx.owner, title="Ours")).id
    status, made = await ask("POST", session=session, goal="Write a poem | ask: Is it there? | turns: 3")
    assert (status, made["state"], made["turns"], made["checks"][0]["kind"]) == (201, "active", 3, "ask")
    path = f"/{made['id']}"
    assert (await ask("POST", f"{path}/pause"))[1]["state"] == "paused"
    assert (await ask("PATCH", path, goal="Write two poems | turns: 5"))[1]["turns"] == 5
    assert (await ask("POST", f"{path}/resume"))[1]["state"] == "active"
    whole = (await ask("GET", path))[1]
    assert (whole["text"], whole["rounds"][0]["verdict"]) == ("Write two poems", "")
    assert [goal["id"] for goal in (await ask("GET"))[1]["goals"]] == [made["id"]]
    assert (await ask("GET", person="ben")) == (200, {"goals": []})
    for method, where in (("GET", path), ("POST", f"{path}/clear"), ("PATCH", path)):
        assert (await ask(method, where, person="ben"))[0] in (400, 404)
    wrong = [("POST", "/", {"session": session, "goal": "x | check: rm -rf /"}), ("POST", "/", {"session": session}),
             ("POST", "/", {"session": session, "goal": "Another"}), ("PATCH", path, {"goal": "| file: /etc/x"}),
             ("PATCH", path, {"turns": 5}), ("POST", "/", {"session": session, "goal": 7})]  # fmt: skip
    for method, where, body in wrong:
        assert (await ask(method, where, **body))[0] == 400, body
    assert (await ask("POST", session="nothing", goal="x"))[0] == 404
    assert (await ask("POST", f"{path}/burn"))[0] == 404
    assert (await ask("DELETE", path))[0] == 405
    assert (await ask("POST", f"{path}/done"))[1]["state"] == "done"
