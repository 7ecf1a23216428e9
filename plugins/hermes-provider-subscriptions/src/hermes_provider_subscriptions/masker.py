"""What keeps the tokens of logins out of every text that a model, a log or a person is shown."""

import os
from collections.abc import Iterable

from hermes_core.kinds import Masker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_known.known import Known

__all__ = ["Tokens"]

_REMEMBERED = 200  # tokens that were renewed meanwhile, and may still stand in a text


class Tokens(Masker):
    """Knows all tokens that are kept, and those that were while this process ran. Without a login it costs one look."""

    name = "logins"

    def __init__(self, ctx: "PluginContext") -> None:
        self._ctx, self._path = ctx, str(ctx.paths.data / "logins")
        self._state: object = None
        self._foreign: tuple[str, ...] = ()
        self._values: dict[str, None] = {}
        self._known: Known | None = None

    def may_hold(self, text: str) -> bool:
        """Nothing is imported or read as long as nobody is logged in."""
        return self._now() is not None

    def spans(self, text: str) -> Iterable[tuple[int, int, bool]]:
        """The tokens, in the forms that ``hermes_known`` knows."""
        known = self._now()
        return known.spans(text) if known else ()

    def is_secret(self, value: str, name: str = "") -> bool:
        """Whether a value is one of them, whatever its field is called."""
        return self._now() is not None and value in self._values

    def _now(self) -> "Known | None":
        state = self._looked()
        if state is None:
            return self._known
        if state != self._state:
            from hermes_known.known import Known
            from hermes_provider_subscriptions.accounts import logins_of

            logins = logins_of(self._ctx)
            self._foreign = tuple(map(str, logins.foreign()))
            state = self._looked()  # before what it is of is read: what changes meanwhile is read once more
            now = dict.fromkeys(logins.secrets())
            before = [value for value in self._values if value not in now]
            self._values = dict.fromkeys(before[-_REMEMBERED:]) | now  # of those that are kept none is ever forgotten
            self._state, self._known = state, Known(self._values)
        return self._known

    def _looked(self) -> tuple[int, ...] | None:
        """When files of logins were last replaced: each time, the folder of its service changes, or a borrowed file."""
        try:
            with os.scandir(self._path) as folders:
                return (*(entry.stat().st_mtime_ns for entry in folders), *map(_changed, self._foreign))
        except OSError:
            return None


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116 - asked for each text
    except OSError:
        return 0
