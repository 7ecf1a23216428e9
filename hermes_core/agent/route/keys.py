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

from attrs import field

from hermes_core.config.files import held, write_atomic
from hermes_core.config.schema import EndpointSettings
from hermes_core.config.settings import Settings
from hermes_core.control import KeyRow
from hermes_core.errors import AuthError, ProviderError, RateLimited
from hermes_core.options import Secret
from hermes_core.values import frozen

__all__ = ["Key", "Keys"]

_AUTH = 300.0  # seconds a refused key rests
_LIMIT = 3600.0  # seconds a key rests after a limit, or for lack of credit, when nobody said how long
_State = dict[str, dict[str, Any]]


@frozen(kw_only=True)
class Key:
    """One key of a provider: where it comes from, and what it is."""

    source: str
    value: str = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """Eight letters that tell keys apart and give nothing away."""
        return sha256(b"hermes key " + self.value.encode()).hexdigest()[:8]


class Keys:
    """The keys of all providers that have several."""

    def __init__(self, settings: Settings, file: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._settings, self._file, self._clock = settings, file, clock

    def several(self, provider: str) -> bool:
        """Whether a provider has a list of keys."""
        place = self._settings.config.providers.get(provider)
        return bool(place and place.keys)

    def pick(self, provider: str, *, but: Sequence[str] = ()) -> Key:
        """The key to use now, not one of the fingerprints ``but``.

        Raises RateLimited when all rest, with the time until the first is free; AuthError when none can ever be used.
        """
        place = self._settings.config.providers[provider]
        now, state = self._clock(), self._read().get(provider, {})
        keys = [key for key in map(self._resolved, place.keys) if key.value]
        free = [k for k in keys if k.fingerprint not in but and _free(state.get(k.fingerprint, {}), now)]
        if not free:
            raise self._nothing_left(provider, keys, state, now)
        key = self._chosen(place, free, state)
        if place.strategy in ("round_robin", "least_used"):
            self._note(provider, key, lambda row: {**row, "uses": row.get("uses", 0) + 1, "used": now})
        return key

    def _chosen(self, place: EndpointSettings, free: Sequence[Key], state: Mapping[str, Mapping[str, Any]]) -> Key:
        if place.strategy == "random":
            return random.choice(free)  # noqa: S311 - spreads load, guards nothing
        if place.strategy in ("round_robin", "least_used"):
            field_name = "used" if place.strategy == "round_robin" else "uses"
            return min(free, key=lambda key: state.get(key.fingerprint, {}).get(field_name, 0))
        return free[0]

    def _nothing_left(
        self, provider: str, keys: Sequence[Key], state: Mapping[str, Mapping[str, Any]], now: float
    ) -> ProviderError:
        hint = "`hermes model keys` shows them; `hermes model keys --reset all` uses them again at once."
        waits = [row["until"] - now for k in keys if (row := state.get(k.fingerprint)) and not row.get("dead")]
        waits = [wait for wait in waits if wait > 0]
        if not keys:
            unset = ", ".join(key.reference for key in self._settings.config.providers[provider].keys if key.reference)
            return AuthError(f"{provider} has several keys and none is set.", hint=f"Set one of: {unset}.")
        if not waits:
            return AuthError(f"None of the {len(keys)} keys of {provider} can be used.", hint=hint)
        text = f"All keys of {provider} rest; the first is free in {min(waits):.0f} s."
        return RateLimited(text, retry_after=min(waits), hint=hint)

    def rest(self, provider: str, key: Key, error: ProviderError) -> None:
        """Leave a key alone after it failed, for as long as the service said."""
        usual = _AUTH if error.reason == "auth" else _LIMIT
        until = self._clock() + (getattr(error, "retry_after", None) or usual)
        dead = error.reason == "auth_permanent"
        self._note(provider, key, lambda row: {**row, "until": until, "reason": error.reason, "dead": dead})

    def again(self, key: Key) -> Key | None:
        """The key as it is at its source now, when it was replaced there; None when it is the same."""
        self._settings.secrets.reload()
        fresh = self._resolved(Secret(key.source)) if key.source.startswith("env:") else key
        return fresh if fresh.value and fresh.value != key.value else None

    def rows(self, provider: str = "") -> list[KeyRow]:
        """Every key of the providers that have several."""
        now, state, found = self._clock(), self._read(), []
        for name, place in self._settings.config.providers.items():
            for key in map(self._resolved, place.keys) if provider in ("", name) else ():
                if not key.value:
                    found.append(KeyRow(provider=name, source=key.source, fingerprint="", state="missing"))
                    continue
                row = state.get(name, {}).get(key.fingerprint, {})
                left = max(0.0, row.get("until", 0.0) - now)
                shown = KeyRow(provider=name, source=key.source, fingerprint=key.fingerprint, state="ok")
                if row.get("dead") or left:
                    why = row.get("reason", "")
                    shown = shown._replace(state="dead" if row.get("dead") else "resting", left=left, reason=why)
                found.append(shown._replace(uses=row.get("uses", 0)))
        return found

    def reset(self, fingerprint: str = "") -> int:
        """Forget that a key rests or is dead; all of them without a fingerprint. How many it were. Raises OSError."""
        count = 0
        with self._changing() as state:
            for rows in state.values():
                for name, row in rows.items():
                    if fingerprint in ("", name) and row.pop("until", None) is not None:
                        row.pop("dead", None), row.pop("reason", None)
                        count += 1
        return count

    def _resolved(self, secret: Secret) -> Key:
        source = f"env:{secret.reference}" if secret.reference else "config.yaml"
        return Key(source=source, value=self._settings.secret(secret))

    def _note(self, provider: str, key: Key, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        with contextlib.suppress(OSError), self._changing() as state:  # not knowing costs one more try
            rows = state.setdefault(provider, {})
            rows[key.fingerprint] = change(rows.get(key.fingerprint, {}))

    @contextlib.contextmanager
    def _changing(self) -> Any:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with held(self._file.parent):
            state = self._read()
            yield state
            write_atomic(self._file, json.dumps(state).encode(), sync=False)

    def _read(self) -> dict[str, _State]:
        try:
            state = json.loads(self._file.read_bytes())
        except (OSError, ValueError):
            return {}
        good = isinstance(state, dict) and all(isinstance(rows, dict) for rows in state.values())
        return state if good else {}


def _free(row: Mapping[str, Any], now: float) -> bool:
    return not row.get("dead") and row.get("until", 0.0) <= now
