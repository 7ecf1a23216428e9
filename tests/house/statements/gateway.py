"""Statements of whoever serves people elsewhere: what came in, and the path of a message."""

import sqlalchemy as sa

from statements.journal import listed_calls
from statements.tables import (
    HOLDER,
    USAGE,
    approvals,
    calls,
    inbox,
    leases,
    messages,
    model_calls,
    owners,
    turns,
)
from statements.tables import add as _add
from statements.tables import b as _b
from statements.tables import equal as _is
from statements.tables import get as _get


def _seen_by(of: sa.Table) -> sa.ColumnElement[bool]:
    """The rows of an owner, or with -2, which no owner has, everybody's."""
    return (of.c.owner == _b("owner")) | (_b("owner") == -2)


def _about(of: sa.Table) -> sa.ColumnElement[bool]:
    """The rows with a trace, or of a turn, as far as these are given."""
    return sa.or_(*((of.c[name] == _b(name)) & (_b(name) != sa.literal_column("''")) for name in ("trace", "turn_id")))


_MIRROR: sa.ColumnElement[str] = sa.literal_column("'mirror'")

GATEWAY: dict[str, sa.Executable] = {
    # what was said in a chat from elsewhere, while a turn runs in its session
    "mirror_add": _add(
        inbox, "owner", "platform", "account", "event_id", "session_id", "body", "received", turn_id=_MIRROR
    ).on_conflict_do_nothing(),
    "mirrored": _get(inbox, "body").where(*_is(inbox, "session_id"), inbox.c.turn_id == _MIRROR).order_by(inbox.c.id),
    "mirrors_done": sa.update(inbox)
    .where(*_is(inbox, "session_id"), inbox.c.turn_id == _MIRROR)
    .values(turn_id=sa.literal_column("'mirrored'")),
    "chat_asked": _get(inbox, "envelope")
    .join_from(turns, inbox, inbox.c.turn_id == turns.c.id)
    .where(turns.c.session_id == _b("session_id"), inbox.c.account != sa.literal_column("''"))
    .order_by(turns.c.seq.desc(), inbox.c.id.desc())
    .limit(1),
    "calls_of_session": listed_calls(*_is(calls, "session_id")),
    # the way in of the gateway
    "turn_begun_by": _get(inbox, "id", "body", "mode", "envelope", "trace")
    .join_from(inbox, turns, inbox.c.turn_id == turns.c.id)
    .where(*_is(turns, "session_id"), turns.c.state == "open", inbox.c.body != sa.literal_column("''"))
    .order_by(inbox.c.id)
    .limit(1),
    "commands_forget": sa.update(inbox)
    .where(inbox.c.mode == sa.literal_column("'command'"), inbox.c.turn_id != sa.literal_column("''"))
    .where(inbox.c.received < _b("before"), inbox.c.body != sa.literal_column("''"))
    .values(body="", envelope=""),
    "stops_waiting": _get(inbox, "id").where(
        *_is(inbox, "session_id"),
        inbox.c.turn_id == sa.literal_column("''"),
        inbox.c.mode == sa.literal_column("'stop'"),
    ),
    "commands_waiting": _get(inbox, "id", "body", "mode", "envelope", "trace")
    .where(*_is(inbox, "platform", "account"), inbox.c.turn_id == sa.literal_column("''"))
    .where(inbox.c.mode == sa.literal_column("'command'"))
    .order_by(inbox.c.id),
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
    .where(model_calls.c.owner.in_(sa.select(owners.c.id)), *_is(model_calls, "turn_id"))
    .where(model_calls.c.created >= _b("since"))
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
    "turn_over": _get(turns, "id").where(
        *_is(turns, "id"), turns.c.state != sa.literal_column("'open'"), turns.c.ended < _b("before")
    ),
    "why_lease": _get(leases, *HOLDER).where(*_is(leases, "session_id")),
}
