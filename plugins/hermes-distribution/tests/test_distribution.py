"""A product from a file: its name in what is said, its verbs, its walls, its files, and its own environment."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_atomic.whole import held
from hermes_core.errors import UserError
from hermes_distribution import files
from hermes_distribution.brand import Brand, Renaming, environment
from hermes_distribution.files import lay_down
from hermes_distribution.form import read
from hermes_distribution.program import FILE, program

ACME = """
name = "acme"
title = "Acme Desk"
version = "2.1"
own = ["hermes-*"]
verbs = ["chat", "config", "doctor", "plugins list", "help", "tools"]
network = false
[defaults]
model.provider = "offline"
[locked]
"policy.mode" = "ask"
"""
NAMES = Renaming(Brand("acme", "Acme"), ["config", "setup", "plugins"])


@pytest.mark.parametrize(
    ("said", "renamed"),
    [
        ("Mend it with: hermes config edit", "Mend it with: acme config edit"),
        ("hermes plugins disable ", "acme plugins disable "),
        ("`hermes COMMAND --help` explains", "`acme COMMAND --help` explains"),
        ("What a bare `hermes` opens", "What a bare `acme` opens"),
        ("belongs to Hermes itself", "belongs to Acme itself"),
        (
            "reading Hermes' own folder, for everybody who uses Hermes.",
            "reading Acme's own folder, for everybody who uses Acme.",
        ),
        ("a fault; HERMES_STRICT=1 shows where", "a fault; ACME_STRICT=1 shows where"),
        ("a file of Hermes Agent; take it over", "a file of Hermes Agent; take it over"),
        ("hermes invites\0", "hermes invites\0"),  # a key, no command
        ("postgresql://hermes:PASSWORD@db and more", "postgresql://hermes:PASSWORD@db and more"),
        ('grep -lsazx "HERMES_STRICT=$1" /proc/1/environ', 'grep -lsazx "HERMES_STRICT=$1" /proc/1/environ'),
        ("HERMES_YOLO", "HERMES_YOLO"),  # the name of a variable that is read
        ("X-Hermes-Session-Id of this", "X-Hermes-Session-Id of this"),
    ],
)
def test_words_are_renamed_and_names_of_things_are_not(said: str, renamed: str) -> None:
    assert NAMES.text(said, alone=True) == renamed


def test_code_is_renamed_in_what_it_says_and_not_in_what_it_imports() -> None:
    made = compile(
        "from a import Hermes\nx = 'Hermes'\ndef f():\n  'Run hermes setup.'\n  return f'{x}: hermes config {x}'",
        "m",
        "exec",
    )
    inner = next(one for one in NAMES.code(made).co_consts if hasattr(one, "co_consts"))
    assert ("Hermes",) in NAMES.code(made).co_consts
    assert "Hermes" in NAMES.code(made).co_consts  # it is the class that the module knows
    assert inner.co_consts[0] == "Run acme setup."
    assert any(one == ": acme config " for one in inner.co_consts if isinstance(one, str))
    assert "Acme" in NAMES.code(compile("x = 'Hermes'", "m", "exec")).co_consts


def test_only_its_own_switches_count() -> None:
    told = {"HERMES_YOLO": "1", "HERMES_TRUST": "1", "ACME_STRICT": "1", "ACME_RUN": "x", "HERMES_RUN": "mark"}
    environment(Brand("acme", "Acme"), told)
    assert told == {"ACME_STRICT": "1", "HERMES_STRICT": "1", "ACME_RUN": "x", "HERMES_RUN": "mark"}


def test_all_that_is_wrong_in_a_file_is_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / FILE
    for text, told in {
        'nam = "x"\nverbs = "chat"': ["nam: no such key; did you mean name?", "verbs: must be a list of texts."],
        'name = "Acme!"\nhosts = ["a b"]\ntitle = "`x`"': [
            "name: must be",
            "title: must be",
            "hosts: 'a b' is no host.",
        ],
        'name = "hermes"': ["hermes is taken"],
        'name = "a"\nnetwork = false\nhosts = ["x.org"]': ["hosts: there are none"],
        "name = ": ["is no TOML"],
        'name = "hermes-core"': ["hermes is taken"],
        # what would drive the terminal of whoever looks at the file, or is no name to an installer
        'name = "a"\ntitle = "A\\u009b31m"\nversion = "\\u202e1"': ["title: must be", "version: must be"],
        'name = "a"\nplugins = ["x\\u001b]0;y"]\nown = ["x @ http://e/x.zip"]': ["plugins: 'x", "own: 'x @"],
        'name = "a"\nverbs = ["chat\\u001b[2J"]': ["verbs: 'chat\\x1b"],
        'name = "a"\n[locked]\n"policy.mode\\u001b[2J" = 1': ["locked: 'policy.mode\\x1b"],
    }.items():
        file.write_text(text)
        with pytest.raises(UserError) as error:
            read(file)
        assert all(line in str(error.value) for line in told), str(error.value)
    with pytest.raises(UserError, match="cannot be read"):
        read(tmp_path / "none.toml")


def test_the_wall_of_its_network_is_locked(tmp_path: Path) -> None:
    from hermes_distribution.product import made

    file = tmp_path / FILE
    file.write_text(ACME)
    closed = made(read(file), NAMES)
    assert closed.locked == {
        "policy.mode": "ask",
        "terminal.backend": "bubblewrap",
        "backends.bubblewrap.network": False,
    }
    file.write_text('name = "acme"\nhosts = ["api.example.org"]\n[locked.terminal]\nbackend = "ssh"')
    some = made(read(file), NAMES)
    assert some.locked["terminal.backend"] == "local"  # the wall is stronger than what else the file says
    assert some.locked["backends.local.hosts"] == ["api.example.org"]


def test_hints_that_cannot_be_followed_are_left_out(tmp_path: Path) -> None:
    from hermes_distribution.product import made

    file = tmp_path / FILE
    file.write_text(ACME.replace('own = ["hermes-*"]', 'plugins = ["hermes-tool-files"]'))
    product = made(read(file), NAMES)
    kept = ["See: acme config edit", "Set it: acme config set model.name x", "acme plugins list", "Ask an admin.", ""]
    gone = [
        "Try acme gateway start", "acme plugins install hermes-tool-files", "acme plugins enable backend/docker",
        "Run it in `acme`, or allow it with --yolo or policy.allow", "acme config set policy.mode off",
    ]  # fmt: skip
    assert [product.told(hint) for hint in kept] == kept
    assert [product.told(hint) for hint in gone] == [""] * len(gone)


def _ship(folder: Path, texts: dict[str, str]) -> Path:
    for old in [one for one in folder.rglob("*") if one.is_file()]:
        old.unlink()
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_what_a_person_edited_stays(tmp_path: Path) -> None:
    shipped, home = tmp_path / "files", tmp_path / "home"
    home.mkdir()
    first = {"SOUL.md": "one", "skills/a/SKILL.md": "a1", "skills/b/SKILL.md": "b1", "skills/c/SKILL.md": "c1"}
    assert lay_down(_ship(shipped, first), home) == []
    (home / "SOUL.md").write_text("mine")
    (home / "skills/b/SKILL.md").unlink()
    second = {"SOUL.md": "two", "skills/a/SKILL.md": "a2", "skills/b/SKILL.md": "b2", "skills/d/SKILL.md": "d1"}
    assert lay_down(_ship(shipped, second), home) == ["SOUL.md"]
    assert (home / "SOUL.md").read_text() == "mine"
    assert (home / "SOUL.md.new").read_text() == "two"
    assert (home / "skills/a/SKILL.md").read_text() == "a2"
    assert not (home / "skills/b/SKILL.md").exists()
    assert not (home / "skills/c/SKILL.md").exists()
    assert (home / "skills/d/SKILL.md").read_text() == "d1"
    (home / "skills/a/SKILL.md").write_text("mine")
    assert lay_down(shipped, home) == []  # nothing new: nothing is looked at


def test_a_death_in_the_middle_is_finished_and_takes_no_edit_for_ours(tmp_path: Path) -> None:
    shipped, home = tmp_path / "files", tmp_path / "home"
    home.mkdir()
    lay_down(_ship(shipped, {"SOUL.md": "one", "skills/a/SKILL.md": "a1"}), home)
    _ship(shipped, {"SOUL.md": "two", "skills/a/SKILL.md": "a2"})
    (home / "SOUL.md").write_text("two")  # written, and then the process died before it was noted
    assert lay_down(shipped, home) == []
    assert (home / "skills/a/SKILL.md").read_text() == "a2"
    (home / "distribution.json").write_text("{torn")
    assert lay_down(shipped, home) == []
    _ship(shipped, {"SOUL.md": "three"})
    lay_down(shipped, home)
    assert (home / "SOUL.md").read_text() == "three"


@pytest.mark.parametrize("place", ["config.yaml", ".env", "plugins.lock", "plugins/x.py", "cron/jobs.json"])
def test_a_product_ships_no_settings_and_no_code(tmp_path: Path, place: str) -> None:
    (tmp_path / "home").mkdir()
    with pytest.raises(UserError, match="no place in a person's home"):
        lay_down(_ship(tmp_path / "files", {place: "x"}), tmp_path / "home")


def test_a_link_of_the_persons_leads_nowhere_else(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    (elsewhere / "SKILL.md").write_text("theirs")
    (home / "skills").mkdir()
    (home / "skills/a").symlink_to(elsewhere)
    assert lay_down(_ship(tmp_path / "files", {"skills/a/SKILL.md": "ours"}), home) == ["skills/a/SKILL.md"]
    assert (elsewhere / "SKILL.md").read_text() == "theirs"
    assert not (elsewhere / "SKILL.md.new").exists()


def test_a_home_that_takes_no_files_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped, home = _ship(tmp_path / "files", {"SOUL.md": "ours"}), tmp_path / "home"
    (home / "SOUL.md.new").mkdir(parents=True)
    (home / "SOUL.md").write_text("mine")
    with pytest.raises(UserError, match=r"SOUL\.md\.new: Is a directory"):
        lay_down(shipped, home)
    (home / "SOUL.md.new").rmdir()
    (home / "distribution.json").write_text('{"stamp": 1, "files": []}')
    assert lay_down(shipped, home) == ["SOUL.md"]
    _ship(shipped, {"SOUL.md": "newer"})
    monkeypatch.setattr(files, "_WAIT", 0.0)
    with held(home / ".distribution.json.lock", seconds=1), pytest.raises(UserError, match="Another process holds"):
        lay_down(shipped, home)


WALK = """
import re, sys
from hermes_distribution import program
product = program(sys.argv[1]).distribution
import click
from hermes_core.cli.main import root
from hermes_core.cli.scope import Scope
def walk(command, context, path):
    yield path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if found := command.get_command(context, name):
                yield from walk(found, click.Context(found, parent=context, info_name=name), f"{path} {name}")
