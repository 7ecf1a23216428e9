"""Every statement of the store, by name, in SQLAlchemy Core, over the tables that the migrations make.

Importing SQLAlchemy costs a one-shot more than its own work, so what it says for SQLite and for PostgreSQL is written
down once, in ``versions/head``. A test holds the two equal. After every change of a statement and every new migration
run ``python -m hermes_core.store.statements``.
"""

import json
import re
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import sqlalchemy as sa
from attrs import fields
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import psycopg2
from sqlalchemy.engine import Dialect

from hermes_core.store.migrate import lent, revisions_sql, upgrade
from hermes_core.types import Session, Usage

_database = sqlite3.connect(":memory:")
upgrade(_database, ":memory:")
_metadata = sa.MetaData()
_metadata.reflect(lent(_database))
_tables = ("owners", "sessions", "prompts", "turns", "messages", "tool_calls", "leases", "inbox", "contexts")
owners, sessions, prompts, turns, messages, calls, leases, inbox, contexts = (_metadata.tables[n] for n in _tables)
model_calls, approvals, grants = (_metadata.tables[n] for n in ("model_calls", "approvals", "grants"))
outbox, people, pairings, locks = (_metadata.tables[n] for n in ("outbox", "people", "pairings", "pairing_locks"))
chats, routes, accounts = (_metadata.tables[n] for n in ("chats", "routes", "accounts"))
search = sa.table(
    "search", sa.column("rowid"), sa.column("words"), sa.column("search")
)  # an FTS5 table, unknown to SQLAlchemy; on a server a plain one

_b = sa.bindparam
USAGE = [field.name for field in fields(Usage) if field.name != "priced"]
SESSION = [field.name for field in fields(Session) if field.name in sessions.c and field.name != "owner"]
SPENT = ("provider", "model", "task", "turn_id", "priced")
HOLDER = ("holder", "place", "pid", "beat")
LEASE = ("fence", *HOLDER)
END_ROWS = 2000
APPROVAL = (
    "session_id", "root", "turn_id", "call_id", "kind", "subject", "risk", "choices", "covers", "rules", "state",
    "verdict", "choice", "reason", "answered_by", "asked", "answered", "addressee",
)  # fmt: skip
ROUTE = ("key", "session_id", "overrides", "made", "used")
GRANT = ("session_id", "rule", "words", "folder", "approval_id", "created")
CHAT = ("platform", "account", "chat", "thread")
OUTGOING = (
    "key", "session_id", "turn_id", "trace", "kind", "platform", "account", "chat", "thread", "reply_to", "body",
    "state", "created",
)  # fmt: skip
OUTBOX = ("id", *OUTGOING, "placeholder", "message_id", "error", "holder", "tries", "repeated", "due", "sent")
OWNED_CHAT = ("owner", "platform", "account", "chat", "thread")
PERSON = ("platform", "sender", "person", "role", "name", "by", "since")
PAIRING = ("platform", "sender", "account", "chat", "name", "salt", "hash", "created", "expires")
CALL = ("session_id", "turn_id", "message_id", "call_id", "name", "arguments", "mark")


def _is(of: sa.Table, *names: str) -> list[sa.ColumnElement[bool]]:
    """Each column equal to the parameter of its name."""
    return [of.c[name] == _b(name) for name in names]


def _get(of: sa.Table, *names: str) -> sa.Select[tuple[object, ...]]:
    return sa.select(*(of.c[name] for name in names))


def _given(*names: str) -> dict[str, sa.ColumnElement[object]]:
    return {name: _b(name) for name in names}


def _add(to: sa.Table | sa.TableClause, *names: str, **computed: object) -> postgresql.Insert:
    """An insert; both dialects read what this one says about conflicts."""
    return postgresql.insert(to).values({**_given(*names), **computed})


def _set(of: sa.Table, *names: str, **computed: object) -> sa.Update:
    return sa.update(of).where(*_is(of, "id")).values({**_given(*names), **computed})


def _page(rows: sa.ColumnElement[bool], order: sa.ColumnElement[object]) -> sa.Executable:
    page = _get(messages, "id", "body").where(*_is(messages, "session_id"), rows)
    return page.order_by(order).limit(_b("limit"))


def _found(
    hits: sa.Select[tuple[object]], order: sa.ColumnElement[object], rows: sa.ColumnElement[object]
) -> sa.Executable:
    """The messages that the newest, or oldest, hits lead to."""
    found = hits.order_by(order).subquery("found")
    return (
        _get(messages, "session_id", "role", "created", "body")
        .add_columns(messages.c.id.label("message_id"), sessions.c.title, sessions.c.origin)
        .select_from(found.join(messages, messages.c.id == found.c.rowid).join(sessions))
        .where(*_is(messages, "owner"))
        .order_by(rows)
    )


def _of_turn(role: str) -> sa.Select[tuple[object, ...]]:
    said = messages.c.role == sa.literal_column(f"'{role}'")
    return _get(messages, "body").where(*_is(messages, "session_id", "turn_id"), said)


