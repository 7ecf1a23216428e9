"""The person's own mirrors of registries, as the settings of their package managers name them.

Read are the variables of the environment that Hermes was started in and the files of the person's home and of the
system. A workspace is not read: a project must not widen its own wall. Of an address only host and port are kept;
what stands before the ``@`` is a secret.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from hermes_backend_wall.proxy.rules import Rule
from hermes_core.errors import UserError

__all__ = ["Mirrors", "mirrors"]

_LARGEST = 1_000_000  # bytes of a file
_PORTS = {"http": 80, "https": 443}
# Variables whose value is one address or several, with commas, spaces or bars between them; some have a name before it.
_VARIABLES = frozenset(
    {
        *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "POETRY_PYPI_MIRROR_URL"),
        *("UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_FIND_LINKS"),
        *("NPM_CONFIG_REGISTRY", "npm_config_registry", "npm_config_disturl", "NODEJS_ORG_MIRROR"),
        *("YARN_REGISTRY", "YARN_NPM_REGISTRY_SERVER", "GOPROXY", "GOSUMDB", "RUSTUP_DIST_SERVER"),
        *("BUNDLE_MIRROR__ALL", "HEX_MIRROR", "HEX_MIRROR_URL"),
    }
)
_CARGO_VARIABLE = re.compile(r"CARGO_REGISTRIES_[A-Z0-9_]+_INDEX")
_ADDRESS = re.compile(r"https?://[^\s,|\"'<>;]+")


class Mirrors(NamedTuple):
    """``rules`` open them, in the person's network too. ``problems`` says which files could not be read, one each."""

    rules: list[Rule]
    problems: list[str]


def mirrors(home: Path, environment: Mapping[str, str]) -> Mirrors:
    """The mirrors that the settings of a home and the variables of an environment name."""
    rules: dict[Rule, None] = {}
    problems: list[str] = []

    def take(addresses: Iterable[str], source: str) -> None:
        for address in addresses:
            try:
                rules[_rule(address, source)] = None
            except UserError as error:
                problems.append(f"{source}: {error.text}")

    for name, value in environment.items():
        if name in _VARIABLES or _CARGO_VARIABLE.fullmatch(name):
            take(_ADDRESS.findall(value), name)
    for path, read in _files(home, environment):
        try:
            take(list(read(_text(path))), _shown(path, home))
        except (OSError, ValueError) as error:
            problems.append(f"{_shown(path, home)}: {error}")
    return Mirrors(list(rules), problems)


def _files(home: Path, environment: Mapping[str, str]) -> Iterator[tuple[Path, Callable[[str], Iterable[str]]]]:
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    cargo = Path(environment.get("CARGO_HOME") or home / ".cargo")
    named = environment.get("PIP_CONFIG_FILE")
    for path in [
        Path("/etc/pip.conf"),
        home / ".pip/pip.conf",
        config / "pip/pip.conf",
        home / "Library/Application Support/pip/pip.conf",
        *([Path(named)] if named else []),
    ]:
        yield path, _settings("index-url", "extra-index-url", "find-links")
    for path in [Path("/etc/uv/uv.toml"), config / "uv/uv.toml"]:
        yield path, _toml("index-url", "extra-index-url", "index", "find-links", "pip")
    npm = environment.get("NPM_CONFIG_USERCONFIG") or environment.get("npm_config_userconfig")
    yield Path(npm) if npm else home / ".npmrc", _settings("registry", r"@[\w.~-]+:registry", "disturl")
    yield Path("/etc/npmrc"), _settings("registry", r"@[\w.~-]+:registry", "disturl")
    yield home / ".yarnrc", _settings("registry", '"@[^"]+:registry"')
    yield home / ".yarnrc.yml", _settings("npmRegistryServer")
    yield home / ".bunfig.toml", _toml("install")
    for name in ("config.toml", "config"):
        yield cargo / name, _toml("source", "registries", "registry")
    yield Path(environment.get("GOENV") or config / "go/env"), _settings("GOPROXY", "GOSUMDB")
    yield home / ".m2/settings.xml", _elements("mirror", "repository", "pluginRepository")
    yield home / ".nuget/NuGet/NuGet.Config", _ADDRESS.findall
    yield home / ".gemrc", _ADDRESS.findall
    yield home / ".bundle/config", _settings(r"BUNDLE_MIRROR__[^\s:]+")
    yield home / ".condarc", _ADDRESS.findall
    yield config / "composer/config.json", _ADDRESS.findall


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise ValueError(f"it has more than {_LARGEST:,} bytes")
        return path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _settings(*keys: str) -> Callable[[str], Iterable[str]]:
    """Addresses behind ``key = …`` or ``key: …``, in the lines that go on under it too."""
    start = re.compile(rf"[ \t]*(?:{'|'.join(keys)})(?:[ \t]*[=:]|[ \t]+(?=[\"h]))(.*)")

    def read(text: str) -> Iterator[str]:
        inside = False
        for line in text.splitlines():
            if re.match(r"[ \t]*[#;]", line):
                continue
            match = start.match(line)
            inside = bool(match) or (inside and line[:1] in " \t" and not re.match(r"\s+[\w@-]+\s*=", line))
            if inside:
                yield from _ADDRESS.findall(line)

    return read


def _toml(*keys: str) -> Callable[[str], Iterable[str]]:
    """Addresses anywhere below some keys of a table."""

    def read(text: str) -> Iterator[str]:
        table = tomllib.loads(text)
        for key in keys:
            yield from _addresses_in(table.get(key))

    return read


def _addresses_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _ADDRESS.findall(value)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _addresses_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _addresses_in(inner)


def _elements(*names: str) -> Callable[[str], Iterable[str]]:
    """Addresses in the ``url`` of some elements of XML."""
    element = re.compile(rf"<({'|'.join(names)})>(.*?)</\1>", re.DOTALL)

    def read(text: str) -> Iterator[str]:
        for match in element.finditer(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)):
            yield from _ADDRESS.findall(" ".join(re.findall(r"<url>(.*?)</url>", match[2], re.DOTALL)))

    return read


def _rule(address: str, source: str) -> Rule:
    parts = urlsplit(address)
    try:
        port = parts.port or _PORTS[parts.scheme]
    except ValueError:  # what it says may be half of a password
        raise UserError("an address whose port is no number", hint="Percent-encode the password in it.") from None
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return Rule.read(f"{host}:{port}", private=True, source=source)


def _shown(path: Path, home: Path) -> str:
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
