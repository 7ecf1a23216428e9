"""Where things live: the home folder of one profile."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from hermes_core.config.files import explain
from hermes_core.errors import UnknownName, UserError

DEFAULT = "default"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def valid_name(name: str) -> str:
    """The profile name, checked, since it becomes a folder's name. Raises UserError."""
    if not _NAME.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be a profile's name.",
            hint="Use up to 64 lower-case letters, digits, - and _, starting with a letter or digit.",
        )
    return name


class Home:
    """The folder of one profile, and what is kept where in it."""

    __slots__ = (
        *("base", "brand", "cache", "config_file", "database", "env_file", "lock_file", "logs", "memories"),
        *("outputs", "plugins", "profile", "root", "transcripts"),
    )

    def __init__(self, base: Path, profile: str = DEFAULT, brand: str = "hermes") -> None:
        self.base = base
        self.profile = profile
        self.brand = brand
        self.root = root = base if profile == DEFAULT else base / "profiles" / profile
        self.config_file = root / "config.yaml"  # what the user wrote
        self.env_file = root / ".env"  # secrets
        self.database = root / "state.db"
        self.transcripts = root / "sessions"
        self.memories = root / "memories"
        self.plugins = root / "plugins"  # the user's own plugin files
        self.lock_file = root / "plugins.lock"  # which plugins the user allowed
        self.logs = root / "logs"
        self.cache = root / "cache"  # may be deleted at any time
        self.outputs = root / "cache" / "outputs"  # long tool outputs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Home) and (self.base, self.profile) == (other.base, other.profile)

    def __hash__(self) -> int:
        return hash((self.base, self.profile))

    def __repr__(self) -> str:
        return f"Home({str(self.root)!r})"

    @classmethod
    def find(
        cls, brand: str = "hermes", profile: str | None = None, environ: Mapping[str, str] | None = None
    ) -> "Home":
        """The home asked for by argument, environment (``HERMES_HOME``, ``HERMES_PROFILE``) or sticky profile.

        Nothing is created. Raises UnknownName for a profile that does not exist, UserError for a bad name.
        """
        environ = os.environ if environ is None else environ
        prefix = brand.upper().replace("-", "_")
        base = _base(environ.get(f"{prefix}_HOME", ""), brand)
        name = profile or environ.get(f"{prefix}_PROFILE", "") or sticky(base)
        home = cls(base, DEFAULT if name == DEFAULT else valid_name(name), brand)
        if home.profile != DEFAULT and not home.root.is_dir():
            hint = f"Make it with: {brand} profile create {name}"
            if name == sticky(base):
                hint = f"Go back with: {brand} -p default profile use default"
            raise UnknownName("profile", name, [DEFAULT, *profile_names(base)], hint=hint)
        return home

    def create(self) -> None:
        """Make the folder if need be, for its owner only. Call before anything is written.

        Raises UserError when it cannot be made, read or written.
        """
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise explain(error, "make the home folder", self.root) from error
        if not os.access(self.root, os.R_OK | os.W_OK | os.X_OK):
            read_only = os.statvfs(self.root).f_flag & os.ST_RDONLY
            why = "the file system is read-only" if read_only else "you may not read and write it"
            prefix = self.brand.upper().replace("-", "_")
            raise UserError(
                f"Cannot use the home folder {self.root}: {why}.",
                hint=f"Mend that, or choose another folder with {prefix}_HOME.",
            )


def _base(chosen: str, brand: str) -> Path:
    try:
        return Path(chosen).expanduser().absolute() if chosen else Path.home() / f".{brand}"
    except RuntimeError as error:
        raise UserError("Cannot tell where your home folder is.", hint="Set HOME.") from error


def sticky(base: Path) -> str:
    """The profile used when none is asked for. Raises UserError when the file that names it cannot be read."""
    try:
        return (base / "active_profile").read_text("utf-8", "replace").strip() or DEFAULT
    except (FileNotFoundError, NotADirectoryError):
        return DEFAULT
    except OSError as error:
        raise explain(error, "read", base / "active_profile") from error


def profile_names(base: Path) -> list[str]:
    """The named profiles there are, sorted."""
    try:
        return sorted(entry.name for entry in os.scandir(base / "profiles") if _NAME.fullmatch(entry.name))
    except OSError:
        return []
