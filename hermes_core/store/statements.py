"""Every statement of the store, by name, in SQLAlchemy Core. ``freeze`` compiles them ahead of time for SQLite."""

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Executable,
    Select,
    Table,
    TableClause,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
    update,
)

from hermes_core.store.tables import inbox, leases, messages, owners, prompts, search, sessions, tool_calls, turns

_b = bindparam
USAGE = ("input", "output", "cache_read", "cache_write", "reasoning", "calls", "cost")
_MINE = sessions.c.owner == _b("owner")
_NEWEST = sessions.c["last"].desc(), sessions.c.created.desc(), sessions.c.id.desc()
_FIELDS = ("id", "origin", "parent", "title", "cwd", "provider", "model", "created")
_SESSION = (owners.c.profile, owners.c.person, *(sessions.c[name] for name in _FIELDS))
_CALL = ("session_id", "turn_id", "call_id", "name", "outcome", "started", "seconds", "repeats", "arguments")


def _add(into: Table | TableClause, *names: str, **computed: ColumnElement[object]) -> Executable:
    return insert(into).values({**{name: _b(name) for name in names}, **computed})


def _usage(into: Table) -> dict[str, ColumnElement[object]]:
    return {name: into.c[name] + _b(name) for name in USAGE}


def _owner_of(session: str) -> ColumnElement[object]:
    return select(sessions.c.owner).where(sessions.c.id == _b(session)).scalar_subquery()


_sessions = select(*_SESSION).join_from(sessions, owners)
_preview = (
    select(messages.c.body)
    .where(messages.c.session_id == sessions.c.id, messages.c.role == "user")
    .order_by(messages.c.id)
    .limit(1)
    .scalar_subquery()
)
_day = func.date(turns.c.started, "unixepoch", "localtime")
_held = (leases.c.session_id == _b("session_id"), leases.c.fence == _b("fence"), leases.c.holder != "")
_hits = select(search.c.rowid).where(search.c.search.op("MATCH")(_b("query"))).limit(_b("limit"))
_unfinished = tool_calls.c.outcome.in_(("pending", "started"))


def _hit(order: ColumnElement[object]) -> Select[Any]:
    found = _hits.order_by(order).subquery("found")
    columns = (messages.c.session_id, messages.c.id, sessions.c.title, messages.c.role, messages.c.created)
    return (
        select(*columns, sessions.c.origin, messages.c.body)
        .select_from(found.join(messages, messages.c.id == found.c.rowid).join(sessions))
        .where(messages.c.owner == _b("owner"))
    )


def _calls(*more: ColumnElement[bool]) -> Executable:
    c = tool_calls.c
    return (
        select(*(c[name] for name in _CALL), messages.c.body)
        .outerjoin_from(tool_calls, messages, messages.c.id == c.result_id)
        .where(c.owner == _b("owner"), *more)
        .order_by(c.id.desc())
        .limit(_b("limit"))
    )


