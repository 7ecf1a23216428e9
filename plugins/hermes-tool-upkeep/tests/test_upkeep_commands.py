"""``hermes store`` as a person uses it, on the program itself."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from hermes_core.types import Principal, Source
from hermes_memory_files.memory import FilesMemory

from .conftest import SAID, SESSIONS, named

CANARY = "zanzibarowl"
ALL = SESSIONS * SAID


def damaged_index(home):
    with closing(sqlite3.connect(home / "state.db")) as connection:
        connection.execute("INSERT INTO search (search) VALUES ('delete-all')")
        connection.commit()


def holding(home, word):
    """The files of a home in which a word stands, in whatever letters."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return [str(path.relative_to(home)) for path in files if word in path.read_bytes().decode("latin-1").casefold()]


def test_damage_is_found_mended_and_told(run, home):
    assert "is sound" in run("store", "check").stdout
    damaged_index(home)
    found = run("store", "check", "--json")
    assert found.returncode == 1
    assert json.loads(found.stdout)["state"] == "derived"
    done = run("store", "repair")
    assert f"{ALL} messages" in done.stdout
    assert run("store", "check").returncode == 0
    assert "nothing to mend" in run("store", "repair").stdout


def test_a_repair_asks_and_keeps_the_old_file(run, home):
    path = home / "state.db"
    path.write_bytes(b"x" * 16 + path.read_bytes()[16:])
    refused = run("sessions", "list")
    assert "not a database" in refused.stderr
    assert "store check" in refused.stderr
    assert run("store", "repair").returncode != 0
    done = run("store", "repair", "--yes")
    assert f"{ALL} messages" in done.stdout, done.stderr
    assert f"{SESSIONS} sessions" in done.stdout
    assert [one.name[:16] for one in home.glob("state.db.*")] == ["state.db.damaged"]
    assert len(run("sessions", "list", "--json", "-n", 100).stdout.splitlines()) == SESSIONS


def test_a_schema_of_which_sqlite_tells_what_is_no_text_is_damage_like_any_other(run, home):
    path = home / "state.db"
    whole = path.read_bytes()
    at = whole.index(b" NOT NULL,", whole.index(b"CREATE TABLE messages")) + len(" NOT NULL")
    path.write_bytes(whole[:at] + b"\xe7\xf9" + whole[at + 2 :])
    for command in (["sessions", "list"], ["doctor"], ["--provider", "offline", "-z", "hello"]):
        told = run(*command)
        assert "damaged" in told.stdout + told.stderr, (command, told)
        assert "UnicodeDecodeError" not in told.stdout + told.stderr, (command, told)
    assert json.loads(run("store", "check", "--json").stdout)["state"] == "damaged"
    done = run("store", "repair", "--yes")
    assert f"{ALL} messages" in done.stdout, done.stderr
    assert "is sound" in run("store", "check").stdout


def test_doctor_takes_a_quick_look_and_a_full_one(run, home):
    def told(*arguments):
        rows = json.loads(run("doctor", "--json", *arguments).stdout)["findings"]
        return [
            (row["level"], row["text"], row["fix"]) for row in rows if "store" in row["who"] or "upkeep" in row["who"]
        ]

    assert ("ok", "a quick look found nothing", "") in told()
    damaged_index(home)
    (home / "config.yaml").write_text("upkeep: {mend: false}\n")
    assert ("fault", f"{ALL} messages are not found by a search", "hermes store reindex") in told()
    run("store", "reindex")
    sql = "UPDATE sqlite_master SET sql = replace(sql, '(session_id)', '(turn_id)') WHERE name = 'messages_of_session'"
    with closing(sqlite3.connect(home / "state.db")) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute(sql)
        connection.commit()
    (home / "state.db.damaged-20260101-000000").write_bytes(b"x" * 2_000_000)
    assert ("ok", "older stores lie beside it: state.db.damaged-20260101-000000 (2.0 MB)", "") in told()
    assert ("ok", "a quick look found nothing", "") in told(), "to read every index costs too much each time"
    assert told("--store")[0][0] == "fault"


def test_sessions_that_only_transcripts_have_come_back(run, home):
    said = run("--provider", "offline", "-z", f"hello {CANARY}")
    assert said.returncode == 0, said.stderr
    for path in home.glob("state.db*"):
        path.unlink()
    found = run("store", "check")
    assert found.returncode == 1
    assert "1 sessions have a transcript" in found.stdout
    assert "store rebuild" in found.stderr
    assert "1 sessions are back" in run("store", "rebuild").stdout
    assert CANARY in run("sessions", "show", "latest").stdout
    assert CANARY in run("sessions", "search", CANARY).stdout
    assert "Every transcript" in run("store", "rebuild").stdout


def test_all_sessions_go_out_and_come_in_elsewhere(run, home, tmp_path):
    run("--provider", "offline", "-z", f"write {CANARY} to note.txt")
    file = tmp_path / "all.jsonl"
    file.write_text(run("sessions", "export", "--all").stdout)
    there = tmp_path / "there"
    done = run("sessions", "import", file, at=there)
    assert len(done.stdout.splitlines()) == SESSIONS + 1, done.stderr
    before, after = (run("sessions", "export", "--all", at=at).stdout.splitlines() for at in (home, there))
    spoken = [
        [line for line in map(json.loads, lines) if line.get("role") not in (None, "system")]
        for lines in (before, after)
    ]
    assert sorted(map(json.dumps, spoken[0])) == sorted(map(json.dumps, spoken[1]))
    titles = [json.loads(line)["session"]["title"] for line in after if '"session"' in line[:12]]
    assert "talk 3" in titles
    ids = [
        [json.loads(row)["id"] for row in run("sessions", "list", "--limit", "50", "--json", at=at).stdout.splitlines()]
        for at in (home, there)
    ]
    assert ids[1] == ids[0]  # the one used last is still the one that `-c` goes on with
    again = run("sessions", "import", file, at=there)
    assert not again.stdout
    assert f"{named(1)} is there already" in again.stderr


