"""What `hermes help` and completion say of commands, slash commands and setup steps: as manifests tell it."""

import pytest

ENDS = "import os\nos._exit(7)\n"
TOLD = {
    "commands.dice": {"summary": "Roll dice.", "group": "Play", "examples": ["hermes dice 6"]},
    "slash.roll": {"summary": "roll dice", "usage": "[SIDES]", "group": "Play", "who": "everyone", "aliases": ["die"],
                   "where": ["chat"], "examples": ["/roll 6"]},
    "setup.dicebox": {"summary": "How many dice there are.", "group": "Play", "examples": ["hermes setup dicebox"]},
}  # fmt: skip
STEP = """
from hermes_core import hookimpl
from hermes_core.kinds import SetupStep
class Box(SetupStep):
    name = "dicebox"
@hookimpl
def register_setup():
    return [Box()]
"""


@pytest.fixture
def dice(cli):
    """A plugin of somebody else that is enabled, and whose import ends the process."""
    path = cli.plugin("tool/dice", "", **TOLD)
    cli("plugins", "enable", "dice", "--yes")
    path.write_text(path.read_text() + ENDS)
    return cli


def test_help_lists_what_there_is_without_an_import(dice):
    done = dice.process("help")
    assert done.status == 0, done.err
    listed, _, steps = done.out.partition("With `hermes setup NAME`")
    commands, _, slashes = listed.partition("In a conversation:")
    assert "dice         Roll dice." in commands
    assert "Play:\n  /roll [SIDES]  roll dice" in slashes
    assert "dicebox" in steps
    assert dice("help").status == 0


def test_help_explains_one_without_an_import(dice):
    assert dice.process("help", "/die").out.splitlines() == [
        "/roll [SIDES]",
        "    roll dice",
        "    also: /die",
        "    for everyone, in: chat",
        "    from tool/dice",
        "    for example: /roll 6",
    ]
    assert dice("help", "dicebox").out.splitlines() == [
        "hermes setup dicebox",
        "    How many dice there are.",
        "    for a person: no tool runs it",
        "    from tool/dice",
        "    for example: hermes setup dicebox",
    ]
    assert "  dicebox  How many dice there are." in dice("help", "setup").out
    assert dice("help", "sessions", "list").out.startswith("Usage: hermes sessions list ")
    for words, said in ((("/rol",), "'rol'. Did you mean 'roll'?"), (("sesions",), "Did you mean 'sessions'?")):
        done = dice("help", *words)
        assert (done.status, said in done.err) == (2, True), done.err


@pytest.mark.parametrize(
    ("typed", "offered"), [("help /ro", "/roll"), ("help dic", "dicebox"), ("setup dice", "dicebox")]
)
def test_completion_knows_them_without_an_import(dice, monkeypatch, typed, offered):
    words = f"hermes {typed}"
    environ = {"_HERMES_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    done = dice.process(fresh=True)
    assert f"plain,{offered}" in done.out.splitlines(), done


def test_examples_stand_in_the_help_of_a_command(cli):
    code = """
import click
from hermes_core import hookimpl
from hermes_core.types import Command
@hookimpl
def register_cli_commands():
    return [Command(name="dice", build=lambda: click.Command("dice", help="Rolls."))]
"""
    cli.plugin("tool/dice", code, **{"commands.dice": TOLD["commands.dice"]})
    cli("plugins", "enable", "dice", "--yes")
    assert "Examples:\n    hermes dice 6\n" in cli("dice", "--help").out


def test_a_setup_step_is_for_a_person_unless_its_record_says_otherwise(cli, monkeypatch):
    cli.plugin("tool/dice", STEP, **{"setup.dicebox": {"summary": "How many dice there are."}})
    cli("plugins", "enable", "dice", "--yes")
    assert cli("setup", "dicebox", "--non-interactive").status == 0
    monkeypatch.setenv("HERMES_RUN", "1")
    done = cli("setup", "dicebox", "--non-interactive")
    assert (done.status, "started by a tool of hermes" in done.err) == (2, True)