def _calls(*more: sa.ColumnElement[bool]) -> sa.Executable:
    names = ("session_id", "turn_id", "call_id", "name", "outcome", "started", "seconds", "repeats", "arguments")
    return (
        _get(calls, *names)
        .add_columns(messages.c.body)
        .outerjoin_from(calls, messages, messages.c.id == calls.c.result_id)
        .where(*_is(calls, "owner"), (_b("name") == "") | (calls.c.name == _b("name")), *more)
        .order_by(calls.c.id.desc())
        .limit(_b("limit"))
    )


def _used(quarter: sa.ColumnElement[object]) -> sa.Executable:
    """What was used in each quarter of an hour: no time zone cuts one in two."""
    return (
        _get(model_calls, *SPENT)
        .add_columns(quarter.label("quarter"), *(sa.func.sum(model_calls.c[name]).label(name) for name in USAGE))
        .where(*_is(model_calls, "owner"), model_calls.c.created >= _b("since"))
        .group_by(sa.literal_column("quarter"), *(model_calls.c[name] for name in SPENT))
    )


def _whose(of: sa.Table, *rows: sa.ColumnElement[bool]) -> sa.Select[tuple[object, ...]]:
    """The sessions that rows are of, with their owners, and who works on them."""
    return (
        sa.select(of.c.session_id, owners.c.profile, owners.c.person, *(leases.c[name] for name in HOLDER))
        .join_from(of, sessions, of.c.session_id == sessions.c.id)
        .join(owners)
        .outerjoin(leases, leases.c.session_id == of.c.session_id)
        .where(*rows)
    )


def _replaced(name: str) -> sa.ColumnElement[object]:
    return sa.func.coalesce(sa.func.nullif(_b(name), ""), sessions.c[name])


def _these(of: sa.Table, *names: str) -> list[sa.ColumnElement[bool]]:
    """Each column equal to the parameter of its name, unless that is empty."""
    return [(_b(name) == sa.literal_column("''")) | (of.c[name] == _b(name)) for name in names]


def _outbox() -> sa.Select[tuple[object, ...]]:
    return _get(outbox, *OUTBOX).add_columns(owners.c.profile, owners.c.person).join_from(outbox, owners)


def _in(*states: str) -> sa.ColumnElement[bool]:
    """Whether an outbox row is in one of these states; written so that the index of what waits is used."""
    return outbox.c.state.in_([sa.literal_column(f"'{state}'") for state in states])


_unsent = sa.select(sa.func.min(outbox.c.id)).where(*_is(outbox, "platform", "account"), _in("waiting", "sending"))
_unsent = _unsent.group_by(outbox.c.chat, outbox.c.thread)
_draft = outbox.c.state == sa.literal_column("'draft'")
_over = sa.select(turns.c.id).where(turns.c.state != sa.literal_column("'open'"), turns.c.ended < _b("before"))
_untried = _in("draft", "waiting") & (outbox.c.holder == sa.literal_column("''"))
_sending = (outbox.c.holder == _b("holder")) & _in("sending")


def _seen_by(of: sa.Table) -> sa.ColumnElement[bool]:
    """The rows of an owner, or with -2, which no owner has, everybody's."""
    return (of.c.owner == _b("owner")) | (_b("owner") == -2)


def _about(of: sa.Table) -> sa.ColumnElement[bool]:
    """The rows with a trace, or of a turn, as far as these are given."""
    return sa.or_(*((of.c[name] == _b(name)) & (_b(name) != sa.literal_column("''")) for name in ("trace", "turn_id")))


