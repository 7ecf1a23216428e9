"""Every memory gives out and erases what it keeps of a person, whichever is in use; one that cannot is named."""

import sqlite3
import zipfile
from contextlib import closing

from .test_upkeep_commands import CANARY, holding

STUCK = """
from hermes_core.errors import UserError
from hermes_core.hooks import hookimpl
from hermes_core.types import Command


def build():
    import click

    @click.command()
    @click.option("--person")
    @click.option("--yes", is_flag=True)
    def command(person, yes):
        '''Fail.'''
        raise UserError("The server is down.")

    return command


@hookimpl
def register_cli_commands():
    return [Command(name=f"stuck {verb}", build=build) for verb in ("erase", "export")]
"""
MANIFEST = """
api = 1
name = "stuck"
kind = "memory"
summary = "Cannot do it."

[commands."stuck erase"]
summary = "Fail."
who = "person"

[commands."stuck export"]
summary = "Fail."
who = "person"
"""


def owned(home, *statements):
    with closing(sqlite3.connect(home / "state.db")) as connection:
        connection.execute("INSERT INTO owners (profile, person) VALUES ('default', 'ana')")
        for one in statements:
            connection.execute(one)
        connection.commit()


def test_every_memory_gives_out_and_erases_what_it_keeps_of_a_person(run, home, tmp_path):
    assert run("plugins", "enable", "memory/vector", "--yes").returncode == 0
    assert run("vector", "list").returncode == 0, "its table is there now"
    owned(
        home,
        "INSERT INTO memory_vector__memos (person, profile, id, text, words, by, session, model, trusted, time, vector)"
        f" VALUES ('ana', 'default', '1', 'She likes {CANARY}.', ' {CANARY} ', 'ana', 's', '', 1, 1.0, x'')",
    )
    path = tmp_path / "ana.zip"
    done = run("people", "export", "ana", "--to", str(path))
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(path) as file:
        assert CANARY in file.read("memory.jsonl").decode()
    done = run("store", "erase", "--person", "ana", "--yes")
    assert done.returncode == 0, done.stderr
    assert holding(home, CANARY) == []


def test_a_memory_that_cannot_is_named_and_nothing_is_said_to_be_gone_that_is_not(run, home, tmp_path):
    owned(home)
    folder = home / "plugins" / "stuck"
    folder.mkdir(parents=True)
    (folder / "hermes-plugin.toml").write_text(MANIFEST)
    (folder / "__init__.py").write_text(STUCK)
    assert run("plugins", "enable", "stuck", "--yes").returncode == 0
    done = run("store", "erase", "--person", "ana", "--yes")
    assert done.returncode == 2, done
    assert "memory/stuck could not erase what it keeps of them: The server is down." in done.stderr
    with closing(sqlite3.connect(home / "state.db")) as connection:
        assert connection.execute("SELECT 1 FROM owners WHERE person = 'ana'").fetchone(), "it can be said again"
    path = tmp_path / "ana.zip"
    assert run("people", "export", "ana", "--to", str(path)).returncode == 0
    with zipfile.ZipFile(path) as file:
        assert "Not in it: what memory/stuck remembers" in file.read("README.txt").decode()
