"""What keys and the mouse do in a conversation."""

import pytest
from textual.pilot import Pilot
from textual.widgets import Input
from transcript_scenes import Known

from hermes_core.types import Asked, Blob, Failed, Progress, Question, Said, Thinking, Verdict
from hermes_platform_tui.config import Config
from hermes_platform_tui.transcript import SearchState, Transcript
from hermes_platform_tui.transcript.block import Block
from hermes_platform_tui.transcript.viewer import Viewer

from .transcript_scenes import STARTED, Stage, call, called, ended, history, mending, play, returned, screen_of

pytestmark = pytest.mark.long

SIZE = (80, 30)
CODE = "Two ways:\n\n```python\nprint(1)\n```\n\nor\n\n```bash\necho 1\n```\n\nSee [docs](https://example.org/docs)."


async def rest(pilot: Pilot[None]) -> None:
    for _ in range(3):
        await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    for _ in range(3):
        await pilot.pause()


def told(stage: Stage) -> Transcript:
    stage.transcript.flush()
    return stage.transcript


def copied(stage: Stage) -> list[tuple[str, str]]:
    return [(event[1], event[2]) for event in stage.posted if event[0] == "copied"]


async def test_messages_are_gone_through_and_copied() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        stage.transcript.say("What is *this*?")
        play(stage.transcript, [STARTED, Said(text="It is **that**."), ended("It is **that**.")])
        told(stage)
        await rest(pilot)
        await pilot.press("c")
        await pilot.press("ctrl+up", "c")
        await pilot.press("ctrl+up", "c", "ctrl+up", "c")
        await pilot.press("ctrl+down", "ctrl+down", "ctrl+down")
        await rest(pilot)
        answer, question = ("It is **that**.", "the answer"), ("What is *this*?", "your message")
        assert copied(stage) == [answer, answer, question, question]
        assert stage.transcript.current is None


async def test_the_current_message_is_marked_without_colour() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        play(stage.transcript, [STARTED, Said(text="Some answer.")])
        told(stage)
        await rest(pilot)
        assert "  Some answer." in screen_of(stage)
        await pilot.press("ctrl+up")
        await rest(pilot)
        assert "█ Some answer." in screen_of(stage)


async def test_brackets_go_from_question_to_question() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        for name in ("one", "two", "three"):
            stage.transcript.say(name)
            play(stage.transcript, [STARTED, Said(text=f"answer {name}"), called(call("ls")), ended()])
        told(stage)
        await rest(pilot)
        await pilot.press("left_square_bracket", "c", "left_square_bracket", "c", "right_square_bracket", "c")
        await rest(pilot)
        assert [text for text, _ in copied(stage)] == ["three", "two", "three"]


async def test_code_is_copied_by_number_when_there_is_more_than_one() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        play(stage.transcript, [STARTED, Said(text=CODE), ended(CODE)])
        told(stage)
        await rest(pilot)
        await pilot.press("y")
        await rest(pilot)
        assert "Copy which? 1 python · 2 bash · Esc" in screen_of(stage)
        await pilot.press("2")
        await rest(pilot)
        assert "Copy which?" not in screen_of(stage)
        await pilot.press("y", "escape")
        await rest(pilot)
        assert [text.strip() for text, _ in copied(stage)] == ["echo 1"]


async def test_a_link_is_opened_and_one_into_this_machine_is_not() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        play(stage.transcript, [STARTED, Said(text=CODE + " [bad](file:///etc/passwd) [worse](javascript:alert(1))")])
        told(stage)
        await rest(pilot)
        await pilot.press("l")
        await rest(pilot)
        assert stage.posted == [("link", "https://example.org/docs")]
        row = next(number for number, line in enumerate(screen_of(stage).split("\n")) if "docs" in line)
        column = screen_of(stage).split("\n")[row].index("docs")
        await pilot.click(offset=(column + 1, row))
        await rest(pilot)
        assert stage.posted == [("link", "https://example.org/docs")] * 2
        column = screen_of(stage).split("\n")[row].index("bad")
        await pilot.click(offset=(column + 1, row))
        await rest(pilot)
        assert len(stage.posted) == 2


async def test_a_thought_is_folded_and_unfolded() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        play(stage.transcript, [STARTED, Thinking(text="First this.\n\nThen that.")])
        told(stage)
        await rest(pilot)
        assert "Thinking…" in screen_of(stage)
        assert "Then that." in screen_of(stage)
        assert "First this." not in screen_of(stage)
        stage.clock.seconds += 65
        stage.transcript.show(Said(text="Done."))
        told(stage)
        await rest(pilot)
        assert "▸ Thought for 1 min 5 s" in screen_of(stage)
        assert "Then that." not in screen_of(stage)
        await pilot.press("ctrl+up", "ctrl+up", "enter")
        await rest(pilot)
        assert "▾ Thought for 1 min 5 s" in screen_of(stage)
        assert "First this." in screen_of(stage)
        await pilot.press("space")
        await rest(pilot)
        assert "First this." not in screen_of(stage)


