"""What every plugin promises, whatever its kind. The kinds' contracts inherit from here.

A contract test is never overridden, deleted or joined by others in the same class; the collection hook in
``pytest_plugin`` sees to it. What a plugin cannot keep yet it says aloud: ``xfails = {"test_name": "reason"}``.
"""

import asyncio
import importlib
import importlib.util
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from hermes_core.errors import PluginError
from hermes_core.plugins.implementation import KINDS
from hermes_core.plugins.manifest import RECORDS
from hermes_core.testing.fake_context import plugin_context
from hermes_core.testing.leftovers import Traces
from hermes_core.testing.project import manifest_path, plugins_imported, project_folder, project_of
from hermes_core.testing.registered import (
    TABLES,
    contributions,
    declared_names,
    hook_problems,
    implementations,
    migrations_of,
    name_of,
    plugin_of,
    record_problems,
)
from hermes_core.testing.witness import Witness, off_the_record
from hermes_core.types import JSON

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_core.plugins.manifest import Manifest

__all__ = ["PluginContract", "deviations", "manifest_path"]

_IMPORT = """
import sys
import hermes_core.hooks, hermes_core.kinds, hermes_core.context, hermes_core.options, hermes_core.errors
before = set(sys.modules)
import {module}
new = {{n.partition('.')[0] for n in set(sys.modules) - before}}
known = set(sys.stdlib_module_names) | {{'hermes_core', 'attr', 'attrs', 'pluggy', '{top}'}}
private = {{n for n in set(sys.modules) - before if n.startswith('hermes_core.') and n.split('.')[1] in
    ('plugins', 'config', 'store', 'agent', 'cli', 'embed', 'testing')}}
print(' '.join(sorted((new - known) | private)))
"""


