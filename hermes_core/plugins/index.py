"""What is installed, from one small cache file.

A hit costs a stat per ``sys.path`` entry and per manifest and imports nothing beyond json and os. Only a miss reads
the metadata of installed distributions. No plugin is ever imported here.
"""

import contextlib
import json
import os
import sys
from functools import lru_cache

from hermes_core import __version__
from hermes_core.own import TABLES
from hermes_core.plugins.manifest import FILE, PRIVATE, RECORDS, Manifest
from hermes_core.records import KERNEL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import TypeVar

    from hermes_core.errors import PluginError
    from hermes_core.records import Record
    from hermes_core.types import JSON, Fault, Phase

    E = TypeVar("E", bound=PluginError)

GROUP = "hermes.plugins"
# pathlib costs as much as the rest of this file
# ruff: noqa: PTH100, PTH103, PTH109, PTH112, PTH116, PTH118, PTH119, PTH120, PTH122, PTH123, PTH208


class Installed:
    """One plugin on this machine, enabled or not.

    ``origin`` is package, folder or file; ``path`` is the folder that holds the manifest, or the plugin's only file.
    ``manifest`` is None when it cannot be used; then ``problem`` says why. Of two that claim one name the lower
    ``priority`` wins. ``attribute`` is what of the module has the hooks, where its entry point names an object in it.
    """

    def __init__(
        self, *, label: str, manifest: Manifest | None, module: str, path: str, origin: str = "package",
        distribution: str = "", version: str = "", problem: "tuple[Phase, str, str, str] | None" = None,
        manifest_file: str = "", stat: list[int] | None = None, priority: int = 0, attribute: str = "",
    ) -> None:  # fmt: skip
        self.label, self.manifest, self.module, self.path, self.origin = label, manifest, module, path, origin
        self.distribution, self.version, self.problem = distribution, version, problem
        self.manifest_file, self.stat, self.priority, self.attribute = manifest_file, stat, priority, attribute

    @property
    def owner(self) -> str:
        """Who stands behind the label: the distribution, or the path of a plugin without one."""
        return self.distribution or self.path

    @property
    def fault(self) -> "Fault | None":
        """Why the plugin cannot be used, as far as that shows without running it."""
        return self.faulted(*self.problem) if self.problem else None

    def faulted(self, phase: "Phase", where: str, error: str, hint: str) -> "Fault":
        """Return a fault of this plugin."""
        from hermes_core.types import Fault

        return Fault(plugin=self.label, phase=phase, where=where, error=error, hint=hint, version=self.version)

    def error(self, kind: "type[E]", text: str, hint: str = "") -> "E":
        """Return an error that names this plugin, to be raised."""
        return kind(self.label, text, version=self.version, hint=hint)

    def require(self, table: str, key: str, name: str, did: str) -> None:
        """Hold an action against the manifest. Raises NotPermitted unless it has the name in ``[table] key``."""
        from hermes_core.errors import NotPermitted

        if not (self.manifest and self.manifest.declares(key, name, table)):
            told = (
                f'Write [{key}."{name}"] with a summary into'
                if key in RECORDS
                else f'Add "{name}" to [{table}] {key} in'
            )
            hint = f"{told} {FILE}."
            raise self.error(NotPermitted, f"{did} without declaring it", hint)

    def may(self, permission: str) -> bool:
        """Tell whether its manifest declares a permission of the kernel."""
        return self.manifest is not None and permission in self.manifest.kernel

    def overrides(self, table: str) -> bool:
        """Tell whether it may replace what others add to a table: tools only, with the permission for it."""
        return table == "tools" and self.may("tools.override")


