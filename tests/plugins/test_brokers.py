"""What a plugin can reach is what its manifest names."""

import asyncio
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from attrs import evolve

from hermes_core.agent.brokers import make_broker
from hermes_core.brokers import LlmBroker
from hermes_core.config.paths import Home
from hermes_core.config.settings import load_settings
from hermes_core.database import READ
from hermes_core.errors import ContractError, NotPermitted, PluginError, UnknownName, UserError
from hermes_core.plugins.at_hand import typed_into
from hermes_core.plugins.brokers import make_context
from hermes_core.plugins.brokers import none as none_there
from hermes_core.plugins.index import load_index
from hermes_core.store.leases import Busy
from hermes_core.store.store import open_store
from hermes_core.testing import FakeConversation
from hermes_core.types import Approval, Envelope, Message, Migration, Principal, Request, Session, Text, Verdict

OWNER = Principal()


@pytest.fixture
async def store(tmp_path):
    made = open_store(tmp_path / "state.db")
    await made.sessions.create(Session(id="s1", origin="cli", owner=OWNER, title="First"))
    await made.history.add("s1", Message(role="user", parts=(Text(text="find the walrus"),)))
    yield made
    made.close()


def nobody_sends():
    raise UserError("No chat can be reached.")


SERVER = "postgresql://me:secret@db/hermes"


@pytest.fixture
def context(site, store, monkeypatch):
    monkeypatch.setenv("A_TOKEN", "shown")
    monkeypatch.setenv("B_TOKEN", "hidden")

    def make(*, migrations=(), whole=True, **permissions):
        site.package("provider/board", tables={"permissions": permissions, "contributes": {"providers": ["board"]}})
        home = Home.find(environ={"HERMES_HOME": str(site.lock.parent)})
        home.config_file.write_text(
            f"store: {{url: '{SERVER}'}}\nproviders:\n  board:\n    base_url: http://127.0.0.1:1\n"
        )

        async def opened():
            return store

        class Routes(LlmBroker):
            async def complete(self, request, task="", session=None):
                return f"answer to {request.model}"

        async def compacting(session, messages):
            pass

        settings = load_settings(home)

        async def delete(session_id, owner, *, erased=False):
            await store.sessions.delete(session_id, owner)

        none = SimpleNamespace(holds=lambda session_id: False, delete=delete)
        kernel = SimpleNamespace(
            store=opened, settings=settings, owner=OWNER, sessions=none, mailbox=nobody_sends, routes=Routes(),
            memory=SimpleNamespace(compacting=compacting),
            dispatch=SimpleNamespace(contributions=lambda _: [("provider/board", one) for one in migrations]),
        )  # fmt: skip
        installed = load_index(site.cache, None).get("provider/board")
        return make_context(installed, settings, brokers=partial(make_broker, kernel) if whole else none_there)

    return make


def test_only_declared_secrets_are_read(context):
    secrets = context(secrets=["A_TOKEN"]).secrets
    assert secrets.get("A_TOKEN") == "shown"
    assert secrets.resolve("env:A_TOKEN") == "shown"
    assert secrets.resolve("written out") == "written out"
    for ask in (lambda: secrets.get("B_TOKEN"), lambda: secrets.resolve("env:B_TOKEN")):
        with pytest.raises(NotPermitted) as caught:
            ask()
        assert caught.value.hint == 'Add "B_TOKEN" to [permissions] secrets in hermes-plugin.toml.'
    assert "hidden" not in repr(secrets)
    assert "shown" not in repr(secrets)


async def test_past_conversations_need_the_permission(context):
    made = context(kernel=["sessions.read"])
    (hit,) = await made.sessions.search(OWNER, "walrus")
    assert hit.session_id == "s1"
    assert [session.id for session in await made.sessions.recent(OWNER)] == ["s1"]
    assert len(await made.sessions.read(OWNER, "s1")) == 1
    assert await made.sessions.tool_history(OWNER, "s1") == []


async def test_sessions_are_read_with_one_permission_and_changed_with_another(context):
    reader = context(kernel=["sessions.read"]).sessions
    (row,) = await reader.rows(OWNER)
    assert (row.session.id, row.messages, row.preview) == ("s1", 1, "find the walrus")
    assert (await reader.find(OWNER, "latest")).id == (await reader.find(OWNER, "First")).id == "s1"
    (message,) = await reader.past(OWNER, "s1")
    assert message.role == "user"
    assert await reader.prompt(OWNER, "s1") == ""
    assert await reader.usage(OWNER) == []
    for ask in (reader.rename(OWNER, "s1", "x"), reader.delete(OWNER, "s1"), reader.prune(OWNER, before=0.0)):
        with pytest.raises(NotPermitted, match="changed past conversations"):
            await ask


