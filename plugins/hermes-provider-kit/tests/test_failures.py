"""What services say when they fail, and what is made of it.

``bodies.json`` holds what services really sent, each with the thread that quotes it as ``source``; a row with
``written_after`` instead has the form that a documentation page describes, in our words.
"""

import json
import time
from email.utils import formatdate
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import (
    REASONS,
    AuthError,
    ContextTooLong,
    ProviderError,
    RateLimited,
    Refused,
    Unavailable,
)
from hermes_provider_kit.failures import Service, broken_off, failure, redact, seconds_to_wait, unreadable
from hermes_provider_kit.replies import broken_event
from hermes_provider_kit.transport import endless, network_failure, silence

ROWS = json.loads(Path(__file__).with_name("bodies.json").read_text(encoding="utf-8"))
CLASSES = {
    AuthError: {"auth", "auth_permanent"},
    ContextTooLong: {"context_overflow", "payload_too_large", "long_context_tier"},
    Unavailable: {"overloaded", "server_error", "timeout", "wrong_address", "invalid_output", "ssl_cert_verification"},
    RateLimited: {"rate_limit", "upstream_rate_limit"},
}


def name(row: dict[str, object]) -> str:
    return f"{row['service']}-{row['status']}-{row['reason']}"


def test_enough_of_them_were_really_sent() -> None:
    assert sum("source" in row for row in ROWS) >= 60
    assert len({row["body"] for row in ROWS}) >= 200


def test_a_real_body_has_its_reason(subtests: pytest.Subtests) -> None:
    for row in ROWS:
        with subtests.test(name(row)):
            has_its_reason(row)


def has_its_reason(row: dict) -> None:
    error = failure(row["status"], row["body"], row.get("headers", {}), service=Service(title=row["service"]))
    assert error.reason == row["reason"], error.text
    kind = next((kind for kind, reasons in CLASSES.items() if error.reason in reasons), Refused)
    assert isinstance(error, kind) or error.reason == "billing"
    assert str(row["status"]) in error.text
    if "wait" in row:
        assert error.retry_after == pytest.approx(row["wait"])
    if "until" in row:
        assert error.retry_after == pytest.approx(row["until"] - time.time(), abs=5)
    if "window" in row:
        assert error.window == row["window"]


def test_the_same_body_inside_a_reply_that_began_well_is_a_provider_error(subtests: pytest.Subtests) -> None:
    for row in (row for row in ROWS if row["body"].startswith("{")):
        with subtests.test(name(row)):
            error = broken_off(json.loads(row["body"]))
            assert isinstance(error, ProviderError)
            assert error.reason in REASONS


def test_the_table_covers_the_reasons_that_come_over_http_and_has_sources() -> None:
    told_otherwise = {"ssl_cert_verification", "unknown"}  # by the network, not by a body
    assert {row["reason"] for row in ROWS} == set(REASONS) - told_otherwise
    assert all((row.get("source") or row["written_after"]).startswith("https://") for row in ROWS)


def test_a_limit_of_money_with_an_end_says_when() -> None:
    until = time.strftime("%Y-%m-%d at %H:%M UTC", time.gmtime(time.time() + 7200))
    said = f"You have reached your specified API usage limits. You will regain access on {until}."
    error = failure(400, json.dumps({"error": {"message": said}}))
    assert isinstance(error, RateLimited)
    assert error.reason == "billing"
    assert error.retry_after == pytest.approx(7200, abs=70)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"x-ratelimit-reset-requests": "1m30s", "x-ratelimit-remaining-requests": "0"}, 90),
        ({"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "1200"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "0" * 60_000 + "x"}, None),
        ({"retry-after": "9" * 60_000}, None),
        ({}, None),
    ],
)
def test_a_wait_in_headers(headers: dict[str, str], wait: float | None) -> None:
    assert seconds_to_wait(headers) == wait


