"""Answers of a type: what fits is a value, what does not is asked for anew and is no part of the conversation."""

import asyncio
import enum
import os
from dataclasses import dataclass
from datetime import date
from typing import Literal, TypedDict

import attrs
import pydantic
import pytest

from hermes_agent import typed
from hermes_agent.typed import Answered, Partial, Shape
from hermes_core.embed import Hermes
from hermes_core.errors import Refused, UserError
from hermes_core.testing import Call
from hermes_core.types import Text


class Kind(enum.Enum):
    TOWN = "town"
    CITY = "city"


@dataclass
class Place:
    name: str
    kind: Kind = Kind.TOWN


@attrs.frozen
class Trip:
    day: date
    stops: list[Place]


class Row(TypedDict):
    name: str
    people: int


class Model(pydantic.BaseModel):
    name: str
    people: int = pydantic.Field(gt=0)


@dataclass
class Few:
    many: int

    def __post_init__(self) -> None:
        assert self.many < 9, "few are less than nine"
        self.word = ["none", "one", "two", "three"][self.many]


class Country(pydantic.BaseModel):
    cities: list[Model]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    for name in os.environ:
        if name.startswith("HERMES_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


OSLO = '{"name": "Oslo", "people": 700000}'
FITS = [
    (Place, '{"name": "Oslo", "kind": "city"}', Place("Oslo", Kind.CITY)),
    (Place, '```json\n{"name": "Oslo"}\n```', Place("Oslo")),
    (Trip, '{"day": "2026-11-28", "stops": [{"name": "Oslo"}]}', Trip(date(2026, 11, 28), [Place("Oslo")])),
    (Row, OSLO, {"name": "Oslo", "people": 700000}),
    (Model, OSLO, Model(name="Oslo", people=700000)),
    (Country, f'{{"cities": [{OSLO}]}}', Country(cities=[Model(name="Oslo", people=700000)])),
    (list[Country], f'{{"value": [{{"cities": [{OSLO}]}}]}}', [Country(cities=[Model(name="Oslo", people=700000)])]),
    (list[int], '{"value": [1, 2]}', [1, 2]),
    (Model | Place, f'{{"value": {OSLO}}}', Model(name="Oslo", people=700000)),
    (Literal["yes", "no"], '{"value": "no"}', "no"),
    (str, '{"value": "한글"}', "한글"),
    (dict[str, int], '{"a": 1}', {"a": 1}),
]
MISFITS = [
    (Place, "Oslo", "no JSON"),
    (Place, '{"kind": "city"}', "name"),
    (Place, '{"name": "Oslo", "kind": "village"}', "village"),
    (Trip, '{"day": "2026-13-28", "stops": []}', "month"),
    (Model, '{"name": "Oslo", "people": 0}', "greater than 0"),
    (Row, '{"name": "Oslo", "people": NaN}', "NaN"),
    (list[int], "[1, 2]", "object"),
    (Place, "[" * 100_000, "nested"),
    (Few, '{"many": 9}', "less than nine"),
    (Few, '{"many": 5}', "IndexError"),
]


def test_what_fits_is_a_value():
    for kind, text, value in FITS:
        shape = Shape(kind)
        assert (shape.misfit(text), shape.value) == ("", value), kind
        assert shape.schema["type"] == "object", kind


def test_what_does_not_fit_is_named():
    for kind, text, word in MISFITS:
        shape = Shape(kind)
        assert word in shape.misfit(text), (kind, text[:40])
        assert not shape.fits


def test_what_has_no_schema_is_refused_before_anything_is_asked():
    for kind in (object(), open, dict[int, int]):
        with pytest.raises(UserError, match="returns"):
            Shape(kind)
    with pytest.raises(UserError, match="tries"):
        Shape(Place, 0)


def said(messages):
    return ["".join(p.text for p in m.parts if isinstance(p, Text)) for m in messages]


@pytest.fixture
def play(hermes, scripted):
    """Play a turn of a script; what comes of it, the requests, and what the conversation holds then."""

    async def one(*steps, stream=False, returns=Place, tries=3):
        provider = scripted(*steps)
        hermes.tmp_plugin(provider)
        if stream:
            found = [part async for part in typed.stream(hermes, "Where?", session="s", returns=returns, tries=tries)]
        else:
            found = await typed.run(hermes, "Where?", session="s", returns=returns, tries=tries)
        past = await hermes.sessions.past(hermes.owner, "s")
        return found, provider.requests, said(past)

    return one


async def test_corrections_are_no_part_of_the_conversation(play):
    found, requests, past = await play("Oslo!", '{"kind": "city"}', '{"name": "Oslo", "kind": "city"}')
    assert found.value == Place("Oslo", Kind.CITY)
    assert isinstance(found, Answered)
    assert found.usage.calls == 3
    assert past == ["Where?", '{"name": "Oslo", "kind": "city"}']
    asked = [said(request.messages[1:]) for request in requests]
    assert [len(one) for one in asked] == [1, 3, 3]
    assert asked[1][1] == "Oslo!"
    assert "no JSON" in asked[1][2]
    assert all('"enum"' in one[0] and one[0].startswith("Where?") for one in asked)
    assert all(request.options["schema"]["required"] == ["name"] for request in requests)


async def test_who_never_fits_is_given_up(play):
    with pytest.raises(Refused, match="shape"):
        await play("Oslo", "Bergen", tries=2)


async def test_a_reply_that_calls_is_no_answer(play, hermes):
    found, requests, _ = await play([Call("todo", {})], '{"name": "Oslo"}')
    assert found.value == Place("Oslo")
    assert len(requests) == 2


async def test_it_is_told_as_it_grows(play):
    text = '{"name": "Oslo in Norway", "kind": "city"}'
    found, _, _ = await play("It is { in", text, stream=True)
    *parts, last = found
    assert last.value == Place("Oslo in Norway", Kind.CITY)
    assert {"name": "Oslo "} in [one.value for one in parts if isinstance(one, Partial)]
    assert parts[-1].value == {"name": "Oslo in Norway", "kind": "city"}


def test_an_agent_gives_values_too():
    from hermes_agent import Agent

    with Agent(home="state", provider="offline") as agent, pytest.raises(Refused):
        agent.run("hello", returns=Place, tries=1)
    assert asyncio.run(_plain()) != ""


async def _plain() -> str:
    async with Hermes(home="state", provider="offline") as hermes:
        return (await hermes.run("hello")).text
