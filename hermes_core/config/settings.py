"""What the user wrote, checked: from ``config.yaml``, or from its cache without reading YAML."""

import json
import os
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial
from typing import Any, TypeVar

from attrs import asdict, fields, has

from hermes_core import __version__
from hermes_core.config.files import explain
from hermes_core.config.layers import THEIRS, managed, merged, put
from hermes_core.config.paths import Home
from hermes_core.config.schema import (
    KERNEL_KEYS,
    OPEN,
    PLUGIN_SPACES,
    Config,
    EndpointSettings,
    FallbackSettings,
    ModelSettings,
)
from hermes_core.config.secrets import Secrets
from hermes_core.config.spellings import spelled_out, with_ids
from hermes_core.config.variables import expanded
from hermes_core.errors import ConfigError, UnknownName, UserError, nearest
from hermes_core.options import Secret
from hermes_core.platforms import PlatformSettings
from hermes_core.types.base import JSON
from hermes_core.types.model import Endpoint, EndpointKey
from hermes_shapes.build import Problem, Refused, build

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.config.masks import Masks

T = TypeVar("T")
_OUTLINE: Any = dict[str, dict[str, JSON] | None] | None  # a plugin's section is checked when it is asked for
_KNOWN = {*Config.__annotations__, *PLUGIN_SPACES}
_FOREIGN = "_config_version"  # heads the file of Hermes Agent, whose home and file have the same names as ours


