"""Statements of sessions, turns, messages, approvals."""

import sqlalchemy as sa

from statements.tables import (
    APPROVAL,
    CALL,
    GRANT,
    HOLDER,
    LEASE,
    SESSION,
    SPENT,
    USAGE,
    approvals,
    calls,
    contexts,
    grants,
    inbox,
    leases,
    messages,
    model_calls,
    owners,
    prompts,
    search,
    sessions,
    turns,
)
from statements.tables import add as _add
from statements.tables import b as _b
from statements.tables import change as _set
from statements.tables import equal as _is
from statements.tables import get as _get
from statements.tables import given as _given


def _page(rows: sa.ColumnElement[bool], order: sa.ColumnElement[object]) -> sa.Executable:
    page = _get(messages, "id", "body").where(*_is(messages, "session_id"), rows)
    return page.order_by(order).limit(_b("limit"))


def _bound(which: sa.Function[int]) -> sa.ColumnElement[int]:
    """The first or last message, of a session where one is named."""
    everywhere = sa.select(which).select_from(messages).scalar_subquery()
    there = sa.select(which).where(*_is(messages, "session_id")).scalar_subquery()
    return sa.case((_b("session_id", type_=sa.Text()) == sa.literal_column("''"), everywhere), else_=there)


def _of_turn(role: str) -> sa.Select[tuple[object, ...]]:
    said = messages.c.role == sa.literal_column(f"'{role}'")
    return _get(messages, "body").where(*_is(messages, "session_id", "turn_id"), said)


def listed_calls(*more: sa.ColumnElement[bool]) -> sa.Executable:
    """Tool calls of an owner, newest first, with the rows of their results."""
    names = ("session_id", "turn_id", "call_id", "name", "outcome", "started", "seconds", "repeats", "arguments")
    return (
        _get(calls, *names)
        .add_columns(sa.func.coalesce(messages.c.body, calls.c.result).label("body"))
        .outerjoin_from(calls, messages, messages.c.id == calls.c.result_id)
        .where(*_is(calls, "owner"), (_b("name") == "") | (calls.c.name == _b("name")), *more)
        .order_by(calls.c.id.desc())
        .limit(_b("limit"))
    )


def _whose(of: sa.Table, *rows: sa.ColumnElement[bool]) -> sa.Select[tuple[object, ...]]:
    """The sessions that rows are of, with their owners, and who works on them."""
    return (
        sa.select(of.c.session_id, owners.c.profile, owners.c.person, inbox.c.platform, inbox.c.account)
        .add_columns(*(leases.c[name] for name in HOLDER))
        .join_from(of, sessions, of.c.session_id == sessions.c.id)
        .join(owners)
        .outerjoin(leases, leases.c.session_id == of.c.session_id)
        .where(*rows)
    )


def _replaced(name: str) -> sa.ColumnElement[object]:
    return sa.func.coalesce(sa.func.nullif(_b(name), ""), sessions.c[name])


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
_child: sa.ColumnElement[str] = sa.literal_column("'child'")  # the origin of a child agent's session
_children = sa.select(sessions.c.id).where(*_is(sessions, "owner"), sessions.c.origin == _child)
_own = turns.c.session_id.not_in(_children)  # what a child agent used is booked for its parent's turn too
_asked_for: sa.ColumnElement[bool] = _b("children", type_=sa.Boolean())
_by_plugin = sessions.c.parent.like(sa.literal_column("'%/%'"))  # hidden: its label stands where a session might
_put_away = sessions.c.parent == sa.literal_column("'(archived)'")  # that, too, stands where a session might
_listed = ((sessions.c.origin == _b("origin")) & (_asked_for | ~_put_away)) | (
    (_b("origin") == "") & (_asked_for | ((sessions.c.origin != _child) & ~_by_plugin & ~_put_away))
)
_newest = sessions.c["last"].desc(), sessions.c.created.desc(), sessions.c.id.desc()
_owner = sa.select(sessions.c.owner).where(sessions.c.id == _b("session_id"))
_preview = sa.select(messages.c.body).where(messages.c.session_id == sessions.c.id, messages.c.role == "user")
_trace = sa.select(inbox.c.trace).where(inbox.c.turn_id == turns.c.id).order_by(inbox.c.id).limit(1)
_seconds = sa.func.sum(sa.case((turns.c.ended > 0, turns.c.ended), else_=_b("now")) - turns.c.started)
_held = (*_is(leases, "session_id", "fence"), leases.c.holder != "")
_hits = sa.select(search.c.rowid).where(search.c.search.op("MATCH")(_b("query")), search.c.rowid >= _b("first"))
_hits = _hits.where(search.c.rowid <= _b("last")).limit(_b("limit"))
_wanted = sa.func.json_each(_b("rows")).table_valued("value", name="wanted")
_waits = sa.select(approvals.c.id).where(approvals.c.turn_id == turns.c.id, _open)
_quarter = sa.cast(model_calls.c.created / 900, sa.Integer).label("quarter")
_earlier = calls.alias("earlier")
_same = (_earlier.c[name] == calls.c[name] for name in ("session_id", "mark", "name", "arguments"))
_repeats = sa.select(sa.func.count()).select_from(_earlier).where(*_same, _earlier.c.id < calls.c.id)
_repeats = _repeats.where(_earlier.c.outcome != "pending")

