"""A job whose results are gone on with: a real gateway's outbox, and in which conversation an answer is said."""

from gateway_house import context_of, rows_of

from hermes_core.testing import ScriptedProvider
from hermes_core.types import Envelope, Message, Text
from hermes_platform_gateway.conversations import Conversations
from hermes_platform_gateway.people.access import Access
from hermes_tool_cron.actions import Door, create
from hermes_tool_cron.playing import jobs_of
from hermes_tool_cron.rows import Jobs
from hermes_tool_cron.ticker import Ticker
from hermes_tool_cron.values import Options


def heard(text, **more):
    known = {"platform": "telegram", "account": "bot", "chat": "42", "sender": "1", **more}
    return Envelope(**known, event_id=text, message=Message(role="user", parts=(Text(text=text),)))


async def test_an_answer_to_what_a_job_told_is_said_in_the_session_of_its_run(hermes, clock):
    hermes.tmp_plugin(ScriptedProvider(["It rains all day."] * 2))
    hermes.tmp_plugin("hermes_platform_gateway")
    hermes.tmp_plugin("hermes_tool_cron")
    hermes.configure({"cron.zone": "UTC", "gateway.reset.mode": "none"})
    hermes.runtime.loader.load_contributing("services")
    ctx, gateway = hermes.context("hermes_tool_cron"), context_of(hermes)
    ctx.state["jobs"] = Jobs(ctx.store, clock)

    async def session(envelope):
        found = await Conversations(gateway).find(envelope, Access(outcome="in", principal=ctx.owner))
        await rows_of(hermes).chats.remember_chat(ctx.owner, envelope)
        return (await found.take_up()).id

    usual, door = await session(heard("hi")), Door(ctx, ctx.owner, written=True)
    for name, thread in (("oslo", True), ("rome", False)):
        options = Options(deliver=("telegram:42",), thread=thread)
        await create(door, "every 30m", "Does it rain?", name=name, options=options)
    clock.now += 1801
    ticker = Ticker(ctx)
    await ticker.once()
    await ticker.rest()
    runs = {one.name: one.session for one in await jobs_of(ctx).runs("owner")}
    wanted = {one.outgoing.session_id: one.outgoing.opens for one in await rows_of(hermes).outbox.outbox_of(None)}
    assert wanted == {runs["oslo"]: "oslo", runs["rome"]: ""}
    for name, there in (("oslo", runs["oslo"]), ("rome", usual)):
        quote = f"{name} (Thu 01 Jan 00:30)\n\nIt rains all day."
        assert await session(heard("Until when?", quote=quote, quote_by="bot")) == there
