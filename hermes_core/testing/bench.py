"""A kernel for one test: an empty index, a throwaway home, and plugins that are put in by hand."""

import contextlib
import inspect
import io
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from hermes_core.brokers import Mailbox
from hermes_core.context import PluginContext
from hermes_core.embed import Distribution, Hermes
from hermes_core.errors import UserError
from hermes_core.hooks import hookimpl
from hermes_core.kinds import (
    Backend,
    Completer,
    ConsoleDriver,
    Jobs,
    Masker,
    Memory,
    Opening,
    Platform,
    Provider,
    Purse,
    Resource,
    Roles,
    Router,
    SecretSource,
    Service,
    SetupStep,
    StoreDriver,
    Tool,
    ToolSource,
    TurnQueue,
)
from hermes_core.plugins.index import Index, Installed
from hermes_core.plugins.manifest import Manifest, parse_manifest, read_manifest
from hermes_core.slash import Place, SlashCommands
from hermes_core.testing.contract_base import manifest_path
from hermes_core.testing.fakes import FakeBackend, FakeWorkspace
from hermes_core.testing.plain_guard import judge_command
from hermes_core.testing.registered import implementations
from hermes_core.types import JSON, Message, Session

__all__ = ["Bench"]

_PLAIN = judge_command.__module__

TABLES: dict[type, tuple[str, str]] = {
    Provider: ("provider", "providers"),
    Router: ("provider", "routers"),
    Tool: ("tool", "tools"),
    ToolSource: ("tool", "tool_sources"),
    Backend: ("backend", "backends"),
    Platform: ("platform", "platforms"),
    Memory: ("memory", "memories"),
    TurnQueue: ("backend", "queues"),
    StoreDriver: ("backend", "stores"),
    Service: ("tool", "services"),
    Resource: ("tool", "resources"),
    Jobs: ("tool", "jobs"),
    Completer: ("tool", "completers"),
    Opening: ("tool", "openings"),
    Mailbox: ("platform", "mailboxes"),
    Purse: ("tool", "purses"),
    Roles: ("tool", "roles"),
    ConsoleDriver: ("platform", "consoles"),
    Masker: ("tool", "maskers"),
    SecretSource: ("tool", "secret_sources"),
    SetupStep: ("tool", "setup"),
}


