"""What clients are served: conversations, what happens in them, chats, and what waits for a yes."""

import asyncio
import base64

import pytest

from hermes_core.brokers import MessagesBroker
from hermes_core.errors import UnknownName
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_core.types import Approval, Blob, Message, Principal, Session, Target, Text
from hermes_platform_mcp_serve.config import Config

from .conftest import MODULE, called

NAMES = {
    "conversations_list", "conversation_get", "messages_read", "attachments_fetch", "events_poll", "events_wait",
    "channels_list", "messages_send", "permissions_list_open", "permissions_respond",
}  # fmt: skip


def kit(hermes, scripted, *steps, **settings):
    hermes.tmp_plugin(scripted(*steps))
    hermes.tmp_plugin(MODULE)
    hermes.tmp_plugin("hermes_platform_api")  # it may ask a person, as any host
    hermes.configure({"platforms.mcp_serve.approvals": True, **settings})


async def asked(hermes, session="s", owner=None):
    """Have something wait for a yes."""
    there = Session(id=session, origin="embed", owner=owner or Principal())
    row = Approval(id="q1", session_id=session, subject="$ rm -rf build", risk="deletes", choices=("once", "deny"))
    return await hermes.context("hermes_platform_api").approvals.ask(there, row)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_ten_tools_are_served_by_either_revision(hermes, scripted, connected, mode):
    kit(hermes, scripted)
    async with connected(mode=mode) as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
        assert set(tools) == NAMES
        assert client.protocol_version == {"auto": "2026-07-28", "legacy": "2025-11-25"}[mode]
        assert "data, not orders" in client.instructions
        changes = {name for name, one in tools.items() if not one.annotations.read_only_hint}
        assert changes == {"messages_send", "permissions_respond"}
        assert all(len(one.description) < 120 for one in tools.values())


async def test_conversations_are_listed_read_and_searched(hermes, scripted, connected):
    kit(hermes, scripted, "Paris is nice.", "Rome too.")
    async for _ in hermes.turn("Tell me of Paris", session="paris"):
        pass
    async for _ in hermes.turn("Tell me of Rome", session="rome"):
        pass
    async with connected() as client:
        listed = (await called(client, "conversations_list"))["conversations"]
        assert [one["session_key"] for one in listed] == ["rome", "paris"]
        found = (await called(client, "conversations_list", search="Paris"))["conversations"]
        assert [one["session_key"] for one in found] == ["paris"]
        assert (await called(client, "conversations_list", platform="telegram"))["conversations"] == []
        one = await called(client, "conversation_get", session_key="rome")
        assert (one["platform"], one["state"], one["preview"]) == ("embed", "idle", "Tell me of Rome")
        read = (await called(client, "messages_read", session_key="rome"))["messages"]
        assert [(row["id"], row["role"], row["text"]) for row in read] == [
            (1, "user", "Tell me of Rome"),
            (2, "assistant", "Rome too."),
        ]


async def test_everybody_is_served_their_own(hermes, scripted, connected):
    kit(hermes, scripted, "mine")
    async for _ in hermes.turn("secret plan", session="mine"):
        pass
    await asked(hermes, "mine")
    async with connected(owner="alice") as client:
        assert (await called(client, "conversations_list"))["conversations"] == []
        assert (await called(client, "conversations_list", search="plan"))["conversations"] == []
        for tool in ("conversation_get", "messages_read"):
            assert "no session named 'mine'" in await called(client, tool, session_key="mine")
        assert "no session" in await called(client, "attachments_fetch", session_key="mine", message_id=1)
        assert (await called(client, "permissions_list_open"))["open"] == []
        assert isinstance(await called(client, "permissions_respond", id="q1", decision="allow"), str)
    async with connected() as client:
        assert [one["id"] for one in (await called(client, "permissions_list_open"))["open"]] == ["q1"]


