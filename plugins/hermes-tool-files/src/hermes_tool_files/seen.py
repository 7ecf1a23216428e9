"""What each session last saw of a file, and which session wrote it last."""

import hashlib
from collections import OrderedDict

from hermes_core.types import Session
from hermes_core.values import frozen

REMEMBERED = 2_000
CHANGED = "\nWarning: the file had changed on disk since you last saw it; check that nothing of value was replaced."


@frozen
class _Writer:
    """Who wrote a content."""

    session: str
    parent: str
    digest: bytes


class Seen:
    """Notices that somebody else changed a file. Bounded; the oldest goes."""

    def __init__(self) -> None:
        self._digests: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._writers: OrderedDict[str, _Writer] = OrderedDict()

    def remember(self, session: Session, path: str, data: bytes, *, wrote: bool = False) -> None:
        """The session knows this content now; ``wrote``: it is its own."""
        digest = _digest(data)
        _keep(self._digests, (session.id, path), digest)
        if wrote:
            _keep(self._writers, path, _Writer(session.id, session.parent, digest))

    def knows(self, session: Session, path: str) -> bool:
        """Whether the session has seen the file at all."""
        return (session.id, path) in self._digests

    def warning(self, session: Session, path: str, data: bytes) -> str:
        """What to say where the file is not what the session saw last, and who changed it as far as that is known."""
        known, digest = self._digests.get((session.id, path)), _digest(data)
        if known is None or known == digest:
            return ""
        writer = self._writers.get(path)
        if writer is None or writer.digest != digest or writer.session == session.id:
            return CHANGED
        who = (
            "an agent that works for you"
            if writer.parent == session.id
            else "the agent you work for"
            if writer.session == session.parent
            else f"another agent (session {writer.session})"
        )
        return f"\nWarning: {who} changed the file since you last saw it; check that its work is still there."


def _keep(kept: OrderedDict, key: object, value: object) -> None:  # type: ignore[type-arg]
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > REMEMBERED:
        kept.popitem(last=False)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
