"""Real X servers, with windows of real programs: a screen of the agent's own in real places, and a person's."""

import io
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import pytest_asyncio
from PIL import Image

from hermes_backend_local.backend import Local
from hermes_backend_wall import bwrap
from hermes_core.errors import ToolError
from hermes_core.types import ExecRequest

from .screens import ALWAYS, YES, Bench, Program, x_server

pytestmark = [pytest.mark.real, pytest.mark.timeout(180), pytest.mark.usefixtures("x11")]


@pytest_asyncio.fixture(params=["bubblewrap", "none"])
async def place(request, tmp_path):
    """A folder where commands run: behind bubblewrap, and behind nothing."""
    if request.param == "bubblewrap" and not bwrap.likely():
        pytest.fail("bubblewrap does not work here")
    work = tmp_path / "work"
    work.mkdir()
    plan = None
    if request.param != "none":
        from hermes_backend_wall.limits import Limits
        from hermes_backend_wall.plan import Plan, records_of

        home = tmp_path / "home"
        plan = Plan(kind=request.param, homes=home / "homes", records=records_of(home), limits=Limits())
    made = await Local(plan=plan).open(str(work))
    yield made
    await made.close()


@pytest_asyncio.fixture
async def own(place, tmp_path):
    """The tools with a screen of their own."""
    made = Bench(tmp_path, place, YES, display="own", width=800, height=600)
    yield made
    await made.context.close()


@pytest.fixture
def person(monkeypatch):
    """A screen of the person's."""
    with x_server() as display:
        monkeypatch.setenv("DISPLAY", display)
        for name in ("WAYLAND_DISPLAY", "XDG_SESSION_TYPE", "XAUTHORITY"):
            monkeypatch.delenv(name, raising=False)
        yield display


async def _window(bench: Bench, folder: Path) -> Program:
    """A window on the agent's own screen, with the focus in its field; it was started as a command is."""
    await bench.look()
    program = Program(folder / "work", "Papers")
    await bench.workspace.start(ExecRequest(argv=program.words, env=bench.display))
    await program.until("ready")
    assert "Papers, 400 x 300 at 100,100" in await bench.look()
    await bench.act("click", x=150, y=330)
    return program


async def test_what_is_typed_on_its_own_screen_is_in_the_program_and_on_the_picture(own, tmp_path):
    program = await _window(own, tmp_path)
    before = own.png
    told = await own.act("type", text="hello 'world' $HOME {{}}")
    assert told.startswith("Done: types ")
    assert own.png != before
    assert Image.open(io.BytesIO(own.png)).size == (800, 600)
    await own.act("type", text=" é ö € Ж 日本 ß\nand more\n")
    await program.until("entered hello 'world' $HOME {{}} é ö € Ж 日本 ß")
    await program.until("entered and more")


async def test_a_long_text_of_many_signs_arrives_whole(own, tmp_path):
    program = await _window(own, tmp_path)
    lines = ["".join(f"{chr(0x410 + n % 64)}{chr(0x3B1 + n % 24)}x" for n in range(k, k + 20)) for k in (0, 20, 40)]
    await own.act("type", text="".join(f"{one}\n" for one in lines))
    for one in lines:
        await program.until(f"entered {one}")


async def test_it_ends_with_its_session_and_leaves_nothing(own, place):
    await own.look()
    folder = own.display["XAUTHORITY"].rpartition("/")[0]
    there = ExecRequest(argv=("ls", folder))
    assert b"Xvfb_screen0" in (await place.run(there)).output
    await own.context.close()
    assert (await place.run(there)).status
    assert (await place.run(ExecRequest(argv=("xdotool", "getmouselocation"), env={"DISPLAY": ":0"}))).status


async def test_one_that_died_is_opened_anew(own, place):
    await own.look()
    first = own.context.opened["computer"]
    await first.screen._process.kill()
    with pytest.raises(ToolError, match="The screen has ended"):
        await own.look()
    assert "There are no windows." in await own.look()
    assert own.context.opened["computer"] is not first


