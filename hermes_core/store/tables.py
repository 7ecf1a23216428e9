"""The tables at head, in SQLAlchemy Core. Read by ``freeze`` and the migrations; never imported on the hot path.

Every row that belongs to somebody carries ``owner``. Column types need no processing of results, so that the same
statements run through the bare driver. Order is that of integer ids; times are for people to read.
"""

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    column,
    table,
    text,
)

HEAD = "0001"
metadata = MetaData()


def _text(name: str, default: str | None = "") -> Column[str]:
    if default is None:
        return Column(name, Text, nullable=False)
    return Column(name, Text, nullable=False, server_default=default)


def _whole(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default="0")


def _real(name: str) -> Column[float]:
    return Column(name, Float, nullable=False, server_default="0")


def _owner() -> Column[int]:
    return Column("owner", Integer, ForeignKey("owners.id"), nullable=False)


def _session() -> Column[str]:
    return Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False)


def _usage() -> list[Column[int] | Column[float]]:
    counts = ("input", "output", "cache_read", "cache_write", "reasoning", "calls")
    return [*(_whole(name) for name in counts), _real("cost")]


owners = Table(
    "owners",
    metadata,
    Column("id", Integer, primary_key=True),
    _text("profile", None),
    _text("person", None),
    UniqueConstraint("profile", "person"),
)
sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    _owner(),
    *(_text(name) for name in ("origin", "parent", "title", "cwd", "provider", "model")),
    _real("created"),
    _real("updated"),
    _whole("last"),  # the newest message: orders sessions by use, and shows transcripts a gap
    _whole("messages"),
    _whole("tool_calls"),
    *_usage(),
    Index("sessions_by_use", "owner", "last"),
)
prompts = Table(  # apart from sessions, whose rows are written anew with every message
    "prompts",
    metadata,
    Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    _text("prompt", None),
    _text("tools", None),
)
turns = Table(
    "turns",
    metadata,
    Column("seq", Integer, primary_key=True),
    _text("id", None),
    _session(),
    _owner(),
    *(_text(name) for name in ("holder", "state", "error", "provider", "model")),
    _whole("fence"),
    _real("started"),
    _real("ended"),
    *_usage(),
    UniqueConstraint("id"),
    Index("turns_of_session", "session_id"),
    Index("turns_by_time", "owner", "started"),
)
messages = Table(
    "messages",
    metadata,
    Column("id", Integer, primary_key=True),
    _session(),
    _owner(),
    _text("turn_id"),
    _text("role", None),
    _text("body", None),
    _real("created"),
    Column("active", Integer, nullable=False, server_default="1"),
    Index("messages_of_session", "session_id"),
)
tool_calls = Table(
    "tool_calls",
    metadata,
    Column("id", Integer, primary_key=True),
    _session(),
    _owner(),
    _text("turn_id", None),
    Column("message_id", Integer, nullable=False),
    *(_text(name, None) for name in ("call_id", "name", "arguments", "outcome")),
    _real("started"),
    _real("seconds"),
    _whole("mark"),  # a checksum of name and arguments, to find repeats quickly
    _whole("repeats"),
    Column("result_id", Integer),
    UniqueConstraint("message_id", "call_id"),
    Index("tool_calls_alike", "session_id", "mark"),
    Index("tool_calls_open", "session_id", sqlite_where=text("outcome IN ('pending', 'started')")),
    Index("tool_calls_of_turn", "turn_id", "call_id"),
)
leases = Table(
    "leases",
    metadata,
    Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    *(_text(name) for name in ("holder", "turn_id", "place")),
    _whole("fence"),
    _whole("pid"),
    _real("beat"),
)
inbox = Table(
    "inbox",
    metadata,
    Column("id", Integer, primary_key=True),
    _owner(),
    *(_text(name, None) for name in ("platform", "account", "event_id", "chat", "sender", "thread", "body")),
    _text("session_id"),
    _text("turn_id"),
    _real("received"),
    UniqueConstraint("platform", "account", "event_id"),
)
outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True),
    _owner(),
    *(_text(name, None) for name in ("turn_id", "platform", "chat", "body", "key", "state")),
    _text("receipt"),
    _whole("tries"),
    _real("created"),
    UniqueConstraint("key"),
    Index("outbox_waiting", "state", "id"),
)

# The search index keeps no text of its own: words are written by the journal, in the message's own transaction.
# Ranking needs no sizes, since hits come newest first. Merging later and in larger steps halves what is written.
SEARCH_DDL = (
    "CREATE VIRTUAL TABLE search USING fts5(words, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2')",
    "INSERT INTO search (search, rank) VALUES ('automerge', 8)",
)
search = table("search", column("rowid", Integer), column("words", Text), column("search", Text))
