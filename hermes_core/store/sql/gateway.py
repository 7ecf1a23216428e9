"""Statements of the gateway: chats, accounts, what goes out, what came in, people, and the path of a message."""

import sqlalchemy as sa

from hermes_core.store.sql.journal import listed_calls
from hermes_core.store.sql.tables import (
    CHAT,
    HOLDER,
    LEASE,
    OUTBOX,
    OUTGOING,
    OWNED_CHAT,
    PAIRING,
    PERSON,
    ROUTE,
    USAGE,
    accounts,
    approvals,
    calls,
    chats,
    inbox,
    leases,
    locks,
    messages,
    model_calls,
    outbox,
    owners,
    pairings,
    people,
    routes,
    turns,
)
from hermes_core.store.sql.tables import add as _add
from hermes_core.store.sql.tables import b as _b
from hermes_core.store.sql.tables import change as _set
from hermes_core.store.sql.tables import equal as _is
from hermes_core.store.sql.tables import get as _get
from hermes_core.store.sql.tables import given as _given
from hermes_core.store.sql.tables import these as _these


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


_served = (*_is(accounts, "platform", "account", "fence"), accounts.c.holder != "")
_MIRROR: sa.ColumnElement[str] = sa.literal_column("'mirror'")
_renamed = sa.func.coalesce(sa.func.nullif(_b("name"), ""), chats.c.name)
_owned_chats = (
    _get(chats, *CHAT, "kind", "name", "sender", "home", "dead", "seen")
    .add_columns(owners.c.profile, owners.c.person)
    .join_from(chats, owners, chats.c.owner == owners.c.id)
)

GATEWAY: dict[str, sa.Executable] = {
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
    .where(turns.c.session_id == _b("session_id"), inbox.c.account != sa.literal_column("''"))
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
