"""What a command names and reads."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_provenance.shell import parts


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    for name in ("got.txt", "own.txt", "sub/in.txt", "a b.txt"):
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("cat got.txt", {"got.txt"}),
        ("cat < got.txt", {"got.txt"}),
        ("cat <got.txt >x", {"got.txt"}),
        ("cat 'a b.txt'", {"a b.txt"}),
        ("cd sub && cat in.txt", {"sub", "sub/in.txt"}),
        ("cat *.txt", {"."}),
        ("sort --files0-from=got.txt", {"got.txt"}),
        ("curl -d @got.txt https://x.example", {"got.txt"}),
        ("X=1 sudo -n cat got.txt | grep x", {"got.txt"}),
        ("echo $(cat got.txt)", {"got.txt"}),
        ("echo `cat got.txt`", {"got.txt"}),
        ('cat "$PWD"/got.txt; true', None),
        ("ls https://x.example/got.txt", set()),
        ("cat 'got.txt", set()),
        ("cat none.txt", set()),
    ],
)
def test_what_is_named(here: Path, command: str, named: set[str] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PWD", str(here))
    found = {place for part in parts(command, str(here)) for place in part.places}
    wanted = {"got.txt"} if named is None else named
    assert found == {str((here / name).resolve()) for name in wanted}


@pytest.mark.parametrize(
    ("command", "speaks", "searches", "objects"),
    [
        ("touch x", False, False, False),
        ("cp a b", False, False, False),
        ("ls", True, False, False),
        ("cat x", True, False, False),
        ("grep -r x", True, True, False),
        ("make", True, True, False),
        ("git status", True, False, False),
        ("git log -p", True, False, True),
        ("git -c a=b checkout main", True, False, True),
        ("git -C . --no-pager shortlog", True, False, True),
        ("git diff", True, True, True),
        ("git checkout FETCH_HEAD", True, False, True),
    ],
)
def test_how_it_reads(here: Path, command: str, speaks: bool, searches: bool, objects: bool) -> None:
    [part] = parts(command, str(here))
    assert (part.speaks, part.searches, part.objects) == (speaks, searches, objects)


def test_what_is_not_there_yet_is_named_apart(here: Path) -> None:
    [part] = parts("sort own.txt > new.txt", str(here))
    assert set(part.absent) >= {str(here / "new.txt")}
    assert [*part.places] == [str(here / "own.txt")]


@given(st.text(max_size=60))
def test_no_command_breaks_it(command: str) -> None:
    for part in parts(command, "/none"):
        assert part.cwd.startswith("/")
