"""What every provider promises: who answers requests with a model."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import pytest
from attrs import evolve

from hermes_core.errors import (
    AuthError,
    ContextTooLong,
    HermesError,
    ProviderError,
    RateLimited,
    Refused,
    Unavailable,
    UserError,
)
from hermes_core.kinds import Provider
from hermes_core.testing.contract_base import PluginContract
from hermes_core.types import (
    CallDelta,
    Delta,
    Done,
    Feature,
    MediaRequest,
    MediaResponse,
    Message,
    Model,
    ReasoningDelta,
    Request,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
    ToolSpec,
    UsageDelta,
)
from hermes_core.values import frozen

__all__ = ["ProviderContract"]

KNOWN = (TextDelta, ReasoningDelta, CallDelta, UsageDelta, Done)
REASONS = ("stop", "tools", "length", "refused")


def _error(message: str, kind: str = "invalid_request_error", code: str | None = None, param: str | None = None) -> str:
    """An error as OpenAI sends it: every field is there."""
    return json.dumps({"error": {"message": message, "type": kind, "param": param, "code": code}})


NO_KEY = _error("Incorrect API key provided: sk-t***. You can find yours in your account.", code="invalid_api_key")
NO_MODEL = _error("The model `m` does not exist or you do not have access to it.", code="model_not_found")
FAILURES: dict[str, tuple[int, str, type[ProviderError]]] = {
    "wrong key": (401, NO_KEY, AuthError),
    "no rights": (403, _error("You have no access to this", "permission_error"), AuthError),
    "unknown model": (404, NO_MODEL, Refused),
    "too many requests": (429, _error("Rate limit reached for m", "requests", "rate_limit_exceeded"), RateLimited),
    "server error": (
        500,
        _error("The server had an error while answering.", "server_error"),
        Unavailable,
    ),
    "overloaded": (503, "upstream connect error", Unavailable),
    "a web page instead of an answer": (200, "<!doctype html><title>Welcome</title>", Unavailable),
}


@frozen
class FromTheFuture:
    """A message part of a later kernel."""

    novelty: str = "hologram"


# What tools from elsewhere say: names that are no names of Python, references, alternatives, formats.
ODD_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "from": {"type": "string", "format": "date-time"},
        "x-y": {"anyOf": [{"$ref": "#/$defs/size"}, {"type": "null"}], "default": None},
    },
    "required": ["from"],
    "additionalProperties": False,
    "$defs": {"size": {"type": "integer", "minimum": 1, "maximum": 9}},
}


class ProviderContract(PluginContract):
    """Inherit, name your ``module``, and give ``provider`` when it needs a fake service to talk to.

    ``plain_request`` must be answered with text; ``tool_request`` with at least one call, when the model claims
    Feature.TOOLS. Give ``failing`` to have HTTP failures tested.
    """

    kind = "provider"

    @pytest.fixture
    def provider(self, contributed: Mapping[str, list[Any]]) -> Provider:
        """The provider under test; by default the first one the plugin contributes."""
        assert contributed.get("providers"), "the plugin contributes no provider; give a provider fixture"
        provider: Provider = contributed["providers"][0]
        return provider

    @pytest.fixture
    def subject(self, provider: Provider) -> Any:
        """The provider."""
        return provider

    @pytest.fixture
    def model(self) -> str:
        """The model to ask; by default the first on offer."""
        return ""

    @pytest.fixture
    def plain_request(self, model: str) -> Request:
        """A request that is answered with text."""
        system = Message(role="system", parts=(Text(text="You are terse."),))
        return Request(model=model, messages=(system, Message(role="user", parts=(Text(text="Say hello."),))))

    @pytest.fixture
    def tool_request(self, model: str) -> Request:
        """A request that is answered with a call of ``add``."""
        number = {"type": "integer"}
        schema = {"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]}
        asked = Message(role="user", parts=(Text(text="Use the tool add to add 2 and 3."),))
        spec = ToolSpec(name="add", description="Add two numbers.", schema=schema)
        return Request(model=model, messages=(asked,), tools=(spec,))

    @pytest.fixture
    def media(self) -> Mapping[str, MediaRequest]:
        """A request for each verb that the provider's ``features`` claim: ``{"embed": MediaRequest(texts=("a",))}``."""
        return {}

    @pytest.fixture
    def too_long(self) -> tuple[int, str]:
        """Status and body with which the service says that a conversation does not fit."""
        said = "This model's maximum context length is 4096 tokens."
        return 400, _error(said, code="context_length_exceeded", param="messages")

    @pytest.fixture
    def failing(self) -> Callable[[int, str], Provider] | None:
        """Makes a provider whose service answers everything with this status and body; None: not tested."""
        return None

    async def exercise(self, subject: Any) -> None:
        """Ask once, close."""
        model = (await subject.models())[0].name
        await _read(subject, Request(model=model, messages=(Message(role="user", parts=(Text(text="Say hello."),)),)))
        await subject.close()

    @pytest.mark.asyncio
    async def test_media_is_real_or_refused(self, provider: Provider, media: Mapping[str, MediaRequest]) -> None:
        """What ``features`` claim beside conversations is done as asked; what they do not is refused with UserError.

        If this fails: give ``media`` a request for each verb that is claimed. An answer names its model and counts its
        calls; ``vectors`` are one for each text, ``texts`` one for each sound.
        """
        for verb in ("embed", "see", "draw", "speak", "transcribe"):
            if Feature(verb) not in provider.features:
                with pytest.raises(UserError):
                    await getattr(provider, verb)(MediaRequest())
                continue
            assert verb in media, f"{verb} is claimed; give `media` a request for it"
            found = await getattr(provider, verb)(media[verb])
            assert isinstance(found, MediaResponse), f"{verb} gave a {type(found).__name__}"
            assert found.model, f"{verb} does not say which model it was"
            assert found.usage.calls > 0, f"{verb} counts no call"
            due = {"embed": ("vectors", len(media[verb].texts)), "transcribe": ("texts", len(media[verb].blobs))}
            field, count = due.get(verb, ("texts" if verb == "see" else "blobs", 1))
            assert len(getattr(found, field)) >= count, f"{verb} gave {len(getattr(found, field))} {field}, not {count}"

    @pytest.mark.asyncio
    async def test_it_offers_a_model(self, provider: Provider) -> None:
        """``models`` gives at least one Model, each with a name of its own.

        If this fails: list the models you know. When they come from the service, raise ProviderError if it cannot be
        asked; an empty list says that the service has none.
        """
        models = await provider.models()
        assert models, f"{provider.name} offers no model"
        assert all(isinstance(m, Model) and m.name for m in models), f"these are not all named Models: {models}"
        names = [m.name for m in models]
        assert len(set(names)) == len(names), f"two models have one name: {names}"

    @pytest.mark.asyncio
    async def test_a_stream_ends_with_exactly_one_done(self, provider: Provider, plain_request: Request) -> None:
        """A stream is made of deltas, says something, and its last delta is its only Done.

        If this fails: yield Done(reason=…) once, after everything else, also when the service ends without saying why.
        """
        deltas = await _ask(provider, plain_request)
        strange = [d for d in deltas if not isinstance(d, KNOWN)]
        assert not strange, f"these are no deltas: {strange}"
        ends = [i for i, d in enumerate(deltas) if isinstance(d, Done)]
        assert ends == [len(deltas) - 1], f"Done is at {ends} of {len(deltas)} deltas"
        assert any(isinstance(d, TextDelta) and d.text for d in deltas), "the answer has no text"
        done = deltas[-1]
        assert isinstance(done, Done)
        assert done.reason in REASONS, f"Done gives the reason {done.reason!r}; there is {', '.join(REASONS)}"

    @pytest.mark.asyncio
    async def test_usage_is_reported(self, provider: Provider, plain_request: Request) -> None:
        """A stream says what the call used: at least one UsageDelta with input and output tokens.

        If this fails: budgets, insights and compaction live on these figures. Ask the service for usage; where it
        reports none, count words rather than say nothing.
        """
        usages = [d.usage for d in await _ask(provider, plain_request) if isinstance(d, UsageDelta)]
        assert usages, "no UsageDelta came"
        assert usages[-1].input > 0, f"the last UsageDelta counts no input tokens: {usages[-1]}"
        assert usages[-1].output > 0, f"the last UsageDelta counts no output tokens: {usages[-1]}"

    @pytest.mark.asyncio
    async def test_tool_calls_round_trip(self, provider: Provider, tool_request: Request) -> None:
        """A model that claims TOOLS calls one: id, a name on offer, JSON arguments; and takes its result back.

        If this fails: join CallDeltas by index: one of them carries id and name, the argument fragments join to one
        JSON object. A model that cannot call tools says so: Model(features=frozenset()).
        """
        request = await _addressed(provider, tool_request)
        model = next((m for m in await provider.models() if m.name == request.model), None)
        if model is not None and Feature.TOOLS not in model.features:
            assert not [d for d in await _read(provider, request) if isinstance(d, CallDelta)], (
                f"{model.name} does not claim Feature.TOOLS and calls a tool"
            )
            return
        deltas = await _read(provider, request)
        calls = _calls(deltas)
        assert calls, f"{request.model} claims Feature.TOOLS and called no tool: {deltas}"
        offered = {spec.name for spec in request.tools}
        for call in calls:
            assert call.id, f"a call of {call.name} has no id"
            assert call.name in offered, f"{call.name!r} was not offered; there is {offered}"
        assert len({c.id for c in calls}) == len(calls), "two calls of one reply have one id"
        done = deltas[-1]
        assert isinstance(done, Done)
        assert done.reason == "tools", f"a reply with calls ends with Done('tools'), not {done.reason!r}"
        results = [
            Message(role="tool", parts=(ToolResult(call_id=c.id, name=c.name, parts=(Text(text="5"),)),)) for c in calls
        ]
        reply = Message(role="assistant", parts=calls, meta=done.meta)
        after = await _read(provider, evolve(request, messages=(*request.messages, reply, *results)))
        assert isinstance(after[-1], Done), "the results were not taken back"

    @pytest.mark.asyncio
    async def test_a_schema_is_sent_as_it_is(self, provider: Provider, tool_request: Request) -> None:
        """Whatever the JSON Schema of a tool says, it stands in the body that is sent, word for word.

        If this fails: copy the schema into the body, and change nothing of it. Where a service refuses what the schema
        says, the kernel leaves that out and asks again. A provider whose ``body`` says nothing is not tested.
        """
        request = await _addressed(provider, tool_request)
        spec = evolve(request.tools[0], schema=ODD_SCHEMA)
        sent = await provider.body(evolve(request, tools=(spec,)))
        if not sent:
            pytest.skip("the provider does not claim to say its body")
        assert ODD_SCHEMA in _mappings(json.loads(sent)), f"the schema was changed: {sent.decode()}"

    @pytest.mark.asyncio
    async def test_a_cancelled_stream_leaves_the_provider_usable(
        self, provider: Provider, plain_request: Request
    ) -> None:
        """A stream may be cancelled before, at and after its first delta; then the provider answers as before.

        If this fails: release what the stream holds in ``finally``, let CancelledError pass, and keep no state of a
        request on the provider.
        """
        request = await _addressed(provider, plain_request)
        for ticks in (0, 1, 3):
            task = asyncio.create_task(_read(provider, request))
            for _ in range(ticks):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled() or not task.exception(), f"a cancelled stream raised {task.exception()!r}"
        async with aclosing(provider.stream(request)) as stream:  # type: ignore[type-var]
            await anext(stream)
        deltas = await _read(provider, request)
        assert isinstance(deltas[-1], Done), "after a cancelled stream the next one does not end"

    @pytest.mark.asyncio
    async def test_what_it_does_not_know_is_tolerated(self, provider: Provider, plain_request: Request) -> None:
        """A message part and an option of a later kernel are ignored, not an error.

        If this fails: match the parts you know and skip the rest; read options by name and leave the others alone.
        """
        *before, last = plain_request.messages
        odd: Any = FromTheFuture()
        messages = (*before, evolve(last, parts=(*last.parts, odd)))
        request = evolve(plain_request, messages=messages, options={**plain_request.options, "x-future": 1})
        deltas = await _ask(provider, request)
        assert isinstance(deltas[-1], Done), "the stream does not end"

    @pytest.mark.asyncio
    @pytest.mark.parametrize("failure", FAILURES)
    async def test_failures_become_the_right_error(
        self, failing: Callable[[int, str], Provider] | None, plain_request: Request, failure: str
    ) -> None:
        """What the service says when it fails becomes the ProviderError that the kernel knows how to act on.

        If this fails: map the status, then the body, to AuthError, RateLimited, ContextTooLong, Refused or Unavailable.
        Retries, other keys and other providers are the kernel's work; do not retry here.
        """
        if failing is None:
            pytest.skip("the provider does not claim to speak HTTP; a `failing` fixture has its failures tested")
        status, body, error = FAILURES[failure]
        await _fails(failing(status, body), plain_request, error)

    @pytest.mark.asyncio
    async def test_a_conversation_that_does_not_fit_is_told_apart(
        self, failing: Callable[[int, str], Provider] | None, plain_request: Request, too_long: tuple[int, str]
    ) -> None:
        """A conversation that does not fit raises ContextTooLong, so that the kernel can compact it.

        If this fails: look into the body of a 400 or 413; services say it in a code or in words.
        """
        if failing is None:
            pytest.skip("the provider does not claim to speak HTTP; a `failing` fixture has its failures tested")
        await _fails(failing(*too_long), plain_request, ContextTooLong)


