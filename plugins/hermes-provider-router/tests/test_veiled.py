"""Hosted models are told placeholders for people, and answers and calls get the people back."""

import contextlib
import json

import pytest

from hermes_core.kinds import ModelRoute, Provider, Router
from hermes_core.types import (
    CallDelta,
    Delta,
    Done,
    Ended,
    Endpoint,
    Failed,
    Message,
    Request,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
    UsageDelta,
)
from hermes_provider_router.people import people
from hermes_provider_router.veiled import Veiled, is_here

ANN, BOB, CARD, IBAN = "ann@example.com", "+49 170 1234567", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00"


async def ended(hermes, text: str) -> Ended:
    events = [event async for event in hermes.turn(text, session="s")]
    assert isinstance(events[-1], Ended), events[-1]
    return events[-1]


@pytest.fixture
def one(hermes, scripted):
    """``one(steps, …)``: a hosted model in a Hermes that tells nobody of people."""
    hermes.tmp_plugin("hermes_provider_router")

    def make(*steps, private: bool = True, priority: int = 10, **settings):
        provider = scripted(*steps, name="one")
        provider.priority = priority
        hermes.tmp_plugin(provider)
        hermes.configure({"model.provider": "one", "privacy.redact_pii": private, **settings})
        return provider

    return make


def sent(provider, number: int = -1) -> str:
    """All that a provider was told in a request."""
    return repr([part for message in provider.requests[number].messages for part in message.parts])


async def test_people_are_placeholders_for_the_model_and_people_again_in_its_answer(hermes, one) -> None:
    provider = one("Mail ⟦email 1⟧, call ⟦phone 1⟧; ⟦email 7⟧ is nobody.")
    end = await ended(hermes, f"Write to {ANN} or {BOB}, {ANN} first. Card {CARD}, account {IBAN}.")
    assert end.answer == f"Mail {ANN}, call {BOB}; ⟦email 7⟧ is nobody."
    told = sent(provider)
    assert not [value for value in (ANN, BOB, CARD, IBAN) if value in told]
    assert "Write to ⟦email 1⟧ or ⟦phone 1⟧, ⟦email 1⟧ first. Card ⟦card 1⟧, account ⟦iban 1⟧." in told


async def test_what_was_sent_is_sent_with_the_same_bytes_again(hermes, one) -> None:
    provider = one("To ⟦email 1⟧.", "And ⟦email 2⟧.")
    await ended(hermes, f"one {ANN}")
    await ended(hermes, "two bob@example.com")
    first, second = (list(map(repr, request.messages)) for request in provider.requests)
    assert second[: len(first)] == first
    assert "To ⟦email 1⟧." in second[len(first)]
    assert "⟦email 2⟧" in second[-1]


@pytest.mark.parametrize("asked", [{"private": False}, {"priority": 50}])
async def test_a_model_on_this_machine_and_one_without_the_wish_are_told_all(hermes, one, asked) -> None:
    provider = one("fine", **asked)
    await ended(hermes, f"Write to {ANN}.")
    assert ANN in sent(provider)


async def test_where_nothing_takes_people_out_no_model_is_asked(hermes, scripted) -> None:
    provider = scripted(name="one")
    hermes.tmp_plugin(provider)
    hermes.configure({"model.provider": "one", "privacy.redact_pii": True})
    events = [event async for event in hermes.turn(f"Write to {ANN}.")]
    assert "Nothing here takes people out" in next(event for event in events if isinstance(event, Failed)).text
    assert provider.requests == []


class Broken(Router):
    """Raises before it tried anything."""

    name = "broken"

    async def attempts(self, call):
        raise ValueError("no")
        yield


async def test_where_the_router_fails_no_model_is_asked(hermes, scripted) -> None:
    provider = scripted(name="one")
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(Broken())
    hermes.configure({"model.provider": "one", "privacy.redact_pii": True})
    with contextlib.suppress(ValueError):  # a strict bench raises what a plugin did
        [event async for event in hermes.turn(f"Write to {ANN}.")]
    assert provider.requests == []


