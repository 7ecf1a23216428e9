"""Commands that scripts use: where secrets are, a dump for who helps, a message from a shell, profiles as files."""

import asyncio
import json
import os
import subprocess
import sys

import pytest
from gateway_house import rows_of

from hermes_core.embed import Hermes
from hermes_core.types import Envelope, Message, Principal, Text

KEY = "sk-or-v1-" + "Zq8vT2mW5rYx1LbN7cKd3HfJ6gPs9aUe"


def test_the_place_of_secrets_is_that_of_the_profile(cli):
    assert cli("config", "env-path").out == f"{cli.home}/.env\n"
    cli("profile", "create", "work")
    assert cli("-p", "work", "config", "env-path").out == f"{cli.home}/profiles/work/.env\n"


def test_a_dump_tells_what_is_here_and_no_secret(cli, monkeypatch):
    (cli.home / ".env").write_text(f"OPENROUTER_API_KEY={KEY}\n")
    cli.configure(f"model: {{provider: offline}}\npolicy: {{allow: [terminal({KEY})]}}\nagent: {{max_calls: 12}}\n")
    cli("-z", f"remember {KEY}")
    done = cli("dump")
    assert done.status == 0, done.err
    assert KEY not in done.out
    told = json.loads(done.out)
    assert told["settings"] == {"model.provider": "offline", "policy.allow": "(1)", "agent.max_calls": 12}
    assert told["status"]["backend"] == "local"
    assert {"provider/offline", "platform/cli"} <= {one["plugin"] for one in told["plugins"] if one["enabled"]}
    assert told["log"]
    assert "remember" not in done.out  # what was said is nobody's affair
    assert json.loads(cli("dump", "-n", "0").out)["log"] == []


def test_a_dump_of_a_home_in_which_nobody_can_answer_says_so(cli):
    cli.configure("model: {provider: nobody}\n")
    assert "nobody" in json.loads(cli("dump").out)["status"]["model"]


@pytest.fixture
def chats(cli):
    """A chat of yours on Telegram, and what is written down to be sent."""

    async def knows() -> None:
        async with Hermes(home=cli.home) as hermes:
            hello = Message(role="user", parts=(Text(text="hello"),))
            envelope = Envelope(platform="telegram", account="bot", event_id="1", chat="42", sender="1", message=hello,
                                chat_name="Mia")  # fmt: skip
            await rows_of(await hermes.runtime.store()).chats.remember_chat(Principal(), envelope)

    async def sent() -> list[tuple[str, str]]:
        async with Hermes(home=cli.home) as hermes:
            rows = await rows_of(await hermes.runtime.store()).outbox.outbox_of(None)
            return [(row.outgoing.chat.id, row.outgoing.message.parts[0].text) for row in reversed(rows)]

    asyncio.run(knows())
    return lambda: asyncio.run(sent())


def test_a_message_is_sent_from_a_shell(cli, chats, tmp_path):
    done = cli("send", "-t", "telegram", "Dinner", "at 8.")
    assert (done.status, done.out) == (0, "")
    assert "Sent to Mia; no gateway serves it now, so it waits for one." in done.err
    (tmp_path / "report").write_text("All is well.\n")
    assert cli("send", "-t", "telegram:42", "-f", str(tmp_path / "report"), "-s", "Report", "-q").err == ""
    assert cli("send", "-t", "Mia", "--json", stdin="from a pipe\n").row["target"] == "telegram:42"
    cli("send", "-t", "Mia", "--key", "k", "once")
    cli("send", "-t", "Mia", "--key", "k", "once")
    assert chats() == [
        ("42", "Dinner at 8."), ("42", "**Report**\n\nAll is well."), ("42", "from a pipe"), ("42", "once"),
    ]  # fmt: skip
    assert cli("send", "-l", "--json").row["name"] == "Mia"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-t", "telegram"], "nothing to send"),
        (["hello"], "no chat to send it to"),
        (["-t", "telegram:7", "x"], "telegram:7"),
        (["-t", "telegram", "-f", "nowhere"], "cannot be read"),
        (["-t", "telegram", "-f", "x", "y"], "not both"),
    ],
)
def test_what_cannot_be_sent_is_told_and_nothing_is(cli, chats, words, said):
    done = cli("send", *words)
    assert done.status == 2
    assert said in done.err
    assert chats() == []


def test_a_tool_sends_with_its_own_tool_and_not_like_this(cli, chats, monkeypatch):
    monkeypatch.setenv("HERMES_RUN", "x")
    assert cli("send", "-t", "telegram", "x").status == 2
    assert chats() == []


@pytest.fixture
def work(cli):
    """A profile with something of everything."""
    cli("profile", "create", "work")
    folder = cli.home / "profiles" / "work"
    (folder / "config.yaml").write_text("model: {provider: offline}\n")
    (folder / ".env").write_text(f"OPENROUTER_API_KEY={KEY}\n")
    (folder / "SOUL.md").write_text("Be kind.\n")
    cli("-p", "work", "-z", "where is the teapot?")
    return folder


