"""Secrets that plugins read elsewhere: asked for when one is first needed, and kept in memory alone."""

import logging
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar, copy_context
from functools import partial
from threading import Lock, RLock, Thread
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from hermes_core.config.secrets import UNFIT, unfit
from hermes_core.environment import is_secret
from hermes_core.errors import HermesError, UnknownName
from hermes_core.kinds import SecretSource
from hermes_core.notices import tell
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.fence import finished, one_line
from hermes_core.plugins.index import Index
from hermes_core.plugins.loader import Loader, chosen
from hermes_core.types import SecretOrigin

if TYPE_CHECKING:
    from hermes_core.config.settings import Settings

__all__ = ["SecretSources"]

_REST, _GRACE = 30.0, 1.0  # seconds in which who failed is not asked again, and those to end what was begun
_LARGEST, _LINE = 65_536, 16  # characters of a value, and of a line of it that is secret by itself

log = logging.getLogger(__name__)
_asked: ContextVar[tuple[str, ...]] = ContextVar("hermes_secret_sources", default=())  # those at work above this code


class _Answer(NamedTuple):
    values: Mapping[str, str] = {}
    problem: str = ""
    at: float = 0.0


class SecretSources:
    """Asks the sources that ``secrets.env`` and ``secrets.bulk`` name, and no other; none is loaded before.

    The first answer is waited for. When it is too old, who asks has it all the same, while a thread asks again; only
    one twice as old is waited for again.
    """

    def __init__(self, settings: "Settings", index: Index, loader: Loader, dispatch: Dispatch) -> None:
        self._settings, self._index, self._loader, self._dispatch = settings, index, loader, dispatch
        self._kept: dict[tuple[str, str], _Answer] = {}
        self._loading, self._locks = RLock(), defaultdict[str, Lock](Lock)
        self._at_work, self._told = set[tuple[str, str]](), set[str]()

    def get(self, name: str, kept: str) -> str:
        """Return a secret of which the file has ``kept``: as settings map it, else that, else of who gives all it has.

        It is empty where one should have it and cannot say it, whatever others have.
        """
        said = self._settings.config.secrets
        source, _, reference = said.env.get(name, "").partition(":")
        asked = said.bulk if source or (not kept and is_secret(name, "")) else ()
        bulk = {one: self._answer(one, wait=not source) for one in asked if one not in (source, *_asked.get())}
        owners = [one for one, answer in bulk.items() if name in answer.values]
        found = [*[source] * bool(source), *[".env"] * bool(kept), *owners]
        if len(found) > 1:
            self._tell(f"{name} is in {' and in '.join(found)}", f"{found[0]} counts", log.warning)
        if source:
            answer = self._answer(source, reference)
            self._tell(f"{name} is not to be had from {source}", answer.problem)
            return answer.values.get("", "")
        for one, answer in bulk.items():
            self._tell(f"{one} does not say which secrets it has", answer.problem)
        return kept or (bulk[owners[0]].values[name] if owners else "")

    def renew(self) -> bool:
        """Ask again for what was given; whether any of it is another one now."""
        before, self._kept = self._kept, {}
        return any(self._answer(*key).values != kept.values for key, kept in before.items() if kept.values)

    def origins(self, *, ask: bool) -> Iterator[SecretOrigin]:
        """Yield what settings map to a place, and what is in the sources that give all; ``ask`` asks for each."""
        said = self._settings.config.secrets
        for name, place in said.env.items():
            problem = self._answer(*place.split(":", 1)).problem if ask else ""
            yield SecretOrigin(name=name, source=place, problem=problem)
        for one in said.bulk:
            answer = self._answer(one) if ask else _Answer()
            yield SecretOrigin(name="*", source=one, problem=answer.problem)
            yield from (SecretOrigin(name=name, source=one) for name in answer.values)

    def _answer(self, source: str, reference: str = "", *, wait: bool = True) -> _Answer:
        """Return what a source says at a place, or of all it has; asked where that is not known, or too old."""
        key, said = (source, reference), self._settings.config.secrets
        kept, now = self._kept.get(key), monotonic()
        lasts = _REST if kept and kept.problem else said.cache_ttl_seconds
        if (kept and now - kept.at < lasts) or (key in self._at_work and (kept or not wait)):
            return kept or _Answer()
        if source in _asked.get():
            return _Answer(problem="it needs this secret itself")
        token = _asked.set((*_asked.get(), source))
        try:
            ask = partial(self._ask, key, self._source(source), said.timeout_seconds)
            if not wait or (kept and now - kept.at < 2 * lasts):
                self._at_work.add(key)
                Thread(target=copy_context().run, args=(ask,), name="hermes-secrets", daemon=True).start()
            else:
                with self._locks[source]:
                    if self._kept.get(key) is kept:  # nobody else has asked meanwhile
                        self._at_work.add(key)
                        finished(ask, said.timeout_seconds + _GRACE)
        except HermesError as error:
            self._kept[key] = _Answer(problem=self._why(error), at=monotonic())
        finally:
            _asked.reset(token)
        return self._kept.get(key, _Answer())

    def _source(self, name: str) -> SecretSource:
        owners, dispatch = self._index.contributing("secret_sources", name), self._dispatch
        if not owners:
            raise UnknownName("source of secrets", name, self._index.offered("secret_sources"))
        with self._loading:
            self._loader.load(owners[0], named=True)
            found: SecretSource = chosen(owners[0], name, dispatch.contributions("register_secret_sources"), dispatch)
            return found

    def _ask(self, key: tuple[str, str], source: SecretSource, seconds: float) -> None:
        problem, values = "", dict[str, str]()
        try:
            given = {"": source.read(key[1], seconds)} if key[1] else dict(source.read_all(seconds))
            values = {name: value for name, value in given.items() if _is_secret(name, value)}
            if given == {"": ""}:
                problem = "it has nothing there"
            elif wrong := [name for name, value in given.items() if name not in values and value != ""]:
                problem = f"what it gave is no secret, or is under no name of one ({len(wrong)} of {len(given)})"
        except HermesError as error:
            problem = self._why(error)
        except BaseException as error:  # noqa: BLE001 - its words may hold what it read
            problem = f"it failed with {type(error).__name__}, which is its author's to mend"
        lines = (line for value in values.values() for line in value.splitlines() if len(line) >= _LINE)
        self._settings.secrets.learned += {*values.values(), *lines}.difference(self._settings.secrets.learned)
        self._kept[key] = _Answer(values, problem, monotonic())
        self._at_work.discard(key)

    def _why(self, error: HermesError) -> str:
        return ". ".join(filter(None, [one_line(error, self._dispatch.masked).rstrip("."), error.hint]))

    def _tell(self, what: str, why: str, *hearers: Callable[[str], object]) -> None:
        """Say once what a person should know: by names alone, and what was told of errors is masked."""
        if why and (line := f"{what}: {why}") not in self._told:
            self._told.add(line)
            for hear in hearers or (log.warning, lambda line: tell(line) or sys.stderr.write(f"{line}\n")):
                hear(line)


def _is_secret(name: str, value: object) -> bool:
    """Tell whether it can be one, under a name that is empty where the person has said it."""
    short = isinstance(value, str) and 0 < len(value) <= _LARGEST
    return short and not re.search(UNFIT, str(value)) and not unfit(name or "NAME")
