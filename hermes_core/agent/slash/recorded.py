"""Slash commands as their manifests tell them: a plugin is imported when one of its commands is used."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from attrs import evolve

from hermes_core.agent.runtime import Runtime
from hermes_core.errors import ContractError, PluginError
from hermes_core.plugins.index import Installed
from hermes_core.records import Record
from hermes_core.types import Choice, Message, Session, SlashCommand

__all__ = ["slash_commands"]


def slash_commands(runtime: Runtime) -> Iterator[tuple[str, SlashCommand]]:
    """Yield those of enabled plugins with their owners' labels, who wins a clash first.

    Nothing is imported for what has a record; where a name is only listed, the plugin's code says the rest.
    """
    for owner in runtime.loader.contributing("slash"):
        records = owner.manifest.records("slash").values() if owner.manifest else ()
        yield from ((owner.label, _Recorded(runtime, owner, one).command) for one in records if one.told)
        if listed := {one.words for one in records if not one.told}:
            runtime.loader.load(owner)
            for one in _given(runtime, owner):
                if one.name in listed:
                    yield owner.label, evolve(one, aliases=tuple(name for name in one.aliases if name in listed))


def _given(runtime: Runtime, owner: Installed) -> list[SlashCommand]:
    given = runtime.dispatch.contributions("register_slash_commands")
    return [command for label, command in given if label == owner.label]


class _Recorded:
    """One that has a record. The record holds: who may run it, and where, is not for code to say."""

    def __init__(self, runtime: Runtime, owner: Installed, record: Record) -> None:
        self._runtime, self._owner, self._record = runtime, owner, record

    @property
    def command(self) -> SlashCommand:
        """The command, as it is shown, completed and run."""
        one, told = self._record, self._record.told
        return SlashCommand(
            name=one.words,
            summary=one.summary,
            group=one.group,
            who=one.who,  # type: ignore[arg-type]
            run=self._run,
            options=self._options,
            confirm=self._confirm if told.get("confirm") else None,
            **{
                name: told[name]
                for name in ("usage", "where", "aliases", "at_once", "each", "examples")
                if name in told
            },
        )

    @cached_property
    def _whole(self) -> SlashCommand:
        """What the plugin gives. Raises PluginError, UserError where it cannot be used."""
        self._runtime.loader.load(self._owner, named=True)
        name = self._record.words
        found = next((one for one in _given(self._runtime, self._owner) if one.name == name), None)
        if found is None:
            raise self._owner.error(PluginError, f"it adds no command /{name}")
        if found.confirm and not self._record.told.get("confirm"):
            text = f"/{name} asks before a loss, and its record says nothing of it"
            raise self._owner.error(ContractError, text, f"Write [slash.{name}] confirm = true.")
        return found

    async def _run(self, session: Session, rest: str) -> str | Message:
        return await self._whole.run(session, rest)

    async def _options(self, session: Session, rest: str) -> Sequence[Choice]:
        options = self._whole.options
        return await options(session, rest) if options else ()

    def _confirm(self, rest: str) -> str:
        confirm = self._whole.confirm
        return confirm(rest) if confirm else ""
