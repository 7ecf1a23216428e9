"""Ways to talk: one message and its answer, or a conversation on a platform."""

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, TextIO

import click
from attrs import asdict

from hermes_core.agent.policy.rules import idle
from hermes_core.cli.bare import require_somebody
from hermes_core.cli.loop import end_soon, run_loop
from hermes_core.cli.scope import Scope
from hermes_core.errors import UnknownName, UserError
from hermes_core.hermes import Hermes
from hermes_core.kinds import Platform
from hermes_core.plugins.fence import Late
from hermes_core.plugins.loader import slash_clashes
from hermes_core.types import Called, Ended, Event, Failed, Noticed, Returned, Said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.runtime import Runtime

_MENDABLE = ("user_error", "config_error", "unknown_name", "busy")  # kinds of Failed that the person can fix
_PLUGINS = {"plugin_error", "load_error", "manifest_error", "incompatible", "contract_error", "not_permitted"}

_answers: TextIO | None = None  # where answers go while stdout is kept for them

__all__ = ["chat", "converse", "event_json", "fitting", "oneshot", "show_answer"]


@click.command()
@click.option("-q", "--query", metavar="TEXT", help="Answer TEXT and end; the tools it uses are told on stderr.")
@click.option("-c", "--continue", "continue_", is_flag=True, help="Go on with the last session.")
@click.option("-r", "--resume", metavar="ID|TITLE", help="Go on with a session.")
@click.option("-m", "--model", metavar="[PROVIDER:]MODEL", default="", help="The model that answers.")
@click.option("--provider", default="", help="The provider of the model.")
@click.option("-t", "--toolsets", metavar="A,B", default="", help="Offer only these toolsets.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per event, a line each.")
@click.option("--yolo", is_flag=True, help="Ask nothing: everything but the hard blocks is allowed.")
@click.pass_obj
def chat(scope: Scope, /, query: str | None, **flags: Any) -> int:
    """Talk, or answer one message with -q.

    \b
    Examples:
      hermes chat
      hermes chat -q "What changed in this folder today?"
      hermes chat -c -q "And yesterday?" --json
    """
    scope.flags.update({k: v for k, v in flags.items() if v})
    return converse(scope) if query is None else oneshot(scope, query, quiet=False)


def oneshot(scope: Scope, text: str, *, quiet: bool) -> int:
    """Answer one message on stdout. ``quiet`` keeps everything but errors off stderr. Exit 1 when the turn fails."""
    if text == "-":
        text = sys.stdin.read()
    if not text.strip():
        raise UserError("There is nothing to answer.", hint=f'Say something: {scope.name} -z "…"')
    require_somebody(scope)
    with _stdout_for_answers():
        return run_loop(_oneshot(scope, text, quiet=quiet))


@contextlib.contextmanager
def _stdout_for_answers() -> Iterator[None]:
    """Let only answers reach stdout; what plugins print, and programs they start, goes to stderr."""
    global _answers
    _answers, kept = sys.stdout, -1
    with contextlib.suppress(OSError, ValueError):  # stdout is no file, or stderr is closed
        if sys.stdout.fileno() == 1:
            sys.stdout.flush()
            kept = os.dup(1)
            _answers = open(kept, "w", encoding=sys.stdout.encoding, errors="replace", closefd=False)  # noqa: SIM115
            os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        if kept >= 0:
            with contextlib.suppress(OSError):  # who read the answer left; that is told where it is written
                _answers.flush()
            with contextlib.suppress(OSError):
                sys.stdout.flush()  # what was written to it past us
            os.dup2(kept, 1)
            os.close(kept)
        _answers = None


async def _oneshot(scope: Scope, text: str, *, quiet: bool) -> int:
    show = _show_json if scope.flags.get("as_json") else show_answer if quiet else _show_verbose
    status = 0
    async with scope.hermes() as hermes:
        if session := await _session(scope, hermes):
            await _finish_interrupted(scope, hermes, session)
        async with contextlib.aclosing(hermes.turn(text, session=session, origin="oneshot")) as turn:
            async for event in turn:
                show(event)
                if isinstance(event, Failed):
                    status = 2 if event.kind in _MENDABLE else 3 if event.kind in _PLUGINS else 1
                elif isinstance(event, Ended):
                    status = 130 if event.reason == "interrupted" else status
                    end_soon(partial(_leave, hermes.runtime), status)
        runtime = hermes.runtime
    _tell(runtime)  # after the end, as plugins hear of that too
    return status


def _leave(runtime: "Runtime", label: str, where: str) -> None:
    """Name the plugin that the process ends without."""
    runtime.dispatch.failed(label, where, Late("held everything up after the answer, and nobody waited for it"))
    runtime.keep_faults()
    _tell(runtime)


def _tell(runtime: "Runtime") -> None:
    """Say what a person should know after a turn. What fell over the answer was told with it."""
    found = (*slash_clashes(runtime.index, runtime.consent), *runtime.dispatch.faults)
    failed = {f.plugin: f for f in found if f.where != "transform_outgoing"}
    told = [f"Plugin {f.plugin} failed ({f.phase}): {f.error}. See `hermes doctor`." for f in failed.values()]
    for line in [*_notices(runtime), *told]:
        print(line, file=sys.stderr)


