"""What is installed, from one small cache file.

A hit costs a stat per ``sys.path`` entry and per manifest and imports nothing beyond json and os. Only a miss reads
the metadata of installed distributions. No plugin is ever imported here.
"""

import json
import os
import sys

from hermes_core import __version__
from hermes_core.plugins.manifest import FILE, TABLES, Manifest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from hermes_core.types import JSON, Fault, Phase

GROUP = "hermes.plugins"
# pathlib costs as much as the rest of this file
# ruff: noqa: PTH100, PTH103, PTH109, PTH112, PTH116, PTH118, PTH119, PTH120, PTH122, PTH123, PTH208


class Installed:
    """One plugin on this machine, enabled or not.

    ``origin`` is package, folder or file; ``path`` is the folder that holds the manifest, or the plugin's only file.
    ``manifest`` is None when it cannot be used; then ``fault`` says why.
    """

    def __init__(
        self, *, label: str, manifest: Manifest | None, module: str, path: str, origin: str = "package",
        distribution: str = "", version: str = "", problem: "tuple[Phase, str, str, str] | None" = None,
    ) -> None:  # fmt: skip
        self.label, self.manifest, self.module, self.path, self.origin = label, manifest, module, path, origin
        self.distribution, self.version, self._problem = distribution, version, problem

    @property
    def owner(self) -> str:
        """Who stands behind the label: the distribution, or the path of a plugin without one."""
        return self.distribution or self.path

    @property
    def fault(self) -> "Fault | None":
        """Why the plugin cannot be used, as far as that shows without running it."""
        if self._problem is None:
            return None
        from hermes_core.types import Fault

        phase, where, error, hint = self._problem
        return Fault(plugin=self.label, phase=phase, where=where, error=error, hint=hint, version=self.version)

    def beaten_by(self, winner: "Installed") -> "Installed":
        """This plugin, put aside because another one owns its label."""
        error = f"{self.owner} and {winner.owner} both call themselves {self.label}; {winner.owner} is used"
        problem = ("discover", self.owner, error, _keep_one(winner, self))
        return Installed(**{**self._fields(), "problem": problem})

    def _fields(self) -> "dict[str, JSON]":
        return {key.lstrip("_"): value for key, value in vars(self).items()}

    def __repr__(self) -> str:
        return f"<{self.label} {self.version} from {self.owner}>"


class Index:
    """The plugins on this machine. ``first`` names distributions that win when two claim the same thing.

    Otherwise the first in alphabetical order of distributions wins, so that the outcome never depends on luck.
    """

    def __init__(self, plugins: "Iterable[Installed]", *, first: "Iterable[str]" = ()) -> None:
        self._given, self._first = tuple(plugins), tuple(first)
        winners: dict[str, Installed] = {}
        losers: list[Installed] = []
        for one in sorted(self._given, key=self._rank):
            if one.label in winners:
                losers.append(one.beaten_by(winners[one.label]))
            else:
                winners[one.label] = one
        self._by_label = winners
        self.plugins = tuple(sorted([*winners.values(), *losers], key=lambda p: p.label))

    def get(self, label: str) -> Installed | None:
        """The plugin that owns a label, or None."""
        return self._by_label.get(label)

    def contributing(self, table: str, name: str) -> list[Installed]:
        """The plugins that declare a name, the winner first."""
        usable = [p for p in self._by_label.values() if p.manifest and p.manifest.declares(table, name)]
        return sorted(usable, key=lambda p: (not overrides(p, table), self._rank(p)))

    def resolve(self, words: str) -> Installed:
        """The plugin a person means: its label, name or distribution. Raises UnknownName, UserError when unclear."""
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

    def only(self, keep: "Callable[[Installed], bool]") -> "Index":
        """The index as if nothing else were installed; clashes are judged anew."""
        return Index(filter(keep, self._given), first=self._first)

    @property
    def faults(self) -> "tuple[Fault, ...]":
        """All that is wrong without running anything: unusable manifests, two owners of one label or name."""
        own = [p.fault for p in self.plugins]
        return (*(fault for fault in own if fault), *self._name_clashes())

    def _name_clashes(self) -> "Iterator[Fault]":
        owners: dict[tuple[str, str], list[Installed]] = {}
        for one in self._by_label.values():
            for table in TABLES[:-1]:  # skills are folders of the plugin itself
                for name in one.manifest.contributes[table] if one.manifest else ():
                    owners.setdefault((table, name), []).append(one)
        for (table, name), several in owners.items():
            ranked = sorted(several, key=self._rank)
            for loser in ranked[1:]:
                if not any(overrides(p, table) for p in ranked):
                    yield clash(table, name, ranked[0], loser)

    def _rank(self, one: Installed) -> tuple[bool, bool, str]:
        return (not matches(one.distribution, self._first), not one.distribution, one.owner)


def clash(table: str, name: str, winner: Installed, loser: Installed) -> "Fault":
    """The fault of the second owner of a contributed name."""
    from hermes_core.types import Fault

    error = f"{winner.owner} and {loser.owner} both add {name!r}; {winner.owner} is used"
    return Fault(
        plugin=loser.label, phase="discover", where=f"contributes.{table}", error=error,
        hint=_keep_one(winner, loser), version=loser.version,
    )  # fmt: skip


def matches(distribution: str, patterns: "Iterable[str]") -> bool:
    """Whether a distribution is named by one of the patterns; a plugin without a distribution never is."""
    from fnmatch import fnmatchcase

    return bool(distribution) and any(fnmatchcase(distribution, pattern) for pattern in patterns)


