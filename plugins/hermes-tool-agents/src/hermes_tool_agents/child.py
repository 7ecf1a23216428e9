"""One agent at work: started in the place where the session's commands run, and asked over its pipes."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeAlias, cast
from uuid import uuid4

from hermes_acp_wire.peer import NO_METHOD, Gone, Peer, RpcError
from hermes_backend_wall.apart import Apart
from hermes_core import __version__
from hermes_core.errors import ToolError
from hermes_core.kinds import ToolContext
from hermes_core.types import Question
from hermes_tool_agents.config import AgentSettings
from hermes_tool_agents.jobs import Worker
from hermes_tool_agents.pipes import Pipes

__all__ = ["SETTLING", "Child", "child"]

JSON: TypeAlias = Any
_QUIET = 'exec "$@" 2>/dev/null'  # what it says to people would come in between its messages
_GREETING = 60.0  # seconds within which one answers for the first time
_STOPPING = 5.0
SETTLING = 2.0  # seconds that one has to write down its session: some say that they are done before they did
_LONGEST = 100_000  # characters of an answer


@asynccontextmanager
async def child(
    context: ToolContext,
    name: str,
    agent: AgentSettings,
    env: Mapping[str, str],
    worker: Worker,
    seconds: float,
    wall: bool,
) -> AsyncIterator["Child"]:
    """Start an agent; it and all it started is gone afterwards. Raises ToolError."""
    place, pipes = context.workspace, Pipes()
    argv = ("sh", "-c", _QUIET, "sh", agent.command, *agent.args)
    # It has a key: no command beside it may read its variables.
    request = Apart(argv=argv, cwd=place.cwd, env=env, seconds=seconds, limit=1_000, on_output=pipes.take, wall=wall)
    process = await place.start(request)
    made = Child(context, name, worker, pipes)
    serving = asyncio.create_task(made.peer.serve())
    try:
        pipes.run(process, made.ended)
        yield made
        if made.resumes:
            await asyncio.sleep(SETTLING)
    finally:
        pipes.close()
        await made.peer.close()
        serving.cancel()
        with suppress(ToolError):
            await process.kill()
        await asyncio.wait({serving})


class Child:
    """The client's side of one connection. ``text`` is the last message of the agent."""

    def __init__(self, context: ToolContext, name: str, worker: Worker, pipes: Pipes) -> None:
        self._context, self._name, self._worker = context, name, worker
        self.peer = Peer(pipes.reader, cast("asyncio.StreamWriter", pipes), self._answer)
        self._can: Mapping[str, JSON] = {}
        self._session = self._message = self.text = ""
        self._status: int | None = None
        self._listens = False

    def ended(self, status: int | None) -> None:
        """Take note of how the process ended."""
        self._status = status

    async def greet(self) -> None:
        """Shake hands. Raises ToolError."""
        info = {"name": "hermes", "title": "Hermes", "version": __version__}
        params = {"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": info}
        try:
            async with asyncio.timeout(_GREETING):
                told = await self._ask("initialize", params)
        except TimeoutError:
            raise ToolError(f"{self._name} did not answer within {_GREETING:.0f} s.", retry=False) from None
        if told.get("protocolVersion") != 1:
            raise ToolError(f"{self._name} speaks another version of the protocol.", retry=False)
        can = told.get("agentCapabilities")
        self._can = can if isinstance(can, dict) else {}

    @property
    def resumes(self) -> str:
        """The method by which it goes on in an earlier session; empty where it cannot."""
        sessions = self._can.get("sessionCapabilities")
        if isinstance(sessions, dict) and isinstance(sessions.get("resume"), dict):
            return "session/resume"
        return "session/load" if self._can.get("loadSession") is True else ""

    async def open(self, session: str) -> str:
        """Go on in an earlier session where the agent has it still, else begin one; its id. Raises ToolError."""
        place: dict[str, JSON] = {"cwd": self._context.workspace.cwd, "mcpServers": []}
        if session and self.resumes:
            try:
                await self._request(self.resumes, {"sessionId": session, **place})
                self._session = session
                return session
            except RpcError:  # it has forgotten it
                self._session = ""
        told = await self._ask("session/new", place)
        if not isinstance(found := told.get("sessionId"), str) or not found:
            raise ToolError(f"{self._name} began no session.", retry=False)
        self._session = found
        return found

    async def work(self, task: str) -> str:
        """Have a task done; why the agent ended. Cancelled, it is told to stop. Raises ToolError."""
        self._listens = True
        try:
            told = await self._ask(
                "session/prompt", {"sessionId": self._session, "prompt": [{"type": "text", "text": task}]}
            )
        except asyncio.CancelledError:
            with suppress(TimeoutError):
                async with asyncio.timeout(_STOPPING):
                    await self.peer.notify("session/cancel", {"sessionId": self._session})
            raise
        return str(told.get("stopReason"))

    async def _ask(self, method: str, params: Mapping[str, JSON]) -> Mapping[str, JSON]:
        try:
            return await self._request(method, params)
        except RpcError as error:
            self._context.from_outside()
            raise ToolError(f"{self._name} refused {method}: {error.message[:500]}", retry=False) from None

    async def _request(self, method: str, params: Mapping[str, JSON]) -> Mapping[str, JSON]:
        try:
            told = await self.peer.request(method, params)
        except Gone:
            status = "" if self._status is None else f" with status {self._status}"
            hint = "Its settings are tools.agents.known." + self._name
            raise ToolError(f"{self._name} ended{status}, and did not finish.", hint=hint, retry=False) from None
        return told if isinstance(told, dict) else {}

    # --- what the agent says ----------------------------------------------------------------------------------------

    async def _answer(self, method: str, params: Mapping[str, JSON]) -> JSON:
        if method == "session/update":
            update = params.get("update")
            if self._listens and isinstance(update, dict):
                self._heard(update)
            return None
        if method == "session/request_permission":
            return {"outcome": await self._permitted(params)}
        raise RpcError(NO_METHOD, f"There is no {method[:80]!r} here: your tools are your own.")

    def _heard(self, update: Mapping[str, JSON]) -> None:
        kind, content = update.get("sessionUpdate"), update.get("content")
        if kind == "agent_message_chunk" and isinstance(content, dict) and isinstance(content.get("text"), str):
            message = str(update.get("messageId") or self._message)
            if message != self._message:
                self.text, self._message = "", message
            self.text = (self.text + content["text"])[-_LONGEST:]
        elif kind == "tool_call":
            self.text = ""  # what it said before was not its answer
            title = " ".join(str(update.get("title") or "a tool").split())[:300]
            self._worker.step(title)
            self._context.progress(f"{self._name}: {title}\n")

    async def _permitted(self, params: Mapping[str, JSON]) -> JSON:
        """Put what the agent may not decide to our person; a yes is for once."""
        given = params.get("options")
        options = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
        call = params.get("toolCall")
        subject = f"{self._name} wants to: {_words(call if isinstance(call, dict) else {})}"
        question = Question(id=uuid4().hex, kind="approval", subject=subject, choices=("once", "deny"))
        self._worker.step(f"asks: {subject}")
        verdict = await self._context.ask(question)
        # What the person was asked is this once: an agent that offers more alone is not told more.
        kinds = ("allow_once",) if verdict.outcome == "allow" else ("reject_once", "reject_always")
        found = next((one for kind in kinds for one in options if one.get("kind") == kind), None)
        return {"outcome": "selected", "optionId": found["optionId"]} if found else {"outcome": "cancelled"}


def _words(call: Mapping[str, JSON]) -> str:
    """Return all that is shown of what an agent asks for."""
    lines = [str(call.get("title") or "use a tool")]
    content, given = _listed(call.get("content")), call.get("rawInput")
    if given and not any(isinstance(one, dict) and one.get("type") == "diff" for one in content):
        lines.append(str(given))  # the command itself, before whatever the agent says about it
    for one in content:
        if not isinstance(one, dict):
            continue
        inner = one.get("content")
        if isinstance(inner, dict) and isinstance(inner.get("text"), str) and inner["text"] not in lines:
            lines.append(inner["text"])
        elif one.get("type") == "diff":
            lines += [f"change {one.get('path')}:", *_diff(one)]
    return "\n".join(lines)[:8_000]


def _listed(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else []


def _diff(one: Mapping[str, JSON]) -> list[str]:
    from difflib import unified_diff

    old, new = str(one.get("oldText") or ""), str(one.get("newText") or "")
    return list(unified_diff(old.splitlines(), new.splitlines(), n=2, lineterm=""))[2:200]
