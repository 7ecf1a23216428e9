"""The file tools on a real folder, through their Tool values."""

import os

import pytest

from hermes_core.errors import OutOfReach, ToolError
from hermes_core.testing import FakeToolContext, FakeWorkspace
from hermes_core.types import Effect, Session
from hermes_tool_files.tools import make_tools


@pytest.fixture
def place(tmp_path):
    return FakeWorkspace(folder=tmp_path)


@pytest.fixture
def context(place):
    return FakeToolContext(place)


@pytest.fixture
def tools(tmp_path):
    return {tool.name: tool for tool in make_tools(guarded=[tmp_path / ".hermes" / ".env"])}


@pytest.fixture
def call(tools, context):
    async def do(name, **arguments):
        return await tools[name].run(context, tools[name].params(**arguments))

    return do


async def test_a_file_is_read_with_line_numbers(call, tmp_path):
    (tmp_path / "a.txt").write_text("one\n\n세 번째\n")
    assert await call("read_file", path="a.txt") == "1|one\n2|\n3|세 번째"


async def test_a_part_is_read_and_the_way_on_is_told(call, tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 11)))
    told = await call("read_file", path="a.txt", offset=3, limit=2)
    assert told == "3|3\n4|4\n[lines 3-4 of 10; go on with offset=5]"
    with pytest.raises(ToolError, match="only 10 lines"):
        await call("read_file", path="a.txt", offset=11)


async def test_long_lines_and_long_files_are_bounded(call, tmp_path):
    (tmp_path / "a.txt").write_text("x" * 5000 + "\n")
    assert "3,000 more characters" in await call("read_file", path="a.txt")
    (tmp_path / "b.txt").write_text("한글 " * 300 + "\n" + ("y" * 1000 + "\n") * 1000)
    told = await call("read_file", path="b.txt", limit=2000)
    assert len(told.encode()) < 50_000
    assert "go on with offset=" in told


async def test_nothing_in_a_file_is_said(call, tmp_path):
    (tmp_path / "a").touch()
    assert await call("read_file", path="a") == "a is empty."


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\0\0", b"a\0b"])
async def test_what_is_no_text_is_refused(call, tmp_path, data):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(ToolError, match="not text"):
        await call("read_file", path="a")
    with pytest.raises(ToolError, match="not text"):
        await call("edit_file", path="a", old="a", new="b")


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/stdin", "/proc/self/fd/0", "/../dev/null"])
async def test_devices_are_refused(call, path, place):
    for name, more in (("read_file", {}), ("write_file", {"content": "x"}), ("edit_file", {"old": "a", "new": "b"})):
        with pytest.raises(ToolError, match="device"):
            await call(name, path=path, **more)
    assert not place.written


async def test_names_like_a_missing_one_are_told(call, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "Reading.py").touch()
    with pytest.raises(ToolError, match=r"Similar: src/Reading\.py"):
        await call("read_file", path="src/readin.py")


async def test_a_home_path_is_followed(call, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a").write_text("home")
    assert await call("read_file", path="~/a") == "1|home"


async def test_a_file_is_written_with_its_folders(call, tmp_path):
    assert (
        await call("write_file", path="new/er/a.txt", content="one\ntwo\n") == "Wrote new/er/a.txt: 8 bytes, 2 lines."
    )
    assert (tmp_path / "new/er/a.txt").read_bytes() == b"one\ntwo\n"


async def test_half_a_character_is_not_written(call, tmp_path):
    with pytest.raises(ToolError, match="half a character"):
        await call("write_file", path="a", content="\ud83d")
    assert not (tmp_path / "a").exists()


async def test_an_edit_shows_its_difference(call, tmp_path):
    (tmp_path / "a.py").write_text("a = 1\nb = 2\n")
    assert await call("edit_file", path="a.py", old="b = 2", new="b = 3") == (
        "Edited a.py\n@@ -1,3 +1,3 @@\n a = 1\n-b = 2\n+b = 3\n "
    )
    assert (tmp_path / "a.py").read_text() == "a = 1\nb = 3\n"


async def test_a_fuzzy_edit_says_so(call, tmp_path):
    (tmp_path / "a.py").write_text("a  = 1\n")
    assert "(matched in spite of: white space)" in await call("edit_file", path="a.py", old="a = 1\n", new="a = 2\n")


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"\xef\xbb\xbfa\r\nb\r\n", "a", "c", b"\xef\xbb\xbfc\r\nb\r\n"),
        ("a한\n".encode("utf-16"), "한", "글", "a글\n".encode("utf-16")),
        (b"caf\xe9\r\nx", "x", "\xfc", b"caf\xe9\r\n\xfc"),
        ("안녕\n".encode(), "안녕", "여보세요", "여보세요\n".encode()),
    ],
)
async def test_encoding_mark_and_line_ends_are_kept(call, tmp_path, before, old, new, after):
    (tmp_path / "a").write_bytes(before)
    await call("edit_file", path="a", old=old, new=new)
    assert (tmp_path / "a").read_bytes() == after


