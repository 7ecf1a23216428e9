"""Puts questions to the person in the editor: permissions with our five answers, choices, and questions in words."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from hermes_acp_wire.peer import RpcError
from hermes_core.errors import HermesError
from hermes_core.types import Question, ToolCall, Verdict
from hermes_platform_acp.cards import Card
from hermes_platform_kit.asking import Instead, verdict_of
from hermes_platform_kit.clean import clean, exact

if TYPE_CHECKING:
    from hermes_platform_acp.conversation import Conversation

__all__ = ["Asking"]

JSON: TypeAlias = Any

_INSTEAD = "instead"
_WAYS = {
    "once": ("allow_once", "Yes, this once"),
    "session": ("allow_always", "Yes, for this conversation"),
    "always": ("allow_always", "Yes, from now on"),
    "deny": ("reject_once", "No"),
}
_TITLE = 120


class Asking:
    """Questions of one session."""

    def __init__(self, conversation: "Conversation") -> None:
        self._conversation = conversation
        self._asked = set[asyncio.Task[Any]]()

    def withdraw(self) -> None:
        """Take back what is asked now: its turn is stopped."""
        for one in self._asked:
            one.cancel()

    async def ask(self, question: Question) -> Verdict | None:
        """Return the answer; None where there is no way to ask. Raises Gone."""
        task = asyncio.ensure_future(self._answer(question))
        self._asked.add(task)
        shapes, send = self._conversation.shapes, self._conversation.send
        await send(*shapes.state("requires_action"))
        try:
            return await task
        except asyncio.CancelledError:
            if (now := asyncio.current_task()) and now.cancelling():
                task.cancel()
                raise
            return Verdict.refused(self._by)  # the turn is being stopped
        finally:
            self._asked.discard(task)
            await send(*shapes.state("running"))

    @property
    def _by(self) -> str:
        return f"{self._conversation.session.owner.person}, in {self._conversation.agent.editor}"

    async def _answer(self, question: Question) -> Verdict | None:
        try:
            if question.kind == "approval":
                return await self._approval(question)
            if self._forms:
                return await self._form(question)
            return await self._choice(question) if question.kind == "choice" and question.choices else None
        except RpcError as error:
            self._conversation.ctx.log.info("a question was not put: %s", error)
            return None

    async def _approval(self, question: Question) -> Verdict | None:
        options = [self._option(choice, question) for choice in question.choices]
        options.append({"optionId": _INSTEAD, "name": "No, and do something else instead", "kind": "reject_once"})
        lines = [exact(question.subject)]
        lines += [f"Risk: {exact(question.risk)}"] if question.risk else []
        if question.covers and {"session", "always"} & set(question.choices):
            lines.append(f"A lasting yes would allow: {exact(question.covers)}")
        said = await self._permission(question, "\n".join(lines), options)
        if said == _INSTEAD:
            return verdict_of(question, Instead(await self._instead()), self._by)
        return verdict_of(question, said if said in question.choices else None, self._by)

    async def _instead(self) -> str:
        """Ask what is wanted instead; without a way to, the turn stops, and the next message says it."""
        if self._forms:
            schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
            return str((await self._fill("What is to be done instead?", schema)).get("answer") or "")
        conversation = self._conversation
        conversation.agent.peer.spawn(conversation.cancel())
        return ""

    async def _choice(self, question: Question) -> Verdict | None:
        options = [
            {"optionId": str(number), "name": " ".join(clean(choice).split()), "kind": "allow_once"}
            for number, choice in enumerate(question.choices)
        ]
        options.append({"optionId": "none", "name": "None of these", "kind": "reject_once"})
        said = await self._permission(question, clean(question.subject), options)
        known = {str(number): choice for number, choice in enumerate(question.choices)}
        return verdict_of(question, known.get(said), self._by)

    async def _form(self, question: Question) -> Verdict | None:
        answer: JSON = {"type": "string", "title": "Answer"}
        if question.choices and question.kind == "choice":
            answer["description"] = "One of: " + "; ".join(clean(choice) for choice in question.choices)
        schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
        said = str((await self._fill(clean(question.subject), schema)).get("answer") or "").strip()
        return verdict_of(question, said or None, self._by)

    # --- what goes over the wire ------------------------------------------------------------------------------------

    def _option(self, choice: str, question: Question) -> JSON:
        kind, name = _WAYS.get(choice, ("allow_once", choice))
        return {"optionId": choice, "name": name, "kind": kind}

    @property
    def _forms(self) -> bool:
        told = self._conversation.agent.abilities.get("elicitation")
        return isinstance(told, dict) and isinstance(told.get("form"), dict)

    async def _permission(self, question: Question, text: str, options: list[JSON]) -> str:
        """Return the chosen option, empty where the person went on without one. Raises RpcError, Gone."""
        lines = " ".join(text.splitlines()[0].split()) if text.strip() else "A question"
        title = lines if len(lines) <= _TITLE else f"{lines[: _TITLE - 1]}…"
        params = self._conversation.shapes.permission(title, text, await self._card(question), options)
        told = await self._request("session/request_permission", params)
        outcome = told.get("outcome")
        if not isinstance(outcome, dict) or outcome.get("outcome") != "selected":
            return ""
        return str(outcome.get("optionId"))

    async def _fill(self, message: str, schema: JSON) -> Mapping[str, JSON]:
        told = await self._request(
            "elicitation/create", {"mode": "form", "message": message, "requestedSchema": schema}
        )
        content = told.get("content") if told.get("action") == "accept" else None
        return content if isinstance(content, dict) else {}

    async def _request(self, method: str, params: Mapping[str, JSON]) -> Mapping[str, JSON]:
        conversation = self._conversation
        told = await conversation.agent.peer.request(method, {"sessionId": conversation.session.id, **params})
        return told if isinstance(told, dict) else {}

    async def _card(self, question: Question) -> Card:
        """Return the call that a question is about; of one that is about none it bears the question's own name."""
        conversation = self._conversation
        with suppress(HermesError):  # it is about no call
            row = await conversation.ctx.approvals.find(conversation.session.owner, question.id)
            if card := conversation.cards.get(conversation.calls.get(row.call_id, "")):
                return card
        call = ToolCall(id=question.id, name="question", arguments={})
        return Card(id=f"question-{question.id}", call=call, title="", kind="other", cwd="")