class InPieces(Provider):
    """Says what it is told to, piece by piece; ``asked`` is what it was sent."""

    name = "pieces"

    def __init__(self, *deltas: Delta) -> None:
        self._deltas = deltas

    async def models(self):
        return []

    async def stream(self, request):
        self.asked = request
        for delta in self._deltas:
            yield delta


async def test_a_placeholder_in_pieces_is_put_back_whole_in_text_and_in_arguments() -> None:
    arguments = '{"to": "⟦email 1⟧", "cc": "\\u27e6email 1\\u27e7", "name": "⟦person"}'
    text = "Hello ⟦email 1⟧, [⟦email 1⟧] and ⟦what"
    said = [TextDelta(text=sign) for sign in text]
    calls = [CallDelta(index=0, id="c", name="mail"), *(CallDelta(index=0, arguments=sign) for sign in arguments)]
    usage, done = UsageDelta(usage=Usage()), Done(reason="tool_calls")
    asked = Request(model="m", messages=[Message(role="user", parts=(Text(text=f"I am {ANN}."),))])
    came = [delta async for delta in Veiled(InPieces(*said[:9], usage, *said[9:], *calls, done)).stream(asked)]
    assert "".join(one.text for one in came if isinstance(one, TextDelta)) == f"Hello {ANN}, [{ANN}] and ⟦what"
    given = "".join(one.arguments for one in came if isinstance(one, CallDelta))
    assert json.loads(given) == {"to": ANN, "cc": ANN, "name": "⟦person"}
    assert came[-1] == done
    kinds = [type(one) for one in came if not isinstance(one, UsageDelta)]
    assert kinds.index(CallDelta) > max(at for at, kind in enumerate(kinds) if kind is TextDelta)


async def test_a_call_and_its_result_are_told_without_people() -> None:
    call = ToolCall(id="c", name="mail", arguments={"to": [ANN], "n": 1})
    result = ToolResult(call_id="c", name="mail", parts=(Text(text=f"sent to {ANN}"),))
    asked = Request(model="m", messages=[Message(role="assistant", parts=(call, result))])
    inner = InPieces(Done(reason="stop"))
    assert [delta async for delta in Veiled(inner).stream(asked)] == [Done(reason="stop")]
    told, got = inner.asked.messages[0].parts
    assert told.arguments == {"to": ["⟦email 1⟧"], "n": 1}
    assert got.parts[0].text == "sent to ⟦email 1⟧"


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("http://localhost:1234", True),
        ("http://[::1]:8000", True),
        ("https://api.example.com", False),
        ("http://10.0.0.4:8000", False),
    ],
)
def test_only_this_machine_is_told_of_people(address: str, here: bool) -> None:
    route = ModelRoute(
        name="custom", provider=InPieces(), model="m", endpoint=Endpoint(name="custom", base_url=address)
    )
    assert is_here(route) is here


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (ANN, ["email"]),
        ("4111 1111 1111 1112", []),
        (CARD, ["card"]),
        ("DE89 3704 0044 0532 0130 01", []),
        (IBAN, ["iban"]),
        ("11010519491231002X and 110105194912310021", ["person-id"]),
        ("12345678Z and 12345678A", ["person-id"]),
        ("529.982.247-25 and 529.982.247-26", ["person-id"]),
        ("900101-1234567", ["person-id"]),
        ("010-1234-5678", ["phone"]),
        ("8.8.8.8 and 127.0.0.1 and 10.0.0.1 and 999.1.1.1", ["ip"]),
        ("2001:4860:4860::8888 and ::1 and 12:30:45", ["ip"]),
        ("2026-11-23T12:00:00 commit 3b4007b took 0.123 s at line 4711", []),
    ],
)
def test_people_are_found_by_form_and_checksum(text: str, kinds: list[str]) -> None:
    assert [kind for _, _, kind in people(text)] == kinds
