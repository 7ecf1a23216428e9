"""What the person allowed: ``plugins.lock``, pinned to who a plugin is and all it asked for.

The file keeps the granted permissions and names whole, not as a hash, so that growth can be shown word by word.
"""

import json
from contextlib import contextmanager

from hermes_core.own import TABLES
from hermes_core.plugins.index import Index, Installed, matches
from hermes_core.plugins.manifest import Manifest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import Self

    from hermes_core.types import JSON, Fault

ENFORCED = {
    "sessions.read": "read your sessions",
    "sessions.write": "change your sessions",
    "turns.run": "talk to the agent in the name of the people it serves",
    "llm.call": "call models on your account",
    "messages.send": "send messages as you",
    "history.rewrite": "rewrite what a model was told",
    "secrets.list": "see the names of your secrets and where each is kept, and have them asked for",
    "settings.write": "see your settings and change them",
    "approvals.settle": "say yes and no for you",
    "conversation.change": "act in the conversation you type its commands into",
    "routes.serve": "serve over the network what plugins show",
    "host.serve": "serve those who write to you, with what others' commands and platforms give them",
    "models.route": "stand between you and your models: see what they are asked, and the keys of your providers",
    "store.connect": "open the database that holds the sessions of everybody",
    "store.tables": "keep tables of its own in the database of Hermes",
    "tools.override": "replace tools of other plugins",
    "plugins.install": "note which plugins you installed, and forget what you allowed them",
}
_DISCLOSED = {
    "network": ("connects to", "connects to nothing"),
    "processes": ("starts", "starts no programs"),
    "files": ("opens", "opens no files of yours"),
}


class ConsentState(str):
    """Where a plugin stands: enabled, builtin, disabled, never_asked, changed or foreign; ``reason`` says why.

    ``difference`` is what it asks for beyond what was granted, in words.
    """

    reason: str
    difference: tuple[str, ...]

    def __new__(cls, name: str, reason: str = "", difference: "Iterable[str]" = ()) -> "Self":
        """Make a state of its name, with the reason beside it."""
        made = super().__new__(cls, name)
        made.reason, made.difference = reason, tuple(difference)
        return made

    @property
    def usable(self) -> bool:
        """Whether the plugin may be imported."""
        return self in ("enabled", "builtin")


