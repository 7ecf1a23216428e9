"""The sources: command-line stores after ``stores.toml``, and programs of the person's own."""

import json
import os
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.kinds import SecretSource
from hermes_tool_secrets.config import Config
from hermes_tool_secrets.process import Answer, run

__all__ = ["CommandLineStore", "OwnPrograms", "missing", "sources_of"]


@cache
def _rows() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_name("stores.toml").read_text("utf-8"))


def sources_of(ctx: PluginContext) -> Sequence[SecretSource]:
    """All of them; none reads anything yet."""
    return [*(CommandLineStore(name, ctx) for name in ("pass", "op", "bws")), OwnPrograms(ctx)]


def missing(name: str, config: Config) -> str:
    """Say that the program of a store is not there, and how it is had; empty where it is, or the store has none."""
    row = _rows().get(name)
    return f"install it: {row['install']}" if row and not _found(config.programs.get(name, name)) else ""


class CommandLineStore(SecretSource):
    """A store that a program reads: ``pass``, ``op``, ``bws``."""

    def __init__(self, name: str, ctx: PluginContext) -> None:
        self.name, self._ctx = name, ctx
        self._config: Config = ctx.config or Config()

    def read(self, reference: str, seconds: float) -> str:
        """Return the secret at a path of ``pass``, behind ``op:`` as 1Password shows it, with an id of Bitwarden."""
        if reference.startswith("-") or not reference.isprintable():
            raise UserError("This is no reference.", hint=f"Correct it in secrets.env: {self.name}:REFERENCE")
        row = _rows()[self.name]
        words = [word.replace("{reference}", reference) for word in row["read"]]
        return _taken(row["take"], self._printed(words, reference, seconds), self.name)

    def read_all(self, seconds: float) -> Mapping[str, str]:
        """Return all that Bitwarden shows this machine account, by keys."""
        row = _rows()[self.name]
        if "all" not in row:
            return super().read_all(seconds)
        found = _parsed(self._printed(row["all"], "", seconds), list, self.name)
        return {one["key"]: one["value"] for one in found if isinstance(one, dict) and {"key", "value"} <= one.keys()}

    def _printed(self, words: Sequence[str], reference: str, seconds: float) -> bytes:
        row = _rows()[self.name]
        program = _found(self._config.programs.get(self.name, self.name))
        if not program:
            raise UserError(f"The program {self.name} is not on this machine.", hint=f"Install it: {row['install']}")
        argv = [program, *self._config.arguments.get(self.name, ()), *words]
        try:
            answer = run(argv, seconds, row["variables"], self._secrets(row.get("secrets", ())))
        except OSError as error:
            raise UserError(f"{program} cannot be started: {error.strerror}.", hint="Mend or replace it.") from None
        if answer.status == 0 and not answer.long:
            return answer.printed
        said = answer.said.lower()
        for known in row["says"] if answer.status else ():
            if known["words"] in said:
                raise UserError(known["wrong"], hint=known["mend"].replace("{reference}", reference))
        raise _failed(self.name, answer, seconds, row["unlock"].replace("{reference}", reference))

    def _secrets(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return what the program is let in with: its token, from the environment, ``.env`` or another source."""
        wanted = [one for name in names for one in (_like(name) if name.endswith("*") else [name])]
        return {name: value for name in wanted if (value := self._ctx.secrets.get(name))}


class OwnPrograms(SecretSource):
    """Programs of the person's own: an argument list each, and no shell."""

    name = "command"

    def __init__(self, ctx: PluginContext) -> None:
        self._config: Config = ctx.config or Config()

    def read(self, reference: str, seconds: float) -> str:
        """Return what the program of that name in ``tools.secrets.commands`` prints, without the end of its line."""
        argv = self._config.commands.get(reference, ())
        return _taken("text", _output(argv, f"tools.secrets.commands.{reference}", seconds), reference)

    def read_all(self, seconds: float) -> Mapping[str, str]:
        """Return the JSON object that ``tools.secrets.bulk_command`` prints."""
        printed = _output(self._config.bulk_command, "tools.secrets.bulk_command", seconds)
        return dict(_parsed(printed, dict, "The program"))


def _output(argv: Sequence[str], setting: str, seconds: float) -> bytes:
    if not argv:
        raise UserError(f"{setting} names no program.", hint=f"hermes config set {setting} '[/path/of/it, WORDS]'")
    program = _found(argv[0])
    if not program:
        raise UserError(f"The program {argv[0]} of {setting} is not there.", hint="Correct its path.")
    try:
        answer = run([program, *argv[1:]], seconds, (), {})
    except OSError as error:
        raise UserError(f"{program} cannot be started: {error.strerror}.", hint="Mend it.") from None
    if answer.status == 0 and not answer.long:
        return answer.printed
    raise _failed(Path(program).name, answer, seconds, "Run it yourself, as what it says is not shown here")


def _failed(name: str, answer: Answer, seconds: float, mend: str) -> UserError:
    """Say how it ended, and nothing of what it said: that may be the secret."""
    if answer.long:
        return UserError(f"{name} printed more than a megabyte, which is no secret.", hint="Look at what is there.")
    if answer.status is None:
        longer = "or give it longer: hermes config set secrets.timeout_seconds 30"
        return UserError(f"{name} did not end within {seconds:g} s.", hint=f"{mend}; {longer}")
    return UserError(f"{name} ended with status {answer.status}.", hint=mend)


def _taken(take: str, printed: bytes, name: str) -> str:
    if take == "value":
        value = _parsed(printed, dict, name).get("value", "")
        return value if isinstance(value, str) else ""
    text = _text(printed, name)
    if take == "text":
        return text.removesuffix("\n").removesuffix("\r")
    first, _, rest = text.partition("\n")
    if rest.lstrip().startswith(("├", "└", "|--", "`--")):  # the list of what is in a folder
        raise UserError("That is a folder.", hint=f"Name what is in it; see: {name} ls")
    return first.removesuffix("\r")


def _parsed(printed: bytes, kind: type, name: str) -> Any:
    try:
        found = json.loads(_text(printed, name))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, kind):
        raise UserError(f"{name} printed something else than the JSON it should.", hint="Update it.") from None
    return found


def _text(printed: bytes, name: str) -> str:
    try:
        return printed.decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"What {name} printed is no text.", hint="Keep the secret as text there.") from None


def _like(pattern: str) -> list[str]:
    return [name for name in os.environ if name.startswith(pattern.removesuffix("*"))]


def _found(program: str) -> str:
    """Return where a program lies; folders of the search path that depend on where we are do not count."""
    path = os.pathsep.join(one for one in os.environ.get("PATH", "").split(os.pathsep) if one.startswith("/"))
    return shutil.which(program, path=path) or "" if "/" not in program or program.startswith("/") else ""
