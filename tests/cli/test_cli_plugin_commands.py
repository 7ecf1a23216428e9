"""Commands of plugins that work with a kernel: it is opened before them, and closed whatever becomes of them."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hermes_core.distribution import Distribution
from hermes_core.plugins.index import Index

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "chores.py"
WAITING = """
import asyncio, os, pathlib
import click
from hermes_core import hookimpl
from hermes_core.types import Command, Principal

@hookimpl
def register_cli_commands(ctx):
    @click.command()
    @click.argument("what")
    async def wait(what):
        await ctx.sessions.recent(Principal())
        pathlib.Path(os.environ["MARK"], "open").touch()
        if what == "raise":
            raise ValueError("no such thing")
        if what == "leave":
            return 7
        try:
            await asyncio.sleep(60)
        finally:
            await ctx.sessions.recent(Principal())  # the kernel lives until the command has ended
            pathlib.Path(os.environ["MARK"], "ended").touch()
    return [Command(name="wait", build=lambda: wait)]
"""


@pytest.fixture
def chores(cli):
    (cli.home / "plugins").mkdir()
    (cli.home / "plugins" / "chores.py").write_text(EXAMPLE.read_text())
    cli("plugins", "enable", "chores", "--yes")
    return cli


def test_a_command_of_a_third_party_asks_a_model(chores):
    done = chores("chores", "run", "evening")
    assert (done.status, done.err) == (0, "")
    assert done.out.strip()
    row = chores("insights", "--json").row
    assert (row["task"], row["calls"], row["provider"]) == ("chores", 1, "offline")


TURNING = """
import click
from hermes_core import hookimpl
from hermes_core.types import Command, Ended, TurnBounds, TurnOrder

@hookimpl
def register_cli_commands(ctx):
    @click.command()
    @click.argument("job", metavar="ID")
    async def run(job):
        order = TurnOrder(event=f"job-{job}", bounds=TurnBounds(calls=3))
        async for event in ctx.turns.run("Say hello.", order=order):
            if isinstance(event, Ended):
                click.echo(f"{event.reason}: {event.answer}")
        past = await ctx.turns.past(f"job-{job}")
        click.echo(f"{past.answer == event.answer} {past.session_id == event.session_id}")
    return [Command(name="jobs run", build=lambda: run)]
"""


def test_a_command_of_a_third_party_runs_a_turn(cli):
    """``hermes chores run ID`` of somebody else's: a whole turn, which is in the past conversations then."""
    commands = {"jobs run": {"summary": "Run a job now."}}
    contributes, permissions = {"commands": list(commands)}, {"kernel": ["turns.run"]}
    cli.plugin("tool/jobs", TURNING, contributes=contributes, permissions=permissions)
    cli("plugins", "enable", "jobs", "--yes")
    done = cli("jobs", "run", "7")
    assert (done.status, done.err) == (0, "")
    answer, same = done.out.splitlines()[0], done.out.splitlines()[-1]
    assert answer.startswith("done: ")
    assert same == "True True"
    assert len(cli("sessions", "list", "--json").rows) == 1
    again = cli("jobs", "run", "7")
    assert again.status == 3  # the same event orders nothing again, and this command does not think of that


def test_what_it_raises_is_told_as_ever(chores):
    done = chores("chores", "run", "noon")
    assert (done.status, done.out) == (2, "")
    assert "There is no job named 'noon'" in done.err


def test_the_words_of_a_group_are_explained(chores):
    helped = chores("chores", "--help").out
    assert "Questions that are asked again and again" in helped
    assert "run   Ask one of them now." in helped
    assert "chores       Questions that are asked again and again: list, run." in chores("--help").out


def test_one_that_is_not_enabled_says_how_to_enable_it(chores):
    chores("plugins", "disable", "chores")
    done = chores("chores", "list")
    assert (done.status, done.out) == (2, "")
    assert "hermes plugins enable tool/chores" in done.err
    assert "chores" not in chores("--help").out


class Alone(Distribution):
    """The kernel, with nothing beside it."""

    def installed(self, *_, **__) -> Index:
        return Index(())