async def test_a_window_of_a_person_feels_every_act(person, place, tmp_path):
    bench = Bench(tmp_path, place, ALWAYS)
    with Program(tmp_path, "Papers") as program:
        await program.until("ready")
        told = await bench.look()
        assert "Your screen, 1000 x 700." in told
        assert "Papers, 400 x 300 at 100,100" in told
        assert "terminal starts" not in told
        assert Image.open(io.BytesIO(bench.png)).getpixel((150, 150)) == (255, 255, 255)
        await bench.act("click", x=150, y=160)
        await program.until("click 50 60")
        await bench.act("double_click", x=160, y=160)
        await program.until("double 60 60")
        await bench.act("right_click", x=170, y=160)
        await program.until("right 70 60")
        await bench.act("scroll", x=170, y=160, way="down", amount=2)
        await bench.act("scroll", x=170, y=160, way="up", amount=1)
        await program.until("up")
        assert program.lines().count("down") == 2
        await bench.act("drag", x=120, y=120, to_x=220, to_y=180)
        await program.until("let go 120 80")
        await bench.act("click", x=150, y=160)
        await bench.act("key", text="ctrl+s")
        await program.until("ctrl+s")
        await bench.act("click", x=150, y=330)
        await bench.act("type", text="Grüße aus Łódź\n")
        await program.until("entered Grüße aus Łódź")
    assert len(bench.context.questions) == 1, "the yes was for the conversation"


async def test_a_large_screen_is_made_smaller_and_points_still_fit(person, place, tmp_path):
    bench = Bench(tmp_path, place, YES, largest=500)
    with Program(tmp_path, "Papers") as program:
        await program.until("ready")
        assert "Your screen, 500 x 350." in await bench.look()
        await bench.act("click", x=75, y=80)
        await program.until("click 51 61")


async def test_a_window_that_came_or_went_between_is_not_clicked(person, place, tmp_path):
    bench = Bench(tmp_path, place, YES)
    with Program(tmp_path, "Papers") as first:
        await first.until("ready")
        await bench.look()
        with Program(tmp_path, "Delete all?") as second:
            await second.until("ready")
            with pytest.raises(ToolError, match="another window is there now"):
                await bench.act("click", x=150, y=160)
            assert "Papers" in bench.context.questions[0].subject
            await bench.look()
            assert not [line for line in (*first.lines(), *second.lines()) if line.startswith("click")]
        with pytest.raises(ToolError, match="another window is there now"):
            await bench.act("click", x=150, y=160)
        assert "Delete all?" in bench.context.questions[1].subject
        await bench.look()
        await bench.act("click", x=150, y=160)
        await first.until("click 50 60")


async def test_windows_are_brought_to_the_front(person, place, tmp_path):
    bench = Bench(tmp_path, place, YES)
    with Program(tmp_path, "Paper 0") as first, Program(tmp_path, "Paper 1") as second:
        await first.until("ready")
        await second.until("ready")
        told = await bench.look()
        window = next(line.split()[1].rstrip(":") for line in told.splitlines() if "Paper 0" in line)
        told = await bench.act("focus", text=window)
        assert "Paper 0, 400 x 300 at 100,100 (has the focus)" in told
        await bench.act("click", x=150, y=160)
        await first.until("click 50 60")


@pytest.mark.timeout(900)
@pytest.mark.parametrize("walled", [True, False])
def test_no_screen_outlives_a_kill(walled, tmp_path, pytestconfig):
    """kill -9 while it is opened, when it stands, and at any moment between."""
    chance = random.Random(16)
    short = Path(tempfile.mkdtemp(prefix="hs-", dir="/tmp"))  # as the path of a socket has to be
    for number in range(max(4, pytestconfig.getoption("--kills") // 2)):  # of each of two
        mark = f"{tmp_path.name}-{number}"
        words = [sys.executable, str(Path(__file__).with_name("dying_screen.py")), str(tmp_path / mark), f"{walled}"]
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, env={**os.environ, "HERMES_TEST_MARK": mark, "TMPDIR": str(short)}
        )
        assert process.stdout
        if number:
            process.stdout.readline()
            time.sleep(number * 0.05 if number < 4 else chance.uniform(0.0, 1.5))
        if number == 3:
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        until, left = time.monotonic() + 20, [""]
        while left and time.monotonic() < until:
            left = _marked(mark)
            time.sleep(0.05)
        assert not left, (number, left)
    assert walled or not [*short.glob("hermes-display-*")]
    shutil.rmtree(short)


def _marked(mark: str) -> list[str]:
    found = list[str]()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes() and path.parent.name != str(os.getpid()):
                found.append(path.with_name("cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found
