"""Who is heard: what services document, a library of theirs as the other side, and whoever changes a bit."""

import datetime
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from hermes_platform_webhook.signatures import BadSignature, new_secret, secret_problem, sign, verify
from hermes_platform_webhook.values import KINDS

NOW = 1_700_000_000.0
RANDOM = bytes(range(32))
HEADERS = ["x-hub-signature-256", "x-github-delivery", "x-gitlab-token", "stripe-signature", "webhook-id"]
HEADERS += ["webhook-timestamp", "webhook-signature", "x-webhook-signature", "x-webhook-timestamp", "x-webhook-id"]
ODD = ("sha256=", "v1,", "t=1,v1=", "t=,v1=", "1700000000", "v1,v1 v1,")


def test_the_vector_that_github_documents_is_heard() -> None:
    headers = {
        "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
        "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        "x-github-event": "push",
    }
    proof = verify("github", "It's a Secret to Everybody", headers, b"Hello, World!", now=NOW)
    assert (proof.event, proof.delivery) == ("push", "72d3162e-cc78-11e3-81ab-4c9367dc0958")
    with pytest.raises(BadSignature):
        verify("github", "It's a Secret to Everybody", headers, b"Hello, World?", now=NOW)


def test_what_the_library_of_standard_webhooks_signs_is_heard_and_it_hears_us() -> None:
    secret, body = new_secret("standard", RANDOM), b'{"type": "invoice.paid"}'
    library = Webhook(secret)
    when = datetime.datetime.fromtimestamp(NOW, datetime.UTC)
    headers = {"webhook-id": "msg_1", "webhook-timestamp": str(int(NOW))}
    headers["webhook-signature"] = library.sign("msg_1", when, body.decode())
    assert verify("standard", secret, headers, body, now=NOW).delivery == "msg_1"
    now = datetime.datetime.now(datetime.UTC).timestamp()
    ours = sign("standard", secret, body, now=now, delivery="msg_2")
    assert library.verify(body, ours) == json.loads(body)
    with pytest.raises(WebhookVerificationError):
        library.verify(body + b" ", ours)


def test_one_of_several_signatures_is_enough() -> None:
    """While a secret is changed, services sign with both."""
    body = b"{}"
    right = sign("standard", new_secret("standard", RANDOM), body, now=NOW, delivery="m")
    wrong = sign("standard", new_secret("standard", RANDOM[::-1]), body, now=NOW, delivery="m")
    both = {**right, "webhook-signature": f"v1a,x {wrong['webhook-signature']} {right['webhook-signature']}"}
    assert verify("standard", new_secret("standard", RANDOM), both, body, now=NOW).delivery == "m"
    old, new = (sign("stripe", key * 8, body, now=NOW, delivery="")["stripe-signature"] for key in "ab")
    stripe = {"stripe-signature": f"{old},{new.partition(',')[2]},v0=abc"}
    assert verify("stripe", "b" * 8, stripe, body, now=NOW)


@pytest.mark.parametrize("kind", ["stripe", "standard", "generic"])
def test_what_was_signed_long_ago_or_not_yet_is_refused(kind: Any) -> None:
    secret = new_secret(kind, RANDOM)
    headers = sign(kind, secret, b"{}", now=NOW, delivery="d")
    for now in (NOW - 299, NOW, NOW + 299):
        verify(kind, secret, headers, b"{}", now=now)
    for now in (NOW - 301, NOW + 301):
        with pytest.raises(BadSignature, match="too long ago"):
            verify(kind, secret, headers, b"{}", now=now)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_changed_bit_of_what_is_signed_is_refused(kind: Any, data: st.DataObject) -> None:
    secret = new_secret(kind, RANDOM)
    body = data.draw(st.binary(min_size=1, max_size=60))
    headers = sign(kind, secret, body, now=NOW, delivery="d-1")
    proof = verify(kind, secret, headers, body, now=NOW)
    place = data.draw(st.integers(0, len(body) * 8 - 1))
    changed = bytearray(body)
    changed[place // 8] ^= 1 << place % 8
    if kind == "gitlab":  # it signs nothing
        with pytest.raises(BadSignature):
            verify(kind, secret, {**headers, "x-gitlab-token": secret[:-1]}, body, now=NOW)
        return
    with pytest.raises(BadSignature):
        verify(kind, secret, headers, bytes(changed), now=NOW)
    assert verify(kind, secret, headers, body, now=NOW) == proof


@pytest.mark.parametrize("kind", KINDS)
@given(
    headers=st.dictionaries(st.sampled_from(HEADERS), st.text(max_size=40) | st.sampled_from(ODD)),
    body=st.binary(max_size=40),
)
def test_what_nobody_signed_is_refused_in_words(kind: Any, headers: dict[str, str], body: bytes) -> None:
    with pytest.raises(BadSignature) as refused:
        verify(kind, new_secret(kind, RANDOM), headers, body, now=NOW)
    assert new_secret(kind, RANDOM) not in str(refused.value)


def test_without_a_secret_nothing_is_heard() -> None:
    with pytest.raises(BadSignature):
        verify("github", "", sign("github", "", b"{}", now=NOW, delivery="d"), b"{}", now=NOW)


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_that_is_made_fits_its_kind_and_a_short_one_does_not(kind: Any) -> None:
    assert secret_problem(kind, new_secret(kind, RANDOM)) == ""
    assert secret_problem(kind, "short")
    assert secret_problem(kind, "with a blank after it ")
    assert bool(secret_problem(kind, "not base64 at all")) == (kind == "standard")