OF_THE_TERMINAL = ["chat", "sessions", "insights", "logs", "approvals", "tools", "why", "resume", "prompt-size"]
OF_THE_TERMINAL += ["setup", "model", "plugins install", "plugins sync"]


@pytest.mark.parametrize("name", OF_THE_TERMINAL)
def test_the_kernel_alone_says_what_to_install(cli, name):
    done = cli(*name.split(), "list", distribution=Alone(name="hermes"))
    assert (done.status, done.out) == (2, "")
    assert "Only the kernel is installed" in done.err
    assert "pip install 'hermes-core[standard]'" in done.err
    assert f"  {name} " not in cli("--help", distribution=Alone(name="hermes")).out


HEADED = """
import click
from hermes_core import hookimpl
from hermes_core.types import Command, Principal

@hookimpl
def register_cli_commands(ctx):
    @click.command()
    @click.option("--loud", is_flag=True)
    @click.option("-n", "number", default=1)
    async def every(loud, number):
        "All of it."
        await ctx.sessions.recent(Principal())
        click.echo(f"every {loud} {number}")
        return 4
    @click.command()
    @click.option("--loud", is_flag=True)
    @click.option("-n", "number", default=2)
    def one(loud, number):
        click.echo(f"one {loud} {number}")
    return [Command(name="head", build=lambda: every), Command(name="head one", build=lambda: one)]
"""


def test_a_heading_that_is_listed_is_a_command_too(cli):
    cli.plugin(
        "tool/head", HEADED, contributes={"commands": ["head", "head one"]}, permissions={"kernel": ["sessions.read"]}
    )
    cli("plugins", "enable", "head", "--yes")
    assert (cli("head").status, cli("head").out) == (4, "every False 1\n")
    assert cli("head", "--loud", "-n", "3").out == "every True 3\n"
    assert cli("head", "one").out == "one False 2\n"
    assert cli("head", "--loud", "one").out == cli("head", "one", "--loud").out == "one True 2\n"
    helped = cli("head", "--help").out
    assert "All of it." in helped
    assert "--loud" in helped
    assert "  one " in helped
    assert cli("head", "two").status == 2


def test_a_group_cannot_wait(cli):
    code = WAITING.replace("click.command()", "click.group()").replace('    @click.argument("what")\n', "")
    path = cli.plugin("tool/wait", code, contributes={"commands": ["wait"]}, permissions={"kernel": ["sessions.read"]})
    cli("plugins", "enable", "wait", "--yes")
    done = cli("wait")
    assert (done.status, done.out) == (3, "")
    assert "the group wait is an 'async def'" in done.err
    assert path.exists()


@pytest.fixture
def waiting(cli, monkeypatch):
    cli.plugin("tool/wait", WAITING, contributes={"commands": ["wait"]}, permissions={"kernel": ["sessions.read"]})
    cli("plugins", "enable", "wait", "--yes")
    monkeypatch.setenv("MARK", str(cli.work))
    return cli


def test_its_exit_status_is_what_it_returns(waiting):
    assert waiting("wait", "leave").status == 7


def test_a_fault_in_it_is_told_without_a_traceback(waiting):
    done = waiting("wait", "raise")
    assert (done.status, done.out) == (3, "")
    assert "no such thing" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.few(1)