def test_nothing_is_left_of_a_session_that_was_erased(run, home):
    said = run("--provider", "offline", "-z", f"write {CANARY} to note.txt")
    assert said.returncode == 0, said.stderr
    (home / "note.txt").unlink(missing_ok=True)
    shutil.rmtree(home / "logs", ignore_errors=True)
    [row, *_] = [json.loads(line) for line in run("sessions", "list", "--json", "-n", 1).stdout.splitlines()]
    pins = home / "data" / "memory-compressor" / "default.owner"
    pins.mkdir(parents=True)
    (pins / f"{row['id']}.json").write_text(CANARY)
    outputs = home / "cache" / "outputs" / row["id"]
    outputs.mkdir(parents=True)
    (outputs / "1.txt").write_text(CANARY)
    shutil.copytree(home, saved := home.parent / "saved")
    for old in ("before-0004", "damaged-1", "newer-2"):
        shutil.copy(home / "state.db", home / f"state.db.{old}")
    assert {"state.db", f"sessions/{row['id']}.jsonl"} <= set(holding(home, CANARY))
    done = run("store", "erase", "--session", row["id"], "--yes")
    assert done.returncode == 0, done.stderr
    assert holding(home, CANARY) == []
    assert len(run("sessions", "list", "--json", "-n", 100).stdout.splitlines()) == SESSIONS
    assert "is sound" in run("store", "check").stdout

    shutil.copytree(saved, home, dirs_exist_ok=True)  # as a copy of the home brings it back
    assert holding(home, CANARY)
    assert "Erased: 1" in run("store", "erase", "--again").stderr
    shutil.rmtree(home / "cache", ignore_errors=True)
    assert holding(home, CANARY) == []


def test_one_command_goes_back_to_what_an_older_release_had(run, home):
    from hermes_core.store.file_database import FileDatabase
    from hermes_core.store.migrate import upgrade

    path = home / "state.db"
    path.unlink()
    database = FileDatabase(path)
    database.transact(lambda tx: upgrade(tx, database.place, to="0005"))
    database.connection.execute("INSERT INTO owners (profile, person) VALUES ('default', 'owner')")
    database.connection.execute("INSERT INTO sessions (id, owner, origin) VALUES ('old', 1, 'cli')")
    database.close()
    assert run("store", "downgrade", "--yes").returncode != 0
    assert run("--provider", "offline", "-z", "hello").returncode == 0
    done = run("store", "downgrade", "--yes")
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("0005",)
        assert connection.execute("SELECT id FROM sessions").fetchall() == [("old",)]
    [newer] = home.glob("state.db.newer-*")
    with closing(sqlite3.connect(newer)) as connection:
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (2,)
    assert "1 sessions are back" in run("store", "rebuild").stdout


def test_it_goes_back_step_by_step_also_before_tables_of_a_plugin_changed(run, home, tmp_path):
    from hermes_core.store.file_database import FileDatabase
    from hermes_core.store.migrate import upgrade
    from hermes_core.store.store import open_store
    from hermes_core.store.tables import Tables
    from hermes_core.types import Migration

    path, whole = home / "state.db", Path(__file__).parents[3] / "docs/hello/tables/src/hermes_tool_notebook/migrations"
    (first := tmp_path / "first").mkdir()
    shutil.copy(whole / "0001_notes.py", first)

    def versions():
        tables = ("alembic_version", "tool_notebook__version")
        with closing(sqlite3.connect(path)) as connection:
            return [connection.execute(f"SELECT version_num FROM {table}").fetchone()[0] for table in tables]

    path.unlink()
    database = FileDatabase(path)
    database.transact(lambda tx: upgrade(tx, database.place, to="0005"))
    Tables(database, "tool/notebook", Migration(folder=first, head="0001")).prepare()
    database.close()
    assert versions() == ["0005", "0001"]
    store = open_store(path)
    Tables(store.database, "tool/notebook", Migration(folder=whole, head="0002")).prepare()
    store.close()
    newest = versions()[0]
    (home / "state.db.before-tool_notebook__0002~4711").write_bytes(b"half of a copy")
    assert "before-tool_notebook__0002 is back" in run("store", "downgrade", "--yes").stdout
    assert versions() == [newest, "0001"]
    assert f"before-{newest} is back" in run("store", "downgrade", "--yes").stdout
    assert versions() == ["0005", "0001"]
    assert "no copy from before a migration" in run("store", "downgrade", "--yes").stderr
    assert versions() == ["0005", "0001"]


def test_a_store_of_a_newer_release_says_what_to_do(run, home):
    with closing(sqlite3.connect(home / "state.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    said = run("sessions", "list").stderr
    assert "newer Hermes" in said
    assert "store downgrade" in said


def test_memories_of_a_person_go_with_them(run, home):
    with closing(sqlite3.connect(home / "state.db")) as connection:
        connection.execute("INSERT INTO owners (profile, person) VALUES ('default', 'ana')")
        connection.commit()
    FilesMemory(home / "memories").store(Principal(person="ana")).change(
        "memory", Source(by="ana"), lambda entries: [*entries, f"She likes {CANARY}."]
    )
    assert holding(home, CANARY)
    done = run("store", "erase", "--person", "ana", "--yes")
    assert done.returncode == 0, done.stderr
    assert holding(home, CANARY) == []