_open = approvals.c.state == sa.literal_column("'open'")
_asked = _get(approvals, "id", *APPROVAL).add_columns(owners.c.profile, owners.c.person).join_from(approvals, owners)
# What somebody may answer: what is put to them, and as an admin what is put to admins of their profile.
_answerable = (_is(approvals, "owner")[0] & (approvals.c.addressee == sa.literal_column("''"))) | (
    _b("admin", type_=sa.Boolean())
    & (approvals.c.addressee == sa.literal_column("'admin'"))
    & _is(owners, "profile")[0]
)
_words: sa.BindParameter[str] = _b("words")
_named = (sa.func.substr(sessions.c.id, 1, sa.func.length(_words)) == _words) | (sessions.c.title != "")
_titled = sa.func.lower(sessions.c.title) == sa.func.lower(_b("title"))
_unused = sessions.c.updated < _b("before")
_child: sa.ColumnElement[str] = sa.literal_column("'child'")  # the origin of a child agent's session
_children = sa.select(sessions.c.id).where(*_is(sessions, "owner"), sessions.c.origin == _child)
_own = turns.c.session_id.not_in(_children)  # what a child agent used is booked for its parent's turn too
_listed = (sessions.c.origin == _b("origin")) | (
    (_b("origin") == "") & (_b("children", type_=sa.Boolean()) | (sessions.c.origin != _child))
)
_newest = sessions.c["last"].desc(), sessions.c.created.desc(), sessions.c.id.desc()
_owner = sa.select(sessions.c.owner).where(sessions.c.id == _b("session_id"))
_preview = sa.select(messages.c.body).where(messages.c.session_id == sessions.c.id, messages.c.role == "user")
_trace = sa.select(inbox.c.trace).where(inbox.c.turn_id == turns.c.id).order_by(inbox.c.id).limit(1)
_seconds = sa.func.sum(sa.case((turns.c.ended > 0, turns.c.ended), else_=_b("now")) - turns.c.started)
_by_chat = sa.exists().where(*(chats.c[name] == inbox.c[name] for name in ("owner", "platform", "account")))
_came = sa.exists().where(inbox.c.turn_id == turns.c.id, _by_chat)
_served = (*_is(accounts, "platform", "account", "fence"), accounts.c.holder != "")
_held = (*_is(leases, "session_id", "fence"), leases.c.holder != "")
_hits = sa.select(search.c.rowid).where(search.c.search.op("MATCH")(_b("query"))).limit(_b("limit"))
_held_words = sa.func.string_to_array(search.c.words, sa.literal_column("' '")).op("@>")(_b("words"))
_in_order = search.c.words.op("LIKE ALL")(sa.text("(:phrases)"))
_found_there = sa.select(search.c.rowid).where(_held_words, _in_order)
# Words that are everywhere are in the rows at the end; for all others only the index is fast: the planner is told so.
_by_index = _found_there.cte("hits").prefix_with("MATERIALIZED")
_at_end, _at_start = (
    _found_there.where(edge).limit(_b("limit"))
    for edge in (
        search.c.rowid > sa.select(sa.func.max(search.c.rowid) - END_ROWS).scalar_subquery(),
        search.c.rowid < sa.select(sa.func.min(search.c.rowid) + END_ROWS).scalar_subquery(),
    )
)
_server_hits = sa.select(_by_index.c.rowid).limit(_b("limit"))
_earlier = calls.alias("earlier")
_MIRROR: sa.ColumnElement[str] = sa.literal_column("'mirror'")
_renamed = sa.func.coalesce(sa.func.nullif(_b("name"), ""), chats.c.name)
_owned_chats = (
    _get(chats, *CHAT, "kind", "name", "sender", "home", "dead", "seen")
    .add_columns(owners.c.profile, owners.c.person)
    .join_from(chats, owners, chats.c.owner == owners.c.id)
)
_same = (_earlier.c[name] == calls.c[name] for name in ("session_id", "mark", "name", "arguments"))
_repeats = sa.select(sa.func.count()).select_from(_earlier).where(*_same, _earlier.c.id < calls.c.id)
_repeats = _repeats.where(_earlier.c.outcome != "pending")

