"""The fakes do what they say, and complain when a test goes otherwise."""

import pytest

from hermes_core.errors import NotPermitted, ProviderError, ToolError, Unavailable, UnknownName, UserError
from hermes_core.plugins.manifest import parse_manifest
from hermes_core.testing import (
    Call,
    Fail,
    FakeApprovals,
    FakeConversation,
    FakePlatform,
    FakeToolContext,
    FakeWorkspace,
    Say,
    ScriptedProvider,
)
from hermes_core.testing.fake_context import plugin_context
from hermes_core.testing.fake_settings import FakeSettings
from hermes_core.types import (
    Approval,
    CallDelta,
    Chat,
    Done,
    ExecRequest,
    ExecResult,
    Grant,
    Message,
    Principal,
    Question,
    ReasoningDelta,
    Request,
    Setting,
    Text,
    TextDelta,
    ToolRow,
    Verdict,
)


def asked(text="Hi."):
    return Request(model="scripted-1", messages=(Message(role="user", parts=(Text(text=text),)),))


async def played(provider, request=None):
    return [delta async for delta in provider.stream(request or asked())]


def text_of(deltas):
    return "".join(d.text for d in deltas if isinstance(d, TextDelta))


async def test_a_script_is_played_step_by_step():
    provider = ScriptedProvider(["One  two.", Say("Three.", thinking="Hm."), lambda r: r.messages[-1].parts[0].text])
    assert text_of(await played(provider)) == "One  two."
    second = await played(provider)
    assert text_of(second) == "Three."
    assert [d.text for d in second if isinstance(d, ReasoningDelta)] == ["Hm."]
    assert text_of(await played(provider, asked("Echo."))) == "Echo."
    assert len(provider.requests) == 3
    provider.check()


async def test_scripted_calls_arrive_in_pieces_that_join_to_json():
    deltas = await played(ScriptedProvider([[Call("a", {"x": "ä"}), Call("b")]]))
    calls = [d for d in deltas if isinstance(d, CallDelta)]
    assert "".join(d.arguments for d in calls if d.index == 0) == '{"x": "ä"}'
    assert [d.name for d in calls if d.name] == ["a", "b"]
    assert len({d.id for d in calls if d.id}) == 2
    assert deltas[-1] == Done(reason="tools")


async def test_a_scripted_failure_is_raised_after_what_was_said():
    provider = ScriptedProvider([Fail(Unavailable("Gone."), said="Half")])
    stream = provider.stream(asked())
    assert await anext(stream) == TextDelta(text="Half")
    with pytest.raises(Unavailable):
        await anext(stream)


async def test_steps_that_were_not_played_are_told():
    provider = ScriptedProvider(["One.", "Two."])
    await played(provider)
    with pytest.raises(AssertionError, match="1 of 2 scripted steps"):
        provider.check()


async def test_a_request_without_a_step_is_told_even_if_the_error_was_swallowed():
    provider = ScriptedProvider()
    with pytest.raises(ProviderError, match="0 steps"):
        await played(provider)
    with pytest.raises(AssertionError, match="no step was written"):
        provider.check()


async def test_a_workspace_in_memory_holds_files_and_scripted_answers():
    shown = []
    workspace = FakeWorkspace({"a.txt": b"A"}, answers=[ExecResult(status=3, output=b"no"), ToolError("Broken.")])
    assert await workspace.read("/work/a.txt") == b"A"
    await workspace.write("sub/b.txt", b"B")
    assert workspace.written == ["/work/sub/b.txt"]
    assert await workspace.read("./sub/b.txt") == b"B"
    with pytest.raises(ToolError, match=r"c\.txt"):
        await workspace.read("c.txt")
    request = ExecRequest(argv=("git", "status"), on_output=shown.append)
    assert (await workspace.run(request)).status == 3
    assert shown == [b"no"]
    with pytest.raises(ToolError, match="Broken"):
        await workspace.run(request)
    with pytest.raises(ToolError, match="git"):
        await workspace.run(request)
    assert len(workspace.requests) == 3


