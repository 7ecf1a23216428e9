"""What lasts from one bash command to the next."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_backend_kit.shell import TELL, Shell, is_shell, parse_exports, trapped


def test_only_bash_with_a_script_is_a_shell_that_lasts():
    assert is_shell(("bash", "-c", "x"))
    assert is_shell(("/usr/bin/bash", "-c", "x"))
    assert not is_shell(("sh", "-c", "x"))
    assert not is_shell(("bash", "-c", "x", "name"))


def test_a_shell_keeps_what_changed_and_only_that():
    shell = Shell("/w")
    base = {"HOME": "/root", "GONE": "1"}
    saw = {**shell.over(base), "ONCE": "asked"}
    after = {"HOME": "/root", "NEW": "a=b\nc", "ONCE": "asked", "PWD": "/w/sub", "SHLVL": "2", "HERMES_RUN": "x"}
    shell.learn("/w/sub", after, "/w", saw)
    assert (shell.cwd, shell.over(base)) == ("/w/sub", {"HOME": "/root", "NEW": "a=b\nc"})
    shell.learn("/w", {"HOME": "/root", "NEW": "x", "GONE": "2"}, "/w", shell.over(base))
    assert (shell.cwd, shell.over(base)) == ("/w/sub", {"HOME": "/root", "NEW": "x", "GONE": "2"})


def test_what_a_backend_keeps_for_itself_does_not_last():
    shell = Shell("/w")
    shell.learn("/w", {"MINE": "1", "A": "1"}, "/w", {}, not_kept={"MINE"})
    assert shell.over({}) == {"A": "1"}


def test_a_variable_that_was_removed_stays_away_until_it_is_set_again():
    shell, base = Shell("/w"), {"A": "1", "B": "2"}
    shell.learn("/w", {"B": "2"}, "/w", shell.over(base))
    assert shell.over(base) == {"B": "2"}
    shell.learn("/w", {"A": "new", "B": "2"}, "/w", shell.over(base))
    assert shell.over(base) == {"A": "new", "B": "2"}


def test_commands_side_by_side_do_not_undo_each_other():
    shell = Shell("/w")
    began = shell.over({})
    shell.learn("/w/one", {"ONE": "1"}, "/w", began)
    shell.learn("/w", {"TWO": "2"}, "/w", began)
    assert (shell.cwd, shell.over({})) == ("/w/one", {"ONE": "1", "TWO": "2"})


@pytest.fixture
def told(tmp_path):
    def tell(script, **env):
        state = tmp_path / "state"
        argv = trapped(["bash", "-c", script], TELL, f">{state}")
        env = {"PATH": "/usr/bin:/bin", **env}
        result = subprocess.run(argv, env=env, capture_output=True, check=False, cwd=tmp_path)
        folder, _, declared = state.read_bytes().partition(b"\0") if state.exists() else (b"", b"", b"")
        return result, folder.decode(), parse_exports(declared)

    return tell


def test_the_trap_tells_where_a_command_ended_however_it_ends(told):
    for end, status in (("", 0), ("; exit 3", 3), ("; set -e; false", 1)):
        result, folder, variables = told(f"cd /usr; export A=1; LOCAL=2{end}")
        assert (result.returncode, folder, variables["A"]) == (status, "/usr", "1")
        assert "LOCAL" not in variables
        assert (result.stdout, result.stderr) == (b"", b"")


def test_the_mark_is_not_among_what_is_told(told):
    assert "HERMES_RUN" not in told("true", HERMES_RUN="x")[2]


def test_tracing_and_line_numbers_are_those_of_the_command(told):
    assert told("set -x; true")[0].stderr == b"+ true\n"
    assert b"line 2" in told("true\nno-such-command")[0].stderr


def test_a_command_that_takes_the_trap_away_tells_nothing(told):
    assert told("trap 'echo bye' EXIT; cd /")[1:] == ("", {})


def test_a_place_to_write_that_is_gone_is_silence():
    argv = trapped(["bash", "-c", "echo fine"], TELL, ">&150")
    assert subprocess.run(argv, capture_output=True, check=False).stderr == b""


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=30))
def test_any_value_is_read_as_it_was(value):
    said = subprocess.run(["bash", "-c", "builtin export -p"], env={"VALUE": value}, capture_output=True, check=True)
    assert parse_exports(said.stdout)["VALUE"] == value
