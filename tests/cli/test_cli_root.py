"""The root of the command line: help, exit codes, homes that cannot be used, commands of plugins."""

import os

import pytest

from hermes_core import __version__

COMMANDS = ["chat", "sessions", "config", "model", "plugins", "tools", "profile", "doctor", "prompt-size", "logs"]
COMMANDS += ["insights", "completion", "approvals", "grants", "setup"]
GREETING = """
import click
from hermes_core import hookimpl
from hermes_core.types import Command

def build():
    @click.command()
    @click.argument("name")
    def greet(name):
        {body}
    return greet

@hookimpl
def register_cli_commands():
    return [Command(name="hail", build=build)]
"""


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version(cli, flag):
    done = cli(flag)
    assert (done.status, done.out) == (0, f"hermes {__version__}\n")
    assert cli.process(flag, fresh=True).out == done.out


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_names_every_command_and_the_flags(cli, flag):
    done = cli.process(flag, fresh=True)
    assert done.status == 0
    for word in (*COMMANDS, "--oneshot", "--continue", "--resume", "--yolo", "--safe-mode", "--profile", "--json"):
        assert f" {word}" in done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(cli, command):
    done = cli(command, "--help")
    assert done.status == 0
    assert done.out.startswith(f"Usage: hermes {command} ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sesions"], "Did you mean 'sessions'?"),
        (["--nosuch"], "--nosuch"),
        (["sessions", "nosuch"], "nosuch"),
        (["config", "get"], "KEY"),
        (["config", "get", "model.defualt"], "defualt"),
        (["-p", "nosuch", "sessions", "list"], "hermes profile create nosuch"),
        (["-p", "Not A Name", "sessions", "list"], "Not A Name"),
    ],
    ids=" ".join,
)
def test_what_the_person_can_fix_ends_with_2(cli, words, said):
    done = cli(*words)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err
    assert cli.process(*words).status == 2


@pytest.mark.parametrize("words", [["sessions", "list"], ["-z", "hello"], ["config", "show"], ["tools", "list"]])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model: [\n", "config.yaml:2"),
        ("\nagent: {max_cals: 5}\n", "config.yaml:2 agent.max_cals: no such setting; did you mean max_calls?"),
        ("agent: {max_calls: many}\n", "config.yaml:1 agent.max_calls"),
    ],
)
def test_settings_that_are_wrong_are_told_with_their_line(cli, words, text, said):
    cli.configure(text)
    done = cli(*words)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_home_that_is_a_file_is_one_clear_message(cli, monkeypatch):
    file = cli.work / "file"
    file.touch()
    monkeypatch.setenv("HERMES_HOME", str(file))
    for words in (["-z", "hello"], ["sessions", "list"], ["config", "set", "display.markdown", "false"]):
        done = cli(*words)
        assert (done.status, done.out) == (2, "")
        assert str(file) in done.err
        assert "Traceback" not in done.err
    assert cli("--help").status == 0
    assert cli("doctor").status == 1


def test_a_store_that_is_no_database_is_a_failure(cli):
    (cli.home / "state.db").write_bytes(b"not a database at all" * 100)
    done = cli("sessions", "list")
    assert (done.status, done.out) == (1, "")
    assert "state.db" in done.err
    assert "Traceback" not in done.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_home_is_one_clear_message(cli):
    cli.home.chmod(0o500)
    try:
        done = cli("-z", "hello")
    finally:
        cli.home.chmod(0o700)
    assert done.status == 2
    assert str(cli.home) in done.err


def test_strict_mode_shows_authors_where_it_came_from(cli, monkeypatch):
    monkeypatch.setenv("HERMES_STRICT", "1")
    done = cli("sessions", "show", "nosuch")
    assert done.status == 2
    assert "Traceback" in done.err


def test_a_variable_that_says_no_switches_nothing_on(cli, monkeypatch):
    greeting(cli)
    cli("plugins", "enable", "greeting", "--yes")
    for value in ("false", "No", "OFF", "0"):
        monkeypatch.setenv("HERMES_STRICT", value)
        monkeypatch.setenv("HERMES_SAFE_MODE", value)
        monkeypatch.setenv("HERMES_TRACE_HOOKS", value)
        assert "Traceback" not in cli("sessions", "show", "nosuch").err
        assert cli("hail", "Ann").out == "Hail, Ann!\n"
        assert "hook " not in cli("-z", "hello").err


# --- commands of plugins ----------------------------------------------------------------------------------------------


def greeting(cli, body='click.echo(f"Hail, {name}!")', words="hail", code=GREETING):
    code = code.replace('name="hail"', f'name="{words}"').format(body=body)
    cli.plugin("tool/greeting", code, contributes={"commands": [words]})