async def test_a_character_the_file_cannot_hold_is_refused(call, tmp_path):
    (tmp_path / "a").write_bytes(b"caf\xe9")
    with pytest.raises(ToolError, match="latin-1"):
        await call("edit_file", path="a", old="caf", new="한")
    assert (tmp_path / "a").read_bytes() == b"caf\xe9"


async def test_a_refused_edit_writes_nothing(call, tmp_path, place):
    (tmp_path / "a").write_text("x x")
    for old, new in (("x", "y"), ("gone", "y"), ("x x", "x x")):
        with pytest.raises(ToolError, match="Not edited"):
            await call("edit_file", path="a", old=old, new=new)
    assert not place.written


async def test_a_change_by_somebody_else_is_noticed_once(call, tmp_path):
    (tmp_path / "a").write_text("one\n")
    await call("read_file", path="a")
    (tmp_path / "a").write_text("two\n")
    assert "had changed on disk" in await call("write_file", path="a", content="three\n")
    assert "had changed on disk" not in await call("write_file", path="a", content="four\n")
    (tmp_path / "a").write_text("four\nfive\n")
    assert "had changed on disk" in await call("edit_file", path="./a", old="four", new="six")
    (tmp_path / "a").unlink()
    assert "had changed on disk" not in await call("write_file", path="a", content="seven\n")


async def test_one_session_does_not_speak_for_another(call, tools, tmp_path, place):
    (tmp_path / "a").write_text("one\n")
    await call("read_file", path="a")
    (tmp_path / "a").write_text("two\n")
    other = FakeToolContext(place, session=Session(id="other", origin="embed"))
    params = tools["write_file"].params(path="a", content="x")
    assert "had changed" not in await tools["write_file"].run(other, params)


async def test_who_changed_a_file_is_told_as_far_as_it_is_known(tools, tmp_path, place):
    me = FakeToolContext(place, session=Session(id="me", origin="cli"))
    child = FakeToolContext(place, session=Session(id="child", origin="child", parent="me"))
    other = FakeToolContext(place, session=Session(id="other", origin="cli"))

    async def write(context, content):
        return await tools["write_file"].run(context, tools["write_file"].params(path="a", content=content))

    await write(me, "one")
    assert "Warning" not in await write(child, "two")
    assert "an agent that works for you changed the file" in await write(me, "three")
    assert "the agent you work for changed the file" in await write(child, "four")
    await write(other, "five")
    assert "another agent (session other) changed the file" in await write(me, "six")
    (tmp_path / "a").write_text("seven")
    assert "had changed on disk" in await write(me, "eight")


