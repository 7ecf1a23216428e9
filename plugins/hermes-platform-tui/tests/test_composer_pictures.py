"""Pictures and files: from the clipboard, from a path that was dropped, from the app; and the editor of one's own."""

import stat
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from composer_app import PNG, ComposerApp, anew, paste, type_in, until

from hermes_core.types import Blob
from hermes_platform_tui.composer import clipboard, pictures

pytestmark = pytest.mark.long

JPEG = b"\xff\xd8\xff\xe0" + b"1" * 500


@pytest.fixture
def cat(tmp_path: Path) -> Path:
    path = tmp_path / "my cat's.png"
    path.write_bytes(PNG)
    return path


async def test_a_dropped_picture_is_attached(cat: Path, subtests: pytest.Subtests) -> None:
    plain, quoted = str(cat), str(cat).replace("'", "'\\''")
    escaped = plain.replace(" ", "\\ ").replace("'", "\\'")
    app = ComposerApp()
    async with app.run_test() as pilot:
        for text in (plain, f"'{quoted}'", f'"{plain}"', escaped, cat.as_uri(), f"{plain} "):
            with subtests.test(text=text):
                await anew(pilot)
                app.composer.insert("What is ")
                await paste(pilot, text)
                await until(pilot, lambda: app.composer.attachments)
                assert "[image #1: my cat's.png 120 KB]" in app.shown
                await pilot.press("enter")
                blob = Blob(media_type="image/png", data=PNG, name="my cat's.png")
                assert app.sent == [("What is [image #1: my cat's.png]", [blob])]


async def test_the_path_itself_comes_back_with_undo(cat: Path) -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await paste(pilot, str(cat))
        await until(pilot, lambda: app.composer.attachments)
        await pilot.press("ctrl+underscore")
        assert app.composer.text == str(cat)
        assert app.composer.attachments == []


async def test_several_dropped_at_once_keep_their_order(tmp_path: Path) -> None:
    for name, data in (("a.png", PNG), ("b b.jpg", JPEG)):
        (tmp_path / name).write_bytes(data)
    app = ComposerApp()
    async with app.run_test(size=(100, 24)) as pilot:
        await paste(pilot, f"'{tmp_path}/b b.jpg' {tmp_path}/a.png")
        await until(pilot, lambda: app.composer.attachments)
        assert [blob.media_type for blob in app.composer.attachments] == ["image/jpeg", "image/png"]
        assert "[image #1: b b.jpg 504 B] [image #2: a.png 120 KB]" in app.shown
        await pilot.press("ctrl+a", "delete", "delete", "enter")
        assert [blob.name for blob in app.sent[0][1]] == ["a.png"]


async def test_other_paths_are_text(cat: Path, subtests: pytest.Subtests) -> None:
    folder = cat.parent
    (folder / "notes.png").write_text("no picture")
    app = ComposerApp()
    async with app.run_test() as pilot:
        for text in (
            "/nowhere/cat.png",
            f"{folder}/notes.png",
            f"{folder}",
            f"{folder}/my cat's.png and more",
            f"'unclosed {folder}",
        ):
            with subtests.test(text=text):
                await anew(pilot)
                await paste(pilot, text)
                await until(pilot, lambda: app.composer.text)
                assert app.composer.text == text
                assert app.composer.attachments == []


async def test_too_large_is_told(cat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "LARGEST", 100_000)
    app = ComposerApp()
    async with app.run_test() as pilot:
        await paste(pilot, str(cat))
        await until(pilot, lambda: app.notices)
        assert "is larger than" in app.notices[0]
        assert app.composer.text == str(cat)


