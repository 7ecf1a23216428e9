"""Every hook of Hermes, with its mode. This file is the manual; there is no hook outside it.

========== ========================== ======================== ================================== ==========
mode       meaning                    result                   an implementation raises or hangs  deadline
========== ========================== ======================== ================================== ==========
contribute list what you add; ``def``  joined, owner kept       its contributions are dropped      8 s
observe    something happened         ignored                  recorded                           5 s
transform  here is a value            chained; None keeps it   recorded; the value before stands  5 s
decide     may this happen?           deny > ask > allow       **deny**                           10 s
ask        ask a person               first answer wins        recorded; no answer = deny         300 s
========== ========================== ======================== ================================== ==========

Name only the arguments you want; ``ctx`` is your plugin's own. ``contribute`` hooks are plain ``def`` without I/O,
all others ``async def``.
``may_end`` is the one gate whose failure allows; that of ``judge_command`` and ``second_opinion`` asks. The latter, and
transforms, have 330 seconds where their plugin may call a model (``llm.call``). The order is ``plugins.order``, else
alphabetical by plugin; ``tryfirst`` and ``trylast`` work for observe and transform. Wrappers, ``historic``,
``firstresult`` do not.
"""

from collections.abc import Iterable, Sequence
from functools import cache

from hermes_core.brokers import Mailbox
from hermes_core.context import PluginContext
from hermes_core.modes import Mode, ask, contribute, decide, hookimpl, mode_of, observe, transform

from hermes_core.kinds import (  # isort: skip
    Backend, Completer, ConsoleDriver, Jobs, Masker, Memory, Opening, Platform, Provider, Purse, Resource, Roles,
    Router, SecretSource, Service, SetupStep, StoreDriver, Tool, ToolSource, TurnQueue, Workspace,
)  # fmt: skip
from hermes_core.types import (  # isort: skip
    Check, Command, Effects, Envelope, Fault, Message, Migration, Offer, Principal, Prompt, Protected, Question,
    Request, Response, Routes, Session, SessionEnd, SlashCommand, ToolCall, ToolResult, TurnEnd, Usage, Verdict,
)  # fmt: skip

__all__ = ["Mode", "ask", "contribute", "decide", "hookimpl", "mode_of", "modes", "observe", "transform"]

# --- contribute: once, when that kind is first needed -------------------------------------------------------------


@contribute
def register_providers(ctx: PluginContext) -> Iterable[Provider]:  # type: ignore[empty-body]
    """Return the providers you add: who answers requests with a model."""


@contribute
def register_routers(ctx: PluginContext) -> Iterable[Router]:  # type: ignore[empty-body]
    """Return who has model calls answered when a provider cannot; of several the first. Needs ``models.route``."""


@contribute
def register_tools(ctx: PluginContext) -> Iterable[Tool]:  # type: ignore[empty-body]
    """Return the tools you add: functions the model may call."""


@contribute
def register_tool_sources(ctx: PluginContext) -> Iterable[ToolSource]:  # type: ignore[empty-body]
    """Return where tools come from that come and go while Hermes runs; a platform's are there where it serves."""


@contribute
def register_backends(ctx: PluginContext) -> Iterable[Backend]:  # type: ignore[empty-body]
    """Return the backends you add: places where commands run."""


@contribute
def register_platforms(ctx: PluginContext) -> Iterable[Platform]:  # type: ignore[empty-body]
    """Return the platforms you add: services that people write on."""


@contribute
def register_memories(ctx: PluginContext) -> Iterable[Memory]:  # type: ignore[empty-body]
    """Return the memories you add: stores that last across sessions."""


@contribute
def register_queues(ctx: PluginContext) -> Iterable[TurnQueue]:  # type: ignore[empty-body]
    """Return the queues you add: who hands out the turns that wait. ``workers.queue`` names the one in use."""


@contribute
def register_stores(ctx: PluginContext) -> Iterable[StoreDriver]:  # type: ignore[empty-body]
    """Return the stores you add: who opens ``store.url``, by its scheme. Asked before anything is stored."""


@contribute
def register_cli_commands(ctx: PluginContext) -> Iterable[Command]:  # type: ignore[empty-body]
    """Return the ``hermes`` commands you add. The manifest says what each does, and for whom; help needs no import."""


