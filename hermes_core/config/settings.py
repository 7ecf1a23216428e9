"""What the user wrote, checked: from ``config.yaml``, or from its cache without reading YAML."""

import json
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from hermes_core import __version__
from hermes_core.config.build import Refused, build
from hermes_core.config.files import explain, write_atomic
from hermes_core.config.paths import Home
from hermes_core.config.schema import PLUGIN_SPACES, Config, EndpointSettings, spelled_out
from hermes_core.config.secrets import Secrets
from hermes_core.errors import ConfigError, UnknownName, UserError
from hermes_core.types.base import JSON
from hermes_core.types.model import Endpoint

if TYPE_CHECKING:
    from hermes_core.config.check import Problem
    from hermes_core.config.document import Document

_ABSENT = object()
T = TypeVar("T")
Odd: TypeAlias = tuple[tuple[str | int, ...], str]  # what is wrong where, before a Problem is made of it
_NOTHING: Mapping[str, JSON] = MappingProxyType({})
_VARIABLE = r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}"


def structure(cls: type[T], data: Mapping[str, JSON], path: str) -> "tuple[T | None, list[Problem]]":
    """The mapping as an object of ``cls``, or every problem in it, each under ``path``."""
    with suppress(Refused, ValueError, TypeError, AttributeError):
        made: T = build(cls, data)
        return made, []
    from hermes_core.config.check import check

    return check(cls, data, tuple(path.split(".")) if path else ())


class Settings:
    """The settings of one home. ``raw`` is the mapping as written, with defaults, overrides and locks laid over it."""

    __slots__ = ("_laid", "config", "home", "overruled", "raw", "secrets")

    def __init__(
        self,
        home: Home,
        raw: dict[str, JSON],
        secrets: Secrets,
        *,
        laid: Mapping[str, JSON] = _NOTHING,
        overruled: tuple[str, ...] = (),
    ) -> None:
        """Raises ConfigError with every problem in the kernel's part."""
        self.home = home
        self.raw = raw
        self.secrets = secrets
        self.overruled = overruled  # locked keys that the user's file wants otherwise
        self._laid = laid
        config, problems = read_kernel(raw, secrets)
        if config is None or problems:
            raise _error(home, problems, laid)
        self.config: Config = config

    def section(self, path: str, cls: type[T]) -> T:
        """A plugin's section (``platforms.cli``) as an object of its class; a missing section is an empty one.

        Raises ConfigError with file and line for every problem in it.
        """
        made, problems = read_section(self.raw, self.secrets, path, cls)
        if made is None or problems:
            raise _error(self.home, problems, self._laid)
        return made

    def endpoint(self, provider: str) -> Endpoint | None:
        """Where the user says that provider is reached, secrets filled in; None when nothing is said.

        Raises UserError when the provider is the chosen one and its key refers to a secret that is not set.
        """
        chosen = self.config.model.provider == provider
        named = self.config.providers.get(provider)
        model = self.config.model
        if named is None and not (chosen and (model.base_url or model.api_key or model.wire or model.context_length)):
            return None
        place = named or EndpointSettings()
        key, where = (model.api_key, "model.api_key") if chosen and model.api_key else (place.api_key, "")
        name = key.reference or ("" if key else place.key_env)
        secret = self.secrets.get(name) if name else str(key)
        if chosen and name and not secret:
            raise UserError(
                f"{where or f'providers.{provider}'} takes its key from {name}, which is not set.",
                hint=f"Set it with: {self.home.brand} config set {name} KEY",
            )
        return Endpoint(
            name=provider,
            base_url=(chosen and model.base_url) or place.base_url,
            api_key=secret,
            wire=(chosen and model.wire) or place.wire,
            headers=place.headers,
            extra_body=place.extra_body,
            context=(chosen and model.context_length) or place.context_length,
            timeout=place.timeout,
        )

    def idle_sections(self, known: Iterable[str]) -> list[str]:
        """Plugin sections in the file that none of the known ones claims."""
        claimed = set(known)
        there = [f"{space}.{name}" for space in PLUGIN_SPACES for name in self.raw.get(space) or ()]
        return [path for path in there if path not in claimed]