STATEMENTS: dict[str, sa.Executable] = {
    # owners and sessions
    "owner_find": _get(owners, "id").where(*_is(owners, "profile", "person")),
    "owner_add": _add(owners, "profile", "person"),
    "owner_count": sa.select(sa.func.count()).select_from(_get(owners, "id").limit(2).subquery("some")),
    "session_add": _add(sessions, "owner", "updated", *SESSION),
    "session_get": _get(sessions, *SESSION).where(*_is(sessions, "owner", "id")),
    "session_facts": _get(sessions, "owner", "last").where(*_is(sessions, "id")),
    "sessions_named": _get(sessions, *SESSION).where(*_is(sessions, "owner"), _named).order_by(*_newest),
    "sessions_list": _get(sessions, *SESSION, "messages", "tool_calls", "updated", *USAGE)
    .add_columns(*(leases.c[name] for name in HOLDER))
    .add_columns(_preview.order_by(messages.c.id).limit(1).scalar_subquery().label("preview"))
    .outerjoin_from(sessions, leases)
    .where(*_is(sessions, "owner"), _listed)
    .order_by(*_newest)
    .limit(_b("limit")),
    "sessions_before": _get(sessions, "id").where(*_is(sessions, "owner"), _unused).order_by(sessions.c.id),
    "sessions_below": _get(sessions, "id").where(*_is(sessions, "owner", "parent"), sessions.c.origin == _child),
    "session_titled": _get(sessions, "id").where(*_is(sessions, "owner"), _titled),
    "session_rename": _set(sessions, "title"),
    "session_update": _set(sessions, **{name: _replaced(name) for name in ("cwd", "provider", "model")}),
    "session_touch": _set(
        sessions, "last", "updated", messages=sessions.c.messages + 1, tool_calls=sessions.c.tool_calls + _b("made")
    ),
    "session_usage": _set(sessions, **{name: sessions.c[name] + _b(name) for name in USAGE}),
    "session_delete": sa.delete(sessions).where(*_is(sessions, "id")),
    "prompt_save": _add(prompts, "session_id", "prompt", "tools").on_conflict_do_nothing(),
    "prompt_load": _get(prompts, "prompt", "tools").where(*_is(prompts, "session_id")),
    # messages
    "message_add": _add(messages, "session_id", "owner", "turn_id", "role", "body", "created"),
    "messages_from": _page(messages.c.id >= _b("start"), messages.c.id),
    "messages_before": _page(messages.c.id < _b("before"), messages.c.id.desc()),
    "message_number": sa.select(sa.func.count()).where(*_is(messages, "session_id"), messages.c.id <= _b("row")),
    "message_at": _get(messages, "id")
    .where(*_is(messages, "session_id"))
    .order_by(messages.c.id)
    .limit(1)
    .offset(_b("before")),
    # the search index
    "search_add": _add(search, "rowid", "words"),
    "search_drop": _add(search, "rowid", "words", search=sa.literal_column("'delete'")),
    "search_newest": _found(_hits, search.c.rowid.desc(), messages.c.id.desc()),
    "search_oldest": _found(_hits, search.c.rowid, messages.c.id),
    # leases and turns
    "lease_get": _get(leases, *LEASE).where(*_is(leases, "session_id")),
    "lease_take": _add(leases, "session_id", *LEASE).on_conflict_do_update(
        index_elements=["session_id"], set_=_given(*LEASE)
    ),
    "lease_beat": sa.update(leases).where(*_held).values(_given("beat")),
    "leases_leave": sa.update(leases)
    .where(*_is(leases, "holder"))
    .values(place="", pid=0, beat=_b("gone"), fence=leases.c.fence + 1),
    "lease_drop": sa.update(leases).where(*_held).values(holder=sa.literal_column("''")),
    "inbox_add": _add(
        inbox, "owner", "platform", "account", "event_id", "turn_id", "received", "envelope", "trace"
    ).on_conflict_do_nothing(),
    "inbox_wait": _add(
        inbox, "owner", "platform", "account", "event_id", "session_id", "body", "mode", "received", "envelope", "trace"
    ).on_conflict_do_nothing(),
    "inbox_waiting": _get(inbox, "id", "body", "mode", "envelope", "trace")
    .where(*_is(inbox, "session_id"), inbox.c.turn_id == sa.literal_column("''"))
    .where(inbox.c.mode != sa.literal_column("'stop'"))
    .order_by(inbox.c.id),
    "inbox_taken": _set(inbox, "turn_id").where(inbox.c.turn_id == sa.literal_column("''")),
    "inbox_forget": sa.update(inbox)
    .where(
        sa.and_(*_is(inbox, "session_id"), inbox.c.turn_id.in_(sa.literal_column(t) for t in ("''", "'dropped'")))
        | inbox.c.turn_id.in_(_get(turns, "id").where(*_is(turns, "session_id")))
    )
    .values(body="", envelope=""),
    "sessions_waiting": sa.select(inbox.c.session_id, *(leases.c[name] for name in HOLDER))
    .join_from(inbox, sessions, inbox.c.session_id == sessions.c.id)
    .outerjoin(leases, leases.c.session_id == inbox.c.session_id)
    .where(*_is(sessions, "owner"), inbox.c.turn_id == sa.literal_column("''"))
    .order_by(inbox.c.id),
    "inbox_unplayed": _whose(inbox, inbox.c.turn_id == sa.literal_column("''"), _by_chat).order_by(inbox.c.id),
    "turns_unplayed": _whose(turns, turns.c.state == sa.literal_column("'open'"), _came).order_by(turns.c.seq),
    "session_owner": _get(owners, "profile", "person").join(sessions).where(*_is(sessions, "id")),
    "turn_add": _add(turns, "id", "session_id", "owner", "holder", "state", "provider", "model", "started"),
    "turn_usage": _set(turns, **{name: turns.c[name] + _b(name) for name in USAGE}),
    "turn_held": _set(turns, holder=turns.c.holder + " " + _b("by")),
    "turn_open": _get(turns, "id", "holder", "provider", "model", *USAGE)
    .add_columns(_trace.scalar_subquery().label("trace"))
    .where(*_is(turns, "session_id"), turns.c.state == "open"),
    "turn_last": _get(turns, "state", "error", "provider", "model", "started", "ended", *USAGE)
    .where(*_is(turns, "session_id"))
    .order_by(turns.c.seq.desc())
    .limit(1),
    "turns_open": _get(leases, "session_id", *HOLDER)
    .join_from(leases, turns, turns.c.session_id == leases.c.session_id)
    .where(*_is(turns, "owner"), turns.c.state == "open", leases.c.holder != "", _own)
    .order_by(turns.c.seq),
    "turn_newest": _get(turns, "id").where(*_is(turns, "session_id")).order_by(turns.c.seq.desc()).limit(1),
    "turn_of_event": _get(inbox, "turn_id", "body")
    .add_columns(inbox.c.session_id.label("waits_in"), *_get(leases, *HOLDER).selected_columns)
    .add_columns(*(turns.c[n] for n in ("session_id", "state", "error", "provider", "model", "started", "ended")))
    .add_columns(*(turns.c[name] for name in USAGE))
    .outerjoin_from(inbox, turns, turns.c.id == inbox.c.turn_id)
    .outerjoin(leases, leases.c.session_id == turns.c.session_id)
    .where(*_is(inbox, "owner", "platform", "account", "event_id")),
    "turn_first": _of_turn("user").order_by(messages.c.id).limit(1),
    "turn_final": _of_turn("assistant").order_by(messages.c.id.desc()).limit(1),
    "turn_end": _get(messages, "id")
    .where(*_is(messages, "session_id", "turn_id"))
    .order_by(messages.c.id.desc())
    .limit(1),
    "event_forget": sa.delete(inbox).where(*_is(inbox, "owner", "platform", "account", "event_id")),
    "head_find": _get(routes, "session_id", "overrides").where(*_is(routes, "owner", "key")),
    "head_set": _add(routes, "key", "owner", "session_id", "overrides", "made", "used").on_conflict_do_update(
        index_elements=["key"], set_=_given("owner", "session_id", "overrides", "made", "used")
    ),
    "heads_drop": sa.delete(routes).where(
        *_is(routes, "session_id", "owner"), sa.func.substr(routes.c.key, 1, 5) == sa.literal_column("'head:'")
    ),
    "turn_close": _set(turns, "state", "error", "ended"),
    "turns_abandon": sa.update(turns)
    .where(*_is(turns, "session_id"), turns.c.state == "open")
    .values({**_given("ended"), "state": "interrupted"}),
    "usage_by_quarter": _used(sa.cast(model_calls.c.created / 900, sa.Integer)),
    "model_call_add": _add(
        model_calls,
        "owner",
        "session_id",
        "turn_id",
        "task",
        "provider",
        "model",
        "created",
        "seconds",
        "priced",
        *USAGE,
    ),
    "turns_since": sa.select(
        *(sa.func.sum(turns.c[name]).label(name) for name in USAGE), _seconds.label("seconds")
    ).where(*_is(turns, "owner"), turns.c.started >= _b("since"), _own),
    "turns_of": sa.select(*(sa.func.sum(turns.c[name]).label(name) for name in USAGE), _seconds.label("seconds")).where(
        *_is(turns, "session_id")
    ),
    "spent_since": sa.select(*(sa.func.sum(model_calls.c[name]).label(name) for name in USAGE)).where(
        *_is(model_calls, "owner"), model_calls.c.created >= _b("since")
    ),
    # contexts that replace the start of a history
    "context_add": _add(contexts, "session_id", "upto", "body", "plugin", "created"),
    "context_last": _get(contexts, "upto", "body")
    .where(*_is(contexts, "session_id"))
    .order_by(contexts.c.id.desc())
    .limit(1),
    # tool calls
    "call_add": _add(calls, *CALL, outcome="pending", owner=_owner.scalar_subquery()),
    "call_find": _get(calls, "id", "outcome", "repeats")
    .where(*_is(calls, "turn_id", "call_id"))
    .order_by(calls.c.id.desc())
    .limit(1),
    "call_start": _set(calls, "started", outcome="started", repeats=_repeats.scalar_subquery()),
    "call_finish": _set(calls, "outcome", "seconds", "result_id"),
    "calls_ok": _get(calls, "name")
    .where(*_is(calls, "session_id"), calls.c.outcome == sa.literal_column("'ok'"))
    .distinct(),
    "calls_open": _get(calls, "id", "call_id", "name", "outcome")
    .where(*_is(calls, "session_id"), calls.c.outcome.in_(("pending", "started")))
    .order_by(calls.c.id),
    "calls_list": _calls(),
    # approvals and grants
    "approval_add": _add(approvals, "id", "owner", *APPROVAL).on_conflict_do_nothing(),
    "approval_get": _asked.where(*_is(approvals, "owner", "id")),
    "approvals_named": _asked.where(
        _answerable, sa.func.substr(approvals.c.id, 1, sa.func.length(_words)) == _words
    ).limit(20),
    "approvals_list": _asked.where(_answerable, _open | _b("closed", type_=sa.Boolean()))
    .order_by(approvals.c.asked.desc(), approvals.c.id)
    .limit(_b("limit")),
    "approvals_open": _asked.where(*_is(approvals, "owner", "addressee"), _open).limit(1000),
    "approval_settle": sa.update(approvals)
    .where(*_is(approvals, "owner", "id"), _open)
    .values(_given("state", "verdict", "choice", "reason", "answered_by", "answered")),
    "approvals_withdraw": sa.update(approvals)
    .where(*_is(approvals, "session_id"), _open)
    .values({**_given("answered"), "state": "withdrawn", "verdict": "deny"}),
    "grant_add": _add(grants, "owner", *GRANT),
    "grant_same": _get(grants, "id").where(
        *_is(grants, "owner", "rule"),
        sa.func.coalesce(grants.c.session_id, sa.literal_column("''")) == _b("session"),
    ),
    "grants_list": _get(grants, "id", *GRANT)
    .where(
        *_is(grants, "owner"),
        grants.c.session_id.is_(None) | (grants.c.session_id == _b("root")) | _b("every", type_=sa.Boolean()),
    )
    .order_by(grants.c.id),
    "grant_forget": sa.delete(grants).where(*_is(grants, "owner", "id")),
    # what was said in a chat from elsewhere, while a turn runs in its session
    "mirror_add": _add(
        inbox, "owner", "platform", "account", "event_id", "session_id", "body", "received", turn_id=_MIRROR
    ).on_conflict_do_nothing(),
    "mirrored": _get(inbox, "body").where(*_is(inbox, "session_id"), inbox.c.turn_id == _MIRROR).order_by(inbox.c.id),
    "mirrors_done": sa.update(inbox)
    .where(*_is(inbox, "session_id"), inbox.c.turn_id == _MIRROR)
    .values(turn_id=sa.literal_column("'mirrored'")),
    # chats
    "chat_seen": _add(chats, "owner", *CHAT, "kind", "name", "sender", "seen").on_conflict_do_update(
        index_elements=["owner", *CHAT],
        set_={
            **_given("kind", "sender", "seen"),
            "name": sa.func.coalesce(sa.func.nullif(_b("name"), ""), chats.c.name),
        },
    ),
    "chats_list": _owned_chats.where(
        _b("every", type_=sa.Boolean()) | (chats.c.owner == _b("owner")),
        (_b("platform") == "") | (chats.c.platform == _b("platform")),
    ).order_by(chats.c.seen.desc(), chats.c.id.desc()),
    "chat_get": _owned_chats.where(*_is(chats, "owner", *CHAT)),
    "chat_homeless": sa.update(chats).where(*_is(chats, "owner", "platform")).values(home=sa.literal_column("0")),
    "chat_home": sa.update(chats).where(*_is(chats, "owner", *CHAT)).values(home=sa.literal_column("1")),
    "chat_dead": sa.update(chats).where(*_is(chats, *CHAT), chats.c.dead != _b("dead")).values(_given("dead")),
    "chat_asked": _get(inbox, "envelope")
    .join_from(turns, inbox, inbox.c.turn_id == turns.c.id)
    .where(turns.c.session_id == _b("session_id"))
    .order_by(turns.c.seq.desc(), inbox.c.id.desc())
    .limit(1),
    # accounts on services
    "account_get": _get(accounts, *LEASE).where(*_is(accounts, "platform", "account")),
    "account_take": _add(accounts, "platform", "account", "since", *LEASE, state="connecting").on_conflict_do_update(
        index_elements=["platform", "account"], set_={**_given("since", *LEASE), "state": "connecting", "error": ""}
    ),
    "account_beat": sa.update(accounts).where(*_served).values(_given("beat")),
    "account_tell": sa.update(accounts)
    .where(*_is(accounts, "platform", "account"))
    .values(_given("state", "error", "since")),
    "account_drop": sa.update(accounts).where(*_served).values(holder=sa.literal_column("''"), state="stopped"),
    "accounts_list": _get(accounts, "platform", "account", "state", "error", "since", *HOLDER).order_by(
        accounts.c.platform, accounts.c.account
    ),
    # what has to go out
    "outbox_put": _add(outbox, "owner", *OUTGOING).on_conflict_do_update(
        index_elements=["key"], set_=_given("body", "state", "reply_to", "created"), where=_draft
    ),
    "outbox_draft": _add(outbox, "owner", *OUTGOING).on_conflict_do_nothing(),
    "outbox_drafted": _set(outbox, "placeholder").where(_untried),
    "outbox_ended": sa.update(outbox)
    .where(*_is(outbox, "platform", "account"), _draft, outbox.c.placeholder != sa.literal_column("''"))
    .where(outbox.c.turn_id.in_(_over))
    .values({**_given("body"), "state": "waiting"}),
    "outbox_due": _outbox()
    .where(outbox.c.id.in_(_unsent), outbox.c.due <= _b("now"))
    .where((outbox.c.state == sa.literal_column("'waiting'")) | (outbox.c.holder != _b("holder")))
    .order_by(outbox.c.id)
    .limit(_b("limit")),
    "outbox_next": sa.select(sa.func.min(outbox.c.due)).where(*_is(outbox, "platform", "account"), _in("waiting")),
    "outbox_sending": sa.update(outbox)
    .where(*_is(outbox, "id"), outbox.c.state == _b("was"), outbox.c.holder == _b("by"), _in("waiting", "sending"))
    .values(
        {**_given("body", "holder", "repeated", "tries", "sent"), "state": "sending", "due": sa.literal_column("0")}
    ),
    "outbox_placeholder": _set(outbox, "placeholder", "tries").where(_sending),
    "outbox_mark": _set(
        outbox, "message_id", "placeholder", "error", "state", "sent", "tries", "due", "repeated"
    ).where(_sending),
    "outbox_end": _set(outbox, "state", "error", "sent").where(_sending),
    "outbox_abandon": _set(outbox, "error", "sent", state="abandoned").where(_in("draft", "waiting")),
    "outbox_list": _outbox()
    .where((outbox.c.owner == _b("owner")) | (_b("owner") == _b("everybody")))
    .where(*_these(outbox, "key", "trace", "turn_id", "session_id", "platform", "account", "state"))
    .order_by(outbox.c.id.desc())
    .limit(_b("limit")),
    "outbox_counts": _get(outbox, "platform", "account", "state")
    .add_columns(sa.func.count())
    .group_by(outbox.c.platform, outbox.c.account, outbox.c.state),
    "outbox_prune": sa.delete(outbox).where(
        (_in("sent", "failed", "abandoned") & (outbox.c.sent < _b("before")))
        | (_draft & (outbox.c.created < _b("before")))
    ),
    "outbox_chat_dead": _add(chats, *OWNED_CHAT, "dead").on_conflict_do_update(
        index_elements=list(OWNED_CHAT), set_=_given("dead")
    ),
    "chat_alive": sa.update(chats)
    .where(*_is(chats, *OWNED_CHAT), chats.c.dead != sa.literal_column("''"))
    .values(dead=sa.literal_column("''")),
    "calls_of_session": _calls(*_is(calls, "session_id")),
    # the way in of the gateway
    "turn_begun_by": _get(inbox, "id", "body", "mode", "envelope", "trace")
    .join_from(inbox, turns, inbox.c.turn_id == turns.c.id)
    .where(*_is(turns, "session_id"), turns.c.state == "open", inbox.c.body != sa.literal_column("''"))
    .order_by(inbox.c.id)
    .limit(1),
    "stops_waiting": _get(inbox, "id").where(
        *_is(inbox, "session_id"),
        inbox.c.turn_id == sa.literal_column("''"),
        inbox.c.mode == sa.literal_column("'stop'"),
    ),
    "commands_waiting": _get(inbox, "id", "body", "mode", "envelope", "trace")
    .where(*_is(inbox, "platform", "account"), inbox.c.turn_id == sa.literal_column("''"))
    .where(inbox.c.mode == sa.literal_column("'command'"))
    .order_by(inbox.c.id),
    # session keys
    "route_get": _get(routes, *ROUTE).where(*_is(routes, "key", "owner")),
    "routes_of": _get(routes, *ROUTE).where(*_is(routes, "session_id")).order_by(routes.c.used.desc()),
    "route_put": _add(routes, "owner", *ROUTE).on_conflict_do_update(
        index_elements=["key"], set_=_given("owner", "session_id", "overrides", "made", "used")
    ),
    # who may talk
    "person_get": _get(people, *PERSON).where(*_is(people, "platform", "sender")),
    "people_list": _get(people, *PERSON).order_by(people.c.since, people.c.platform, people.c.sender),
    "person_put": _add(people, *PERSON).on_conflict_do_update(
        index_elements=["platform", "sender"], set_=_given("person", "role", "name", "by", "since")
    ),
    "person_drop": sa.delete(people).where(*_is(people, "platform", "sender")),
    "pairing_add": _add(pairings, *PAIRING),
    "pairing_get": _get(pairings, "id", *PAIRING).where(*_is(pairings, "id")),
    "pairings_of": _get(pairings, "id", *PAIRING).where(*_is(pairings, "platform")),
    "pairings_list": _get(pairings, "id", *PAIRING).order_by(pairings.c.id),
    "pairing_drop": sa.delete(pairings).where(*_is(pairings, "platform", "sender")),
    "pairing_lock_get": _get(locks, "failures", "until").where(*_is(locks, "platform")),
    "pairing_lock_put": _add(locks, "platform", "failures", "until").on_conflict_do_update(
        index_elements=["platform"], set_=_given("failures", "until")
    ),
    "route_used": sa.update(routes).where(*_is(routes, "key")).values(_given("used")),
    # the path of a message
    "why_inbox_found": _get(inbox, "trace", "turn_id")
    .where(
        _seen_by(inbox),
        sa.or_(
            *(inbox.c[name] == _b("word") for name in ("trace", "turn_id", "event_id")),
            inbox.c.envelope.like(_b("address"), escape="\\"),
        ),
    )
    .order_by(inbox.c.id.desc())
    .limit(20),
    "why_turn_found": _get(turns, "id").where(_seen_by(turns), turns.c.id == _b("word")),
    "why_outbox_found": _get(outbox, "trace", "turn_id")
    .where(
        _seen_by(outbox),
        sa.or_(
            *(outbox.c[name] == _b("word") for name in ("trace", "key", "message_id")),
            outbox.c.id == _b("number"),
            outbox.c.message_id.like(_b("receipt"), escape="\\"),
        ),
    )
    .order_by(outbox.c.id.desc())
    .limit(20),
    "why_latest": _get(inbox, "trace", "turn_id")
    .where(_seen_by(inbox), inbox.c.mode != sa.literal_column("'command'"))
    .order_by(inbox.c.id.desc())
    .limit(1),
    "why_inbox": _get(inbox, "owner", "platform", "account", "event_id", "session_id", "turn_id", "mode", "trace")
    .add_columns(inbox.c.envelope, inbox.c.received, owners.c.person)
    .join_from(inbox, owners, inbox.c.owner == owners.c.id)
    .where(_seen_by(inbox), _about(inbox))
    .order_by(inbox.c.id),
    "why_turn": _get(turns, "id", "owner", "session_id", "state", "error", "provider", "model", "started", "ended")
    .add_columns(*(turns.c[name] for name in USAGE), *(leases.c[name] for name in HOLDER))
    .outerjoin_from(turns, leases, leases.c.session_id == turns.c.session_id)
    .where(_seen_by(turns), turns.c.id == _b("turn_id")),
    "why_model_calls": _get(model_calls, "provider", "model", "task", "created", "seconds", "priced", *USAGE)
    .where(*_is(model_calls, "owner", "turn_id"), model_calls.c.created >= _b("since"))
    .order_by(model_calls.c.id),
    "why_tool_calls": _get(calls, "call_id", "name", "outcome", "started", "seconds")
    .add_columns(messages.c.created)
    .join_from(calls, messages, messages.c.id == calls.c.message_id)
    .where(*_is(calls, "turn_id"))
    .order_by(calls.c.id),
    "why_approvals": _get(approvals, "id", "call_id", "kind", "state", "verdict", "choice", "answered_by", "asked")
    .add_columns(approvals.c.answered)
    .where(*_is(approvals, "session_id", "turn_id"))
    .order_by(approvals.c.asked),
    "why_answered": sa.select(sa.func.max(messages.c.created)).where(
        *_is(messages, "session_id", "turn_id"), messages.c.role == sa.literal_column("'assistant'")
    ),
    "why_outbox": _get(outbox, "id", "turn_id", "kind", "platform", "account", "state", "message_id", "error")
    .add_columns(*(outbox.c[name] for name in ("tries", "repeated", "created", "due", "sent")))
    .add_columns(accounts.c.state.label("account_state"), accounts.c.error.label("account_error"))
    .outerjoin_from(
        outbox, accounts, (accounts.c.platform == outbox.c.platform) & (accounts.c.account == outbox.c.account)
    )
    .where(_seen_by(outbox), _about(outbox))
    .order_by(outbox.c.id),
    "why_lease": _get(leases, *HOLDER).where(*_is(leases, "session_id")),
}