def normalized(name: str) -> str:
    """A distribution's name as everyone spells it."""
    import re

    return re.sub(r"[-_.]+", "-", name).lower()


def load_index(
    cache_file: "Path", user_plugins: "Path | None", *, rescan: bool = False, first: "Iterable[str]" = ()
) -> Index:
    """The plugins on this machine, from the cache when nothing has moved since it was written.

    ``user_plugins`` is the folder of plugins that are plain files. Never fails: a cache that cannot be read is a
    miss, one that cannot be written is done without.
    """
    folder = os.fspath(user_plugins) if user_plugins else ""
    key = _key(folder)
    rows = None if rescan else _cached(os.fspath(cache_file), key)
    if rows is None:
        rows = list(_scan(folder))
        _keep(os.fspath(cache_file), key, rows)
    return Index((_installed(row) for row in rows), first=first)


def _search_path() -> list[str]:
    # The folder of the script, or the current one, changes with every start and is not where plugins are installed.
    own = {"", os.getcwd(), os.path.dirname(os.path.abspath(sys.argv[0] or "."))}
    skip = 1 if sys.path and not sys.flags.safe_path and sys.path[0] in own else 0
    return [entry for entry in sys.path[skip:] if entry]


def _stat(path: str) -> list[int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_mtime_ns, found.st_size]


def _key(folder: str) -> "JSON":
    paths = [*_search_path(), folder]
    return [__version__, sys.prefix, sys.version, [[path, (_stat(path) or [0])[0]] for path in paths]]


def _cached(cache_file: str, key: "JSON") -> "list[JSON] | None":
    try:
        with open(cache_file, encoding="utf-8") as file:
            data = json.load(file)
        if data["key"] != key or any(_stat(row["manifest_file"]) != row["stat"] for row in data["plugins"]):
            return None
        return list(data["plugins"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _keep(cache_file: str, key: "JSON", rows: "list[JSON]") -> None:
    from pathlib import Path

    from hermes_core.config.files import write_atomic

    if os.path.dirname(cache_file) in sys.path:  # writing there would change the key
        return
    try:
        os.makedirs(os.path.dirname(cache_file), mode=0o700, exist_ok=True)
        write_atomic(Path(cache_file), json.dumps({"key": key, "plugins": rows}).encode(), sync=False)
    except OSError:
        return


def _installed(row: "Mapping[str, JSON]") -> Installed:
    manifest = Manifest(row["manifest"]) if row["manifest"] else None
    return Installed(
        label=row["label"], manifest=manifest, module=row["module"], path=row["path"], origin=row["origin"],
        distribution=row["distribution"], version=row["version"], problem=row["problem"],
    )  # fmt: skip


def _scan(folder: str) -> "Iterator[JSON]":
    import importlib
    from importlib import metadata

    importlib.invalidate_caches()  # an install may have happened since this process looked
    seen: set[str] = set()
    for distribution in metadata.distributions(path=_search_path()):
        points = [point for point in distribution.entry_points if point.group == GROUP]
        name = normalized(distribution.name or "") if points else ""
        if name and name not in seen:  # an older copy further down the path is never imported either
            seen.add(name)
            for point in points:
                module = point.value.partition(":")[0].strip()
                guess = name.removeprefix("hermes-").replace("-", "/", 1)
                label = guess if name.startswith("hermes-") and "/" in guess else point.name
                yield _row(_package_manifest(module), label, module, "package", name, distribution.version)
    for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, entry)
        stem, extension = os.path.splitext(entry)
        if entry.startswith((".", "_")):
            continue
        if extension == ".py":
            yield _row(path, stem, private_name(path), "file")
        elif os.path.isdir(path):
            yield _row(os.path.join(path, FILE), entry, private_name(path), "folder")


def private_name(path: str) -> str:
    """The module name of a plugin that is not a package: no import meets it by accident, no other home shares it."""
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
    folders = list(spec.submodule_search_locations or ())
    if not folders:
        return spec.origin or ""
    candidates = [os.path.join(f, *deeper, FILE) for f in folders for deeper in ([rest, []] if rest else [[]])]
    return next(filter(os.path.exists, candidates), candidates[0])


def _row(manifest_file: str, label: str, module: str, origin: str, distribution: str = "", version: str = "") -> "JSON":
    from hermes_core.errors import PluginError
    from hermes_core.plugins.manifest import read_manifest

    manifest, problem = None, None
    if not manifest_file:
        hint = f"hermes plugins install --force {distribution}"
        problem = ["discover", module, f"{distribution} is installed, but its module {module} is not there", hint]
    else:
        try:
            manifest = read_manifest(manifest_file)
        except PluginError as error:
            problem = ["declare", manifest_file, error.cause, error.hint]
    path = manifest_file if manifest_file.endswith(".py") else os.path.dirname(manifest_file)
    return {
        "label": manifest.label if manifest else label, "module": module, "origin": origin, "problem": problem,
        "distribution": distribution, "version": version, "path": path,
        "manifest": manifest.data if manifest else None, "manifest_file": manifest_file, "stat": _stat(manifest_file),
    }  # fmt: skip


def overrides(one: Installed, table: str) -> bool:
    """Whether a plugin may replace what others add to a table: tools only, with the permission for it."""
    return table == "tools" and one.manifest is not None and "tools.override" in one.manifest.kernel


def _keep_one(winner: Installed, loser: Installed) -> str:
    if loser.distribution:
        return f"hermes plugins remove {loser.distribution}   (or {winner.owner})"
    return f"Remove {loser.path}, or disable {winner.owner}."
