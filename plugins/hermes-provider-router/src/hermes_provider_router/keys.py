"""Several keys of one provider: which is used next, which rest, which are dead. Known to every process of a home.

What is kept names a key by its fingerprint only; the keys themselves stay where the user put them.
"""

import contextlib
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from attrs import evolve

from hermes_core.brokers import DocumentsBroker
from hermes_core.errors import AuthError, HermesError, ProviderError, RateLimited, UnknownName
from hermes_core.types import Endpoint, EndpointKey, KeyRow

__all__ = ["Keys", "fingerprint"]

_NAME = "keys"
_AUTH = 300.0  # seconds a refused key rests
_LIMIT = 3600.0  # seconds a key rests after a limit, or for lack of credit, when nobody said how long
_State = dict[str, dict[str, dict[str, Any]]]  # provider -> fingerprint -> what is known of the key


def fingerprint(key: EndpointKey) -> str:
    """Eight letters that tell keys apart and give nothing away."""
    return sha256(b"hermes key " + key.value.encode()).hexdigest()[:8]


class Keys:
    """The keys of all providers that have several. ``old`` is the file of homes from before it was in the store."""

    def __init__(self, documents: DocumentsBroker, old: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._documents, self._old, self._clock = documents, old, clock

    async def pick(self, provider: str, endpoint: Endpoint, *, but: Sequence[str] = ()) -> EndpointKey:
        """The key to use now, not one of the fingerprints ``but``.

        Raises RateLimited when all rest, with the time until the first is free; AuthError when none can ever be used.
        """
        now, state = self._clock(), (await self._read()).get(provider, {})
        keys = [key for key in endpoint.keys if key.value]
        free = [k for k in keys if fingerprint(k) not in but and _free(state.get(fingerprint(k), {}), now)]
        if not free:
            raise _nothing_left(provider, endpoint, state, now)
        key = _chosen(endpoint.strategy, free, state)
        if endpoint.strategy in ("round_robin", "least_used"):
            await self._note(provider, key, lambda row: {**row, "uses": row.get("uses", 0) + 1, "used": now})
        return key

    async def rest(self, provider: str, key: EndpointKey, error: ProviderError) -> None:
        """Leave a key alone after it failed, for as long as the service said."""
        usual = _AUTH if error.reason == "auth" else _LIMIT
        until = self._clock() + (getattr(error, "retry_after", None) or usual)
        dead = error.reason == "auth_permanent"
        await self._note(provider, key, lambda row: {**row, "until": until, "reason": error.reason, "dead": dead})

    async def rows(self, given: Mapping[str, Sequence[EndpointKey]]) -> list[KeyRow]:
        """Every key, as lists show it."""
        now, state = self._clock(), await self._read()
        return [_row(name, key, state.get(name, {}), now) for name, keys in given.items() for key in keys]

    async def reset(self, given: Mapping[str, Sequence[EndpointKey]], which: str) -> None:
        """Forget that a key rests or is dead: one by its fingerprint, or ``all``. Raises UnknownName, StoreError."""
        known = {fingerprint(key) for keys in given.values() for key in keys if key.value}
        if which not in {"all", *known}:
            raise UnknownName("key", which, known)

        def edit(value: Any) -> Any:
            state = _sound(value)
            for rows in state.values():
                for name, row in rows.items():
                    if which in ("all", name) and row.pop("until", None) is not None:
                        row.pop("dead", None), row.pop("reason", None)
            return state

        await self._documents.change(_NAME, self._or_old(edit))

    async def _note(self, provider: str, key: EndpointKey, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        def edit(value: Any) -> Any:
            state, name = _sound(value), fingerprint(key)
            rows = state.setdefault(provider, {})
            rows[name] = change(rows.get(name, {}))
            return state

        with contextlib.suppress(HermesError):  # not knowing costs one more try
            await self._documents.change(_NAME, self._or_old(edit))

    async def _read(self) -> _State:
        with contextlib.suppress(HermesError):
            document = await self._documents.get(_NAME)
            return _sound(document.value if document else self._from_old())
        return {}

    def _or_old(self, edit: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda value: edit(self._from_old() if value is None else value)

    def _from_old(self) -> Any:
        with contextlib.suppress(OSError, ValueError):
            return json.loads(self._old.read_bytes())
        return {}


def _sound(value: Any) -> _State:
    good = isinstance(value, dict) and all(isinstance(rows, dict) for rows in value.values())
    return json.loads(json.dumps(value)) if good else {}


def _free(row: Mapping[str, Any], now: float) -> bool:
    return not row.get("dead") and bool(row.get("until", 0.0) <= now)


def _chosen(strategy: str, free: Sequence[EndpointKey], state: Mapping[str, Mapping[str, Any]]) -> EndpointKey:
    if strategy == "random":
        return random.choice(free)  # noqa: S311 - spreads load, guards nothing
    if strategy in ("round_robin", "least_used"):
        field = "used" if strategy == "round_robin" else "uses"
        return min(free, key=lambda key: state.get(fingerprint(key), {}).get(field, 0))
    return free[0]


def _nothing_left(provider: str, endpoint: Endpoint, state: Mapping[str, Any], now: float) -> ProviderError:
    hint = "`hermes model keys` shows them; `hermes model keys --reset all` uses them again at once."
    keys = [key for key in endpoint.keys if key.value]
    if not keys:
        unset = ", ".join(key.source.removeprefix("env:") for key in endpoint.keys if key.source.startswith("env:"))
        return AuthError(f"{provider} has several keys and none is set.", hint=f"Set one of: {unset}.")
    waits = [row["until"] - now for k in keys if (row := state.get(fingerprint(k))) and not row.get("dead")]
    waits = [wait for wait in waits if wait > 0]
    if not waits:
        return AuthError(f"None of the {len(keys)} keys of {provider} can be used.", hint=hint)
    text = f"All keys of {provider} rest; the first is free in {min(waits):.0f} s."
    return RateLimited(text, retry_after=min(waits), hint=hint)


def _row(provider: str, key: EndpointKey, known: Mapping[str, Mapping[str, Any]], now: float) -> KeyRow:
    if not key.value:
        return KeyRow(provider=provider, source=key.source, fingerprint="", state="missing")
    row = known.get(fingerprint(key), {})
    left = max(0.0, row.get("until", 0.0) - now)
    shown = KeyRow(
        provider=provider, source=key.source, fingerprint=fingerprint(key), state="ok", uses=row.get("uses", 0)
    )
    if row.get("dead") or left:
        why = row.get("reason", "")
        shown = evolve(shown, state="dead" if row.get("dead") else "resting", left=left, reason=why)
    return shown
