"""What a service offers, asked over HTTP: one JSON document, or the error that says why there is none."""

import asyncio
import json
from typing import TYPE_CHECKING

from hermes_core.errors import Unavailable
from hermes_core.types import JSON
from hermes_provider_kit.failures import Service
from hermes_provider_kit.replies import FAILURE_CAP, read_capped, told

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2

__all__ = ["fetch_json"]

LIST_CAP = 32 * 1024 * 1024  # bytes; a router lists thousands of models
_WHOLE = 4  # times the silence that is borne: what comes byte by byte holds up nobody longer


async def fetch_json(
    client: "httpx2.AsyncClient", url: str, *, headers: "Mapping[str, str]", service: Service, seconds: float
) -> JSON:
    """Get a JSON document, within so many seconds of silence, and four times as many in all.

    Raises:
        ProviderError: The service could not be reached, refused, or sent something else.
    """
    from hermes_provider_kit.failures import failure, unreadable

    with told(service, seconds):
        try:
            async with (
                asyncio.timeout(_WHOLE * seconds),
                client.stream("GET", url, headers=headers, timeout=seconds) as response,
            ):
                body = await read_capped(response.aiter_bytes(), LIST_CAP if response.is_success else FAILURE_CAP)
        except TimeoutError as error:
            text = f"{service.title} did not send all of its answer within {_WHOLE * seconds:g} s."
            raise Unavailable(text, hint=service.place_hint, reason="timeout") from error
    if not response.is_success:
        raise failure(response.status_code, body, response.headers, service=service)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise unreadable(body, service=service) from None
