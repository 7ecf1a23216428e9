"""What a message quotes is not the words of whoever wrote it: it names no host, and brings in where it came from."""

from attrs import evolve

from hermes_core.agent.policy.taint import Seen
from hermes_core.codec import message_from_json, message_to_json
from hermes_core.hooks import hookimpl
from hermes_core.kinds import ToolContext, tool
from hermes_core.testing import Call
from hermes_core.types import Message, Returned, Text


def seen(*parts: Text, untrusted: bool = False) -> Seen:
    return Seen(messages=[Message(role="user", parts=parts, untrusted=untrusted)])


def test_a_file_that_is_quoted_names_no_host() -> None:
    said, quoted = Text(text="Look at good.org"), Text(text="see https://evil.org/x", quotes="README.md")
    assert seen(said, quoted).hosts() == {"good.org"}
    assert seen(said, quoted).was_given("https://evil.org/x")  # it carries nothing new


def test_a_page_that_was_opened_is_a_host_that_was_reached() -> None:
    page = Text(text="go to https://evil.org/y or https://good.org/z", quotes="https://good.org/x")
    known = seen(Text(text="Read it."), page, untrusted=True)
    assert known.hosts() == {"good.org"}
    assert known.was_given("https://good.org/z")
    assert not known.was_given("https://good.org/w")


def test_what_is_quoted_stays_so_in_the_store() -> None:
    message = Message(role="user", parts=(Text(text="a"), Text(text="b", quotes="x.py")), untrusted=True)
    assert message_from_json(message_to_json(message)) == message
    assert message_to_json(message)["parts"][0] == {"type": "text", "text": "a"}


async def test_what_is_steered_in_from_outside_marks_the_result_it_comes_with(hermes, scripted) -> None:
    @tool
    async def look(context: ToolContext) -> str:
        """Look."""
        said = Message(role="user", parts=(Text(text="Read this."),), untrusted=True)
        await hermes.runtime.turns.queue(context.session.id, said, mode="steer")
        return "seen"

    hermes.tmp_plugin(scripted([Call("look")], "Done."))
    hermes.tmp_plugin(look)
    (event,) = [e async for e in hermes.turn("go") if isinstance(e, Returned)]
    assert event.result.untrusted


async def test_what_a_plugin_quotes_is_masked(hermes, scripted) -> None:
    hermes.tmp_plugin("hermes_tool_redaction")
    secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
    heard = []

    @hookimpl
    async def transform_incoming(envelope):
        parts = (*envelope.message.parts, Text(text=f"token = {secret}", quotes="x"))
        return evolve(envelope, message=evolve(envelope.message, parts=parts))

    @hookimpl
    async def pre_llm_call(request):
        heard.append("".join(p.text for p in request.messages[-1].parts))

    hermes.tmp_plugin(scripted("Hello."))
    hermes.tmp_plugin(transform_incoming, pre_llm_call)
    await hermes.run(f"Mine is {secret}.")
    assert heard[0].startswith(f"Mine is {secret}.token = ")
    assert heard[0].count(secret) == 1


async def test_a_message_for_a_stored_session_is_told_where_that_works(hermes, scripted, tmp_path) -> None:
    told = []

    @hookimpl
    async def transform_incoming(session_id, owner, cwd, context):
        told.append((session_id, owner.person, cwd, context))

    hermes.tmp_plugin(scripted("Hello.", "Hello."))
    hermes.tmp_plugin(transform_incoming)
    hermes.configure({"terminal.cwd": str(tmp_path)})
    session = (await hermes.run("hi")).session
    runtime = hermes.runtime
    await runtime.sessions.close()  # as a later process finds it
    object.__setattr__(runtime.settings.config.terminal, "cwd", "/elsewhere")
    await hermes.run("again", session=session)
    assert told == [("", "owner", str(tmp_path), 0), (session, "owner", str(tmp_path), told[1][3])]
