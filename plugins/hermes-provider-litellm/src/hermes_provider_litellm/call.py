"""One streamed call through the library."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from hermes_core.errors import ProviderError
from hermes_core.types import Delta, Endpoint, Request
from hermes_provider_kit.failures import Service
from hermes_provider_kit.replies import names_files
from hermes_provider_litellm.decode import ChunkDecoder
from hermes_provider_litellm.failures import failed
from hermes_provider_litellm.library import library
from hermes_provider_litellm.messages import to_messages, to_tools

__all__ = ["stream_chunks"]

SECONDS = 300.0  # of silence, where nothing else is set
BYTES_PER_TOKEN = 4  # roughly; only where the service does not count


async def stream_chunks(said: Endpoint, service: Service, request: Request, model: str) -> AsyncGenerator[Delta, None]:
    """Answer piece by piece. Raises ProviderError."""
    module = await library()
    fields = await _fields(said, request, model)
    decoder = ChunkDecoder(said.name, guess=len(str(fields["messages"])) // BYTES_PER_TOKEN)
    stream: Any = None
    try:
        stream = await module.acompletion(**fields)
        async for chunk in stream:
            for delta in decoder.feed(chunk.model_dump(exclude_none=True)):
                yield delta
        for delta in decoder.end(service.title):
            yield delta
    except ProviderError:
        raise
    except Exception as error:
        raise failed(error, service) from error
    finally:
        if hasattr(stream, "aclose"):
            await stream.aclose()


async def _fields(said: Endpoint, request: Request, model: str) -> dict[str, Any]:
    messages = (
        await asyncio.to_thread(to_messages, request.messages, said.name)
        if names_files(request)
        else to_messages(request.messages, said.name)
    )
    made: dict[str, Any] = {
        "model": model,
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
        "num_retries": 0,  # retries, other keys and other services are the kernel's
        "max_retries": 0,
        "drop_params": True,  # what a service does not know is left out, not an error
        "timeout": said.timeout or SECONDS,
    }
    if request.tools:
        made["tools"] = to_tools(request)
    options = request.options
    for name, option in (("max_tokens", "max_tokens"), ("temperature", "temperature"), ("reasoning_effort", "effort")):
        if options.get(option) not in (None, ""):
            made[name] = options[option]
    place = {"api_base": said.base_url, "api_key": said.api_key, "extra_headers": dict(said.headers)}
    given = {**place, **said.extra_body}
    return {**made, **{name: value for name, value in given.items() if value not in (None, "", {})}}