@contribute
def register_slash_commands(ctx: PluginContext) -> Iterable[SlashCommand]:  # type: ignore[empty-body]
    """Return the slash commands you add to conversations."""


@contribute
def register_services(ctx: PluginContext) -> Iterable[Service]:  # type: ignore[empty-body]
    """Return the services you add: work in the background, kept up as long as a gateway or a worker runs."""


@contribute
def register_resources(ctx: PluginContext) -> Iterable[Resource]:  # type: ignore[empty-body]
    """Return the long-lived things that your tools keep for a session: a shell, a browser, a language server."""


@contribute
def register_routes(ctx: PluginContext) -> Iterable[Routes]:  # type: ignore[empty-body]
    """Return what you serve over HTTP, where a host like ``hermes api`` runs: applications, folders of static files."""


@contribute
def register_jobs(ctx: PluginContext) -> Iterable[Jobs]:  # type: ignore[empty-body]
    """Return the work you do beside conversations, to be shown and stopped."""


@contribute
def register_completers(ctx: PluginContext) -> Iterable[Completer]:  # type: ignore[empty-body]
    """Return how words of yours go on while a person types them, such as ``@file:``."""


@contribute
def register_openings(ctx: PluginContext) -> Iterable[Opening]:  # type: ignore[empty-body]
    """Return what you ask at a terminal before a new conversation begins in a folder."""


@contribute
def register_mailboxes(ctx: PluginContext) -> Iterable[Mailbox]:  # type: ignore[empty-body]
    """Return who sends to chats, for ``ctx.messages`` of all plugins: one in a home."""


@contribute
def register_purses(ctx: PluginContext) -> Iterable[Purse]:  # type: ignore[empty-body]
    """Return the purses you add: who limits what turns use. Each is asked before each request to a model."""


@contribute
def register_roles(ctx: PluginContext) -> Iterable[Roles]:  # type: ignore[empty-body]
    """Return who says what people other than the owner may do: one in a home. Without one they can only talk."""


@contribute
def register_consoles(ctx: PluginContext) -> Iterable[ConsoleDriver]:  # type: ignore[empty-body]
    """Return what drives the console of a platform on which people wait, as in a terminal: one in a home."""


@contribute
def register_maskers(ctx: PluginContext) -> Iterable[Masker]:  # type: ignore[empty-body]
    """Return what finds secrets in texts, beside the values the kernel knows. Asked when the first text is masked."""


@contribute
def register_secret_sources(ctx: PluginContext) -> Iterable[SecretSource]:  # type: ignore[empty-body]
    """Return where secrets are read that are kept elsewhere; asked when settings name one and a secret is needed."""


@contribute
def register_setup(ctx: PluginContext) -> Iterable[SetupStep]:  # type: ignore[empty-body]
    """Return how a person sets your things up: what ``hermes setup NAME`` asks and tests."""


@contribute
def register_migrations(ctx: PluginContext) -> Iterable[Migration]:  # type: ignore[empty-body]
    """Return the tables you own: one folder of alembic revisions, run before your first ``ctx.store.transact``.

    Needs ``store.tables``. Names of tables and indexes begin with ``KIND_NAME__``, the plugin's.
    """


@contribute
def register_checks(ctx: PluginContext) -> Iterable[Check]:  # type: ignore[empty-body]
    """Return what ``hermes doctor --deep`` may ask you, and what ``hermes doctor`` asks every time: see ``Check``."""


# --- observe: something happened ----------------------------------------------------------------------------------


@observe
async def on_gateway_start(ctx: PluginContext) -> None:
    """Hear that a gateway begins to serve in this process, and goes on until it is stopped."""


@observe
async def on_session_start(ctx: PluginContext, session: Session) -> None:
    """Hear that a session was made or taken up again in this process. The first hook a session fires."""


@observe
async def on_session_end(ctx: PluginContext, session: Session, end: SessionEnd) -> None:
    """Hear that a session came to rest in this process; it may be taken up again later."""


@observe
async def on_session_deleted(ctx: PluginContext, session: Session, erased: bool) -> None:
    """Hear that a session was deleted with all it held; for each of its child agents too. ``erased``: no byte stays."""


