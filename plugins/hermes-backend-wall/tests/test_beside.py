"""Commands of several sessions in one folder, around it and in it: none of their changes is taken for the person's."""

import fcntl
import os
import signal
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_backend_wall import protected as protected_module
from hermes_backend_wall import remembered as remembered_module
from hermes_backend_wall.protected import Protected

TRACED = {protected_module.__file__, remembered_module.__file__}


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "work"
    (made / "sub").mkdir(parents=True)
    for name in ("AGENTS.md", "sub/AGENTS.md", "sub/.envrc"):
        (made / name).write_text("mine")
    return made


@pytest.fixture
def session(tmp_path):
    """One that looks after a folder, as each session, or each Hermes, has its own."""

    def made(place):
        return Protected(str(place), tmp_path / "kept", tmp_path / "records" / str(place).replace("/", "_"))

    return made


def test_what_anothers_command_changed_meanwhile_is_not_the_persons(folder, session):
    one, two = session(folder), session(folder)
    one.begin()
    (folder / "AGENTS.md").write_text("evil")
    (folder / ".envrc").write_text("evil")
    two.begin()
    assert "AGENTS.md" in one.end()
    two.end()
    assert (folder / "AGENTS.md").read_text() == "mine"
    assert not (folder / ".envrc").exists()


def test_nor_where_the_other_ends_first(folder, session):
    one, two = session(folder), session(folder)
    one.begin()
    (folder / "AGENTS.md").write_text("evil")
    two.begin()
    assert "AGENTS.md" in two.end()
    assert one.end() == ""
    assert (folder / "AGENTS.md").read_text() == "mine"


@pytest.mark.parametrize(("first", "second"), [("", "sub"), ("sub", "")])
def test_nor_where_one_folder_lies_in_the_other(folder, session, first, second):
    one, two = session(folder / first), session(folder / second)
    one.begin()
    (folder / "sub/AGENTS.md").write_text("evil")
    (folder / "sub/.envrc").unlink()
    (folder / "sub/.mcp.json").write_text("evil")
    two.begin()
    one.end()
    two.end()
    assert (folder / "sub/AGENTS.md").read_text() == "mine"
    assert (folder / "sub/.envrc").read_text() == "mine"
    assert not (folder / "sub/.mcp.json").exists()


def test_nor_where_a_link_of_the_persons_leads_to_it(folder, session):
    """Links are looked through once more, and what is found then is as it was before too."""
    (folder / "rules.md").write_text("mine")
    (folder / "CLAUDE.md").symlink_to("rules.md")
    one, two = session(folder), session(folder)
    one.begin()
    (folder / "rules.md").write_text("evil")
    (folder / ".envrc").write_text("evil")
    two.begin()
    one.end()
    two.end()
    assert (folder / "rules.md").read_text() == "mine"
    assert not (folder / ".envrc").exists()