class Settings:
    """The settings of one home. ``raw`` is the mapping as written, with defaults, overrides and locks laid over it."""

    def __init__(
        self,
        home: Home,
        raw: dict[str, JSON],
        secrets: Secrets,
        laid: Iterable[str] = (),
        locked: Mapping[str, str] = {},
    ) -> None:
        """Read the kernel's part; ``locked`` says whose each lock is. Raises ConfigError with every problem in it."""
        self.home = home
        self.raw = raw
        self.secrets = secrets
        self._laid, self.locked = {**dict.fromkeys(laid, "(not from the file)"), **locked}, locked
        self.foreign = ""  # what is said of a file that is another program's: nothing of it is in force
        self._again: Callable[..., Settings] = partial(load_settings, home)
        self._anew: Callable[[], Settings] = partial(load_settings, home)
        self.config: Config = self._sound(*read_kernel(raw, secrets))

    def require_claims(self, claimed: Iterable[str]) -> None:
        """Refuse sections, and keys of ``providers.NAME``, that are neither the kernel's nor ``claimed`` by a plugin.

        Raises ConfigError.
        """
        if own_sections(self.raw) or any(_beyond(self.raw)):
            self._sound(*read_kernel(self.raw, self.secrets, set(claimed)))

    def read_again(self) -> "Settings":
        """Return what the file says now, below the same locks; without what this process was started with."""
        return self._again()

    def laid_over(self, settings: Mapping[str, JSON], secrets: Mapping[str, str]) -> "Settings":
        """Return what the file says now with these over it, as if they were written. Raises HermesError."""
        return self._again(overrides=settings, environ={**os.environ, **secrets})

    def reread(self) -> set[str]:
        """Take over what the file and the secrets say now; the top sections that are other ones. Raises HermesError."""
        old, new = self.config, self._anew()
        self.raw, self.config = new.raw, new.config
        self.secrets.reload()
        return {name for name in Config.__annotations__ if getattr(old, name) != getattr(new.config, name)}

    @cached_property
    def masks(self) -> "Masks":
        """What takes secrets out of texts: for good as the settings said when this was made."""
        from hermes_core.config.masks import Masks

        return Masks(self.secrets, self.config, home=self.home, on=self.config.security.redact_secrets)

    def section(self, path: str, cls: type[T]) -> T:
        """Return a plugin's section (``platforms.cli``) as an object of its class; a missing section is an empty one.

        Of a section of the kernel a class has what is shared of it.

        Raises ConfigError with file and line for every problem in it.
        """
        return self._sound(*read_section(self.raw, self.secrets, path, cls))

    def platform(self, name: str) -> PlatformSettings:
        """Say who may talk on a platform: the kernel's part of its section. Raises ConfigError."""
        return self._sound(*read_platform(self.raw, self.secrets, name))

    def _sound(self, made: T | None, problems: list[Problem]) -> T:
        if made is None:
            lines = _lines(self.home, problems, self._laid)
            mend = f"Mend them with `hermes config edit`. The file is {self.home.config_file}"
            theirs = all(line.startswith(f"{self.home.managed} ") for line in lines)
            raise ConfigError(lines, hint=THEIRS if theirs else mend)
        return made

    def endpoint(self, provider: str, fallback: FallbackSettings | None = None) -> Endpoint | None:
        """Return where the user says that provider is reached, secrets filled in; None when nothing is said of that.

        A ``fallback`` may say it otherwise for itself. Raises UserError when the provider is the chosen one, or a
        fallback, and its key refers to a secret that is not set.
        """
        chosen, named = self.config.model.provider == provider, self.config.providers.get(provider)
        if not (chosen or named or fallback):
            return None  # as of most of them, and there are many
        model = self.config.model if chosen else ModelSettings()
        over = fallback or FallbackSettings()
        own = model.base_url or model.api_key or model.protocol or model.context_length
        section = _step(self.raw, ("providers", provider))  # it may hold nothing but its plugin's own settings
        theirs = isinstance(section, dict) and section and section.keys().isdisjoint(KERNEL_KEYS["providers"])
        if (named is None or theirs) and not (own or over.base_url or over.api_key or over.key_env):
            return None
        place = named or EndpointSettings()
        url = over.base_url or model.base_url or place.base_url
        return Endpoint(
            name=provider,
            base_url=url,
            api_key=self._key(provider, place, over, needed=chosen or fallback is not None),
            protocol=model.protocol or place.protocol or ("messages" if url.rstrip("/").endswith("/anthropic") else ""),
            headers=place.headers,
            extra_body=place.extra_body,
            context=(0 if fallback else model.context_length) or place.context_length,
            timeout=place.timeout,
            keys=() if over.api_key or over.key_env or model.api_key else self.keys(provider),
            strategy=place.strategy,
        )

    def keys(self, provider: str) -> tuple[EndpointKey, ...]:
        """Return the keys of a provider that has several, those that are not set included."""
        place = self.config.providers.get(provider) or EndpointSettings()
        sources = ((f"env:{key.reference}" if key.reference else "config.yaml", key) for key in place.keys)
        return tuple(EndpointKey(source=source, value=self.secret(key)) for source, key in sources)

    def _key(self, provider: str, place: EndpointSettings, over: FallbackSettings, *, needed: bool) -> str:
        def named(secret: str) -> Secret:
            return Secret(f"env:{secret}" if secret else "")

        model_key = self.config.model.api_key if self.config.model.provider == provider else Secret("")
        own = over.api_key or named(over.key_env) or model_key
        key = own or place.api_key or named(place.key_env)
        if not key and place.keys:
            return next(filter(None, map(self.secret, place.keys)), "")
        secret = self.secret(key)
        if needed and key and not secret:
            where = "model.api_key" if own and own is model_key else f"providers.{provider}"
            text = f"{where} takes its key from {key.reference}, which is not set."
            raise UserError(text, hint=f"Set it with: {self.home.brand} config set {key.reference} KEY")
        return secret

    def secret(self, value: Secret) -> str:
        """Return a secret setting's value, its reference followed; empty when what it refers to is not set."""
        return self.secrets.get(value.reference) if value.reference else str(value)

    def idle_sections(self, known: Iterable[str]) -> list[str]:
        """Return plugin sections in the file that none of the known ones claims."""
        claimed = set(known)
        there = [f"{space}.{name}" for space in PLUGIN_SPACES for name in self.raw.get(space) or ()]
        there += [keys[0] for keys, _, _ in _beyond(self.raw) if len(keys) == 1]
        return [path for path in there if path not in claimed]


