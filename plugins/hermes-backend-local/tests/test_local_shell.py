"""What lasts from one bash command to the next, and what commands do not get to see."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_backend_local.backend import Local
from hermes_core.environment import without_secrets
from hermes_core.types import ExecRequest


@pytest.fixture
async def place(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("KEPT", "yes")
    return await Local().open(str(tmp_path))


async def sh(place, script, **more):
    result = await place.run(ExecRequest(argv=("bash", "-c", script), **more))
    return result.output.decode()


async def test_folder_and_exports_last(place):
    await sh(place, "cd /usr; export COLOR=blue; unset KEPT; LOCAL=1")
    assert await sh(place, 'echo "$PWD|$COLOR|$KEPT|$LOCAL"') == "/usr|blue||\n"


async def test_they_last_when_the_command_exits_itself_or_fails(place):
    await sh(place, "set -eu; cd /usr; export A=1; false; echo not reached")
    await sh(place, "cd /; exit 3")
    assert await sh(place, 'echo "$PWD $A"') == "/ 1\n"


async def test_a_subshell_changes_nothing(place, tmp_path):
    await sh(place, "(cd /; export A=1)")
    assert await sh(place, 'echo "$PWD$A"') == f"{tmp_path}\n"


async def test_commands_side_by_side_keep_each_others_changes(place):
    await asyncio.gather(*(sh(place, f"export V{i}={i}") for i in range(8)))
    assert await sh(place, "echo $V0$V1$V2$V3$V4$V5$V6$V7") == "01234567\n"


async def test_other_programs_start_where_the_workspace_is(place, tmp_path):
    await sh(place, "cd /")
    assert (await place.run(ExecRequest(argv=("pwd",)))).output.decode() == f"{tmp_path}\n"
    assert place.cwd == str(tmp_path)
    assert place.shell_cwd == "/"


async def test_a_folder_that_is_gone_is_left_for_the_first_one(place, tmp_path):
    await sh(place, "mkdir x; cd x; rmdir ../x")
    assert await sh(place, "pwd") == f"{tmp_path}\n"


async def test_two_workspaces_do_not_see_each_other(place, tmp_path):
    other = await Local().open(str(tmp_path))
    await sh(place, "cd /; export A=1")
    assert await sh(other, 'echo "$PWD$A"') == f"{tmp_path}\n"


async def test_tracing_and_line_numbers_are_those_of_the_command(place):
    assert await sh(place, "set -x; true") == "+ true\n"
    assert "line 2" in await sh(place, "true\nno-such-command")


async def test_a_command_may_have_its_own_exit_trap(place):
    assert await sh(place, "trap 'echo bye' EXIT; cd /") == "bye\n"


async def test_a_request_folder_is_for_that_command_only(place, tmp_path):
    await sh(place, "true", cwd="/usr")
    assert await sh(place, "pwd") == f"{tmp_path}\n"


async def test_the_state_is_not_in_the_output_nor_the_marker_in_the_next_command(place):
    assert await sh(place, "export A=1") == ""
    assert (await sh(place, "env | grep -c ^HERMES_RUN=")).strip() == "1"


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=30))
async def test_any_value_survives(value):
    place = await Local().open("/")
    await sh(place, "export VALUE=$(cat; echo x); VALUE=${VALUE%x}", stdin=value.encode())
    result = await place.run(ExecRequest(argv=("bash", "-c", 'printf %s "$VALUE"')))
    assert result.output == value.encode()


async def test_secrets_do_not_reach_commands(tmp_path, monkeypatch):
    environ = {
        "OPENAI_API_KEY": "sk-1",
        "DATABASE_URL": "postgres://me:hunter2@db/x",
        "GITHUB_TOKEN": "gh-1",
        "LET_THROUGH_TOKEN": "ok-1",
    }
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    place = await Local(["LET_THROUGH_TOKEN"]).open(str(tmp_path))
    seen = await sh(place, "env")
    seen += (await place.run(ExecRequest(argv=("env",)))).output.decode()
    assert not [s for s in ("sk-1", "hunter2", "gh-1") if s in seen]
    assert "ok-1" in seen


@pytest.mark.parametrize(
    "name",
    [
        "A_KEY",
        "APIKEY",
        "X_TOKEN",
        "SECRET_X",
        "PASSWORD",
        "PGPASSWORD",
        "DB_PASSWD",
        "MYSQL_PWD",
        "AWS_CREDENTIALS",
        "BASIC_AUTH",
        "SENTRY_DSN",
        "SLACK_WEBHOOK_URL",
        "CREDS",
        "BEARER_X",
        "SESSION_COOKIE",
        "GH_PAT",
        "aws_secret_access_key",
    ],
)
def test_names_that_look_secret_are_taken_out(name):
    assert without_secrets({name: "x"}) == {}


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "HOME",
        "USER",
        "LANG",
        "LC_ALL",
        "TERM",
        "TMPDIR",
        "SHELL",
        "LOGNAME",
        "XDG_RUNTIME_DIR",
        "PYTHONPATH",
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
        "SSH_AUTH_SOCK",
        "GIT_AUTHOR_NAME",
        "EDITOR",
        "PWD",
        "DISPLAY",
    ],
)
def test_what_programs_need_stays(name):
    assert without_secrets({name: "x"}) == {name: "x"}


def test_a_proxy_with_a_password_stays():
    assert without_secrets({"https_proxy": "http://u:p@proxy:1"})
