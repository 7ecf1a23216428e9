"""The tool contract, kept by the tools of the screen, here without any screen; and what they ask and refuse."""

import struct
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.agent.arguments import parse_arguments
from hermes_core.errors import ToolError
from hermes_core.kinds import Resource
from hermes_core.testing import FakeToolContext, ToolContract
from hermes_core.testing.fakes import FakeWorkspace
from hermes_core.types import Session
from hermes_core.types.people import Principal
from hermes_tool_computer.checks import checks
from hermes_tool_computer.looked import Looked
from hermes_tool_computer.mac import Mac
from hermes_tool_computer.person import missing
from hermes_tool_computer.picture import Picture, of_dump, of_png, shown
from hermes_tool_computer.screen import Screen, Window, key_of
from hermes_tool_computer.typing_in import pieces, type_in

from .screens import ALWAYS, YES, Bench

PNG = Picture(b"png", 100, 50, 2.0)


class Drawn(Screen):
    """A screen that keeps what is done to it."""

    words = "your screen"

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []
        self.there = [Window("7", "A “window”\nof somebody", 0, 0, 200, 100)]
        self.keys = "7"

    async def picture(self, largest):
        return PNG

    async def windows(self):
        return [*self.there]

    async def focused(self):
        return self.keys

    async def click(self, *what):
        self.done.append(("click", *what))

    async def drag(self, *what):
        self.done.append(("drag", *what))

    async def scroll(self, *what):
        self.done.append(("scroll", *what))

    async def type(self, *what):
        self.done.append(("type", *what))

    async def key(self, *what):
        self.done.append(("key", *what))

    async def focus(self, *what):
        self.done.append(("focus", *what))


class Seen(Resource):
    """Screens that somebody has looked at."""

    name = "computer"

    async def open(self, session, workspace):
        looked = Looked(Drawn(), 1280)
        await looked.look()
        return looked

    async def close(self, thing):
        await thing.screen.close()


class OfAScreen(ToolContract):
    module = "hermes_tool_computer"
    name = ""

    @pytest.fixture
    def tool(self, contributed):
        return next(tool for tool in contributed["tools"] if tool.name == self.name)

    @pytest.fixture
    def tool_context(self, workspace):
        return FakeToolContext(workspace, resources=[Seen()], verdict=YES)


class TestScreen(OfAScreen):
    name = "computer_screen"


class TestAct(OfAScreen):
    name = "computer_act"
    arguments: ClassVar = {"action": "click", "x": 10, "y": 20}
    failing_arguments: ClassVar = {"action": "type", "text": ""}


@pytest.fixture
def bench(tmp_path):
    made = Bench(tmp_path, FakeWorkspace(folder=tmp_path))
    made.screen = Drawn()
    made.context.opened["computer"] = Looked(made.screen, 1280)
    return made


async def test_acts_are_those_that_were_said_in_pixels_of_the_screen(bench):
    bench.answer(ALWAYS)
    await bench.look()
    await bench.act("click", x=10, y=20)
    await bench.act("double_click", x=10, y=20)
    await bench.act("right_click", x=10, y=20)
    await bench.act("middle_click", x=10, y=20)
    await bench.act("drag", x=10, y=20, to_x=30, to_y=40)
    await bench.act("scroll", x=10, y=20, way="up", amount=5)
    await bench.act("type", text="-- hello\n")
    await bench.act("key", text="ctrl+s")
    await bench.act("focus", text="7")
    assert bench.screen.done == [
        ("click", 21, 41, "left", 1), ("click", 21, 41, "left", 2), ("click", 21, 41, "right", 1),
        ("click", 21, 41, "middle", 1), ("drag", 21, 41, 61, 81), ("scroll", 21, 41, "up", 5),
        ("type", "-- hello\n"), ("key", "ctrl+s"), ("focus", "7"),
    ]  # fmt: skip


async def test_each_act_asks_until_a_person_says_for_the_conversation(bench):
    bench.answer(YES)
    await bench.look()
    for _ in range(2):
        await bench.act("click", x=10, y=20)
    questions = bench.context.questions
    assert [one.subject for one in questions] == ["clicks at 10,20 in “A “window” of somebody”"] * 2
    assert questions[0].choices == ("once", "session", "deny")
    assert questions[0].covers == "every click and key on your screen, in this conversation"
    bench.answer(ALWAYS)
    for _ in range(3):
        await bench.act("click", x=10, y=20)
    assert len(bench.context.questions) == 1


async def test_a_yes_from_before_a_text_from_outside_does_not_count_after_it(bench):
    bench.answer(ALWAYS)
    await bench.look()
    await bench.act("click", x=10, y=20)
    bench.answer(None, untrusted=True)
    with pytest.raises(ToolError, match="nobody is here"):
        await bench.act("click", x=10, y=20)
    assert "text from outside, which may have asked for it" in bench.context.questions[0].risk
    bench.answer(ALWAYS, untrusted=True)
    for _ in range(3):
        await bench.act("click", x=10, y=20)
    assert len(bench.context.questions) == 1


