"""Tables of plugins: made before their first use, under one lock, and nobody else's."""

import asyncio
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from hermes_core.database import READ, TablesTransaction
from hermes_core.errors import Conflict, ContractError, Incompatible, PluginError, StoreError
from hermes_core.store.leases import Turn
from hermes_core.store.store import Store, open_store
from hermes_core.store.tables import Tables, prefix_of
from hermes_core.types import Message, Migration, Principal, Session
from hermes_core.types import Text as TextPart

HELLO = Path(__file__).parents[2] / "docs" / "hello" / "tables" / "src" / "hermes_tool_notebook"
NOTES = sa.Table(
    "tool_notebook__notes", sa.MetaData(),
    sa.Column("id", sa.BigInteger, primary_key=True), sa.Column("owner", sa.Text), sa.Column("text", sa.Text),
    sa.Column("pinned", sa.Boolean),
)  # fmt: skip
OWNERS = sa.table("owners", sa.column("id"), sa.column("person"))
FIRST = (HELLO / "migrations" / "0001_notes.py").read_text()
Sql = Callable[[str], list[tuple[object, ...]]]


def tables(store: Store, folder: Path = HELLO / "migrations", head: str = "0002") -> Tables:
    return Tables(store.database, "tool/notebook", Migration(folder=folder, head=head))


@pytest.fixture
def ready(store: Store) -> Tables:
    made = tables(store)
    made.prepare()
    return made


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """A folder with a first revision and what else it does."""

    def write(*more: str) -> Path:
        folder = tmp_path / "migrations"
        folder.mkdir(exist_ok=True)
        body = FIRST + "".join(f"    {line}\n" for line in more)
        (folder / "0001_first.py").write_text(body)
        return folder

    return write


async def execute(of: Tables, statement: Any, parameters: Any = None) -> Any:
    return await of.run(lambda tx: tx.execute(statement, parameters))


async def test_rows_go_in_and_come_back_as_mappings(ready: Tables) -> None:
    added = await execute(ready, sa.insert(NOTES).values(owner="me", text="milk").returning(NOTES.c.id))
    await execute(ready, sa.insert(NOTES), [{"owner": "me", "text": "tea"}, {"owner": "you", "text": "salt"}])
    rows = await execute(ready, sa.select(NOTES).where(NOTES.c.owner == "me").order_by(NOTES.c.id.desc()))
    assert [row["text"] for row in rows] == ["tea", "milk"]
    assert rows[1] == {"id": added[0]["id"], "owner": "me", "text": "milk", "pinned": False}
    changed = await execute(ready, sa.update(NOTES).values(pinned=True).where(NOTES.c.owner == "me"))
    assert (changed, changed.changed) == ([], 2)
    same = postgresql.insert(NOTES).values(id=added[0]["id"], owner="me", text="again").on_conflict_do_nothing()
    assert (await execute(ready, same)).changed == 0
    assert (await execute(ready, sa.delete(NOTES).where(NOTES.c.pinned.is_(False)))).changed == 1
    assert (await execute(ready, sa.select(sa.func.count().label("n")).select_from(NOTES)))[0]["n"] == 2


async def test_a_unit_of_work_is_whole_or_nothing(ready: Tables) -> None:
    def both(tx: TablesTransaction) -> None:
        tx.execute(sa.insert(NOTES).values(id=1, owner="me", text="milk"))
        tx.execute(sa.insert(NOTES).values(id=1, owner="me", text="tea"))

    with pytest.raises(Conflict, match="A row of tool/notebook stands in the way"):
        await ready.run(both)
    assert await execute(ready, sa.select(NOTES)) == []
    kept: list[TablesTransaction] = []
    await ready.run(kept.append)
    with pytest.raises(ContractError, match="transaction that is over"):
        kept[0].execute(sa.select(NOTES))

    async def wait(tx: TablesTransaction) -> None: ...

    for work in (wait, lambda tx: wait(tx)):
        with pytest.raises(ContractError, match="plain def"):
            await ready.run(work)  # type: ignore[arg-type]