def config_problems(home: Home, sections: Mapping[str, type], environ: Mapping[str, str] | None = None) -> list[str]:
    """Every problem in the file, the kernel's and the given plugins' sections, as lines for a person.

    Raises ConfigError when it cannot be parsed, UserError when it cannot be read.
    """
    raw, secrets = _written(home), Secrets(home.env_file, environ)
    parts = [read_kernel(raw, secrets)[1], *(read_section(raw, secrets, *item)[1] for item in sections.items())]
    return _lines(home, [problem for part in parts for problem in part], {})


def _error(home: Home, problems: "list[Problem]", laid: Mapping[str, JSON]) -> ConfigError:
    return ConfigError(_lines(home, problems, laid), hint=f"The file is {home.config_file}")


def _lines(home: Home, problems: "list[Problem]", laid: Mapping[str, JSON]) -> list[str]:
    """Problems as ``file:line path: what``; a key that was laid over the file has no line in it."""
    name = home.config_file.name
    try:
        document = read_document(home.config_file)
    except UserError:  # it was readable a moment ago; the problem is worth saying without its line
        document = None
    rows = []
    for problem in problems:
        line = document.line(problem.keys) if document and problem.path not in laid else 0
        place = f"{name}:{line}" if line else "(not from the file)" if problem.path in laid else name
        rows.append((line, f"{place} {problem.path}: {problem.text}"))
    return [text for _, text in sorted(rows, key=lambda row: row[0])]


def read_kernel(raw: dict[str, JSON], secrets: Secrets) -> "tuple[Config | None, list[Problem]]":
    """The kernel's part of a mapping, or every problem in it and in the outline of the plugins' part."""
    expanded, odd = _expand(spelled_out({key: raw[key] for key in raw if key not in PLUGIN_SPACES}), (), secrets)
    for space in PLUGIN_SPACES:
        children = raw.get(space) or {}
        parts = (
            {(space, name): child for name, child in children.items()} if isinstance(children, dict) else {(space,): 0}
        )
        odd += [(keys, "must be a section") for keys, child in parts.items() if not isinstance(child, dict | None)]
    config, problems = structure(Config, expanded, "")
    return config if not odd else None, _with(problems, odd)


def read_section(raw: dict[str, JSON], secrets: Secrets, path: str, cls: type[T]) -> "tuple[T | None, list[Problem]]":
    """One plugin's section of a mapping, or every problem in it; a missing section is an empty one."""
    keys = tuple(path.split("."))
    data: JSON = raw
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    expanded, odd = _expand({} if data is None else data, keys, secrets)
    made, problems = structure(cls, expanded, path)
    return made if not odd else None, _with(problems, odd)


def _with(problems: "list[Problem]", odd: list[Odd]) -> "list[Problem]":
    if not problems and not odd:
        return []
    from hermes_core.config.check import Problem

    shadowed = dict(odd)
    return [p for p in problems if p.keys not in shadowed] + [Problem(keys, text) for keys, text in odd]


def _expand(value: JSON, keys: tuple[str | int, ...], secrets: Secrets) -> tuple[JSON, list[Odd]]:
    """``${NAME}`` and ``${NAME:-else}`` in texts, filled in; ``$${NAME}`` stays ``${NAME}``."""
    odd: list[Odd] = []

    def fill(match: re.Match[str], keys: tuple[str | int, ...]) -> str:
        if match[1]:
            return match[0][1:]
        filled = secrets.get(match[2]) or match[3]
        if filled is None:
            odd.append((keys, f"${{{match[2]}}} is not set, neither in the environment nor in .env"))
        return filled or ""

    def walk(value: JSON, keys: tuple[str | int, ...]) -> JSON:
        if isinstance(value, str):
            return re.sub(_VARIABLE, lambda match: fill(match, keys), value) if "${" in value else value
        if isinstance(value, dict):
            return {key: walk(item, (*keys, key)) for key, item in value.items()}
        return [walk(item, (*keys, index)) for index, item in enumerate(value)] if type(value) is list else value

    return walk(value, keys), odd