class Consent:
    """Decides which installed plugins may run.

    ``builtin`` distributions are enabled without asking, ``required`` ones cannot be disabled either; ``allowed``
    bounds which distributions may be enabled at all.
    """

    def __init__(
        self, lock_file: "Path", *, builtin: "Iterable[str]" = (), required: "Iterable[str]" = (),
        allowed: "Iterable[str]" = ("*",), safe_mode: bool = False,
    ) -> None:  # fmt: skip
        self._file, self._safe_mode = lock_file, safe_mode
        self._builtin, self._required, self._allowed = tuple(builtin), tuple(required), tuple(allowed)
        self._lock, self._broken = self._read()

    def state(self, installed: Installed) -> ConsentState:
        """Tell whether a plugin may run, and if not, why."""
        row = self._lock["plugins"].get(installed.label, {})
        same_owner = row.get("owner") == installed.owner
        if matches(installed.distribution, self._required):
            return ConsentState("builtin")
        if not self.allows(installed):
            return ConsentState("disabled", "this program does not allow it")
        if row.get("state") == "disabled" and same_owner:
            return ConsentState("disabled", f"you disabled it on {row.get('since', '?')}")
        if matches(installed.distribution, self._builtin):
            return ConsentState("builtin")
        if self._safe_mode:
            return ConsentState("disabled", "safe mode")
        if row.get("state") != "enabled":
            return ConsentState("never_asked", "it was never enabled")
        if not same_owner:
            reason = f"you enabled {installed.label} from {row.get('owner')}, this one is from {installed.owner}"
            return ConsentState("foreign", reason)
        grown = [text for key, text in asked(installed.manifest).items() if key not in row.get("granted", ())]
        return ConsentState("changed", f"now also: {', '.join(grown)}", grown) if grown else ConsentState("enabled")

    def allows(self, installed: Installed) -> bool:
        """Tell whether this program may use a plugin at all."""
        return not installed.distribution or matches(installed.distribution, (*self._allowed, *self._required))

    def builtin(self, installed: Installed) -> bool:
        """Tell whether a plugin is one of this program's own."""
        return matches(installed.distribution, (*self._builtin, *self._required))

    def preferred(self) -> tuple[str, ...]:
        """Return distributions that win a clash: our own, then what the person enabled. For ``load_index(first=)``."""
        rows = self._lock["plugins"].values()
        return (*self._required, *self._builtin, *(row["owner"] for row in rows if row.get("state") == "enabled"))

    def enable(self, installed: Installed) -> None:
        """Grant all a plugin asks for now. Raises PluginError when it cannot be used, UserError when not allowed."""
        from hermes_core.errors import PluginError, UserError

        if fault := installed.fault:
            raise installed.error(PluginError, fault.error, fault.hint)
        if not self.allows(installed):
            raise UserError(f"This program does not allow {installed.distribution}.")
        self._set(installed, "enabled", granted=sorted(asked(installed.manifest)))

    def disable(self, installed: Installed) -> None:
        """Keep a plugin from running, its settings untouched. Raises UserError for one that is required."""
        from hermes_core.errors import UserError

        if matches(installed.distribution, self._required):
            raise UserError(f"Plugin {installed.label} is part of this program and cannot be disabled.")
        self._set(installed, "disabled")

    def forget(self, distribution: str) -> None:
        """Drop a distribution's consent and request, when it is removed."""
        with self._changing() as lock:
            lock["plugins"] = {label: row for label, row in lock["plugins"].items() if row["owner"] != distribution}
            lock["wanted"].pop(distribution, None)

    def remember_request(self, distribution: str, request: "Mapping[str, JSON]") -> None:
        """Note what was asked to be installed and what came, so that ``plugins sync`` can restore just that."""
        with self._changing() as lock:
            lock["wanted"][distribution] = dict(request)

    def wanted(self) -> "Mapping[str, Mapping[str, JSON]]":
        """Return what was asked to be installed, by distribution: what a row holds is for the installer to say."""
        return dict(sorted(self._lock["wanted"].items()))

    def faults(self, index: Index) -> "list[Fault]":
        """Return what asks for the person: a broken lock file; enabled plugins that are gone, grew or changed hands."""
        from hermes_core.types import Fault

        found: list[Fault] = []
        where = str(self._file)
        if self._broken:
            hint = f"Mend or delete {where}, then enable your plugins again."
            found.append(Fault(plugin="plugins.lock", phase="consent", where=where, error=self._broken, hint=hint))
        for label, row in sorted(self._lock["plugins"].items()):
            if row.get("state") == "enabled" and index.get(label) is None:
                text, owner = f"enabled on {row.get('since', '?')}, not installed", row["owner"]
                hint = "hermes plugins " + ("sync" if owner in self._lock["wanted"] else f"install {owner}")
                found.append(Fault(plugin=label, phase="discover", where=where, error=text, hint=hint))
        for one in index.plugins:
            state = self.state(one)
            if state in ("changed", "foreign"):
                found.append(one.faulted("consent", where, state.reason, f"hermes plugins enable {one.label}"))
        return found

    def _set(self, installed: Installed, state: str, **more: "JSON") -> None:
        import time

        row = {"state": state, "owner": installed.owner, "version": installed.version, **more}
        with self._changing() as lock:
            lock["plugins"][installed.label] = {**row, "since": time.strftime("%Y-%m-%d")}

    def _read(self) -> "tuple[JSON, str]":
        """Return the lock file, and what is wrong with it."""
        from hermes_core.config.files import read_bytes
        from hermes_core.errors import UserError

        empty: JSON = {"plugins": {}, "wanted": {}}
        try:
            if (data := read_bytes(self._file)) is None:
                return empty, ""
            lock = {**empty, **json.loads(data)}
            rows = [*lock["plugins"].values(), *lock["wanted"].values()]
            if all(isinstance(row, dict) for row in rows) and all("owner" in row for row in lock["plugins"].values()):
                return lock, ""
            return empty, "is not a lock file of Hermes"
        except UserError as error:
            return empty, f"cannot be read: {error.text.rpartition(': ')[2]}"
        except (ValueError, TypeError, AttributeError) as error:
            return empty, f"cannot be read: {error}"

    @contextmanager
    def _changing(self) -> "Iterator[JSON]":
        from pathlib import Path

        from hermes_atomic.whole import replace
        from hermes_core.config.files import explain
        from hermes_core.errors import UserError

        lock, broken = self._read()  # another process may have written since; what it wrote must not be lost
        if broken:
            raise UserError(f"{self._file} {broken}", hint="Mend or delete it; nothing was changed.")
        yield lock
        path = Path(self._file)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace(path, (json.dumps(lock, indent=2, sort_keys=True) + "\n").encode(), follow=True)
        except OSError as error:
            raise explain(error, "write", path) from None
        self._lock = lock


def asked(manifest: Manifest | None) -> dict[str, str]:
    """Return all a manifest asks for: what is pinned, and how to say it to a person."""
    if manifest is None:
        return {}
    found = {f"secrets:{name}": f"read the secret {name}" for name in manifest.secrets}
    found |= {f"kernel:{name}": ENFORCED[name] for name in manifest.kernel}
    found |= {f"public:{name}": f"answer anybody on the network, without a key, at {name}" for name in manifest.public}
    for table, (verb, _) in _DISCLOSED.items():
        found |= {f"{table}:{name}": f"{verb} {name}" for name in getattr(manifest, table)}
    found |= {f"hooks:{name}": f"take part in {name}" for name in manifest.hooks}
    found |= {f"{table}:{name}": f"add {table} {name}" for table in TABLES for name in manifest.contributes[table]}
    return found


def enforced(manifest: Manifest) -> list[str]:
    """Say what a plugin can do only because Hermes lets it, for the question before enabling."""
    brokered = ("secrets:", "kernel:", "public:", "hooks:")
    return [text for key, text in asked(manifest).items() if key.startswith(brokered)]


def disclosed(manifest: Manifest) -> list[str]:
    """Say what the author says the plugin does, and Hermes cannot stop."""
    named = {table: ", ".join(getattr(manifest, table)) for table in _DISCLOSED}
    return [f"{verb} {named[table]}" if named[table] else nothing for table, (verb, nothing) in _DISCLOSED.items()]
