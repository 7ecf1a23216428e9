"""The whole screen over a real kernel: said, answered, asked, stopped, left."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from textual.screen import ModalScreen

from hermes_core.agent.route.routes import ModelRoutes
from hermes_core.errors import HermesError
from hermes_core.kinds import Jobs, ToolContext, tool
from hermes_core.testing import Bench, Call
from hermes_core.types import Effect, Job, Message, Session, Text
from hermes_platform_tui.config import Config
from hermes_platform_tui.tabs import TabRow
from hermes_platform_tui.terminal.clipboard import Clipboard, Copied

from .stage import home_of, stage


def said(role: Any, text: str) -> Message:
    return Message(role=role, parts=(Text(text=text),))


async def kept(hermes: Bench, *messages: Message, title: str = "") -> Session:
    """A session of before."""
    runtime = hermes.runtime
    state = await runtime.sessions.take("", "tui", runtime.owner)
    await runtime.sessions.keep(state, await runtime.store(), messages)
    session = await runtime.sessions.rename(state.session, title) if title else state.session
    await runtime.sessions.forget(session.id)
    return session


async def test_what_is_typed_is_said_and_the_answer_is_shown(hermes: Bench, scripted: Any) -> None:
    hermes.tmp_plugin(scripted("It is *sunny*."))
    async with stage(hermes) as screen:
        await screen.type("How is the weather?", "enter")
        await screen.until(lambda: screen.says("model: It is *sunny*."))
        await screen.rest()
        assert "person: How is the weather?" in screen.shown()
        assert screen.view.composer.text == ""
        assert screen.view.facts.model == "scripted-1"
        assert screen.view.facts.output_tokens > 0


async def test_alt_c_in_the_composer_copies_the_last_answer(
    hermes: Bench, scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []

    async def copy(_: Clipboard, text: str) -> Copied:
        given.append(text)
        return Copied(way="program", note="Copied.")

    monkeypatch.setattr(Clipboard, "copy", copy)
    hermes.tmp_plugin(scripted("It is *sunny*."))
    async with stage(hermes) as screen:
        await screen.type("How is the weather?", "enter")
        await screen.until(lambda: screen.says("model: It is *sunny*."))
        await screen.rest()
        await screen.type("kept")
        async with asyncio.timeout(10):
            while not given:  # the page is drawn a moment after what it shows is known
                await screen.press("alt+c")
        assert set(given) == {"It is *sunny*."}
        assert screen.view.composer.text == "kept"


async def test_typing_works_before_anybody_can_answer_and_is_not_lost(
    hermes: Bench, scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hermes.tmp_plugin(scripted("At last."))
    ready, routed = asyncio.Event(), ModelRoutes.get

    async def late(self: ModelRoutes, words: str = "") -> Any:
        await ready.wait()
        return await routed(self, words)

    monkeypatch.setattr(ModelRoutes, "get", late)
    async with stage(hermes) as screen:
        await screen.press(*"Hello", "enter")
        assert "person: Hello" in screen.shown()
        ready.set()
        await screen.until(lambda: screen.says("model: At last."))
        await screen.rest()


async def test_what_is_typed_before_the_first_frame_is_not_lost(hermes: Bench, scripted: Any) -> None:
    hermes.tmp_plugin(scripted("Yes."))
    async with stage(hermes, early="hurry") as screen:
        await screen.until(lambda: screen.view.composer.text == "hurry", "what was typed early")
        await screen.press("enter")
        await screen.until(lambda: screen.says("model: Yes."))
        await screen.rest()


async def test_a_session_that_goes_on_is_shown_from_its_end(hermes: Bench, scripted: Any) -> None:
    hermes.tmp_plugin(scripted("More."))
    talk = [said(role, f"{role} {number}") for number in range(60) for role in ("user", "assistant")]

    async def before() -> str:
        return (await kept(hermes, *talk, title="a long talk")).id

    async with stage(hermes, before=before) as screen:
        await screen.until(lambda: screen.says("assistant 59"))
        assert not screen.says("user 1\n")
        assert len(screen.shown()) < 60
        await screen.until(lambda: screen.view.facts.title == "a long talk")
        await screen.type("And then?", "enter")
        await screen.until(lambda: screen.says("model: More."))
        await screen.rest()
    store = await hermes.runtime.store()
    assert len(await store.history.load(screen.view.session)) == 122


async def test_a_question_shows_what_will_run_and_a_yes_runs_it(hermes: Bench, scripted: Any) -> None:
    ran: list[str] = []

    @tool(effects={Effect.SEND})
    async def post(context: ToolContext) -> str:
        """Post."""
        ran.append(context.session.id)
        return "posted"

    hermes.tmp_plugin(scripted(Call("post"), "Done."))
    hermes.tmp_plugin(post)
    async with stage(hermes) as screen:
        await screen.type("Post it.", "enter")
        await screen.until(lambda: isinstance(screen.app.screen, ModalScreen), "the question")
        assert not ran
        await screen.answers("once")
        await screen.until(lambda: screen.says("model: Done."))
        await screen.rest()
    assert len(ran) == 1


async def test_a_no_runs_nothing_and_the_model_hears_it(hermes: Bench, scripted: Any) -> None:
    ran: list[str] = []

    @tool(effects={Effect.SEND})
    async def post(context: ToolContext) -> str:
        """Post."""
        ran.append(context.session.id)
        return "posted"

    hermes.tmp_plugin(scripted(Call("post"), "As you like."))
    hermes.tmp_plugin(post)
    async with stage(hermes) as screen:
        await screen.type("Post it.", "enter")
        await screen.until(lambda: isinstance(screen.app.screen, ModalScreen), "the question")
        await screen.answers("deny")
        await screen.until(lambda: screen.says("model: As you like."))
        await screen.rest()
    assert ran == []


async def test_a_turn_that_is_stopped_takes_its_question_along(hermes: Bench, scripted: Any) -> None:
    @tool(effects={Effect.SEND})
    async def post(context: ToolContext) -> str:
        """Post."""
        return "posted"

    hermes.tmp_plugin(scripted(Call("post")))
    hermes.tmp_plugin(post)
    async with stage(hermes) as screen:
        await screen.type("Post it.", "enter")
        await screen.until(lambda: isinstance(screen.app.screen, ModalScreen), "the question")
        await screen.press("ctrl+c")
        await screen.rest()
        await screen.until(lambda: len(screen.app.screen_stack) == 1, "the end of the question")
        assert not screen.view.waiting


async def test_two_conversations_run_side_by_side_and_a_question_waits_for_its_tab(
    hermes: Bench, scripted: Any
) -> None:
    @tool(effects={Effect.SEND})
    async def post(context: ToolContext) -> str:
        """Post."""
        return "posted"

    hermes.tmp_plugin(scripted(Call("post"), "Posted."))
    hermes.tmp_plugin(post)
    async with stage(hermes) as screen:
        first = screen.view
        await screen.press("ctrl+t")
        await screen.until(lambda: screen.view is not first)
        second = screen.view
        await screen.do(lambda: second.say("Post it."))
        await screen.press("alt+1")
        await screen.until(lambda: second.waiting)
        assert screen.view is first
        assert not isinstance(screen.app.screen, ModalScreen), "the question of another tab is in the way"
        await screen.press("alt+2")
        await screen.until(lambda: isinstance(screen.app.screen, ModalScreen), "the question")
        await screen.answers("once")
        await screen.until(lambda: screen.says("model: Posted.", second))
        await screen.until(lambda: not second.facts.busy)
        assert first.session != second.session
        assert "Post it." in screen.app.query_one(TabRow).render().plain, "a tab without a title has no name"
        await screen.press("alt+w")
        await screen.until(lambda: screen.view is first)
        assert screen.app.tabs.views == [first]


async def test_ctrl_c_stops_a_turn_and_twice_leaves(hermes: Bench, scripted: Any) -> None:
    begun = asyncio.Event()

    @tool
    async def wait(context: ToolContext) -> str:
        """Wait."""
        begun.set()
        await asyncio.sleep(60)
        return "waited"

    hermes.tmp_plugin(scripted(Call("wait")))
    hermes.tmp_plugin(wait)
    async with stage(hermes) as screen:
        await screen.type("Wait.", "enter")
        await asyncio.wait_for(begun.wait(), 10)
        await screen.press("ctrl+c")
        await screen.rest()
        assert not screen.carrying.done()
        screen.app._stopped_at = float("-inf")
        await screen.press("ctrl+c", "ctrl+c")
        await asyncio.wait({screen.carrying}, timeout=10)
        assert screen.carrying.done()


async def test_ctrl_c_silences_what_is_said_aloud_where_no_turn_runs(hermes: Bench, scripted: Any) -> None:
    class Radio(Jobs):
        """It speaks until it is stopped."""

        name = "radio"
        plays = True

        async def running(self, session: Session) -> Sequence[Job]:
            return [Job(id="1", kind="other", title="radio", since=0.0, state="speaking")] if self.plays else []

        async def stop(self, session: Session, job: str) -> bool:
            self.plays = False
            return True

    radio = Radio()
    hermes.tmp_plugin(scripted("Hello."))
    hermes.tmp_plugin(radio)
    async with stage(hermes) as screen:
        await screen.type("Hi.", "enter")
        await screen.until(lambda: screen.says("model: Hello."))
        await screen.until(lambda: not screen.view.facts.busy)
        await screen.press("ctrl+c")
        await screen.until(lambda: not radio.plays)
        assert not screen.carrying.done()


async def test_commands_of_the_screen_are_in_the_registry_and_work(hermes: Bench, scripted: Any) -> None:
    hermes.tmp_plugin(scripted())
    hermes.tmp_plugin("hermes_tool_commands")
    async with stage(hermes, config=Config(skin="slate")) as screen:
        known = {command.name for command in screen.app.talks.commands}
        assert {"skin", "statusbar", "copy", "help", "model"} <= known
        await screen.until(lambda: screen.app.prepared)
        await screen.type("/skin ares", "enter")
        await screen.until(lambda: screen.app.wardrobe.skin.name == "ares")
        await screen.type("/skin nosuch", "enter")
        await screen.until(lambda: screen.says("There is no skin"))
        await screen.type("/details tools expanded", "enter")
        await screen.type("/statusbar off", "enter")
        await screen.until(lambda: not screen.app.statusbar_shown)
        await screen.type("/nosuch", "enter")
        await screen.until(lambda: screen.says("There is no command /nosuch"))
        await screen.type("/quit", "enter")
        await asyncio.wait({screen.carrying}, timeout=10)
        assert screen.carrying.done()


async def test_a_fault_of_the_screen_ends_it_with_one_clear_error(hermes: Bench, scripted: Any) -> None:
    hermes.tmp_plugin(scripted())
    async with stage(hermes) as screen:

        def break_it() -> None:
            raise RuntimeError("a screw came loose")

        screen.app.call_later(break_it)
        await asyncio.wait({screen.carrying}, timeout=10)
        with pytest.raises(HermesError, match="full screen broke") as caught:
            screen.carrying.result()
        assert "hermes --cli" in caught.value.hint
        screen.carrying = asyncio.ensure_future(asyncio.sleep(0))  # type: ignore[assignment]


async def test_nobody_who_can_answer_is_told_with_what_to_do(hermes: Bench) -> None:
    async with stage(hermes) as screen:
        await screen.until(lambda: screen.says("No provider can answer"))
        assert any("pip install" in text for text in screen.shown())
        await screen.type("Hello?", "enter")
        await screen.until(lambda: sum("No provider can answer" in text for text in screen.shown()) == 2)


async def test_a_skin_that_is_broken_is_told_once(hermes: Bench, scripted: Any) -> None:
    hermes.tmp_plugin(scripted())

    async def skin() -> str:
        (home_of(hermes) / "skins").mkdir()
        (home_of(hermes) / "skins" / "mine.yaml").write_text("colors: [1,2\n")
        return ""

    async with stage(hermes, config=Config(skin="mine"), before=skin) as screen:
        await screen.until(lambda: screen.says("skins/mine.yaml"))
        assert sum("skins/mine.yaml" in text for text in screen.shown()) == 1


async def test_history_is_kept_for_the_next_time(hermes: Bench, scripted: Any) -> None:
    hermes.tmp_plugin(scripted("one"))
    async with stage(hermes) as screen:
        await screen.type("remember this", "enter")
        await screen.until(lambda: screen.says("model: one"))
        await screen.rest()
        await screen.press("ctrl+t")
        await screen.pilot.pause()
        await screen.press("up")
        await screen.until(lambda: screen.view.composer.text == "remember this")


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (200, 60)])
@pytest.mark.few(1)
async def test_it_fits_every_size(hermes: Bench, scripted: Any, size: tuple[int, int]) -> None:
    hermes.tmp_plugin(scripted("All is well. " * 50))
    async with stage(hermes, size=size) as screen:
        await screen.until(lambda: screen.app.prepared)
        await screen.pilot.pause()
        assert screen.view.composer.region.bottom <= size[1]
        assert screen.view.composer.region.height >= 3
        await screen.type("How are you?", "enter")
        await screen.until(lambda: screen.says("All is well."))
        await screen.rest()
        await screen.pilot.pause()
        assert screen.view.composer.region.bottom <= size[1]
        assert screen.view.transcript.region.height >= 3


async def test_the_skin_is_worn_from_the_first_frame(hermes: Bench, scripted: Any) -> None:
    hermes.tmp_plugin(scripted())
    async with stage(hermes, config=Config(skin="daylight")) as screen:
        assert (
            screen.app.screen.background_colors[1].hex.lower() == screen.app.wardrobe.skin.colors["background"].lower()
        )
        assert not screen.app.current_theme.dark


async def test_work_stands_beside_a_conversation_where_there_is_room(hermes: Bench, scripted: Any) -> None:
    hermes.tmp_plugin(scripted())
    async with stage(hermes, size=(120, 30)) as screen:
        await screen.until(lambda: screen.app.prepared)
        await screen.press("f4")
        await screen.until(lambda: screen.app.query("WorkPanel"))
        assert screen.view.region.width < 120
        await screen.press("f4")
        await screen.until(lambda: not screen.app.query("WorkPanel"))


class Aim(Jobs):
    """Something that is at work in every conversation, and says so in a few words before its title."""

    name = "aim"

    async def running(self, session: Session) -> list[Job]:
        shell = Job(id="shell", kind="other", title="bash in a folder", since=0.0)
        return [shell, Job(id="aim", kind="other", title="Goal, 1 of 3 turns: Be well", since=0.0)]

    async def stop(self, session: Session, job: str) -> bool:
        return False


async def test_what_else_is_at_work_is_said_beside_processes(hermes: Bench, scripted: Any) -> None:
    seen = asyncio.Event()

    @tool(name="wait", toolset="waiting")
    async def wait() -> str:
        """Wait."""
        await seen.wait()
        return "waited"

    hermes.tmp_plugin(scripted(Call("wait"), "Well."))
    hermes.tmp_plugin(wait)
    hermes.tmp_plugin(Aim())
    async with stage(hermes) as screen:
        await screen.type("Hello", "enter")
        await screen.until(lambda: screen.view.facts.other == "Goal, 1 of 3 turns")
        assert (screen.view.facts.agents, screen.view.facts.processes) == (0, 1)
        seen.set()
        await screen.until(lambda: screen.says("model: Well."))
