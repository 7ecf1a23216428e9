"""A home with something of everything in it, and the commands on it."""

import sqlite3
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner

from hermes_core.brokers import MasksBroker
from hermes_core.testing import PluginContract, plugin_context
from hermes_tool_backup.commands import commands
from hermes_tool_backup.config import Config

KEY = "sk-proj-" + "Zq8vT2mW5rYx1LbN7cKd3HfJ6gPs9aUe"


class Contract(PluginContract):
    module = "hermes_tool_backup"
    kind = "tool"


@pytest.fixture
def home(tmp_path):
    """One with a profile, a database in use, links, secrets, caches and logs."""
    made = tmp_path / "home"
    files = {
        "config.yaml": "model: {provider: offline}\n", ".env": f"OPENAI_API_KEY={KEY}\n", "SOUL.md": "Be kind.\n",
        "memories/MEMORY.md": "Olga likes tea.\n", "skills/tea/SKILL.md": "---\nname: tea\n---\nBoil water.\n",
        "data/tool-vault/key": "k" * 44, "data/tool-x/notes.json": "{}", "data/tool-x/login.json": f'{{"a": "{KEY}"}}',
        "cache/big": "c" * 100, "logs/hermes.log": "line\n", "gateway.lock": "",
        "profiles/work/config.yaml": "model: {provider: offline}\n", "profiles/work/.env": f"B={KEY}\n",
        "profiles/work/logs/hermes.log": "line\n", "profiles/work/cache/c": "c",
    }  # fmt: skip
    for name, text in files.items():
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (made / "skills" / "chai").symlink_to("tea")
    (made / "skills" / "away").symlink_to(tmp_path)
    (made / "memories").chmod(0o700)
    for place in (made, made / "profiles" / "work"):
        write(place, "one")
    return made


def write(home: Path, *words: str) -> None:
    """Put rows into the database of a home, as a store in use leaves them: in the log beside it."""
    connection = sqlite3.connect(home / "state.db")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE IF NOT EXISTS said (word TEXT)")
    connection.executemany("INSERT INTO said VALUES (?)", [(word,) for word in words])
    connection.commit()
    connection.close()


def words(home: Path) -> list[str]:
    """What rows there are."""
    connection = sqlite3.connect(home / "state.db")
    try:
        return [row[0] for row in connection.execute("SELECT word FROM said ORDER BY rowid")]
    finally:
        connection.close()


def tree(folder: Path) -> dict[str, str]:
    """All files of a folder but databases, by path, with their texts; links with their targets."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_symlink() or path.is_file()]
    return {
        str(path.relative_to(folder)): str(path.readlink()) if path.is_symlink() else path.read_text(errors="replace")
        for path in found
        if ".db" not in path.name
    }


@pytest.fixture
def context(home):
    class Masks(MasksBroker):
        def text(self, text):
            return text.replace(KEY, "[key]")

    return evolve(plugin_context(Contract().read_manifest(), home, config=Config()), masks=Masks())


@pytest.fixture
def run(context):
    """Run a command; its result."""
    made = {command.name.split()[1]: command.build() for command in commands(context)}

    def invoke(name, *arguments, env=None):
        return CliRunner().invoke(made[name], [*map(str, arguments)], env=env, catch_exceptions=False)

    return invoke
