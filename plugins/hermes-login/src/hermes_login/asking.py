"""One request to the endpoints of a login, and what may come back."""

import json
from collections.abc import Mapping
from urllib.parse import urlencode

from hermes_core.errors import Unavailable
from hermes_core.types import JSON
from hermes_provider_kit.failures import Service
from hermes_provider_kit.transport import Connection, network_failure

__all__ = ["Answer", "ask", "error_of"]

SECONDS = 30.0
_MOST = 256 * 1024  # bytes of a reply
Answer = tuple[int, Mapping[str, JSON]]


async def ask(
    title: str, url: str, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
) -> Answer:
    """Send a form, or get without one, and read the JSON object that comes back. No redirect is followed.

    Args:
        title: What the service is called.
        url: The endpoint.
        form: What is sent, as ``application/x-www-form-urlencoded``.
        headers: Further headers.

    Returns:
        The status, and what was said.

    Raises:
        Unavailable: Nobody answered, or what came is no answer of such an endpoint.
    """
    import httpx2

    connection = Connection(url, SECONDS)
    client, body = connection.client(), bytearray()
    usual = {"accept": "application/json", **(headers or {})}
    try:
        if form is None:
            request = client.build_request("GET", url, headers=usual)
        else:
            usual["content-type"] = "application/x-www-form-urlencoded"
            request = client.build_request("POST", url, content=urlencode(form).encode(), headers=usual)
        response = await client.send(request, stream=True)
        try:
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > _MOST:
                    raise Unavailable(f"{title} sent more than an answer to a login can be.", transient=False)
        finally:
            await response.aclose()
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
        raise network_failure(Service(title=title, url=url), error, SECONDS) from error
    finally:
        await connection.close()
    if 300 <= response.status_code < 400:
        raise Unavailable(f"{title} leads elsewhere from {url}; a login follows nobody.", transient=False)
    try:
        found = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        if response.status_code >= 400:
            return response.status_code, {}
        what = "a web page" if body.lstrip()[:1] == b"<" else "something"
        raise Unavailable(
            f"{title} sent {what} instead of the answer to a login.",
            hint="A proxy or a login page of the network may be in the way.",
            transient=False,
        )
    return response.status_code, found


def error_of(answer: Answer) -> tuple[str, str]:
    """Return what went wrong, as a word (RFC 6749, 5.2) and as a sentence for people; empty where nothing did."""
    status, reply = answer
    error = reply.get("error")
    if isinstance(error, dict):
        word, said = error.get("code") or error.get("type"), error.get("message")
    else:
        word, said = error, reply.get("error_description") or reply.get("message")
    told = said if isinstance(said, str) and said else word if isinstance(word, str) else ""
    text = "".join(sign if sign.isprintable() else " " for sign in told)[:300]
    if isinstance(word, str) and word:
        return word[:100], text
    return (f"status {status}", text or f"it answered {status}") if status >= 400 else ("", "")
