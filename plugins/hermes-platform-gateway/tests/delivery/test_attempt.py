"""How the next piece is sent, and how long is waited: every case of the table, decided from the row alone."""

import pytest
from attrs import evolve

from hermes_core.types import Blob, Chat, Feature, Message, Principal
from hermes_platform_gateway.outward import rate_limiter
from hermes_platform_gateway.outward.attempt import GIVEN_UP, KEY_LIFE, attempt
from hermes_platform_gateway.outward.pieces import REPEATED, said
from hermes_platform_gateway.outward.rate_limiter import RateLimiter
from hermes_platform_gateway.rows.values import OutboxRow, Outgoing

NOW = 1_000_000.0
KEY, EDIT = Feature.IDEMPOTENT, Feature.EDIT
TEXT, FILE = said("Hello."), Message(role="assistant", parts=(Blob(media_type="image/png", data=b"x", name="a.png"),))
OUTGOING = Outgoing(
    key="k", owner=Principal(), platform="p", account="bot", chat=Chat("c", "t", "7"), message=said("Hello.")
)


class Service:
    """What a platform says of itself."""

    limit, length = 0, staticmethod(len)

    def __init__(self, *features: Feature) -> None:
        self.features = frozenset(features)


def row(**more) -> OutboxRow:
    return OutboxRow(**{"id": 1, "outgoing": OUTGOING, "state": "waiting", "created": NOW, **more})


CASES = [
    # what the service can, what is sent, what is known; how, whether marked, the least pause, the key
    ([], TEXT, {}, ("send", False, 30.0, "k:0")),
    ([], TEXT, {"tries": 1, "sent": NOW}, ("send", True, 30.0, "k:0")),
    ([KEY], TEXT, {}, ("send", False, 0.0, "k:0")),
    ([KEY], TEXT, {"tries": 3, "sent": NOW - KEY_LIFE}, ("send", False, 0.0, "k:0")),
    ([KEY], TEXT, {"tries": 3, "sent": NOW - KEY_LIFE - 1}, ("send", True, 30.0, "k:0")),
    ([KEY], TEXT, {"tries": 0, "sent": NOW - KEY_LIFE - 1}, ("send", False, 30.0, "k:0")),
    ([EDIT], TEXT, {}, ("place", False, 0.0, "k:0:0")),
    ([EDIT], TEXT, {"tries": 2}, ("place", False, 0.0, "k:0:2")),
    ([EDIT], TEXT, {"placeholders": ["9"]}, ("edit", False, 0.0, "k:0")),
    ([EDIT], TEXT, {"placeholders": ["9"], "tries": 4}, ("edit", False, 0.0, "k:0")),
    ([EDIT], TEXT, {"placeholders": ["", "9"]}, ("send", False, 30.0, "k:0")),
    ([EDIT], TEXT, {"placeholders": [""], "tries": 1}, ("send", True, 30.0, "k:0")),
    ([EDIT], FILE, {}, ("send", False, 30.0, "k:0")),
    ([EDIT], FILE, {"placeholders": ["9"], "tries": 1}, ("send", True, 30.0, "k:0")),
    ([EDIT, KEY], TEXT, {}, ("send", False, 0.0, "k:0")),
    ([EDIT, KEY], TEXT, {"placeholders": ["9"]}, ("edit", False, 0.0, "k:0")),
    ([], TEXT, {"placeholders": ["9"]}, ("send", False, 30.0, "k:0")),
    ([], TEXT, {"receipts": ["1", "2"]}, ("send", False, 30.0, "k:2")),
]


def test_how_a_piece_is_sent() -> None:
    wrong = []
    for features, piece, known, wanted in CASES:
        found = attempt(row(**known), piece, Service(*features), NOW)
        if (found.how, found.repeated, found.pause, found.key) != wanted or found.hopeless:
            wrong.append((features, known, found))
        marked = found.message != piece
        assert marked is found.repeated, known
    assert wrong == []
    found = attempt(row(tries=1), TEXT, Service(), NOW)
    assert found.message == said(f"{REPEATED}\nHello.")


def test_only_the_first_piece_answers_a_message() -> None:
    assert attempt(row(), TEXT, Service(), NOW).chat == Chat("c", "t", "7")
    assert attempt(row(receipts=["1"]), TEXT, Service(), NOW).chat == Chat("c", "t")


LOST, DAY = "No receipt came; it may have arrived", "It could not be sent for a day"
HOPELESS = [
    ([], {"tries": 1}, ""),
    ([], {"tries": 1, "repeated": 1}, LOST),
    ([], {"tries": 1, "repeated": 1, "receipts": ["1"]}, ""),
    ([], {"tries": 1, "repeated": 2, "receipts": ["1"]}, LOST),
    ([], {"tries": 0, "repeated": 1}, ""),
    ([KEY], {"tries": 9, "repeated": 1, "sent": NOW}, ""),
    ([EDIT], {"tries": 5}, ""),
    ([EDIT], {"tries": 6}, LOST),
    ([EDIT], {"tries": 60, "placeholders": ["9"]}, ""),
    ([], {"created": NOW - GIVEN_UP}, ""),
    ([], {"created": NOW - GIVEN_UP - 1}, DAY),
    ([], {"created": NOW - GIVEN_UP - 1, "tries": 1, "repeated": 1}, LOST),
]


def test_when_it_is_given_up() -> None:
    wrong = []
    for features, known, why in HOPELESS:
        for error, told in (("", ""), ("flood", " (flood)")):
            found = attempt(row(**known, error=error), TEXT, Service(*features), NOW).hopeless
            if found != (f"{why}{told}." if why else ""):
                wrong.append((features, known, found))
    assert wrong == []


# --- pauses -----------------------------------------------------------------------------------------------------------


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


def test_who_is_told_to_wait_waits_and_nobody_else() -> None:
    clock = Clock()
    one = RateLimiter(clock)
    one.pause("a", 40)
    one.pause("a", 10)
    assert (one.left("a"), one.left("b")) == (40, 0)
    one.pause("b", 5, everywhere=True)
    assert (one.left("a"), one.left("b"), one.left("c")) == (40, 5, 5)
    clock.now += 5
    assert (one.left("a"), one.left("b")) == (35, 0)
    one.pause("a", 60)
    clock.now += 59
    assert one.left("a") == 1
    clock.now += 1
    assert one.left("a") == 0


def test_each_failure_waits_twice_as_long_up_to_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limiter.random, "uniform", lambda low, high: high)
    one = RateLimiter(Clock())
    assert [one.backoff("x") for _ in range(9)] == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert one.backoff("y") == 1
    one.went_well("x")
    one.went_well("never failed")
    assert (one.backoff("x"), one.backoff("y")) == (1, 2)
    monkeypatch.setattr(rate_limiter.random, "uniform", lambda low, high: low)
    assert one.backoff("x") == 1, "half of it at least"


def test_a_row_says_all_that_decides() -> None:
    """Who sends it, and what was said of an earlier piece, changes nothing."""
    known = row(tries=1, sent=NOW)
    other = evolve(known, holder="another", due=9.0, state="sending")
    assert attempt(known, TEXT, Service(), NOW) == attempt(other, TEXT, Service(), NOW)
