"""A subscription tried out: a signed example goes through the route, in this process."""

import json
import secrets
import time
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_platform_webhook.route import Incoming
from hermes_platform_webhook.sealed import open_sealed
from hermes_platform_webhook.signatures import sign
from hermes_platform_webhook.template import filled, places
from hermes_platform_webhook.values import Subscription

__all__ = ["example", "post", "told_of"]


def example(subscription: Subscription) -> bytes:
    """Return a payload that has something at each place that a subscription looks at."""
    payload: dict[str, Any] = {"id": f"example-{secrets.token_hex(4)}"}
    if subscription.events:
        payload["type"] = subscription.events[0]
    wanted = {place: f"({place})" for place in places(subscription.template) if place != "__raw__"}
    for place, value in {**wanted, **subscription.where}.items():
        *above, last = place.split(".")
        at: Any = payload
        for name in above:
            at = at.setdefault(name, {}) if isinstance(at, dict) else {}
        if isinstance(at, dict):
            at[last] = value
    return json.dumps(payload).encode()


def told_of(subscription: Subscription, body: bytes) -> str:
    """Return what is told of a payload. Raises UserError where it is no JSON."""
    try:
        return filled(subscription.template, json.loads(body))
    except (ValueError, RecursionError):
        raise UserError("The payload is no JSON.") from None


async def post(ctx: PluginContext, subscription: Subscription, body: bytes, event: str) -> tuple[int, str]:
    """Send a signed body to the route; its status, and what it says."""
    named, _, action = (event or next(iter(subscription.events), "")).partition(".")
    if action and b'"action"' not in body and subscription.kind in ("github", "generic"):
        with suppress(ValueError, TypeError):  # what is no JSON is the route's to refuse
            body = json.dumps({"action": action, **json.loads(body)}).encode()
    secret = open_sealed(ctx, subscription.name, subscription.sealed)
    signed = sign(
        subscription.kind, secret, body, now=time.time(), delivery=f"test-{secrets.token_hex(8)}", event=named
    )
    status, said = 0, b""

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal status, said
        status, said = message.get("status", status), said + message.get("body", b"")

    headers = [(name.encode(), value.encode()) for name, value in signed.items()]
    scope = {"method": "POST", "path": f"/{subscription.name}", "root_path": "", "headers": headers}
    await Incoming(ctx)(scope, receive, send)
    return status, " ".join(map(str, json.loads(said).values()))
