"""Where things live: the home folder of one profile."""

import errno
import os
import re
from collections.abc import Mapping
from pathlib import Path

from hermes_core.config.files import explain, read_bytes
from hermes_core.errors import UnknownName, UserError

DEFAULT = "default"
MANAGED = "/etc"  # an administrator's; in a folder of our name lies what holds for everybody here
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class Home:
    """The folder of one profile, and what is kept where in it."""

    def __init__(self, base: Path, profile: str = DEFAULT, brand: str = "hermes") -> None:
        self.base = base
        self.profile = profile
        self.brand = brand
        self.root = root = base if profile == DEFAULT else base / "profiles" / profile
        self.config_file = root / "config.yaml"  # what the user wrote
        self.managed = Path(MANAGED, brand, "config.yaml")  # what beats it
        self.env_file = root / ".env"  # secrets
        self.database = root / "state.db"
        self.plugins = root / "plugins"  # the user's own plugin files
        self.lock_file = root / "plugins.lock"  # which plugins the user allowed
        self.logs = root / "logs"
        self.cache = root / "cache"  # may be deleted at any time
        self.outputs = root / "cache" / "outputs"  # long tool outputs

    @classmethod
    def find(
        cls, brand: str = "hermes", profile: str | None = None, environ: Mapping[str, str] | None = None
    ) -> "Home":
        """Return the home asked for by argument, environment (``HERMES_HOME``, ``HERMES_PROFILE``) or sticky profile.

        Nothing is created. Raises UnknownName for a profile that does not exist.
        """
        environ = os.environ if environ is None else environ
        prefix = brand.upper().replace("-", "_")
        chosen = environ.get(f"{prefix}_HOME", "")
        try:
            base = Path(chosen).expanduser().absolute() if chosen else Path.home() / f".{brand}"
        except RuntimeError as error:
            raise UserError("Cannot tell where your home folder is.", hint="Set HOME.") from error
        home = cls(base, brand=brand)
        asked = profile or environ.get(f"{prefix}_PROFILE", "")
        back = "" if asked else f"Go back with: {brand} -p {DEFAULT} profile use {DEFAULT}"
        return home.of(asked or home.sticky(), hint=back)

    def of(self, profile: str, *, hint: str = "") -> "Home":
        """Return the home of a profile there is. Raises UnknownName."""
        if profile != DEFAULT and profile not in (there := self.profiles()):
            hint = hint or f"Make it with: {self.brand} profile create {profile}"
            raise UnknownName("profile", profile, there, hint=hint)
        return Home(self.base, profile, self.brand)

    def profiles(self) -> list[str]:
        """Return the profiles there are, the default one first."""
        try:
            named = [entry.name for entry in os.scandir(self.base / "profiles") if entry.is_dir()]
        except OSError:
            named = []
        return [DEFAULT, *sorted(filter(NAME.fullmatch, named))]

    def sticky(self) -> str:
        """Return the profile when none is asked for. Raises UserError when the file that names it cannot be read."""
        return (read_bytes(self.base / "active_profile") or b"").decode("utf-8", "replace").strip() or DEFAULT

    def create(self) -> None:
        """Make the folder if need be, for its owner only. Call before anything is written.

        Raises UserError when it cannot be made, read or written.
        """
        try:
            for folder in (self.base, self.root):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.base.name == f".{self.brand}":  # who named another folder may share it
                self.base.chmod(self.base.stat().st_mode & ~0o077)
            if not os.access(self.root, os.R_OK | os.W_OK | os.X_OK):
                read_only = os.statvfs(self.root).f_flag & os.ST_RDONLY
                raise OSError(errno.EROFS if read_only else errno.EACCES, "")
        except OSError as error:
            raise explain(error, "use the home folder", self.root) from error
