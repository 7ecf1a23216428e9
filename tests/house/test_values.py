"""Values behave as those of attrs do, though they share their methods."""

import copy
import inspect
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import attrs
import pytest
from attrs import Factory, field

from hermes_core.patterns import pattern
from hermes_core.types import Chat, Endpoint, Principal
from hermes_core.values import define, frozen


def twins(decorate):
    @decorate(kw_only=True)
    class Thing:
        name: str
        size: int = 0
        secret: str = field(default="", repr=False)
        mood: str = field(default="", eq=False)
        parts: tuple[str, ...] = Factory(tuple)

    return Thing


@frozen
class Seldom:
    name: str
    parts: list[int] = Factory(list)


OURS, THEIRS = twins(frozen), twins(attrs.frozen)


@pytest.mark.parametrize("one", [{"name": "a"}, {"name": "a", "size": 2, "secret": "s", "parts": ("x",)}])
@pytest.mark.parametrize("other", [{"name": "a"}, {"name": "a", "mood": "good"}, {"name": "b"}])
def test_they_compare_hash_and_read_like_those_of_attrs(one, other):
    ours, theirs = (OURS(**one), OURS(**other)), (THEIRS(**one), THEIRS(**other))
    assert (ours[0] == ours[1]) is (theirs[0] == theirs[1])
    assert (ours[0] != ours[1]) is (theirs[0] != theirs[1])
    assert (hash(ours[0]) == hash(ours[1])) is (hash(theirs[0]) == hash(theirs[1]))
    assert repr(ours[0]) == repr(theirs[0])
    assert ours[0] != theirs[0]
    assert ours[0] != "a"


def test_what_attrs_offers_still_works():
    chat = Chat("a")
    assert attrs.evolve(chat, thread="t") == Chat("a", thread="t")
    assert attrs.asdict(Principal()) == {"profile": "default", "person": "owner"}
    assert {Principal(): 1}[Principal()] == 1
    assert "hush" not in repr(Endpoint(name="x", api_key="hush"))
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        chat.id = "b"
    match chat:
        case Chat("a"):
            pass
        case _:
            pytest.fail("it does not match by position")


def test_a_class_that_nobody_used_is_one_of_attrs_to_whoever_asks():
    assert attrs.has(twins(frozen))
    assert [one.name for one in attrs.fields(twins(frozen))] == [one.name for one in attrs.fields(THEIRS)]
    assert str(inspect.signature(twins(frozen))) == str(inspect.signature(THEIRS))
    assert pickle.loads(pickle.dumps(Seldom("a", [1]))) == Seldom("a", [1])
    assert copy.copy(Seldom("a")) == Seldom("a")

    class Below(Seldom):
        """No class of attrs itself."""

    assert Below("x").parts == []
    assert Below("x") != Seldom("x")


def test_threads_that_use_a_class_first_all_see_it_whole():
    for _ in range(20):
        cls, start = twins(frozen), threading.Barrier(4)

        def make(cls=cls, start=start):
            start.wait()
            return cls(name="a")

        with ThreadPoolExecutor(4) as threads:
            made = [work.result() for work in [threads.submit(make) for _ in range(4)]]
        assert {(one.name, one.size, one.parts) for one in made} == {("a", 0, ())}


def test_what_a_class_says_itself_stands():
    @frozen
    class Loud:
        name: str

        def __repr__(self) -> str:
            return "LOUD"

    @frozen(eq=False)
    class Same:
        name: str

    assert repr(Loud("a")) == "LOUD"
    assert Same("a") != Same("a")


def test_what_may_change_compares_and_is_no_key():
    @define
    class Place:
        name: str
        seen: int = 0

    here = Place("here")
    here.seen += 1
    assert here == Place("here", 1) != Place("here")
    assert repr(here).endswith("Place(name='here', seen=1)")
    with pytest.raises(TypeError, match="unhashable"):
        hash(here)


def test_what_may_change_is_judged_when_it_does():
    def judged(_one, _field, value):
        if value < 0:
            raise ValueError("too small")

    @define
    class Place:
        size: int = field(default=1, validator=judged)
        name: str = field(default="a", converter=str.upper)

    @define
    class Below(Place):
        more: int = 2

    for here in (Place(), Below()):
        here.name = "b"
        assert here.name == "B"
        with pytest.raises(ValueError, match="too small"):
            here.size = -1
    assert attrs.fields(Below).more.default == 2


def test_a_class_has_slots_where_they_are_asked_for():
    @define(slots=True, eq=False)
    class Cell:
        text: str = ""

    with pytest.raises(AttributeError):
        Cell().other = 1


def test_a_pattern_finds_what_a_compiled_one_does():
    late, early = pattern(r"(\d+)-(\w)", re.IGNORECASE), re.compile(r"(\d+)-(\w)", re.IGNORECASE)
    text = "1-a and 22-B"
    assert late.search(text)[0] == early.search(text)[0]
    assert [found.span() for found in late.finditer(text)] == [found.span() for found in early.finditer(text)]
    assert late.sub("x", text) == early.sub("x", text)
    assert late.split(text) == early.split(text)
    assert late.groups == 2
    assert pattern(rb"b+").findall(b"abba") == [b"bb"]
    with pytest.raises(re.error):
        pattern("(").match("")


@pytest.mark.parametrize("decorate", [frozen, define, attrs.frozen, attrs.define])
def test_each_value_is_made_alike_whether_it_is_the_first_or_one_of_many(decorate):
    def judged(_one, _field, value):
        if value < 0:
            raise ValueError("too small")

    @decorate
    class Base:
        name: str
        size: int = field(default=1, validator=judged)
        _hidden: list[int] = Factory(list)
        twice: int = field(init=False, default=Factory(lambda self: self.size * 2, takes_self=True))
        later: int = field(init=False)

        def __attrs_post_init__(self):
            object.__setattr__(self, "later", 7)

    @decorate
    class Below(Base):
        mood: str = field(default="good", converter=str.upper, kw_only=True)

    for _ in range(6):
        one = Below("a", 2, hidden=[1], mood="bad")
        assert (one.name, one.size, one._hidden, one.twice, one.later, one.mood) == ("a", 2, [1], 4, 7, "BAD")
        assert Below("b")._hidden is not Below("b")._hidden
        for wrong in ((), ("a", 1, [], 9)):
            with pytest.raises(TypeError, match=r"Below\.__init__\(\)"):
                Below(*wrong)
        for named in ({"name": "x"}, {"colour": 1}, {"_hidden": []}, {"twice": 1}):
            with pytest.raises(TypeError, match=r"Below\.__init__\(\) got"):
                Below("a", **named)
        with pytest.raises(ValueError, match="too small"):
            Below("a", -1)
        with attrs.validators.disabled():
            assert Below("a", -1).size == -1
    assert Below.__match_args__ == ("name", "size", "_hidden")
    assert list(inspect.signature(Below).parameters) == ["name", "size", "hidden", "mood"]