@pytest.fixture(params=["rg", "grep"])
def tree(request, tmp_path, monkeypatch):
    """A small project, searched with ripgrep and without it."""
    if request.param == "grep":
        found = {}
        for folder in reversed(os.get_exec_path()):
            if os.path.isdir(folder):  # noqa: PTH112
                found |= {name: f"{folder}/{name}" for name in os.listdir(folder) if name != "rg"}  # noqa: PTH208
        (tmp_path.parent / f"{tmp_path.name}-bin").mkdir()
        for name in ("sh", "grep", "find", "stat", "sort", "cut", "xargs", "ls", "printf", "bash"):
            os.symlink(found[name], tmp_path.parent / f"{tmp_path.name}-bin" / name)  # noqa: PTH211
        monkeypatch.setenv("PATH", str(tmp_path.parent / f"{tmp_path.name}-bin"))
    else:
        import shutil

        if not shutil.which("rg"):
            pytest.skip("ripgrep is not installed")
    (tmp_path / "src" / "node_modules").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.py").write_text("needle\n")
    (tmp_path / ".hidden.py").write_text("needle = 0\n")
    (tmp_path / "src" / "a b.py").write_text("one\nneedle = 1\nthree\n")
    (tmp_path / "src" / "c.txt").write_text("needle: 2\n" * 3)
    (tmp_path / "-x.py").write_text("no\n")
    os.utime(tmp_path / "src" / "a b.py", (1_000_000, 1_000_000))
    os.utime(tmp_path / ".hidden.py", (2_000_000, 2_000_000))
    return request.param


@pytest.mark.usefixtures("tree")
async def test_content_is_found_and_grouped_by_file(call):
    assert await call("search_files", pattern="needle = [0-9]") == (
        ".hidden.py\n  1|needle = 0\nsrc/a b.py\n  2|needle = 1"
    )
    assert await call("search_files", pattern="needle", glob="*.txt", limit=2) == (
        "src/c.txt\n  1|needle: 2\n  2|needle: 2\n[more than 2 matches; narrow the pattern, the path or the glob]"
    )
    assert await call("search_files", pattern="needle", path="src/a b.py", context=1) == (
        "a b.py\n  1-one\n  2|needle = 1\n  3-three"
    )
    assert await call("search_files", pattern="no such thing") == "No match."
    assert await call("search_files", pattern="-no") == "No match."


@pytest.mark.usefixtures("tree")
async def test_names_are_found_newest_first(call):
    assert (await call("search_files", pattern="*.py", target="files")).split("\n")[-2:] == [".hidden.py", "src/a b.py"]
    assert await call("search_files", pattern="c.t", target="files") == "src/c.txt"
    assert await call("search_files", pattern="zzz", target="files") == "No such file."
    assert "2 more" in await call("search_files", pattern="*.py", target="files", limit=1)


@pytest.mark.usefixtures("tree")
async def test_a_wrong_pattern_or_place_is_told(call):
    with pytest.raises(ToolError, match="search failed"):
        await call("search_files", pattern="(")
    for target in ("content", "files"):
        with pytest.raises(ToolError, match="gone does not exist"):
            await call("search_files", pattern="x", path="gone", target=target)


@pytest.mark.usefixtures("tree")
async def test_no_pattern_or_path_is_read_by_a_shell(call, tmp_path):
    (tmp_path / "$(touch oops)").mkdir()
    for pattern in ("$(touch oops)", "`touch oops`", "'; touch oops; '"):
        for target in ("content", "files"):
            await call("search_files", pattern=pattern, target=target)
    await call("list_files", path="$(touch oops)")
    assert not (tmp_path / "oops").exists()


async def test_what_git_ignores_is_not_found(call, tmp_path):
    import shutil

    if not shutil.which("rg"):
        pytest.skip("ripgrep is not installed")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("built\n")
    (tmp_path / "built").write_text("needle\n")
    assert await call("search_files", pattern="needle") == "No match."


@pytest.mark.usefixtures("tree")
async def test_a_folder_is_listed(call):
    assert await call("list_files") == "-x.py\n.git/ (not shown)\n.hidden.py\nsrc/"
    assert (await call("list_files", depth=3)).split("\n")[3:] == [
        "src/", "src/a b.py", "src/c.txt", "src/node_modules/ (not shown)",
    ]  # fmt: skip
    with pytest.raises(ToolError, match="does not exist"):
        await call("list_files", path="gone")
    with pytest.raises(ToolError, match="not a folder"):
        await call("list_files", path="src/c.txt")


