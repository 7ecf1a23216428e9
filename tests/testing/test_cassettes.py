"""A tape says again what a provider said, and nothing else; no secret is on it."""

import pytest

from hermes_core.errors import HermesError, UserError
from hermes_core.kinds import tool
from hermes_core.testing import Bench, Call, Cassette, ScriptedProvider, provider_of, transcript
from hermes_core.testing.model_service import http, model_service
from hermes_core.testing.protocol_replies import Said, events_of, stream_of
from hermes_core.types import Endpoint, Message, Request, Text, TextDelta

pytest_plugins = ["pytester"]
KEY = "sk-proj-0123456789abcdefghijklmnopqrstuvwxyzABCDEF"


@tool
async def weather() -> str:
    """Say what the weather is."""
    return "Rain."


async def played(home, provider):
    hermes = Bench(home)
    hermes.tmp_plugin(provider, weather)
    try:
        answers = [(await hermes.run(words, session="trip")).text for words in ("Umbrella?", "Umbrella?")]
        return answers, transcript(await hermes.sessions.past(hermes.owner, "trip"))
    finally:
        await hermes.close()


async def test_what_was_recorded_is_replayed_without_the_provider(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    tape = tmp_path / "tapes" / "trip.jsonl"
    said = ScriptedProvider([Call("weather"), f"Yes, says {KEY}.", "Still yes."])
    first = await played(tmp_path / "one", Cassette(tape, said))
    assert first[0][1] == "Still yes."
    assert KEY not in tape.read_text()
    again = Cassette(tape)
    assert again.left == 3
    second = await played(tmp_path / "two", again)
    assert again.left == 0
    assert second[0][1] == "Still yes."
    assert second[1].replace("\n", " ").startswith("user:   Umbrella?  assistant:   -> weather")
    assert "-> weather {}" in second[1]
    assert "<- weather\n    Rain." in second[1]


async def test_what_is_not_on_the_tape_is_an_error_that_says_so(tmp_path):
    tape = tmp_path / "tape.jsonl"
    with pytest.raises(HermesError, match="no reply on the tape"):
        await played(tmp_path / "one", Cassette(tape))
    assert not tape.exists()
    with pytest.raises(HermesError, match="script"):  # what was whole is recorded
        await played(tmp_path / "two", Cassette(tape, ScriptedProvider(["Yes."])))
    with pytest.raises(HermesError, match="No reply to this is on"):
        await played(tmp_path / "three", Cassette(tape))


async def test_a_stream_that_broke_is_not_recorded_and_a_broken_tape_is_refused(tmp_path):
    tape = tmp_path / "tape.jsonl"
    request = Request(model="m", messages=[Message(role="user", parts=(Text(text="hi"),))])
    stream = Cassette(tape, ScriptedProvider(["one two"])).stream(request)
    assert await anext(stream)
    await stream.aclose()
    assert not tape.exists()
    for text in ("{", "[]", '{"digest": "a", "reply": [{"type": "Exploit"}]}', "\udcff"):
        tape.write_text(text, errors="surrogateescape")
        with pytest.raises(UserError):
            Cassette(tape)


async def test_a_real_provider_is_recorded_without_its_key(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    tape = tmp_path / "tape.jsonl"
    async with model_service("/v1") as service:
        pieces = ["Take ", "an umbrella."]
        service.always = http(200, stream_of("chat", events_of("chat", Said(pieces=pieces))), "text/event-stream")
        there = Endpoint(name="openai", base_url=service.url, protocol="chat")
        provider = provider_of("hermes_provider_openai", "openai", tmp_path, endpoint=there)
        request = Request(model="m", messages=[Message(role="user", parts=(Text(text="Umbrella?"),))])
        recorder = Cassette(tape, provider)
        first = [delta async for delta in recorder.stream(request)]
        await recorder.close()
    assert service.asked[-1].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in tape.read_text()
    assert [delta async for delta in Cassette(tape).stream(request)] == first
    assert "".join(one.text for one in first if isinstance(one, TextDelta)) == "".join(pieces)
    with pytest.raises(UserError, match="nobody"):
        provider_of("hermes_provider_openai", "nobody", tmp_path)


TEST = """
from hermes_core.testing import ScriptedProvider

async def test_once(hermes, cassette):
    hermes.tmp_plugin(cassette(%s))
    assert (await hermes.run("Hello?")).text == "Hi."
    %s
"""


@pytest.mark.long
def test_the_fixture_keeps_a_tape_beside_each_test(pytester):
    wholly = "await hermes.run('Bye?', session='b')"
    for provider, more, outcome in (
        ("", "", "failed"),
        ('ScriptedProvider(["Hi.", "Ho."])', wholly, "passed"),
        ("", wholly, "passed"),
        ("", "", "errors"),  # a reply was not asked for
    ):
        pytester.makepyfile(test_it=TEST % (provider, more))
        found = pytester.runpytest_subprocess("-o", "asyncio_mode=auto", "-p", "no:cacheprovider").parseoutcomes()
        assert found.get(outcome) == 1, (provider, more, found)
    assert [one.name for one in (pytester.path / "cassettes").iterdir()] == ["test_it-test_once.jsonl"]