async def _finish_interrupted(scope: Scope, hermes: Hermes, session: str) -> None:
    """What was cut off is finished first; only what was asked for now is answered on stdout."""
    async with contextlib.aclosing(hermes.catch_up(session)) as turn:
        async for event in turn:
            if scope.flags.get("as_json"):
                _show_json(event)
            elif isinstance(event, Ended) and event.answer:
                print(f"The turn that was interrupted is finished now:\n{event.answer}\n", file=sys.stderr)
            elif isinstance(event, Failed):
                show_answer(event)


def _notices(runtime: "Runtime") -> list[str]:
    """What a person should know after a turn: how to connect a model, rules that do nothing."""
    lines = [runtime.routes.current.notice] if runtime.routes.current and runtime.routes.current.notice else []
    policy = runtime.settings.config.policy
    return [*lines, *runtime.models.told, *idle([*policy.deny, *policy.allow], runtime.index.tools)]


async def _session(scope: Scope, hermes: Hermes) -> str:
    """The id of the session to go on with, or an empty string for a new one."""
    words = scope.flags.get("resume") or ("latest" if scope.flags.get("continue_") else "")
    if not words:
        return ""
    store = await hermes.runtime.store()
    try:
        return (await store.sessions.find(words, hermes.runtime.owner)).id
    except UnknownName:
        if words == "latest":
            raise UserError("There is no session to go on with.", hint="Start one without -c.") from None
        raise


def _say(text: str) -> None:
    out = _answers or sys.stdout
    if out.isatty():  # a page that a model repeats must not drive the terminal
        text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", text)
    out.write(text)
    out.flush()


def show_answer(event: Event) -> None:
    """Only the answer; what a model says between its tool calls is not part of it."""
    if isinstance(event, Ended) and event.answer:
        _say(event.answer if event.answer.endswith("\n") else f"{event.answer}\n")
        if event.note:
            print(event.note, file=sys.stderr)
    elif isinstance(event, Noticed):
        print(event.text, file=sys.stderr)
    elif isinstance(event, Failed):
        print(f"{event.text}\n{event.hint}".strip(), file=sys.stderr)


def _show_verbose(event: Event) -> None:
    """The text as it comes on stdout, what happens meanwhile on stderr."""
    if isinstance(event, Said):
        _say(event.text)
    elif isinstance(event, Called):
        arguments = json.dumps(event.call.arguments, ensure_ascii=False)
        print(f"  ┊ {event.call.name} {arguments[:160]}", file=sys.stderr)
    elif isinstance(event, Returned):
        mark = "✗" if event.result.failed else "✓"
        print(f"  ┊ {event.call.name} {mark} {event.seconds:.1f}s", file=sys.stderr)
    elif isinstance(event, Ended) and event.answer:
        _say("\n")
        print(f"{event.note}\nsession {event.session_id}".strip(), file=sys.stderr)
    else:
        show_answer(event)


def _show_json(event: Event) -> None:
    _say(event_json(event) + "\n")


def event_json(event: Event) -> str:
    """One event as one line: its fields, and ``type``, the class name in lower case."""

    def plain(value: object) -> object:
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    return json.dumps({"type": type(event).__name__.lower(), **asdict(event)}, ensure_ascii=False, default=plain)


def converse(scope: Scope) -> int:
    """A conversation on the configured platform. Raises UnknownName when it is not installed."""
    require_somebody(scope)
    return run_loop(_converse(scope))


async def _converse(scope: Scope) -> int:
    """A conversation until it ends. Raises UnknownName, UserError when no platform can be opened here."""
    from hermes_core.agent.console import serve

    async with scope.hermes() as hermes:
        platform = fitting(scope, hermes.runtime, scope.flags.get("interface") or "")
        await serve(hermes.runtime, platform, await _session(scope, hermes))
    return 0


def fitting(scope: Scope, runtime: "Runtime", name: str) -> Platform:
    """Whom a person talks through: the platform they named, else the first that fits where they are."""
    config = scope.settings.config.display.interface
    named = name or ("" if config == "auto" else config)
    usual = scope.distribution.interfaces
    names = [named] if named else [*usual]
    found = _load(runtime, names, named=bool(named))
    there = [found[one] for one in names if one in found]
    if not there:
        package = f", or pip install hermes-platform-{names[-1]}" if names[-1] in usual else ""
        hint = f"Try `{scope.name} -z TEXT`{package}."
        raise UnknownName("platform", names[-1], runtime.index.offered("platforms"), hint=hint)
    fits = next((one for one in there if not one.unfit()), None)
    if fits is None:
        others = [one for one in usual if one != names[-1]]
        hint = f"Try `{scope.name} --interface {others[-1]}`." if others else ""
        raise UserError(f"{there[-1].name} cannot be opened here: {there[-1].unfit()}", hint=hint)
    return fits


def _load(runtime: "Runtime", names: Sequence[str], *, named: bool) -> dict[str, Platform]:
    """The platforms that have these names. One that was named says why it cannot be used; of others a fault is told."""
    declared = [
        installed
        for installed in runtime.index.plugins
        if installed.manifest and any(installed.manifest.declares("platforms", one) for one in names)
    ]
    for installed in declared:
        runtime.loader.load(installed, named=named)
    found: dict[str, Platform] = {p.name: p for _, p in runtime.dispatch.contributions("register_platforms")}
    labels = {installed.label for installed in declared}
    for fault in runtime.dispatch.faults:
        if fault.plugin in labels:
            print(f"{fault.plugin} is left out: {fault.error}. See: {fault.hint}", file=sys.stderr)
    return found
