"""Where deliveries come in: read within bounds, known by a signature, written down, and only then answered."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import JSON
from hermes_platform_webhook.config import Config
from hermes_platform_webhook.values import Delivery, Subscription

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_platform_webhook.rows import Rows

__all__ = ["Incoming"]

_LARGE = 65_536  # bytes of a body that is read in a thread, so that others are answered meanwhile
_EVENT_IN = ("type", "event_type", "event", "object_kind")  # where a payload says what it tells


class _Answer(Exception):
    """What is answered: a status, and why."""

    def __init__(self, status: int, told: str, **headers: str) -> None:
        super().__init__(told)
        self.status, self.told, self.headers = status, told, headers


class _Gone(Exception):
    """The client left: nobody waits for an answer."""


class Incoming:
    """The route ``in``: ``POST /platform/webhook/in/NAME``. 202 says that the delivery is written down."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self._config: Config = ctx.config or Config()
        self._secrets: dict[str, tuple[str, str]] = {}
        self._heard: dict[str, Subscription] = {}  # as they were when they were read last

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        """Answer one request."""
        try:
            await self._hear(scope, receive)
        except _Answer as answer:
            body = json.dumps({"status" if answer.status < 400 else "error": answer.told}).encode()
            headers = {"content-type": "application/json", "content-length": str(len(body)), **answer.headers}
            raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
            await send({"type": "http.response.start", "status": answer.status, "headers": raw})
            await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
        except _Gone:
            return

    async def _hear(
        self, scope: MutableMapping[str, Any], receive: Callable[[], Awaitable[MutableMapping[str, Any]]]
    ) -> None:
        """Find out what to answer. Raises it."""
        from hermes_platform_webhook.rows import Rows

        name = scope["path"].removeprefix(scope["root_path"]).strip("/")
        if not name and scope["method"] in ("GET", "HEAD"):
            raise _Answer(200, "ok")
        if scope["method"] != "POST":
            raise _Answer(405, "POST a delivery.", allow="POST")
        headers = _headers(scope["headers"])
        body = await self._body(headers, receive)
        rows: Rows = self._ctx.state.setdefault("rows", Rows(self._ctx.store))
        accepted = await self._accept(rows, name, headers, body)
        if accepted == "full":
            raise _Answer(503, "Too many wait here. Come again.", retry_after="60")
        raise _Answer(202 if accepted == "accepted" else 200, accepted)

    async def _accept(self, rows: "Rows", name: str, headers: dict[str, str], body: bytes) -> str:
        """Judge a body by its subscription, and write it down. Raises what to answer.

        A subscription that is known is not read first: whether it is still the same is seen where the row is written,
        and, before anything is refused by it, here.
        """
        heard = self._heard.get(name)
        while True:
            known, heard = heard, None
            subscription = known or await self._subscription(rows, name)
            try:
                came = await self._known(subscription, headers, body)
            except _Answer:
                if known is None or await self._subscription(rows, name) == known:
                    raise
                continue
            accepted = await rows.accept(came, subscription, self._config.max_waiting)
            if accepted != "changed":
                return accepted

    async def _subscription(self, rows: "Rows", name: str) -> Subscription:
        """Return a subscription as it is now. Raises the answer to one that is not there."""
        self._heard.pop(name, None)
        found = await rows.subscription(name) if name.isprintable() and len(name) < 100 else None
        if found is None:
            raise _Answer(404, "No such webhook.")
        self._heard[name] = found
        return found

    async def _body(self, headers: dict[str, str], receive: Callable[[], Awaitable[MutableMapping[str, Any]]]) -> bytes:
        most = self._config.max_bytes
        too_large = _Answer(413, f"A delivery has at most {most:,} bytes.")
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length[:20]) > most:
            raise too_large
        pieces, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            pieces.append(message.get("body", b""))
            size, more = size + len(pieces[-1]), message.get("more_body", False)
            if size > most:
                raise too_large
        return b"".join(pieces)

    async def _known(self, subscription: Subscription, headers: dict[str, str], body: bytes) -> Delivery:
        """Return what a body of a known sender is, as it is written down. Raises what to answer."""
        from hermes_platform_webhook.signatures import BadSignature, verify
        from hermes_platform_webhook.template import filled

        try:
            secret = self._secret(subscription)
            window = self._config.window_seconds
            proof = verify(subscription.kind, secret, headers, body, now=time.time(), window=window)
        except BadSignature as error:
            raise _Answer(401, str(error)) from None
        except HermesError as error:
            self._ctx.log.error("a delivery to the webhook %s could not be judged: %s", subscription.name, error)
            raise _Answer(503, "It cannot be judged here. The log says why.", retry_after="60") from None
        payload = await asyncio.to_thread(_read, headers, body) if len(body) > _LARGE else _read(headers, body)
        event = proof.event or next((str(p) for k in _EVENT_IN if (p := _field(payload, k))), "")
        _refuse_unwanted(subscription, event[:200], payload)
        delivery = proof.delivery or (str(_field(payload, "id") or "") if subscription.kind == "stripe" else "")
        return Delivery(
            route=subscription.name,
            delivery=delivery[:200] or proof.digest,
            digest=proof.digest,
            event=event[:200],
            text=filled(subscription.template, payload),
        )

    def _secret(self, subscription: Subscription) -> str:
        """Return the secret of a subscription. Raises UserError."""
        from hermes_platform_webhook.sealed import open_sealed

        known = self._secrets.get(subscription.name)
        if known is None or known[0] != subscription.sealed:
            known = subscription.sealed, open_sealed(self._ctx, subscription.name, subscription.sealed)
            self._secrets[subscription.name] = known
        return known[1]


def _refuse_unwanted(subscription: Subscription, event: str, payload: JSON) -> None:
    """Raise the answer to what was not subscribed to: it is heard, and nothing comes of it."""
    from hermes_platform_webhook.template import as_word, at

    action = _field(payload, "action")
    names = {event, f"{event}.{action}"} if isinstance(action, str) else {event}
    if subscription.events and not names.intersection(subscription.events):
        raise _Answer(200, "ignored")
    if subscription.kind == "github" and event == "ping" and "ping" not in subscription.events:
        raise _Answer(200, "pong")
    if any(as_word(at(payload, place)) != value for place, value in subscription.where.items()):
        raise _Answer(200, "ignored")


def _headers(raw: "list[tuple[bytes, bytes]]") -> dict[str, str]:
    """Return headers by their names in lower case; one that is there twice is both, so no signature fits it."""
    found: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _read(headers: dict[str, str], body: bytes) -> JSON:
    """Return what a body holds: JSON, or a form with JSON in its field ``payload``. Raises what to answer."""
    try:
        text = body.decode()
        if headers.get("content-type", "").partition(";")[0].strip().lower() == "application/x-www-form-urlencoded":
            text = parse_qs(text, strict_parsing=True, max_num_fields=10)["payload"][0]
        found: JSON = json.loads(text)
    except (ValueError, KeyError, RecursionError):
        raise _Answer(400, "The body is no JSON.") from None
    if not isinstance(found, dict | list):
        raise _Answer(400, "The body is no JSON object.")
    return found


def _field(payload: JSON, name: str) -> Any:
    return payload.get(name) if isinstance(payload, dict) else None
