"""What an administrator lays down beats what a person writes, is marked as theirs, and is refused to be set."""

import os

import pytest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can lay down what counts as an administrator's")


@pytest.fixture
def etc(tmp_path, monkeypatch):
    """Return the folder of Hermes in an ``/etc`` of its own."""
    monkeypatch.setattr("hermes_core.config.paths.MANAGED", str(tmp_path / "etc"))
    folder = tmp_path / "etc/hermes"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def managed(etc):
    """Return a file there that says one thing and leaves the rest of its section open."""
    file = etc / "config.yaml"
    file.write_text("agent: {max_calls: 7}\n")
    return file


def settings_of(cli):
    return {row["setting"]: row for row in cli("config", "show", "--json").rows}


def test_it_beats_the_persons_file_by_the_leaf(cli, managed):
    cli.configure("model: {provider: offline}\nagent: {max_calls: 20, tool_seconds: 9}\n")
    assert cli("config", "get", "agent.max_calls").out == "7\n"
    assert cli("config", "get", "agent.tool_seconds").out == "9.0\n"


def test_it_is_marked_with_who_says_it_also_where_it_is_the_default(cli, managed):
    managed.write_text("agent: {max_calls: 7}\npolicy: {mode: ask}\n")
    rows = settings_of(cli)
    assert (rows["agent.max_calls"]["value"], rows["agent.max_calls"]["from"]) == ("7", str(managed))
    assert rows["policy.mode"]["from"] == str(managed)
    assert rows["model.provider"]["from"] == "you"


@pytest.mark.parametrize("words", [("agent.max_calls", "3"), ("agent", "{max_calls: 3}")])
def test_nobody_sets_it_and_who_said_it_is_named(cli, managed, words):
    before = (cli.home / "config.yaml").read_text()
    done = cli("config", "set", *words)
    assert done.status == 2
    assert f"{managed} has locked agent.max_calls" in done.err
    assert (cli.home / "config.yaml").read_text() == before
    assert cli("config", "set", "agent.tool_seconds", "5").status == 0


def test_what_is_short_for_a_section_is_locked_as_the_section_is(cli, managed):
    managed.write_text("model: offline-1\n")
    assert cli("config", "get", "model.default").out == "offline-1\n"
    assert "has locked model.default" in cli("config", "set", "model.default", "x").err


def test_no_flag_lifts_it(cli, managed):
    (cli.work / ".git").mkdir()
    wish = "run `rm -rf .git`"
    managed.write_text("policy: {mode: ask}\n")
    assert "needs a person's yes" in cli("--yolo", "-z", wish).out
    managed.unlink()
    assert "needs a person's yes" not in cli("--yolo", "-z", wish).out


def test_doctor_names_it(cli, managed):
    found = [row["text"] for row in cli("doctor", "--json").row["findings"] if row["who"] == "settings"]
    assert f"agent.max_calls is locked by {managed}" in found


BROKEN = {
    "no yaml": ("agent: [\n", "{file}:"),
    "no mapping": ("- agent\n", "{file}:"),
    "a wrong value": ("agent: {max_calls: many}\n", "{file} agent.max_calls: "),
    "a wrong list": ("policy: {deny: [5]}\n", "{file} policy.deny[0]: "),
}


@pytest.mark.parametrize(("text", "said"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_stops_with_one_error_that_names_it(cli, managed, text, said):
    managed.write_text(text)
    done = cli("-z", "hello")
    assert (done.status, done.out) == (2, "")
    assert said.format(file=managed) in done.err
    assert "Only an administrator" in done.err
    assert "hermes config edit" not in done.err
    assert "Traceback" not in done.err
    assert said.format(file=managed) in cli("config", "check").err
    faults = [row for row in cli("doctor", "--json").row["findings"] if row["who"] == "settings"]
    assert [(row["level"], said.format(file=managed) in row["text"]) for row in faults] == [("fault", True)]
    assert "Only an administrator" in faults[0]["fix"]


@pytest.mark.parametrize("mode", [0o660, 0o602])
@pytest.mark.parametrize("what", ["config.yaml", "."])
def test_what_others_than_root_can_write_is_refused(cli, etc, managed, what, mode):
    path = etc / what
    path.chmod(mode)
    done = cli("-z", "hello")
    assert (done.status, done.out) == (2, "")
    assert f"{path} can be written by others than root" in done.err


def test_what_belongs_to_another_is_refused_behind_a_link_too(cli, tmp_path, managed):
    theirs = tmp_path / "theirs.yaml"
    theirs.write_text("policy: {mode: off}\n")
    os.chown(theirs, 1000, 1000)
    managed.unlink()
    managed.symlink_to(theirs)
    assert f"{managed} can be written by others than root" in cli("status").err


def test_a_folder_with_nothing_in_it_changes_nothing(cli, etc):
    cli.configure("model: {provider: offline}\nagent: {max_calls: 20}\n")
    assert cli("config", "get", "agent.max_calls").out == "20\n"