async def test_a_workspace_in_a_folder_is_real(tmp_path):
    workspace = FakeWorkspace(folder=tmp_path)
    await workspace.write("sub/a.txt", b"A")
    result = await workspace.run(ExecRequest(argv=("sh", "-c", "cat sub/a.txt; exit 4")))
    assert (result.status, result.output) == (4, b"A")
    assert (await workspace.run(ExecRequest(argv=("sleep", "30"), seconds=0.05))).status == 124
    with pytest.raises(ToolError, match="no-such-program"):
        await workspace.run(ExecRequest(argv=("no-such-program",)))


async def test_a_tool_context_keeps_what_the_tool_did():
    yes = FakeToolContext(FakeWorkspace(), verdict=Verdict(outcome="allow"))
    question = Question(id="1", kind="approval", subject="rm")
    assert (await yes.ask(question)).outcome == "allow"
    assert yes.questions == [question]
    path = await yes.spill("out.txt", b"long")
    assert yes.spilled == {path: b"long"}
    assert (await FakeToolContext(FakeWorkspace()).ask(question)).outcome == "deny"


async def test_a_platform_fails_as_scripted_and_sends_a_key_once():
    platform = FakePlatform(limit=5, failures=[OSError("cut")])
    message = Message(role="assistant", parts=(Text(text="Hello"),))
    with pytest.raises(OSError, match="cut"):
        await platform.send(Chat("c"), message, "k1")
    await platform.send(Chat("c"), message, "k1")
    await platform.send(Chat("c"), message, "k1")
    assert await platform.service.seen() == ["Hello"]
    with pytest.raises(UserError, match="too long"):
        await platform.send(Chat("c"), Message(role="assistant", parts=(Text(text="Hello!"),)), "k2")


async def test_a_plugin_context_enforces_permissions(tmp_path):
    manifest = parse_manifest(
        {"api": 1, "name": "x", "kind": "tool", "summary": "X.", "permissions": {"secrets": ["KEY"]}}, where="x"
    )
    context = plugin_context(manifest, tmp_path, secrets={"KEY": "k", "OTHER": "o"})
    assert context.secrets.resolve("env:KEY") == "k"
    with pytest.raises(NotPermitted, match="OTHER"):
        context.secrets.get("OTHER")
    with pytest.raises(NotPermitted, match=r"sessions\.read"):
        await context.sessions.recent(Principal())
    with pytest.raises(NotPermitted, match=r"llm\.call"):
        await context.llm.complete(asked())
    assert context.paths.data.is_dir()


async def test_a_fake_history_is_as_strict_as_the_kernel(tmp_path):
    from hermes_core.errors import NotPermitted, UnknownName, UserError
    from hermes_core.plugins.manifest import parse_manifest
    from hermes_core.testing.fake_context import plugin_context
    from hermes_core.types import Message, Principal, Text

    def said(role, text):
        return Message(role=role, parts=(Text(text=text),))

    def history(*kernel):
        made = {"api": 1, "name": "c", "kind": "tool", "summary": "s", "permissions": {"kernel": list(kernel)}}
        old = [said("user", "a" * 200), said("assistant", "b"), said("user", "c")]
        return plugin_context(parse_manifest(made, where="test"), tmp_path, histories={"s": old}).history

    may, may_not, me = history("history.rewrite"), history(), Principal()
    await may.replace(me, "s", [said("user", "c")])
    assert await may.read(me, "s") == [said("user", "c")]
    with pytest.raises(UserError, match="word for word"):
        await may.replace(me, "s", [said("user", "x")])
    with pytest.raises(UnknownName):
        await may.read(me, "other")
    for ask in (may_not.read(me, "s"), may_not.replace(me, "s", [])):
        with pytest.raises(NotPermitted):
            await ask