async def test_a_row_tells_whether_its_holder_lives(ready: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    marked = dict(await ready.run(lambda tx: tx.mark()))
    rows = (None, marked | {"holder": ""}, marked | {"holder": "me"})
    assert await ready.run(lambda tx: [tx.lives(row) for row in rows]) == [False, False, True]
    assert not await ready.run(lambda tx: tx.lives(rows[2] and {**rows[2], "beat": marked["beat"] - 3600}))
    monkeypatch.setattr("hermes_atomic.processes.is_running", lambda pid: pid != marked["pid"])
    assert not await ready.run(lambda tx: tx.lives(rows[2]))


async def test_many_units_at_once_all_count(ready: Tables, store: Store) -> None:
    await execute(ready, sa.insert(NOTES).values(id=1, owner="0", text=""))

    def more(tx: TablesTransaction) -> None:
        (row,) = tx.execute(sa.select(NOTES.c.owner).where(NOTES.c.id == 1).with_for_update())
        tx.execute(sa.update(NOTES).values(owner=str(int(row["owner"]) + 1)).where(NOTES.c.id == 1))

    await asyncio.gather(*(ready.run(more) for _ in range(20)), *(store.sessions.is_free("x") for _ in range(20)))
    assert (await execute(ready, sa.select(NOTES.c.owner)))[0]["owner"] == "20"


OURS, THEIRS = sa.select(NOTES.c.id), sa.select(OWNERS.c.id)
UPSERT = postgresql.insert(NOTES).values(id=1, owner="a", text="b")
RAW = sa.text("SELECT 1")


@pytest.mark.parametrize(
    "statement",
    [
        RAW,
        sa.text("SELECT id FROM owners").columns(sa.column("id")),
        sa.DDL("DROP TABLE owners"),
        sa.schema.CreateTable(NOTES),
        THEIRS,
        OURS.where(sa.text("1 = 1")),
        OURS.where(NOTES.c.id.in_(THEIRS)),
        OURS.where(NOTES.c.id == THEIRS.scalar_subquery()),
        OURS.where(sa.exists(THEIRS)),
        OURS.union_all(THEIRS),
        OURS.add_cte(sa.delete(OWNERS).cte("gone")),
        OURS.join(OWNERS, OWNERS.c.id == NOTES.c.id),
        OURS.order_by(sa.text("1")),
        sa.select(sa.Table("tool_notebook__version", sa.MetaData(), sa.Column("version_num", sa.Text))),
        sa.select(sa.Table("tool_notebook__notes", sa.MetaData(), sa.Column("id", sa.Text), schema="other")),
        sa.insert(NOTES).from_select(["id"], THEIRS),
        sa.insert(OWNERS).values(person="x"),
        sa.update(NOTES).values(text=sa.select(OWNERS.c.person).scalar_subquery()),
        sa.delete(OWNERS),
        sa.insert(NOTES).values(text="x").returning(THEIRS.scalar_subquery()),
    ],
    ids=lambda one: type(one).__name__,
)
async def test_a_statement_that_leaves_the_tables_is_refused(ready: Tables, statement: Any) -> None:
    with pytest.raises(ContractError, match="its statement was refused"):
        await execute(ready, statement)


@pytest.mark.parametrize(
    "statement",
    [
        sa.select(sa.literal_column("(SELECT person FROM owners)")),
        sa.select(sa.literal_column("(SELECT version_num FROM tool_notebook__version)")),
        sa.select(sa.literal_column("name FROM sqlite_master")),
        sa.select(sa.literal_column("(SELECT name FROM pragma_table_info('owners'))")),
        OURS.where(NOTES.c.text.op("|| (SELECT person FROM owners) ||")("x") == "y"),
        sa.select(NOTES.c.id.label(sa.quoted_name("x, (SELECT person FROM owners)", quote=False))),
        sa.insert(NOTES).values([{"text": sa.text("(SELECT person FROM owners)")}]),
        sa.insert(NOTES).values([{"text": THEIRS.scalar_subquery()}]),
        UPSERT.on_conflict_do_update(index_elements=["id"], set_={"text": THEIRS.scalar_subquery()}),
        UPSERT.returning(sa.literal_column("(SELECT person FROM owners)")),
    ],
    ids=lambda one: type(one).__name__,
)
async def test_in_a_file_the_database_itself_refuses_what_nobody_saw(tmp_path: Path, statement: Any) -> None:
    store = open_store(tmp_path / "state.db")
    made = tables(store)
    made.prepare()
    with pytest.raises(ContractError, match="its statement was refused"):
        await execute(made, statement)
    assert await store.sessions.list(Principal(), limit=1) == []  # and the store itself goes on
    assert await execute(made, sa.select(NOTES)) == []
    store.close()


async def test_what_is_refused_touches_nothing(ready: Tables, sql: Sql) -> None:
    with pytest.raises(ContractError, match=r"tool/notebook: its statement was refused: .*owners"):
        await execute(ready, sa.delete(sa.Table("owners", sa.MetaData(), sa.Column("id", sa.Integer))))
    with pytest.raises(StoreError):
        await execute(ready, sa.select(NOTES.c.id, sa.Column("none", sa.Text)).select_from(NOTES))
    assert (await execute(ready, sa.select(NOTES))) == []


async def test_what_stays_in_the_tables_is_done(ready: Tables) -> None:
    other, recent = NOTES.alias("other"), sa.select(NOTES).order_by(NOTES.c.id.desc()).limit(5).cte("recent")
    for statement in (
        UPSERT.on_conflict_do_update(index_elements=["id"], set_={"text": UPSERT.excluded.text}),
        UPSERT.on_conflict_do_nothing(),
        sa.select(NOTES.c.id, other.c.text).join(other, other.c.id == NOTES.c.id).where(NOTES.c.text.like("b%")),
        sa.select(recent.c.text, sa.func.count().label("n")).group_by(recent.c.text).having(sa.func.count() > 0),
        sa.select(sa.case((NOTES.c.pinned, "yes"), else_="no").label("p")).where(NOTES.c.id.in_([1, 2])),
        OURS.union_all(sa.select(other.c.id)).order_by("id").limit(3).offset(0),
        OURS.where(sa.or_(NOTES.c.id.between(1, 3), ~sa.exists().where(other.c.id == 7)), NOTES.c.text.is_not(None)),
        sa.select(sa.func.coalesce(sa.func.max(NOTES.c.id), 0) + 1).distinct(),
        sa.select(sa.select(sa.func.lower(NOTES.c.text)).scalar_subquery()),
        sa.select(sa.cast(NOTES.c.id, sa.Text), sa.func.row_number().over(order_by=NOTES.c.id)),
        OURS.where(NOTES.c.text.op("||")("x") == "y").prefix_with("ALL"),
    ):
        await execute(ready, statement)
    assert len(await execute(ready, sa.select(NOTES))) == 1


def test_no_plugin_has_the_beginning_of_anothers_prefix() -> None:
    assert prefix_of("tool/note-book") == "tool_note_book__"
    for label in ("tool/note_book", "tool/a--b", "tool/a-", "tool/-a", "tool/"):
        with pytest.raises(ContractError, match="single - between"):
            prefix_of(label)


# --- migrations -------------------------------------------------------------------------------------------------------


async def test_an_older_state_is_brought_to_head_with_its_rows(store: Store, sql: Sql) -> None:
    older = tables(store, head="0001")
    with pytest.raises(ContractError, match="its migrations end at 0002, and it names 0001"):
        older.prepare()
    assert sql("SELECT 1 FROM owners WHERE 1 = 0") == []
    with pytest.raises(StoreError):
        sql("SELECT 1 FROM tool_notebook__notes")


async def test_a_newer_revision_is_run_and_the_rows_stay(store: Store, written: Callable[..., Path]) -> None:
    folder = written()
    tables(store, folder, "0001").prepare()
    short = sa.insert(
        sa.Table("tool_notebook__notes", sa.MetaData(), *(sa.Column(n, sa.Text) for n in ("owner", "text")))
    )
    await execute(tables(store, folder, "0001"), short.values(owner="me", text="milk"))
    (folder / "0002_second.py").write_text((HELLO / "migrations" / "0002_pinned.py").read_text())
    newer = tables(store, folder)
    newer.prepare()
    newer.prepare()
    (row,) = await execute(newer, sa.select(NOTES))
    assert (row["text"], row["pinned"]) == ("milk", False)
    (folder / "0002_second.py").unlink()
    with pytest.raises(Incompatible, match=r"of a newer version of it \(0002; this one knows 0001\)"):
        tables(store, folder, "0001").prepare()
    assert len(await execute(newer, sa.select(NOTES))) == 1


def test_the_store_as_it_was_lies_beside_it(file_store: Store, tmp_path: Path, written: Callable[..., Path]) -> None:
    folder, copy = written(), tmp_path / "state.db.before-tool_notebook__0002"
    tables(file_store, folder, "0001").prepare()
    assert not list(tmp_path.glob("state.db.before-*")), "there was nothing to go back to"
    database = file_store.database
    database.transact(
        lambda tx: tx.connection.execute("INSERT INTO tool_notebook__notes (owner, text) VALUES ('me', 'milk')")
    )
    (folder / "0002_second.py").write_text((HELLO / "migrations" / "0002_pinned.py").read_text())
    tables(file_store, folder).prepare()
    with closing(sqlite3.connect(copy)) as there:
        assert there.execute("SELECT version_num FROM tool_notebook__version").fetchall() == [("0001",)]
        assert there.execute("SELECT owner, text FROM tool_notebook__notes").fetchall() == [("me", "milk")]
        assert "pinned" not in str(there.execute("SELECT sql FROM sqlite_master").fetchall())
    assert copy.stat().st_mode & 0o077 == 0
    copy.unlink()
    tables(file_store, folder).prepare()
    (folder / "0002_second.py").unlink()
    with pytest.raises(Incompatible, match="store downgrade"):
        tables(file_store, folder, "0001").prepare()
    assert not list(tmp_path.glob("state.db.before-*")), "nothing was changed, or to be changed"


async def test_a_revision_that_is_no_python_is_its_plugins_fault(store: Store, written: Callable[..., Path]) -> None:
    folder = written()
    tables(store, folder, "0001").prepare()
    (folder / "0002_second.py").write_text("(")
    with pytest.raises(PluginError, match=r"tool/notebook.*cannot be migrated: SyntaxError"):
        tables(store, folder).prepare()


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("op.execute('CREATE TABLE mine (x INTEGER)')", "its migrations touch mine; names of its own begin with"),
        ("op.create_index('by_text', 'tool_notebook__notes', ['text'])", "touch by_text"),
        ("op.drop_table('prompts')", "touch .*prompts"),
        ("op.add_column('leases', sa.Column('x', sa.Text))", "touch leases"),
        ("raise KeyError('x')", "cannot be migrated: KeyError: 'x'"),
        ("op.execute('nonsense')", "cannot be migrated: "),
    ],
)
async def test_a_migration_that_fails_leaves_everything_as_before(
    store: Store, sql: Sql, written: Callable[..., Path], does: str, why: str
) -> None:
    folder = written(does)
    for _ in range(2):
        with pytest.raises(PluginError, match=f"tool/notebook.*{why}"):
            tables(store, folder, "0001").prepare()
    assert sql("SELECT count(*) FROM prompts") == [(0,)]
    assert not await store.database.run(lambda tx: "tool_notebook__version" in tx.objects(), READ)
    with pytest.raises(StoreError):
        sql("SELECT 1 FROM tool_notebook__notes")
    written()
    tables(store, folder, "0001").prepare()
    assert await store.database.run(lambda tx: "tool_notebook__version" in tx.objects(), READ)