@observe
async def on_turn_start(ctx: PluginContext, session: Session, message: Message) -> None:
    """Hear that a turn begins, or is taken up after its process died. ``message`` is the last that was said to it."""


@observe
async def on_turn_end(ctx: PluginContext, session: Session, end: TurnEnd) -> None:
    """Hear that a turn is over, and its end is stored. The last hook of every turn that began here."""


@observe
async def on_words(ctx: PluginContext, session: Session, request: Request, text: str) -> None:
    """Hear a reply as it comes: ``text`` is all of it until now. One that broke off begins anew."""


@observe
async def post_llm_call(
    ctx: PluginContext, session: Session, request: Request, response: Response, seconds: float
) -> None:
    """Hear that a model replied, and the reply is stored. ``seconds`` is how long that took, with all tries."""


@observe
async def post_tool_call(
    ctx: PluginContext, session: Session, call: ToolCall, result: ToolResult, outcome: str, seconds: float
) -> None:
    """Hear that a tool call has its result, which is stored. Refused and invalid calls are reported too.

    ``outcome`` is ok, failed, refused or unknown; ``seconds`` is how long it ran, without waiting for a yes.
    """


@observe
async def on_fault(ctx: PluginContext, fault: Fault) -> None:
    """Hear that a plugin failed. A failure in here is recorded but not reported again."""


# --- transform: here is a value, give back another or None --------------------------------------------------------


@transform
async def transform_incoming(
    ctx: PluginContext, envelope: Envelope, session_id: str, owner: Principal, cwd: str, context: int
) -> Envelope | None:
    """Change what a person wrote before anything is spent on it. The stored inbox row keeps the original.

    ``session_id`` names the session it is for, empty when that will be a new one; ``owner`` is whose it is. ``cwd`` is
    the folder it works in, empty where its files are not those of this machine; ``context`` how many tokens fit into
    the model, 0 when nobody knows yet. Sounds and pictures become Text here, by ``ctx.llm.media``. What is added of
    files or pages is Text that says what it ``quotes``.
    """


@transform
async def transform_prompt(ctx: PluginContext, session: Session, prompt: Prompt) -> Prompt | None:
    """Change the system prompt. Called once per session; the result is stored and its bytes never change."""


@transform
async def offer_tools(ctx: PluginContext, session: Session, offer: Offer) -> Offer | None:
    """Choose which tools a model is told of. Called when a session is taken up, before its first request.

    Give back the offer with other ``tools``, taken from what is told and what is behind, and ``why`` the rest is not
    told. Words may change, schemas may not. What was ``sent`` stays told, in its order: an offer without it is dropped
    and recorded. This saves room in a request; it locks nothing, as a tool behind can still be called.
    """


@transform
async def pre_llm_call(ctx: PluginContext, session: Session, request: Request) -> Request | None:
    """Append messages to a request or change its options.

    What is appended has the role ``user``, holds text and files, and is stored before it leaves: later requests and a
    resumed turn have the same bytes, and nobody takes it for words of the person. What was there before may change only
    with the permission ``history.rewrite``, and only to a smaller context, in force for good, that keeps the prompt,
    the tools and the last thing the person said; what stands for messages has ``{"hermes": {"stands": …}}`` in its
    meta. Anything else is dropped and recorded. With it, ContextTooLong ends the turn: nothing is left to compact.
    """


@transform
async def redirect_tool_call(ctx: PluginContext, session: Session, call: ToolCall) -> ToolCall | None:
    """Have a call answered by another tool. It is judged and stored as one of that; the model sees its own words."""


@transform
async def transform_tool_result(
    ctx: PluginContext, session: Session, call: ToolCall, result: ToolResult, workspace: Workspace,
    looks: bool, touches: frozenset[str], twin: bool,
) -> ToolResult | None:  # fmt: skip
    """Change a tool's result before it is stored and shown to the model. ``workspace`` is where it ran.

    ``looks`` says that its tool is ``idempotent``, ``touches`` its resource keys where they are known, and ``twin``
    that it was not run: the same call of the same reply was, and this is what came of that.
    """


