"""One turn that a client asks for: who says what, where, and how it is found again."""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import Factory, evolve
from starlette.requests import Request

from hermes_core.types import Message
from hermes_core.values import frozen
from hermes_platform_api.client_tools import ClientResult, ClientTools
from hermes_platform_api.errors import ApiError
from hermes_platform_api.reading import Said

__all__ = ["TurnRequest", "event_of", "person_of", "turn_request", "unkept"]

_HEADER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}")
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_EVENT = re.compile(r"([0-9a-f]{32})(?:_[0-9a-fx][0-9a-f]{7})?")
_UNKEPT = "x"  # what the id of something begins with that is not to be found again


@frozen(kw_only=True)
class TurnRequest:
    """A turn that a client wants. ``event`` is its id in the inbox; ``key`` stands for its Idempotency-Key.

    Without ``session`` it plays where ``history`` was said. ``model`` is who answers, as the kernel names it;
    ``called`` as the client does; ``effort`` is how hard they think, empty as it is set up.

    ``tools`` are the client's own, ``results`` of calls that it was handed, ``words`` what it says besides them, and
    ``whole`` all that it sent. A turn that waits for them goes on; where it was stopped, ``late`` says both in its
    session; else ``message`` begins one.
    """

    person: str
    event: str
    message: Message
    session: str = ""
    history: Sequence[Message] = ()
    system: str = ""
    model: str = ""
    called: str = ""
    effort: str = ""
    key: str = ""
    tools: ClientTools | None = None
    results: Mapping[str, ClientResult] = Factory(dict)
    words: Message | None = None
    late: Message | None = None
    whole: Sequence[Message] = ()

    @property
    def repeats(self) -> bool:
        """Whether it may have come before."""
        return bool(self.key)


def person_of(request: Request) -> str:
    """Whose sessions and memory a request is about: the key's person, or one of its own scopes. Raises ApiError."""
    person: str = request.scope["hermes.person"]
    scope = _header(request, "x-hermes-session-key")
    return f"{person}:{scope}" if scope else person


def turn_request(request: Request, body: dict[str, Any], said: Said, **more: Any) -> TurnRequest:
    """The turn that a request asks for. Raises ApiError."""
    person, key = person_of(request), request.headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise ApiError(400, "invalid_idempotency_key", "Idempotency-Key must be 1 to 255 plain characters.")
    session = _header(request, "x-hermes-session-id")
    event = _repeatable(request, body, person, key) if key else os.urandom(16).hex()
    wanted = TurnRequest(
        person=person,
        event=event,
        message=said.message,
        history=said.history,
        system=said.system,
        results=said.results,
        words=said.words,
        late=said.late,
        whole=said.whole,
        session=session,
        key=hashlib.sha256(f"{person}\0{key}".encode("utf-8", "replace")).hexdigest()[:32] if key else "",
    )
    return evolve(wanted, **more) if more else wanted


def _repeatable(request: Request, body: dict[str, Any], person: str, key: str) -> str:
    """The same id for the same key and the same request; whether it is streamed makes no difference."""
    same = {name: value for name, value in body.items() if name not in ("stream", "stream_options")}
    words = json.dumps([request.url.path, request.headers.get("x-hermes-session-id", ""), same], sort_keys=True)
    whole = hashlib.sha256(f"{person}\0{key}\0{words}".encode("utf-8", "replace")).hexdigest()
    return whole[:32]


def _header(request: Request, name: str) -> str:
    value = request.headers.get(name)
    if value is None:
        return ""
    if not _HEADER.fullmatch(value):
        raise ApiError(400, "invalid_header", f"{name} must be up to 100 letters, digits, and . _ : @ -", param=name)
    return value


def unkept(wanted: TurnRequest) -> TurnRequest:
    """The same, but not to be found again by its id."""
    return evolve(wanted, event=f"{_UNKEPT}{wanted.event[1:]}")


def event_of(name: str, prefix: str) -> str:
    """The id in the inbox that an id like ``resp_…`` stands for; empty when it stands for none."""
    found = _EVENT.fullmatch(name.removeprefix(prefix)) if name.startswith(prefix) else None
    return found[1] if found else ""