with click.Context(root, info_name=product.name, obj=Scope(product)) as context:
    pages = list(walk(root, context, product.name))
for path, text in pages:
    for line in text.splitlines():
        if re.search(r"(?<![\\w./:-])hermes [a-z]|\\bHermes\\b(?! Agent)|\\bHERMES_", line):
            print(path, "|", line)
print(len(pages))
"""


@pytest.mark.long
def test_no_page_of_help_has_another_name(tmp_path: Path) -> None:
    """All commands of all plugins, in a process of the product's."""
    (tmp_path / FILE).write_text('name = "acme"\ntitle = "Acme"\nown = ["hermes-*"]')
    command = [sys.executable, "-c", WALK, str(tmp_path)]
    environ = {**os.environ, "ACME_HOME": str(tmp_path / "home")}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    told = [line for line in done.stdout.splitlines() if "claude mcp add hermes" not in line]  # a name that one chooses
    assert len(told) == 1, done.stdout + done.stderr
    assert int(told[0]) > 200


@pytest.mark.long
def test_a_product_has_its_verbs_and_its_home_and_touches_no_other(
    tmp_path: Path, run: Callable[..., tuple[int, str]]
) -> None:
    (tmp_path / FILE).write_text(ACME)
    other = tmp_path / "home/.hermes"
    other.mkdir(parents=True)
    (other / "config.yaml").write_text("policy: {mode: 'off'}\n")
    assert run("--version") == (0, "acme 2.1\n")
    status, told = run("web")
    assert (status, told.splitlines()[0][:32]) == (2, "There is no command named 'web'.")
    assert "acme --help" in told
    assert run("plugins", "install", "x")[0] == 2
    assert run("config", "get", "policy.mode") == (0, "ask\n")
    status, told = run("config", "set", "terminal.backend", "local")
    assert status == 2
    assert "acme has locked terminal.backend" in told
    status, told = run("doctor", "--json")
    assert status == 0, told
    assert "hermes plugins" not in told
    assert [one.name for one in other.iterdir()] == ["config.yaml"]
    assert (tmp_path / "home/.acme").is_dir()


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Run the product as its console script does."""
    script = "import sys; from hermes_distribution import program; program(sys.argv.pop(1))()"
    environ = {k: v for k, v in os.environ.items() if not k.startswith("HERMES_")}
    environ |= {"HOME": str(tmp_path / "home"), "HERMES_YOLO": "1", "HERMES_HOME": str(tmp_path / "nowhere")}

    def played(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-c", script, str(tmp_path), *words]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return played


def test_nothing_is_read_before_it_is_called(tmp_path: Path) -> None:
    assert program(tmp_path / "none" / "__init__.py").file.name == FILE
    assert json.dumps(str(program(tmp_path).file)).endswith(f'{FILE}"')
