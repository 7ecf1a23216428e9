"""One call: signed, sent, and its bytes; or the error that says why there are none."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from hermes_provider_bedrock.line import Line
from hermes_provider_bedrock.refusals import refused
from hermes_provider_kit.replies import read_capped, told

__all__ = ["asked"]


@asynccontextmanager
async def asked(
    line: Line, method: str, url: str, data: bytes = b"", *, model: str = "", seconds: float = 0.0
) -> AsyncGenerator[AsyncIterator[bytes], None]:
    """Send a request and give the bytes of the answer as they come; the connection is let go of at the end.

    Args:
        line: The service.
        method: ``GET`` or ``POST``.
        url: The whole address, escaped as it is sent.
        data: The body.
        model: The model asked for, for what is said when it fails.
        seconds: After how long a silence the service is given up; 0: what the line says.

    Raises:
        ProviderError: There are no credentials, the service could not be reached, refused, broke off or sent what
            is no reply, also while the bytes are read inside.
        UserError: The profile of AWS cannot be read.
    """
    import httpx2

    service, patience = line.about(model), seconds or line.stale_seconds
    headers = await line.credentials.signed(method, url, data, line.headers_with())
    with told(service, patience):
        client = line.client()
        bound = httpx2.Timeout(seconds) if seconds else httpx2.USE_CLIENT_DEFAULT
        made = client.build_request(method, url, content=data, headers=headers, timeout=bound)
        response = await client.send(made, stream=True)
        try:
            if not response.is_success:
                said = await read_capped(response.aiter_bytes())
                raise refused(response.status_code, said, dict(response.headers), service=service)
            yield response.aiter_bytes()
        finally:
            await response.aclose()