async def test_a_session_is_renamed_and_deleted_by_its_id(context):
    sessions = context(kernel=["sessions.read", "sessions.write"]).sessions
    await sessions.rename(OWNER, "s1", "Second")
    assert (await sessions.find(OWNER, "Second")).id == "s1"
    assert list(await sessions.prune(OWNER, before=9e9, dry_run=True)) == ["s1"]
    await sessions.delete(OWNER, "s1")
    assert await sessions.rows(OWNER) == []
    for ask in (sessions.past(OWNER, "s1"), sessions.prompt(OWNER, "s1"), sessions.find(OWNER, "s1")):
        with pytest.raises(UnknownName):
            await ask
    stranger = Principal(person="somebody")
    assert await sessions.rows(stranger) == []


async def test_the_archive_goes_on_behind_a_message(context, store):
    said = [f"message {number}" for number in range(2, 8)]
    for text in said:
        await store.history.add("s1", Message(role="assistant", parts=(Text(text=text),)))
    sessions = context(kernel=["sessions.read"]).sessions
    numbered = [*enumerate(["find the walrus", *said], 1)]
    for around, window, found in (
        (1, 3, numbered[:4]),
        (3, 2, numbered[:5]),
        (99, 2, numbered[5:]),
        (0, 2, numbered[5:]),
    ):
        rows = await sessions.read(OWNER, "s1", around=around, window=window)
        assert [(number, message.parts[0].text) for number, message in rows] == found
    with pytest.raises(UnknownName):
        await sessions.read(Principal(person="somebody"), "s1", around=1)


async def test_the_archive_prunes_what_is_not_in_use(context, store):
    said = Message(role="user", parts=(Text(text="x"),))
    await store.sessions.create(Session(id="busy", origin="cli", owner=OWNER))
    turn = await store.journal.open_turn("busy", said, turn_id="t", holder="x", provider="", model="")
    sessions = context(kernel=["sessions.read", "sessions.write"]).sessions
    assert set(await sessions.prune(OWNER, before=9e9, dry_run=True)) == {"s1", "busy"}
    assert await sessions.prune(OWNER, before=9e9) == ["s1"]
    assert [row.session.id for row in await sessions.rows(OWNER)] == ["busy"]
    await store.journal.close_turn(turn, state="done")


async def heard(store, session_id, trace, sender):
    words = Message(role="user", parts=(Text(text="find the walrus"),))
    where = Envelope(platform="irc", account="bot", event_id=trace, chat="#a", sender=sender, message=words)
    await store.inbox.wait(session_id, words, mode="queue", envelope=where, trace=trace)


async def test_what_became_of_a_message_is_told_without_its_words_and_people(context, store):
    hana = Principal(person="hana")
    await store.sessions.create(Session(id="s2", origin="irc", owner=hana))
    await heard(store, "s1", "aa01", "me")
    await heard(store, "s2", "bb02", "hana of irc")
    sessions = context(kernel=["sessions.read"]).sessions
    (mine,) = await sessions.traces(OWNER)
    assert (mine.trace, [row["address"]["sender"] for row in mine.received], mine.turns) == ("aa01", ["me"], [])
    assert await sessions.traces(OWNER, "bb02") == []
    assert await sessions.traces(hana, "aa01", everybody=True) == [], "only the owner looks for those of others"
    (theirs,) = await sessions.traces(OWNER, "bb02", everybody=True)
    told = repr(theirs)
    assert theirs.received[0]["address"]["sender"].startswith("person-")
    assert not {"hana", "walrus"} & set(told.replace("'", " ").replace(",", " ").split())
    assert "walrus" not in repr(mine)


async def test_sessions_are_shut_without_a_permission(context):
    sessions = context().sessions
    asked = (
        sessions.rows(OWNER), sessions.find(OWNER, "s1"), sessions.past(OWNER, "s1"), sessions.prompt(OWNER, "s1"),
        sessions.usage(OWNER), sessions.traces(OWNER), sessions.rename(OWNER, "s1", "x"), sessions.delete(OWNER, "s1"),
        sessions.prune(OWNER, before=0.0),
    )  # fmt: skip
    for ask in asked:
        with pytest.raises(NotPermitted):
            await ask


def asked(name, **more):
    words = "exactly `npm publish`"
    row = {"subject": "shell(npm publish)", "choices": ("once", "always", "deny"), "covers": words}
    return Approval(id=name, session_id="s1", rules=(("shell(npm publish)", words, ""),), **row, **more)