def test_of_a_group_that_two_add_to_it_is_said_whose_it_is(cli):
    code = GREETING.replace('name="hail"', 'name="hail twice"').format(body="pass")
    cli.plugin("tool/adds", code, contributes={"commands": ["hail twice"]})
    greeting(cli)
    assert "tool/greeting, which is not enabled" in cli("hail").err


def test_a_command_of_a_plugin_works_once_the_plugin_is_enabled(cli):
    greeting(cli)
    done = cli("hail", "Ann")
    assert (done.status, done.out) == (2, "")
    assert "tool/greeting, which is not enabled" in done.err
    assert "hermes plugins enable tool/greeting" in done.err
    assert "hail" not in cli("--help").out
    cli("plugins", "enable", "greeting", "--yes")
    assert cli("hail", "Ann").out == "Hail, Ann!\n"
    assert "hail" in cli("--help").out
    assert cli("hail").status == 2
    assert cli("--safe-mode", "hail", "Ann").status == 2


def test_a_command_of_a_plugin_may_have_two_words(cli):
    greeting(cli, words="greeting hail")
    cli("plugins", "enable", "greeting", "--yes")
    assert cli("greeting", "hail", "Ann").out == "Hail, Ann!\n"
    assert "hail" in cli("greeting", "--help").out
    assert cli("greeting", "nosuch").status == 2


def test_help_shows_what_commands_of_plugins_do_in_their_groups(cli):
    words = "greeting hail"
    records = {words: {"summary": "Greet somebody.", "group": "Manners"}, "hello": {"summary": "Say hello."}}
    code = GREETING.replace('name="hail"', f'name="{words}"').format(body="pass")
    path = cli.plugin("tool/greeting", code)
    tables = "".join(
        f'# [commands."{name}"]\n' + "".join(f'# {key} = "{text}"\n' for key, text in table.items())
        for name, table in {"greeting": {"summary": "Greetings.", "group": "Look back"}, **records}.items()
    )
    path.write_text(path.read_text().replace("# ///\n", f"{tables}# ///\n", 1).replace("# /// hermes", "# /// hermes"))
    cli("plugins", "enable", "greeting", "--yes")
    helped = cli("--help").out
    before, _, after = helped.partition("Look back:")
    assert "  greeting     Greetings." in after.partition("\n\n")[0]
    assert "  hello        Say hello." in helped.partition("More:")[2]
    assert "greeting" not in before
    assert "Greet somebody." in cli("greeting", "--help").out


def test_help_imports_no_plugin(cli):
    mark = cli.work / "imported"
    cli.plugin("tool/greeting", f"open({str(mark)!r}, 'w').close()\n", contributes={"commands": ["hail"]})
    cli("plugins", "enable", "greeting", "--yes")
    mark.unlink()
    assert "hail" in cli("--help").out
    assert not mark.exists()


def test_a_command_whose_plugin_cannot_be_used_ends_with_3(cli):
    cli.plugin("tool/greeting", "import nosuchmodule\n", contributes={"commands": ["hail"]})
    assert cli("plugins", "enable", "greeting", "--yes").status == 3
    done = cli("hail", "Ann")
    assert (done.status, done.out) == (3, "")
    assert "tool/greeting" in done.err
    assert "nosuchmodule" in done.err


def test_a_command_of_a_plugin_that_raises_shows_no_traceback(cli):
    greeting(cli, body='raise ValueError("no such name")')
    cli("plugins", "enable", "greeting", "--yes")
    done = cli("hail", "Ann")
    assert (done.status, done.out) == (3, "")
    assert "no such name" in done.err
    assert "Traceback" not in done.err
    assert "Traceback" in cli("logs", "--json", "--level", "error").row["traceback"]


def test_nothing_that_an_error_quotes_drives_the_terminal(cli):
    done = cli("config", "get", "\x1b[2Jmodel")
    assert done.status == 2
    assert "\\x1b[2Jmodel" in done.err
    assert "\x1b" not in done.err


# --- completion -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_of_the_shell(cli, shell):
    done = cli("completion", shell)
    assert done.status == 0
    assert "_HERMES_COMPLETE" in done.out
    assert cli("completion", "tcsh").status == 2


def test_the_shell_is_told_what_could_come_next(cli, monkeypatch):
    words = {"_HERMES_COMPLETE": "bash_complete", "COMP_WORDS": "hermes ses", "COMP_CWORD": "1"}
    done = cli.process(env={**os.environ, **words})
    assert done.out.split() == ["plain,sessions"]