STATEMENTS: dict[str, Executable] = {
    # owners and sessions
    "owner_find": select(owners.c.id).where(owners.c.profile == _b("profile"), owners.c.person == _b("person")),
    "owner_add": _add(owners, "profile", "person"),
    "owner_count": select(func.count()).select_from(select(owners.c.id).limit(2).subquery("some")),
    "session_add": _add(
        sessions, "id", "owner", "origin", "parent", "title", "cwd", "provider", "model", "created", "updated"
    ),
    "session_get": _sessions.where(_MINE, sessions.c.id == _b("id")),
    "session_facts": select(sessions.c.owner, sessions.c.origin, sessions.c["last"]).where(sessions.c.id == _b("id")),
    "sessions_named": _sessions.where(
        _MINE,
        (func.substr(sessions.c.id, 1, func.length(_b("words"))) == _b("words")) | (sessions.c.title != ""),
    ).order_by(*_NEWEST),
    "session_latest": _sessions.where(_MINE).order_by(*_NEWEST).limit(_b("limit")),
    "sessions_list": select(
        *_SESSION,
        *(sessions.c[name] for name in ("messages", "tool_calls", "updated", *USAGE)),
        _preview.label("preview"),
    )
    .join_from(sessions, owners)
    .where(_MINE, (_b("origin") == "") | (sessions.c.origin == _b("origin")))
    .order_by(*_NEWEST)
    .limit(_b("limit")),
    "sessions_before": select(sessions.c.id).where(_MINE, sessions.c.updated < _b("before")).order_by(sessions.c.id),
    "session_titled": select(sessions.c.id).where(_MINE, func.lower(sessions.c.title) == func.lower(_b("title"))),
    "session_rename": update(sessions).where(sessions.c.id == _b("key"), _MINE).values(title=_b("title")),
    "session_update": update(sessions)
    .where(sessions.c.id == _b("key"))
    .values(
        {
            name: func.coalesce(func.nullif(_b(f"new_{name}"), ""), sessions.c[name])
            for name in ("provider", "model", "cwd")
        }
    ),
    "session_touch": update(sessions)
    .where(sessions.c.id == _b("key"))
    .values(
        {
            "last": _b("row"),
            "updated": _b("now"),
            "messages": sessions.c.messages + 1,
            "tool_calls": sessions.c.tool_calls + _b("made"),
        }
    ),
    "session_usage": update(sessions).where(sessions.c.id == _b("key")).values(_usage(sessions)),
    "session_delete": delete(sessions).where(sessions.c.id == _b("key"), _MINE),
    "prompt_save": _add(prompts, "session_id", "prompt", "tools"),
    "prompt_load": select(prompts.c.prompt, prompts.c.tools).where(prompts.c.session_id == _b("session_id")),
    # messages
    "message_add": _add(messages, "session_id", "owner", "turn_id", "role", "body", "created"),
    "messages_all": select(messages.c.id, messages.c.body)
    .where(messages.c.session_id == _b("session_id"), messages.c.active == 1)
    .order_by(messages.c.id),
    "messages_after": select(messages.c.id, messages.c.body)
    .where(messages.c.session_id == _b("session_id"), messages.c.id > _b("after"))
    .order_by(messages.c.id),
    "messages_before": select(messages.c.id, messages.c.body)
    .where(messages.c.session_id == _b("session_id"), messages.c.owner == _b("owner"), messages.c.id < _b("before"))
    .order_by(messages.c.id.desc())
    .limit(_b("limit")),
    "messages_from": select(messages.c.id, messages.c.body)
    .where(messages.c.session_id == _b("session_id"), messages.c.owner == _b("owner"), messages.c.id >= _b("start"))
    .order_by(messages.c.id)
    .limit(_b("limit")),
    "messages_indexed": select(messages.c.id, messages.c.owner, sessions.c.origin, messages.c.role, messages.c.body)
    .join_from(messages, sessions)
    .where(messages.c.session_id == _b("session_id"))
    .order_by(messages.c.id),
    "messages_page": select(messages.c.id, messages.c.owner, sessions.c.origin, messages.c.role, messages.c.body)
    .join_from(messages, sessions)
    .where(messages.c.id > _b("after"))
    .order_by(messages.c.id)
    .limit(_b("limit")),
    "message_role_last": select(messages.c.role)
    .where(messages.c.session_id == _b("session_id"), messages.c.active == 1)
    .order_by(messages.c.id.desc())
    .limit(1),
    # the search index
    "search_add": _add(search, "rowid", "words"),
    "search_drop": _add(search, "rowid", "words", search=literal_column("'delete'")),
    "search_clear": _add(search, search=literal_column("'delete-all'")),
    "search_newest": _hit(search.c.rowid.desc()).order_by(messages.c.id.desc()),
    "search_oldest": _hit(search.c.rowid).order_by(messages.c.id),
    # leases and turns
    "lease_get": select(leases.c.holder, leases.c.fence, leases.c.place, leases.c.pid, leases.c.beat).where(
        leases.c.session_id == _b("session_id")
    ),
    "lease_add": _add(leases, "session_id", "holder", "turn_id", "place", "fence", "pid", "beat"),
    "lease_take": update(leases)
    .where(leases.c.session_id == _b("key"))
    .values({name: _b(name) for name in ("holder", "turn_id", "place", "fence", "pid", "beat")}),
    "lease_beat": update(leases).where(*_held).values(beat=_b("now")),
    "lease_drop": update(leases).where(*_held).values(holder=""),
    "inbox_add": _add(
        inbox,
        *("owner", "platform", "account", "event_id", "chat", "sender", "thread", "body"),
        *("session_id", "turn_id", "received"),
    ),
    "inbox_find": select(inbox.c.session_id, inbox.c.turn_id).where(
        *(inbox.c[name] == _b(name) for name in ("platform", "account", "event_id"))
    ),
    "inbox_forget": update(inbox).where(inbox.c.session_id == _b("key")).values(body=""),
    "turn_add": _add(turns, *("id", "session_id", "owner", "holder", "state", "provider", "model", "fence", "started")),
    "turn_usage": update(turns).where(turns.c.id == _b("key")).values(_usage(turns)),
    "turn_close": update(turns)
    .where(turns.c.id == _b("key"))
    .values(state=_b("new_state"), error=_b("new_error"), ended=_b("now")),
    "turns_abandon": update(turns)
    .where(turns.c.session_id == _b("key"), turns.c.state == "open")
    .values(state="interrupted", ended=_b("now")),
    "usage_by_day": select(
        _day.label("day"),
        turns.c.provider,
        turns.c.model,
        func.count().label("turns"),
        *(func.sum(turns.c[name]).label(name) for name in USAGE),
    )
    .where(turns.c.owner == _b("owner"), turns.c.started >= _b("since"))
    .group_by(literal_column("day"), turns.c.provider, turns.c.model)
    .order_by(literal_column("day").desc(), turns.c.provider, turns.c.model),
    # tool calls
    "call_add": _add(
        tool_calls,
        *("session_id", "turn_id", "message_id", "call_id", "name", "arguments", "outcome", "mark"),
        owner=_owner_of("session_id"),
    ),
    "call_find": select(
        tool_calls.c.id, tool_calls.c.name, tool_calls.c.arguments, tool_calls.c.mark, tool_calls.c.outcome
    )
    .where(tool_calls.c.turn_id == _b("turn_id"), tool_calls.c.call_id == _b("call_id"))
    .order_by(tool_calls.c.id.desc())
    .limit(1),
    "calls_alike": select(func.count()).where(
        tool_calls.c.session_id == _b("session_id"),
        tool_calls.c.mark == _b("mark"),
        tool_calls.c.name == _b("name"),
        tool_calls.c.arguments == _b("arguments"),
        tool_calls.c.id < _b("row"),
        tool_calls.c.outcome != "pending",
    ),
    "call_start": update(tool_calls)
    .where(tool_calls.c.id == _b("key"))
    .values(outcome="started", started=_b("now"), repeats=_b("alike")),
    "call_finish": update(tool_calls)
    .where(tool_calls.c.id == _b("key"))
    .values(outcome=_b("new_outcome"), seconds=_b("took"), result_id=_b("result")),
    "calls_open": select(tool_calls.c.id, tool_calls.c.call_id, tool_calls.c.name, tool_calls.c.outcome)
    .where(tool_calls.c.session_id == _b("session_id"), _unfinished)
    .order_by(tool_calls.c.id),
    "calls_list": _calls((_b("name") == "") | (tool_calls.c.name == _b("name"))),
    "calls_of_session": _calls(
        tool_calls.c.session_id == _b("session_id"), (_b("name") == "") | (tool_calls.c.name == _b("name"))
    ),
}
