"""What a real model said, recorded once and replayed: tests of programs without a key, a network, or a bill.

A tape is a file of JSON lines, one for each request: what was asked, without the system prompt and without ids, and the
reply piece by piece. No key is in it, since requests hold none; texts are masked as those in logs are.
"""

import json
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs

from hermes_core.codec import dumps
from hermes_core.errors import ProviderError, UnknownName, UserError
from hermes_core.kinds import Provider
from hermes_core.masking import masked
from hermes_core.testing.transcripts import plain
from hermes_core.types import (
    JSON,
    CallDelta,
    Delta,
    Done,
    Endpoint,
    Model,
    Price,
    ReasoningDelta,
    Request,
    TextDelta,
    Usage,
    UsageDelta,
)

__all__ = ["Cassette", "asked", "provider_of"]

_RECORD = "Give the cassette a provider once, to record it."
_DELTAS = {one.__name__: one for one in (TextDelta, ReasoningDelta, CallDelta, UsageDelta, Done)}


def asked(request: Request) -> JSON:
    """Say what a request asks: model, tools by name, and all messages but the system prompt, which holds the day."""
    messages = [{"role": one.role, "parts": plain(one)} for one in request.messages if one.role != "system"]
    return {"model": request.model, "tools": [one.name for one in request.tools], "messages": messages}


class Cassette(Provider):
    """A provider that answers from a tape.

    What is not on it is asked of the ``provider`` that is given, and recorded; without one it is an error, so that no
    test reaches a network. Equal requests are answered in the order in which they were recorded, each reply once.
    """

    priority = 50

    def __init__(
        self, path: Path, provider: Provider | None = None, *, same: Callable[[Request], JSON] = asked
    ) -> None:
        """Take up a tape. Two requests are equal where ``same`` says the same of them. Raises UserError for no tape."""
        self._path, self._provider, self._same = path, provider, same
        self._left: dict[str, list[list[Delta]]] = {}
        self._models: dict[str, int] = {}
        self.name = provider.name if provider else "cassette"
        self.default_model = provider.default_model if provider else ""
        for number, line in enumerate(_lines(path), 1):
            try:
                row = json.loads(line)
                reply = [_delta(one) for one in row["reply"]]
                digest, self.name = row["digest"], row["provider"]
                self._models.setdefault(row["request"]["model"], row["context"])
            except (ValueError, LookupError, TypeError) as error:
                raise UserError(
                    f"{path}, line {number}, is no recorded reply: {error}.", hint="Delete the file, and record anew."
                ) from error
            self._left.setdefault(digest, []).append(reply)

    @property
    def left(self) -> int:
        """How many replies of the tape were not asked for."""
        return sum(map(len, self._left.values()))

    async def models(self) -> Sequence[Model]:
        """Those of the provider, or those that are on the tape."""
        if self._provider:
            return await self._provider.models()
        if not self._models:
            raise ProviderError(f"There is no reply on the tape {self._path}.", hint=_RECORD)
        return [Model(name=name, context=context) for name, context in self._models.items()]

    async def ready(self) -> bool:
        """Always."""
        return True

    def window(self, model: str) -> int:
        """What fits into a model, as the provider said."""
        return self._provider.window(model) if self._provider else self._models.get(model, 0)

    def price(self, model: str) -> Price | None:
        """What the provider says."""
        return self._provider.price(model) if self._provider else None

    def at(self, endpoint: Endpoint) -> Provider:
        """Itself, with the provider at that address."""
        if self._provider:
            self._provider = self._provider.at(endpoint)
        return self

    async def close(self) -> None:
        """Let go of the provider's connections."""
        if self._provider:
            await self._provider.close()

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Replay the reply to a request, or record it once it is whole."""
        what = _masked(self._same(request))
        digest = sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:24]
        if there := self._left.get(digest):
            for delta in there.pop(0):
                yield delta
            return
        if self._provider is None:
            raise ProviderError(
                f"No reply to this is on {self._path}: {dumps(what)[-300:]}",
                hint=_RECORD,
            )
        reply: list[Delta] = []
        async for delta in self._provider.stream(request):
            reply.append(delta)
            yield delta
        self._record(digest, request, reply)

    def _record(self, digest: str, request: Request, reply: Sequence[Delta]) -> None:
        pieces = [{"type": type(one).__name__, **attrs.asdict(one)} for one in reply]
        about = {"digest": digest, "provider": self.name, "context": self.window(request.model)}
        row = {**about, "request": _masked({"model": request.model, **_mapping(self._same(request))})}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(dumps({**row, "reply": _masked(pieces)}) + "\n")


def provider_of(module: str, name: str, home: Path, *, endpoint: Endpoint | None = None) -> Provider:
    """Make a provider that a plugin registers, such as ``openai`` of the ``module`` ``hermes_provider_openai``.

    It finds in the environment the secrets that its manifest names; ``home`` is a folder of the test's.
    ``endpoint`` is where it is reached, if not where it says. Raises UnknownName, and what the plugin raises.
    """
    from hermes_core.plugins.manifest import read_manifest
    from hermes_core.testing.contract_base import manifest_path
    from hermes_core.testing.fake_context import plugin_context
    from hermes_core.testing.registered import contributions

    manifest = read_manifest(manifest_path(module))
    secrets = {one: value for one, value in os.environ.items() if any(fnmatch(one, p) for p in manifest.secrets)}
    given: list[Provider] = contributions(module, plugin_context(manifest, home, secrets=secrets))["providers"]
    found = {one.name: one for one in given}
    if name not in found:
        raise UnknownName("provider", name, found)
    return found[name].at(endpoint) if endpoint else found[name]


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text("utf-8").split("\n") if line]
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"The tape {path} cannot be read: {error}.") from error


def _delta(row: dict[str, Any]) -> Delta:
    kind = _DELTAS[row.pop("type")]
    if kind is UsageDelta:
        return UsageDelta(usage=Usage(**row["usage"]))
    made: Delta = kind(**row)
    return made


def _mapping(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, dict) else {"same": value}


def _masked(value: JSON) -> JSON:
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, dict):
        return {key: _masked(one) for key, one in value.items()}
    return [_masked(one) for one in value] if isinstance(value, list | tuple) else value
