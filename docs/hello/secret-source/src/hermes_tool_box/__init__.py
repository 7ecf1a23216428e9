"""Secrets that are files: what Docker and Kubernetes put into a folder, each under its own name."""

import os
from pathlib import Path

from hermes_core import hookimpl
from hermes_core.errors import UserError
from hermes_core.kinds import SecretSource


class Box(SecretSource):
    name = "box"

    def __init__(self, folder):
        self._folder = folder

    def read(self, reference, seconds):
        if "/" in reference:
            raise UserError("A box has no folders.", hint="Write box:NAME into secrets.env.")
        try:
            return (self._folder / reference).read_text().rstrip("\n")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise UserError(f"The box is closed: {error.strerror}.", hint=f"chmod u+rx {self._folder}") from None

    def read_all(self, seconds):
        files = self._folder.iterdir() if self._folder.is_dir() else ()
        return {path.name.upper(): self.read(path.name, seconds) for path in files if path.is_file()}


@hookimpl
def register_secret_sources():
    return [Box(Path(os.environ.get("BOX", "/run/secrets")))]