async def test_a_long_paste_is_folded_and_a_search_unfolds_it() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        stage.transcript.say("\n".join(f"pasted {number}" for number in range(1, 81)))
        told(stage)
        await rest(pilot)
        assert "pasted 10\n" in screen_of(stage)
        assert "… 70 more lines" in screen_of(stage)
        assert "pasted 11" not in screen_of(stage)
        assert stage.transcript.search.begin("pasted 77").hits == 1
        await rest(pilot)
        assert "pasted 77" in screen_of(stage)
        await pilot.press("enter")
        await rest(pilot)
        assert "… 70 more lines" in screen_of(stage)


async def test_a_long_question_and_a_long_failure_are_folded() -> None:
    stage = Stage()
    async with stage.run_test(size=(80, 60)) as pilot:
        subject = "\n".join(f"line {number} of the script" for number in range(5_000))
        question = Question(id="q", kind="approval", subject=subject)
        play(stage.transcript, [STARTED, Asked(question=question, verdict=Verdict(outcome="allow"))])
        play(stage.transcript, [Failed(kind="x", text="<p>\n" * 3_000 + "the end of the page", hint="Try later.")])
        told(stage)
        await rest(pilot)
        shown = screen_of(stage)
        assert "? line 0 of the script → allowed" in shown
        assert "… 4,990 more lines" in shown
        assert "… 2,991 more lines" in shown
        assert "→ Try later." in shown
        await pilot.press("ctrl+up", "ctrl+up", "enter")
        await rest(pilot)
        assert "line 20 of the script" in screen_of(stage)


async def test_no_lines_of_results_when_none_are_wanted() -> None:
    stage = Stage(Config(result_lines=0), mending)
    async with stage.run_test(size=(80, 60)) as pilot:
        await rest(pilot)
        shown = screen_of(stage)
        assert "✓ edit_file  src/parser.py" in shown
        for words in ("PASSED", "Edited", "if not tokens", "failing test", "more line"):
            assert words not in shown
        assert "terminal  pytest" in shown


async def test_where_the_keys_are_is_seen_and_not_when_they_are_elsewhere() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        other = Input()
        await stage.mount(other)
        other.focus()
        stage.transcript.say("Hello.")
        told(stage)
        await rest(pilot)
        assert "▌ Hello." in screen_of(stage)
        stage.transcript.focus()
        await rest(pilot)
        assert "█ Hello." in screen_of(stage)
        other.focus()
        await rest(pilot)
        assert "▌ Hello." in screen_of(stage)


async def test_a_card_unfolds_to_its_output_and_a_long_one_opens_whole() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        run = call("terminal", command="seq 5000\necho done")
        output = "\n".join(f"row {number}" for number in range(5_000))
        play(stage.transcript, [STARTED, called(run), returned(run, output)])
        told(stage)
        await rest(pilot)
        assert "row 4999" in screen_of(stage)
        assert "row 3\n" not in screen_of(stage)
        await pilot.press("ctrl+up", "enter")
        await rest(pilot)
        assert "row 3\n" in screen_of(stage)
        assert "echo done" in screen_of(stage)
        await pilot.press("o")
        await rest(pilot)
        assert isinstance(stage.screen, Viewer)
        assert "row 0\n" in screen_of(stage)
        await pilot.press("pagedown")
        await rest(pilot)
        assert "row 0\n" not in screen_of(stage)
        await pilot.press("end")
        await rest(pilot)
        assert "row 4999" in screen_of(stage)
        await pilot.press("c")
        await rest(pilot)
        assert not isinstance(stage.screen, Viewer)
        assert copied(stage) == [(output, "the whole output")]


async def test_a_diff_is_numbered_and_reads_without_colour() -> None:
    stage = Stage(Config(), mending)
    async with stage.run_test(size=(80, 60)) as pilot:
        await rest(pilot)
        shown = screen_of(stage)
        assert "    13 -     return build(tokens)" in shown
        assert "    14 +         return Tree()" in shown
        assert "☑ Read the failing test" in shown


async def test_a_call_that_would_change_a_file_shows_the_change_before_it_is_made() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        edit = call("edit_file", path="a.py", old="x = 1\ny = 2\n", new="x = 1\ny = 3\n")
        play(stage.transcript, [STARTED, called(edit)])
        told(stage)
        await rest(pilot)
        assert "   2 - y = 2" in screen_of(stage)
        assert "   2 + y = 3" in screen_of(stage)