ATTACHED = (
    (Blob(media_type="image/png", data=PNG, name="cat.png"), "[image #1: cat.png 120 KB]", ""),
    (Blob(media_type="image/png", data=JPEG), "[image #1: jpeg 504 B]", ""),
    (Blob(media_type="image/png", data=b"GIF?", name="no.png"), "", "no.png is not a PNG"),
    (Blob(media_type="application/pdf", data=b"x" * 2_345_678, name="a.pdf"), "[file #1: a.pdf 2.3 MB]", ""),
    (Blob(media_type="text/plain", data=b"", name="quite a long name.txt"), "[file #1: quite a l….txt 0 B]", ""),
    (Blob(media_type="image/png", data=PNG, name="猫.png"), "[image #1: png 120 KB]", ""),
    (Blob(media_type="image/png", data=PNG, name="\x1b[31m\n.png"), "[image #1: png 120 KB]", ""),
    (Blob(media_type="text/plain", path="/nowhere/at all", name="x"), "", "/nowhere/at all cannot be read"),
)


async def test_attaching(subtests: pytest.Subtests) -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        for blob, chip, notice in ATTACHED:
            with subtests.test(chip=chip, notice=notice):
                await anew(pilot)
                app.composer.attach(blob)
                await pilot.pause()
                assert chip in app.shown
                assert bool(app.composer.attachments) == bool(chip)
                assert [told for told in app.notices if notice not in told] == []
                assert bool(app.notices) == bool(notice)


def program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport sys, time\nsays = sys.stdout.buffer.write\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


OFFERS = """
types = {!r}
if "--list-types" in sys.argv or "TARGETS" in sys.argv: says("\\n".join(types).encode())
elif sys.argv[-1] == "image/png": says(bytes.fromhex({!r}) + b"0" * 120_000)
else: says("copied text".encode())
"""