def test_what_stands_beside_is_no_business_of_theirs(folder, session, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    one, two = session(folder), session(other)
    one.begin()
    (folder / "AGENTS.md").write_text("evil")
    (other / "AGENTS.md").write_text("of the person")
    two.begin()
    assert two.end() == ""
    one.end()
    assert (other / "AGENTS.md").read_text() == "of the person"


def test_what_the_person_wrote_when_nothing_ran_stays(folder, session):
    one, two = session(folder), session(folder)
    for session_ in (one, two, one):
        (folder / "AGENTS.md").write_text(f"mine, {id(session_)}")
        (folder / "sub/CLAUDE.md").write_text(f"mine, {id(session_)}")
        session_.begin()
        assert session_.end() == ""
    assert (folder / "AGENTS.md").read_text() == (folder / "sub/CLAUDE.md").read_text() == f"mine, {id(one)}"


@pytest.mark.parametrize("runs", [True, False])
def test_what_a_file_tool_writes_while_anothers_command_runs_stays(folder, session, runs):
    one, two, three = session(folder), session(folder), session(folder / "sub")
    one.begin()
    three.begin()
    if runs:
        two.begin()
    for name in ("AGENTS.md", "sub/AGENTS.md"):
        (folder / name).write_text("asked for")
        two.accept(str(folder / name))
    if runs:
        assert two.end() == ""
    assert three.end() == ""
    assert one.end() == ""
    assert (folder / "AGENTS.md").read_text() == (folder / "sub/AGENTS.md").read_text() == "asked for"
    one.begin()
    (folder / "AGENTS.md").write_text("mine")  # and is not known any more
    one.end()
    assert (folder / "AGENTS.md").read_text() == "asked for"


@pytest.mark.parametrize("same", [True, False])
def test_settings_of_git_that_are_half_written_are_not_taken_for_whole(folder, session, same):
    """Emptied they hold nothing that does harm; so they stood for what was there before."""
    (folder / ".git").mkdir()
    config = folder / ".git/config"
    config.write_text("[core]\n\tbare = false\n")
    one = session(folder)
    two = one if same else session(folder)
    one.begin()
    two.begin()
    config.write_text("")
    assert one.end() == ""
    config.write_text("[core]\n\tfsmonitor = evil\n")
    assert "core.fsmonitor" in two.end()
    assert config.read_text() == "[core]\n\tbare = false\n"


def test_settings_of_git_that_do_no_harm_stay(folder, session):
    (folder / ".git").mkdir()
    one = session(folder)
    for name in ("Ann", "Ben"):
        one.begin()
        (folder / ".git/config").write_text(f"[user]\n\tname = {name}\n")
        assert one.end() == ""
        one.begin()
        (folder / ".git/config").write_text("[core]\n\tfsmonitor = evil\n")
        one.end()
        assert name in (folder / ".git/config").read_text()


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["begin", "end", "evil", "more", "close"])), max_size=30))
def test_whatever_their_order_nothing_of_them_stays(tmp_path_factory, steps):
    base = tmp_path_factory.mktemp("orders")
    folder = base / "work"
    (folder / "sub").mkdir(parents=True)
    (folder / "AGENTS.md").write_text("mine")
    (folder / "sub/AGENTS.md").write_text("mine")
    places = [folder, folder, folder / "sub", folder]
    sessions = [Protected(str(p), base / "kept", base / "records" / f"r{len(str(p))}") for p in places]
    running = [0] * len(sessions)
    for who, what in steps:
        if what == "begin":
            sessions[who].begin()
            running[who] += 1
        elif what == "end" and running[who]:
            sessions[who].end()
            running[who] -= 1
        elif what == "close":
            sessions[who].close()
            running[who] = 0
        elif running[who] and what in ("evil", "more"):
            name = "AGENTS.md" if what == "evil" else ".envrc"
            (places[who] / name).write_text(f"evil {who}")
    for session_ in sessions:
        session_.close()
    texts = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert texts == {"AGENTS.md": "mine", "sub/AGENTS.md": "mine"}
    assert not list((base / "records").glob("*.running-*")) if (base / "records").exists() else True


def killed_after(lines, act):
    """Play ``act`` in a process of its own, which is killed before a line of it; whether it ended before that."""
    pid = os.fork()
    if not pid:
        left = lines

        def trace(frame, event, _):
            nonlocal left
            if frame.f_code.co_filename not in TRACED:
                return None
            left -= event == "line"
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        try:
            act()
        finally:
            os._exit(0)
    return not os.WIFSIGNALED(os.waitpid(pid, 0)[1])


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("when", ["another begins after it", "another began before it", "another began around it"])
def test_killed_between_any_two_lines_it_leaves_nothing_for_good(folder, session, when, request):
    every = request.config.getoption("every")

    def act():
        one = session(folder / "sub")
        one.begin()
        (folder / "sub/AGENTS.md").write_text("evil")
        (folder / "sub/.mcp.json").write_text("evil")
        one.end()
        one.begin()
        (folder / "sub/.envrc").write_text("evil")
        one.close()

    lines, done = 0, False
    while not done:
        two = session(folder if when == "another began around it" else folder / "sub")
        if when != "another begins after it":
            two.begin()
        done = killed_after(lines, act)
        two.begin()
        two.end()
        two.close()
        three = session(folder / "sub")
        three.begin()
        three.close()
        there = {path.name: path.read_text() for path in (folder / "sub").iterdir() if path.is_file()}
        assert there == {"AGENTS.md": "mine", ".envrc": "mine"}, lines
        lines += 1 if lines < 40 else 7 * every
    assert lines > 400


def test_a_draft_that_is_being_written_is_left_to_who_writes_it(folder, session, tmp_path):
    one = session(folder)
    one.begin()
    draft = next((tmp_path / "records").glob("*.running-*"))
    young = draft.with_name(draft.name.replace(".running-", ".draft-") + "x")
    young.write_text("half")
    two = session(folder)
    two.begin()
    assert young.exists()
    os.utime(young, (1, 1))
    session(folder).begin()
    assert not young.exists()
    one.close()
    two.close()


def test_nobody_begins_while_another_does(folder, session, monkeypatch, tmp_path):
    (tmp_path / "records").mkdir()
    with (tmp_path / "records/.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        monkeypatch.setattr(remembered_module, "_PATIENCE", 0.05)
        with pytest.raises(OSError, match=r"\.lock"):
            session(folder).begin()
    session(folder).begin()