def load_settings(
    home: Home,
    *,
    overrides: Mapping[str, JSON] = _NOTHING,
    defaults: Mapping[str, JSON] = _NOTHING,
    locked: Mapping[str, JSON] = _NOTHING,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """The settings of a home: ``defaults`` < file < ``overrides`` < ``locked``, each with dotted keys.

    A home without a file has the defaults. Raises ConfigError with all problems at once, UserError when the file
    cannot be read.
    """
    written = _written(home)
    if not (defaults or overrides or locked):
        return Settings(home, written, Secrets(home.env_file, environ))
    raw: dict[str, JSON] = {}
    for key, value in defaults.items():
        _lay(raw, key.split("."), value)
    for name, value in spelled_out(written).items():
        _merge(raw, name, value)
    for key, value in overrides.items():
        _lay(raw, key.split("."), value)
    overruled = tuple(key for key, value in locked.items() if _lay(raw, key.split("."), value))
    return Settings(home, raw, Secrets(home.env_file, environ), laid={**overrides, **locked}, overruled=overruled)


def _merge(into: dict[str, JSON], name: str, value: JSON) -> None:
    there = into.get(name)
    if isinstance(there, dict) and isinstance(value, dict):
        into[name] = there = dict(there)
        for key, item in value.items():
            _merge(there, key, item)
    elif value is not None or there is None:
        into[name] = value


def _lay(raw: dict[str, JSON], keys: list[str], value: JSON) -> bool:
    """Put a value at its place; whether something else was there. Other mappings are copied, never changed."""
    for key in keys[:-1]:
        child = raw.get(key)
        raw[key] = dict(child) if isinstance(child, dict) else {}
        raw = raw[key]
    differs = keys[-1] in raw and raw[keys[-1]] != value
    raw[keys[-1]] = value
    return differs


def read_document(path: Path) -> "Document":
    """The file as a document; an empty one when there is none. Raises ConfigError and UserError."""
    from hermes_core.config.document import Document, decode
    from hermes_core.config.files import read_bytes

    return Document(decode(read_bytes(path) or b"", path.name), path.name)


def _written(home: Home) -> dict[str, JSON]:
    path = home.config_file
    try:
        facts = path.stat()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise explain(error, "read", path) from error
    key = [str(path), facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino, __version__]
    cache = home.cache / "config.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(cache.read_bytes())
        if kept["key"] == key and isinstance(kept["raw"], dict):
            return dict(kept["raw"])
    data = read_document(path).data
    # A file changed a moment ago may change again within the clock's step, unseen: such a one is not cached.
    if abs(time.time_ns() - facts.st_mtime_ns) > 50_000_000:
        with suppress(OSError, ValueError):
            cache.parent.mkdir(mode=0o700, exist_ok=True)
            write_atomic(cache, json.dumps({"key": key, "raw": data}).encode(), sync=False)
    return data


def get_value(settings: Settings, key: str) -> JSON:
    """What is in force at a dotted key, defaults included; a Secret where the schema says so. Raises UnknownName."""
    value: Any = settings.config
    found: Any = value
    for step in key.split("."):
        found = value.get(step, _ABSENT) if isinstance(value, dict) else getattr(value, step, _ABSENT)
        if value is settings.config and found is _ABSENT:
            found = settings.raw.get(step, _ABSENT)
        if found is _ABSENT:
            known = value if isinstance(value, dict) else getattr(value, "__slots__", ())
            raise UnknownName("setting", key, [name for name in known if not name.startswith("_")])
        value = found
    return value