def test_a_profile_goes_into_a_file_and_comes_back(cli, work, tmp_path, monkeypatch):
    file = cli("profile", "export", "work", "-o", str(tmp_path)).out.strip()
    assert cli("profile", "import", file).status == 2  # it is there
    cli("profile", "delete", "work", "-y")
    assert cli("profile", "import", file).status == 0
    assert (work / "SOUL.md").read_text() == "Be kind.\n"
    assert not (work / ".env").exists()
    assert len(cli("-p", "work", "sessions", "list", "--json").rows) == 1
    assert cli("profile", "import", file, "other").status == 0
    assert cli("-p", "other", "sessions", "search", "teapot", "--json").rows
    monkeypatch.setenv("HERMES_BACKUP_PASSPHRASE", "four words nobody says")
    (work / ".env").write_text(f"OPENROUTER_API_KEY={KEY}\n")
    sealed = cli("profile", "export", "work", "-o", str(tmp_path / "s"), "--with-secrets").out.strip()
    assert cli("profile", "import", sealed, "third").status == 0
    assert KEY in (work.parent / "third" / ".env").read_text()


def test_a_clone_has_everything_and_goes_its_own_way(cli, work):
    assert cli("profile", "clone", "work", "play").status == 0
    play = work.parent / "play"
    assert KEY in (play / ".env").read_text()
    cli("-p", "play", "-z", "another thing")
    assert len(cli("-p", "play", "sessions", "list", "--json").rows) == 2
    assert len(cli("-p", "work", "sessions", "list", "--json").rows) == 1
    cli("profile", "clone", "work", "bare", "--no-keys")
    assert not (work.parent / "bare" / ".env").exists()
    assert sorted(path.name for path in work.parent.iterdir()) == ["bare", "play", "work"]  # nothing is left lying


def test_a_profile_gets_another_name(cli, work):
    cli("profile", "use", "work")
    assert cli("profile", "rename", "work", "job").status == 2  # it is in use
    done = cli("-p", "default", "profile", "rename", "work", "job")
    assert done.status == 0, done.err
    assert not work.exists()
    assert [row["name"] for row in cli("profile", "list", "--json").rows if row["active"]] == ["job"]
    assert len(cli("sessions", "list", "--json").rows) == 1


def test_a_profile_whose_conversations_are_on_a_server_keeps_its_name(cli, work):
    (work / "config.yaml").write_text("store:\n  # there\n  url: env:STORE_URL\n")
    done = cli("profile", "rename", "work", "job")
    assert done.status == 2
    assert "on a server" in done.err


def test_a_profile_that_somebody_works_in_keeps_its_name(cli, work):
    script = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT 1 FROM sqlite_master').fetchone();"
    )
    hold = [sys.executable, "-c", f"{script} print(1, flush=True); input()", str(work / "state.db")]
    with subprocess.Popen(hold, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        done = cli("profile", "rename", "work", "job")
        other.communicate(b"\n")
    assert done.status == 2
    assert f"process {other.pid}" in done.err
    assert work.exists()


@pytest.mark.parametrize(
    "words",
    [("export", "default"), ("export", "nobody"), ("clone", "work", "../x"), ("clone", "work", "work"),
     ("rename", "work", "default"), ("import", "nowhere.tar.gz"), ("alias", "nobody")],
)  # fmt: skip
def test_what_cannot_be_done_with_a_profile_is_told(cli, work, words):
    done = cli("profile", *words)
    assert done.status == 2
    assert len(done.err.splitlines()) <= 3
    assert [path.name for path in work.parent.iterdir()] == ["work"]


def test_an_alias_starts_the_profile(cli, work, tmp_path, standby, monkeypatch):
    folder = tmp_path / "bin"
    monkeypatch.setenv("PATH", f"{standby}:{os.environ['PATH']}")
    assert cli("profile", "alias", "work", "wk", "--to", str(folder)).status == 0
    done = subprocess.run([folder / "wk", "config", "path"], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == f"{work}/config.yaml\n"
    assert cli("profile", "alias", "work", "wk", "--to", str(folder)).status == 0  # made again, it is the same
    (folder / "mine").write_text("#!/bin/sh\n")
    assert cli("profile", "alias", "work", "mine", "--to", str(folder)).status == 2
    assert cli("profile", "alias", "work", "mine", "--to", str(folder), "--remove").status == 2
    assert cli("profile", "alias", "work", "ls", "--to", str(folder)).status == 2  # a command of that name is there
    assert cli("profile", "alias", "work", "wk", "--to", str(folder), "--remove").status == 0
    assert [path.name for path in folder.iterdir()] == ["mine"]