async def test_what_waits_for_a_yes_is_answered_once_and_what_it_granted_is_taken_back(context, store):
    session = await store.sessions.get("s1", OWNER)
    for name in ("aa1", "ab2"):
        await store.approvals.ask(session, asked(name))
    approvals = context(kernel=["sessions.read", "approvals.settle"]).approvals
    assert {row.id for row in await approvals.list(OWNER)} == {"aa1", "ab2"}
    assert len(await approvals.list(OWNER, limit=1)) == 1
    assert (await approvals.find(OWNER, "aa")).subject == "shell(npm publish)"
    with pytest.raises(UserError, match="could be several"):
        await approvals.find(OWNER, "a")
    yes = Verdict(outcome="allow", choice="always", by="me")
    settled = await approvals.settle(OWNER, "aa1", yes)
    assert (settled.state, settled.choice, settled.answer.outcome, settled.answer.by) == (
        "answered",
        "always",
        "allow",
        "me",
    )
    with pytest.raises(UserError, match="already answered: allowed"):
        await approvals.settle(OWNER, "aa1", Verdict(outcome="deny"))
    assert await approvals.list(OWNER) == [], "what the grant covers is answered too"
    assert {row.answered_by for row in await approvals.list(OWNER, closed=True)} == {"me", "grant"}
    (grant,) = await approvals.grants(OWNER)
    assert grant.words == "exactly `npm publish`"
    assert await approvals.revoke(OWNER, grant.id)
    assert not await approvals.revoke(OWNER, grant.id)
    assert await approvals.grants(OWNER) == []


async def test_the_owner_answers_what_is_put_to_admins_and_nobody_else(context, store):
    guest, other = Principal(person="gil"), Principal(person="hana")
    await store.sessions.create(Session(id="s2", origin="telegram", owner=guest))
    await store.approvals.ask(
        await store.sessions.get("s2", guest), evolve(asked("ac3", addressee="admin"), session_id="s2")
    )
    approvals = context(kernel=["sessions.read", "approvals.settle"]).approvals
    assert [row.owner for row in await approvals.list(OWNER)] == [guest]
    assert await approvals.list(other) == []
    for ask in (approvals.find(other, "ac3"), approvals.settle(other, "ac3", Verdict(outcome="allow"))):
        with pytest.raises(UnknownName):
            await ask
    assert (await approvals.settle(OWNER, "ac3", Verdict(outcome="deny"))).verdict == "deny"


async def test_who_only_reads_answers_nothing(context, store):
    await store.approvals.ask(await store.sessions.get("s1", OWNER), asked("aa1"))
    reader, yes = context(kernel=["sessions.read"]).approvals, Verdict(outcome="allow")
    assert [row.id for row in await reader.list(OWNER)] == ["aa1"]
    for ask in (reader.settle(OWNER, "aa1", yes), reader.revoke(OWNER, 1)):
        with pytest.raises(NotPermitted, match="answered for a person"):
            await ask


async def test_the_approvals_are_shut_without_a_permission(context):
    shut, yes = context().approvals, Verdict(outcome="allow")
    for ask in (shut.list(OWNER), shut.find(OWNER, "aa1"), shut.grants(OWNER), shut.settle(OWNER, "aa1", yes)):
        with pytest.raises(NotPermitted):
            await ask


async def test_without_the_permission_every_broker_is_shut(context):
    made = context()
    request = Request(model="m", messages=())
    sessions = made.sessions
    for ask in (
        sessions.search(OWNER, "walrus"), sessions.recent(OWNER), sessions.read(OWNER, "s1"),
        sessions.tool_history(OWNER, "s1"), made.llm.complete(request),
        made.history.read(OWNER, "s1"), made.history.replace(OWNER, "s1", ()),
    ):  # fmt: skip
        with pytest.raises(NotPermitted, match=r"\[permissions\] kernel"):
            await ask


HELLO = Path(__file__).parents[2] / "docs" / "hello" / "tables" / "src" / "hermes_tool_notebook"


async def test_tables_of_its_own_need_the_permission(context):
    with pytest.raises(NotPermitted, match="reached for tables of its own"):
        await context().store.transact(lambda _: 1)


@pytest.mark.parametrize("many", [0, 2])
async def test_tables_of_its_own_are_one_migration(context, many):
    given = [Migration(folder=HELLO / "migrations", head="0002")] * many
    with pytest.raises(ContractError, match=f"must give one Migration, and gave {many}"):
        await context(kernel=["store.tables"], migrations=given).store.transact(lambda _: 1)