class Index:
    """The plugins on this machine. ``first`` names the distributions that win when two claim the same thing, in order.

    Otherwise the first in alphabetical order of distributions wins, so that the outcome never depends on luck.
    """

    def __init__(self, plugins: "Iterable[Installed]", *, first: "Iterable[str]" = ()) -> None:
        given, patterns = list(plugins), tuple(first)
        for one in given:
            one.priority = _place(one.distribution, patterns)
        self._by_label: dict[str, Installed] = {}
        for place, one in enumerate(given := sorted(given, key=precedence)):
            winner = self._by_label.setdefault(one.label, one)
            if winner is not one:
                error = f"{one.owner} and {winner.owner} both call themselves {one.label}; {winner.owner} is used"
                problem = ("discover", one.owner, error, _keep_one(winner, one))
                given[place] = Installed(**{**vars(one), "problem": problem})
        self.plugins = tuple(sorted(given, key=lambda p: p.label))

    def get(self, label: str) -> Installed | None:
        """Return the plugin that owns a label, or None."""
        return self._by_label.get(label)

    def contributing(self, table: str, name: str) -> list[Installed]:
        """Return the plugins that declare a name, the winner first."""
        usable = [p for p in self._by_label.values() if p.manifest and p.manifest.declares(table, name)]
        return sorted(usable, key=lambda p: (not p.overrides(table), precedence(p)))

    def offered(self, table: str) -> set[str]:
        """Return the names that installed plugins declare in a table of their manifests."""
        return {name for p in self.plugins if p.manifest for name in p.manifest.contributes[table]}

    @property
    def config_sections(self) -> set[str]:
        """The sections of the settings that plugins claim, enabled or not."""
        return {p.manifest.config_section for p in self.plugins if p.manifest and p.manifest.config_section}

    @property
    def tools(self) -> set[str]:
        """The names of tools that installed plugins declare; those of a source begin with its own."""
        return {*self.offered("tools"), *(f"{name}_*" for name in self.offered("tool_sources"))}

    @property
    def commands(self) -> "tuple[Record, ...]":
        """All that is known of commands: the kernel's, then those of every plugin, enabled or not."""
        theirs = (one for p in self.plugins if p.manifest for one in p.manifest.records("commands").values())
        return (*KERNEL, *theirs)

    def resolve(self, words: str) -> Installed:
        """Find the plugin a person means: its label, name or distribution. Raises UnknownName, UserError if unclear."""
        from hermes_core.errors import UnknownName, UserError

        if words in self._by_label:
            return self._by_label[words]
        plain = normalized(words)
        found = [p for p in self._by_label.values() if p.label.rpartition("/")[2] == words or p.distribution == plain]
        if not found:
            raise UnknownName("plugin", words, self._by_label, hint="hermes plugins list")
        if len(found) > 1:
            labels = ", ".join(sorted(p.label for p in found))
            raise UserError(f"{words!r} can mean {labels}.", hint="Say which one, with its kind.")
        return found[0]

    @property
    def faults(self) -> "tuple[Fault, ...]":
        """All that is wrong without running anything: unusable manifests, two owners of one label or name."""
        found = [p.fault for p in self.plugins if p.fault]
        usable = [(p, p.manifest.contributes) for p in self._by_label.values() if p.manifest]
        for table in (one for one in TABLES if one not in PRIVATE):
            found += owners(table, [(p, names[table]) for p, names in usable])[1]
        return tuple(found)


def owners(
    table: str, claims: "Iterable[tuple[Installed, Iterable[str]]]"
) -> "tuple[dict[str, Installed], list[Fault]]":
    """Say who owns each name of a table, and a fault for each plugin that claims one in vain."""
    winners: dict[str, Installed] = {}
    clashes: list[Fault] = []
    for one, names in sorted(claims, key=lambda claim: (not claim[0].overrides(table), precedence(claim[0]))):
        for name in names:
            winner = winners.setdefault(name, one)
            if winner is not one and not winner.overrides(table):
                error = f"{winner.owner} and {one.owner} both add {name!r}; {winner.owner} is used"
                clashes.append(one.faulted("discover", f"contributes.{table}", error, _keep_one(winner, one)))
    return winners, clashes


def precedence(one: Installed) -> tuple[int, bool, str]:
    """Return a plugin's place among those that claim one name: the lowest wins."""
    return one.priority, not one.distribution, one.owner


def _keep_one(winner: Installed, loser: Installed) -> str:
    if loser.distribution:
        return f"hermes plugins remove {loser.distribution}   (or {winner.owner})"
    return f"Remove {loser.path}, or disable {winner.owner}."