def _mappings(value: Any) -> list[Any]:
    """All mappings in a value of JSON."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [*([value] if isinstance(value, dict) else []), *(found for one in inside for found in _mappings(one))]


async def _addressed(provider: Provider, request: Request) -> Request:
    return request if request.model else evolve(request, model=(await provider.models())[0].name)


async def _ask(provider: Provider, request: Request) -> list[Delta]:
    return await _read(provider, await _addressed(provider, request))


async def _read(provider: Provider, request: Request) -> list[Delta]:
    return [delta async for delta in provider.stream(request)]


async def _fails(provider: Provider, request: Request, error: type[ProviderError]) -> None:
    addressed = request if request.model else evolve(request, model="some-model")
    said: Any = None
    try:
        said = await _read(provider, addressed)
    except HermesError as raised:
        said = raised
    finally:
        await provider.close()
    assert isinstance(said, error), f"expected {error.__name__}, got {said!r}"
    assert str(said).strip(), f"{error.__name__} says nothing"


def _calls(deltas: Sequence[Delta]) -> list[ToolCall]:
    ids: dict[int, str] = {}
    names: dict[int, str] = {}
    texts: dict[int, str] = {}
    metas: dict[int, dict[str, Any]] = {}
    for delta in deltas:
        if isinstance(delta, CallDelta):
            ids[delta.index] = ids.get(delta.index) or delta.id
            names[delta.index] = names.get(delta.index) or delta.name
            texts[delta.index] = texts.get(delta.index, "") + delta.arguments
            metas.setdefault(delta.index, {}).update(delta.meta)
    return [
        ToolCall(id=ids[i], name=names[i], arguments=_arguments(texts[i], names[i]), meta=metas[i]) for i in sorted(ids)
    ]


def _arguments(text: str, name: str) -> Mapping[str, Any]:
    try:
        arguments = json.loads(text or "{}")
    except ValueError:
        pytest.fail(f"the arguments of {name} are not JSON: {text!r}")
    assert isinstance(arguments, dict), f"the arguments of {name} are not a JSON object: {text!r}"
    return arguments