def test_a_wait_as_a_date() -> None:
    assert seconds_to_wait({"retry-after": formatdate(time.time() + 60, usegmt=True)}) == pytest.approx(60, abs=2)


@pytest.mark.parametrize(
    ("text", "wait"),
    [
        ("Please try again in 20s.", 20),
        ("try again in 4 days 20 hours 9 minutes.", 4 * 86400 + 20 * 3600 + 9 * 60),
        ("Please wait 2 minutes", 120),
        ("Please retry in 11.665902715s.", 11.665902715),
        ("try another model", None),
        ("try again in " + "9" * 400 + " s", None),
    ],
)
def test_a_wait_in_words(text: str, wait: float | None) -> None:
    found = seconds_to_wait({}, json.dumps({"error": {"message": text}}))
    assert found == (wait if wait is None else pytest.approx(wait))


def test_an_unknown_model_names_its_neighbours() -> None:
    service = Service(title="S", model="qwen3-8b")
    error = failure(404, '{"error":"not found"}', service=service, models=("qwen3:8b", "llama"))
    assert error.reason == "model_not_found"
    assert "Did you mean qwen3:8b?" in error.hint
    error = failure(404, '{"error":"not found"}', service=service, models=("qwen3-8b", "llama"))
    assert error.hint == "It has: llama"  # one that is listed and cannot be had is not its own correction


def test_keys_are_never_shown() -> None:
    service = Service(title="S", key="abcdef123456")
    error = failure(401, '{"error":"bad key abcdef123456, also sk-live-999999 and Bearer zzzzzzzz"}', service=service)
    assert not any(word in str(error) for word in ("abcdef", "999999", "zzzz"))
    assert "abcdef" not in repr(service)
    assert redact("hf_abcdefgh") == "hf_…"


def test_a_password_in_an_address_is_never_shown() -> None:
    service = Service(title="S", url="https://me:p@ss-word@proxy.example/v1@2")
    assert service.place == "https://proxy.example/v1@2"
    errors = [unreadable("", service=service), silence(service, 1.0), endless(service, 1.0, 1)]
    errors += [network_failure(service, error, 1.0) for error in (OSError(), httpx2.ConnectError("x"))]
    assert not [error for error in errors if "word" in error.text + error.hint]


def test_no_words_of_a_service_drive_the_terminal_of_who_reads_them() -> None:
    odd = "\x1b]0;x\x07\x1b[2J\u202e\u200bbad"
    service = Service(title="S", key="abcdef123456", model="m")
    told = [
        failure(400, json.dumps({"error": {"message": f"{odd} abc\x00def123456"}}), service=service),
        failure(302, "", {"location": odd}, service=service),
        failure(404, '{"error":"model not found"}', service=service, models=(f"m{odd}", odd)),
        failure(502, f"<html><title>{odd}</title>", service=service),
        broken_off({"error": odd}, service=service),
        unreadable(odd, service=service),
        unreadable(f"<html><title>{odd}</title>", service=service),
        broken_event(service, odd),
    ]
    for error in told:
        assert "bad" in error.text + error.hint
        assert (error.text + error.hint).isprintable()
    assert "abcdef" not in told[0].text


def test_a_success_that_is_none_is_said() -> None:
    assert "empty" in unreadable("").text
    assert not unreadable("<html><title>Log in</title></html>").transient
    assert "oops" in unreadable("oops").text


WORDS = st.text(max_size=20)
VALUES = st.none() | st.booleans() | st.floats() | WORDS
OBJECTS = st.recursive(VALUES, lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner), max_leaves=10)


@given(status=st.integers(0, 999), body=st.text(max_size=400), headers=st.dictionaries(WORDS, WORDS))
def test_whatever_comes_has_a_known_reason(status: int, body: str, headers: dict[str, str]) -> None:
    error = failure(status, body, headers)
    assert error.reason in REASONS
    assert error.text


@given(OBJECTS)
def test_whatever_object_breaks_off_is_a_provider_error(found: object) -> None:
    assert broken_off(found).reason in REASONS
