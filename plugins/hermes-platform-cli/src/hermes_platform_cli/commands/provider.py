"""Who answers: asked of a person, or taken from options, and tried before anything is written."""

from collections.abc import Mapping

import click

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_core.types import JSON, Message, Request, Text
from hermes_platform_cli.commands.questions import Changes, ask, asked_one_of, confirm, tell
from hermes_platform_cli.commands.steps import ask_fields
from hermes_tables.tables import emit

__all__ = ["ProviderSetup"]

_FEW = 12  # models shown at once


class ProviderSetup:
    """The provider, how it is reached, and its model. ``given`` are options: provider, base_url, key_env, model."""

    def __init__(self, ctx: PluginContext, changes: Changes, given: Mapping[str, str | None], *, person: bool) -> None:
        self._ctx, self.changes, self._given, self._person = ctx, changes, dict(given), person
        self._ready: set[str] = set()
        self._values: dict[str, str] | None = None  # what was said to the provider's own setup step
        self._failed = ""
        self.name = ""

    async def choose(self) -> None:
        """Ask who answers, and for what that one needs. ``name`` is empty for the automatic choice."""
        config, said = str(self.changes.now("model.provider") or ""), self._given.get("provider") or ""
        known = {*self._ctx.plugins.offered("providers"), *(self.changes.now("providers") or ())}
        if self._person and not said:
            first = await self._shown()
            said = asked_one_of("provider", "Who answers", config or first, known)
        if said and said not in known:
            hint = f"`{self._ctx.program} model list` shows them all."
            raise UnknownName("provider", said, known, hint=hint)
        if said:
            self.changes.want("model.provider", said)
        self.name, self._values = said or config, None
        if self.name:
            there = self.name in self._ready and self.name != self._failed  # one that failed may need another key
            await self._reached(asks=self._person and bool(said) and not there)
        await self._named(config)

    async def _shown(self) -> str:
        """Show who could answer; the first of them."""
        rows = await self._ctx.models.providers()
        self._ready = {row.name for row in rows if row.ready}
        shown = [{"provider": row.name, "ready": "yes", "kind": row.kind} for row in rows if row.ready]
        emit(shown, ("provider", "ready", "kind"), as_json=False, empty="No provider is ready yet.")
        others = ", ".join(row.name for row in rows if not row.ready)
        tell(f"With a key or an address also: {others}.", dim=True)
        return next((row.name for row in rows if row.ready), "")

    async def _reached(self, *, asks: bool) -> None:
        """Address and key of the provider: by its own setup step, else as any provider's are kept."""
        name, changes = self.name, self.changes
        url, variable = self._given.get("base_url") or "", self._given.get("key_env") or ""
        if url:
            changes.want(f"providers.{name}.base_url", url)
        if variable and not await self._ctx.settings.has_secret(variable):
            raise UserError(f"{variable} is set neither in the environment nor in .env.", hint=f"export {variable}=…")
        if not variable and asks and name in self._ctx.plugins.offered("setup"):
            await self._by_its_step()
        elif not variable and asks:
            variable = await self._by_a_key()
        if variable:
            changes.want(f"providers.{name}.key_env", variable)

    async def _by_its_step(self) -> None:
        step = await self._ctx.settings.step(self.name)
        before = set(self.changes.secrets)
        self._values = await ask_fields(self._ctx, self.changes, step, said={}, person=True)
        if named := str(self.changes.now(f"providers.{self.name}.key_env") or ""):
            for key in self.changes.secrets.keys() - before:  # the person keeps this provider's key elsewhere
                self.changes.secrets[named] = self.changes.secrets.pop(key)

    async def _by_a_key(self) -> str:
        """Ask for a key; the name of the secret it is kept as, empty for none."""
        variable = str(self.changes.now(f"providers.{self.name}.key_env") or "") or _key_name(self.name)
        kept = await self._ctx.settings.has_secret(variable)
        there = "; Enter keeps the one that is set" if kept else "; Enter: none"
        key = ask(f"Key of {self.name} (not shown{there})", default="", show_default=False, hide_input=True)
        if key:
            self.changes.secrets[variable] = key
        return variable if key or kept else ""

    async def _named(self, configured: str) -> None:
        """The model."""
        name = self._given.get("model")
        before = str(self.changes.now("model.default") or "") if self.name == configured else ""
        while name is None and self._person:
            name = ask("Model (Enter: its own choice; ? shows them)", default=before, show_default=bool(before))
            if name == "?":
                name = None
                await self._show_models()
        if name is None and "model.provider" in self.changes.settings:
            name = ""  # another provider's model means nothing to this one
        if name is not None:
            self.changes.want("model.default", name)

    async def _show_models(self) -> None:
        try:
            async with self._ctx.settings.trial(self.changes.settings, self.changes.secrets) as beside:
                names = [row.model.name for row in await beside.models.list(self.name)]
        except HermesError as error:
            click.echo(f"It does not say which models it has: {self.changes.hidden(error.text)}", err=True)
            return
        more = f"{self._ctx.program} model list {self.name}"
        rest = f" … and {len(names) - _FEW} more: `{more}`" if len(names) > _FEW else ""
        click.echo(f"  {', '.join(names[:_FEW])}{rest}", err=True)

    async def tried(self, *, attempt: bool) -> None:
        """Ask the provider with what was said, before anything is written.

        Where it fails a person says it anew, or wants it all the same. Raises HermesError when nobody can decide.
        """
        while attempt or (self._person and confirm("Try it now with one small call?", default=True)):
            try:
                if self._values is not None and (found := await self._ctx.settings.test(self.name, self._values)):
                    click.echo(self.changes.hidden(found), err=True)
                click.echo(f"{await self._call()} answers.", err=True)
                return
            except HermesError as error:
                if not self._person:
                    raise
                tell(f"It does not answer: {self.changes.hidden(str(error))}")
            if confirm("Keep it all the same?", default=False):
                return
            tell("Then say it anew; Ctrl+C changes nothing.")
            self.changes.secrets.clear()
            for key in [key for key in self.changes.settings if key.startswith(("model.", "providers."))]:
                del self.changes.settings[key]
            self._given, self._failed, attempt = {}, self.name, True
            await self.choose()

    async def _call(self) -> str:
        """One small call; who answered it."""
        said = (("system", "Answer with one word."), ("user", "Say: ready"))
        messages = tuple(Message(role=role, parts=(Text(text=text),)) for role, text in said)  # type: ignore[arg-type]
        alone: dict[str, JSON] = {"fallback_providers": []} if self.changes.now("fallback_providers") else {}
        async with self._ctx.settings.trial({**self.changes.settings, **alone}, self.changes.secrets) as beside:
            row = await beside.models.current()
            request = Request(model=row.model.name, messages=messages, options={"max_tokens": 64})
            await beside.llm.complete(request)
        return f"{row.model.name} from {row.provider}"


def _key_name(provider: str) -> str:
    """The name under which a provider's key is kept."""
    return "".join(c if c.isalnum() else "_" for c in provider).upper() + "_API_KEY"