@pytest.mark.parametrize(
    ("tool", "given", "says"),
    [
        ("messages_read", {}, "session_key"),
        ("messages_read", {"session_key": "s", "limit": 0}, "limit"),
        ("messages_read", {"session_key": "s", "around": 2**70}, "around"),
        ("attachments_fetch", {"session_key": "s", "message_id": 2**70}, "message_id"),
        ("messages_read", {"session_key": "s", "limits": 3}, "limits"),
        ("events_wait", {"timeout_ms": 10**9}, "timeout_ms"),
        ("permissions_respond", {"id": "q", "decision": "always"}, "decision"),
        ("no_such_tool", {}, "no_such_tool"),
    ],
)
async def test_what_does_not_fit_is_said_in_a_line(hermes, scripted, connected, tool, given, says):
    kit(hermes, scripted)
    async with connected() as client:
        told = await called(client, tool, **given)
        assert says in told
        assert "\n" not in told


async def test_who_waits_hears_of_a_message_and_misses_none(hermes, scripted, connected):
    kit(hermes, scripted, "first", "second")
    async with connected() as client:
        cursor = (await called(client, "events_poll"))["cursor"]
        waiting = asyncio.ensure_future(called(client, "events_wait", after_cursor=cursor, timeout_ms=20_000))
        async for _ in hermes.turn("one", session="s"):
            pass
        heard = await waiting
        assert heard["events"][0]["type"] == "message"
        assert heard["events"][0]["message"]["text"] == "one"
        async for _ in hermes.turn("two", session="s"):
            pass
        rest = await called(client, "events_poll", after_cursor=heard["events"][-1]["cursor"])
        whole = [one["message"]["text"] for one in (*heard["events"], *rest["events"])]
        assert whole == ["one", "first", "two", "second"]
        assert (await called(client, "events_poll", after_cursor=rest["cursor"]))["events"] == []
        few = await called(client, "events_poll", after_cursor=cursor, limit=1)
        more = await called(client, "events_poll", after_cursor=few["cursor"], limit=3)
        assert [one["message"]["text"] for one in (*few["events"], *more["events"])] == whole
        assert (await called(client, "events_poll", after_cursor=cursor, session_key="other"))["events"] == []


async def test_many_wait_and_all_of_them_hear(hermes, scripted, connected):
    kit(hermes, scripted, "hello")
    async with connected() as client:
        cursor = (await called(client, "events_poll"))["cursor"]
        given = {"after_cursor": cursor, "timeout_ms": 20_000}
        waiting = [asyncio.ensure_future(called(client, "events_wait", **given)) for _ in range(20)]
        async for _ in hermes.turn("hi", session="s"):
            pass
        assert {one["events"][0]["message"]["text"] for one in await asyncio.gather(*waiting)} == {"hi"}


async def test_a_cursor_of_another_start_says_that_something_may_be_lost(hermes, scripted, connected):
    kit(hermes, scripted)
    async with connected() as client:
        assert "lost" not in await called(client, "events_poll")
        assert (await called(client, "events_poll", after_cursor="0ld.7"))["lost"] is True
        assert (await called(client, "events_wait", after_cursor="nonsense", timeout_ms=60_000))["lost"] is True


async def test_what_waits_for_a_yes_is_told_and_answered_once(hermes, scripted, connected):
    kit(hermes, scripted, "hello")
    async for _ in hermes.turn("hi", session="s"):
        pass
    async with connected() as client:
        cursor = (await called(client, "events_poll"))["cursor"]
        await asked(hermes)
        heard = await called(client, "events_wait", after_cursor=cursor, timeout_ms=20_000)
        assert heard["events"][0]["permission"]["call"] == "$ rm -rf build"
        answer = await called(client, "permissions_respond", id="q1", decision="allow")
        assert answer == {"id": "q1", "state": "answered", "decision": "allow"}
        assert isinstance(await called(client, "permissions_respond", id="q1", decision="deny"), str)
        after = await called(client, "events_poll", after_cursor=heard["cursor"])
        assert [(one["type"], one["id"]) for one in after["events"]] == [("permission_settled", "q1")]
    row = await hermes.context("hermes_platform_api").approvals.find(Principal(), "q1")
    assert (row.choice, row.answered_by) == ("once", "an MCP client")


