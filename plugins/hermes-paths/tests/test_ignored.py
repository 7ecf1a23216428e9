"""``.gitignore`` files are read as git itself reads them."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_paths.ignored import Ignored

TREE = (
    "a.txt", "b.log", "keep.log", "# odd", "!odd", "sp ace ", "x[1].txt", "x1.txt", "dir/a.txt", "dir/b.log",
    "dir/keep.log", "data.db",
    "dir/deep/a.txt", "dir/deep/build/out", "build/out", "build/keep.me", "src/build/x.o", "src/a/b/c/x.txt",
    "data/one", "data/two/three", "foo", "bar/foo", "bar/baz/foo", "abc/x/y/z", ".env", "cafe/é.txt",
)  # fmt: skip


def of_git(folder: Path) -> set[str]:
    """What git calls ignored."""
    words = ["git", "-C", str(folder), "-c", "core.excludesFile=", "check-ignore", "--no-index", "-z", "--stdin"]
    feed = b"\0".join(name.encode() for name in TREE)
    done = subprocess.run(words, input=feed, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return {name.decode() for name in done.stdout.split(b"\0") if name}


def of_ours(folder: Path) -> set[str]:
    ignored = Ignored(str(folder))
    return {name for name in TREE if ignored.holds(str(folder / name))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ignored")
    for name in TREE:
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    subprocess.run(["git", "init", "-q", str(made)], check=True)
    return made


def written(folder: Path, **files: str) -> Path:
    for place in ("", "dir", "bar"):
        path = folder / place / ".gitignore"
        path.unlink(missing_ok=True)
        if text := files.get(place or "top", ""):
            path.write_text(text)
    return folder


@pytest.mark.parametrize(
    "lines",
    [
        ("*.log",), ("*.log", "!keep.log"), ("build/",), ("build",), ("/build",), ("build/*", "!build/keep.me"),
        ("build/", "!build/keep.me"), ("dir/**",), ("**/build",), ("src/**/x.txt",), ("**/deep/**",), ("a/**/c",),
        ("foo/*",), ("bar/*/foo",), ("/foo",), ("foo",), ("*",), ("*", "!*/", "!*.txt"), ("# odd",), (r"\# odd",),
        (r"\!odd",), ("sp ace ",), ("sp ace\\ ",), (r"x\[1\].txt",), ("x[1].txt",), ("x[!2].txt",), ("x[^2].txt",),
        ("[ab].*",), ("data*",), ("data/",), ("data/two/",), ("data/t?o",), ("", "  ", "/"), (".env",),
        ("*.txt", "!dir/"),
        ("*.txt", "!a.txt"), ("abc/**/z",), ("abc/**",), ("**",), ("**/",), ("/*", "!/dir"), ("dir/*", "!dir/a.txt"),
        ("*.log\r",), ("é.txt",), ("x[",), ("foo/",), ("/**/foo",), ("***",), ("b**",),
    ],
)  # fmt: skip
def test_each_kind_of_line_means_what_it_means_to_git(folder: Path, lines: tuple[str, ...]) -> None:
    written(folder, top="\n".join(lines) + "\n")
    assert of_ours(folder) == of_git(folder)


def test_the_nearest_file_decides(folder: Path) -> None:
    written(folder, top="*.log\nfoo\n", dir="!b.log\n/deep\n", bar="!foo\nbaz/foo\n")
    assert of_ours(folder) == of_git(folder)
    assert {"b.log", "dir/keep.log", "dir/deep/a.txt", "bar/baz/foo"} <= of_ours(folder)
    assert not {"dir/b.log", "bar/foo"} & of_ours(folder)


PARTS = st.sampled_from(["*", "**", "a*", "?oo", "foo", "build", "dir", "*.txt", "[ab].txt", "x", "data", "deep"])
LINES = st.builds(
    lambda no, top, parts, end: f"{no}{top}{'/'.join(parts)}{end}",
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(PARTS, min_size=1, max_size=3),
    st.sampled_from(["", "/"]),
)


@given(st.lists(LINES, max_size=4), st.lists(LINES, max_size=2))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_lines_mean_what_they_mean_to_git(folder: Path, top: list[str], below: list[str]) -> None:
    written(folder, top="\n".join(top), dir="\n".join(below))
    assert of_ours(folder) == of_git(folder)


def test_a_hostile_file_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("\n".join([f"{'*a' * 100}", "/".join(["**", "a"] * 200)] * 400))
    ignored = Ignored(str(tmp_path))
    assert not ignored.holds(str(tmp_path / "/".join(["a"] * 100) / ("a" * 200 + "b")))


def test_what_lies_elsewhere_is_not_ignored(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*\n")
    assert not Ignored(str(tmp_path)).holds("/etc/passwd")
    assert not Ignored(str(tmp_path)).holds(f"{tmp_path}x/a")
