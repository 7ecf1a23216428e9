"""Who sent a delivery: the signatures of services, each as that service documents it.

What a replay is known by must be signed, or whoever overheard a delivery gives it another name and sends it again. So
``digest`` is of what was signed, where anything is, and ``delivery`` the service's own name for it, which need not be.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence

from hermes_core.values import frozen
from hermes_platform_webhook.values import Kind

__all__ = ["BadSignature", "Proof", "new_secret", "secret_problem", "sign", "verify"]

_LONGEST = 200  # characters of a name that a service gives
_MOST = 10  # signatures of one delivery that are looked at, as while a secret is changed
_STANDARD = "whsec_"


class BadSignature(Exception):
    """Why a delivery is not heard, in words that tell whoever sent it nothing about the secret."""


@frozen(kw_only=True)
class Proof:
    """What a delivery is known by. ``event`` and ``delivery`` are empty where its body says them, or nobody does."""

    digest: str
    delivery: str = ""
    event: str = ""


def verify(
    kind: Kind, secret: str, headers: Mapping[str, str], body: bytes, *, now: float, window: float = 300.0
) -> Proof:
    """Return what a delivery is known by. Raises BadSignature. Names of ``headers`` are in lower case."""
    if not secret:
        raise BadSignature("This subscription has no secret.")
    return _CHECKS[kind](secret, headers, body, now, window)


def sign(kind: Kind, secret: str, body: bytes, *, now: float, delivery: str, event: str = "") -> dict[str, str]:
    """Return the headers with which a service of this kind would send a body: for tests of a subscription."""
    stamp = str(int(now))
    if kind == "github":
        named = {"x-github-event": event or "push", "x-github-delivery": delivery}
        return {**named, "x-hub-signature-256": f"sha256={_hex(secret.encode(), body)}"}
    if kind == "gitlab":
        return {"x-gitlab-token": secret, "x-gitlab-event": event or "Push Hook", "idempotency-key": delivery}
    if kind == "stripe":
        return {"stripe-signature": f"t={stamp},v1={_hex(secret.encode(), _stamped(stamp, body))}"}
    if kind == "standard":
        made = hmac.digest(_standard_key(secret), b".".join((delivery.encode(), stamp.encode(), body)), "sha256")
        signature = f"v1,{base64.b64encode(made).decode()}"
        return {"webhook-id": delivery, "webhook-timestamp": stamp, "webhook-signature": signature}
    signature = f"sha256={_hex(secret.encode(), _stamped(stamp, body))}"
    named = {"x-webhook-event": event} if event else {}
    return {**named, "x-webhook-id": delivery, "x-webhook-timestamp": stamp, "x-webhook-signature": signature}


def new_secret(kind: Kind, random: bytes) -> str:
    """Return a secret of random bytes, spelled as services of this kind have it."""
    if kind == "standard":
        return _STANDARD + base64.b64encode(random).decode()
    return base64.urlsafe_b64encode(random).decode().rstrip("=")


def secret_problem(kind: Kind, secret: str) -> str:
    """Say why a text can be no secret of this kind, or nothing."""
    if len(secret) < 8 or not secret.isascii() or not secret.isprintable() or secret != secret.strip():
        return "A secret has 8 characters or more, printable ASCII ones without a blank around them."
    if kind == "standard":
        try:
            _standard_key(secret)
        except BadSignature as error:
            return str(error)
    return ""


def _github(secret: str, headers: Mapping[str, str], body: bytes, now: float, window: float) -> Proof:
    given = headers.get("x-hub-signature-256", "")
    _require(given.startswith("sha256=") and _same(given[7:], _hex(secret.encode(), body)), "X-Hub-Signature-256")
    return Proof(
        digest=_digest(body), delivery=_named(headers, "x-github-delivery"), event=_named(headers, "x-github-event")
    )


def _gitlab(secret: str, headers: Mapping[str, str], body: bytes, now: float, window: float) -> Proof:
    _require(_same(headers.get("x-gitlab-token", ""), secret), "X-Gitlab-Token")
    delivery = _named(headers, "idempotency-key") or _named(headers, "x-gitlab-event-uuid")
    # nothing is signed: whoever overheard it has the token, and two presses of "Test" have the same body
    return Proof(digest=_digest(delivery.encode() or body), delivery=delivery, event=_named(headers, "x-gitlab-event"))


def _stripe(secret: str, headers: Mapping[str, str], body: bytes, now: float, window: float) -> Proof:
    fields = [one.strip().partition("=") for one in headers.get("stripe-signature", "").split(",")]
    stamps = [value for name, _, value in fields if name == "t"]
    _require(len(stamps) == 1, "Stripe-Signature")
    signed = _stamped(stamps[0], body)
    _require(_any_same([v for name, _, v in fields if name == "v1"], _hex(secret.encode(), signed)), "Stripe-Signature")
    _recent(stamps[0], now, window)
    return Proof(digest=_digest(signed))


def _standard(secret: str, headers: Mapping[str, str], body: bytes, now: float, window: float) -> Proof:
    delivery, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    _require(bool(delivery) and len(delivery) <= _LONGEST and delivery.isascii(), "webhook-id")
    signed = b".".join((delivery.encode(), stamp.encode(), body))
    made = base64.b64encode(hmac.digest(_standard_key(secret), signed, "sha256")).decode()
    given = [one.partition(",") for one in headers.get("webhook-signature", "").split()]
    _require(_any_same([value for version, _, value in given if version == "v1"], made), "webhook-signature")
    _recent(stamp, now, window)
    # its id stays while it is sent again, with another time: by that it is known
    return Proof(digest=_digest(delivery.encode()), delivery=delivery)


def _generic(secret: str, headers: Mapping[str, str], body: bytes, now: float, window: float) -> Proof:
    given, stamp = headers.get("x-webhook-signature", ""), headers.get("x-webhook-timestamp", "")
    signed = _stamped(stamp, body) if stamp else body
    _require(_same(given.removeprefix("sha256="), _hex(secret.encode(), signed)), "X-Webhook-Signature")
    if stamp:
        _recent(stamp, now, window)
    return Proof(
        digest=_digest(signed), delivery=_named(headers, "x-webhook-id"), event=_named(headers, "x-webhook-event")
    )


_Check = Callable[[str, Mapping[str, str], bytes, float, float], Proof]
_CHECKS: Mapping[Kind, _Check] = {
    "github": _github,
    "gitlab": _gitlab,
    "stripe": _stripe,
    "standard": _standard,
    "generic": _generic,
}


def _require(holds: bool, header: str) -> None:
    if not holds:
        raise BadSignature(f"{header} is missing or wrong.")


def _recent(stamp: str, now: float, window: float) -> None:
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) < 13) or abs(now - int(stamp)) > window:
        raise BadSignature("It was signed too long ago, or a clock is wrong.")


def _stamped(stamp: str, body: bytes) -> bytes:
    return stamp.encode("utf-8", "replace") + b"." + body


def _standard_key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_STANDARD), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < 16:
        raise BadSignature("A secret of Standard Webhooks is whsec_ and 24 bytes or more in base64.")
    return key


def _named(headers: Mapping[str, str], header: str) -> str:
    given = headers.get(header, "")
    if len(given) > _LONGEST or not given.isprintable():
        raise BadSignature(f"{header} is too long, or cannot be read.")
    return given


def _hex(key: bytes, signed: bytes) -> str:
    return hmac.digest(key, signed, "sha256").hex()


def _digest(signed: bytes) -> str:
    return hashlib.sha256(signed).hexdigest()


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _any_same(given: Sequence[str], wanted: str) -> bool:
    return any(_same(one, wanted) for one in given[:_MOST])
