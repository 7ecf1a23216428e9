"""What tries a wall notices the one that does not hold, and believes none that says less than it keeps."""

import asyncio
import re
import sys
from asyncio.subprocess import PIPE, STDOUT

import pytest

from hermes_backend_kit import walls
from hermes_backend_kit.probes import PROBES, SHELL
from hermes_backend_kit.proof import tried
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Workspace
from hermes_core.types import ExecResult, Wall

# What is harmless where nothing stops it: it changes canaries, and nothing else of this machine.
HARMLESS = [
    *("writing a new file outside", "changing a file outside", "emptying a file outside", "making a folder outside"),
    *("reading through a symbolic link", "changing a file's mode outside", "another program's temporary files"),
    *("a signal to Hermes", "ending another process"),
]
MORE = ["reading a key in the home", "a server of this machine", "an abstract socket of another program", "packets"]
KNOWN = {probe.text: probe for probe in PROBES}


class Pretended(Workspace):
    """A place that says it has a wall, and has none. Without ``python`` it is one where only a shell is."""

    def __init__(self, cwd, wall, *, python=True):
        self.cwd, self.wall, self._python, self.ran = str(cwd), wall, python, 0

    async def run(self, request):
        self.ran += 1
        program, *words = request.argv
        if program != "sh" and not self._python:
            raise ToolError(f"Cannot run {program}: no such program.")
        argv = (sys.executable if program != "sh" else program, *words)
        done = await asyncio.create_subprocess_exec(*argv, stdin=PIPE, stdout=PIPE, stderr=STDOUT, cwd=self.cwd)
        output, _ = await done.communicate(request.stdin)
        return ExecResult(status=done.returncode, output=output)


@pytest.fixture(autouse=True)
def _person(tmp_path, monkeypatch):
    (tmp_path / "person").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "person"))


@pytest.mark.skipif(sys.platform != "linux", reason="the canaries are those of Linux")
@pytest.mark.parametrize("python", [True, False])
async def test_skills_that_commands_may_read_are_no_way_into_the_home(tmp_path, python):
    probe, home = KNOWN["reading Hermes' own folder"], tmp_path / "hermes"
    place = Pretended(tmp_path, Wall(name="pretended"), python=python)
    (home / "skills" / "tidy").mkdir(parents=True)
    assert not (await tried(place, home, [probe])).through
    (home / "state.db").write_text("")
    assert (await tried(place, home, [probe])).through


@pytest.mark.skipif(sys.platform != "linux", reason="the canaries are those of Linux")
@pytest.mark.parametrize("python", [True, False])
async def test_where_no_wall_is_everything_gets_through(tmp_path, python):
    place = Pretended(tmp_path, Wall(name="pretended"), python=python)
    named = [*HARMLESS, "reading a key in the home"]
    proof = await tried(place, tmp_path, [KNOWN[text] for text in (named if python else [*named, "packets"])])
    assert proof.tried == proof.through == named
    assert (place.ran > 2) == (not python)


@pytest.mark.skipif(sys.platform != "linux", reason="the canaries are those of Linux")
async def test_what_a_wall_says_that_it_does_not_keep_is_no_hole(tmp_path):
    probes = [KNOWN[text] for text in MORE]
    bare = await tried(Pretended(tmp_path, Wall(name="pretended")), tmp_path, probes)
    assert set(bare.through) > {"a server of this machine", "reading a key in the home"}
    says = Wall(name="pretended", missing=(walls.NETWORK, walls.SOCKETS, walls.CALLS))
    assert (await tried(Pretended(tmp_path, says), tmp_path, probes)).through == ["reading a key in the home"]


async def test_without_a_wall_nothing_is_tried(tmp_path):
    place = Pretended(tmp_path, walls.no_wall("build1"))
    with pytest.raises(UserError, match=r"no wall to try\. Missing: everything on build1"):
        await tried(place, tmp_path)
    assert place.ran == 0


async def test_a_place_that_says_nothing_is_not_believed(tmp_path):
    class Mute(Pretended):
        async def run(self, request):
            return ExecResult(status=0, output=b"1\n")

    with pytest.raises(ToolError, match="could not be tried: 1"):
        await tried(Mute(tmp_path, Wall(name="pretended")), tmp_path)


def test_there_are_many_and_each_says_what_it_tries():
    assert len(KNOWN) == len(PROBES) >= 100
    assert set(SHELL) <= set(KNOWN)
    assert len(SHELL) >= 45
    for probe in PROBES:
        compile(probe.code, probe.text, "exec")
        assert probe.file or re.search(r"passed\(\)|call\(|connect\(", probe.code)
        assert all(walls.says(word) for word in probe.lacks)


def test_the_table_knows_its_words_alone():
    assert all(walls.says(getattr(walls, name)) for name in walls.__all__ if name.isupper())
    assert walls.says(walls.everything_on("build.example.org"))
    assert [walls.says(text) for text in ("everything", "everything on a b: commands", "")] == [False] * 3
