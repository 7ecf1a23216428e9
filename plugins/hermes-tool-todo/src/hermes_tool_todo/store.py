"""Plans on disk: one JSON file per session, in a folder per person, replaced as a whole by rename."""

import hashlib
import json
import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hermes_core.errors import HermesError, ToolError
from hermes_core.types import JSON, Session
from hermes_tool_todo.plan import STATUSES, Item, Plan

_VERSION = 1
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")


class Plans:
    """The plans of all sessions. Nothing of one person is ever found under another's name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()  # a cancelled call's thread may still be writing when the next one starts

    def path(self, session: Session) -> Path:
        """Where a session's plan is, whether there is one or not."""
        owner = f"{session.owner.profile}.{session.owner.person}"
        plain = _PLAIN.fullmatch(session.owner.profile) and _PLAIN.fullmatch(session.owner.person)
        person = owner if plain else _digest(f"{session.owner.profile}\0{session.owner.person}")
        name = session.id if _PLAIN.fullmatch(session.id) else _digest(session.id)
        return self._folder / person / f"{name}.json"

    def read(self, session: Session) -> Plan:
        """The plan of a session, empty when it has none. Raises HermesError when it cannot be read."""
        path = self.path(session)
        try:
            return _plan_of(json.loads(path.read_bytes()))
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise _trouble("read", path, error) from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            reason = f"{type(error).__name__}: {error}"
            raise ToolError(
                f"The plan in {path} is damaged ({reason[:200]}).",
                hint="A whole new plan, with merge=false, replaces it.",
            ) from None

    def change(self, session: Session, edit: Callable[[Plan], Plan], *, anew: bool) -> Plan:
        """Apply ``edit`` and keep what it gives; ``anew`` does not look at what was there.

        Raises ToolError, from ``edit`` or because the plan cannot be read or written.
        """
        path = self.path(session)
        with self._lock:
            plan = edit(() if anew else self.read(session))
            try:
                if plan:
                    _replace(path, _text_of(plan, session))
                else:
                    path.unlink(missing_ok=True)
            except OSError as error:
                raise _trouble("write", path, error) from None
        return plan


def _digest(name: str) -> str:
    """A file name for any text; ``~`` keeps it apart from names that are used as they are."""
    return f"~{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"


def _plan_of(stored: JSON) -> Plan:
    if stored["version"] != _VERSION:
        raise ValueError(f"version {stored['version']!r} is not known here")
    return tuple(_item_of(item) for item in stored["todos"])


def _item_of(stored: JSON) -> Item:
    status = stored["status"]
    if status not in STATUSES:
        raise ValueError(f"there is no status {status!r}")
    return Item(id=str(stored["id"]), content=str(stored["content"]), status=status)


def _text_of(plan: Plan, session: Session) -> str:
    todos = [{"id": item.id, "content": item.content, "status": item.status} for item in plan]
    # Escaped to ASCII: a lone surrogate that a model sent must not make the plan unwritable.
    return json.dumps({"version": _VERSION, "session": session.id, "todos": todos}, indent=1) + "\n"


def _replace(path: Path, text: str) -> None:
    """Replace a file as a whole; never a half-written one."""
    from tempfile import mkstemp

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = mkstemp(prefix=f".{path.name}.", dir=path.parent)  # made with mode 0600
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _trouble(verb: str, path: Path, error: OSError) -> HermesError:
    return ToolError(
        f"Cannot {verb} the plan in {path}: {error.strerror or error}.",
        retry=False,
        hint="Go on without a plan, and tell the person.",
    )