class PluginContract:
    """Inherit for a plugin that is nothing but hooks; else inherit from the contract of its kind.

    ``module`` is the plugin's package. ``settings`` is its configuration section for the tests, ``secrets`` the values
    of the secrets it declares. ``xfails`` names contract tests that fail for now, each with its reason.
    """

    module: ClassVar[str] = ""
    kind: ClassVar[str] = ""
    settings: ClassVar[Mapping[str, JSON]] = {}
    secrets: ClassVar[Mapping[str, str]] = {}
    xfails: ClassVar[Mapping[str, str]] = {}

    @pytest.fixture
    def manifest(self) -> "Manifest":
        """The plugin's manifest."""
        return self.read_manifest()

    @pytest.fixture
    def context(self, manifest: "Manifest", tmp_path: Path) -> "PluginContext":
        """What the plugin's register hooks are given."""
        beside = manifest_path(self.module).parent
        return plugin_context(
            manifest,
            tmp_path / "home",
            config=_configured(manifest, self.settings),
            secrets=self.secrets,
            skills=[(manifest.name, beside / folder) for folder in manifest.contributes["skills"]],
            migrations=lambda: migrations_of(self.module),
        )

    @pytest.fixture
    def contributed(self, context: "PluginContext") -> Mapping[str, list[Any]]:
        """What the plugin's register hooks give, by manifest table."""
        return contributions(self.module, context)

    @pytest.fixture
    def subject(self) -> Any:
        """The object that ``exercise`` uses; the kinds give theirs."""
        return None

    async def exercise(self, subject: Any) -> None:
        """Use the subject once and close it; the kinds know how."""

    @classmethod
    def read_manifest(cls) -> "Manifest":
        """The manifest beside the module. Raises ManifestError."""
        assert cls.module, f"{cls.__name__} says nothing about its plugin; write module = 'hermes_kind_name'."
        path = manifest_path(cls.module)
        return _manifest(path, path.stat().st_mtime_ns if path.is_file() else 0)

    @classmethod
    def witness(cls) -> Witness | None:
        """Who watches the contract tests; None when there is no manifest to compare with."""
        try:
            manifest = cls.read_manifest()
        except (PluginError, AssertionError, ImportError, OSError):
            return None
        return Witness(hosts=manifest.network, programs=manifest.processes, paths=manifest.files)

    def test_the_manifest_is_valid(self) -> None:
        """A plugin says what it is in a manifest that this kernel understands.

        If this fails: the message names the file and the key. The kind in the manifest must be the kind of the contract
        class, and the entry point in pyproject.toml must carry the manifest's name and the plugin's module.
        """
        manifest = self.read_manifest()
        assert not self.kind or manifest.kind == self.kind, (
            f"the manifest says kind = {manifest.kind!r}; {type(self).__name__} tests a {self.kind}"
        )
        assert manifest.summary.strip(), "the manifest has no summary; write one sentence for `hermes plugins list`"
        project = project_of(self.module)
        if project is None:
            return
        points = project.get("entry-points", {}).get("hermes.plugins", {})
        assert points == {manifest.name: self.module}, (
            f'pyproject.toml needs exactly [project.entry-points."hermes.plugins"] {manifest.name} = "{self.module}", '
            f"and has {points}"
        )
        others = plugins_imported(self.module)
        assert not others, f"a plugin may not import another plugin: {', '.join(others)}"

    def test_it_contributes_exactly_what_it_declares(
        self, manifest: "Manifest", contributed: Mapping[str, list[Any]]
    ) -> None:
        """The names in the manifest's [contributes] are the names that the register hooks give, no more and no fewer.

        If this fails: a request is routed by the manifest before anything is imported, so an undeclared name is never
        reached and a declared one that is missing is a promise broken. Make the two lists equal.
        """

        for table, hook in TABLES.items():
            declared = declared_names(manifest, table)
            given = [name_of(one, table) for one in contributed.get(table, [])]
            twice = {name for name in given if given.count(name) > 1}
            assert not twice, f"{hook} gives {', '.join(sorted(twice))} more than once"
            astray = [name for name in given if not manifest.declares(table, name)]
            astray += [name for name in declared if name not in given and not name.endswith("*")]
            assert not astray, f"[contributes] {table} = {sorted(declared)}, and {hook} gives {sorted(given)}"
            kind = KINDS[hook][1]
            wrong = [thing for thing in contributed.get(table, []) if not isinstance(thing, kind)]
            assert not wrong, f"{hook} must give instances of {kind.__name__}, and gives {wrong}"
        folder = manifest_path(self.module).parent
        absent = [s for s in manifest.contributes.get("skills", ()) if not (folder / s).is_dir()]
        assert not absent, f"[contributes] skills names folders that are not beside the manifest: {absent}"

    def test_its_commands_explain_themselves(self, manifest: "Manifest", contributed: Mapping[str, list[Any]]) -> None:
        """Each command is described in the manifest, and can be made; only single commands are ``async def``.

        If this fails: write [commands."its words"] with a summary into the manifest: help and the policy read it there.
        Give the click function a docstring, and keep a group of commands a plain ``def``. One that is the default takes
        --oneshot TEXT.
        """
        import click

        described = manifest.data.get("commands", {})
        for command in contributed.get("commands", []):
            assert command.name in described, f'{command.name} has no table [commands."{command.name}"] in the manifest'
            made = command.build()
            assert isinstance(made, click.Command), f"build of {command.name} gives {made!r}, not a click command"
            assert made.help, f"{command.name} has no docstring, which is its --help"
            takes = {word for option in made.params for word in option.opts}
            mute = described[command.name].get("default", False) and "--oneshot" not in takes
            assert not mute, f"{command.name} is the default, and has no option --oneshot: `-z TEXT` is given to it so"
            waits = isinstance(made, click.Group) and inspect.iscoroutinefunction(made.callback)
            assert not waits, f"the group {command.name} is an 'async def'; only its commands may be"

    def test_what_people_see_has_records(self, manifest: "Manifest", contributed: Mapping[str, list[Any]]) -> None:
        """Each command, slash command and setup step has a table in the manifest, which says the same as the code.

        If this fails: write the table that is named, [slash.NAME] or [setup.NAME], with a summary. Help, menus and the
        policy read it there, before the plugin is imported.
        """
        wrong = [one for table in RECORDS for one in record_problems(manifest, table, contributed.get(table, []))]
        assert not wrong, "; ".join(wrong)

    def test_importing_it_is_light(self) -> None:
        """Importing the plugin's module imports no third-party module and no private room of the kernel.

        If this fails: every start of Hermes with this plugin enabled pays for the modules that are listed. Move each
        import into the function that needs it.
        """
        done = _imported(self.module.partition(":")[0], str(manifest_path(self.module)))
        assert done.returncode == 0, f"importing {self.module} fails:\n{done.stderr}"
        assert not done.stdout.split(), f"importing {self.module} also imports {', '.join(done.stdout.split())}"

    def test_registering_it_does_no_io(self, context: "PluginContext") -> None:
        """The register hooks connect to nothing, start nothing and write nothing.

        If this fails: registering happens at start-up, for everybody, on every start. Do the work when it is first
        needed, in an async method.
        """
        plugin_of(self.module)
        with Witness(strict=True) as witness:
            contributions(self.module, context)
        done = [f"connects to {h}" for h in witness.hosts] + [f"starts {p}" for p in witness.programs]
        done += [f"changes {f}" for f in witness.written]
        assert not done, f"registering {self.module} {', '.join(done)}"

    def test_every_hook_matches_its_spec(self, manifest: "Manifest") -> None:
        """Each hookimpl has a known name, asks only for arguments the hook has, and is async where that is due.

        If this fails: the kernel refuses the plugin at registration with the same words. Hooks other than register_*
        must also stand in the manifest under [hooks] use.
        """
        problems = [p for n, f in implementations(self.module) for p in hook_problems(n, f, manifest.hooks)]
        unused = set(manifest.hooks) - {name for name, _ in implementations(self.module)}
        problems += [f"[hooks] use names {name}, and {self.module} has no such hookimpl" for name in sorted(unused)]
        assert not problems, "\n".join(problems)

    async def test_its_services_end_when_they_are_stopped(
        self, contributed: Mapping[str, list[Any]], manifest: "Manifest"
    ) -> None:
        """Each service runs, says how it is without waiting, and is gone within two seconds of being cancelled.

        If this fails: let go of CancelledError. What may take longer is finished by ``run`` when it begins again. A
        service that cannot work here (no key, no network) raises UserError or ends, which is fine.
        """
        from hermes_core.host import CLOSE

        for service in contributed.get("services", ()):
            running = asyncio.ensure_future(service.run())
            await asyncio.wait({running}, timeout=0.1)
            assert isinstance(service.health(), str), f"health of {service.name} is a line of text"
            running.cancel()
            done, _ = await asyncio.wait({running}, timeout=CLOSE)
            assert done, f"{service.name} did not end within {CLOSE:g} s of being stopped"

    @pytest.mark.asyncio
    async def test_its_resources_are_opened_and_closed(
        self, contributed: Mapping[str, list[Any]], tmp_path: Path
    ) -> None:
        """Each resource opens, is alive, leaves nothing when it is closed or its opening cancelled, and opens again.

        If this fails: ``close`` ends all that ``open`` started, within five seconds; an ``open`` that is cancelled
        ends it itself. One that cannot be opened here raises ToolError, which is fine.
        """
        from hermes_core.testing.resources import problems

        found = [line for one in contributed.get("resources", ()) for line in await problems(one, tmp_path)]
        assert not found, "; ".join(found)

    def test_its_tables_are_its_own(self, manifest: "Manifest", tmp_path: Path) -> None:
        """The migrations lead an empty database to the head that is named, touching names of the plugin alone.

        If this fails: the message says which. Every table and index begins with KIND_NAME__, and ``head`` is the id of
        the newest revision: the kernel compares it before it imports alembic. The manifest needs ``store.tables``.
        """
        from hermes_core.store.file_database import FileDatabase
        from hermes_core.store.migrate import to_head
        from hermes_core.store.tables import Tables

        given = migrations_of(self.module)
        assert bool(given) == ("store.tables" in manifest.kernel), (
            "register_migrations and [permissions] kernel = ['store.tables'] belong together"
        )
        assert len(given) <= 1, "give one Migration: the folder holds all revisions"
        for migration in given:
            database = FileDatabase(tmp_path / "state.db")
            to_head(database)
            for _ in ("makes them", "finds them made"):
                Tables(database, manifest.label, migration).prepare()
            database.close()

    def test_its_settings_are_sound(self, manifest: "Manifest") -> None:
        """The config class explains each setting, refuses unknown keys, and reads back what it writes.

        If this fails: make the class with @settings, give each setting option("one sentence of help", default=…), and
        use only types that YAML has. Settings without a default go into the contract class as ``settings``.
        """
        if not manifest.config_class:
            assert not self.settings, "the manifest names no config class, and the contract class has settings"
            return
        import attrs

        from hermes_core.config.settings import structure

        cls = _import_name(manifest.config_class)
        assert attrs.has(cls), f"{manifest.config_class} is not a @settings class"
        assert manifest.config_section, "the manifest names a config class but no [config] section"
        silent = [f.name for f in attrs.fields(cls) if not f.metadata.get("help")]
        assert not silent, f"these settings have no help: {', '.join(silent)}"
        value, problems = structure(cls, dict(self.settings), manifest.config_section)
        assert value is not None, f"the section cannot be read: {problems}"
        _, unknown = structure(cls, {**self.settings, "no_such_setting_": 1}, manifest.config_section)
        assert unknown, "an unknown key is not refused"
        written = json.loads(json.dumps(attrs.asdict(value)))
        again, problems = structure(cls, written, manifest.config_section)
        assert again == value, f"settings do not survive writing and reading: {problems or again}"

    def test_its_readme_is_up_to_date(self, manifest: "Manifest") -> None:
        """The settings table in the README is the one that the config class gives.

        If this fails: replace the block between the markers with the table in the message. A README without markers
        is left alone.
        """
        from hermes_core.testing.readme import current_block, settings_block

        readme = project_folder(self.module) / "README.md"
        if not manifest.config_class or not readme.is_file():
            return
        there = current_block(readme.read_text(encoding="utf-8"))
        wanted = settings_block(_import_name(manifest.config_class), manifest.config_section)
        assert there is None or there.strip() == wanted.strip(), f"{readme} should say between its markers:\n\n{wanted}"

    @pytest.mark.asyncio
    async def test_it_leaves_nothing_behind(self, subject: Any) -> None:
        """After its last call and close, no task, thread, socket or child process of the plugin is left.

        If this fails: close() must end what the object started: cancel and await tasks, join threads, close clients.
        A plugin can be unloaded and Hermes can live on; what leaks, leaks for days.
        """
        before = Traces.now()
        await self.exercise(subject)
        left = await before.left()
        assert not left, "after close: " + "; ".join(left)


