"""What models make of texts, pictures and sounds: who is asked, how often, and what it costs."""

import pytest

from hermes_core.errors import NotPermitted, ProviderError, Unavailable, UserError
from hermes_core.hooks import hookimpl
from hermes_core.kinds import tool
from hermes_core.testing import ScriptedProvider
from hermes_core.types import (
    Blob,
    Envelope,
    Feature,
    MediaRequest,
    MediaResponse,
    Message,
    Price,
    Text,
    Usage,
)

TEXTS = MediaRequest(texts=("one", "two"))
SOUND = Blob(media_type="audio/ogg", data=b"OggS", name="note.ogg")


class Ears(ScriptedProvider):
    """Embeds and transcribes; may fail first."""

    features = frozenset({Feature.EMBED, Feature.TRANSCRIBE})

    def __init__(self, *steps, name="ears", failing=(), gives=None):
        super().__init__(steps, name=name)
        self.asked, self.failing, self.gives = [], list(failing), gives

    def price(self, model):
        return Price(input=2.0, output=0.0)

    async def embed(self, request):
        self.asked.append(request)
        if self.failing:
            raise self.failing.pop(0)
        if self.gives is not None:
            return self.gives
        vectors = [(float(len(text)), 0.5) for text in request.texts]
        return MediaResponse(model=request.model or "own-1", vectors=vectors, usage=Usage(input=1_000_000, calls=1))

    async def transcribe(self, request):
        self.asked.append(request)
        return MediaResponse(model="own-2", texts=[f"{len(blob.data)} bytes of noise" for blob in request.blobs])


@pytest.fixture
def llm(hermes):
    """The models as a plugin has them, and what was booked."""

    def made(kernel=("llm.call",)):
        held = []

        @hookimpl
        def register_tools(ctx):
            held.append(ctx)
            return [tool(name="nothing")(nothing)]

        tables = {"contributes": {"tools": ["nothing"]}, "permissions": {"kernel": [*kernel]}}
        hermes.tmp_plugin(register_tools, name="asks", manifest=tables)
        hermes.runtime.toolbox()
        return held[0].llm

    return made


async def nothing() -> str:
    """Do nothing."""
    return ""


async def booked(hermes):
    rows = await (await hermes.runtime.store()).spending.usage(hermes.runtime.owner, days=1)
    return [(row.task, row.provider, row.model, row.usage.calls, row.usage.cost) for row in rows]


async def test_who_answers_in_conversations_is_asked_for_its_own_model_and_it_is_booked(hermes, llm):
    ears = Ears()
    hermes.tmp_plugin(ears)
    answer = await llm().media("embed", TEXTS)
    assert answer.vectors == [(3.0, 0.5), (3.0, 0.5)]
    assert answer.usage.cost == pytest.approx(2.0)
    assert [request.model for request in ears.asked] == [""], "a model for conversations is none for this"
    assert await booked(hermes) == [("embed", "ears", "own-1", 1, pytest.approx(2.0))]


async def test_the_model_that_is_set_up_for_it_is_asked(hermes, llm, scripted):
    hermes.tmp_plugin(scripted())
    ears = Ears()
    ears.priority = 90
    hermes.tmp_plugin(ears)
    hermes.configure({"auxiliary": {"embed": {"provider": "ears", "model": "big"}, "index": {"provider": "ears"}}})
    asks = llm()
    assert (await asks.media("embed", TEXTS)).model == "big"
    assert (await asks.media("embed", TEXTS, task="index")).model == "own-1"
    assert (await asks.media("embed", MediaRequest(model="mine", texts=("x",)), task="index")).model == "mine"
    assert sorted(row[:3] for row in await booked(hermes)) == [
        ("embed", "ears", "big"),
        ("index", "ears", "mine"),
        ("index", "ears", "own-1"),
    ]


