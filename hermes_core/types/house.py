"""What a plugin adds to the house, and how it can fail."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import Factory

from hermes_core.types.base import JSON
from hermes_core.types.content import Message
from hermes_core.types.events import Session
from hermes_core.types.views import Choice
from hermes_core.values import frozen

if TYPE_CHECKING:
    import click


@frozen(kw_only=True)
class Command:
    """A command of the command line. ``name`` is its words (``telegram login``); the manifest says what it does.

    ``build`` makes the click command when it is used. Where its function is ``async def``, it runs in a live kernel:
    every broker of ``ctx`` works until it returns, and all is closed after it, also on an error and on Ctrl-C.
    """

    name: str
    build: Callable[[], "click.Command"]


@frozen(kw_only=True)
class SlashCommand:
    """A command typed into a conversation. ``run`` gets the session and the rest of the line, returns what to show.

    Or it returns a Message: one of the user's is what the person said, and the model answers it; one of the assistant's
    is shown as it is, with its buttons.
    One that is ``at_once`` does not wait for the end of a running turn: it changes nothing that a turn works with.
    ``who`` may use it and ``where``: only what stays within one's own conversations is for everyone; what is for a
    ``person`` is for admins, and for no tool.
    ``aliases`` are other names for it. ``confirm`` is a question that is put before it takes something away; it gets
    the rest of the line, and no question is put when it says nothing. ``options`` gives what may follow the name; with
    ``each`` every one of them is a command as well, where no other has its name: ``/NAME`` for ``/skill NAME``.

    Of one that a plugin registers the manifest says all but ``run``, ``confirm`` and ``options``: its record is what
    people see before the plugin is imported, and it holds afterwards.
    """

    name: str
    summary: str = ""
    run: Callable[[Session, str], Awaitable[str | Message]]
    usage: str = ""
    at_once: bool = False
    who: Literal["everyone", "admin", "person"] = "admin"
    where: Sequence[Literal["terminal", "chat", "api"]] = ("terminal", "chat", "api")
    examples: Sequence[str] = ()
    group: str = ""
    aliases: Sequence[str] = ()
    confirm: Callable[[str], str] | None = None
    options: Callable[[Session, str], Awaitable[Sequence[Choice]]] | None = None
    each: bool = False


@frozen(kw_only=True)
class Document:
    """A JSON value that a plugin keeps in the store. ``version`` is another number after every change.

    ``session_id`` is empty where it belongs to no session; ``updated`` in seconds since 1970.
    """

    name: str
    value: JSON
    version: int
    session_id: str = ""
    updated: float = 0.0


@frozen(kw_only=True)
class Migration:
    """How a plugin's tables came to be: a folder of alembic revisions, and the id of the newest."""

    folder: Path
    head: str


ASGIApp: TypeAlias = Callable[[Any, Any, Any], Awaitable[None]]


@frozen(kw_only=True)
class Routes:
    """What a plugin serves over HTTP: an ASGI application, or a folder whose files are served as they are.

    It is served below ``/KIND/PLUGIN/NAME``, where a host of routes runs, to those whom the host knows:
    ``scope["hermes.owner"]`` is their Principal. A name that the manifest lists under ``[permissions] public`` is
    served to anybody, without an owner.
    """

    name: str
    app: ASGIApp | Path


@frozen(kw_only=True)
class RouteRow:
    """Routes of a plugin for who serves them: below ``path``, and to anybody where they are ``public``.

    A call of an ``app`` raises HermesError; where that is a PluginError the plugin is to blame, and it is recorded.
    """

    plugin: str
    path: str
    app: ASGIApp | Path
    public: bool = False


@frozen(kw_only=True)
class Finding:
    """What a check found. ``fix`` is a command or sentence that mends it."""

    level: Literal["ok", "warning", "fault"]
    text: str
    fix: str = ""


@frozen(kw_only=True)
class Check:
    """Something doctor may ask a plugin. ``full`` is the same with all there is to try, for ``doctor --NAME``.

    That one stands in the manifest under ``[contributes] checks``; so does one that is ``cheap``, which plain
    ``doctor`` runs too, for the program's own plugins: it starts nothing, and needs no network. ``mend`` puts right
    what can be without loss, and says what it did: that of ``store`` is called, in a thread, when that is damaged.
    """

    name: str
    run: Callable[[], Awaitable[Sequence[Finding]]]
    full: Callable[[], Awaitable[Sequence[Finding]]] | None = None
    cheap: bool = False
    mend: Callable[[], str] | None = None


Phase = Literal["discover", "declare", "consent", "import", "register", "call"]


@frozen(kw_only=True)
class Fault:
    """A recorded plugin failure: who, in which phase, where, what, and what to do now."""

    plugin: str
    phase: Phase
    where: str
    error: str
    hint: str = ""
    version: str = ""


@frozen(kw_only=True)
class PluginRow:
    """A plugin that is installed: whether it is ``enabled`` and ``loaded``, and what went wrong with it.

    ``distribution`` is empty for a file of the person's, which is at ``path``; ``contributes`` has names by table.
    """

    label: str
    version: str
    loaded: bool
    faults: Sequence[Fault] = ()
    enabled: bool = True
    distribution: str = ""
    path: str = ""
    contributes: Mapping[str, Sequence[str]] = Factory(dict)