@pytest.fixture
def desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, value in (("PATH", str(folder)), ("WAYLAND_DISPLAY", ""), ("DISPLAY", "")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", "linux")
    return folder


@pytest.mark.parametrize(("name", "variable"), [("wl-paste", "WAYLAND_DISPLAY"), ("xclip", "DISPLAY")])
@pytest.mark.parametrize("key", ["ctrl+v", "alt+v"])
async def test_a_picture_of_the_clipboard(
    desktop: Path, monkeypatch: pytest.MonkeyPatch, name: str, variable: str, key: str
) -> None:
    program(desktop, name, OFFERS.format(["text/plain", "image/png"], PNG[:8].hex()))
    monkeypatch.setenv(variable, ":0")
    app = ComposerApp()
    async with app.run_test() as pilot:
        await pilot.press(key)
        await until(pilot, lambda: app.composer.attachments)
        assert app.composer.attachments == [Blob(media_type="image/png", data=PNG, name="clipboard")]
        assert "[image #1: clipboard 120 KB]" in app.shown


async def test_a_picture_on_a_mac(desktop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    program(desktop, "osascript", f"says(b'\\xc2\\xabdata PNGf{PNG[:100].hex().upper()}\\xc2\\xbb')")
    assert (await clipboard.read_clipboard()).image == PNG[:100]
    program(desktop, "pngpaste", f"says(bytes.fromhex('{PNG[:50].hex()}'))")
    assert (await clipboard.read_clipboard()).image == PNG[:50]
    program(desktop, "pngpaste", "sys.exit(1)")
    program(desktop, "pbpaste", "says(b'words')")
    assert await clipboard.read_clipboard() == clipboard.Clip(text="words")


async def test_without_a_picture_the_text_is_pasted(desktop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(desktop, "xclip", OFFERS.format(["UTF8_STRING"], ""))
    monkeypatch.setenv("DISPLAY", ":0")
    app = ComposerApp()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+v")
        await until(pilot, lambda: app.composer.text)
        assert app.composer.text == "copied text"


async def test_without_a_program_it_says_which(desktop: Path) -> None:
    app = ComposerApp()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+v", "x")
        await until(pilot, lambda: app.notices)
        assert "wl-paste" in app.notices[0]
        assert app.composer.text == "x"


async def test_a_program_that_hangs_or_fails_costs_no_key(desktop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "PATIENCE", 0.2)
    monkeypatch.setenv("DISPLAY", ":0")
    program(desktop, "xclip", "time.sleep(60)")
    app = ComposerApp()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+v", "a", "b")
        assert app.composer.text == "ab"
        await app.workers.wait_for_complete()
        assert app.composer.text == "ab"


# The editor


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that is told what to do with the file."""
    path = tmp_path / "an editor"
    monkeypatch.setenv("VISUAL", f"'{path}' --wait")
    monkeypatch.delenv("EDITOR", raising=False)
    return path


def does(path: Path, text: str) -> None:
    path.write_text(f"#!{sys.executable}\nimport sys, pathlib, stat\nfile = pathlib.Path(sys.argv[-1])\n{text}\n")
    path.chmod(0o700)


@pytest.mark.parametrize("keys", [["ctrl+g"], ["ctrl+x", "ctrl+e"]])
async def test_the_editor_gets_the_text_and_gives_it_back(editor: Path, tmp_path: Path, keys: list[str]) -> None:
    seen = tmp_path / "seen"
    does(
        editor,
        "mode = oct(stat.S_IMODE(file.stat().st_mode))\n"
        f"pathlib.Path({str(seen)!r}).write_text(mode + str(file) + file.read_text())\n"
        "file.write_text(file.read_text().replace('Hello', 'Goodbye') + ' and more\\n')",
    )
    app = ComposerApp()
    async with app.run_test() as pilot:
        await type_in(pilot, "Hello ")
        await paste(pilot, "line\n" * 9)
        app.composer.attach(Blob(media_type="image/png", data=PNG, name="cat.png"))
        await pilot.press(*keys)
        await until(pilot, lambda: "more" in app.composer.text)
        await app.workers.wait_for_complete()
        assert app.suspended == 1
        assert app.composer.text == "Goodbye " + "line\n" * 9 + "[image #1: cat.png] and more"
        assert len(app.composer.attachments) == 1
        assert "[paste #1: 9 lines]" in app.shown
        assert not app.composer.editing
        await pilot.press("!")
        assert app.composer.text.endswith("more!")
    assert seen.read_text().startswith("0o600")
    assert not Path(seen.read_text().removeprefix("0o600").partition(".md")[0] + ".md").exists()


@pytest.mark.parametrize(
    ("visual", "notice"),
    [(None, "Set VISUAL or EDITOR"), ("no-such-editor -w", "no-such-editor"), ("'open", "cannot be read as a command")],
)
async def test_no_editor_is_one_clear_notice(monkeypatch: pytest.MonkeyPatch, visual: str | None, notice: str) -> None:
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    if visual:
        monkeypatch.setenv("EDITOR", visual)
    app = ComposerApp()
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+g")
        await until(pilot, lambda: app.notices)
        assert len(app.notices) == 1
        assert notice in app.notices[0]
        assert app.suspended == 0
        assert app.composer.text == "a"


async def test_an_editor_may_write_more_than_is_edited_here(editor: Path) -> None:
    does(editor, "file.write_text('row\\n' * 500 + file.read_text() + 'row\\n' * 500)")
    app = ComposerApp()
    async with app.run_test() as pilot:
        app.composer.attach(Blob(media_type="image/png", data=PNG, name="cat.png"))
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "row" in app.composer.text)
        assert app.composer.text == "row\n" * 500 + "[image #1: cat.png]" + "row\n" * 499 + "row"
        assert len(app.composer.attachments) == 1
        assert len(app.field.text) < 100


async def test_an_editor_that_fails_leaves_the_text_as_it_was(editor: Path) -> None:
    does(editor, "file.write_text('half'); sys.exit(1)")
    app = ComposerApp()
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+g")
        await until(pilot, lambda: app.notices)
        assert "ended with status 1" in app.notices[0]
        assert app.composer.text == "a"


async def test_where_there_is_no_terminal_to_lend(editor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    does(editor, "")
    monkeypatch.delattr(ComposerApp, "suspend")
    app = ComposerApp()
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+g")
        await until(pilot, lambda: app.notices)
        assert "no terminal" in app.notices[0]
        assert app.composer.text == "a"
