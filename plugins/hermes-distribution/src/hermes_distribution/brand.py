"""A product's name in what Hermes says: in the words of its program text, never in data.

What Hermes says stands in its modules as literals: help, hints, errors, notices, titles, prompts. They are renamed as a
module is loaded. So what a person or a model wrote, a file, or an answer is never touched, and no text is listed twice.
"""

import re
import sys
from collections.abc import MutableMapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType
from typing import Any, NamedTuple

__all__ = ["Brand", "environment", "put_on"]

_SWITCHES = (  # variables that a person sets for one run; those of a home and a profile are the kernel's to name
    "BACKEND", "BACKUP_PASSPHRASE", "BASE_URL", "INFERENCE_MODEL", "INTERFACE", "KEY_ENV", "MODEL", "PROVIDER",
    "SAFE_MODE", "STRICT", "TRACE_HOOKS", "TRUST", "TUI_THEME", "WEB_TOKEN", "WORKSPACE", "YOLO",
)  # fmt: skip
_NOT_OURS = ("hermes_distribution", "hermes_core.own", "hermes_core.testing")
_HERMES = re.compile(r"(?<![\w./-])Hermes\b(?! Agent\b|[-/\w]|\.\w)('(?!s))?")
_VARIABLE = re.compile(rf"\bHERMES_(?={'|'.join((*_SWITCHES, 'HOME', 'PROFILE'))}\b)")
_SCRIPT = re.compile(r"/proc/|\bgrep ")  # what is run, not said


class Brand(NamedTuple):
    """What a product is called: ``name`` as a command, ``title`` in sentences; ``skin`` is how its screen looks."""

    name: str
    title: str
    skin: str = ""

    @property
    def prefix(self) -> str:
        """What its environment variables begin with."""
        return self.name.upper().replace("-", "_")


def environment(brand: Brand, environ: MutableMapping[str, str]) -> None:
    """Let only a product's own switches count (``ACME_YOLO``): what is set for Hermes is not meant for it."""
    for switch in _SWITCHES:
        environ.pop(f"HERMES_{switch}", None)
        if (said := environ.get(f"{brand.prefix}_{switch}")) is not None:
            environ[f"HERMES_{switch}"] = said


def put_on(brand: Brand) -> "Renaming":
    """Rename what the modules of Hermes say that are loaded from now on. A process has one brand: the last."""
    for finder in [one for one in sys.meta_path if isinstance(one, _Finder)]:
        sys.meta_path.remove(finder)
    from hermes_core.own import COMMANDS
    from hermes_core.records import KERNEL

    verbs = {word.partition(" ")[0] for words in COMMANDS.values() for word in words} | {one.first for one in KERNEL}
    renaming = Renaming(brand, sorted(verbs))
    sys.meta_path.insert(0, _Finder(renaming))
    return renaming


class Renaming:
    """Renames literals."""

    def __init__(self, brand: Brand, verbs: Sequence[str]) -> None:
        self._brand = brand
        known = rf" (?:(?:{'|'.join(map(re.escape, verbs))})\b|--?[a-zA-Z]|[A-Z]{{3,}}\b)"
        self._command = re.compile(
            rf"(?<![\w./@:-])hermes(?=\s{known[1:]}| $)|(?<=`)hermes(?=`)|(?<=\"command\": \")hermes\b"
        )

    def text(self, said: str, *, alone: bool) -> str:
        """Return a literal as the product says it; ``alone``: also where the name is all that it is."""
        if "ermes" not in said and "HERMES_" not in said:
            return said
        if said == "Hermes":
            return self._brand.title if alone else said
        if " " not in said or _SCRIPT.search(said):
            return self._command.sub(self._brand.name, said) if " " in said else said
        said = self._command.sub(self._brand.name, said)
        said = _HERMES.sub(lambda found: self._brand.title + ("'s" if found[1] else ""), said)
        return _VARIABLE.sub(f"{self._brand.prefix}_", said)

    def code(self, code: CodeType, *, alone: bool | None = None) -> CodeType:
        """Return code with its literals renamed, those of what is defined in it too."""
        if alone is None:  # a module that knows the class of that name means the class
            alone = "Hermes" not in _names(code)
        return code.replace(co_consts=tuple(self._one(one, alone=alone) for one in code.co_consts))

    def _one(self, value: Any, *, alone: bool) -> Any:
        if isinstance(value, str):
            return self.text(value, alone=alone)
        if isinstance(value, tuple):  # names that are imported stand in such, too: those are no sentences
            return tuple(self._one(one, alone=False) for one in value)
        if isinstance(value, CodeType):
            return self.code(value, alone=alone)
        return value


def _names(code: CodeType) -> set[str]:
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return {*code.co_names, *code.co_varnames}.union(*map(_names, inner))


class _Loader(SourceFileLoader):
    renaming: Renaming

    def get_code(self, fullname: str) -> CodeType | None:
        code = super().get_code(fullname)
        return code and self.renaming.code(code)


class _Finder(MetaPathFinder):
    def __init__(self, renaming: Renaming) -> None:
        self._renaming = renaming

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith("hermes_") or fullname.startswith(_NOT_OURS):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader:
            return None  # whoever finds it next loads it as it is
        loader = _Loader(spec.loader.name, spec.loader.path)
        loader.renaming = self._renaming
        spec.loader = loader
        return spec