async def test_one_that_cannot_says_so_and_what_to_set(hermes, llm, scripted):
    hermes.tmp_plugin(scripted())
    asks = llm()
    for verb in ("embed", "see", "draw", "speak", "transcribe"):
        with pytest.raises(UserError, match=f"cannot {verb}") as refused:
            await asks.media(verb, TEXTS)
        assert f"auxiliary.{verb}.provider" in refused.value.hint


async def test_what_fails_is_tried_again_and_then_the_next_one_is_asked(hermes, llm):
    once = Ears(failing=[Unavailable("Away.")])
    never = Ears(name="never", failing=[Unavailable("Gone.")] * 9)
    never.priority = 80
    hermes.tmp_plugin(once, never)
    hermes.tmp_plugin("hermes_provider_router")
    fallback = {"provider": "never", "model": "a", "fallback": [{"provider": "ears", "model": "b"}]}
    hermes.configure({"auxiliary": {"embed": fallback}})
    assert (await llm().media("embed", TEXTS)).model == "b"
    assert (len(never.asked), len(once.asked)) == (3, 2)


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        (MediaResponse(model="m", vectors=[(1.0,)]), "1 vectors for 2 texts"),
        ("vectors", "a str"),
        (MediaResponse(model=7, vectors=[(1.0,), (2.0,)]), "MediaResponse.model"),
    ],
)
async def test_what_is_no_answer_is_an_error_of_the_provider(hermes, llm, gives, said):
    hermes.tmp_plugin(Ears(gives=gives))
    with pytest.raises(ProviderError, match=said):
        await llm().media("embed", TEXTS)
    assert await booked(hermes) == []


class Confused(ScriptedProvider):
    """Gives words where a picture or a sound is wanted, and sounds for words."""

    features = frozenset({Feature.SEE, Feature.DRAW, Feature.SPEAK})

    async def see(self, request):
        return MediaResponse(model="m", blobs=[SOUND])

    async def draw(self, request):
        return MediaResponse(model="m", texts=["I cannot draw, but here is a poem."])

    async def speak(self, request):
        return MediaResponse(model="m", texts=["Hello."])


@pytest.mark.parametrize("verb", ["see", "draw", "speak"])
async def test_an_answer_of_the_wrong_kind_is_an_error_of_the_provider(hermes, llm, verb):
    hermes.tmp_plugin(Confused())
    with pytest.raises(ProviderError, match=f"gave nothing when it was asked to {verb}"):
        await llm().media(verb, MediaRequest(texts=("a cat",), blobs=(SOUND,)))


async def test_it_needs_the_permission(hermes, llm, scripted):
    hermes.tmp_plugin(scripted())
    with pytest.raises(NotPermitted):
        await llm(()).media("embed", TEXTS)


async def test_a_voice_note_is_text_before_the_turn_has_its_row(hermes):
    """The row of the message holds what was said; the inbox keeps the sound."""

    @hookimpl
    async def transform_incoming(ctx, envelope):
        from attrs import evolve

        sounds = [part for part in envelope.message.parts if isinstance(part, Blob)]
        heard = await ctx.llm.media("transcribe", MediaRequest(blobs=sounds))
        parts = tuple(Text(text=text) for text in heard.texts)
        return evolve(envelope, message=evolve(envelope.message, parts=parts))

    ears = Ears("Heard.")
    hermes.tmp_plugin(ears)
    hermes.tmp_plugin(transform_incoming, name="voice", manifest={"permissions": {"kernel": ["llm.call"]}})
    said = Message(role="user", parts=(SOUND,))
    envelope = Envelope(platform="fake", account="", event_id="1", chat="c", sender="s", message=said)
    events = [event async for event in hermes.runtime.turns.run(said, session="s", envelope=envelope)]
    assert events[-1].answer == "Heard."
    store = await hermes.runtime.store()
    first, *_ = await store.history.load("s")
    assert [part.text for part in first.parts] == ["4 bytes of noise"]
    assert [part.text for part in ears.requests[0].messages[-1].parts] == ["4 bytes of noise"]
    assert [row[0] for row in await booked(hermes) if row[0]] == ["transcribe"]