class Bench(Hermes):
    """What the ``hermes`` fixture gives: a Hermes in which only what the test put in is installed.

    Put plugins in and configure it before the first turn; the fixture closes it. Commands and files of tools go to
    ``workspace``, a real folder beside the home, unless the test configures another ``terminal.backend``. A guard that
    blocks nothing stands in until the test puts one in.
    """

    def __init__(self, home: Path) -> None:
        quick = {"agent.backoff_seconds": 0}  # nothing is waited for in a test
        house = Distribution(name="hermes", builtin=("bench-*",))
        super().__init__(house, home=home, config=quick, strict=True, index=Index(()))
        self._plain = _installed(
            parse_manifest(_declared("plain-guard", (judge_command,)), where="plain-guard"), _PLAIN
        )
        self._put_in = [self._plain]
        folder = home.with_name("work")
        folder.mkdir(parents=True, exist_ok=True)
        self.workspace = FakeWorkspace(folder=folder)
        self.tmp_plugin(FakeBackend(self.workspace), name="fake")
        self.configure({"terminal.backend": "fake"})

    def tmp_plugin(self, *things: object, name: str = "", manifest: Mapping[str, JSON] | None = None) -> str:
        """Install and enable a plugin made of these things; its label.

        A thing is an instance of a kind, a function marked ``@hookimpl``, or the name of a real plugin's module, which
        brings its own manifest. ``manifest`` adds tables such as ``permissions``.
        """
        self._refuse_when_running("Plugins are put in")
        if len(things) == 1 and isinstance(things[0], str):
            module = things[0]
            path = manifest_path(module)
            found = read_manifest(path)
        else:
            name = name or f"tmp{len(self._put_in) + 1}"
            module, path = f"hermes_bench_{id(self)}_{name}", Path(f"hermes_bench_{name}")
            found = parse_manifest({**_declared(name, things), **(manifest or {})}, where=name)
            sys.modules[module] = _module(module, things)
        if "judge_command" in found.hooks:  # a guard of the test's own takes the place of the plain one
            self._put_in = [one for one in self._put_in if one is not self._plain]
        self._put_in.append(_installed(found, module, path.parent))
        self._index = Index(self._put_in)
        return found.label

    async def command(self, name: str, *words: str) -> str:
        """Run a command of a plugin that was put in, by its name, and give what it says on stdout.

        Raises what it raises, and UserError when none has that name.
        """
        runtime = self.runtime
        runtime.loader.load_contributing("commands")
        found = {one.name: one for _, one in runtime.dispatch.contributions("register_cli_commands")}
        if name not in found:
            raise UserError(f"No plugin adds the command {name!r}.")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            done = found[name].build().main([*words], prog_name=f"hermes {name}", standalone_mode=False)
            if inspect.isawaitable(done):
                await done
        return said.getvalue()

    async def slash(self, line: str, session: Session | None = None) -> str | Message:
        """Type a slash command into a session as its person at a terminal does, and give what it answers.

        It is not asked whether it may take something away. Without a ``session`` it is typed into a new one. Raises
        what the command raises, and UserError when there is none of the name.
        """
        from hermes_core.testing.typist import Typist

        name, _, rest = line.removeprefix("/").partition(" ")
        return await self.slashes("terminal").run(Typist(self.runtime, session), name, rest.strip())

    async def serve(self, platform: Platform, session: str = "", driver: str = "hermes_platform_cli") -> None:
        """Carry a platform until its people leave, as ``hermes`` does, by the console driver of a plugin's module."""
        from hermes_core.agent.console import serve

        hook = dict(implementations(driver))["register_consoles"]
        await serve(self.runtime, platform, session, hook(ctx=self.context(driver))[0])

    def context(self, module: str) -> PluginContext:
        """What the plugin of a module is given by this kernel, with the permissions of its manifest."""
        path = manifest_path(module)
        return self.runtime.plugin_context(_installed(read_manifest(path), module, path.parent))

    def slashes(self, place: Place) -> SlashCommands:
        """The slash commands that there are at a place, as ``ctx.slash`` gives them to a host."""
        from hermes_core.agent.slash.registry import Registry

        return Registry(self.runtime, place)

    def configure(self, settings: Mapping[str, JSON]) -> None:
        """Set dotted settings, as if they stood in the user's file: ``{"policy.mode": "off"}``."""
        self._refuse_when_running("Settings are made")
        self._config.update(settings)

    async def close(self) -> None:
        """Close the kernel and forget the modules that were made up."""
        await super().close()
        for one in self._put_in:
            if one.module.startswith(f"hermes_bench_{id(self)}_"):
                sys.modules.pop(one.module, None)

    def _refuse_when_running(self, what: str) -> None:
        if self._runtime is not None:
            raise UserError(f"{what} before the first turn; this Hermes is running.")


def _installed(found: Manifest, module: str, folder: Path = Path()) -> Installed:
    distribution = f"bench-{found.kind}-{found.name}"
    return Installed(
        label=found.label, manifest=found, module=module, path=str(folder), distribution=distribution, version="0"
    )


def _tabled(things: tuple[object, ...]) -> dict[str, list[Any]]:
    tables: dict[str, list[Any]] = {}
    for thing in things:
        for kind, (_, table) in TABLES.items():
            if isinstance(thing, kind):
                tables.setdefault(table, []).append(thing)
    return tables


def _hooks(things: tuple[object, ...]) -> list[Any]:
    return [thing for thing in things if hasattr(thing, "hermes_impl")]


def _declared(name: str, things: tuple[object, ...]) -> dict[str, JSON]:
    tables = _tabled(things)
    strange = len(things) - sum(map(len, tables.values())) - len(_hooks(things))
    if strange:
        raise UserError(f"{strange} of the things for plugin {name} are neither a kind nor marked @hookimpl.")
    kinds = [kind for kind, table in TABLES.values() if table in tables] or ["tool"]
    return {
        "api": 1,
        "name": name,
        "kind": kinds[0],
        "summary": "Made up for a test.",
        "contributes": {
            t: [n for one in given for n in (one.name, *getattr(one, "aliases", ()))] for t, given in tables.items()
        },
        "hooks": {"use": [h.__name__ for h in _hooks(things) if not h.__name__.startswith("register_")]},
    }


def _module(name: str, things: tuple[object, ...]) -> ModuleType:
    module = ModuleType(name, "Made up for a test.")
    for hook in _hooks(things):
        setattr(module, hook.__name__, hook)
    for table, given in _tabled(things).items():
        setattr(module, f"register_{table}", hookimpl(_giving(given)))
    return module


def _giving(things: list[Any]) -> Callable[[], list[Any]]:
    def register() -> list[Any]:
        return things

    return register