async def test_tables_are_made_at_the_first_use_and_a_failure_is_tried_again(context, store, tmp_path):
    folder = tmp_path / "migrations"
    folder.mkdir()
    made = context(kernel=["store.tables"], migrations=[Migration(folder=folder, head="0001")])
    for _ in range(2):
        with pytest.raises(PluginError, match="provider/board"):
            await made.store.transact(lambda _: 1)
    body = (HELLO / "migrations" / "0001_notes.py").read_text().replace("tool_notebook__", "provider_board__")
    (folder / "0001_first.py").write_text(body)
    assert await asyncio.gather(*(made.store.transact(lambda _: 1) for _ in range(4))) == [1] * 4
    assert await store.database.run(lambda tx: "provider_board__version" in tx.objects(), READ)
    assert await made.documents.put("n", 1, owner=OWNER)


def said(role, text):
    return Message(role=role, parts=(Text(text=text),))


def test_only_who_may_connect_gets_the_address_of_the_store(context):
    assert context(kernel=["store.connect"]).store.address() == SERVER


def test_who_may_not_connect_gets_no_address(context):
    with pytest.raises(NotPermitted, match="asked for the address of the store"):
        context().store.address()


async def test_a_context_is_replaced_between_turns_and_the_messages_stay(context, store):
    history = context(kernel=["history.rewrite"]).history
    for message in (said("assistant", "I see a walrus. " * 20), said("user", "and now?")):
        await store.history.add("s1", message)
    before = await history.read(OWNER, "s1")
    assert len(before) == 3
    await history.replace(OWNER, "s1", [said("user", "seen: a walrus"), said("assistant", "ok"), before[-1]])
    assert [m.parts[0].text for m in await history.read(OWNER, "s1")] == ["seen: a walrus", "ok", "and now?"]
    assert len(await store.history.messages(OWNER, "s1")) == 3
    with pytest.raises(UserError, match="was not replaced: it is not smaller"):
        await history.replace(OWNER, "s1", await history.read(OWNER, "s1"))


async def test_the_context_of_another_person_is_out_of_reach(context):
    history = context(kernel=["history.rewrite"]).history
    for ask in (history.read(Principal(person="hana"), "s1"), history.replace(Principal(person="hana"), "s1", ())):
        with pytest.raises(UnknownName):
            await ask


async def test_while_a_turn_runs_or_was_cut_off_its_context_stays(context, store, monkeypatch):
    history = context(kernel=["history.rewrite"]).history
    turn = {"turn_id": "t", "holder": "me", "provider": "p", "model": "m"}
    await store.journal.open_turn("s1", said("user", "work " * 50), **turn)
    smaller = [said("user", "work " * 50)]
    with pytest.raises(Busy):
        await history.replace(OWNER, "s1", smaller)
    monkeypatch.setattr("hermes_atomic.processes.is_running", lambda pid: False)
    with pytest.raises(UserError, match="was cut off"):
        await history.replace(OWNER, "s1", smaller)


async def test_a_model_call_needs_the_permission(context):
    assert await context(kernel=["llm.call"]).llm.complete(Request(model="m", messages=())) == "answer to m"


def test_a_context_has_its_own_folders_and_its_endpoints(context, site):
    made = context()
    assert made.endpoints["board"].base_url == "http://127.0.0.1:1"
    assert made.paths.home == site.lock.parent
    assert made.paths.data != made.paths.cache
    assert made.config is None


def test_a_plugin_is_told_what_may_be_reached(context):
    urls = context().urls
    assert (urls.allow_private, urls.blocked) == (False, ())
    assert urls.is_secret("https://example.org/?q=shown-nowhere") is False


def test_the_conversation_of_a_command_needs_the_permission(context):
    with pytest.raises(NotPermitted, match="reached for the conversation of a command"):
        context().conversation(Session(id="s1", origin="cli"))


def test_a_conversation_is_at_hand_for_the_command_that_was_typed_into_it(context):
    session, made = Session(id="s1", origin="cli"), context(kernel=["conversation.change"])
    here = FakeConversation(session)
    with typed_into(here):
        assert made.conversation(session) is here
        with pytest.raises(UserError, match="only as a slash command"):
            made.conversation(Session(id="s2", origin="cli"))
    with pytest.raises(UserError, match="only as a slash command"):
        made.conversation(session)


async def test_what_needs_a_kernel_is_refused_where_there_is_none(context):
    made = context(whole=False, kernel=["turns.run", "llm.call"])
    with pytest.raises(UserError, match="no kernel behind this context, so it has no models"):
        await made.models.body(Request(model="m", messages=()))
    with pytest.raises(UserError, match="no turns"):
        await made.turns.busy("s1")