@transform
async def transform_outgoing(ctx: PluginContext, session: Session, message: Message) -> Message | None:
    """Change a finished answer before it is shown, or sent to a chat; what the model said stays in its session.

    It runs for every way out: terminals, chats, the API, ``-z``, embedding. Its text counts, and in chats its files.
    All answers wait until they are whole, unless you give ``may_stream`` too: those that it lets come can be added to.
    """


# --- decide: may this happen? -------------------------------------------------------------------------------------


@decide
async def admit(ctx: PluginContext, envelope: Envelope) -> Verdict | None:
    """Say whether this message may come in. Asked for every way in, before anything is spent."""


@decide
async def pre_tool_call(
    ctx: PluginContext, session: Session, call: ToolCall, effects: Effects, workspace: Workspace,
    walled: bool, protected: Protected, touches: Sequence[str] | None,
) -> Verdict | None:  # fmt: skip
    """Say whether this call may run. Asked after hard blocks and the user's deny rules, for all calls from all doors.

    ``effects`` are those its tool declares; ``workspace`` is where it would run, ``walled`` behind its wall;
    ``touches`` are its resource keys, None where the tool does not say.
    """


@decide
async def begin_tool_call(
    ctx: PluginContext, session: Session, call: ToolCall, effects: Effects, workspace: Workspace, outside: bool
) -> Verdict | None:
    """Write down what must be known before a call runs. Asked last, when it may run; anything but allow refuses it.

    ``outside`` says that what it gives comes from outside, as far as that is known by now.
    """


@decide
async def judge_command(
    ctx: PluginContext, session: Session, call: ToolCall, workspace: Workspace, protected: Protected
) -> Verdict | None:
    """Say what this command would do. Asked first of all, for every call of a tool with the effect EXECUTE.

    Give a verdict that says which ``commands`` the call consists of, as rules and grants see them, none where it holds
    no command, and whether a yes to it may be ``lasting``. A deny that is ``hard`` holds in every mode; in an ISOLATED
    workspace there is none. An allow without ``effects`` says nothing more, and all else counts as a gate's word.
    Where no plugin says what the ``commands`` are, or one that should fails, the call needs a person's yes each time,
    and in mode ``off``, where nobody is asked, it is refused.
    """


@decide
async def second_opinion(ctx: PluginContext, session: Session, command: str, folder: str, risk: str) -> Verdict | None:
    """Say whether this command may run. Asked in mode ``smart`` before a person is, while the turn may spend more.

    It is not asked of a call that a hard block, a rule, a grant or a gate decided, nor of one that a text from outside
    may have asked for. ``risk`` says why a person would be asked. With ask, or where nobody says anything, they are.
    """


@decide
async def next_step(
    ctx: PluginContext, session: Session, number: int, usage: Usage, results: Sequence[ToolResult]
) -> Verdict | None:
    """Say whether this turn may go on to its next model call. Asked before each.

    ``number`` says which call of the turn it is, 1 for the first, ``usage`` what the turn used so far, and ``results``
    what came of the tool calls of the last reply. A deny ends the turn, which fails with the reason. With ask its
    person decides whether it goes on; where they do not want that, or nobody is there, the turn ends with the reason as
    its answer, and what they say instead is the next message.
    """


@decide
async def may_end(ctx: PluginContext, session: Session, answer: str, times: int, usage: Usage) -> Verdict | None:
    """Say whether this turn may end with this answer. A deny sends the model on: its reason is what it is told next.

    It is stored before it is said, and shown. ``times`` is how often this turn was sent on before: eight times at most,
    and never twice with the same reason; then it ends. Asked for no turn that a limit, a person or an error ends.
    """


@decide
async def may_stream(ctx: PluginContext, session: Session) -> Verdict | None:
    """Say whether the words of a turn that begins may be shown as they come; a deny keeps its answer back whole."""


# --- ask: ask a person --------------------------------------------------------------------------------------------


@ask
async def approve(ctx: PluginContext, session: Session, question: Question) -> Verdict | None:
    """Put a question to a person in a way of yours; None when you have no way to reach them.

    Cancelled when it is answered elsewhere, or ``policy.ask_seconds`` are over.
    """


@cache
def modes() -> dict[str, Mode]:
    """Return every hook's name and mode, in the order of this file."""
    return {name: mode_of(spec) for name, spec in globals().items() if hasattr(spec, "hermes_mode")}