@pytest.mark.long
def test_alembic_is_not_imported_where_the_tables_are_at_head(tmp_path: Path) -> None:
    import subprocess

    program = (
        "import sys; from pathlib import Path; from hermes_core.store.store import open_store\n"
        "from hermes_core.store.tables import Tables; from hermes_core.types import Migration\n"
        "store = open_store(Path(sys.argv[1])); migration = Migration(folder=Path(sys.argv[2]), head='0002')\n"
        "Tables(store.database, 'tool/notebook', migration).prepare(); store.close()\n"
        "print([m for m in ('alembic', 'sqlalchemy') if m in sys.modules])"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "state.db"), str(HELLO / "migrations")],
            capture_output=True, text=True, check=True,
        ).stdout.strip()
        for _ in range(2)
    ]  # fmt: skip
    assert said == ["['alembic', 'sqlalchemy']", "[]"]


# --- what belongs to somebody else's commit, and to other processes


async def begun(store: Store) -> Turn:
    session, asked = "20260101_000000_aaaaaa", Message(role="user", parts=(TextPart(text="go"),))
    await store.sessions.create(Session(id=session, origin="cli"))
    return await store.journal.open_turn(session, asked, turn_id="t", holder="h", provider="p", model="m")


async def test_what_a_turn_ends_with_is_stored_with_its_end(ready: Tables, store: Store) -> None:
    turn = await begun(store)
    await store.journal.close_turn(turn, state="done", also=partial(ready.unit, adding("milk")))
    assert [row["text"] for row in await execute(ready, sa.select(NOTES))] == ["milk"]
    last = await store.journal.last_turn(turn.session_id)
    assert last is not None
    assert last.state == "done"