async def test_an_empty_folder_is_said(call):
    assert await call("list_files") == "The folder is empty."


def test_keys_are_absolute_where_they_can_be(tools, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    keys = {
        path: list(tools["read_file"].touches(tools["read_file"].params(path=path)))
        for path in ("/a/../b", "~/c", "d/./e", "../f")
    }
    assert keys == {"/a/../b": ["file:/b"], "~/c": ["file:/home/me/c"], "d/./e": ["file:d/e"], "../f": ["file:../f"]}


def test_effects_and_repeatability_are_declared(tools):
    writers = {name for name, tool in tools.items() if Effect.WRITE_FILES in tool.effects}
    assert writers == {"write_file", "edit_file", "apply_patch", "edit_notebook"}
    assert {name for name, tool in tools.items() if not tool.idempotent} == writers
    assert all(not tool.untrusted and tool.toolset == "files" for tool in tools.values())


@pytest.mark.parametrize(
    "path", ["/proc/self/environ", "/sys/power/state", "file:///etc/passwd", "~root/x", "C:\\x", "a\0b", "", "x" * 256]
)
async def test_what_is_no_file_is_refused_by_every_tool(call, path, place):
    arguments = {
        "read_file": {}, "write_file": {"content": "x"}, "edit_file": {"old": "a", "new": "b"},
        "search_files": {"pattern": "x"}, "list_files": {},
    }  # fmt: skip
    for name, more in arguments.items():
        with pytest.raises(OutOfReach):
            await call(name, path=path, **more)
    assert not place.written


async def test_guarded_files_are_neither_read_nor_written_nor_searched(call, tmp_path, place):
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes" / ".env").write_text("KEY=s3cret\n")
    (tmp_path / ".hermes" / "open.txt").write_text("KEY is elsewhere\n")
    (tmp_path / "link").symlink_to(".hermes/.env")
    os.link(tmp_path / ".hermes" / ".env", tmp_path / "hard")
    for path in (".hermes/.env", ".hermes/.ENV", "link", "hard", ".hermes/../.hermes/.env"):
        for name, more in (
            ("read_file", {}),
            ("write_file", {"content": "x"}),
            ("edit_file", {"old": "K", "new": "b"}),
        ):
            with pytest.raises(OutOfReach, match="belongs to Hermes itself"):
                await call(name, path=path, **more)
    assert not place.written
    told = await call("search_files", pattern="KEY", path=".hermes")
    assert "s3cret" not in told
    assert "open.txt" in told
    assert "[left out: 1 matching file of Hermes itself, closed to tools]" in told
    told = await call("search_files", pattern="s3cret")
    assert told.startswith("No match.\n[left out: ")


@pytest.mark.usefixtures("tree")
async def test_from_above_the_home_of_hermes_is_left_out_whatever_lies_in_it(context, tmp_path):
    home = tmp_path / ".hermes"
    tools = {one.name: one for one in make_tools(guarded=[home / ".env"], home=home)}
    kept = (".hermes/canary.txt", ".hermes/skills/x/canary.md", ".hermes/cache/outputs/s/canary")
    for name in ("notes/canary.txt", *kept):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("canary\n")
    (tmp_path / "up").symlink_to(tmp_path.parent)

    async def call(name, **arguments):
        return await tools[name].run(context, tools[name].params(**arguments))

    for path in (".", str(tmp_path), f"up/{tmp_path.name}"):
        for target, what in (("content", "matching files"), ("files", "files")):
            told = await call("search_files", pattern="canary", path=path, target=target)
            assert "notes/canary.txt" in told
            assert ".hermes" not in told
            assert f"[left out: 3 {what} of Hermes itself, closed to tools]" in told
        told = await call("list_files", path=path, depth=5)
        assert "notes/" in told
        assert ".hermes" not in told
        assert "of Hermes itself, closed to tools]" in told
    told = await call("search_files", pattern="canary", path=str(home / "skills"))
    assert "canary.md" in told
