"""What is deleted for good is asked about, also where a wall bounds everything else; what is made again is not."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_core.testing import FakeWorkspace
from hermes_core.types import Feature, Protected, Session, ToolCall, Verdict
from hermes_paths.unsaved import born, note_unsaved
from hermes_tool_guard.gate import judge

IGNORE = """\
*.db
/data/*
!/data/kept.csv
secret.txt
hello
build/
node_modules/
*.log
.env
"""
# What is there when the session begins. Of these a snapshot has notes.txt, src, docs and data/kept.csv.
OLD = {
    ".gitignore": IGNORE,
    "notes.txt": "n",
    "src/a.py": "a",
    "src/cache.db": "c",
    "docs/a.md": "d",
    "docs/keys/site.pem": "k",
    "app.db": "d",
    "secret.txt": "s",
    "data/big.csv": "1",
    "data/kept.csv": "2",
    ".env": "KEY=1",
    ".env.example": "KEY=",
    "hello": "binary",
    "app.log": "l",
    "empty.db": "",
    "movie.bin": "x" * 10_000_001,
    "build/app.js": "b",
    "dist/app.js": "b",
    "target/debug/app": "b",
    "node_modules/x/index.js": "m",
    "node_modules/x/test.pem": "m",
    ".venv/bin/python": "p",
    "src/__pycache__/a.cpython-311.pyc": "p",
    "inner/.git/HEAD": "ref: refs/heads/main",
    "inner/a.py": "i",
    "work/.env": "KEY=2",
}
NEW = {  # what the session made
    "made.db": "m",
    "out/made.bin": "m",
    "clone/.git/HEAD": "ref: refs/heads/main",
    "clone/tests/site.pem": "k",
    "clone/app.db": "d",
    "fresh.pem": "k",
}

# Each row: what is run, and what it would lose; a dot where it loses nothing.
TABLE = """
rm notes.txt                               | .
rm -rf docs/a.md src/a.py                  | .
rm app.db                                  | app.db
rm -f ./src/cache.db                       | cache.db
rm -rf src                                 | src/cache.db
rm *.db                                    | *.db with
rm .env                                    | .env
rm .env.example                            | .
rm -rf work                                | work/.env
rm -rf docs                                | docs/keys/site.pem
rm docs/keys/site.pem                      | site.pem
rm fresh.pem                               | fresh.pem
rm movie.bin                               | movie.bin
rm secret.txt && ls                        | secret.txt
sh -c 'rm secret.txt'                      | secret.txt
python3 -c 'import os; os.remove("app.db")' | app.db
rm data/kept.csv                           | .
rm -r data                                 | data/big.csv
rm hello                                   | hello
rm nothing.db                              | .
rm empty.db                                | empty.db
truncate -s 0 app.db                       | app.db
truncate -s 0 notes.txt                    | .
: > app.db                                 | app.db
: > notes.txt                              | .
echo more >> app.db                        | .
echo x > empty.db                          | .
echo x > new.db                            | .
make 2> app.log                            | .
cp .env.example .env                       | .env
cp notes.txt app.db                        | app.db
mv notes.txt app.db                        | app.db
tee app.db < notes.txt                     | app.db
dd if=notes.txt of=app.db                  | app.db
mv app.db old.db                           | .
mv app.db /tmp/                            | app.db
chmod 600 app.db                           | .
touch app.db                               | .
touch app.db && rm app.db                  | app.db
shred -u notes.txt                         | beyond recovery
rm -rf inner                               | inner/.git
rm -rf inner/.git                          | inner/.git
find . -name '*.db' -delete                | src/cache.db
find . -name '*.pyc' -delete               | .
find . -name __pycache__ -exec rm -rf {} + | .
find . -path '*/__pycache__/*' -delete     | .
find . -name .env -delete                  | .env
find data -mtime +30 -delete               | data/big.csv
find docs -name '*.md' -delete             | .
find . -type d -empty -delete              | .
rm -rf node_modules build dist target .venv| .
rm -rf src/__pycache__ app.log             | .
rm -rf ./build/*                           | .
make clean                                 | .
npm ci && npm run build                    | .
rm made.db                                 | .
rm -rf out                                 | .
rm -rf clone                               | .
rm -rf clone/.git                          | .
cp made.db app2.db && rm app2.db           | .
git rm src/a.py                            | .
git clean -fd                              | .
git clean -fdx                             | which git ignores
git clean -fdX                             | which git ignores
git clean -fdx src/__pycache__             | .
git clean -ndx                             | .
git stash drop                             | stashed
git stash clear                            | stashed
git branch -D topic                        | branch
git branch --delete --force topic          | branch
git branch -d topic                        | .
git tag -d v1                              | tag
git reset --hard HEAD~1                    | reset --hard
git reset --keep HEAD~1                    | .
git reset HEAD~1                           | .
git reflog expire --expire=now --all       | bring back
git gc --prune=now                         | bring back
git update-ref -d refs/heads/topic         | history
git checkout -- .                          | .
git restore .                              | .
git -C clone reset --hard                  | .
git -C clone branch -D topic               | .
rm -rf .git                                | git keeps its own data in
rm -rf *                                   | everything in the folder
"""


def rows() -> list[tuple[str, str]]:
    split = [line.rpartition("|") for line in TABLE.strip().splitlines()]
    return [(command.strip(), lost.strip()) for command, _, lost in split]


class Place:
    """A folder with what was there before the session, and what the session made."""

    def __init__(self, root: Path, features: frozenset[Feature]) -> None:
        self.folder, self.home = root / "work", root / "home"
        self._write(OLD)
        subprocess.run(["git", "init", "-q", str(self.folder)], check=True)
        self._workspace = FakeWorkspace(folder=self.folder)
        self._workspace.features = features
        self.session = Session(id="s", origin="test", turn="t", created=self._now())
        self._write(NEW)

    def _now(self) -> float:
        """A moment after all that is there: file systems count in steps."""
        last = born(str(self.folder / next(reversed(OLD))))
        assert last is not None, "this test needs a file system that knows when a file came to be"
        while True:
            (self.folder / "tick").unlink(missing_ok=True)
            (self.folder / "tick").touch()
            if (moment := born(str(self.folder / "tick"))) and moment > max(last, self._made()):
                (self.folder / "tick").unlink()
                return moment
            time.sleep(0.002)

    def _made(self) -> float:
        return born(str(self.folder / ".git")) or 0.0

    def _write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    async def __call__(self, command: str, *, walled: bool = True) -> Verdict | None:
        call = ToolCall(id="1", name="terminal", arguments={"command": command})
        return await judge(call, self._workspace, str(self.home), Protected(), walled=walled, session=self.session)


@pytest.fixture
def place(tmp_path: Path) -> Callable[..., Place]:
    def made(*features: Feature) -> Place:
        return Place(tmp_path, frozenset(features or (Feature.LOCAL, Feature.WALLED)))

    return made


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place in which nothing changes: commands are judged there, and not run."""
    return Place(tmp_path_factory.mktemp("still"), frozenset({Feature.LOCAL, Feature.WALLED}))


@pytest.mark.parametrize(("command", "lost"), rows())
async def test_what_no_snapshot_has_is_asked_about_also_inside_the_wall(still: Place, command: str, lost: str) -> None:
    verdict = await still(command)
    assert verdict
    assert (verdict.outcome, verdict.reason) == ("allow" if lost == "." else "ask", verdict.reason)
    assert lost == "." or lost in verdict.reason, verdict.reason


@pytest.mark.parametrize("command", ["rm app.db", "rm movie.bin", "rm -r data", ": > secret.txt"])
async def test_without_a_wall_it_is_asked_about_as_well(place: Callable[..., Place], command: str) -> None:
    verdict = await place(Feature.LOCAL)(command, walled=False)
    assert verdict
    assert (verdict.outcome, "which no snapshot has" in verdict.reason) == ("ask", True)


async def test_it_is_looked_at_anew_each_time(place: Callable[..., Place]) -> None:
    here = place()

    async def asked() -> list[str]:
        return [one.outcome for one in (await here("rm app.db"), await here("rm other.db")) if one]

    assert await asked() == ["ask", "allow"]
    (here.folder / "app.db").rename(here.folder / "other.db")
    assert await asked() == ["allow", "ask"]


@pytest.mark.parametrize("command", ["rm notes.txt", "rm -rf docs", "truncate -s 0 src/a.py", "rm -rf src/*"])
async def test_where_the_turn_has_no_snapshot_all_that_was_there_counts(
    place: Callable[..., Place], command: str
) -> None:
    here = place()
    note_unsaved(here.home, "t", "the folder has 60,000 files")
    verdict = await here(command)
    assert verdict
    assert (verdict.outcome, "which no snapshot has" in verdict.reason) == ("ask", True)
    for free in ("rm -rf node_modules build target", "rm made.db", "echo x > n.txt && rm n.txt"):
        assert (found := await here(free)), free
        assert found.outcome == "allow", free


async def test_what_cannot_be_looked_through_counts(place: Callable[..., Place]) -> None:
    here = place()
    many = here.folder / "many"
    many.mkdir()
    for number in range(5_100):
        (many / str(number)).touch()
    here.session = Session(id="s", origin="test", turn="t", created=time.time() + 60)
    verdict = await here("rm -rf many")
    assert verdict
    assert (verdict.outcome, "more than can be looked through" in verdict.reason) == ("ask", True)


async def test_in_an_isolated_place_nothing_is_lost_but_the_place(place: Callable[..., Place]) -> None:
    verdict = await place(Feature.LOCAL, Feature.ISOLATED)("rm -rf data .env")
    assert verdict
    assert verdict.outcome == "allow"
