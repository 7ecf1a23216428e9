"""A plugin's own setup step at a terminal: its fields, its login, its test."""

from collections.abc import Mapping

import click

from hermes_core.context import PluginContext
from hermes_core.errors import ConfigError, HermesError, UserError
from hermes_core.kinds import LoginPrompt, SetupField, SetupStep
from hermes_platform_cli.commands.questions import Changes, ask, check, confirm, settle, tell

__all__ = ["ask_fields", "run_step"]


async def run_step(
    ctx: PluginContext, changes: Changes, step: SetupStep, *, said: Mapping[str, str], person: bool, attempt: bool
) -> list[str]:
    """Set one thing up: ask, test, write. What was written, without secrets. Raises HermesError, click.Abort."""
    if told := [one for one in step.fields if one.secret and one.name in said]:
        mend = f"hermes config set {told[0].key} asks for it; with - behind it, it reads standard input."
        raise UserError(f"{told[0].name} is a secret: not in a command, where others see it.", hint=mend)
    if strange := said.keys() - {one.name for one in step.fields}:
        known = ", ".join(one.name for one in step.fields if not one.secret) or "nothing"
        raise UserError(f"{step.name} has no {', '.join(sorted(strange))} to set.", hint=f"It has: {known}.")
    if person:
        tell(f"{step.summary} What stands in brackets is set; Enter keeps it, Ctrl+C changes nothing.")
    while True:
        values = await ask_fields(ctx, changes, step, said=said, person=person)
        try:
            await check(ctx, changes)
            if not (attempt or (person and confirm("Test it now?", default=True))):
                break
            found = await ctx.settings.test(step.name, values)
            click.echo(changes.hidden(found or f"{step.name} works."), err=True)
            break
        except HermesError as error:
            if not person:
                raise
            tell(f"It does not work: {changes.hidden(str(error))}")
            if isinstance(error, ConfigError):  # it could not be written
                changes.clear()
                continue
        if confirm("Keep it all the same?", default=False):
            break
        tell("Then say it anew; Ctrl+C changes nothing.")
        changes.clear()
    return await settle(ctx, changes, person=person)


async def ask_fields(
    ctx: PluginContext, changes: Changes, step: SetupStep, *, said: Mapping[str, str], person: bool
) -> dict[str, str]:
    """Ask for what a step needs, and note it among the changes; what was said, by the names of fields.

    Raises UserError where nobody is there and something is missing.
    """
    values = {one.name: said[one.name] for one in step.fields if one.name in said}
    secrets = [one.key for one in step.fields if one.secret]
    new = not any([await ctx.settings.has_secret(key) for key in secrets])
    if person and step.login_label and confirm(f"Log in {step.login_label}?", default=new):
        values |= await _logged_in(step)
    for one in step.fields:
        kept = await ctx.settings.has_secret(one.key) if one.secret else bool(changes.now(one.key))
        if one.name not in values and person:
            values[one.name] = _answer(one, changes, kept=kept)
        value = values.get(one.name, "")
        if value and (wrong := _wrong(one, changes, value)):
            raise UserError(f"{one.name}: {wrong}")
        if one.required and not value and not kept:
            where = f"export {one.key}=…" if one.secret else f"--set {one.name}=…"
            raise UserError(f"{step.name} needs its {one.name}, which nobody said.", hint=where)
        if value and one.secret:
            changes.secrets[one.key] = value
        elif value and (value != one.default or changes.now(one.key)):
            changes.want(one.key, changes.read(one.key, value))
    return values


async def _logged_in(step: SetupStep) -> Mapping[str, str]:
    """What a login gives. Raises UserError."""
    try:
        return await step.login(_shown)
    except HermesError:
        raise
    except Exception as error:  # a plugin's: nothing came of it, and nothing is written
        raise UserError(f"The login of {step.name} failed: {type(error).__name__}: {error}") from error


def _answer(one: SetupField, changes: Changes, *, kept: bool) -> str:
    """What a person says to one field; empty keeps what is set."""
    there = "; Enter keeps the one that is set" if kept else "" if one.required else "; Enter: none"
    while True:
        if one.secret:
            typed = ask(f"{one.prompt} (not shown{there})", default="", show_default=False, hide_input=True)
        else:
            before = str(changes.now(one.key) or one.default)
            named = f"{one.prompt} ({', '.join(one.choices)})" if one.choices else one.prompt
            typed = ask(named, default=before, show_default=bool(before))
        if not typed and (kept or not one.required):
            return ""
        if not (wrong := _wrong(one, changes, typed)):
            return typed
        click.echo(wrong, err=True)


def _wrong(one: SetupField, changes: Changes, value: str) -> str:
    """What is wrong with an answer; empty when nothing is."""
    if not value:
        return "This is needed."
    if one.choices and value not in one.choices:
        return f"One of: {', '.join(one.choices)}."
    try:
        changes.read(one.key, value)
    except (ValueError, KeyError):
        return "A number is needed." if changes.known[one.key].schema["type"] != "boolean" else "yes or no."
    try:
        return one.check(value) if one.check else ""
    except Exception as error:  # a plugin's; nothing is written that nobody could check
        text = f"It cannot be checked: {type(error).__name__}: {error}"
        raise UserError(f"{one.name}: {text}", hint="Tell the author of the plugin that asks for it.") from error


async def _shown(prompt: LoginPrompt) -> str:
    """Show a step of a login, and take what the person brings back."""
    tell(prompt.text)
    for label, text in (("Open", prompt.url), ("Code", prompt.code), ("Scan as a QR code", prompt.scan)):
        if text:
            click.echo(f"  {label}: {text}", err=True)  # never broken into lines: it is copied
    return ask("Paste it here", hide_input=True) if prompt.paste else ""
