"""What is watched for is told of, and what speaks too often is silenced."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_terminal.output import MOST, Output
from hermes_tool_terminal.watching import Watch


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_one_line_in_a_quarter_of_a_minute_is_told():
    clock = Clock()
    watch = Watch("error | READY", clock)
    assert watch.see(["an Error here", "all fine", "ready"]) == ["an Error here"]
    clock.now += 14
    assert watch.see(["ready"]) == []
    clock.now += 2
    assert watch.see(["ready", "ready"]) == ["ready"]


def test_what_comes_too_often_three_times_in_a_row_is_silenced_and_says_so():
    clock, told = Clock(), []
    watch = Watch("tick", clock)
    for _ in range(40):
        told += watch.see(["tick"])
        clock.now += 5
    assert told == ["tick", "tick", "tick", "(no longer watched for 'tick': it came too often)"]
    assert watch.silent


def test_what_comes_now_and_then_is_never_silenced():
    clock, told = Clock(), []
    watch = Watch("tick", clock)
    for _ in range(40):
        told += watch.see(["tick"])
        clock.now += 20
    assert told == ["tick"] * 40


def test_no_words_watch_for_nothing():
    for words in ("", "|", "  | "):
        assert Watch(words).see(["", "a line", "|"]) == []


@given(st.lists(st.binary(max_size=300), max_size=30))
def test_any_bytes_are_kept_and_shown_on_a_terminal_or_without_one(tmp_path_factory, pieces):
    folder = tmp_path_factory.mktemp("out")
    for tty in (False, True):
        output = Output(folder / f"{tty}.out", tty=tty)
        for piece in pieces:
            output.take(piece)
        assert output.total == sum(map(len, pieces))
        shown = output.screen()
        assert len(shown.split("\n")) <= 24
        assert tty or (shown == "" and output.unread() == output.last(MOST) and output.unread() == "")
        again = Output(folder / f"{tty}.out", tty=tty)
        again.restore(b"")
        assert again.total == output.total