async def test_live_output_shows_its_end_and_children_their_last_step() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        make, delegate = call("terminal", 1, command="make"), call("delegate", 2, goal="Look.")
        play(stage.transcript, [STARTED, called(make), called(delegate)])
        play(stage.transcript, [Progress(call_id=make.id, text=f"made {number}\n") for number in range(2_000)])
        steps = ["1 ▸ read a", "2 ▸ read b", "1 ▸ read c"]
        play(stage.transcript, [Progress(call_id=delegate.id, text=f"{step}\n") for step in steps])
        told(stage)
        await rest(pilot)
        shown = screen_of(stage)
        assert "made 1999" in shown
        assert "made 1990" not in shown
        assert "1 ▸ read c  (2 steps)" in shown
        assert "1 ▸ read a" not in shown


async def test_a_failure_says_what_to_do_and_r_tries_again_once() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        stage.transcript.say("Go.")
        play(
            stage.transcript,
            [STARTED, Failed(kind="busy", text="Too busy.", hint="Wait a bit."), ended(reason="failed")],
        )
        told(stage)
        await rest(pilot)
        for words in ("✗ Too busy.", "→ Wait a bit.", "r tries again"):
            assert words in screen_of(stage)
        await pilot.press("r")
        await rest(pilot)
        assert stage.posted == [("retry",)]
        play(stage.transcript, [STARTED])
        told(stage)
        await pilot.press("r")
        await rest(pilot)
        assert stage.posted == [("retry",)]
        assert "r tries again" not in screen_of(stage)


async def test_a_press_of_the_mouse_chooses_and_unfolds() -> None:
    stage = Stage(Config(), mending)
    async with stage.run_test(size=(80, 60)) as pilot:
        await rest(pilot)
        thought = next(block for block in stage.query(Block) if block.has_class("-thought"))
        assert "tokenise give then" not in screen_of(stage)
        await pilot.click(thought)
        await rest(pilot)
        assert "tokenise give then" in screen_of(stage)
        assert stage.transcript.current is thought.entry


async def test_text_is_selected_with_the_mouse_across_messages() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        play(stage.transcript, [STARTED, Said(text="The first answer."), called(call("terminal", command="ls"))])
        play(stage.transcript, [Said(text="The second answer.")])
        told(stage)
        await rest(pilot)
        await pilot.mouse_down(offset=(6, 0))
        await pilot.hover(offset=(12, 4))
        await pilot.mouse_up(offset=(12, 4))
        await rest(pilot)
        selected = stage.screen.get_selected_text() or ""
        assert selected.startswith("first answer.")
        assert "terminal  ls" in selected
        assert "The second" in selected


async def test_a_search_goes_up_from_the_end_and_reads_what_was_not_read() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        known = Known()
        session = await known.sessions.create(known.owner, "long")
        known.sessions.known[session.id][1].extend(history(200))
        await stage.transcript.load(known, session.id)
        await rest(pilot)
        state = stage.transcript.search.begin("Output of run 4")
        assert state.looking
        await rest(pilot)
        assert "output of run 49" in screen_of(stage)
        state = stage.transcript.search.step(-1)
        assert (state.hits, state.at, state.looking) == (11, 10, False)  # 4 and 40 to 49
        await rest(pilot)
        assert "output of run 48" in screen_of(stage)
        await pilot.press("n", "n")
        await rest(pilot)
        assert "output of run 4\n" in screen_of(stage)
        assert stage.transcript.search.begin("") == SearchState()


async def test_a_hit_in_a_folded_output_unfolds_it() -> None:
    stage = Stage()
    async with stage.run_test(size=SIZE) as pilot:
        read = call("read_file", path="a.txt")
        lines = [f"row {number}" for number in range(40)]
        lines[20] = "the needle"
        play(stage.transcript, [STARTED, called(read), returned(read, "\n".join(lines)), Said(text="Read.")])
        told(stage)
        await rest(pilot)
        assert "needle" not in screen_of(stage)
        assert stage.transcript.search.begin("NEEDLE").hits == 1
        await rest(pilot)
        assert "the needle" in screen_of(stage)


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (200, 60)])
async def test_no_row_is_wider_than_its_place(size: tuple[int, int]) -> None:
    stage = Stage(Config(tools="expanded", reasoning="expanded", timestamps=True), mending)
    async with stage.run_test(size=size) as pilot:
        stage.transcript.say("漢字" * 200, [Blob(media_type="image/png", name="n" * 300)])
        play(stage.transcript, [called(call("t" * 100, command="c" * 5_000)), Said(text="w" * 1_000)])
        told(stage)
        await rest(pilot)
        for block in stage.query(Block):
            assert block.size.width <= min(size[0], 113)
            for child in block.children:
                assert child.region.right <= block.region.right