async def test_without_a_person_nothing_is_done_and_looking_goes_on(bench):
    await bench.look()
    for action in (
        {"action": "click", "x": 1, "y": 1},
        {"action": "type", "text": "x"},
        {"action": "key", "text": "a"},
    ):
        with pytest.raises(ToolError, match="needs a person's yes, and nobody is here"):
            await bench.call("act", **action)
    assert not bench.screen.done
    assert "window 7: A “window” of somebody" in await bench.look()


REFUSED = {
    "a handle of the vault": ({"action": "type", "text": "{{ vault:bank }}"}, "vault is not typed"),
    "what nobody can type": ({"action": "type", "text": "a\x1b"}, "nobody can type"),
    "no text": ({"action": "type"}, "needs a text"),
    "no point": ({"action": "click"}, "needs x and y"),
    "no end": ({"action": "drag", "x": 1, "y": 1}, "needs to_x"),
    "beside the picture": ({"action": "click", "x": 100, "y": 1}, "is not on the picture, which has 100 x 50"),
    "no window": ({"action": "focus", "text": "8"}, "There is no window"),
    "no key": ({"action": "key", "text": "ctrl+; rm"}, "is no key"),
    "another console": ({"action": "key", "text": "ctrl+alt+F2"}, "is never pressed"),
    "the end of the session": ({"action": "key", "text": "Control_L+Alt_L+BackSpace"}, "is never pressed"),
    "a kernel key": ({"action": "key", "text": "alt+Sys_Req+b"}, "is never pressed"),
    "the power": ({"action": "key", "text": "XF86PowerOff"}, "is never pressed"),
    "the login of a mac": ({"action": "key", "text": "cmd+shift+q"}, "is never pressed"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_cannot_be_is_told_before_anybody_is_asked(bench, case):
    bench.answer(YES)
    await bench.look()
    arguments, told = REFUSED[case]
    with pytest.raises(ToolError, match=told):
        await bench.call("act", **arguments)
    assert not bench.context.questions
    assert not bench.screen.done


def test_usual_keys_are_pressed():
    for key in ("Return", "ctrl+c", "alt+Tab", "alt+F4", "F5", "ctrl+shift+t", "super", "Delete", "a", "ctrl+alt+t"):
        assert key_of(f" {key} ") == key


async def test_nothing_is_done_before_a_look_nor_to_another_window(bench):
    bench.answer(ALWAYS)
    with pytest.raises(ToolError, match="Nobody has looked"):
        await bench.act("click", x=1, y=1)
    await bench.look()
    bench.screen.there.append(Window("8", "Over it", 0, 0, 50, 50))
    with pytest.raises(ToolError, match="another window is there now"):
        await bench.act("click", x=1, y=1)
    await bench.look()
    bench.screen.keys = "8"
    with pytest.raises(ToolError, match="another window is there now"):
        await bench.act("type", text="rm -rf /\n")
    assert not bench.screen.done


def test_it_is_its_owners_alone(bench):
    for tool in bench.tools.values():
        assert tool.needs(Session(id="g", origin="x", owner=Principal(person="anna")))
        assert tool.needs(Session(id="o", origin="x")) is None


def test_both_tools_take_little_of_a_request(bench):
    import json

    from hermes_core.agent.arguments import tool_spec

    specs = [tool_spec(tool) for tool in bench.tools.values()]
    size = sum(len(json.dumps([s.name, s.description, s.schema])) for s in specs)
    assert size < 1_300, size


async def test_doctor_and_the_tool_say_what_is_missing(tmp_path, monkeypatch):
    wayland, hint = missing({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, "linux")
    assert "Wayland, where no program may" in wayland
    assert "tools.computer.display own" in hint
    assert "DISPLAY is not set" in missing({}, "linux")[0]
    monkeypatch.setattr("shutil.which", lambda name, **_: None)
    assert missing({"DISPLAY": ":0"}, "linux")[0] == "xdotool and xwd and xmodmap is not installed."
    assert missing({}, "darwin") == (
        "screencapture, cliclick, osascript is not installed.", "brew install cliclick",
    )  # fmt: skip
    for settings in ({}, {"display": "own"}):
        bench = Bench(tmp_path, FakeWorkspace(folder=tmp_path), **settings)
        (finding,) = await checks(bench.ctx)[0].run()
        assert finding.level == "fault"
        assert finding.fix
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(ToolError, match="no screen here"):
        await Bench(tmp_path, FakeWorkspace(folder=tmp_path)).look()


async def test_a_place_that_keeps_nothing_running_has_no_screen(tmp_path):
    with pytest.raises(ToolError, match="keeps nothing running"):
        await Bench(tmp_path, FakeWorkspace(folder=tmp_path), display="own").look()


async def test_macos_is_acted_on_by_its_commands():
    ran = list[tuple[str, ...]]()

    async def run(argv, stdin):
        ran.append(tuple(argv))
        if "windows of p" in argv[-1]:
            return b"12\t0\t25\t800\t600\tNotes: Mine\n12\tx\n"
        return b""

    mac = Mac(run)
    await mac.click(3, 4, "left", 2)
    await mac.drag(1, 2, 3, 4)
    await mac.key("cmd+shift+s")
    await mac.key("Return")
    await mac.type('a" & do shell script "x\nb')
    assert [Window("12", "Notes: Mine", 0, 25, 800, 600)] == await mac.windows()
    assert ran[0] == ("cliclick", "dc:3,4")
    assert ran[1] == ("cliclick", "dd:1,2", "dm:2,3", "du:3,4")
    assert ran[2][2].endswith('to keystroke "s" using {command down, shift down}')
    assert ran[3][2].endswith("to key code 36")
    assert ran[4][3] == 'a" & do shell script "x'
    assert "do shell" not in ran[4][2], "what is typed is an argument, never a script"
    for key in ("ctrl+nothing", "hyper+a"):
        with pytest.raises(ToolError, match="There is no key"):
            await mac.key(key)
    with pytest.raises(ToolError, match="wheel"):
        await mac.scroll(1, 1, "up", 1)


@given(st.text(alphabet=st.characters(exclude_characters="\0", codec="utf-8"), max_size=60), st.integers(0, 12))
def test_a_text_in_pieces_is_that_text_and_no_piece_needs_more_keys_than_there_are(text, spare):
    found = [*pieces(text, spare)]
    assert "".join(piece for piece, _ in found) == text
    for piece, signs in found:
        assert len(signs) <= spare
        assert not spare or {sign for sign in piece if not sign.isascii()} == set(signs)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=20))
def test_the_keys_are_given_back_and_nothing_of_a_text_is_an_argument(text):
    import asyncio
    from unittest.mock import patch

    ran = list[tuple[tuple[str, ...], bytes]]()

    async def run(argv, stdin):
        ran.append((tuple(argv), stdin))
        return b"keycode  93 =\nkeycode  97 =\nkeycode 38 = a A\n" if "-pke" in argv else b""

    with patch("hermes_tool_computer.typing_in._HEARD", 0):
        asyncio.run(type_in(run, text))
    typed = [
        stdin.decode("utf-8", "surrogatepass") if stdin else {"Return": "\n", "Tab": "\t"}.get(argv[-1], "")
        for argv, stdin in ran
    ]
    assert "".join(typed) == text
    if not text.isascii():
        assert ran[-1][0] == ("xmodmap", "-e", "keycode 93 =", "-e", "keycode 97 =")


def _dump(order=0, cut=0, **other):
    """A dump of three by two pixels of one colour, or what says that it is something else."""
    fields = {
        "size": 104, "version": 7, "form": 2, "depth": 24, "width": 3, "height": 2, "x": 0, "order": order,
        "unit": 32, "bits": 0, "pad": 32, "per": 32, "line": 12, "class": 4, "red": 0xFF0000, "green": 0xFF00,
        "blue": 0xFF, "rgb": 8, "entries": 256, "colours": 1, "w": 3, "h": 2, "x2": 0, "y": 0, "border": 0, **other,
    }  # fmt: skip
    pixel = bytes((0, 10, 20, 30)) if order else bytes((30, 20, 10, 0))
    whole = struct.pack(">25I", *fields.values()) + b"abc\0" + b"\0" * 12 + pixel * 6
    return whole[: len(whole) - cut]


@pytest.mark.parametrize("order", [0, 1])
def test_a_dump_of_either_order_is_that_picture(order):
    assert of_dump(_dump(order=order)).getpixel((2, 1)) == (10, 20, 30)


@given(st.binary(max_size=300) | st.builds(lambda cut: _dump(cut=cut), st.integers(1, 140)))
def test_what_is_no_dump_is_told_so(data):
    with pytest.raises(ValueError, match="screen"):
        of_dump(data)


@pytest.mark.parametrize(
    "odd", [{"width": 0}, {"per": 16}, {"width": 1 << 31}, {"colours": 1 << 31}, {"red": 0xFF}, {"line": 1}]
)
def test_dumps_of_other_kinds_are_told_so(odd):
    with pytest.raises(ValueError, match="screen"):
        of_dump(_dump(**odd))


def test_a_picture_keeps_its_form_and_knows_its_scale():
    from PIL import Image

    made = shown(Image.new("RGB", (2000, 1000)), 500)
    assert made[1:] == (500, 250, 4.0)
    assert shown(Image.new("RGB", (2000, 1000)), 500, points=1000).scale == 2.0
    assert of_png(made.png).size == (500, 250)
    for data in (b"", b"\x89PNG\r\n\x1a\n", made.png[:60]):
        with pytest.raises(ValueError, match="not whole"):
            of_png(data)


def test_arguments_are_checked(bench):
    with pytest.raises(ToolError):
        parse_arguments(bench.tools["computer_act"], {"action": "explode"})