JOURNAL: dict[str, sa.Executable] = {
    # owners and sessions
    "owner_find": _get(owners, "id").where(*_is(owners, "profile", "person")),
    "owner_add": _add(owners, "profile", "person"),
    "owner_count": sa.select(sa.func.count()).select_from(_get(owners, "id").limit(2).subquery("few")),
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
    "sessions_below": _get(sessions, "id").where(*_is(sessions, "owner", "parent"), sessions.c.origin == _child),
    "session_titled": _get(sessions, "id").where(*_is(sessions, "owner"), _titled),
    "session_rename": _set(sessions, "title"),
    "session_archive": _set(sessions, "parent"),
    "session_update": _set(sessions, **{name: _replaced(name) for name in ("cwd", "provider", "model")}),
    "session_touch": _set(
        sessions, "last", "updated", messages=sessions.c.messages + 1, tool_calls=sessions.c.tool_calls + _b("made")
    ),
    "session_usage": _set(sessions, **{name: sessions.c[name] + _b(name) for name in USAGE}),
    "session_delete": sa.delete(sessions).where(*_is(sessions, "id")),
    "prompt_save": _add(prompts, "session_id", "prompt", "tools").on_conflict_do_update(
        index_elements=["session_id"], set_=_given("tools")
    ),
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
    "search_newest": _hits.order_by(search.c.rowid.desc()),
    "search_oldest": _hits.order_by(search.c.rowid),
    "search_span": sa.select(
        _bound(sa.func.min(messages.c.id)).label("first"), _bound(sa.func.max(messages.c.id)).label("last")
    ),
    "search_near": _get(messages, "id", "created").where(messages.c.id >= _b("row")).order_by(messages.c.id).limit(1),
    "search_said": _get(messages, "session_id", "role", "created", "body")
    .add_columns(messages.c.id.label("message_id"), sessions.c.title, sessions.c.origin, sessions.c.parent)
    .select_from(messages.join(sessions))
    .where(*_is(messages, "owner"), messages.c.id.in_(sa.select(_wanted.c.value))),
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
    "inbox_unplayed": _whose(inbox, inbox.c.turn_id == sa.literal_column("''")).order_by(inbox.c.id),
    "turns_unplayed": _whose(
        turns, turns.c.state == sa.literal_column("'open'"), inbox.c.turn_id == turns.c.id
    ).order_by(turns.c.seq, inbox.c.id),
    "session_owner": _get(owners, "profile", "person").join(sessions).where(*_is(sessions, "id")),
    "owners_all": _get(owners, "profile", "person").order_by(owners.c.id),
    "turn_add": _add(turns, "id", "session_id", "owner", "holder", "state", "provider", "model", "started"),
    "turn_usage": _set(turns, **{name: turns.c[name] + _b(name) for name in USAGE}),
    "turn_held": _set(turns, holder=turns.c.holder + " " + _b("by")).where(~_waits.exists()),
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
    "turn_close": _set(turns, "state", "error", "ended"),
    "turns_abandon": sa.update(turns)
    .where(*_is(turns, "session_id"), turns.c.state == "open")
    .values({**_given("ended"), "state": "interrupted"}),
    # what was used in each quarter of an hour: no time zone cuts one in two
    "usage_by_quarter": _get(model_calls, *SPENT)
    .add_columns(_quarter, *(sa.func.sum(model_calls.c[name]).label(name) for name in USAGE))
    .where(*_is(model_calls, "owner"), model_calls.c.created >= _b("since"))
    .group_by(sa.literal_column("quarter"), *(model_calls.c[name] for name in SPENT)),
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
    # what somebody's words cost, in whosesoever sessions, and how long their own took
    "spent_since": sa.select(
        *(sa.func.sum(model_calls.c[name]).label(name) for name in USAGE),
        sa.select(_seconds)
        .where(*_is(turns, "owner"), turns.c.started >= _b("since"), _own)
        .scalar_subquery()
        .label("seconds"),
    ).where(*_is(model_calls, "owner"), model_calls.c.created >= _b("since")),
    "turns_of": sa.select(*(sa.func.sum(turns.c[name]).label(name) for name in USAGE), _seconds.label("seconds")).where(
        *_is(turns, "owner", "session_id")
    ),
    "context_add": _add(contexts, "session_id", "upto", "body", "plugin", "created"),
    "context_last": _get(contexts, "upto", "body", "plugin")
    .where(*_is(contexts, "session_id"))
    .order_by(contexts.c.id.desc())
    .limit(1),
    # tool calls
    "call_add": _add(calls, *CALL, outcome="pending", owner=_owner.scalar_subquery()),
    "call_find": _get(calls, "id", "message_id", "outcome", "repeats", "result")
    .where(*_is(calls, "turn_id", "call_id"))
    .order_by(calls.c.id.desc())
    .limit(1),
    "call_start": _set(calls, "started", outcome="started", repeats=_repeats.scalar_subquery()),
    "call_finish": _set(calls, "outcome", "seconds", "result_id"),
    "call_end": _set(calls, "outcome", "seconds", "result"),
    "calls_ok": _get(calls, "name")
    .where(*_is(calls, "session_id"), calls.c.outcome == sa.literal_column("'ok'"))
    .distinct(),
    "calls_open": _get(calls, "id", "call_id", "name", "outcome", "result")
    .where(*_is(calls, "session_id"), calls.c.outcome.in_(("pending", "started")))
    .order_by(calls.c.id),
    "calls_list": listed_calls(),
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
}
