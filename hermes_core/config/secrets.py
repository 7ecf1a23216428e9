"""Secrets: the process environment first, then the home's ``.env``, which only its owner may read."""

import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from hermes_core.config.files import explain, held, write_atomic
from hermes_core.errors import UserError
from hermes_core.types.house import Finding

# Patterns are compiled when first used: most starts need none of them.
_LINE = r"""(?msx)^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*
(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<bare>[^\r\n]*?))
[ \t]*(?:(?:^|(?<=[ \t"']))\#[^\r\n]*)?\r?(?:\n|\Z)"""
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
# What changes how programs start is no secret, and whoever may set it may run anything.
_FORBIDDEN = (
    r"PATH|HOME|SHELL|USER|ENV|IFS|PAGER|EDITOR|VISUAL|BROWSER|BASH_ENV|PROMPT_COMMAND|CDPATH|ZDOTDIR|CLASSPATH"
    r"|(LD|DYLD|PYTHON|NODE|NPM_CONFIG|GIT|PERL5|RUBY|BASH_FUNC|UV|PIP|VIRTUAL)_?\w*"
    r"|(_?JAVA|JDK_JAVA|JAVA_TOOL)_OPTIONS|\w+_HOME|\w+_PROFILE|PERL\w*LIB|SSH_ASKPASS|SSL_CERT_\w+"
)
_ALLOWED = r"\w+_(TOKEN|KEY|SECRET|PASSWORD)|(GITHUB|GITLAB|GITEA)_\w+"


def check_name(name: str) -> None:
    """Refuse what cannot be, or must not be, the name of a secret. Raises UserError."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise UserError(f"{name!r} cannot be a secret's name.", hint="Use letters, digits and _; not a digit first.")
    if re.fullmatch(_FORBIDDEN, name.upper()) and not re.fullmatch(_ALLOWED, name.upper()):
        raise UserError(
            f"{name} changes how programs start; it is never kept as a secret.",
            hint="Set it in the shell that starts Hermes.",
        )


class Secrets:
    """Secrets by name. The file is read when first needed; nothing in here shows a value."""

    __slots__ = ("_cache", "_environ", "_file", "findings")

    def __init__(self, env_file: Path, environ: Mapping[str, str] | None = None) -> None:
        self._file = env_file
        self._environ = os.environ if environ is None else environ
        self._cache: dict[str, str] | None = None
        self.findings: list[Finding] = []  # what had to be mended, for doctor

    def __repr__(self) -> str:
        return f"Secrets({str(self._file)!r})"

    def get(self, name: str) -> str:
        """The secret, or an empty string when it is not set.

        Raises UserError when the file is there and cannot be read.
        """
        return self._environ.get(name) or self._kept().get(name, "")

    def names(self) -> list[str]:
        """The names kept in the file, sorted."""
        return sorted(self._kept())

    def set(self, name: str, value: str) -> None:
        """Keep a secret; other lines and comments stay as they are.

        Raises UserError for a forbidden name and when it cannot be written; the file is then unchanged.
        """
        check_name(name)
        if "\0" in value or (not value.isprintable() and any(0xD800 <= ord(char) < 0xE000 for char in value)):
            raise UserError(f"The value of {name} holds characters that a text file cannot.", hint="Enter it again.")
        line = f"{name}={_quoted(value)}\n"

        def change(text: str) -> str:
            first = next((match for match in re.finditer(_LINE, text) if match["name"] == name), None)
            if first is None:
                return text + ("" if not text or text.endswith("\n") else "\n") + line
            return text[: first.start()] + line + _without(name, text[first.end() :])

        self._change(change)

    def unset(self, name: str) -> bool:
        """Forget a secret; whether the file held it. Raises UserError when it cannot be written."""
        if name not in self._kept():
            return False
        self._change(lambda text: _without(name, text))
        return True

    def _change(self, edit: Callable[[str], str]) -> None:
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with held(self._file.parent):
                text = edit(self._read())
                write_atomic(self._file, text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise explain(error, "write", self._file) from error
        self._cache = None

    def _kept(self) -> dict[str, str]:
        if self._cache is None:
            self._cache = {match["name"]: _value(match) for match in re.finditer(_LINE, self._read())}
        return self._cache

    def _read(self) -> str:
        try:
            with self._file.open("rb") as file:
                self._mend(file.fileno())
                return file.read().decode("utf-8-sig", "surrogateescape")
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            raise explain(error, "read", self._file) from error

    def _mend(self, handle: int) -> None:
        mode = stat.S_IMODE(os.fstat(handle).st_mode)
        if not mode & 0o077:
            return
        try:
            os.fchmod(handle, 0o600)
            text = f"{self._file} could be read by others (mode {mode:o}); it is 600 now."
            self.findings.append(Finding(level="warning", text=text, fix="Renew the secrets in it if others use it."))
        except OSError:
            text = f"{self._file} can be read by others (mode {mode:o})."
            self.findings.append(Finding(level="fault", text=text, fix=f"chmod 600 {self._file}"))


def _without(name: str, text: str) -> str:
    return re.sub(_LINE, lambda match: "" if match["name"] == name else match[0], text)


def _value(match: re.Match[str]) -> str:
    if match["double"] is not None:
        return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), match["double"], flags=re.DOTALL)
    if match["single"] is not None:
        return re.sub(r"\\([\\'])", r"\1", match["single"])
    return match["bare"]


def _quoted(value: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_./:@%+=,~-]*", value):
        return value
    for char, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        value = value.replace(char, escape)
    return f'"{value}"'
