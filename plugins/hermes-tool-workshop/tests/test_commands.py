"""``hermes workshop``: what a person sees of the tools that the agent wrote, and does with them."""

import json
import os
import pty
import re
import subprocess
import sys
from typing import Any

import click
import pytest
from click.testing import CliRunner

from hermes_core.errors import ToolError, UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing.contract_base import manifest_path
from hermes_core.types import Principal, Session
from hermes_tool_workshop.checks import checks
from hermes_tool_workshop.commands import commands

CODE = '''
def shout(text: str) -> str:
    """Say a text in capital letters."""
    return text.upper()
'''
SAID = [{"arguments": {"text": "a"}, "result": "A"}]
HANA = Session(id="h", origin="cli", owner=Principal(person="hana"))


class Terminal:
    def __init__(self, bench: Any) -> None:
        self.bench = bench
        self.commands = {c.name.removeprefix("workshop "): c.build() for c in commands(bench.data)}

    def __call__(self, line: str, **options: Any) -> str:
        """What a command says. Raises what it raises."""
        name, *words = line.split()
        done = CliRunner().invoke(self.commands[name], words, catch_exceptions=True, **options)
        if isinstance(done.exception, UserError | ToolError):
            raise done.exception
        assert not done.exception, done.output
        return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "WHEN", done.output.rstrip("\n"))


@pytest.fixture
def say(bench):
    return Terminal(bench)


async def two(bench) -> None:
    await bench.write(CODE, "shout", examples=SAID, why="I shout often.")
    await bench.write(
        CODE.replace("upper()", "upper() + '!'"), "shout", examples=[{"arguments": {"text": "a"}}], reads=["."]
    )


async def test_what_a_person_sees(bench, say, snapshot):
    assert say("list") == "The agent has written no tool yet."
    await two(bench)
    for line in ("list", "show shout", "show shout --version 1", "diff shout", "diff own_shout 2 1"):
        assert say(line) == snapshot(name=line)


async def test_programs_read_json(bench, say):
    await two(bench)
    row = json.loads(say("list --json"))
    assert (row["tool"], row["version"], row["versions"], row["state"]) == ("own_shout", 2, [1, 2], "on")
    shown = json.loads(say("show shout --json"))
    assert (shown["code"], shown["reads"], shown["intact"]) == (
        CODE.replace("upper()", "upper() + '!'").lstrip("\n"),
        ["."],
        True,
    )
    assert "+    return" in json.loads(say("diff shout --json"))["diff"]
    assert json.loads(say("rollback shout 1 --json")) == {"tool": "own_shout", "version": 1, "state": "on"}


async def test_back_and_forth(bench, say):
    await two(bench)
    assert say("rollback shout 1") == "Version 1 of own_shout is in force."
    assert await bench.call("own_shout", {"text": "a"}) == "A"
    assert say("rollback shout 2") == "Version 2 of own_shout is in force."
    assert await bench.call("own_shout", {"text": "a"}) == "A!"
    with pytest.raises(UserError, match="has no version 7; there is: 1, 2"):
        say("rollback shout 7")


async def test_off_and_on(bench, say):
    await two(bench)
    assert say("disable shout") == "own_shout is switched off."
    with pytest.raises(ToolError, match="was not run: a person switched it off"):
        await bench.call("own_shout", {"text": "a"})
    assert "switched off" in say("list")
    assert say("enable shout") == "own_shout can be called again."
    assert await bench.call("own_shout", {"text": "a"}) == "A!"


async def test_removed_goes_to_the_archive(bench, say):
    await two(bench)
    said = say("remove shout")
    assert said.startswith("own_shout is gone. All its versions are in ")
    assert "own_shout" not in bench.offered()
    with pytest.raises(UserError, match="There is none yet"):
        say("show shout")


async def test_a_name_that_is_not_there_is_told_with_what_is_close(bench, say):
    await two(bench)
    with pytest.raises(UserError, match="Did you mean own_shout"):
        say("show shuot")
    await bench.write(CODE, "shout", examples=SAID, session=HANA)
    with pytest.raises(UserError, match="is there for several people"):
        say("show shout")
    assert "version 1 of 1" in say("show shout --person hana")
    assert "default.hana" in say("list")


async def test_what_was_changed_by_hand_needs_a_person(bench, say):
    await two(bench)
    (code,) = bench.data.glob("*/own_shout/2/tool.py")
    code.write_text(CODE.replace("upper()", "lower()"))
    assert "changed on the disk" in say("list")
    assert "It is not what was approved, and is not run." in say("show shout")
    (finding,) = await checks(bench.data)[0].run()
    assert (finding.level, finding.fix) == ("fault", "hermes workshop accept own_shout")
    with pytest.raises(UserError, match="Nobody is here to say yes"):
        say("accept shout")
    with pytest.raises(ToolError, match="is not what was approved"):
        await bench.call("own_shout", {"text": "A"})


def in_a_terminal(data: Any, line: str, answer: str) -> str:
    """A command, typed in a terminal of its own."""
    script = "import sys; from pathlib import Path; from hermes_tool_workshop.commands import commands\n"
    script += "named = {c.name: c for c in commands(Path(sys.argv[1]))}\nnamed['workshop ' + sys.argv[2]]"
    script += ".build().main(sys.argv[3:])"
    person, terminal = pty.openpty()
    os.write(person, answer.encode())
    env = {name: value for name, value in os.environ.items() if name != "HERMES_RUN"}
    words = [sys.executable, "-c", script, str(data), *line.split()]
    done = subprocess.run(words, stdin=terminal, capture_output=True, text=True, env=env, check=False, timeout=60)
    for handle in (person, terminal):
        os.close(handle)
    return done.stdout + done.stderr


@pytest.mark.parametrize("answer", ["y", "n"])
@pytest.mark.long
async def test_a_person_accepts_it_as_it_is_or_not(bench, answer):
    await two(bench)
    (code,) = bench.data.glob("*/own_shout/2/tool.py")
    code.write_text(CODE.replace("upper()", "lower()"))
    said = in_a_terminal(bench.data, "accept shout", f"{answer}\n")
    assert "text.lower()" in said, "all of it is shown"
    assert ("is accepted as it is now" in said) == (answer == "y")
    if answer == "y":
        assert await bench.call("own_shout", {"text": "A"}) == "a"
    else:
        with pytest.raises(ToolError):
            await bench.call("own_shout", {"text": "A"})


async def test_code_that_is_none_is_not_accepted(bench, say):
    await two(bench)
    (code,) = bench.data.glob("*/own_shout/2/tool.py")
    code.write_text("import ctypes\n" + CODE)
    with pytest.raises(UserError, match="line 1: the module ctypes may not be used"):
        say("accept shout")


def test_what_widens_is_for_a_person():
    manifest = read_manifest(manifest_path("hermes_tool_workshop"))
    kept = {words for words, one in manifest.records("commands").items() if one.who == "person"}
    assert kept == {"workshop accept", "workshop enable", "workshop restore", "workshop rollback"}


async def test_doctor_is_content_or_says_what_to_do(bench):
    (finding,) = await checks(bench.data)[0].run()
    assert (finding.level, finding.text) == ("ok", "0 tools, each as it was approved")
    await two(bench)
    for place in bench.data.glob("*/own_shout"):
        (place / "current").write_text("{")
    (finding,) = await checks(bench.data)[0].run()
    assert finding.level == "fault"
    assert "cannot be read" in finding.text


def test_every_command_says_what_it_does(bench):
    for command in commands(bench.data):
        built = command.build()
        assert isinstance(built, click.Command)
        assert built.help