def matches(distribution: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether a distribution is named by one of the patterns; a plugin without a distribution never is."""
    return _place(distribution, patterns) < len(patterns)


@lru_cache(maxsize=1024)  # who may run is asked of every plugin, several times in a start
def _place(distribution: str, patterns: tuple[str, ...]) -> int:
    """Return the place of the first pattern that fits, else one past the last."""
    from fnmatch import fnmatchcase

    if distribution:
        for place, pattern in enumerate(patterns):
            if pattern == distribution or (not {*"*?["}.isdisjoint(pattern) and fnmatchcase(distribution, pattern)):
                return place
    return len(patterns)


def normalized(name: str) -> str:
    """Return a distribution's name as everyone spells it."""
    import re

    return re.sub(r"[-_.]+", "-", name).lower()


def load_index(
    cache_file: "Path", user_plugins: "Path | None", *, rescan: bool = False, first: "Iterable[str]" = ()
) -> Index:
    """Return the plugins on this machine, from the cache when nothing has moved since it was written.

    ``user_plugins`` is the folder of plugins that are plain files. Never fails: a cache that cannot be read is a
    miss, one that cannot be written is done without.
    """
    folder, cache = os.fspath(user_plugins or ""), os.fspath(cache_file)
    watched = [[path, (_stat(path) or [0])[0]] for path in (*_search_path(), folder)]
    key = [__version__, sys.prefix, sys.version, watched]
    found = None if rescan else _cached(cache, key)
    if found is None:
        found = [*_packages(), *_files(folder)]
        _keep(cache, key, found)
    return Index(found, first=first)


def _search_path() -> list[str]:
    # The folder of the script, or the current one, changes with every start and is not where plugins are installed.
    own = {"", os.path.dirname(sys.argv[0])}
    with contextlib.suppress(FileNotFoundError):  # the current folder is gone: what needs none works all the same
        own |= {os.getcwd(), os.path.dirname(os.path.abspath(sys.argv[0] or "."))}
    skip = 1 if sys.path and not sys.flags.safe_path and sys.path[0] in own else 0
    return [entry for entry in sys.path[skip:] if entry]


def _stat(path: str) -> list[int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_mtime_ns, found.st_size]


def _cached(cache_file: str, key: "JSON") -> list[Installed] | None:
    try:
        with open(cache_file, encoding="utf-8") as file:
            data = json.load(file)
        rows = data["plugins"]
        if data["key"] != key or any(_stat(row["manifest_file"]) != row["stat"] for row in rows):
            return None
        for row in rows:
            row["manifest"] = row["manifest"] and Manifest(row["manifest"])
        return [Installed(**row) for row in rows]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(cache_file: str, key: "JSON", found: list[Installed]) -> None:
    from pathlib import Path

    from hermes_atomic.whole import replace

    if os.path.dirname(cache_file) in sys.path:  # writing there would change the key
        return
    if not os.path.isdir(os.path.dirname(os.path.dirname(cache_file))):  # to be looked at, a home is not made
        return
    rows = [{**vars(one), "manifest": one.manifest and one.manifest.data} for one in found]
    try:
        os.makedirs(os.path.dirname(cache_file), mode=0o700, exist_ok=True)
        replace(Path(cache_file), json.dumps({"key": key, "plugins": rows}).encode(), sync=False)
    except OSError:
        return


def _packages() -> "Iterator[Installed]":
    import importlib
    from importlib import metadata

    importlib.invalidate_caches()  # an install may have happened since this process looked
    seen: set[str] = set()
    for distribution in metadata.distributions(path=_search_path()):
        points = [point for point in distribution.entry_points if point.group == GROUP]
        name = normalized((facts := distribution.metadata)["Name"] or "") if points else ""  # each look parses it anew
        if not name or name in seen:  # an older copy further down the path is never imported either
            continue
        seen.add(name)
        for point in points:
            module, _, attribute = (part.strip() for part in point.value.partition("[")[0].partition(":"))
            kind, dash, rest = name.removeprefix("hermes-").partition("-")
            label = f"{kind}/{rest}" if dash and name.startswith("hermes-") else point.name
            yield _found(_package_manifest(module), label, module, "package", name, facts["Version"], attribute)


def _files(folder: str) -> "Iterator[Installed]":
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, entry)
        if entry.startswith((".", "_")):
            continue
        if entry.endswith(".py"):
            yield _found(path, entry.removesuffix(".py"), private_name(path), "file")
        elif os.path.isdir(path):
            yield _found(os.path.join(path, FILE), entry, private_name(path), "folder")


def private_name(path: str) -> str:
    """Return the module name of a plugin that is no package: no import meets it by chance, no other home shares it."""
    from zlib import crc32

    stem = os.path.splitext(os.path.basename(path))[0]
    return "_hermes_plugin_" + "".join(c if c.isalnum() else "_" for c in stem) + f"_{crc32(path.encode()):08x}"


def _package_manifest(module: str) -> str:
    from importlib.util import find_spec

    top, *rest = module.split(".")
    try:
        spec = find_spec(top)  # looks for the package without running it
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return ""
    folders = spec.submodule_search_locations or ()
    candidates = [os.path.join(folder, *deeper, FILE) for folder in folders for deeper in (rest, [])]
    return next(filter(os.path.exists, candidates), candidates[0] if candidates else spec.origin or "")


def _found(
    manifest_file: str, label: str, module: str, origin: str, distribution: str = "", version: str = "",
    attribute: str = "",
) -> Installed:  # fmt: skip
    from hermes_core.errors import PluginError
    from hermes_core.plugins.manifest import read_manifest

    manifest = None
    problem: tuple[Phase, str, str, str] | None = None
    try:
        manifest = read_manifest(manifest_file) if manifest_file else None
    except PluginError as error:
        problem = ("declare", manifest_file, error.cause, error.hint)
    if not manifest_file:
        hint = f"hermes plugins remove {distribution}   Then: hermes plugins install {distribution}"
        problem = ("discover", module, f"{distribution} is installed, but its module {module} is not there", hint)
    return Installed(
        label=manifest.label if manifest else label, manifest=manifest, module=module, origin=origin, problem=problem,
        path=manifest_file if manifest_file.endswith(".py") else os.path.dirname(manifest_file),
        distribution=distribution, version=version, manifest_file=manifest_file, stat=_stat(manifest_file),
        attribute=attribute,
    )  # fmt: skip
