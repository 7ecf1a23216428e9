"""What a plugin can reach is what its manifest names."""

import pytest

from hermes_core.config.paths import Home
from hermes_core.config.settings import load_settings
from hermes_core.errors import NotPermitted
from hermes_core.plugins.brokers import make_context
from hermes_core.plugins.index import load_index
from hermes_core.store.journal import open_store
from hermes_core.types import Message, Principal, Request, Session, Text

OWNER = Principal()


@pytest.fixture
async def store(tmp_path):
    made = open_store(tmp_path / "state.db")
    await made.create_session(Session(id="s1", origin="cli", owner=OWNER, title="First"))
    await made.add_message("s1", Message(role="user", parts=(Text(text="find the walrus"),)))
    yield made
    made.close()


@pytest.fixture
def context(site, store, monkeypatch):
    monkeypatch.setenv("A_TOKEN", "shown")
    monkeypatch.setenv("B_TOKEN", "hidden")

    def make(**permissions):
        site.package("provider/board", tables={"permissions": permissions, "contributes": {"providers": ["board"]}})
        home = Home.find(environ={"HERMES_HOME": str(site.lock.parent)})
        home.config_file.write_text("providers:\n  board:\n    base_url: http://127.0.0.1:1\n")

        async def opened():
            return store

        async def complete(request, task, session):
            return f"answer to {request.model}"

        installed = load_index(site.cache, None).get("provider/board")
        return make_context(installed, load_settings(home), store=opened, complete=complete)

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


async def test_without_the_permission_every_door_is_shut(context):
    made = context()
    request = Request(model="m", messages=())
    sessions = made.sessions
    for ask in (
        sessions.search(OWNER, "walrus"), sessions.recent(OWNER), sessions.read(OWNER, "s1"),
        sessions.tool_history(OWNER, "s1"), made.llm.complete(request),
    ):  # fmt: skip
        with pytest.raises(NotPermitted, match=r"\[permissions\] kernel"):
            await ask


async def test_a_model_call_needs_the_permission(context):
    assert await context(kernel=["llm.call"]).llm.complete(Request(model="m", messages=())) == "answer to m"


def test_a_context_has_its_own_folders_and_its_endpoints(context, site):
    made = context()
    assert made.endpoints["board"].base_url == "http://127.0.0.1:1"
    assert made.paths.home == site.lock.parent
    assert made.paths.data != made.paths.cache
    assert made.config is None