SERVER: dict[str, sa.Executable] = {
    **STATEMENTS,
    "search_newest": _found(_server_hits, _by_index.c.rowid.desc(), messages.c.id.desc()),
    "search_oldest": _found(_server_hits, _by_index.c.rowid, messages.c.id),
    "search_newest_near": _found(_at_end, search.c.rowid.desc(), messages.c.id.desc()),
    "search_oldest_near": _found(_at_start, search.c.rowid, messages.c.id),
    "usage_by_quarter": _used(sa.func.floor(model_calls.c.created / 900)),
}
del SERVER["search_drop"]  # the row goes with its message


def frozen_sources() -> dict[Path, str]:
    """The files of ``versions/head`` as they should be now."""
    made = _database.execute("SELECT sql FROM sqlite_master WHERE sql != '' AND tbl_name NOT GLOB 'search_*'")
    [(head,)] = _database.execute("SELECT version_num FROM alembic_version")
    [(merge,)] = _database.execute("SELECT v FROM search_config WHERE k = 'automerge'")
    ddl = [" ".join(sql.split()) for (sql,) in made]
    ddl.append(f"INSERT INTO search (search, rank) VALUES ('automerge', {merge})")  # noqa: S608 - our own
    ddl.append(f"INSERT INTO alembic_version VALUES ('{head}')")  # noqa: S608 - our own
    local = {"HEAD": head, "DDL": ddl, "SQL": {name: _compiled(one, _LOCAL) for name, one in STATEMENTS.items()}}
    remote = {"DDL": revisions_sql(), "SQL": {name: _compiled(one, _SERVER) for name, one in SERVER.items()}}
    folder = Path(__file__).parent / "versions" / "head"
    return {folder / "__init__.py": _source(local), folder / "postgresql.py": _source(remote)}