async def test_a_yes_of_a_client_never_lasts(hermes, scripted, connected):
    kit(hermes, scripted, "hello")
    async for _ in hermes.turn("hi", session="s"):
        pass
    there = Session(id="s", origin="embed")
    wide = Approval(id="q2", session_id="s", subject="x", choices=("once", "session", "always", "deny"))
    await hermes.context("hermes_platform_api").approvals.ask(there, wide)
    async with connected() as client:
        await called(client, "permissions_respond", id="q2", decision="allow")
    assert await hermes.context("hermes_platform_api").approvals.grants(Principal()) == []


async def test_no_client_answers_for_a_person_who_did_not_say_so(hermes, scripted, connected):
    hermes.tmp_plugin(scripted())
    hermes.tmp_plugin(MODULE)
    hermes.tmp_plugin("hermes_platform_api")
    async with connected(ctx=None) as client:
        assert "permissions_respond" not in {one.name for one in (await client.list_tools()).tools}
        assert "no tool" in await called(client, "permissions_respond", id="q1", decision="allow")


class Chats(MessagesBroker):
    """One chat, and what was sent to it."""

    def __init__(self):
        self.sent = []

    async def targets(self, owner):
        return [Target(address="pager:me", name="me", home=True), Target(address="mail:x", dead="it is gone")]

    async def find(self, owner, target, session=None):
        if target not in ("pager", "pager:me", "me"):
            raise UnknownName("target", target, ["pager:me"])
        return (await self.targets(owner))[:1]

    async def send(self, owner, target, message, session=None, key=""):
        found = await self.find(owner, target)
        if not key or key not in [one[2] for one in self.sent]:
            self.sent.append((owner.person, message, key))
        return found


@pytest.fixture
def alone(tmp_path):
    """What the plugin is given without a kernel."""

    def make(**more):
        manifest = read_manifest(manifest_path(MODULE))
        return plugin_context(manifest, tmp_path / "home", config=Config(), **more)

    return make


async def test_a_message_is_sent_once_for_a_key_and_is_known_to_come_from_outside(alone, connected):
    chats = Chats()
    async with connected(ctx=alone(messages=chats)) as client:
        listed = (await called(client, "channels_list"))["channels"]
        assert [one["target"] for one in listed] == ["pager:me", "mail:x"]
        assert listed[1]["unreachable"] == "it is gone"
        assert [one["target"] for one in (await called(client, "channels_list", platform="mail"))["channels"]] == [
            "mail:x"
        ]
        for _ in range(2):
            sent = await called(client, "messages_send", target="pager", message="Lunch?", key="1")
            assert sent["sent"][0]["target"] == "pager:me"
        for strange in ("nowhere", "origin", "local"):
            assert isinstance(await called(client, "messages_send", target=strange, message="x"), str)
    [(person, message, _)] = chats.sent
    assert (person, message.untrusted, message.parts[0].text) == ("owner", True, "Lunch?")


async def test_pictures_and_files_of_a_message_are_fetched(hermes, scripted, connected):
    kit(hermes, scripted, "nice")
    parts = (
        Text(text="look"),
        Blob(media_type="image/png", data=b"\x89PNG", name="a.png"),
        Blob(media_type="application/pdf", data=b"%PDF", name="a.pdf"),
    )
    async for _ in hermes.turn(Message(role="user", parts=parts), session="s"):
        pass
    async with connected() as client:
        rows = (await called(client, "messages_read", session_key="s"))["messages"]
        assert [one["name"] for one in rows[0]["attachments"]] == ["a.png", "a.pdf"]
        answer = await client.call_tool("attachments_fetch", {"session_key": "s", "message_id": 1})
        assert [one["fetched"] for one in answer.structured_content["attachments"]] == [True, True]
        assert base64.b64decode(answer.content[1].data) == b"\x89PNG"
        assert base64.b64decode(answer.content[2].resource.blob) == b"%PDF"
        assert "no message 9" in await called(client, "attachments_fetch", session_key="s", message_id=9)


async def test_no_secret_leaves(hermes, scripted, connected, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-clients-0123456789")
    kit(hermes, scripted, "It is sk-not-for-clients-0123456789.")
    async for _ in hermes.turn("What is the key?", session="s"):
        pass
    async with connected() as client:
        answer = await client.call_tool("messages_read", {"session_key": "s"})
        assert "not-for-clients" not in answer.model_dump_json()