def load_settings(
    home: Home,
    *,
    overrides: Mapping[str, JSON] = {},
    defaults: Mapping[str, JSON] = {},
    locked: Mapping[str, JSON] = {},
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings of a home: ``defaults`` < file < ``overrides`` < what is managed < ``locked``.

    These have dotted keys. A home without a file has the defaults. Raises ConfigError with all problems at once,
    UserError when a file cannot be read.
    """
    raw, (theirs, whose) = written(home), managed(home.managed)
    raw = {} if (other := foreign(home, raw)) else raw
    if defaults or overrides or locked or theirs:
        below: dict[str, JSON] = {}
        for key, value in defaults.items():
            below = put(below, key.split("."), value)
        raw = merged(below, spelled_out(raw))
        for key, value in overrides.items():
            raw = put(raw, key.split("."), value)
        raw = merged(raw, theirs)
        for key, value in locked.items():
            raw = put(raw, key.split("."), value)
    whose |= dict.fromkeys(locked, home.brand)
    settings = Settings(home, raw, Secrets(home.env_file, environ), overrides, whose)
    settings.foreign = other
    settings._again = partial(load_settings, home, defaults=defaults, locked=locked, environ=environ)
    settings._anew = partial(settings._again, overrides=overrides)
    return settings


def foreign(home: Home, raw: Mapping[str, JSON]) -> str:
    """Say that a file which holds this is another program's, and how to take it over; empty where it is ours."""
    hint = f"none of it is in force. Take it over: {home.brand} migrate hermes-agent"
    return f"{home.config_file} is a file of Hermes Agent; {hint}" if _FOREIGN in raw else ""


def config_problems(home: Home, sections: Mapping[str, type], claimed: Iterable[str] = ()) -> list[str]:
    """Return every problem in the file, the kernel's and the given plugins' sections, as lines for a person.

    Sections that are ``claimed`` belong to plugins that cannot be asked now.

    Raises ConfigError when it cannot be parsed, UserError when it cannot be read.
    """
    if other := foreign(home, raw := written(home)):
        return [other]
    theirs, whose = managed(home.managed)
    raw = merged(spelled_out(raw), theirs) if theirs else raw
    return _lines(home, find_problems(raw, Secrets(home.env_file), sections, claimed), whose)


def get_value(settings: Settings, key: str, sections: Mapping[str, type] = {}) -> JSON:
    """Return what is in force at a dotted key, defaults too; a Secret where the schema says so. Raises UnknownName.

    Of plugins' sections it is what was written, and of the given ones also what was not. Raises ConfigError for those.
    """
    spaces = {
        name: settings.raw[name] for name in (*PLUGIN_SPACES, *own_sections(settings.raw)) if name in settings.raw
    }
    config: Any = settings.config
    value: Any = _fields(config) | spaces
    for keys, _, own in _beyond(settings.raw):
        value = put(value, keys, _fields(_step(value, keys)) | own)
    for path, cls in sections.items():
        if f"{key}.".startswith(f"{path}.") or f"{path}.".startswith(f"{key}."):
            keys = tuple(path.split("."))
            value = put(value, keys, _fields(_step(value, keys)) | _fields(settings.section(path, cls)))
    for step in key.split("."):
        known = _fields(value)
        if step not in known:
            raise UnknownName("setting", key, known)
        value = known[step]
    return value


def _step(value: Any, keys: Iterable[str]) -> Any:
    for key in keys:
        value = _fields(value).get(key)
    return value


def _fields(value: Any) -> dict[str, Any]:
    return asdict(value, recurse=False) if has(type(value)) else value if isinstance(value, dict) else {}


def structure(cls: type[T], data: JSON, path: str) -> tuple[T | None, list[Problem]]:
    """Return the mapping as an object of ``cls``, or None and every problem in it, each under ``path``."""
    with suppress(Refused, ValueError, TypeError, AttributeError):
        return build(cls, data), []
    from hermes_core.config.check import check

    return check(cls, data, tuple(path.split(".")) if path else ())


def find_problems(
    raw: dict[str, JSON], secrets: Secrets, sections: Mapping[str, type], claimed: Iterable[str] = ()
) -> list[Problem]:
    """Return every problem in a mapping: the kernel's, and those of the given plugins' sections."""
    parts = [
        read_kernel(raw, secrets, {*sections, *claimed})[1],
        *(read_section(raw, secrets, *item)[1] for item in sections.items()),
    ]
    return [problem for part in parts for problem in part]


def read_kernel(
    raw: dict[str, JSON], secrets: Secrets, claimed: Container[str] | None = None
) -> tuple[Config | None, list[Problem]]:
    """Return the kernel's part of a mapping, or every problem in it and in the outline of the plugins' part.

    Other sections, and what else stands in ``providers.NAME``, are refused unless they are ``claimed``; None leaves
    them for later, but for what looks like a slip of the pen.
    """
    apart = {s for s in own_sections(raw) if (not nearest(s, _KNOWN, 0.7) if claimed is None else s in claimed)}
    kernel = {key: value for key, value in raw.items() if key not in PLUGIN_SPACES and key not in apart}
    for keys, ours, more in _beyond(raw):
        slips = {k: v for k, v in more.items() if keys[0] in OPEN and nearest(k, KERNEL_KEYS[keys[0]], 0.85)}
        if claimed is None or ".".join(keys) in claimed:
            kernel = put(kernel, keys, {**ours, **slips})
    config, problems = _read(spelled_out(kernel), secrets, "", Config)
    for space in PLUGIN_SPACES:
        problems += structure(_OUTLINE, raw.get(space), space)[1]
    if isinstance(platforms := raw.get("platforms"), dict):
        problems += [problem for name in platforms for problem in read_platform(raw, secrets, str(name))[1]]
    return None if problems else config, problems


def read_section(raw: JSON, secrets: Secrets, path: str, cls: type[T]) -> tuple[T | None, list[Problem]]:
    """Return one plugin's section of a mapping, or every problem in it; a missing section is an empty one."""
    section = _step(raw, path.split("."))
    if (kernels := KERNEL_KEYS.get(path.partition(".")[0])) and isinstance(section, dict):
        own = {field.name for field in fields(cls)} if has(cls) else set()
        section = {key: value for key, value in section.items() if key in own or key not in kernels}
    return _read(section, secrets, path, cls)


def read_platform(raw: JSON, secrets: Secrets, name: str) -> tuple[PlatformSettings | None, list[Problem]]:
    """Return the kernel's part of a platform's section, or every problem in it."""
    path, section = f"platforms.{name}", _step(raw, ("platforms", name))
    ours = KERNEL_KEYS["platforms"] if isinstance(section, dict) else ()
    given = {key: section[key] for key in ours if key in section}
    return _read(given, secrets, path, PlatformSettings)


def own_sections(raw: Mapping[str, JSON]) -> set[str]:
    """Return the sections at the top of a mapping that are not the kernel's: each is a plugin's, or nobody's."""
    return raw.keys() - _KNOWN


def _beyond(raw: Mapping[str, JSON]) -> Iterator[tuple[tuple[str, ...], dict[str, JSON], dict[str, JSON]]]:
    """Yield the sections of the kernel's in which more stands than its own keys: where, its own part, and the rest."""
    providers = raw.get("providers")
    places: list[tuple[str, ...]] = [("providers", name) for name in (providers if isinstance(providers, dict) else ())]
    for keys in (*places, *((name,) for name in OPEN)):
        section = _step(raw, keys)
        if isinstance(section, dict) and (own := section.keys() - KERNEL_KEYS[keys[0]]):
            yield keys, {k: v for k, v in section.items() if k not in own}, {k: section[k] for k in own}


def _read(data: JSON, secrets: Secrets, path: str, cls: type[T]) -> tuple[T | None, list[Problem]]:
    unset: list[Problem] = []
    filled = expanded(data, tuple(path.split(".")) if path else (), secrets, unset)
    made, problems = structure(cls, with_ids(cls, filled), path)
    places = {problem.keys for problem in unset}
    return None if unset else made, unset + [problem for problem in problems if problem.keys not in places]


def _lines(home: Home, problems: list[Problem], laid: Mapping[str, str]) -> list[str]:
    """Return problems as ``file:line path: what``; of a key that was ``laid`` over the file it is said by whom."""
    from hermes_core.config.document import read_document

    name, document = home.config_file.name, None
    with suppress(UserError):  # it was readable a moment ago; the problem is worth saying without its line
        document = read_document(home.config_file)
    rows = []
    for problem in problems:
        above = next((who for key, who in laid.items() if f"{problem.path}.".startswith((f"{key}.", f"{key}["))), "")
        line = document.line(problem.keys) if document and not above else 0
        place = f"{name}:{line}" if line else above or name
        rows.append((line, f"{place} {problem.path}: {problem.text}"))
    return [text for _, text in sorted(dict.fromkeys(rows), key=lambda row: row[0])]  # two sections may find the same


def written(home: Home) -> dict[str, JSON]:
    """Return the mapping in the file; empty when there is none. Raises ConfigError, UserError."""
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
    from hermes_atomic.whole import replace
    from hermes_core.config.document import read_document

    data = read_document(path).data
    # A file changed a moment ago may change again within the clock's step, unseen: such a one is not cached.
    if abs(time.time_ns() - facts.st_mtime_ns) > 50_000_000:
        with suppress(OSError, ValueError):
            cache.parent.mkdir(mode=0o700, exist_ok=True)
            replace(cache, json.dumps({"key": key, "raw": data}).encode(), sync=False)
    return data