def test_one_that_is_interrupted_ends_in_good_order(waiting, number):
    words = [sys.executable, "-m", "hermes_core", "wait", "long"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 50
        while not (waiting.work / "open").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(number)
        said, told = process.communicate(timeout=50)
    assert (process.returncode, said, told.strip()) == (130, "", "Interrupted.")
    assert (waiting.work / "ended").exists()


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("words", [(), ("sessions",), ("skills",)], ids=" ".join)
def test_the_screens_of_help(cli, snapshot, monkeypatch, words, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    screen = cli(*words, "--help").out
    assert max(map(len, screen.splitlines())) <= columns
    assert screen == snapshot


BESIDE = """
import click
from hermes_core import hookimpl
from hermes_core.types import Command

@hookimpl
def register_cli_commands(ctx):
    @click.command()
    async def plans():
        click.echo("theirs")
    return [Command(name=f"config {name}", build=lambda: plans) for name in ("plans", "get", "keep")]
"""


def test_a_plugin_adds_commands_below_a_heading_of_the_kernel(cli, monkeypatch):
    """The kernel's own are the kernel's; nothing is imported for its help, or for another command of it."""
    commands = {f"config {name}": {"summary": f"Theirs: {name}."} for name in ("plans", "get", "keep")}
    path = cli.plugin("tool/plans", BESIDE, contributes={"commands": list(commands)})
    done = cli("config", "plans")
    assert (done.status, "hermes plugins enable tool/plans" in done.err) == (2, True)
    about = "".join(f"# [commands.\"{words}\"]\n# summary = '{row['summary']}'\n" for words, row in commands.items())
    about += "# who = 'person'\n"
    path.write_text(path.read_text().replace("# ///\n", f"{about}# ///\n", 1))
    cli("plugins", "enable", "plans", "--yes")
    assert cli("config", "plans").out == "theirs\n"
    assert cli("config", "nosuch").status == 2
    monkeypatch.setattr("hermes_core.cli.plugin_commands.find_command", lambda *_: pytest.fail("it was imported"))
    shown = cli("config", "--help").out
    assert "Theirs: plans." in shown
    assert "Theirs: get." not in shown
    assert "theirs" not in cli("config", "get", "agent.max_calls").out
    monkeypatch.setenv("HERMES_RUN", "1")
    done = cli("config", "keep")
    assert (done.status, "started by a tool" in done.err) == (2, True)


TALKER = """
import click
from hermes_core import hookimpl
from hermes_core.types import Command, TurnOrder

@hookimpl
def register_cli_commands(ctx):
    @click.command()
    @click.option("--oneshot")
    @click.option("--json", "as_json", is_flag=True)
    async def talk(oneshot, as_json):
        "Talk."
        if oneshot is None:
            click.echo("Nobody said anything.")
            return 5
        async for event in ctx.turns.run(oneshot):
            if type(event).__name__ in ("Started", "Failed"):
                click.echo(f"{as_json} {event}")
        return 4
    return [Command(name="talk", build=lambda: talk)]
"""


@pytest.fixture
def talker(cli):
    """A plugin of somebody else that has a command which runs where none is named."""
    cli.plugin(
        "tool/talker",
        TALKER,
        **{"commands.talk": {"summary": "Talk.", "default": True}},
        permissions={"kernel": ["turns.run"]},
    )
    cli("plugins", "enable", "talker", "--yes")
    return cli


def test_another_plugin_may_have_what_runs_without_a_command(talker):
    assert talker("-z", "hello").status == 0  # our own comes first
    talker("plugins", "disable", "platform/cli")
    assert (talker().status, talker().out) == (5, "Nobody said anything.\n")
    done = talker("--json", "-z", "hello")
    assert done.status == 4
    assert "provider='offline'" in done.out
    assert done.out.startswith("True ")
    assert talker("--json", "talk", "--oneshot", "hello").out.startswith("True ")
    refused = talker("-c", "-z", "hello")
    assert (refused.status, "--continue" in refused.err) == (2, True)


@pytest.mark.parametrize("before", [True, False])
def test_what_a_kernel_is_made_of_may_stand_on_either_side_of_it(talker, before):
    talker("plugins", "disable", "platform/cli")
    flags = ["--provider", "nosuch"]
    done = talker(*flags, "talk", "--oneshot", "hi") if before else talker("talk", *flags, "--oneshot", "hi")
    assert "nosuch" in done.err + done.out
    assert "provider='offline'" not in done.out


def test_without_one_it_says_what_to_install_or_enable(cli, monkeypatch):
    cli("plugins", "disable", "platform/cli")
    for words in ([], ["-z", "hello"], ["chat", "-q", "hello"]):
        done = cli(*words)
        assert (done.status, done.out) == (2, "")
        assert "hermes plugins enable platform/cli" in done.err
    whole = Distribution.installed

    def fewer(*given, **more):
        return Index([one for one in whole(*given, **more).plugins if one.label != "platform/cli"])

    monkeypatch.setattr("hermes_core.product.Product.installed", fewer)
    for words in ([], ["-z", "hello"], ["chat", "-q", "hello"]):
        done = cli(*words)
        assert (done.status, done.out) == (2, "")
        assert "pip install hermes-platform-cli" in done.err
