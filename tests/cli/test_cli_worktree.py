"""``hermes chat -w``: a conversation works in a worktree of its own, which goes where nothing was done in it."""

import subprocess
from pathlib import Path

import pytest


def git(folder: Path, *words: str) -> str:
    base = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
    return subprocess.run([*base, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def project(cli):
    """A repository with a commit, an ignored file that worktrees need, and one that they do not."""
    git(cli.work, "init", "-q", "-b", "main")
    for name, text in {"a.py": "a", "lib/b.py": "b", ".gitignore": ".env\nbig\n", ".worktreeinclude": "# keys\n.env\n",
                       ".env": "K=1", "big": "x"}.items():  # fmt: skip
        (cli.work / name).parent.mkdir(exist_ok=True)
        (cli.work / name).write_text(text)
    git(cli.work, "add", "-A")
    git(cli.work, "commit", "-qm", "Begin")
    return cli.work


def left(project: Path) -> list[Path]:
    return sorted((project / ".worktrees").glob("*"))


def test_it_works_there_and_leaves_nothing_where_nothing_was_done(cli, project):
    done = cli("chat", "-w", "-z", "hello")
    assert done.status == 0, done.err
    assert "on the branch hermes/" in done.err
    (row,) = cli("sessions", "list", "--json").rows
    assert row["source"] == "oneshot"
    assert left(project) == []
    assert git(project, "branch", "--list", "hermes/*") == ""
    assert git(project, "status", "--porcelain") == ""
    assert Path.cwd() == project


@pytest.mark.parametrize("words", [["-w", "-z", "hello"], ["--worktree", "chat", "-q", "hello"]])
def test_it_does_so_where_no_command_is_named_and_before_the_one_that_talks(cli, project, words):
    done = cli(*words)
    assert done.status == 0, done.err
    assert "on the branch hermes/" in done.err
    assert left(project) == []


@pytest.fixture
def worker(cli):
    """A plugin that writes a file into the folder of the conversation, and keeps what it saw there."""
    code = (
        "from pathlib import Path\nimport os\nfrom hermes_core import hookimpl\n"
        "@hookimpl\nasync def on_turn_start(ctx, session, message):\n"
        "    seen = [p for p in ('a.py', '.env', 'big') if Path(p).exists()]\n"
        "    Path(os.environ['SEEN']).write_text(f'{os.getcwd()}\\n{seen}')\n"
        "    Path('done.txt').write_text('work')\n"
    )
    cli.plugin("tool/worker", code, hooks={"use": ["on_turn_start"]})
    assert cli("plugins", "enable", "worker", "--yes").status == 0
    return cli


def test_what_was_done_stays_on_its_branch_and_is_told(worker, project, tmp_path, monkeypatch):
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    done = worker("chat", "-w", "-z", "hello")
    (place,) = left(project)
    assert f"The work is in {place}" in done.err
    assert (place / "done.txt").read_text() == "work"
    assert git(place, "branch", "--show-current") == f"hermes/{place.name}"
    cwd, seen = (tmp_path / "seen").read_text().splitlines()
    assert cwd == str(place)
    assert seen == "['a.py', '.env']"  # what is ignored comes along only where the repository says so
    assert git(project, "status", "--porcelain") == ""  # the project itself is as it was


def test_from_a_folder_below_it_works_in_the_same_one(worker, project, tmp_path, monkeypatch):
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    monkeypatch.chdir(project / "lib")
    worker("chat", "-w", "-z", "hello")
    (place,) = left(project)
    assert (place / "lib" / "done.txt").exists()
    assert Path.cwd() == project / "lib"


@pytest.mark.parametrize(("words", "said"), [(["-c"], "goes on in the folder"), (["-r", "x"], "goes on in the folder")])
def test_a_conversation_that_goes_on_stays_where_it_is(cli, project, words, said):
    done = cli("chat", "-w", *words, "-z", "hello")
    assert done.status == 2
    assert said in done.err
    assert left(project) == []


def test_where_there_is_no_repository_it_is_told(cli):
    done = cli("chat", "-w", "-z", "hello")
    assert done.status == 2
    assert "There can be no worktree" in done.err
    git(cli.work, "init", "-q")
    assert "There can be no worktree" in cli("chat", "-w", "-z", "hello").err  # there is no commit


def test_where_commands_start_elsewhere_it_is_told(cli, project):
    cli.configure("model: {provider: offline}\nterminal: {cwd: /tmp}\n")
    assert "terminal.cwd" in cli("chat", "-w", "-z", "hello").err