def _source(written: Mapping[str, object]) -> str:
    top = (
        '"""Written by ``python -m hermes_core.store.statements``; do not edit."""\n\n# fmt: off\n# ruff: noqa: E501\n'
    )
    return "\n".join([top, *(f"{name} = {json.dumps(value, indent=4)}" for name, value in written.items()), ""])


_LOCAL: tuple[Dialect, str] = sqlite.dialect(paramstyle="named"), r":{}\b"
_SERVER: tuple[Dialect, str] = psycopg2.dialect(paramstyle="pyformat"), r"%\({}\)s"  # type: ignore[no-untyped-call]


def _compiled(statement: sa.Executable, how: tuple[Dialect, str]) -> str:
    dialect, parameter = how
    compiled = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
    sql = " ".join(str(compiled).split())
    for name, value in compiled.params.items():
        if value is not None:  # a constant of ours: written out, so that only named parameters remain
            written = ", ".join(repr(item) for item in (value if isinstance(value, list | tuple) else (value,)))
            sql = re.sub(rf"{parameter.format(name)}|__\[POSTCOMPILE_{name}\]", written.replace("\\", r"\\"), sql)
    return sql.replace("LIMIT %(limit)s", "LIMIT nullif(%(limit)s, -1)")  # -1 is SQLite's word for all


if __name__ == "__main__":
    for path, source in frozen_sources().items():
        path.write_text(source, encoding="utf-8")