def deviations(cls: type) -> list[str]:
    """How a contract class was bent: overridden, deleted, crowded or excused without a reason; one sentence each."""
    promised = {n for c in cls.__mro__ if _is_kit(c) for n in vars(c) if n.startswith("test_")}
    found = []
    for owner in (c for c in cls.__mro__ if not _is_kit(c)):
        for name in (n for n in vars(owner) if n.startswith("test_")):
            if name in promised:
                found.append(f"{owner.__name__} overrides {name}; write xfails = {{{name!r}: 'why'}} instead")
            else:
                found.append(f"{owner.__name__} adds {name}; put it into a class of its own")
    for name, reason in getattr(cls, "xfails", {}).items():
        if name not in promised:
            found.append(f"xfails names {name}, which is no contract test")
        elif not str(reason).strip():
            found.append(f"xfails gives no reason for {name}")
    return found


def _is_kit(cls: type) -> bool:
    return cls is object or cls.__module__.startswith("hermes_core.testing.contract_")


@cache
def _manifest(path: Path, changed: int) -> "Manifest":
    """The manifest of a file; every contract test asks for it, some more than once."""
    from hermes_core.plugins.manifest import read_manifest

    return read_manifest(path)


@cache
def _imported(module: str, manifest: str) -> "subprocess.CompletedProcess[str]":
    """What a new interpreter says that imports the module; asked once for all contracts of a plugin."""
    code = _IMPORT.format(module=module, top=module.partition(".")[0])
    path = os.pathsep.join(p for p in sys.path if p)
    with off_the_record():
        return subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": path},
        )


def _import_name(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _configured(manifest: "Manifest", settings: Mapping[str, JSON]) -> Any:
    if not manifest.config_class:
        return None
    from hermes_core.config.settings import structure

    value, problems = structure(_import_name(manifest.config_class), dict(settings), manifest.config_section)
    assert value is not None, f"the contract class's settings do not fit {manifest.config_class}: {problems}"
    return value
