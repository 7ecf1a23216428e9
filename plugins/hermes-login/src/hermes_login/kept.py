"""Where logins are kept: one file for each account, readable by its owner alone."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import Factory, field

from hermes_atomic.whole import replace
from hermes_core.errors import UserError
from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_login.foreign import PROGRAMS, path_of, secrets_of
from hermes_login.tokens import Tokens, is_token

__all__ = ["Kept", "Logins"]

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,40}")
_MOST = 256 * 1024  # bytes of a file


@frozen(kw_only=True)
class Kept:
    """What is kept of one account.

    ``token_url`` is who made the tokens: a refresh token goes nowhere else. ``short`` is the token for minutes that was
    had for them, where the service gives one, and ``base_url`` where it counts. ``borrowed`` names the program whose
    file has the tokens, ``path`` that file where it is not the usual one; they are then not here. ``ended``: the
    service said that it will renew them no more. ``over`` is what was said of the service when somebody logged in.
    """

    token_url: str
    tokens: Tokens | None = None
    short: Tokens | None = None
    base_url: str = ""
    borrowed: str = ""
    path: str = ""
    ended: bool = field(default=False)
    over: Mapping[str, JSON] = Factory(dict)


class Logins:
    """The logins of a home. ``folder`` is made when there is something to keep."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of_home(cls, data: Path) -> "Logins":
        """Return those of the home in whose folder ``data`` plugins keep theirs: the plugin ``subscriptions`` has them.

        It lies among that plugin's data, which is closed to every tool.
        """
        return cls(data / "provider-subscriptions" / "logins")

    def path(self, service: str, account: str) -> Path:
        """Return the file of an account. Raises UserError for what is no name of one."""
        for name in (service, account):
            if not _NAME.fullmatch(name):
                raise UserError(f"{name!r} is no name of an account.", hint="Write a-z, 0-9, dots, _ and -.")
        return self.folder / service / f"{account}.json"

    def accounts(self, service: str) -> Sequence[str]:
        """Return the names of a service's accounts; that called ``default`` first."""
        with suppress(OSError):
            found = [path.stem for path in (self.folder / service).glob("[a-z0-9]*.json")]
            return sorted(filter(_NAME.fullmatch, found), key=lambda name: (name != "default", name))
        return ()

    def read(self, service: str, account: str) -> Kept | None:
        """Return what is kept; None where there is no login. Raises UserError where it cannot be read."""
        path = self.path(service, account)
        try:
            with path.open("rb") as file:
                found = json.loads(file.read(_MOST))
            return _kept(found)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            what = error.strerror if isinstance(error, OSError) else "it is not as it was written"
            raise UserError(f"The login {path} cannot be read: {what}.", hint="Log in once more.") from None

    def write(self, service: str, account: str, kept: Kept) -> None:
        """Keep it, in the place of what was there; nobody else ever sees half of it. Raises UserError."""
        path = self.path(service, account)
        data = {
            "token_url": kept.token_url,
            "tokens": _dumped(kept.tokens),
            "short": _dumped(kept.short),
            "base_url": kept.base_url,
            "borrowed": kept.borrowed,
            "path": kept.path,
            "over": dict(kept.over),
            "ended": kept.ended,
        }
        try:
            self.make_room(service)
            replace(path, json.dumps(data).encode())
        except OSError as error:
            raise UserError(f"The login cannot be kept at {path}: {error.strerror}.") from error

    def make_room(self, service: str) -> None:
        """Make the folder of a service, for its owner alone. Raises OSError."""
        for folder in (self.folder, self.folder / service):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def forget(self, service: str, account: str) -> bool:
        """Forget a login, with what a process left of it that died as it wrote; whether there was one.

        Raises UserError.
        """
        path = self.path(service, account)
        try:
            for draft in path.parent.glob(f".{path.name}.*.new"):
                draft.unlink(missing_ok=True)
            path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise UserError(f"The login {path} cannot be removed: {error.strerror}.") from error
        return True

    def secrets(self) -> Iterator[str]:
        """Yield every token that is kept here or borrowed, for whoever masks them; what cannot be read is left out."""
        for kept in self._all():
            with suppress(UserError):
                yield from _secrets(kept)

    def foreign(self) -> Iterator[Path]:
        """Yield the files of other programs that are read: they change without anything changing here."""
        for kept in self._all():
            if kept.borrowed:
                yield Path(kept.path) if kept.path else path_of(kept.borrowed)

    def _all(self) -> Iterator[Kept]:
        with suppress(OSError):
            for folder in sorted(self.folder.iterdir()):
                for account in self.accounts(folder.name):
                    with suppress(UserError):
                        if kept := self.read(folder.name, account):
                            yield kept


def _secrets(kept: Kept) -> Iterator[str]:
    for tokens in filter(None, (kept.tokens, kept.short)):
        yield from filter(None, (tokens.access, tokens.refresh))
    if kept.borrowed:
        yield from secrets_of(kept.borrowed, kept.path)


def _dumped(tokens: Tokens | None) -> dict[str, Any] | None:
    if tokens is None:
        return None
    headers = dict(tokens.headers)
    held = {"access": tokens.access, "refresh": tokens.refresh, "ends": tokens.ends, "headers": headers}
    return {**held, "place": tokens.place}


def _kept(found: Mapping[str, Any]) -> Kept:
    return Kept(
        token_url=_text(found["token_url"]),
        tokens=_tokens(found["tokens"]),
        short=_tokens(found["short"]),
        base_url=_text(found["base_url"]),
        borrowed=_program(found["borrowed"]),
        path=_text(found.get("path", "")),
        ended=found["ended"] is True,
        over=dict(found.get("over", {})),
    )


def _tokens(found: Mapping[str, Any] | None) -> Tokens | None:
    if found is None:
        return None
    access, refresh = found["access"], found["refresh"]
    if not is_token(access) or (refresh and not is_token(refresh)):
        raise ValueError("no token")
    headers = {_text(name): _text(value) for name, value in found["headers"].items()}
    place = _text(found.get("place", ""))
    return Tokens(access=access, refresh=_text(refresh), ends=float(found["ends"]), headers=headers, place=place)


def _program(value: object) -> str:
    if value not in ("", *PROGRAMS):
        raise ValueError("no program that is known")
    return str(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