async def test_what_waits_for_a_yes_can_be_faked(tmp_path) -> None:
    about = {"api": 1, "name": "one", "kind": "tool", "summary": "For a test."}
    manifest = parse_manifest({**about, "permissions": {"kernel": ["sessions.read", "approvals.settle"]}}, where="here")
    rows = [Approval(id=name, session_id="s", subject="x", choices=("once", "deny")) for name in ("aa", "ab")]
    fake = FakeApprovals(manifest, rows, [Grant(id=1, rule="x", words="x")])
    approvals, me = plugin_context(manifest, tmp_path, approvals=fake).approvals, Principal()
    assert (await approvals.settle(me, "aa", Verdict(outcome="allow", choice="always", by="me"))).choice == "once"
    assert [row.id for row in await approvals.list(me)] == ["ab"]
    assert (await approvals.find(me, "ab")).state == "open"
    for wrong, error in (("aa", UserError), ("a", UserError), ("x", UnknownName), ("", UnknownName)):
        with pytest.raises(error):
            await approvals.settle(me, wrong, Verdict(outcome="deny"))
    assert len(await approvals.grants(me)) == 1
    assert (await approvals.revoke(me, 1), await approvals.revoke(me, 1)) == (True, False)
    shut = plugin_context(parse_manifest(about, where="here"), tmp_path).approvals
    for ask in (shut.list(me), shut.revoke(me, 1)):
        with pytest.raises(NotPermitted):
            await ask


async def test_a_conversation_keeps_what_was_done_and_refuses_as_the_kernel_does():
    here = FakeConversation(said=["one", "two"])
    assert (await here.last_said()).parts[0].text == "two"
    assert [m.parts[0].text for m in await here.undo()] == ["two"]
    await here.turn.steer("left")
    assert [mode for mode, _ in await here.queue.list()] == ["steer"]
    assert (await here.queue.clear(), await here.queue.clear()) == (1, 0)
    assert await here.model.choose("big") == ("fake", "big")
    assert (await here.switch("s2")).id == "s2"
    assert here.done == [("switch", "s2")]
    for refused in (FakeConversation(role="user"), FakeConversation(by_tool=True)):
        with pytest.raises(UserError):
            await refused.configure("agent.busy", "steer")
    assert refused.written == {}
    with pytest.raises(UserError):
        refused.mode("off")


async def test_turns_that_wait_can_be_faked(tmp_path) -> None:
    about = {
        "api": 1,
        "name": "one",
        "kind": "tool",
        "summary": "For a test.",
        "permissions": {"kernel": ["turns.run"]},
    }
    turns = plugin_context(parse_manifest(about, where="here"), tmp_path).turns
    name = await turns.queue("later")
    assert await turns.interrupted() == [name]
    assert await turns.interrupted(owner=Principal(person="hana")) == []
    assert await turns.drop(name) == ("", 1)
    assert (await turns.interrupted(), await turns.drop(name)) == ([], ("", 0))


async def test_settings_and_tools_can_be_faked(tmp_path) -> None:
    about = {"api": 1, "name": "one", "kind": "tool", "summary": "For a test."}
    manifest = parse_manifest({**about, "permissions": {"kernel": ["settings.write"]}}, where="here")
    row = Setting(key="a.b", type="text", schema={}, default="x", value="x", help="A setting.")
    tool = ToolRow(name="look", toolset="eyes", description="Look.", effects=frozenset())
    made = plugin_context(manifest, tmp_path, settings=FakeSettings([row], manifest), tools=[tool])
    assert (await made.settings.set("a.b", "y")).value == (await made.settings.get("a.b")).value == "y"
    assert (await made.settings.unset("a.b")).value == "x"
    with pytest.raises(UnknownName):
        await made.settings.get("a.c")
    assert list(await made.plugins.tools()) == [tool]
    assert "cli" in made.plugins.offered("platforms")
    with pytest.raises(UserError):
        await made.models.body(asked())
    shut = plugin_context(parse_manifest(about, where="here"), tmp_path)
    for ask in (shut.settings.list(), shut.settings.get("a.b"), shut.settings.set("a.b", "y")):
        with pytest.raises(NotPermitted):
            await ask
