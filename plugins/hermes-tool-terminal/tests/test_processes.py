"""Processes in the background, as the tools begin them, look at them, type into them and end them."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from terminal_place import marked

import hermes_tool_terminal
from hermes_core.errors import ToolError
from hermes_core.testing.fake_context import FakeToolContext
from hermes_core.types import Folder, Message, Request, Session, Text, ToolResult
from hermes_tool_terminal.line import Line, typed
from hermes_tool_terminal.processes import table_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")


@pytest.fixture
async def context(place, ctx):
    made = FakeToolContext(place, resources=hermes_tool_terminal.register_resources(ctx))
    yield made
    await made.close()


@pytest.fixture
def run(terminal, context):
    async def call(command="", **more):
        return await terminal.run(context, terminal.params(command=command, **more))

    return call


@pytest.fixture
def process(ctx, context):
    (_, made) = hermes_tool_terminal.register_tools(ctx)

    async def call(action, name="", **more):
        return await made.run(context, made.params(action=action, id=name, **more))

    return call


def mark_of(ctx, name="p1", session="test"):
    return table_of(ctx).sessions[session].known[name].record.mark


async def told(ctx, session, *messages):
    request = Request(model="m", messages=[Message(role="system", parts=(Text(text="x"),)), *messages])
    after = await hermes_tool_terminal.pre_llm_call(ctx, session, request)
    return after.messages[-1] if after else None


def text_of(message):
    return "".join(part.text for part in message.parts)


async def test_one_runs_on_while_others_run_and_gives_its_end(run, process):
    said = await run("echo begun; until [ -e go ]; do sleep 0.05; done; echo over; exit 3", background="yes")
    assert said.startswith("p1 runs")
    assert "begun" in said
    assert '"p1"' in said
    assert "p1 runs" in await process("list")
    await run("touch go")
    ended = await process("wait", "p1")
    assert ended == "p1 has ended with exit 3\nover"
    assert "begun\nover" in await process("log", "p1")
    assert await process("poll", "p1") == "p1 has ended with exit 3\n(no new output)"


async def test_what_ends_at_once_says_so_at_once(run):
    assert "p1 has ended with exit 127" in await run("nosuchprogram_at_all", background="yes")


async def test_it_begins_where_the_shell_is_told_to(run, tmp_path):
    (tmp_path / "below").mkdir()
    assert f"{tmp_path}/below" in await run("pwd", background="yes", workdir="below")


async def test_input_is_typed_into_it_and_an_interrupt_ends_it(run, process, ctx):
    await run("cat", background="yes")
    assert "hello" in await run("hello", background="p1")
    mark = mark_of(ctx)
    assert marked(mark)
    assert "it was interrupted" in await run("\x03", background="p1")
    assert not marked(mark)
    with pytest.raises(ToolError, match="nothing can be typed"):
        await run("more", background="p1")


async def test_an_interactive_python_works_on_a_terminal(run):
    said = await run("HOME=$PWD python3 -q", background="tty")  # it keeps what was typed at home
    assert ">>>" in said
    said = await run("print(6 * 7, __import__('sys').stdin.isatty())", background="p1")
    assert "\n42 True" in said
    assert "p1 has ended" in await run("raise SystemExit(0)", background="p1")


async def test_a_secret_question_is_answered_and_not_shown(run):
    said = await run("read -s -p 'Password: ' it </dev/tty; echo; echo ${#it} letters", background="tty")
    assert "Password:" in said
    said = await run("hunter2", background="p1")
    assert "7 letters" in said
    assert "hunter2" not in said


async def test_parts_of_a_change_are_chosen_with_git(run, place):
    script = "git init -q . && git config user.email a@b.c && git config user.name a && echo 1 >f && git add f"
    await run(f"{script} && git commit -qm one && echo 2 >>f")
    said = await run("git -c interactive.singleKey=false add -p", background="tty")
    assert "Stage this hunk" in said
    assert "p1 has ended with exit 0" in await run("y", background="p1")
    assert "+2" in await run("git diff --cached")


@pytest.fixture
def judged(context, terminal):
    """What is judged as a call of its own, which may say no to it."""
    judged, no = [], []

    async def call(name, arguments):
        judged.append(arguments["command"])
        if arguments["command"] in no:
            return ToolResult(call_id="x", name=name, parts=(Text(text="It would delete."),), failed=True)
        said = await terminal.run(context, terminal.params(**arguments))
        return ToolResult(call_id="x", name=name, parts=(Text(text=said),))

    context.call = call
    return judged, no


async def test_keys_are_typed_as_they_are_and_the_line_they_make_is_judged(run, process, judged):
    await run("bash --norc", background="tty")
    said = await run("echo ne", background="p1 keys")
    assert said.endswith("echo ne")
    assert "\nnew" in await process("write", "p1", data="w\r")
    assert "\ndone" in await process("write", "p1", data="echo done\r")
    assert judged[0] == ["echo new\n", "echo done\r"]


async def test_a_line_that_is_refused_is_not_typed(run, process, judged, place):
    await run("bash --norc", background="tty")
    judged[1].append("touch there\n")
    for keys in ("touch ", "th", "x\x7fere"):
        await process("write", "p1", data=keys)
    with pytest.raises(ToolError, match="It would delete"):
        await process("write", "p1", data="\r")
    with pytest.raises(ToolError, match=r"the line is 'touch there.n', which nobody has judged") as raised:
        await run("\r", background="p1 keys")
    assert "\\u0015" in raised.value.hint
    await run("\x15", background="p1 keys")
    assert "here" in await run("echo here", background="p1")
    assert not (Path(place.cwd) / "there").exists()


async def test_nobody_types_a_line_but_the_call_that_was_judged_by_it(run):
    await run("cat", background="yes")
    with pytest.raises(ToolError, match="Nothing waits"):
        await run("rm -rf x\n", background="p1 line")


@pytest.mark.parametrize(
    ("keys", "stands"),
    [
        ("ls", "ls"), ("ls\r", "ls\n"), ("lx\x7fs", "ls"), ("a b\x17c", "a c"), ("rm -rf /\x15ls", "ls"),
        ("\x1b[Als", "ls"), ("a\x03b", "b"), ("rm \\\n/", "rm /"), ("a\nb", "a\nb"), ("\x01x\x1b", "x"),
    ],
)  # fmt: skip
def test_what_keys_come_to(keys, stands):
    assert typed(keys) == stands


@given(st.lists(st.text("ab /\\\r\n\x7f\x15\x17\x03", max_size=6), max_size=8))
def test_what_ends_a_line_is_judged_by_all_of_it(pieces):
    line, came = Line(), ""
    for piece in pieces:
        before, came = typed(came).split("\n"), came + piece
        judged = typed(line.whole(piece) or piece)
        line.take(piece)
        if "\n" in piece or "\r" in piece:
            new = typed(came).split("\n")[len(before) - 1 :]  # the line that stood, and those after it
            assert [one for one in judged.split("\n") if one] == [one for one in new if one], (pieces, judged)


async def test_a_screen_is_seen_and_not_what_drew_it(run):
    said = await run(r"printf 'first\033[2J\033[H\033[31msecond\033[0m'; sleep 60", background="tty")
    assert "\nsecond\n" in said
    assert "first" not in said


async def test_killing_leaves_nothing(run, process, ctx):
    await run("sleep 300 & setsid -f sleep 300; sleep 300", background="yes")
    mark = mark_of(ctx)
    assert len(marked(mark)) >= 3
    assert "you ended it" in await process("kill", "p1")
    assert not marked(mark)


async def test_closing_the_session_ends_all(run, context, ctx):
    for how in ("yes", "tty"):
        await run("sleep 300", background=how)
    marks = [mark_of(ctx, name) for name in ("p1", "p2")]
    await context.close()
    assert not any(map(marked, marks))


async def test_an_end_is_told_once(run, process, ctx, context):
    await run("sleep 1.3; exit 4", background="yes")
    await table_of(ctx).sessions["test"].known["p1"].over.wait()
    said = await told(ctx, context.session)
    assert "p1 has ended with exit 4" in text_of(said)
    assert text_of(said).startswith("<processes>")
    assert await told(ctx, context.session, said) is None
    assert await told(ctx, context.session) is None, "it was written down that it was told"


async def test_what_the_model_saw_itself_is_not_told(run, process, ctx, context):
    await run("sleep 1.2", background="yes")
    await process("wait", "p1")
    assert await told(ctx, context.session) is None


async def test_the_tool_is_offered_once_there_was_one(run, ctx, context):
    (_, made) = hermes_tool_terminal.register_tools(ctx)
    assert "nothing runs" in made.needs(context.session)
    await run("true", background="yes")
    assert made.needs(context.session) is None
    assert made.needs(Session(id="another", origin="cli")) is not None


async def test_words_are_watched_for_and_too_many_are_silenced(run, process, ctx, context):
    await run("cat", background="yes")
    await process("watch", "p1", data="Error|ready")
    await run("all is ready now", background="p1")
    said = await told(ctx, context.session)
    assert "p1 said: all is ready now" in text_of(said)
    await run("nothing here", background="p1")
    assert await told(ctx, context.session, said) is None


async def test_many_are_refused_with_what_to_do(run, monkeypatch):
    monkeypatch.setattr("hermes_tool_terminal.processes.AT_ONCE", 2)
    for _ in range(2):
        await run("sleep 60", background="yes")
    with pytest.raises(ToolError, match="2 processes") as raised:
        await run("sleep 60", background="yes")
    assert "End one" in raised.value.hint


async def test_who_has_no_such_process_is_told_which_there_are(run):
    await run("sleep 60", background="yes")
    with pytest.raises(ToolError, match="no process 'p7'") as raised:
        await run("", background="p7")
    assert "p1" in raised.value.hint


async def test_a_person_sees_and_ends_them(run, ctx, context):
    (jobs,) = hermes_tool_terminal.register_jobs(ctx)
    assert not await jobs.running(context.session)
    await run("echo hello; sleep 300", background="yes")
    (job,) = await jobs.running(context.session)
    assert (job.id, job.kind, job.last) == ("p1", "process", "hello")
    assert "hello" in await jobs.output(context.session, "p1")
    mark = mark_of(ctx)
    assert await jobs.stop(context.session, "p1")
    assert not await jobs.stop(context.session, "p1")
    assert not marked(mark)
    assert "the person ended it" in text_of(await told(ctx, context.session))


async def test_a_process_beyond_the_wall_is_not_typed_into_as_if_it_were_behind(run):
    await run("cat", background="yes", wall=False)
    with pytest.raises(ToolError, match="without the wall"):
        await run("x", background="p1")
    assert "x" in await run("x", background="p1", wall=False)


async def test_much_output_stays_bounded(run, process, ctx):
    await run("seq 1 2000000; echo the end", background="yes")
    await process("wait", "p1", timeout=60)
    output = table_of(ctx).sessions["test"].known["p1"].output
    assert len(output._kept) <= 400_000
    assert "the end" in await process("log", "p1", lines=5)
    files = [*(ctx.paths.data / "processes").iterdir()]
    assert max(path.stat().st_size for path in files) <= 400_000


async def test_what_outlived_its_hermes_is_found_and_ended(run, process, ctx, context, place):
    await run("echo before; until [ -e go ]; do sleep 0.05; done; echo after; sleep 300", background="yes")
    mark, again = mark_of(ctx), await died(ctx, context, place)
    (Path(place.cwd) / "go").touch()
    (_, tool) = hermes_tool_terminal.register_tools(ctx)
    call = lambda **more: tool.run(again, tool.params(**more))  # noqa: E731
    assert "p1 runs" in await call(action="list")
    async with asyncio.timeout(20):
        while "after" not in await call(action="log", id="p1"):
            await asyncio.sleep(0.2)
    assert "before" in await call(action="log", id="p1")
    assert again.untrusted, "nobody knows any more where it comes from"
    assert marked(mark)
    assert "you ended it" in await call(action="kill", id="p1")
    assert not marked(mark)
    assert not (ctx.paths.data / "outlived").exists()
    await again.close()


async def test_the_status_of_what_ended_after_its_hermes_is_known(run, ctx, context, place):
    await run("until [ -e go ]; do sleep 0.05; done; echo late; exit 6", background="yes")
    mark, again = mark_of(ctx), await died(ctx, context, place)
    (Path(place.cwd) / "go").touch()
    async with asyncio.timeout(20):
        while marked(mark):
            await asyncio.sleep(0.05)
    (_, tool) = hermes_tool_terminal.register_tools(ctx)
    said = await tool.run(again, tool.params(action="log", id="p1"))
    assert "exit 6: by itself, after Hermes had died\nlate" in said


async def died(ctx, context, place):
    """A context of the next Hermes, when this one was killed and held nothing any more."""
    table = table_of(ctx)
    for one in table.sessions["test"].known.values():
        one.looking.cancel()
        one.handle.abandon()
    table.holder.close()
    context.opened.clear()
    ctx.state.clear()
    return FakeToolContext(place, resources=hermes_tool_terminal.register_resources(ctx))


async def test_a_model_is_told_of_what_died_with_hermes(ctx, context):
    from hermes_tool_terminal.records import Record, keep, load

    for name, outlives in (("p1", False), ("p2", True)):
        record = Record(
            id=name, session="test", command=f"serve {name}", mark="0" * 32, since=1.0, holder="gone",
            host=table_of(ctx).holder.host, outlives=outlives,
        )  # fmt: skip
        await keep(ctx, context.session, record)
    await hermes_tool_terminal.on_session_start(ctx, context.session)
    said = await told(ctx, context.session)
    assert "p1 has ended: Hermes died, and it died with it. It was: serve p1" in text_of(said)
    assert "Hermes died while p2 ran, and it may still run" in text_of(said)
    assert await told(ctx, context.session, said) is None
    known = await load(ctx, context.session)
    assert (known["p1"].state, known["p1"].told, known["p2"].state) == ("ended", True, "running")


async def test_what_another_hermes_keeps_is_said_to_be_its_own(run, process, ctx, context):
    from hermes_tool_terminal.records import Holder, Record, keep

    other = Holder(ctx.paths.data / "holders")
    record = Record(
        id="p1", session="test", command="serve", mark="0" * 32, since=1.0, holder=other.id, host=other.host,
        outlives=False,
    )  # fmt: skip
    await keep(ctx, context.session, record)
    for call in (run("x", background="p1"), process("kill", "p1")):
        with pytest.raises(ToolError, match="p1 belongs to another Hermes that runs"):
            await call
    other.close()


async def test_a_copy_of_a_conversation_has_no_processes(run, ctx, context):
    await run("sleep 60", background="yes")
    ctx.documents.fork("test", "copy")
    from hermes_tool_terminal.records import load

    assert not await load(ctx, Session(id="copy", origin="cli", owner=context.session.owner))


async def test_a_deleted_conversation_leaves_no_output(run, process, ctx, context):
    await run("echo secret", background="yes")
    await process("poll", "p1")
    assert [*(ctx.paths.data / "processes").iterdir()]
    await hermes_tool_terminal.on_session_deleted(ctx, context.session)
    assert not [*(ctx.paths.data / "processes").iterdir()]


async def test_an_interrupt_as_it_begins_leaves_nothing(run, ctx):
    beginning = asyncio.ensure_future(run("sleep 300", background="yes"))
    while "processes" not in ctx.state or not table_of(ctx).sessions or not table_of(ctx).sessions["test"].known:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    mark = mark_of(ctx)
    assert marked(mark)
    beginning.cancel()
    with pytest.raises(asyncio.CancelledError):
        await beginning
    assert not marked(mark)


def test_who_lives_holds_a_lock_and_the_locks_of_the_dead_are_cleared_away(tmp_path):
    from hermes_tool_terminal.records import Holder, Record

    def by(holder, host=""):
        return Record(
            id="p1", session="s", command="x", mark="m", since=1.0, holder=holder, host=host or living.host
        )  # fmt: skip

    living, other = Holder(tmp_path), Holder(tmp_path)
    assert other.lives(by(living.id))
    assert other.lives(by(other.id))
    assert other.lives(by("gone", host="elsewhere")), "nobody here can tell"
    assert not other.lives(by("gone"))
    (tmp_path / "dead.lock").touch()
    os.utime(tmp_path / "dead.lock", (1.0, 1.0))
    os.utime(tmp_path / f"{living.id}.lock", (1.0, 1.0))
    third = Holder(tmp_path)
    assert {path.stem for path in tmp_path.glob("*.lock")} == {living.id, other.id, third.id}
    for one in (living, other, third):
        one.close()
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("shared", [False, True])
async def test_what_is_said_where_others_share_a_folder_comes_from_outside(run, context, place, shared):
    place.also = (Folder("/theirs"),) if shared else ()
    assert "words" in await run("echo words", background="yes")
    assert context.untrusted is shared
