"""Whether a new product may have a name: it becomes a module, a command and a folder, which may be somebody else's."""

import keyword
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from hermes_core.errors import UserError

__all__ = ["check_free"]


def check_free(name: str) -> None:
    """Raise UserError for a sound name that something else has here, with what that is."""
    package = name.replace("-", "_")
    taken = ""
    if keyword.iskeyword(package):
        taken = "it is a word of Python"
    elif package in sys.stdlib_module_names or find_spec(package):
        taken = f"there is a module {package} already"
    elif program := shutil.which(name):
        taken = f"there is a program {program} already"
    elif (folder := Path.home() / f".{name}").exists():
        taken = f"there is {folder} already, where its home would be"
    if taken:
        raise UserError(f"A product cannot be called {name}: {taken}.", hint="Choose another name.")