async def test_a_turn_whose_end_cannot_be_written_has_not_ended(ready: Tables, store: Store) -> None:
    turn = await begun(store)

    def broken(tx: TablesTransaction) -> None:
        adding("milk")(tx)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.journal.close_turn(turn, state="done", also=partial(ready.unit, broken))
    with pytest.raises(ContractError, match="not the plugin's own"):
        await store.journal.close_turn(
            turn, state="done", also=partial(ready.unit, lambda tx: tx.execute(sa.select(OWNERS)))
        )
    assert await execute(ready, sa.select(NOTES)) == []
    last = await store.journal.last_turn(turn.session_id)
    assert last is not None
    assert last.state == "open"
    await store.journal.close_turn(turn, state="done")


async def test_what_was_told_is_heard_by_those_of_the_same_plugin_alone(ready: Tables, store: Store) -> None:
    heard, others = asyncio.Event(), asyncio.Event()
    stop = store.database.subscribe(f"{ready.prefix}new", heard.set)
    store.database.subscribe("tool_other__new", others.set)
    await asyncio.sleep(0.2)
    heard.clear()  # a server's: that it began to listen
    others.clear()
    await ready.run(lambda tx: tx.tell("new"))
    async with asyncio.timeout(20):
        await heard.wait()
    stop()
    assert not others.is_set()


async def test_who_is_alone_with_a_name_comes_after_the_one_before(ready: Tables) -> None:
    def more(tx: TablesTransaction) -> None:
        tx.alone("count")
        [row] = tx.execute(sa.select(sa.func.count().label("many")).select_from(NOTES))
        tx.execute(sa.insert(NOTES).values(owner=str(row["many"]), text=""))

    await asyncio.gather(*(ready.run(more) for _ in range(12)))
    rows = await ready.run(lambda tx: tx.execute(sa.select(NOTES)), READ)
    assert sorted(int(row["owner"]) for row in rows) == list(range(12))


async def test_the_clock_is_that_of_whoever_keeps_the_store(ready: Tables) -> None:
    assert abs(await ready.run(lambda tx: tx.clock()) - time.time()) < 60


def adding(text: str) -> Callable[[TablesTransaction], object]:
    return lambda tx: tx.execute(sa.insert(NOTES).values(owner="me", text=text))
