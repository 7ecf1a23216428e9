"""V4A patches: what they say, what they make of files, and that a patch that does not fit changes nothing."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import OutOfReach, ToolError
from hermes_core.testing import FakeToolContext, FakeWorkspace
from hermes_tool_files.patches import FilePatch, Hunk, laid_on, parse
from hermes_tool_files.tools import make_tools


def wrapped(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


@pytest.fixture
def apply(tmp_path: Path) -> Any:
    tools = {tool.name: tool for tool in make_tools(guarded=[tmp_path / ".hermes" / ".env"])}
    tool, context = tools["apply_patch"], FakeToolContext(FakeWorkspace(folder=tmp_path))

    async def do(*lines: str) -> Any:
        return await tool.run(context, tool.params(patch=wrapped(*lines)))

    return do


async def test_files_are_added_changed_moved_and_deleted_by_one_patch(apply: Any, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n\n\ndef g():\n    return 1\n")
    (tmp_path / "b.txt").write_text("one\ntwo\n")
    (tmp_path / "c.txt").write_text("gone\n")
    told = await apply(
        "*** Update File: a.py", "@@ def g():", "-    return 1", "+    return 2",
        "*** Update File: b.txt", "*** Move to: new/d.txt", "@@", " one", "-two", "+three",
        "*** Delete File: c.txt",
        "*** Add File: e.txt", "+hello", "+", "+there",
    )  # fmt: skip
    assert (tmp_path / "a.py").read_text() == "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
    assert (tmp_path / "new/d.txt").read_text() == "one\nthree\n"
    assert (tmp_path / "e.txt").read_text() == "hello\n\nthere\n"
    assert not (tmp_path / "b.txt").exists()
    assert not (tmp_path / "c.txt").exists()
    assert "Edited a.py" in told
    assert "-    return 1\n+    return 2" in told
    assert "Moved b.txt to new/d.txt." in told
    assert "Deleted c.txt." in told


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["*** Update File: b.txt", "@@", "-four", "+five"], "hunk 1: Not patched: its lines are not there"),
        (["*** Update File: b.txt", "@@", "-x", "+y"], "fit 2 places"),
        (["*** Update File: b.txt", "@@ nowhere", "-x", "+y"], "no line 'nowhere'"),
        (["*** Add File: b.txt", "+x"], "is there already"),
        (["*** Delete File: none.txt"], "none.txt"),
        (["*** Update File: b.txt", "*** Move to: a.txt"], "twice"),
        (["*** Update File: a.txt", "@@", "-a", "+a"], "twice"),
        (["*** Update File: b.txt", "what is this"], "line 7 begins neither"),
        (["*** Rename File: b.txt"], "line 6 begins neither"),
        (["*** Update File: b.txt", "*** Move to: c.txt"], "c.txt, to which b.txt would move"),
    ],
)
async def test_what_does_not_fit_changes_nothing(apply: Any, tmp_path: Path, lines: list[str], said: str) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    (tmp_path / "b.txt").write_text("x\nx\n")
    (tmp_path / "c.txt").write_text("c\n")
    with pytest.raises(ToolError, match=said):
        await apply("*** Update File: a.txt", "@@", "-a", "+b", *lines)
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {
        "a.txt": "a\n",
        "b.txt": "x\nx\n",
        "c.txt": "c\n",
    }


async def test_what_cannot_be_written_takes_the_rest_back(apply: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    (tmp_path / "taken").write_text("a file, no folder")
    with pytest.raises(ToolError, match="Nothing is changed"):
        await apply(
            "*** Update File: a.txt", "-a", "+b", "*** Add File: c.txt", "+c", "*** Add File: taken/d.txt", "+d"
        )
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.txt", "taken"]
    assert (tmp_path / "a.txt").read_text() == "a\n"


async def test_no_file_of_hermes_is_reached(apply: Any, tmp_path: Path) -> None:
    (tmp_path / ".hermes").mkdir()
    (tmp_path / ".hermes/.env").write_text("KEY=1\n")
    for head in ("*** Delete File: .hermes/.env", "*** Update File: .hermes/.env\n-KEY=1\n+KEY=2"):
        with pytest.raises(OutOfReach):
            await apply(head)


def test_the_keys_of_a_call_are_all_files_it_names() -> None:
    tool = next(tool for tool in make_tools() if tool.name == "apply_patch")
    text = wrapped("*** Update File: a.py", "*** Move to: /b.py", "@@", "-x", "*** Delete File: c/../d")
    assert tool.touches is not None
    assert list(tool.touches(tool.params(patch=text))) == ["file:a.py", "file:/b.py", "file:d"]
    assert list(tool.touches(tool.params(patch="garbage"))) == ["file:."], "it names none, and is told so unasked"


@pytest.mark.parametrize(
    ("model", "there"), [("gpt-5.2", True), ("openai/gpt-4.1", True), ("gpt-4o", False), ("m", False)]
)
def test_it_is_offered_to_models_that_know_it(model: str, there: bool) -> None:
    tool = next(tool for tool in make_tools() if tool.name == "apply_patch")
    assert tool.needs is not None
    assert (tool.needs(SimpleNamespace(model=model)) is None) is there  # type: ignore[arg-type]


def test_indentation_may_differ_and_line_ends_stay() -> None:
    one = FilePatch(path="a", kind="update", hunks=[Hunk(old=["if x:", "    y()"], new=["if x:", "    z()"])])
    assert laid_on(one, "def f():\r\n\tif x:\r\n\t\ty()\r\n") == "def f():\r\n\tif x:\r\n\t\tz()\r\n"


def test_a_file_without_a_last_line_end_keeps_none() -> None:
    one = FilePatch(path="a", kind="update", hunks=[Hunk(old=["b"], new=["c", "d"])])
    assert laid_on(one, "a\nb") == "a\nc\nd"
    more = FilePatch(path="a", kind="update", hunks=[Hunk(new=["c"], last=True)])
    assert laid_on(more, "a\nb") == "a\nb\nc\n"


_LINE = st.text(st.sampled_from("ab {}\t"), max_size=4)


@given(st.lists(_LINE, max_size=8), st.lists(_LINE, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_a_whole_file_becomes_another(before: list[str], after: list[str], end: str) -> None:
    text = "".join(f"{line}{end}" for line in before)
    one = FilePatch(path="a", kind="update", hunks=[Hunk(old=before, new=after)])
    assert laid_on(one, text) == "".join(f"{line}{end if before else chr(10)}" for line in after)


_PARTS = ["*** Begin Patch", "*** Update File: a", "*** Add File: b", "*** Delete File: c", "*** Move to: d", "@@"]
_PARTS += ["@@ x", " a", "-a", "+a", "", "*** End of File", "*** End Patch", "junk"]


@given(st.lists(st.sampled_from(_PARTS), max_size=12))
def test_any_text_is_a_patch_or_a_clear_error(lines: list[str]) -> None:
    said = ""
    try:
        found = parse("\n".join(lines))
    except ToolError as error:
        said, found = error.text, []
    assert bool(found) != said.startswith("Not patched: ")
